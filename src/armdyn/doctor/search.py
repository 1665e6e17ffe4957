"""Search over hypotheses: the fewest causes that leave the least difference.

A set of causes is judged by description length: digits in which the two models still disagree, plus the cost of the
causes and of the numbers fitted for them. A cause that makes numbers agree in all digits gains far more than one that
only brings them nearer, so chance improvements are not named.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from armdyn.doctor import body_hypotheses, drive_hypotheses, geometry_hypotheses, reading_hypotheses
from armdyn.doctor.hypotheses import FROM_TORQUES, STRUCTURAL, Gap, Hypothesis, Step
from armdyn.typing import Progress, quiet

BEAM = 3
"""Sets of causes that are followed at the same time."""
MOST_CAUSES = 6
FINEST_TORQUE = 1e-7
"""Part of a joint's torques at which they count as equal in all digits."""
WEIGHT_OF_TORQUES = 3.0
"""Digits of torques, which sum up many numbers, count this many times those of one number."""
assert body_hypotheses and drive_hypotheses and geometry_hypotheses and reading_hypotheses  # they enter themselves


@dataclass(frozen=True, eq=False)
class Found:
    """Causes found so far, and the gap that they leave."""

    gap: Gap
    steps: tuple[Step, ...] = field(default=())

    @cached_property
    def digits(self) -> float:
        """Digits in which the models still disagree."""
        gap = self.gap
        if gap.target is not None:
            order = 0.0 if not gap.order or gap.variant.reading.order == gap.order else _all_digits(1.0)
            return gap.differences.digits + order
        return WEIGHT_OF_TORQUES * sum(map(_all_digits, torque_distances(gap)))

    @cached_property
    def length(self) -> float:
        """Description length: what is left and what the causes cost."""
        return self.digits + sum(step.cost for step in self.steps)


def _all_digits(distance: float) -> float:
    return math.log10(1 + distance / FINEST_TORQUE)


def torque_distances(gap: Gap) -> list[float]:
    """Per joint, the rms difference of the torques as a part of their rms."""
    scale = np.sqrt(np.mean(gap.tau**2, axis=0))
    scale = np.maximum(scale, 1e-9 * scale.max(initial=0.0)) + 1e-300
    return [float(x) for x in np.sqrt(np.mean(gap.residual**2, axis=0)) / scale]


def search(gap: Gap, progress: Progress = quiet, *, readings: bool = False) -> Found:
    """The causes with the shortest description. readings: only how arrays are read, the numbers being known."""
    best = Found(gap)
    beam = [best]
    for depth in range(MOST_CAUSES):
        progress("searching causes", depth / MOST_CAUSES)
        wider = sorted(
            (found for state in beam for found in _extended(state, readings)), key=lambda found: found.length
        )
        beam = list(_distinct(wider))[: BEAM if gap.target is not None else 1]
        if not beam:
            break
        if beam[0].length < best.length:
            best = beam[0]
        elif beam[0].length > best.length + 3 or best.digits == 0:
            break
        if best.digits < (1.0 if gap.target is None else 1e-12):
            break
    return best


def _extended(state: Found, readings: bool) -> Iterator[Found]:
    hypotheses = STRUCTURAL if state.gap.target is not None else sorted(FROM_TORQUES, key=_effort)
    hypotheses = [propose for propose in hypotheses if not _fits(propose)] if readings else hypotheses
    for propose in hypotheses:
        done = False
        for candidate in propose(state.gap):
            after = Found(state.gap.after(candidate), (*state.steps, *candidate))
            if after.length < state.length + 1.0 and math.isfinite(after.digits):
                yield after
                done = done or after.digits < 1.0
        if done and state.gap.target is None:  # torques take time, and nothing is left to explain
            return


WIDE = ("any_body", "reread_placements", "rounded_zero")
"""Hypotheses that try every body or placement."""


def _effort(propose: Hypothesis) -> int:
    """The cheap hypotheses come first, then those that fit a number per joint, then those that try everything."""
    return 2 if propose.__name__ in WIDE else int(propose.__name__ == "fitted_drives")


def _fits(propose: Hypothesis) -> bool:
    """Whether a hypothesis is about numbers of the robot, and not only about how arrays are read."""
    return propose.__name__ in (*WIDE, "fitted_drives", "fitted_gravity")


def _distinct(found: list[Found]) -> Iterator[Found]:
    """One of each set of causes: the order in which they were found does not matter."""
    seen: set[frozenset[tuple[str, tuple[str, ...]]]] = set()
    for state in found:
        key = frozenset((cause.kind, cause.where) for cause in (step.cause for step in state.steps))
        if key not in seen:
            seen.add(key)
            yield state
