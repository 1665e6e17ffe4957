"""Dynamic scaling: the same path, uniformly faster or slower, up to what the actuators can give. Siciliano sec. 7.7"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.motion.path import as_trajectory
from armdyn.motion.sampling import Infeasible, checked_motion, dynamics_of, sample_times, states
from armdyn.robot.limits import MotionLimits, joint_names, joint_units, motion_limits
from armdyn.robot.robot import Robot
from armdyn.trajectory.compose import Uniform
from armdyn.typing import Array

NEARLY = 1e-9
"""Share of the range of torque by which gravity may pass a limit: rounding."""
SLOWEST, FASTEST = 1e-3, 1e3
"""Between these, as multiples of the reference's speed, the factor is looked for where friction has no formula."""


@dataclass(frozen=True, eq=False, repr=False)
class ScaledMotion(Uniform):
    """The reference at another speed: q(t) = ref(c t), so that tau_s(t) = c^2 tau_s,ref(c t). Siciliano (7.126)

    joint, quantity: what limits it; time: when, s. c: speed over that of the reference.
    """

    joint: str
    quantity: str
    time: float

    @property
    def c(self) -> float:
        return self.rate

    def __str__(self) -> str:
        return (
            f"{self.duration:.6g} s, {self.c:.6g} times the speed of the reference; "
            f"limited by the {self.quantity} of {self.joint} at {self.time:.6g} s"
        )


class Demand(NamedTuple):
    """What the reference asks for at its times: tau = c^2 moving + c viscous + resting at c times its speed."""

    moving: Array
    viscous: Array
    resting: Array
    dry: Array
    law: Callable[[float], Array] | None
    """Friction at c times the speed, where it is not dry + c viscous; the two are zero then."""


def scale_to_torque(
    ref: Any,
    model: Robot | Dynamics,
    tau_max: Any = None,
    *,
    tau_min: Any = None,
    v_max: Any = None,
    a_max: Any = None,
    dt: float | None = None,
) -> ScaledMotion:
    """The reference uniformly faster or slower, so that some torque touches its limit and none exceeds it.

        tau(t) = c^2 tau_s(ct) + c viscous(ct) + dry(ct) + g(ct),     Siciliano (7.126) with r = ct, friction added

    Args:    ref: ref(t), ref(t, 1), ref(t, 2), ref.duration. tau_max: (n,) or one for all; the robot's limits if not
             given. tau_min: -tau_max if not given. v_max, a_max: kept as well, if given.
    Method:  one inverse dynamics along the reference. Gravity and Coulomb friction do not scale, viscous friction
             scales with c, all else with c^2; c is the least positive root of the quadratic equations of all joints at
             all times, so that every slower motion is possible too. For other laws of friction (Stribeck, a user's
             own) friction is evaluated at trial speeds and the largest c is found that keeps the limits.
    Raises:  Infeasible if gravity with dry friction exceeds a limit: no speed helps.

    >>> import armdyn
    >>> move = armdyn.point_to_point([0.0, 0.0], [1.0, 1.0], "quintic", duration=1.0)
    >>> scaled = scale_to_torque(move, armdyn.load("planar2r"), 3000.0)
    >>> scaled.joint
    'shoulder'
    """
    dyn = dynamics_of(model)
    ref = as_trajectory(ref)
    checked_motion(dyn, ref)
    limits = motion_limits(dyn.robot, tau_max=tau_max, tau_min=tau_min, v_max=v_max, a_max=a_max)
    if v_max is None and a_max is None and not (np.isfinite(limits.tau_max) | np.isfinite(limits.tau_min)).any():
        raise Infeasible(
            "no limit of torque is known", where=f"robot {dyn.robot.name!r}", expected="tau_max, (n,) or one for all"
        )
    t = sample_times(ref, dt)
    demand = demand_of(dyn, *states(ref, t))
    if demand.law is None:
        _refuse(dyn, limits, t, demand.resting, demand.dry, "gravity")
        c, i, t_most = _solved(dyn, ref, limits, t, factors_of(demand, limits))
    else:
        c, i, t_most = _searched(dyn, demand, limits, t)
    what = "torque"
    for order, cap, given, name in (
        (1, limits.velocity, v_max, "velocity"),
        (2, limits.acceleration, a_max, "acceleration"),
    ):
        if given is None:
            continue
        peak = ref.peak(order)
        with np.errstate(divide="ignore"):
            each = (cap / peak) ** (1 / order)
        if each.min() < c:
            c, i, what = float(each.min()), int(each.argmin()), name
            t_most = float(t[np.abs(ref(t, order))[:, i].argmax()])
    joint = joint_names(dyn.robot)[i]
    if not np.isfinite(c) or not ref.peak(1).any():  # at rest, torques are left to rounding
        raise Infeasible(
            "nothing limits the speed: the motion asks for no torque but that of gravity",
            where=f"robot {dyn.robot.name!r}",
            expected="a reference that moves, with torques that have limits",
        )
    if c <= 0:
        raise Infeasible(
            f"the {what} limit of joint {joint!r} leaves nothing for the motion at t = {t_most:.6g} s",
            where=f"robot {dyn.robot.name!r}",
            advice="Raise the limit, or change the path.",
        ).blaming(joint, 0.0)
    return ScaledMotion(ref, c, joint, what, t_most / c)


