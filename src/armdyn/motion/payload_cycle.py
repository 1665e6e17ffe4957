"""The largest payload of a cycle, and the shortest cycle for a payload.

Torques are linear in the mass of a payload of given shape. For a given motion every torque limit is therefore a linear
inequality in the mass, and the heating of an actuator (its rms torque) a quadratic one: the largest mass is exact. If
the timing is free within a duration, the mass is found by bisection, each trial with the fastest timing of the path.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.dynamics.holding import holding_torques
from armdyn.errors import ArmdynError
from armdyn.motion.path import as_trajectory
from armdyn.motion.sampling import Infeasible, checked_motion, dynamics_of, integral, sample_times, states
from armdyn.motion.scaling import demand_of
from armdyn.motion.timed_path import TimeOptimal
from armdyn.motion.timing import POINTS, fastest_timing, path_of
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.limits import LimitsGiven, MotionLimits, joint_names, joint_units, limits_of
from armdyn.robot.robot import Robot
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

SETTLED = 1e-4
"""Relative accuracy of a mass that is searched for."""
HEAVIEST = 1e6
"""Mass, kg, up to which a payload that nothing limits is tried."""
SLOWEST = 20.0
"""Factor by which a motion is slowed at most to let its actuators cool."""
SPEEDS, REFINED = 41, 4
"""Speeds that are compared at a time, and how often: the cycle is then found to about 1e-5."""


@dataclass(frozen=True, eq=False)
class LargestPayload:
    """The largest payload of a motion.

    robot:    the robot without it.
    loaded:   the robot with it.
    mass:     kg; infinite if nothing limits it.
    least:    smallest mass with which the motion is feasible, kg: above 0 if the motion needs a counterweight.
    motion:   the motion that it was found for; with `duration`, the fastest timing of the path.
    joint:    name of the joint that limits it; None if nothing does.
    quantity: torque, heat (rms torque over the cycle) or, if the timing was free, weight (torque that holds the payload
              at rest at some point of the path).
    time:     when that torque reaches its limit, s; NaN for heat and weight.
    torque:   of that joint then (rms for heat), N m or N.
    limit:    of that torque.
    """

    robot: Robot
    loaded: Robot
    mass: float
    least: float
    motion: Trajectory
    joint: str | None
    quantity: str
    time: float
    torque: float
    limit: float

    def __str__(self) -> str:
        if self.joint is None:
            return f"No payload exceeds a limit in {self.motion.duration:.4g} s."
        unit = joint_units(self.robot)[joint_names(self.robot).index(self.joint)].torque
        value = f"{self.torque:.4g} {unit}"
        where = {
            "torque": f"torque {value} at {self.time:.4g} s",
            "heat": f"rms torque {value}",
            "weight": f"{value} to hold the payload",
        }[self.quantity]
        least = f", and at least {self.least:.4g} kg," if self.least > 0 else ""
        return (
            f"Largest payload: {self.mass:.4g} kg{least} in {self.motion.duration:.4g} s; limited by {self.joint} "
            f"({where}, limit {self.limit:.4g} {unit})"
        )


@dataclass(frozen=True, eq=False)
class Cycle:
    """The shortest cycle for a payload.

    robot:    the robot with its payload.
    motion:   the fastest motion along the path, or a slower one that heats the actuators less.
    rest:     pause in which the last configuration is held, s.
    heat:     (n,) (rms torque / continuous torque)^2 over the cycle; NaN where no continuous torque is known.
    joint:    name of the joint whose heating makes the cycle longer; None if none does.
    """

    robot: Robot
    motion: Trajectory
    rest: float
    heat: Array
    joint: str | None

    @property
    def duration(self) -> float:
        """Duration of motion and rest, s."""
        return self.motion.duration + self.rest

    def __str__(self) -> str:
        cooled = "" if self.joint is None else f"; longer than by torque limits alone, to keep {self.joint} cool"
        pause = f", of which {self.rest:.4g} s rest" if self.rest else ""
        return f"Shortest cycle of {self.robot.name}: {self.duration:.4g} s{pause}{cooled}"


class MassBound(NamedTuple):
    """Masses, kg, that one kind of limit allows; what limits the largest: joint, time, torque, limit."""

    least: float
    most: float
    joint: int
    time: float
    torque: float
    limit: float


class LoadedDynamics:
    """A robot with a payload of any mass, from two compiled models: torques are linear in it."""

    def __init__(self, dyn: Dynamics, unit: Dynamics, robot: Robot, mass: float) -> None:
        self._dyn, self._unit, self.robot, self._mass = dyn, unit, robot, mass
        self.n, self.friction, self.springs = dyn.n, dyn.friction, dyn.springs

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        empty: Array = self._dyn.inverse_dynamics(q, qd, qdd)
        return empty + self._mass * (self._unit.inverse_dynamics(q, qd, qdd) - empty)

    def gravity(self, q: Array) -> Array:
        empty: Array = self._dyn.gravity(q)
        return empty + self._mass * (self._unit.gravity(q) - empty)


@takes(*CLOSED, *TREE)
def largest_payload(
    model: Robot | Dynamics,
    motion: Any,
    *,
    com: Any = (0.0, 0.0, 0.0),
    inertia: Any = None,
    duration: float | None = None,
    rest: float = 0.0,
    dt: float | None = None,
    limits: LimitsGiven = None,
) -> LargestPayload:
    """Return the largest payload with which a motion keeps the torque limits, or its path takes a given time at most.

    Args:
        model:      robot, without the payload, or its dynamics.
        motion:     motion(t), motion(t, 1), motion(t, 2), motion.duration; with `duration` only its path matters.
        com:        (3,) centre of mass of the payload in the tool frame, m (default: the origin).
        inertia:    of one kilogram of payload at its centre of mass, six entries xx xy xz yy yz zz or (3, 3), kg m^2
                    (default: a point mass).
        duration:   time in which the path must be done, s: the timing is then free (default: the motion as it is).
        rest:       pause after the motion in which the last configuration is held, s, for the heating (default: 0).
        dt:         sampling interval, s (default: 1/2000 of the duration).
        limits:     of the joints, as in `feasibility`; those of velocity, acceleration and jerk are for the free
                    timing, `continuous` for rms torques over the cycle (default: the robot's).

    Method:  linear inequalities in the mass, tau_0 + m tau_1 within limits at all times; a quadratic one for heat.
             With `duration` bisection over the mass, up to the largest that can be held at rest everywhere along the
             path, so that the arm can stop anywhere. The heat is then that of the fastest timing.
    Raises:  Infeasible if no payload, or not even the empty robot, is within the limits.

    >>> import armdyn
    >>> move = armdyn.point_to_point([0.0, 0.0], [1.0, 1.0], "quintic", duration=2.0)
    >>> found = largest_payload(armdyn.load("planar2r"), move, limits={"tau_max": 3000.0})
    >>> found.joint
    'shoulder'
    """
    dyn = dynamics_of(model)
    limits = limits_of(dyn.robot, limits, "largest_payload", unused=["p_max"])
    heat = limits.continuous
    if not np.isfinite([*limits.tau_max, *limits.tau_min, *heat]).any():
        raise Infeasible(
            "no torque limit is known",
            where=f"robot {dyn.robot.name!r}",
            expected="limits with tau_max or continuous, (n,) or one number",
            advice="Give them, or put limits = {torque = ...} into the robot's file.",
        )
    if not rest >= 0:
        raise ArmdynError(f"rest = {rest}", where="largest_payload", expected="a time in s, 0 or more")
    unit = dynamics_of(carrying(dyn.robot, 1.0, com, inertia))
    search = _Search(dyn, unit, limits, heat, rest, com, inertia)
    if duration is None:
        ref = as_trajectory(motion)
        checked_motion(dyn, ref)
        return search.along(ref, dt)
    return search.within(motion, duration, dt)


def carrying(robot: Robot, mass: float, com: Any, inertia: Any) -> Robot:
    """Return the robot with a payload; inertia: of one kilogram of it."""
    whole = None if inertia is None else (mass * np.asarray(inertia, dtype=float)).tolist()
    return robot.with_payload(mass, com, whole) if mass else robot


class _Search(NamedTuple):
    dyn: Dynamics
    unit: Dynamics
    limits: MotionLimits
    heat: Array
    rest: float
    com: Any
    inertia: Any

    def along(self, motion: Trajectory, dt: float | None) -> LargestPayload:
        """The largest payload of a given motion."""
        t = sample_times(motion, dt)
        bound = self.torque_bound(motion, t)
        if np.isfinite(bound.most) and len(t) > 2:  # refined around the instant that was found
            k = int(np.searchsorted(t, bound.time))
            near = np.linspace(t[max(k - 1, 0)], t[min(k + 1, len(t) - 1)], 201)
            bound = min(bound, self.torque_bound(motion, near)._replace(least=bound.least), key=lambda b: b.most)
        warm = self.heat_bound(motion, t)
        least, most = max(bound.least, warm.least, 0.0), min(bound.most, warm.most)
        if least > most or most < 0:
            raise self.too_weak(bound if bound.most <= warm.most else warm, motion)
        tight, quantity = (bound, "torque") if bound.most <= warm.most else (warm, "heat")
        joint = joint_names(self.dyn.robot)[tight.joint] if np.isfinite(most) else None
        loaded = self.loaded(most) if np.isfinite(most) else self.dyn.robot
        return LargestPayload(
            self.dyn.robot, loaded, most, least, motion, joint, quantity, tight.time, tight.torque, tight.limit
        )

    def loaded(self, mass: float) -> Robot:
        return carrying(self.dyn.robot, mass, self.com, self.inertia)

    def torques(self, motion: Trajectory, t: Array) -> tuple[Array, Array, Array]:
        """Velocities, torques without payload, and torques of one kilogram, (k, n) each."""
        q, qd, qdd = states(motion, t)
        empty = self.dyn.inverse_dynamics(q, qd, qdd)
        return qd, empty, self.unit.inverse_dynamics(q, qd, qdd) - empty

    def torque_bound(self, motion: Trajectory, t: Array) -> MassBound:
        return self.bound(t, *self.torques(motion, t))

    def bound(self, t: Array, qd: Array, empty: Array, each: Array) -> MassBound:
        """The masses that the torque limits allow at times t (k,)."""
        low, high = self.limits.torques(qd)
        least, most = _linear(empty, each, low, high)
        k, i = np.unravel_index(int(most.argmin()), most.shape)
        limit = high[k, i] if each[k, i] > 0 else low[k, i]
        return MassBound(float(least.max()), float(most[k, i]), int(i), float(t[k]), float(limit), float(limit))

    def heat_bound(self, motion: Trajectory, t: Array) -> MassBound:
        """int (tau_0 + m tau_1)^2 dt + rest (h_0 + m h_1)^2 <= cycle continuous^2, joint by joint."""
        _, empty, each = self.torques(motion, t)
        last = motion(motion.duration)
        held = holding_torques(self.dyn, last)
        more = holding_torques(self.unit, last) - held
        a, b, c = (
            integral(t, x) + self.rest * y
            for x, y in ((each**2, more**2), (empty * each, held * more), (empty**2, held**2))
        )
        room = (motion.duration + self.rest) * self.heat**2 - c
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(b * b + a * room)
            # a m^2 + 2 b m <= room; where the payload needs no torque, a = b = 0
            most = np.where(a > 0, (root - b) / a, np.where(room >= 0, np.inf, -np.inf))
            least = np.where(a > 0, (-root - b) / a, -np.inf)
        most = np.where(np.isnan(most), -np.inf, most)  # above the limit with any payload
        i = int(most.argmin())
        return MassBound(float(np.nanmax(least)), float(most[i]), i, np.nan, float(self.heat[i]), float(self.heat[i]))

    def too_weak(self, bound: MassBound, motion: Trajectory) -> Infeasible:
        name, unit = joint_names(self.dyn.robot)[bound.joint], joint_units(self.dyn.robot)[bound.joint].torque
        when = f" at {bound.time:.4g} s" if np.isfinite(bound.time) else " as rms value"
        error = Infeasible(
            f"joint {name!r} would exceed its limit of {abs(bound.limit):.5g} {unit}{when} with any payload",
            where=f"robot {self.dyn.robot.name!r}, motion of {motion.duration:.4g} s",
            expected="a motion that the empty robot can do",
            advice="Slow down: `time_optimal` finds the fastest timing, `feasibility` says what exceeds which limit.",
        )
        error.joint = name
        return error

    def within(self, path: Any, duration: float, dt: float | None) -> LargestPayload:
        """The largest payload with which the path takes `duration` at most, by bisection."""
        if not (np.isfinite(duration) and duration > 0):
            raise ArmdynError(f"duration = {duration}", where="largest_payload", expected="a positive time in s")
        curve = path_of(path, self.dyn)
        empty = self.fastest(curve, 0.0)
        if empty.duration > duration:
            raise Infeasible(
                f"the path takes {empty.duration:.5g} s without a payload",
                where=f"robot {self.dyn.robot.name!r}",
                expected=f"at most {duration:.5g} s",
                advice="Allow more time, raise the limits, or shorten the path.",
            )
        weight = self.weight_bound(curve)
        low, best, high = 0.0, empty, weight.most
        if not np.isfinite(high):
            high = 1.0
            while (trial := self.tried(curve, high, duration)) is not None and high < HEAVIEST:
                low, best, high = high, trial, 4 * high
        while high - low > SETTLED * high:
            middle = 0.5 * (low + high)
            trial = self.tried(curve, middle, duration)
            low, best, high = (low, best, middle) if trial is None else (middle, trial, high)
        found = self.along(best, dt)
        if low >= weight.most * (1 - 2 * SETTLED):
            found = replace(
                found,
                joint=joint_names(self.dyn.robot)[weight.joint],
                quantity="weight",
                time=np.nan,
                torque=weight.torque,
                limit=weight.limit,
            )
        return replace(found, mass=low, loaded=self.loaded(low))

    def weight_bound(self, curve: Trajectory) -> MassBound:
        """The masses that can be held at rest everywhere along a path."""
        q = curve(np.linspace(0.0, curve.duration, POINTS + 1))
        empty = holding_torques(self.dyn, q)
        return self.bound(np.full(len(q), np.nan), np.zeros_like(q), empty, holding_torques(self.unit, q) - empty)

    def tried(self, curve: Trajectory, mass: float, duration: float) -> TimeOptimal | None:
        """The fastest timing with that mass; None if it is not possible or takes longer."""
        try:
            move = self.fastest(curve, mass)
        except Infeasible:
            return None
        warm = np.isinf(self.heat).all() or self.heat_bound(move, sample_times(move)).most >= mass
        return move if move.duration <= duration and warm else None

    def fastest(self, curve: Trajectory, mass: float) -> TimeOptimal:
        loaded = LoadedDynamics(self.dyn, self.unit, self.loaded(mass), mass)
        return fastest_timing(cast(Dynamics, loaded), curve, self.limits, POINTS)


def _linear(empty: Array, each: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Least and largest m, (k, n) each, with low <= empty + m each <= high; without solution -inf for the largest."""
    with np.errstate(divide="ignore", invalid="ignore"):
        to_high, to_low = (high - empty) / each, (low - empty) / each
    kept = (empty <= high) & (empty >= low)
    most = np.where(each > 0, to_high, np.where(each < 0, to_low, np.where(kept, np.inf, -np.inf)))
    least = np.where(each > 0, to_low, np.where(each < 0, to_high, -np.inf))
    return least, most


def payload_of_motion(dyn: Dynamics, motion: Any, unit: Dynamics | None = None) -> LargestPayload:
    """Return the largest payload of a motion, a point mass at the tool, within the robot's limits.

    unit: dynamics of the robot with one kilogram more (default: compiled here).
    """
    limits = limits_of(dyn.robot, None, "largest_payload")
    centre = (0.0, 0.0, 0.0)
    more = dynamics_of(carrying(dyn.robot, 1.0, centre, None)) if unit is None else unit
    return _Search(dyn, more, limits, limits.continuous, 0.0, centre, None).along(as_trajectory(motion), None)


@takes(*CLOSED, *TREE)
def shortest_cycle(
    model: Robot | Dynamics,
    path: Any,
    payload: float = 0.0,
    *,
    com: Any = (0.0, 0.0, 0.0),
    inertia: Any = None,
    limits: LimitsGiven = None,
) -> Cycle:
    """Return the shortest cycle along a path with a payload: the fastest motion, and a rest if actuators must cool.

    Args:
        model:      robot, without the payload, or its dynamics.
        path:       as in `time_optimal`.
        payload:    mass, kg (default: 0).
        com:        (3,) its centre of mass in the tool frame, m (default: the origin).
        inertia:    of one kilogram of it, as in `largest_payload` (default: a point mass).
        limits:     as in `largest_payload`.

    Method:  `time_optimal`. If its rms torques are too large, the motion is slowed and followed by a rest in which the
             last configuration is held: for every speed the rest follows from the rms torques, and the speed with the
             shortest cycle is taken.
    Raises:  Infeasible if no timing keeps the torque limits, or none keeps the actuators cool.

    >>> import armdyn
    >>> path = [[0.0, 0.0], [1.0, 1.0]]
    >>> robot, limits = armdyn.load("planar2r"), {"tau_max": 4000.0}
    >>> light, heavy = (shortest_cycle(robot, path, mass, limits=limits).duration for mass in (0, 20))
    >>> light < heavy
    True
    """
    dyn = dynamics_of(model)
    if payload:
        dyn = dynamics_of(carrying(dyn.robot, payload, com, inertia))
    limits = limits_of(dyn.robot, limits, "shortest_cycle", unused=["p_max"])
    heat = limits.continuous
    motion = fastest_timing(dyn, path_of(path, dyn), limits, POINTS)
    warming = _Warming(dyn, motion, heat)
    low, high = 1.0, SLOWEST if warming.rest(1.0) else 1.0  # if all stays cool, no slower motion is shorter
    for _ in range(REFINED):  # each time between the neighbours of the best speed
        slower = np.geomspace(low, high, SPEEDS)
        lengths = np.array([c * motion.duration + warming.rest(c) for c in slower])
        k = int(lengths.argmin())
        low, high = float(slower[max(k - 1, 0)]), float(slower[min(k + 1, SPEEDS - 1)])
    if not np.isfinite(lengths[k]):
        i = int(np.nanargmax(warming.held / heat))
        name, unit = joint_names(dyn.robot)[i], joint_units(dyn.robot)[i].torque
        raise Infeasible(
            f"joint {name!r} overheats at any speed: holding the end takes {warming.held[i]:.4g} {unit}",
            where=f"robot {dyn.robot.name!r}",
            expected=f"{heat[i]:.4g} {unit} as rms value at most",
            advice="End the path where less torque is needed, or lighten the load.",
        )
    c = float(slower[k])
    rest = warming.rest(c)
    with np.errstate(invalid="ignore"):
        share = (warming.work(c) + rest * warming.held**2) / ((c * motion.duration + rest) * heat**2)
    warm = c > 1 or rest > 0
    joint = joint_names(dyn.robot)[int(np.nanargmax(warming.work(1.0) / heat**2))] if warm else None
    return Cycle(
        dyn.robot, motion if c == 1 else motion.slower(c), rest, np.where(np.isfinite(heat), share, np.nan), joint
    )


class _Warming:
    """Squared torques of a motion at other speeds, and the rest that they need."""

    def __init__(self, dyn: Dynamics, motion: Trajectory, limit: Array) -> None:
        self.t, self.limit, self.duration = sample_times(motion), limit, motion.duration
        q, self.qd, qdd = states(motion, self.t)
        self.demand = demand_of(dyn, q, self.qd, qdd)
        self.held = np.abs(holding_torques(dyn, q[-1]))
        parts = np.stack([self.demand.moving, self.demand.viscous, self.demand.resting])
        self.products = np.array([[integral(self.t, a * b) for b in parts] for a in parts])

    def work(self, c: float) -> Array:
        """(n,) integral of the squared torques, c times as slow: tau = moving/c^2 + viscous/c + resting."""
        demand = self.demand
        if demand.law is None:
            powers = np.array([c**-2, 1 / c, 1.0])
            return np.asarray(c * np.einsum("a,b,abn->n", powers, powers, self.products))
        return c * integral(self.t, (demand.moving / c**2 + demand.law(1 / c) + demand.resting) ** 2)

    def rest(self, c: float) -> float:
        """The rest after which rms torques keep their limits, s; infinite if none suffices."""
        over = np.nan_to_num(self.work(c) - c * self.duration * self.limit**2, neginf=-1.0)
        cooling = np.where(np.isfinite(self.limit), self.limit**2 - self.held**2, 1.0)
        rests = np.where(over <= 0, 0.0, np.where(cooling > 0, over / np.where(cooling > 0, cooling, 1.0), np.inf))
        return float(rests.max())
