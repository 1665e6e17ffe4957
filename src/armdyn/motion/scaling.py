"""Dynamic scaling: the same path, uniformly faster or slower, up to the limits of the actuators. Siciliano sec. 7.7"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.dynamics.holding import holding_torques
from armdyn.motion.path import as_trajectory
from armdyn.motion.sampling import (
    Infeasible,
    checked_motion,
    dynamics_of,
    jerk_at,
    sample_times,
    states,
    too_heavy,
    too_weak,
)
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.limits import LimitsGiven, MotionLimits, joint_names, joint_units, limits_of
from armdyn.robot.robot import Robot
from armdyn.trajectory.compose import Uniform
from armdyn.typing import Array

NEARLY = 1e-9
"""Fraction of the torque range by which gravity may exceed a limit: rounding."""
SLOWEST, FASTEST = 1e-3, 1e3
"""Range of speeds, relative to the reference, that is searched for friction laws without a formula."""


@dataclass(frozen=True, eq=False, repr=False)
class ScaledMotion(Uniform):
    """The reference at another speed: q(t) = ref(c t), so that tau_s(t) = c^2 tau_s,ref(c t). Siciliano (7.126)

    joint:    name of the joint that limits the speed.
    quantity: torque, velocity or acceleration of that joint.
    time:     when it reaches its limit, s.
    """

    joint: str
    quantity: str
    time: float

    @property
    def c(self) -> float:
        """Speed relative to the reference."""
        return self.rate

    def __str__(self) -> str:
        return (
            f"{self.duration:.6g} s, {self.c:.6g} times the speed of the reference; "
            f"limited by the {self.quantity} of {self.joint} at {self.time:.6g} s"
        )


class Demand(NamedTuple):
    """Torques of the reference by how they scale: tau = c^2 moving + c viscous + resting at c times its speed.

    moving, viscous, resting: (k, n) N m or N; resting is gravity and dry friction.
    dry:                      (k, n) the dry friction in it.
    law:                      friction as a function of c, a number or (k, 1), if it is not dry + c viscous, which are
                              zero then; else None.
    """

    moving: Array
    viscous: Array
    resting: Array
    dry: Array
    law: Callable[[Any], Array] | None


@takes(*CLOSED, *TREE)
def scale_to_torque(
    ref: Any,
    model: Robot | Dynamics,
    *,
    dt: float | None = None,
    limits: LimitsGiven = None,
) -> ScaledMotion:
    """Return the reference at the uniform speed at which some torque, or another quantity, reaches its limit first.

        tau(t) = c^2 tau_s(ct) + c viscous(ct) + dry(ct) + g(ct),     Siciliano (7.126) with r = ct, friction added

    Args:
        ref:     ref(t), ref(t, 1), ref(t, 2), ref.duration.
        model:   robot or its dynamics.
        dt:      sampling interval, s (default: 1/2000 of the duration).
        limits:  of the joints, as in `feasibility` (default: the robot's). Those of velocity, acceleration and jerk
                 are kept as well.

    Method:  one inverse dynamics along the reference. Gravity and Coulomb friction do not scale, viscous friction
             scales with c, all else with c^2; c is the least positive root of the quadratic equations of all joints at
             all times, so that every slower motion is feasible too. For other friction laws (Stribeck, user-defined)
             friction is evaluated at trial speeds, and the largest c that keeps the limits is found by bisection;
             torque limits that fall with the speed (Khalil sec. 8.5) likewise.
    Raises:  Infeasible if gravity with dry friction exceeds a limit, or if jerk is limited and the acceleration jumps:
             no speed helps.

    >>> import armdyn
    >>> move = armdyn.point_to_point([0.0, 0.0], [1.0, 1.0], "quintic", duration=1.0)
    >>> scaled = scale_to_torque(move, armdyn.load("planar2r"), limits={"tau_max": 3000.0})
    >>> scaled.joint
    'shoulder'
    """
    dyn = dynamics_of(model)
    ref = as_trajectory(ref)
    checked_motion(dyn, ref)
    limits = limits_of(dyn.robot, limits, "scale_to_torque")
    rates = {"velocity": limits.velocity, "acceleration": limits.acceleration, "jerk": limits.jerk}
    if not any(np.isfinite(limit).any() for limit in (limits.tau_max, limits.tau_min, *rates.values())):
        raise Infeasible(
            "no torque limit is known",
            where=f"robot {dyn.robot.name!r}",
            expected="limits with tau_max, (n,) or one number",
        )
    t = sample_times(ref, dt)
    q, qd, qdd = states(ref, t)
    demand = demand_of(dyn, q, qd, qdd)
    if demand.law is None and limits.curve is None:
        _check_resting(dyn, limits, t, demand.resting, demand.dry)
        c, i, t_most = _solved(dyn, ref, limits, t, factors_of(demand, limits))
    else:
        c, i, t_most = _searched(dyn, demand, limits, t, qd)
    what = "torque"
    for order, (name, cap) in enumerate(rates.items(), 1):
        if np.isfinite(cap).any() and (least := _by_rate(ref, t, order, cap))[0] < c:
            (c, i, t_most), what = least, name
    joint = joint_names(dyn.robot)[i]
    if not np.isfinite(c) or not ref.peak(1).any():  # at rest, torques are left to rounding
        raise Infeasible(
            "nothing limits the speed: the motion needs no torque but that of gravity",
            where=f"robot {dyn.robot.name!r}",
            expected="a reference that moves, with torques that have limits",
        )
    if c <= 0 and what == "jerk":
        raise Infeasible(
            f"the acceleration of joint {joint!r} jumps at t = {t_most:.6g} s: no speed keeps a jerk limit",
            where=f"robot {dyn.robot.name!r}",
            expected="a continuous acceleration that is 0 at both ends",
            advice="Use the profile quintic or smooth, or the timing optimal, which keeps all limits.",
        )
    if c <= 0:
        raise too_weak(
            dyn.robot, i, f"has no {what} left for the motion", f"robot {dyn.robot.name!r}, t = {t_most:.6g} s"
        )
    return ScaledMotion(ref, c, joint, what, t_most / c)


def _by_rate(ref: Any, t: Array, order: int, cap: Array) -> tuple[float, int, float]:
    """The largest factor at which a derivative of the motion keeps its limits, (n,): (factor, joint, time)."""
    values = np.abs(jerk_at(ref, t, ref(t, 2), cap) if order == 3 else ref(t, order))
    peak = values.max(axis=0) if order == 3 else ref.peak(order)
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.where(np.isfinite(cap), (cap / peak) ** (1 / order), np.inf)
    i = int(factors.argmin())
    return float(factors[i]), i, float(t[values[:, i].argmax()])


def demand_of(dyn: Dynamics, q: Array, qd: Array, qdd: Array) -> Demand:
    """Return the torques of a motion, (k, n), split by how they scale with its speed."""
    gravity, friction = holding_torques(dyn, q), dyn.friction(qd)
    moving = dyn.inverse_dynamics(q, qd, qdd) - gravity - friction
    if not friction.any():
        nothing = np.zeros_like(gravity)
        return Demand(moving, nothing, gravity, nothing, None)
    viscous = 2 * (friction - dyn.friction(0.5 * qd))
    dry = friction - viscous
    scale = np.abs(friction).max() + 1e-300
    plain = all(np.abs(dyn.friction(c * qd) - dry - c * viscous).max() <= 1e-10 * c * scale for c in (0.03, 2.7))
    if plain:
        return Demand(moving, viscous, gravity + dry, dry, None)
    nothing = np.zeros_like(gravity)
    return Demand(moving, nothing, gravity, nothing, lambda c: dyn.friction(c * qd))


def factors_of(demand: Demand, limits: MotionLimits) -> Array:
    """Return the speeds (k, n), relative to the motion, up to which each torque keeps its limits."""
    up = _first_root(demand.moving, demand.viscous, limits.tau_max - demand.resting)
    down = _first_root(-demand.moving, -demand.viscous, demand.resting - limits.tau_min)
    return np.minimum(up, down)


def _first_root(a: Array, v: Array, room: Array) -> Array:
    """Least c > 0 at which a c^2 + v c exceeds room >= 0; infinite if never."""
    room = np.maximum(room, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        square = v * v + 4 * a * np.where(np.isfinite(room), room, 0.0)
        below = v + np.sqrt(np.maximum(square, 0.0))
        root = np.where(
            (square >= 0) & (below > 0) & np.isfinite(room), 2 * room / np.where(below > 0, below, 1), np.inf
        )
    return np.where((room == 0) & ((v > 0) | ((v == 0) & (a > 0))), 0.0, root)


def _least(factors: Array, t: Array) -> tuple[float, int, float]:
    k, i = np.unravel_index(int(factors.argmin()), factors.shape)
    return float(factors[k, i]), int(i), float(t[k])


def _solved(dyn: Dynamics, ref: Any, limits: MotionLimits, t: Array, factors: Array) -> tuple[float, int, float]:
    """The least factor, refined between the samples around its lowest values: (factor, joint, time)."""
    c, i, at = _least(factors, t)
    if not np.isfinite(c):
        return c, i, at
    lowest = factors.min(axis=1)
    around = np.flatnonzero(lowest < 1.05 * c)
    around = around[np.argsort(lowest[around])][:8]
    low, high = t[np.maximum(around - 1, 0)], t[np.minimum(around + 1, len(t) - 1)]
    for _ in range(4):
        times = np.linspace(low, high, 17)
        values = factors_of(demand_of(dyn, *states(ref, times.ravel())), limits)
        best = _least(values, times.ravel())
        if best[0] < c:
            c, i, at = best
        here = values.min(axis=1).reshape(times.shape).argmin(axis=0)
        column = np.arange(len(around))
        low, high = times[np.maximum(here - 1, 0), column], times[np.minimum(here + 1, 16), column]
    return c, i, at


def excesses_at(c: Any, demand: Demand, limits: MotionLimits, qd: Array) -> Array:
    """(k, n) torques beyond their limits at c, or (k, 1), times the speed of a motion; negative within."""
    friction = c * demand.viscous if demand.law is None else demand.law(c)
    tau = c * c * demand.moving + demand.resting + friction
    low, high = limits.torques(c * qd)
    return np.asarray(np.maximum(tau - high, low - tau))


def _searched(dyn: Dynamics, demand: Demand, limits: MotionLimits, t: Array, qd: Array) -> tuple[float, int, float]:
    """The largest factor that keeps the limits, for any friction law and torque-speed curve: (factor, joint, time)."""

    def excess(c: float) -> tuple[float, int, int]:
        over = excesses_at(c, demand, limits, qd)
        k, i = np.unravel_index(int(over.argmax()), over.shape)
        return float(over[k, i]), int(i), int(k)

    trials = np.geomspace(SLOWEST, FASTEST, 241)
    good = [c for c in trials if excess(float(c))[0] <= 0]
    if not good:
        slow = min(trials, key=lambda c: excess(float(c))[0])
        friction = demand.viscous * slow if demand.law is None else demand.law(float(slow))
        _check_resting(dyn, limits, t, demand.resting + friction, friction)
        over, i, k = excess(float(slow))
        what = f"exceeds its torque limit at every speed, by {over:.5g} {joint_units(dyn.robot)[i].torque} at least"
        raise too_weak(dyn.robot, i, what, f"robot {dyn.robot.name!r}, t = {t[k]:.6g} s", amount=over)
    inside = float(max(good))
    if inside == trials[-1]:
        return np.inf, 0, 0.0
    outside = float(trials[np.searchsorted(trials, inside, side="right")])
    for _ in range(60):
        middle = 0.5 * (inside + outside)
        inside, outside = (middle, outside) if excess(middle)[0] <= 0 else (inside, middle)
    _, i, k = excess(inside)
    return inside, i, float(t[k])


def _check_resting(dyn: Dynamics, limits: MotionLimits, t: Array, resting: Array, dry: Array) -> None:
    """Raise Infeasible if the torques that do not scale with speed exceed a limit."""
    over = np.maximum(resting - limits.tau_max, limits.tau_min - resting)
    span = limits.tau_max - limits.tau_min
    allowed = np.where(np.isfinite(span), NEARLY * np.where(np.isfinite(span), span, 0.0), 0.0)
    k, i = np.unravel_index(int((over - allowed).argmax()), over.shape)
    if over[k, i] <= allowed[i]:
        return
    weight = resting[k, i] - dry[k, i]
    bearable = bool(limits.tau_min[i] - allowed[i] <= weight <= limits.tau_max[i] + allowed[i])
    where = f"robot {dyn.robot.name!r}, t = {t[k]:.6g} s of the reference"
    raise too_heavy(dyn.robot, int(i), float(resting[k, i]), limits, bearable, where)
