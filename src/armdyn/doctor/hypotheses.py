"""Hypotheses: what may differ between two models, each a transformation of the first towards the second.

A hypothesis is a function under `@hypothesis` that proposes candidates for the gap between the two models. It proposes
only what the difference suggests, takes unknown numbers from the difference, and leaves judging to the search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from armdyn.doctor.readings import States, Variant
from armdyn.doctor.structure import Differences, Structure, differences, structure
from armdyn.robot.links import WORLD
from armdyn.robot.parts import Joint
from armdyn.robot.robot import Robot
from armdyn.typing import Floats

COST_OF_CAUSE, COST_OF_NUMBER = 1.0, 2.0
"""Digits of agreement that a cause, and each number fitted for it, must gain to be named."""


@dataclass(frozen=True)
class Cause:
    """A named difference.

    kind: short name. where: joints or bodies concerned. what: a sentence. reals: numbers that were fitted.
    share: of the torque difference, 0 to 1; None before it is computed.
    """

    kind: str
    where: tuple[str, ...]
    what: str
    reals: int = 0
    share: float | None = None


@dataclass(frozen=True, eq=False)
class Step:
    """One cause, and the transformation of the first model that it stands for. options: number of alternatives."""

    cause: Cause
    apply: Callable[[Variant], Variant]
    options: int = 1

    @property
    def cost(self) -> float:
        return COST_OF_CAUSE + COST_OF_NUMBER * self.cause.reals + math.log10(self.options)


Candidate = tuple[Step, ...]
"""Steps that are proposed together: mostly one."""


@dataclass(frozen=True, eq=False)
class Gap:
    """Two models as a hypothesis sees them: the first, changed by what was found so far, and the second.

    first, second: the names of the models. target: the numbers of the second model in the joint order of the first, or
    None where only its torques are known. other: the second as a robot, and partners: its joints, in the same order.
    states, tau: random states and the torques of the second model there.
    """

    variant: Variant
    first: str
    second: str
    target: Structure | None
    other: Robot | None
    order: tuple[int, ...]
    states: States
    tau: Floats
    partners: tuple[Joint, ...] = field(default=())

    @property
    def robot(self) -> Robot:
        return self.variant.robot

    @cached_property
    def own(self) -> Structure:
        return structure(self.variant)

    @cached_property
    def differences(self) -> Differences:
        assert self.target is not None
        return differences(self.own, self.target)

    @cached_property
    def residual(self) -> Floats:
        """(count, n) torques of the second model that the first, as changed, does not give."""
        return self.tau - self.variant.torques(self.states)

    def after(self, steps: Candidate) -> Gap:
        variant = self.variant
        for step in steps:
            variant = step.apply(variant)
        return replace(self, variant=variant)

    def reading_of(self, link: int) -> tuple[float, float]:
        """(sign, zero) of a movable joint; of a dependent one as it is."""
        name = self.own.names[link]
        index = {joint.name: k for k, joint in enumerate(self.robot.joints)}.get(name)
        return (1.0, 0.0) if index is None else (self.variant.sign()[index], self.variant.zero()[index])


Hypothesis = Callable[[Gap], Iterator[Candidate]]
STRUCTURAL: list[Hypothesis] = []
"""Hypotheses for two models whose numbers are known."""
FROM_TORQUES: list[Hypothesis] = []
"""Hypotheses that need the torques of the second model only."""


def hypothesis(*lists: list[Hypothesis]) -> Callable[[Hypothesis], Hypothesis]:
    """Enter a hypothesis in the lists."""

    def enter(function: Hypothesis) -> Hypothesis:
        for some in lists:
            some.append(function)
        return function

    return enter


def one(kind: str, where: tuple[str, ...], what: str, apply: Callable[[Variant], Variant], *, reals: int = 0,
        options: int = 1) -> Candidate:  # fmt: skip
    """A candidate of one cause."""
    return (Step(Cause(kind, where, what, reals), apply, options),)


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
