"""What a repair is: the edit that is proposed, why, and how sure it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from armdyn.algebra import Vec3
from armdyn.findings import Finding
from armdyn.robot.parts import Joint
from armdyn.robot.robot import Robot

Confidence = Literal["high", "medium"]


@dataclass(frozen=True)
class Repair:
    """One repair.

    rule, where: of the finding. mistake: the one that is undone. what: what is changed. evidence: why this and nothing
    else. confidence: high where the mistake is known to be common and nothing else explains the finding.
    effect: rms change of the torques over the workspace as a part of the torques; None where the robot's torques
    cannot be computed.
    """

    rule: str
    where: str
    mistake: str
    what: str
    evidence: str
    confidence: Confidence
    effect: float | None = None


@dataclass(frozen=True, eq=False)
class Proposal:
    repair: Repair
    apply: Callable[[Robot], Robot]


def named(finding: Finding) -> str:
    found = re.search(r"'([^']*)'", finding.where)
    return found[1] if found else ""


def edit(name: str, change: Callable[[Joint], Joint]) -> Callable[[Robot], Robot]:
    """The edit of the joint of that name."""
    return lambda robot: robot.edited(
        lambda r: replace(r, tree=tuple(change(j) if j.name == name else j for j in r.tree))
    )


def shown(v: Vec3) -> str:
    return "(" + ", ".join(f"{float(x):g}" for x in v) + ")"
