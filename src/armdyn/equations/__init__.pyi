from armdyn.equations.certificate import Certificate as Certificate
from armdyn.equations.certificate import certify as certify
from armdyn.equations.comparison import compare as compare
from armdyn.equations.comparison import Comparison as Comparison
from armdyn.equations.coriolis_comparison import coriolis_matrices as coriolis_matrices
from armdyn.equations.coriolis_comparison import CoriolisMatrix as CoriolisMatrix
from armdyn.equations.derivation import derive as derive
from armdyn.equations.derivation import Equations as Equations
