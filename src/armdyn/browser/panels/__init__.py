"""The five panels of the studio: what is beside the robot, and what happens when it is used."""

from __future__ import annotations

from armdyn.browser.panels.equations_panel import EquationsPanel
from armdyn.browser.panels.model_panel import ModelPanel
from armdyn.browser.panels.move_panel import MovePanel
from armdyn.browser.panels.plan_panel import PlanPanel
from armdyn.browser.panels.simulate_panel import SimulatePanel

__all__ = ["EquationsPanel", "ModelPanel", "MovePanel", "PlanPanel", "SimulatePanel"]
