"""The engines, one file each. A maker takes a robot and raises MissingExtra or NotApplicable if it cannot serve it."""

from __future__ import annotations

from armdyn.speed.calls import Engine
from armdyn.speed.engines.others import OTHERS, Maker

__all__ = ["OTHERS", "Engine", "Maker"]
