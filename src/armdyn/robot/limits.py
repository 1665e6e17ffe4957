"""Names, units, limits and working ranges of the joints: the one place where they are decided."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np

from armdyn.errors import ArmdynError, NotApplicable, ShapeError, unknown_name
from armdyn.robot.links import WORLD
from armdyn.robot.robot import Robot
from armdyn.robot.transmission import inverse_rows
from armdyn.typing import Array

LONE_SLIDE = 0.5
"""Half of the working range of a prismatic joint without limits on a robot whose links have no length, m."""

CAREFUL = {"revolute": (1.0, 4.0), "prismatic": (0.25, 1.0)}
"""Velocity and acceleration for joints without such limits: those of a careful motion. rad/s, rad/s^2 or m/s, m/s^2"""


# Names and units ------------------------------------------------------------------------------------------------------


class Units(NamedTuple):
    """Units of a joint's position, velocity, acceleration, torque (or force) and jerk."""

    position: str
    velocity: str
    acceleration: str
    torque: str
    jerk: str


UNITS = {
    "revolute": Units("rad", "rad/s", "rad/s²", "N m", "rad/s³"),
    "prismatic": Units("m", "m/s", "m/s²", "N", "m/s³"),
}
"""Units by the kind of joint."""


def joint_names(robot: Robot) -> list[str]:
    """Names of the movable joints, in the order of q."""
    return [joint.name for joint in robot.joints]


def joint_units(robot: Robot) -> list[Units]:
    """Units of the movable joints, in the order of q."""
    return [UNITS[joint.kind] for joint in robot.joints]


def common_units(robot: Robot) -> Units:
    """Units for the head of a column about all joints: `N m`, `N`, or, for joints of both kinds, `N m or N`."""
    kinds = {joint.kind for joint in robot.joints} or UNITS
    return Units(*(" or ".join(pair) for pair in zip(*(UNITS[kind] for kind in UNITS if kind in kinds), strict=True)))


# Vectors that users give ----------------------------------------------------------------------------------------------


def joint_vector(name: str, value: Any, n: int | None = None) -> Array:
    """Return a joint vector (n,) of finite numbers; a single number is repeated."""
    array = np.asarray(value, dtype=float)
    if array.ndim == 0 and n is not None:
        array = np.full(n, float(array))
    if array.ndim != 1 or (n is not None and array.size != n) or not np.isfinite(array).all():
        wanted = "one finite number per joint" if n is None else f"{n} finite numbers, or one for all joints"
        raise ShapeError(f"{name} = {np.array2string(array, threshold=12)}", expected=wanted)
    return array


def limit_vector(name: str, value: Any, n: int) -> Array:
    """Return limits (n,): positive numbers, infinite where None was given."""
    if value is None:
        return np.full(n, np.inf)
    array = np.array([np.inf if x is None else x for x in np.ravel(np.asarray(value, dtype=object))], dtype=float)
    array = np.full(n, array[0]) if array.size == 1 else array
    if array.size != n or np.isnan(array).any() or (array <= 0).any():
        raise ShapeError(f"{name} = {value}", expected=f"{n} positive limits, or one for all joints")
    return array


# Positions ------------------------------------------------------------------------------------------------------------


def position_limits(robot: Robot) -> tuple[Array, Array]:
    """Return the lower and upper position limits, (n,) each, rad or m; infinite where the robot gives none."""
    return _field(robot, "lower", -np.inf), _field(robot, "upper", np.inf)


def working_range(robot: Robot, *, limits: bool = True, one_turn: bool = False) -> tuple[Array, Array]:
    """Return finite ranges of position to work in, (lower, upper), (n,) each, rad or m.

    Both limits given: the limits. None given: `half_span` to either side of zero. One given: two half spans from it.

    limits:   False looks away from the robot's limits, as if it had none.
    one_turn: True cuts revolute ranges wider than a turn to one turn about their middle. More turns lead to the same
              poses, so this is where inverse kinematics draws its starts and where reports move the arm.
    """
    low, high = position_limits(robot) if limits else (np.full(robot.n, -np.inf), np.full(robot.n, np.inf))
    half = half_span(robot)
    given_low, given_high = np.isfinite(low), np.isfinite(high)
    lower = np.where(given_low, low, np.where(given_high, high - 2 * half, -half))
    upper = np.where(given_high, high, np.where(given_low, low + 2 * half, half))
    if one_turn:
        revolute = np.array([joint.kind == "revolute" for joint in robot.joints], dtype=bool)
        wide, middle = revolute & (upper - lower > 2 * np.pi), (lower + upper) / 2
        lower, upper = np.where(wide, middle - np.pi, lower), np.where(wide, middle + np.pi, upper)
    return lower, upper


