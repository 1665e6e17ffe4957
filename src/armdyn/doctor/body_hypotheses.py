"""Hypotheses about bodies: mistakes in their inertial entries, bodies left out or added."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from armdyn.doctor.body_slips import InertiaEntries, entries_of, other_values, pairs, slips_of, with_entries
from armdyn.doctor.gap import Gap, bodies_of, edit_joint
from armdyn.doctor.reading import Reading, hypothesis
from armdyn.doctor.structure import central, facing, moved, pseudo_inertia
from armdyn.doctor.variant import Variant
from armdyn.kinematics.rotations import inverse_pose
from armdyn.robot.parts import Body, FreeTransform, Joint
from armdyn.robot.robot import Robot
from armdyn.typing import Floats

INERTIAL = ("mass", "centre", "tensor")
PRESENT = 1e-9
"""kg: a body below it has no mass worth a hypothesis."""


def in_body(joint: Joint, slip: Reading) -> Reading:
    """A reading of entries as a reading of the body of a joint: the same slip, whatever its entries are by then."""

    def edited(joint: Joint) -> Joint:
        return replace(joint, body=with_entries(joint.body, slip.apply(entries_of(joint.body))))

    return replace(
        slip,
        where=(joint.body.name,),
        what=f"body {joint.body.name!r}: {slip.what}",
        apply=edit_joint(joint.name, edited),
    )


def _in_body(gap: Gap, link: int, body: str, J: Floats) -> Floats:
    """A pseudo-inertia given in the structure's frame of a link, in the frame of one of its bodies."""
    frame = np.asarray(gap.robot.opened.frames[body].pose.array(), float)
    return moved(inverse_pose(frame) @ facing(gap.sign_and_zero(link)[0]), J)


def _wanted(gap: Gap, link: int, joint: Joint) -> InertiaEntries:
    """The entries of a body that make its whole link the one of the second model."""
    missing = gap.differences.bodies[link] - gap.own.bodies[link]
    J = pseudo_inertia(joint.body.inertia.at_origin()) + _in_body(gap, link, joint.body.name, missing)
    scale = np.abs(J).max() or 1.0
    return InertiaEntries(*central(np.where(np.abs(J) < 1e-13 * scale, 0.0, J)))


@hypothesis("model")
def changed_body(gap: Gap) -> Iterator[Reading | tuple[Reading, ...]]:
    """One mistake, or two, in the entries of one body of each link that differs."""
    size = max((float(np.linalg.norm(T[:3, 3])) for T in gap.own.placement), default=0.0) or 1.0
    for link in gap.differences.at(*INERTIAL):
        for joint in bodies_of(gap.robot, link):
            body = entries_of(joint.body)
            if abs(body.mass) < PRESENT and not body.tensor.any():
                continue
            yield from _matching(joint, body, _wanted(gap, link, joint), size)


def _matching(
    joint: Joint, body: InertiaEntries, wanted: InertiaEntries, size: float
) -> Iterator[Reading | tuple[Reading, ...]]:
    values = list(other_values(body, wanted))
    table = [*slips_of(body), *((reading, reading.apply(body)) for reading in values)]
    single = [slip for slip, after in table if after.near(wanted, size, body)]
    for slip in single or values:  # else one entry of several that differ
        yield in_body(joint, slip)
    if not single:
        for first, second in pairs(body, wanted, size):
            yield in_body(joint, first), in_body(joint, second)


@hypothesis("torques", effort=2, fits=True)
def any_body(gap: Gap) -> Iterator[Reading]:
    """Every mistake that needs no numbers, in every body."""
    for joint in gap.robot.tree:
        if gap.robot.opened.frames[joint.body.name].link >= 0 and abs(entries_of(joint.body).mass) >= PRESENT:
            for slip, _ in slips_of(entries_of(joint.body)):
                yield in_body(joint, slip)


@hypothesis("model")
def body_of_the_other(gap: Gap) -> Iterator[Reading]:
    """A body of the second model that the first lacks, or has twice."""
    if gap.other is None:
        return
    tree = gap.other.opened
    for link in gap.differences.at(*INERTIAL):
        partner = tree.frames[gap.partners[link].body.name].link
        for joint in bodies_of(gap.other, partner):
            if joint.kind != "fixed" or abs(entries_of(joint.body).mass) < PRESENT:
                continue
            pose = np.asarray(tree.frames[joint.body.name].pose.array(), float)
            J = moved(gap.differences.gauge[link] @ pose, pseudo_inertia(joint.body.inertia.at_origin()))
            name, m = joint.body.name, entries_of(joint.body).mass
            known = name in {own.body.name for own in gap.robot.tree}
            there = f"fixed body {name!r} ({m:.4g} kg) of {gap.second}"
            again = _copy(tree, partner, joint)
            if again and not known:
                twice = f"{there} counts twice there, also as {again!r}"
                yield Reading("doubled_link", (name,), twice, add(gap, link, J))
                continue
            kind = "payload" if name in gap.other.payloads else "dropped_link"
            less = f"{there} {'counts less' if known else 'is missing'} in {gap.first}"
            yield Reading(kind, (name,), less, add(gap, link, J))
            more = f"{there} is counted once more in {gap.first}"
            yield Reading("doubled_link", (name,), more, add(gap, link, -J), options=2)


def _copy(robot: Robot, link: int, joint: Joint) -> str:
    """The name of another body of the link that is the same in the same place; empty if there is none."""
    pose = np.asarray(robot.frames[joint.body.name].pose.array(), float)
    mine = moved(pose, pseudo_inertia(joint.body.inertia.at_origin()))
    for other in bodies_of(robot, link):
        J = moved(
            np.asarray(robot.frames[other.body.name].pose.array(), float),
            pseudo_inertia(other.body.inertia.at_origin()),
        )
        if other is not joint and np.abs(J - mine).max() <= 1e-9 * np.abs(mine).max():
            return other.body.name
    return ""


@hypothesis("model")
def payload(gap: Gap) -> Iterator[Reading]:
    """One more body, or one fewer, on a link: what is missing there is a physically consistent body."""
    for link in gap.differences.at(*INERTIAL):
        missing = gap.differences.bodies[link] - gap.own.bodies[link]
        for sign, side in ((1, gap.second), (-1, gap.first)):
            m, c, T = central(sign * missing)
            moments = np.linalg.eigvalsh(T)
            rounding = 1e-7 * (m * float(c @ c) + float(np.abs(central(gap.own.bodies[link])[2]).max()))
            if m < PRESENT or moments[0] < -rounding or moments[2] > moments[0] + moments[1] + rounding:
                continue
            point = moments[2] <= rounding
            carrier = gap.robot.opened.joints[link].body.name
            yield Reading(
                "payload",
                (carrier,),
                f"{side} carries {m:.4g} kg more on {carrier!r}: a "
                f"{'point mass' if point else 'body'} at a distance of {np.linalg.norm(c):.3g} m from the joint",
                add(gap, link, missing),
                reals=4 if point else 9,
            )


def add(gap: Gap, link: int, J: Floats) -> Callable[[Variant], Variant]:
    """The transformation that adds a pseudo-inertia, given in the structure's frame of a link, to that link."""
    carrier = gap.robot.opened.joints[link].body.name
    own = InertiaEntries(*central(_in_body(gap, link, carrier, J)))

    def apply(variant: Variant) -> Variant:
        robot = variant.robot
        name = f"difference {len(robot.tree)}"
        joint = Joint(name, "fixed", FreeTransform(), carrier, with_entries(Body(name), own))
        return replace(variant, robot=replace(robot, tree=(*robot.tree, joint)))

    return apply
