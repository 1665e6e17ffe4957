"""Siciliano, chapter 7: the items in the order of the text."""

from __future__ import annotations

from armdyn.texts.item import joined
from armdyn.texts.siciliano import (
    any_arm,
    lagrange_arms,
    newton_euler_items,
    parallelogram,
    problems,
    problems_tool,
    tool,
    two_link_torques,
)

chapter = joined(
    any_arm.chapter,
    lagrange_arms.chapter,
    two_link_torques.chapter,
    parallelogram.chapter,
    newton_euler_items.chapter,
    tool.chapter,
    problems.chapter,
    problems_tool.chapter,
)