def half_span(robot: Robot) -> Array:
    """Return half of the range that a joint without limits works in, (n,).

    Half a turn for a revolute joint. For a prismatic joint half of the summed link lengths, as an arm's slides are
    about as long as its links; LONE_SLIDE if these are zero.
    """
    slide = total_length(robot) / 2 or LONE_SLIDE
    return np.array([math.pi if joint.kind == "revolute" else slide for joint in robot.joints])


def total_length(robot: Robot) -> float:
    """Return the summed link lengths, m: distances from base to joint to joint to tool with all joints at zero."""
    base = np.array([float(x) for x in robot.base.xyz])
    total = 0.0
    for link in robot.opened.links:
        step = np.array([float(x) for x in link.pose(0.0).p])
        total += float(np.linalg.norm(step - base if link.parent == WORLD else step))
    tool = robot.opened.frame("tool")
    return total + (0.0 if tool.link == WORLD else float(np.linalg.norm([float(x) for x in tool.pose.p])))


def start_position(robot: Robot) -> Array:
    """Return a position (n,) to begin with: zero, or the middle of a working range that does not hold zero."""
    low, high = working_range(robot)
    return np.where((low <= 0) & (high >= 0), 0.0, (low + high) / 2)


# Velocities and torques -----------------------------------------------------------------------------------------------


def velocity_limits(robot: Robot) -> Array:
    """Return the velocity limits (n,), rad/s or m/s: of the joints and of the motors behind their gears.

    Motors turn at J^-1 qd (Khalil (7.31)). See `_within_motors` for coupled joints.
    """
    own = _field(robot, "velocity", np.inf)
    speeds = np.array([_motor_limit(joint.motor, "speed") for joint in robot.joints])
    if robot.coupling:
        return _within_motors(_sizes(inverse_rows(robot)), speeds, own)
    with np.errstate(divide="ignore"):
        return np.asarray(np.minimum(own, speeds / _ratios(robot)))


def torque_limits(robot: Robot) -> Array:
    """Return the torque limits (n,), N m or N: of the joints and of the motors behind their gears.

    Motors give J^T tau (Khalil (7.33)). See `_within_motors` for coupled joints. A motor's limit is its torque or the
    torque of its largest current, whichever is smaller.
    """
    torques = [min(_motor_limit(joint.motor, "torque"), _current_torque(joint.motor)) for joint in robot.joints]
    return _behind_gears(robot, np.array(torques), _field(robot, "torque", np.inf))


def continuous_torques(robot: Robot) -> Array:
    """Return the torques that the actuators bear as rms values over a cycle, (n,), N m or N; infinite where unknown.

    Those of the joints and of the motors behind their gears, as for `torque_limits`.
    """
    torques = [_motor_limit(joint.motor, "continuous") for joint in robot.joints]
    return _behind_gears(robot, np.array(torques), _field(robot, "continuous", np.inf))


def _behind_gears(robot: Robot, torques: Array, own: Array) -> Array:
    """Limits (n,) of the joints from those of their motors, and their own."""
    if robot.coupling:
        return _within_motors(_sizes(robot.coupling).T, torques, own)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.fmin(own, torques * _ratios(robot)))  # not a number: without limit, behind a ratio of zero


def careful_rates(robot: Robot) -> tuple[Array, Array]:
    """Return the CAREFUL velocities and accelerations of all joints, (n,) each, for those that have no limits."""
    rates = np.array([CAREFUL[joint.kind] for joint in robot.joints]).reshape(robot.n, 2)
    return rates[:, 0], rates[:, 1]


def required_torque_limits(robot: Robot, tau_max: Any = None, tau_min: Any = None) -> tuple[Array, Array]:
    """Return finite torque limits (lowest, largest), (n,) each: those given, else the robot's.

    Raises NotApplicable if a joint has none.
    """
    limits = motion_limits(robot, tau_max=tau_max, tau_min=tau_min)
    missing = ~(np.isfinite(limits.tau_max) & np.isfinite(limits.tau_min))
    if missing.any():
        names = ", ".join(name for name, free in zip(joint_names(robot), missing, strict=True) if free)
        raise NotApplicable(
            f"no torque limit is known of {names}",
            where=f"robot {robot.name!r}",
            expected="a torque limit of every joint",
            advice="Give tau_max, or write limits into the robot's file.",
        )
    return limits.tau_min, limits.tau_max


