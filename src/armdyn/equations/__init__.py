"""Equations of motion as things to read, compare and prove."""

from armdyn.equations.certificate import Certificate, certify
from armdyn.equations.comparison import Comparison, compare
from armdyn.equations.derivation import Equations, derive

__all__ = ["Certificate", "Comparison", "Equations", "certify", "compare", "derive"]
