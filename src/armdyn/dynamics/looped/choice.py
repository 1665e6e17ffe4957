"""The choice between straight-line and looped code: one rule, with measured constants.

Straight-line code has no loop overhead and folds the zeros and ones of a robot's numbers; looked at as a number of
operations it grows with the joints, or with their square for matrices. Looped code has the same instructions for any
number of joints, and its vectors hold four links. So the time of one call decides: of straight-line code, from its
operations, against looped code, from the number of joints. All times are ns on one core, of general chains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from armdyn.dynamics.looped.robots import floats, joint_numbers
from armdyn.kernels.looped.recursion import FREE
from armdyn.parameters.grouping import without_axes
from armdyn.robot import Robot

EPS = 1e-15
"""Rounding of numbers that stand for 0 and 1."""


class Measure(NamedTuple):
    """One quantity, by the number of joints n.

    share: (a, b), straight-line code has about (a + b n) times the operations of inverse dynamics. In trees n is the
        length of a chain with as many pairs of a link and one that it carries per joint.
    call: (c, d), up to about c + d n ns for one call straight-line code is the better choice: as long as one call of
        looped code takes, and a quarter more for matrices, because batches of them gain most.
    """

    share: tuple[float, float]
    call: tuple[float, float]


@dataclass(frozen=True)
class Thresholds:
    """Constants of the rule.

    operation: ns of an operation of straight-line code in one call.
    longest: operations up to which straight-line code compiles in a fraction of a second, and is mostly kept decoded.
    mixed: time of looped code that takes prismatic joints too, against revolute ones alone.
    certain: joints from which looped code is taken whatever the quantity.
    many: joints from which operations are estimated instead of counted, since tracing takes seconds for general chains.
    clearly: from there on, the share of looped code's time that straight-line code must stay below.
    per_joint, per_number: operations of inverse dynamics, about, for every joint, and for every number of its link that
        is not 0, 1 or -1.
    """

    operation: float = 0.16
    longest: int = 14_000
    mixed: float = 1.25
    certain: int = 64
    many: int = 24
    clearly: float = 0.8
    per_joint: float = 45
    per_number: float = 6.2
    measured: dict[str, Measure] = field(
        default_factory=lambda: {
            "inverse_dynamics": Measure((1.0, 0.0), (80, 22.5)),
            "coriolis": Measure((0.9, 0.0), (80, 22.5)),
            "forward_dynamics": Measure((2.5, 0.0), (60, 61)),
            "mass_matrix": Measure((0.0, 0.12), (50, 34)),
            "coriolis_matrix": Measure((2.6, 0.1), (75, 65)),
            "inverse_dynamics_derivatives": Measure((4.5, 0.2), (110, 100)),
            "regressor": Measure((1.4, 0.35), (200, 105)),
        }
    )


THRESHOLDS = Thresholds()


def worth_looping(name: str, robot: Robot, operations: Callable[[], int]) -> bool:
    """Whether looped code is the better choice for a quantity of a robot that has such code.

    operations: counts those of straight-line inverse dynamics.
    """
    t, few = THRESHOLDS, robot.n < THRESHOLDS.many
    if robot.n >= t.certain:
        return True
    (a, b), (c, d) = t.measured[name]
    straight = (a + b * _chain_length(robot)) * (operations() if few else estimated_operations(robot))
    call = (c + d * robot.n) * (1 if all(link.revolute for link in robot.links) else t.mixed)
    return straight > t.longest or t.operation * straight > call * (1 if few else t.clearly)


def estimated_operations(robot: Robot) -> float:
    """Operations of straight-line inverse dynamics, from the numbers of the links and what their joints add."""
    links = robot.links
    revolute = all(link.revolute for link in links)
    bodies = without_axes(links) if revolute else [link.inertia for link in links]
    rows = [
        [entry for row in (*link.pose(0).R.rows, link.pose(0).p, body.parameters()) for entry in row]
        for link, body in zip(links, bodies, strict=True)
    ]
    terms = joint_numbers(robot)
    numbers = np.abs(np.hstack([np.array(rows, dtype=float), *([] if terms is None else [terms])]))
    generic = int(((numbers > EPS) & (np.abs(numbers - 1) > EPS)).sum())
    return THRESHOLDS.per_joint * robot.n + THRESHOLDS.per_number * generic


def _chain_length(robot: Robot) -> float:
    """Of a chain with as many pairs of a link and one that it carries per joint; a free base carries all at no cost."""
    base = FREE if robot.compounds and floats(robot) else 0
    depths = [len(robot.path(link.index)) - base for link in robot.links[base:]]
    return 2 * sum(depths) / len(depths) - 1
