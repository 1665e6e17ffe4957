"""Hypotheses about arrays and torques: order of the joints, units of the arrays, what the torques include."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import permutations

from armdyn.doctor.gap import Gap
from armdyn.doctor.reading import Reading, hypothesis
from armdyn.doctor.variant import Variant

MOST_JOINTS = 4
"""Joints up to which every order is tried; beyond it, the reverse and swapped neighbours."""


@hypothesis("model", "torques")
def joint_order(gap: Gap) -> Iterator[Reading]:
    """The second model's arrays have its joints in another order."""
    names = [joint.name for joint in gap.robot.joints]
    if gap.order and gap.order != tuple(range(len(names))) and gap.variant.arrays.order != gap.order:
        listed = ", ".join(names[k] for k in gap.order)
        yield Reading(
            "joint_order",
            tuple(names),
            f"{gap.second} has the joints in another order: {listed}",
            lambda variant: variant.reads(order=gap.order),
        )


@hypothesis("torques")
def other_orders(gap: Gap) -> Iterator[Reading]:
    """Orders of the joints, where names do not tell."""
    names = [joint.name for joint in gap.robot.joints]
    n = len(names)
    if gap.order or gap.robot.compounds or gap.variant.arrays.order or n < 2:
        return
    orders = list(permutations(range(n))) if n <= MOST_JOINTS else [tuple(reversed(range(n))), *_swaps(n)]
    for order in orders:
        if order != tuple(range(n)):
            yield Reading(
                "joint_order",
                tuple(names),
                f"{gap.second} has the joints in the order {', '.join(names[k] for k in order)}",
                _ordered(order),
                options=len(orders),
            )


def _ordered(order: tuple[int, ...]) -> Callable[[Variant], Variant]:
    return lambda variant: variant.reads(order=order)


def _swaps(n: int) -> Iterator[tuple[int, ...]]:
    for i in range(n):
        for j in range(i + 1, n):
            order = list(range(n))
            order[i], order[j] = j, i
            yield tuple(order)


@hypothesis("torques")
def arrays_and_torques(gap: Gap) -> Iterator[Reading]:
    """Degrees, half-filled mass matrix, torques without gravity or Coriolis terms, conventions of free joints."""
    arrays, second = gap.variant.arrays, gap.second
    if arrays.scale == 1.0 and not gap.robot.compounds:
        yield Reading(
            "units_angle",
            ("arrays",),
            f"{second} reads positions in degrees",
            lambda variant: variant.reads(scale=math.pi / 180),
        )
        yield Reading(
            "units_angle",
            ("arrays",),
            f"the arrays are in degrees, and {second} gets radians",
            lambda variant: variant.reads(scale=180 / math.pi),
        )
    if not arrays.triangle:
        for half in ("upper", "lower"):
            words = f"{second} uses only the {half} triangle of the mass matrix"
            yield Reading("half_mass_matrix", ("mass matrix",), words, _half(half), options=2)
    for part, words in (("gravity", "gravity (gravity-compensated effort)"), ("coriolis", "Coriolis torques")):
        if part not in arrays.left_out:
            yield Reading(
                "gravity_compensated" if part == "gravity" else "missing_coriolis",
                ("torques",),
                f"the torques of {second} do not include {words}",
                _leaving_out(part),
            )
    if gap.robot.compounds:
        yield Reading(
            "quaternion_order",
            ("arrays",),
            f"{second} reads quaternions with w last",
            lambda variant: variant.reads(quaternion=True),
        )
        yield Reading(
            "velocity_frame",
            ("arrays",),
            f"{second} reads the linear velocity of the free joint in world axes",
            lambda variant: variant.reads(world_velocity=True),
        )


def _half(half: str) -> Callable[[Variant], Variant]:
    return lambda variant: variant.reads(triangle=half)


def _leaving_out(part: str) -> Callable[[Variant], Variant]:
    return lambda variant: variant.reads(left_out=(*variant.arrays.left_out, part))
