"""The five panels of the studio: what is beside the robot, and what happens when it is used."""

from __future__ import annotations

from armdyn.studio.panels.equations_panel import EquationsPanel
from armdyn.studio.panels.model_panel import ModelPanel
from armdyn.studio.panels.move_panel import MovePanel
from armdyn.studio.panels.plan_panel import PlanPanel
from armdyn.studio.panels.simulate_panel import SimulatePanel

__all__ = ["EquationsPanel", "ModelPanel", "MovePanel", "PlanPanel", "SimulatePanel"]
