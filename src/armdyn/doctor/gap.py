"""Another model as evidence: the gap between two models, and what hypotheses about it share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from armdyn.doctor.reading import Hypothesis, Reading, registered
from armdyn.doctor.structure import Differences, JointNumbers, differences, structure
from armdyn.doctor.variant import States, Variant
from armdyn.robot.links import WORLD
from armdyn.robot.parts import Joint
from armdyn.robot.robot import Robot
from armdyn.typing import Floats

COST_OF_CAUSE, COST_OF_NUMBER = 1.0, 2.0
"""Digits of agreement that a cause, and each number fitted for it, must gain to be named."""
FINEST_TORQUE = 1e-7
"""Part of a joint's torques at which they count as equal in all digits."""
WEIGHT_OF_TORQUES = 3.0
"""Digits of torques, which sum up many numbers, count this many times those of one number."""
BEAM = 3
"""Sets of causes that are followed at the same time where numbers are compared, which is fast."""


@dataclass(frozen=True, eq=False)
class Gap:
    """Two models as a hypothesis sees them: the first, changed by what was found so far, and the second.

    first, second: the names of the models. target: the numbers of the second model in the joint order of the first, or
    None where only its torques are known. other: the second as a robot, and partners: its joints, in the same order.
    states, tau: random states and the torques of the second model there. fits: whether numbers of the first model are
    in doubt, and not only how arrays are read.
    """

    variant: Variant
    first: str
    second: str
    target: JointNumbers | None
    other: Robot | None
    order: tuple[int, ...]
    states: States
    tau: Floats
    partners: tuple[Joint, ...] = field(default=())
    fits: bool = True
    rounds: ClassVar[int] = 6

    @property
    def beam(self) -> int:
        return 1 if self.eager else BEAM

    @property
    def eager(self) -> bool:
        return self.target is None

    @property
    def robot(self) -> Robot:
        return self.variant.robot

    @cached_property
    def own(self) -> JointNumbers:
        return structure(self.variant)

    @cached_property
    def differences(self) -> Differences:
        assert self.target is not None
        return differences(self.own, self.target)

    @cached_property
    def residual(self) -> Floats:
        """(count, n) torques of the second model that the first, as changed, does not give."""
        return self.tau - self.variant.torques(self.states)

    @cached_property
    def torque_distances(self) -> list[float]:
        """Per joint, the rms difference of the torques as a part of their rms."""
        scale = np.sqrt(np.mean(self.tau**2, axis=0))
        scale = np.maximum(scale, 1e-9 * scale.max(initial=0.0)) + 1e-300
        return [float(x) for x in np.sqrt(np.mean(self.residual**2, axis=0)) / scale]

    @cached_property
    def misfit(self) -> float:
        """Digits in which the models still disagree."""
        if self.target is not None:
            ordered = not self.order or self.variant.arrays.order == self.order
            return self.differences.digits + (0.0 if ordered else _all_digits(1.0))
        return WEIGHT_OF_TORQUES * sum(map(_all_digits, self.torque_distances))

    @property
    def settled(self) -> bool:
        return self.misfit < (1.0 if self.target is None else 1e-12)

    def hypotheses(self) -> Sequence[Hypothesis]:
        return registered("torques" if self.target is None else "model", fits=self.fits)

    def cost(self, reading: Reading) -> float:
        return COST_OF_CAUSE + COST_OF_NUMBER * reading.reals + math.log10(reading.options)

    def after(self, readings: Sequence[Reading]) -> Gap:
        variant = self.variant
        for reading in readings:
            variant = reading.apply(variant)
        return replace(self, variant=variant)

    def sign_and_zero(self, link: int) -> tuple[float, float]:
        """How a movable joint is read; a dependent one as it is."""
        name = self.own.names[link]
        index = {joint.name: k for k, joint in enumerate(self.robot.joints)}.get(name)
        return (1.0, 0.0) if index is None else (self.variant.sign()[index], self.variant.zero()[index])


def _all_digits(distance: float) -> float:
    return math.log10(1 + distance / FINEST_TORQUE)


def edit_joint(name: str, change: Callable[[Joint], Joint]) -> Callable[[Variant], Variant]:
    """The transformation that changes one joint of the tree."""
    return edit_joints({name: change})


def edit_joints(changes: dict[str, Callable[[Joint], Joint]]) -> Callable[[Variant], Variant]:
    """The transformation that changes some joints of the tree."""

    def apply(variant: Variant) -> Variant:
        tree = tuple(changes[j.name](j) if j.name in changes else j for j in variant.robot.tree)
        return replace(variant, robot=replace(variant.robot, tree=tree))

    return apply


def bodies_of(robot: Robot, link: int) -> list[Joint]:
    """The joints of the tree whose bodies belong to a moving link."""
    frames = robot.opened.frames
    return [joint for joint in robot.tree if frames[joint.body.name].link == link and link != WORLD]
