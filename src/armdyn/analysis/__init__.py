"""Analysis: the arm as seen from its tool, what it can do there, and over its workspace (004 sec. 7.8, 7.9)."""

from armdyn.analysis.operational_space import OperationalSpace, coriolis_matrix, operational_space

__all__ = ["OperationalSpace", "coriolis_matrix", "operational_space"]