class TorqueSpeed(NamedTuple):
    """How much of their torque the actuators have left at a speed, Khalil sec. 8.5.

        share(v) = 1 up to the corner speed, 0 from the no-load speed on, linear in between

    where v is the velocity in the direction of the torque: a motor loses torque while it drives, not while it brakes.

    corner:  (n,) speed up to which the whole torque is available, rad/s or m/s.
    no_load: (n,) speed at which no torque is left.
    """

    corner: tuple[float, ...]
    no_load: tuple[float, ...]

    def share(self, v: Array) -> Array:
        """(..., n) share of the largest torque that is available at velocities (..., n) in its direction."""
        no_load = np.array(self.no_load)
        return np.asarray(np.clip((no_load - v) / (no_load - np.array(self.corner)), 0.0, 1.0))


def torque_speed(robot: Robot, no_load_speed: Any, corner_speed: Any = 0.0, *, where: str) -> TorqueSpeed:
    """Return the torque-speed curves of the actuators.

    no_load_speed: speed without torque, (n,) or one number, rad/s or m/s; "robot" for `velocity_limits`.
    corner_speed:  speed from which the torque falls, (n,) or one number (default: 0, a motor at constant voltage).
    where:         for the error message.
    """
    own = isinstance(no_load_speed, str)
    speeds = velocity_limits(robot) if own else limit_vector("no_load_speed", no_load_speed, robot.n)
    corner = np.broadcast_to(np.asarray(corner_speed, dtype=float), (robot.n,))
    if (own and no_load_speed != "robot") or not (
        np.isfinite(speeds).all() and (corner >= 0).all() and (corner < speeds).all()
    ):
        raise ArmdynError(
            f"no_load_speed = {speeds.tolist()}, corner_speed = {corner.tolist()}",
            where=where,
            expected="finite speeds, the corner below the no-load speed",
            advice="Give no_load_speed as numbers.",
        )
    return TorqueSpeed(tuple(corner.tolist()), tuple(speeds.tolist()))


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """Limits of all joints, (n,) each, infinite where there is none: rad, rad/s, rad/s^2, rad/s^3, N m, W (or m).

    `motion_limits` makes them; the functions of motion take them as `limits=`.
    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    tau_min: Array
    tau_max: Array
    power: Array
    jerk: Array
    continuous: Array
    """Torques that actuators bear as rms values over a cycle."""
    curve: TorqueSpeed | None = None
    """What speed leaves of the torques (default: all)."""

    def torques(self, qd: Array) -> tuple[Array, Array]:
        """Return the lowest and the largest torque at velocities (..., n), (..., n) each."""
        if self.curve is None:
            return np.broadcast_to(self.tau_min, qd.shape), np.broadcast_to(self.tau_max, qd.shape)
        pairs = ((self.tau_min, -qd), (self.tau_max, qd))
        known = [(np.isfinite(t), np.where(np.isfinite(t), t, 0.0) * self.curve.share(v), t) for t, v in pairs]
        low, high = (np.where(*each) for each in known)
        return low, high


class LimitOptions(TypedDict, total=False):
    """Limits by name, (n,) or one number for all joints; np.inf takes a limit away. Those left out are the robot's.

    v_max:   velocity, rad/s or m/s (default: `velocity_limits`).
    a_max:   acceleration, rad/s^2 or m/s^2 (default: the joints').
    j_max:   jerk, rad/s^3 or m/s^3 (default: the joints').
    tau_max: torque, N m or N (default: `torque_limits`).
    tau_min: lowest torque, N m or N (default: -tau_max).
    no_load_speed: speed at which an actuator has no torque left, rad/s or m/s, or "robot" for the velocity limits; a
             velocity limit as well: faster, a motor could only brake (default: torques do not depend on the speed).
    corner_speed:  speed from which its torque falls, see `TorqueSpeed` (default: 0).
    p_max:   mechanical power tau qd, W, either way (default: none; a robot's file has no such limit).
    continuous: torque that an actuator bears as rms value over a cycle, N m or N (default: the joints').
    """

    v_max: Any
    a_max: Any
    j_max: Any
    tau_max: Any
    tau_min: Any
    no_load_speed: Any
    corner_speed: Any
    p_max: Any
    continuous: Any


LimitsGiven = MotionLimits | Mapping[str, Any] | None
"""Limits as functions take them: all of them, some by their names in `LimitOptions`, or None for the robot's."""


def motion_limits(robot: Robot, **given: Unpack[LimitOptions]) -> MotionLimits:
    """Return the robot's limits, with those that are given in their place: see `LimitOptions`."""
    n = robot.n
    for name in given:
        if name not in LimitOptions.__annotations__:
            raise unknown_name("limit", name, [*LimitOptions.__annotations__], where="motion limits")
    no_load, tau_max, tau_min = (given.get(name) for name in ("no_load_speed", "tau_max", "tau_min"))
    curve = None
    if no_load is not None:
        curve = torque_speed(robot, no_load, given.get("corner_speed", 0.0), where="motion limits")
    high = torque_limits(robot) if tau_max is None else limit_vector("tau_max", tau_max, n)
    low = -high if tau_min is None else np.broadcast_to(np.asarray(tau_min, dtype=float), (n,)).copy()
    if np.isnan(low).any() or (low >= high).any():
        raise ShapeError(f"tau_min = {tau_min}", expected=f"{n} numbers below tau_max")
    lower, upper = position_limits(robot)

    def chosen(name: str, own: Callable[[], Array]) -> Array:
        value = given.get(name)
        return own() if value is None else limit_vector(name, value, n)

    fastest = chosen("v_max", lambda: velocity_limits(robot))
    return MotionLimits(
        lower=lower,
        upper=upper,
        velocity=fastest if curve is None else np.minimum(fastest, curve.no_load),
        acceleration=chosen("a_max", lambda: _field(robot, "acceleration", np.inf)),
        tau_min=low,
        tau_max=high,
        power=limit_vector("p_max", given.get("p_max"), n),
        jerk=chosen("j_max", lambda: _field(robot, "jerk", np.inf)),
        continuous=chosen("continuous", lambda: continuous_torques(robot)),
        curve=curve,
    )


def limits_of(
    robot: Robot,
    limits: LimitsGiven,
    where: str,
    unused: Sequence[str] = ("p_max", "continuous"),
) -> MotionLimits:
    """Return the limits that a function of motion keeps: the robot's, with those by name in their place, or all given.

    where:  the function.
    unused: limits that it cannot keep; asking for them is an error.
    """
    if isinstance(limits, MotionLimits):
        if len(limits.tau_max) != robot.n:
            raise ShapeError(f"limits of {len(limits.tau_max)} joints", where=where, expected=f"{robot.n} joints")
        asked: tuple[str, ...] = ("p_max",) if np.isfinite(limits.power).any() else ()
    else:
        asked = tuple(limits or ())
        limits = motion_limits(robot, **(limits or {}))
    for name in asked:
        if name in unused:
            known = [each for each in LimitOptions.__annotations__ if each not in unused]
            raise NotApplicable(
                f"a limit {name}",
                where=where,
                expected=", ".join(known),
                advice="`feasibility` checks the power of a motion.",
            )
    return limits


def _field(robot: Robot, name: str, missing: float) -> Array:
    """(n,) one limit of every joint."""
    values = [None if joint.limits is None else getattr(joint.limits, name) for joint in robot.joints]
    return np.array([missing if x is None else float(x) for x in values])


def _motor_limit(motor: Any, name: str) -> float:
    value = None if motor is None else getattr(motor, name)
    return math.inf if value is None else float(value)


def _current_torque(motor: Any) -> float:
    current = _motor_limit(motor, "current")
    return current if math.isinf(current) else abs(float(motor.torque_constant)) * current


def _ratios(robot: Robot) -> Array:
    return np.array([1.0 if joint.rotor is None else abs(float(joint.rotor.ratio)) for joint in robot.joints])


def _sizes(rows: Sequence[Sequence[Any]]) -> Array:
    return np.abs([[float(x) for x in row] for row in rows])


def _within_motors(share: Array, motors: Array, own: Array) -> Array:
    """Return limits (n,) of the joints, each on its own, that keep the motors within theirs.

    What motor i bears is at most the sum over j of share[i, j] times the limit of joint j. A joint alone may go up to
    h_j, the least of its own limit and of motors[i] / share[i, j]. All joints together load motor i with at most
    sum_j share[i, j] h_j; where that is more than it bears, the joints that it moves give way by the same factor.

    Exact where a motor and a joint move each other alone. Conservative where they are coupled, since limits joint by
    joint are a box within the parallelotope of what the motors can do: every vector in this box keeps all motors within
    their limits.
    """
    known = np.isfinite(motors)
    share, motors = share[known], motors[known]
    moved = share > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = np.minimum(own, np.where(moved, motors[:, None] / share, np.inf).min(axis=0, initial=np.inf))
        load = np.where(moved, share * alone, 0.0).sum(axis=1)
        room = np.minimum(1.0, motors / load)
    return np.asarray(alone * np.where(moved, room[:, None], 1.0).min(axis=0, initial=1.0))