def demand_of(dyn: Dynamics, q: Array, qd: Array, qdd: Array) -> Demand:
    """The torques of a motion, (k, n), taken apart by how they scale."""
    gravity, friction = dyn.gravity(q), dyn.friction(qd)
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
    """(k, n): the speed up to which each torque keeps its limits."""
    up = _first_root(demand.moving, demand.viscous, limits.tau_max - demand.resting)
    down = _first_root(-demand.moving, -demand.viscous, demand.resting - limits.tau_min)
    return np.minimum(up, down)


def _first_root(a: Array, v: Array, room: Array) -> Array:
    """Least c > 0 at which a c^2 + v c = room >= 0 is passed; infinite if never."""
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
    """The least factor, also between the times that were looked at: around its lowest values, ever closer."""
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


def _searched(dyn: Dynamics, demand: Demand, limits: MotionLimits, t: Array) -> tuple[float, int, float]:
    """The largest factor that keeps the limits, by trial: friction of any law. The edge is halved 60 times."""
    assert demand.law is not None
    law = demand.law

    def excess(c: float) -> tuple[float, int, int]:
        tau = c * c * demand.moving + demand.resting + law(c)
        over = np.maximum(tau - limits.tau_max, limits.tau_min - tau)
        k, i = np.unravel_index(int(over.argmax()), over.shape)
        return float(over[k, i]), int(i), int(k)

    trials = np.geomspace(SLOWEST, FASTEST, 241)
    good = [c for c in trials if excess(float(c))[0] <= 0]
    if not good:
        slow = min(trials, key=lambda c: excess(float(c))[0])
        friction = law(float(slow))
        _refuse(dyn, limits, t, demand.resting + friction, friction, "gravity")
        over, i, k = excess(float(slow))
        joint = joint_names(dyn.robot)[i]
        raise Infeasible(
            f"joint {joint!r} exceeds its torque at every speed, by {over:.5g} at best (t = {t[k]:.6g} s)",
            where=f"robot {dyn.robot.name!r}",
            advice="Raise the limit, or change the path.",
        ).blaming(joint, over)
    inside = float(max(good))
    if inside == trials[-1]:
        return np.inf, 0, 0.0
    outside = float(trials[np.searchsorted(trials, inside, side="right")])
    for _ in range(60):
        middle = 0.5 * (inside + outside)
        inside, outside = (middle, outside) if excess(middle)[0] <= 0 else (inside, middle)
    _, i, k = excess(inside)
    return inside, i, float(t[k])


def _refuse(dyn: Dynamics, limits: MotionLimits, t: Array, resting: Array, dry: Array, cause: str) -> None:
    """An error if what does not scale exceeds a limit."""
    over = np.maximum(resting - limits.tau_max, limits.tau_min - resting)
    span = limits.tau_max - limits.tau_min
    allowed = np.where(np.isfinite(span), NEARLY * np.where(np.isfinite(span), span, 0.0), 0.0)
    k, i = np.unravel_index(int((over - allowed).argmax()), over.shape)
    if over[k, i] <= allowed[i]:
        return
    joint, unit = joint_names(dyn.robot)[i], joint_units(dyn.robot)[i][3]
    limit = limits.tau_max[i] if resting[k, i] > limits.tau_max[i] else limits.tau_min[i]
    weight = resting[k, i] - dry[k, i]
    alone = limits.tau_min[i] - allowed[i] <= weight <= limits.tau_max[i] + allowed[i]
    cause = f"{cause} with dry friction" if alone else cause
    raise Infeasible(
        f"joint {joint!r} needs {resting[k, i]:.5g} {unit} against {cause} alone at t = {t[k]:.6g} s of the reference, "
        f"{over[k, i]:.5g} {unit} beyond its limit of {limit:.5g} {unit}",
        where=f"robot {dyn.robot.name!r}",
        expected="a path whose weight the actuators can hold: no change of speed helps",
        advice="Raise the limit, lighten the load, or change the path.",
    ).blaming(joint, float(over[k, i]))
