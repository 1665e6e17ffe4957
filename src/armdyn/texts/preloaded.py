"""Imports of all items, for the process from which those of `mutation` are forked."""

from __future__ import annotations

from armdyn.report.figures import charts, robot_figures
from armdyn.texts import mutation
from armdyn.texts.running import chapters

chapters()
__all__ = ["charts", "mutation", "robot_figures"]
