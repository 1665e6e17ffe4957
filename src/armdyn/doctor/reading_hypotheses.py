"""Hypotheses about arrays and torques: order of the joints, units of the arrays, what the torques include."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import permutations

from armdyn.doctor.hypotheses import FROM_TORQUES, STRUCTURAL, Candidate, Gap, hypothesis, one
from armdyn.doctor.readings import Variant

MOST_JOINTS = 4
"""Joints up to which every order is tried; beyond it, the reverse and swapped neighbours."""


@hypothesis(STRUCTURAL, FROM_TORQUES)
def joint_order(gap: Gap) -> Iterator[Candidate]:
    """The second model's arrays have its joints in another order."""
    names = [joint.name for joint in gap.robot.joints]
    if gap.order and gap.order != tuple(range(len(names))) and gap.variant.reading.order != gap.order:
        listed = ", ".join(names[k] for k in gap.order)
        yield one("joint_order", tuple(names), f"{gap.second} has the joints in another order: {listed}",
                  lambda variant: variant.reads(order=gap.order))  # fmt: skip


@hypothesis(FROM_TORQUES)
def other_orders(gap: Gap) -> Iterator[Candidate]:
    """Orders of the joints, where names do not tell."""
    names = [joint.name for joint in gap.robot.joints]
    n = len(names)
    if gap.order or gap.robot.compounds or gap.variant.reading.order or n < 2:
        return
    orders = list(permutations(range(n))) if n <= MOST_JOINTS else [tuple(reversed(range(n))), *_swaps(n)]
    for order in orders:
        if order != tuple(range(n)):
            yield one("joint_order", tuple(names), f"{gap.second} has the joints in the order "
                      f"{', '.join(names[k] for k in order)}", _ordered(order), options=len(orders))  # fmt: skip


def _ordered(order: tuple[int, ...]) -> Callable[[Variant], Variant]:
    return lambda variant: variant.reads(order=order)


def _swaps(n: int) -> Iterator[tuple[int, ...]]:
    for i in range(n):
        for j in range(i + 1, n):
            order = list(range(n))
            order[i], order[j] = j, i
            yield tuple(order)


@hypothesis(FROM_TORQUES)
def arrays_and_torques(gap: Gap) -> Iterator[Candidate]:
    """Degrees, half-filled mass matrix, torques without gravity or Coriolis terms, conventions of free joints."""
    reading, second = gap.variant.reading, gap.second
    if reading.scale == 1.0 and not gap.robot.compounds:
        yield one("units_angle", ("arrays",), f"{second} reads positions in degrees",
                  lambda variant: variant.reads(scale=math.pi / 180))  # fmt: skip
        yield one("units_angle", ("arrays",), f"the arrays are in degrees, and {second} gets radians",
                  lambda variant: variant.reads(scale=180 / math.pi))  # fmt: skip
    if not reading.triangle:
        for half in ("upper", "lower"):
            words = f"{second} uses only the {half} triangle of the mass matrix"
            yield one("half_mass_matrix", ("mass matrix",), words, _half(half), options=2)
    for part, words in (("gravity", "gravity (gravity-compensated effort)"), ("coriolis", "Coriolis torques")):
        if part not in reading.left_out:
            yield one("gravity_compensated" if part == "gravity" else "missing_coriolis", ("torques",),
                      f"the torques of {second} do not include {words}", _leaving_out(part))  # fmt: skip
    if gap.robot.compounds:
        yield one("quaternion_order", ("arrays",), f"{second} reads quaternions with w last",
                  lambda variant: variant.reads(quaternion=True))  # fmt: skip
        yield one("velocity_frame", ("arrays",), f"{second} reads the linear velocity of the free joint in world axes",
                  lambda variant: variant.reads(world_velocity=True))  # fmt: skip


def _half(half: str) -> Callable[[Variant], Variant]:
    return lambda variant: variant.reads(triangle=half)


def _leaving_out(part: str) -> Callable[[Variant], Variant]:
    return lambda variant: variant.reads(left_out=(*variant.reading.left_out, part))
