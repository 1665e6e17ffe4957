"""The result of a loop, before it becomes a Run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armdyn.control.base import Desired
from armdyn.simulation.problem import SimulationProblem
from armdyn.simulation.run import Status
from armdyn.typing import Array


class RunSamples(NamedTuple):
    """Samples up to the end, and how the run ended."""

    q: Array
    qd: Array
    tau: Array
    memory: Array
    status: Status
    detail: str
    t: Array | None = None
    """Times, if they are not multiples of dt."""
    table: Desired | None = None
    """The reference at the samples (or beyond them), if already computed."""


def past_range(problem: SimulationProblem, q: Array) -> Array | None:
    """Which entries of positions (..., n) are outside the joint limits; None if limits are ignored."""
    if problem.ranges is None:
        return None
    low, high = problem.ranges
    return np.asarray((q < low) | (q > high))


def range_detail(problem: SimulationProblem, t: float, hit: Array) -> str:
    """Name of the first joint at its limit, and the time."""
    joint = problem.plants[0][1].robot.joints[int(hit.argmax())].name
    return f"joint {joint!r} at t = {t:.6g} s"


def end_of_motion(
    p: SimulationProblem, t: float, q: Array, qd: Array, last: float | None
) -> tuple[Status | None, str, float]:
    """Whether the motion ends here: (status or None, detail, value of the stop condition). last: its value before."""
    value = -1.0
    hit = past_range(p, q)
    if hit is not None and hit.any():
        return Status.LIMIT, range_detail(p, t, hit), value
    if p.stop is not None:
        value = float(p.stop(t, q, qd))
        if last is not None and (value == 0.0 or (value > 0) != (last > 0)):
            return Status.STOPPED, f"at t = {t:.6g} s", value
    return None, "", value
