"""Equations of motion as things to read, compare and prove."""

from armdyn.equations.certificate import Certificate, certify
from armdyn.equations.comparison import Comparison, compare
from armdyn.equations.coriolis_comparison import CoriolisMatrix, coriolis_matrices
from armdyn.equations.derivation import Equations, derive

__all__ = [
    "Certificate",
    "Comparison",
    "CoriolisMatrix",
    "Equations",
    "certify",
    "compare",
    "coriolis_matrices",
    "derive",
]
