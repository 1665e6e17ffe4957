"""Feasibility of a motion: positions, velocities, accelerations, jerk, torques and powers against their limits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.dynamics.holding import holding_torques
from armdyn.motion.sampling import checked_motion, dynamics_of, jerk_at, sample_times, states
from armdyn.notebook_view import Shown, View, rows_of
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.limits import LimitsGiven, MotionLimits, joint_names, limits_of
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section
from armdyn.typing import Array

TOUCHING = 5e-4
"""Fraction of a limit by which it may be exceeded: a time-optimal motion exceeds it by up to 3e-4 between the places at
which it was checked."""
QUANTITIES = ("position", "velocity", "acceleration", "torque", "power", "jerk")


class FeasibilityStatus(Enum):
    """Whether a motion is feasible, in a sentence with advice."""

    FEASIBLE = "The motion keeps all known limits."
    UNLIMITED = "No limit is known: give v_max, a_max, tau_max or p_max, or add limits to the robot's file."
    TOO_FAR = "A joint exceeds its position limits. Slowing down does not help: change the path."
    TOO_FAST = "A limit is exceeded. Slow down: `scale_to_torque` finds by how much, `time_optimal` the fastest timing."
    TOO_HEAVY = (
        "Gravity alone exceeds a torque limit. No timing helps: lighten the load, or avoid these configurations."
    )


@dataclass(frozen=True)
class Excess:
    """A limit that is exceeded.

    joint:     name.
    quantity:  position, velocity, acceleration, torque, power or jerk.
    value:     the worst value.
    limit:     the limit that it exceeds.
    time:      when, s.
    intervals: times during which the limit is exceeded, (start, end), s.
    """

    joint: str
    quantity: str
    value: float
    limit: float
    time: float
    intervals: tuple[tuple[float, float], ...]

    def __str__(self) -> str:
        when = ", ".join(f"{a:.4g} to {b:.4g} s" if b > a else f"{a:.4g} s" for a, b in self.intervals[:4])
        more = f" and {len(self.intervals) - 4} more" if len(self.intervals) > 4 else ""
        most = f"{self.quantity} {self.value:.5g} at {self.time:.4g} s, limit {self.limit:.5g}"
        return f"{self.joint}: {most} ({when}{more})"


@dataclass(frozen=True, eq=False)
class Feasibility(Shown):
    """A motion compared with the limits of the joints. True if it keeps them.

    robot:    the robot.
    status:   feasible, or why not, with advice.
    use:      by quantity, (n,) largest fraction of its limit that a joint uses (1: all of it, 0: no limit known); for
              positions, distance from the middle of the range over half the range.
    peak:     by quantity, (n,) the value at that time (the largest magnitude if there is no limit).
    time:     by quantity, (n,) that time, s.
    excesses: limits that are exceeded.
    limits:   the limits.
    """

    robot: Robot
    status: FeasibilityStatus
    use: dict[str, Array]
    peak: dict[str, Array]
    time: dict[str, Array]
    excesses: tuple[Excess, ...]
    limits: MotionLimits

    @property
    def holds(self) -> bool:
        """Whether all known limits are kept."""
        return not self.excesses

    @property
    def margin(self) -> dict[str, Array]:
        """By quantity, (n,) what is left as a fraction of the limit; negative where it is exceeded."""
        return {name: 1 - share for name, share in self.use.items()}

    def __bool__(self) -> bool:
        return self.holds

    def _view(self) -> View:
        columns = (Column("joint"), *(Column(name, "%") for name in QUANTITIES))
        shares = [100 * self.use[name] for name in QUANTITIES]
        rows = rows_of(
            (joint, *(f"{share[i]:.1f}" if share[i] > 0 else "" for share in shares))
            for i, joint in enumerate(joint_names(self.robot))
        )
        table = Section("Use of the limits", columns, rows).filled()
        return View(
            f"Motion of {self.robot.name}",
            (self.status.value, self.holds),
            (),
            (),
            (table,),
            (),
            list(map(str, self.excesses)),
        )

    def __str__(self) -> str:
        lines = [f"{self.robot.name}: {self.status.value}", f"{'use of the limit':<18}"]
        lines[1] += "".join(f"{name:>14}" for name in QUANTITIES)
        for i, joint in enumerate(joint_names(self.robot)):
            cells = (f"{self.use[name][i]:14.1%}" if self.use[name][i] > 0 else f"{'-':>14}" for name in QUANTITIES)
            lines.append(f"{joint:<18}" + "".join(cells))
        return "\n".join([*lines, *map(str, self.excesses)])


@takes(*CLOSED, *TREE)
def feasibility(
    model: Robot | Dynamics,
    motion: Any,
    *,
    dt: float | None = None,
    limits: LimitsGiven = None,
) -> Feasibility:
    """Compare a motion with the limits of position, velocity, acceleration, torque, power and jerk.

    Where the acceleration jumps, jerk is infinite.

    Args:
        model:   robot or its dynamics.
        motion:  motion(t), motion(t, 1), motion(t, 2), motion.duration.
        dt:      sampling interval, s (default: 1/2000 of the duration).
        limits:  of the joints: {"tau_max": ..., "v_max": ...} in place of the robot's, (n,) or one number each, np.inf
                 for none (names: `robot.limits.LimitOptions`), or a `MotionLimits` (default: the robot's).

    >>> import armdyn
    >>> move = armdyn.point_to_point([0.0], [1.0], "cubic", duration=0.5)
    >>> verdict = feasibility(armdyn.load("pendulum"), move, limits={"v_max": 2.0})
    >>> verdict.holds, round(float(verdict.use["velocity"][0]), 6)
    (False, 1.5)
    """
    dyn = dynamics_of(model)
    checked_motion(dyn, motion)
    return judged(dyn.robot, dyn, motion, limits_of(dyn.robot, limits, "feasibility", unused=()), dt)


def judged(
    robot: Robot, dyn: Dynamics | None, motion: Any, limits: MotionLimits, dt: float | None = None
) -> Feasibility:
    """Compare a motion with limits; without dynamics its torques and powers count as zero."""
    t = sample_times(motion, dt)
    q, qd, qdd = states(motion, t)
    tau = np.zeros_like(q) if dyn is None else dyn.inverse_dynamics(q, qd, qdd)
    jerk = jerk_at(motion, t, qdd, limits.jerk) if np.isfinite(limits.jerk).any() else np.zeros_like(qdd)
    values = dict(zip(QUANTITIES, (q, qd, qdd, tau, tau * qd, jerk), strict=True))
    bounds = {
        "position": (limits.lower, limits.upper),
        "velocity": (-limits.velocity, limits.velocity),
        "acceleration": (-limits.acceleration, limits.acceleration),
        "torque": limits.torques(qd),
        "power": (-limits.power, limits.power),
        "jerk": (-limits.jerk, limits.jerk),
    }
    use, peak, time = {}, {}, {}
    excesses: list[Excess] = []
    for name, value in values.items():
        low, high = (np.broadcast_to(bound, value.shape) for bound in bounds[name])
        share = _share(value, low, high)
        most = np.where(share.max(axis=0) > 0, share.argmax(axis=0), np.abs(value).argmax(axis=0))
        each = np.arange(robot.n)
        use[name], peak[name], time[name] = share[most, each], value[most, each], t[most]
        for i in np.flatnonzero(use[name] > 1 + TOUCHING):
            worst, upper, lower = float(peak[name][i]), float(high[most[i], i]), float(low[most[i], i])
            limit = upper if worst - upper >= lower - worst else lower
            over = _intervals(t, share[:, i] > 1 + TOUCHING)
            excesses.append(Excess(joint_names(robot)[i], name, worst, limit, float(time[name][i]), over))
    resting = np.zeros_like(q) if dyn is None else holding_torques(dyn, q)
    status = _status(excesses, bounds, resting)
    return Feasibility(robot, status, use, peak, time, tuple(excesses), limits)


def _share(value: Array, low: Array, high: Array) -> Array:
    """1 at either limit, 0 in the middle between them; for a single limit the value over the limit."""
    two = np.isfinite(low) & np.isfinite(high)
    middle = np.where(two, (np.where(two, low, 0) + np.where(two, high, 0)) / 2, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        sides = [np.where(np.isfinite(limit), (value - middle) / (limit - middle), 0.0) for limit in (low, high)]
    share: Array = np.maximum(*(np.nan_to_num(side, posinf=np.inf, neginf=-np.inf) for side in sides))
    return np.maximum(share, 0.0)


def _intervals(t: Array, over: Array) -> tuple[tuple[float, float], ...]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], over, [False]]).astype(int)))
    return tuple((float(t[a]), float(t[b - 1])) for a, b in zip(edges[::2], edges[1::2], strict=True))


def _status(excesses: list[Excess], bounds: dict[str, tuple[Array, Array]], gravity: Array) -> FeasibilityStatus:
    if not excesses:
        known = any(np.isfinite(bound).any() for name in QUANTITIES[1:] for bound in bounds[name])
        return FeasibilityStatus.FEASIBLE if known else FeasibilityStatus.UNLIMITED
    low, high = bounds["torque"]  # those of the speeds of the motion
    if ((gravity > high) | (gravity < low)).any():
        return FeasibilityStatus.TOO_HEAVY
    return (
        FeasibilityStatus.TOO_FAR
        if any(excess.quantity == "position" for excess in excesses)
        else FeasibilityStatus.TOO_FAST
    )
