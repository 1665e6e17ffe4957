"""Measures of a robot for a sweep, each one number, or one per joint; smooth ones with their derivatives.

Torques come from one kernel for all variants (`design_space`). Most measures reduce a signal along the motion, linear
in the torques, to its peak, its rms value or its mean; their derivatives by the parameters follow by the chain rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError, FeatureError, NotApplicable
from armdyn.kinematics.manipulability import general_rank, product_of_axes
from armdyn.kinematics.reach import reach
from armdyn.mechanics.coupling import coupling_matrix
from armdyn.mechanics.reactions import joint_reactions
from armdyn.motion.bearings import loads_of
from armdyn.motion.path import ByLength, as_path, corners
from armdyn.motion.payload_cycle import payload_of_motion, shortest_cycle
from armdyn.robot import Robot
from armdyn.robot.limits import continuous_torques, joint_names, torque_limits, velocity_limits
from armdyn.sweeps.design_space import PAYLOAD, Family, VariantDynamics, slopes_of
from armdyn.trajectory.via import from_samples
from armdyn.typing import Array

STEP = 1e-6
"""Relative step of central differences of limits and gear ratios by the parameters; they are nearly linear in them."""

NODES = 201
"""Nodes of the spline of a path, where it agrees in position, direction and curvature; curvature does not jump."""


@dataclass(frozen=True, eq=False)
class Bench:
    """Where variants are measured: configurations at rest (S, n), and one motion: t (N,), q, qd, qdd (N, n), path."""

    rest: Any
    t: Any
    q: Any
    qd: Any
    qdd: Any
    motion: Any

    @cached_property
    def path(self) -> Any:
        """The path of the motion; a smooth one as a spline over its length, which is much faster to evaluate."""
        path = as_path(self.motion)
        if isinstance(path, ByLength) and len(corners(path)) == 2:
            s = np.linspace(0.0, path.duration, NODES)
            return from_samples(s, path(s), path(s, 1), path(s, 2))
        return path


class Variant:
    """A variant on its bench: the robot in numbers, its dynamics, and its torques along the motion."""

    def __init__(self, family: Family, values: Array, bench: Bench) -> None:
        self.family, self.values, self.bench = family, np.asarray(values, dtype=float), bench
        self.robot, self.dyn = family.variant(self.values)

    @cached_property
    def tau(self) -> Array:
        """(N, n) torques along the motion."""
        found: Array = self.dyn.inverse_dynamics(self.bench.q, self.bench.qd, self.bench.qdd)
        return found

    @cached_property
    def tau_slopes(self) -> Array:
        """(N, n, k) their derivatives by the parameters."""
        return slopes_of(self.dyn, "inverse_dynamics", self.bench.q, self.bench.qd, self.bench.qdd)

    @cached_property
    def held(self) -> Array:
        """(S, n) torques that hold the configurations at rest."""
        found: Array = self.dyn.gravity(self.bench.rest) + self.dyn.springs(self.bench.rest)
        return found

    @cached_property
    def held_slopes(self) -> Array:
        return slopes_of(self.dyn, "gravity", self.bench.rest) + slopes_of(self.dyn, "springs", self.bench.rest)

    def differences(self, of: Callable[[Robot], Array]) -> Array:
        """(..., k) derivatives of what depends on gears and limits alone, by central differences."""
        columns = []
        for k, value in enumerate(self.values):
            step = np.zeros_like(self.values)
            step[k] = STEP * max(abs(value), 1.0)
            ahead, behind = (of(self.family.variant(self.values + side * step)[0]) for side in (1, -1))
            columns.append((ahead - behind) / (2 * step[k]))
        return np.stack(columns, axis=-1)


@dataclass(frozen=True)
class SweepMeasure:
    """A measure of a variant.

    title:    what it is. unit: its unit, empty for a share.
    of:       (r,) its values.
    slopes:   (r, k) their derivatives by the parameters; None where it is not smooth.
    by_joint: one number per joint, else one for all.
    larger:   larger is better.
    """

    title: str
    unit: str
    of: Callable[[Variant], Array]
    slopes: Callable[[Variant], Array] | None = None
    by_joint: bool = False
    larger: bool = False


# Signals along the motion: y = tau S, or y = qd S, with a matrix S of gears or limits --------------------------------


@dataclass(frozen=True)
class _Signal:
    """A signal of every joint: torques or velocities, times a matrix (n, n) that depends on the robot."""

    scale: Callable[[Robot], Array] | None = None
    velocity: bool = False

    def values(self, v: Variant) -> Array:
        y: Array = v.bench.qd if self.velocity else v.tau
        return y if self.scale is None else y @ self.scale(v.robot)

    def slopes(self, v: Variant) -> Array:
        k = len(v.values)
        y = v.bench.qd if self.velocity else v.tau
        dy = np.zeros((*y.shape, k)) if self.velocity else v.tau_slopes
        if self.scale is None:
            return np.asarray(dy)
        turned = np.einsum("tik,ij->tjk", dy, self.scale(v.robot))
        return np.asarray(turned + np.einsum("ti,ijk->tjk", y, v.differences(self.scale)))


def _motor_rates(robot: Robot) -> Array:
    """J^-T: motor rates from joint rates, as rows."""
    return np.linalg.inv(np.asarray(coupling_matrix(robot), dtype=float)).T


def _shares(of: Callable[[Robot], Array], what: str) -> Callable[[Robot], Array]:
    """A diagonal matrix of 1/limit; a robot without limits has no such share."""

    def scale(robot: Robot) -> Array:
        limits = of(robot)
        if not np.isfinite(limits).all():
            names = [name for name, x in zip(joint_names(robot), limits, strict=True) if not np.isfinite(x)]
            raise NotApplicable(
                f"no {what} is known of {', '.join(names)}",
                where=f"robot {robot.name!r}",
                expected=f"a {what} of every joint or of its motor",
                advice="Write limits or motors into the robot's file or table.",
            )
        return np.diag(1 / limits)

    return scale


TORQUE = _Signal()
MOTOR_TORQUE = _Signal(lambda robot: np.asarray(coupling_matrix(robot), dtype=float))  # Khalil (7.33)
MOTOR_SPEED = _Signal(_motor_rates, velocity=True)  # Khalil (7.31)
TORQUE_USE = _Signal(_shares(torque_limits, "torque limit"))
SPEED_USE = _Signal(_shares(velocity_limits, "velocity limit"), velocity=True)
HEAT = _Signal(_shares(continuous_torques, "continuous torque"))


def _peak(title: str, unit: str, signal: _Signal) -> SweepMeasure:
    def of(v: Variant) -> Array:
        return np.asarray(np.abs(signal.values(v)).max(axis=0))

    def slopes(v: Variant) -> Array:
        return _peak_slopes(signal.values(v), signal.slopes(v))

    return SweepMeasure(title, unit, of, slopes, by_joint=True)


def _peak_slopes(y: Array, dy: Array) -> Array:
    """Derivative of max |y| over the first axis, (n, k): that of the largest sample."""
    at, joint = np.abs(y).argmax(axis=0), np.arange(y.shape[1])
    return np.asarray(np.sign(y[at, joint])[:, None] * dy[at, joint])


def _mean_square(v: Variant, signal: _Signal) -> tuple[Array, Array]:
    """The mean square (n,) of a signal over the motion, and half of its derivative (n, k)."""
    t, y = v.bench.t, signal.values(v)
    duration = t[-1] - t[0]
    slopes = np.trapezoid(y[..., None] * signal.slopes(v), t, axis=0) / duration if v.family.compiles else np.nan
    return np.trapezoid(y**2, t, axis=0) / duration, np.asarray(slopes)


def _rms(title: str, unit: str, signal: _Signal) -> SweepMeasure:
    def slopes(v: Variant) -> Array:
        square, half = _mean_square(v, signal)
        return np.asarray(half / np.maximum(np.sqrt(square), 1e-300)[:, None])

    def of(v: Variant) -> Array:
        y = signal.values(v)
        return np.asarray(np.sqrt(np.trapezoid(y**2, v.bench.t, axis=0) / (v.bench.t[-1] - v.bench.t[0])))

    return SweepMeasure(title, unit, of, slopes, by_joint=True)


def _heat_slopes(v: Variant) -> Array:
    return 2 * _mean_square(v, HEAT)[1]


def _heat(v: Variant) -> Array:
    return np.asarray(MEASURES["rms_use"].of(v) ** 2)


def _peak_power(v: Variant) -> Array:
    return np.asarray(np.maximum(v.tau * v.bench.qd, 0.0).max(axis=0))


def _peak_power_slopes(v: Variant) -> Array:
    power = np.maximum(v.tau * v.bench.qd, 0.0)
    return _peak_slopes(power, v.tau_slopes * v.bench.qd[..., None])


def _energy(v: Variant) -> Array:
    """Work that the joints do, without recovery."""
    power = np.maximum(v.tau * v.bench.qd, 0.0).sum(axis=-1)
    return np.atleast_1d(np.trapezoid(power, v.bench.t))


def _energy_slopes(v: Variant) -> Array:
    given = np.where(v.tau * v.bench.qd > 0, v.bench.qd, 0.0)
    return np.atleast_2d(np.trapezoid((v.tau_slopes * given[..., None]).sum(axis=1), v.bench.t, axis=0))


def _duration(v: Variant) -> float:
    return float(v.bench.t[-1] - v.bench.t[0])


# At rest -------------------------------------------------------------------------------------------------------------


def _inertias(v: Variant) -> Array:
    """(S, n) the diagonal of the mass matrix."""
    return np.asarray(np.diagonal(v.dyn.mass_matrix(v.bench.rest), axis1=-2, axis2=-1))


def _inertia(v: Variant) -> Array:
    return np.asarray(_inertias(v).max(axis=0))


def _inertia_slopes(v: Variant) -> Array:
    n = v.robot.n
    slopes = slopes_of(v.dyn, "mass_matrix", v.bench.rest)[:, :: n + 1]  # of the diagonal
    return _peak_slopes(_inertias(v), slopes)


def _inertia_ratio(v: Variant) -> Array:
    """Largest inertia of the load, as its motor sees it, over that of the rotor."""
    own = np.array([joint.rotor.inertia * joint.rotor.ratio**2 if joint.rotor else 0.0 for joint in v.robot.joints])
    own = own.astype(float)
    if v.robot.coupling or not own.all():
        raise NotApplicable(
            "the inertia ratio needs a rotor of every joint, and no coupling",
            where=f"robot {v.robot.name!r}",
            expected="rotor = {inertia = ..., ratio = ...} of every joint",
        )
    return np.asarray(_inertia(v) / own - 1)


def _manipulability(v: Variant) -> Array:
    J = np.asarray(v.dyn.jacobian(v.bench.rest))[..., :3, :]
    return np.atleast_1d(product_of_axes(J, general_rank(J)).mean())


def _mass(v: Variant) -> Array:
    return np.atleast_1d(sum(float(link.inertia.mass) for link in v.robot.opened.links))


def _bearing(field: str) -> Callable[[Variant], Array]:
    """Largest load of the bearings along the motion; a drive's own part does not count."""

    def of(v: Variant) -> Array:
        reactions = joint_reactions(v.robot, v.bench.q, v.bench.qd, v.bench.qdd)
        return np.asarray(getattr(loads_of(v.robot, reactions), field))

    return of


# Of the motion's path -------------------------------------------------------------------------------------------------


def _cycle_time(v: Variant) -> Array:
    return np.atleast_1d(shortest_cycle(v.dyn, v.bench.path).duration)


def _largest_payload(v: Variant) -> Array:
    unit = None
    if isinstance(v.dyn, VariantDynamics):
        unit = v.family.variant(v.values + (np.array(v.family.names) == PAYLOAD))[1]
    mass = payload_of_motion(v.dyn, v.bench.motion, unit).mass
    return np.atleast_1d(mass if np.isfinite(mass) else np.nan)


MEASURES: dict[str, SweepMeasure] = {
    "cycle_time": SweepMeasure("shortest cycle along the path of the motion", "s", _cycle_time),
    "largest_payload": SweepMeasure("largest payload of the motion", "kg", _largest_payload, larger=True),
    "peak_torque": _peak("largest torque of the motion", "N m or N", TORQUE),
    "rms_torque": _rms("rms torque of the motion", "N m or N", TORQUE),
    "motor_torque": _peak("largest torque of the motor, behind its gear", "N m", MOTOR_TORQUE),
    "motor_rms_torque": _rms("rms torque of the motor, behind its gear", "N m", MOTOR_TORQUE),
    "motor_speed": _peak("largest speed of the motor", "rad/s", MOTOR_SPEED),
    "motor_heat": SweepMeasure("(rms torque / continuous torque)^2", "", _heat, _heat_slopes, by_joint=True),
    "rms_use": _rms("rms torque / continuous torque", "", HEAT),
    "torque_use": _peak("largest torque / torque limit", "", TORQUE_USE),
    "speed_use": _peak("largest velocity / velocity limit", "", SPEED_USE),
    "peak_power": SweepMeasure("largest power delivered to the joint", "W", _peak_power, _peak_power_slopes, True),
    "mean_power": SweepMeasure(
        "mean mechanical power of the motion",
        "W",
        lambda v: _energy(v) / _duration(v),
        lambda v: _energy_slopes(v) / _duration(v),
    ),
    "energy": SweepMeasure("work of the motion, without recovery", "J", _energy, _energy_slopes),
    "bearing_force": SweepMeasure("largest radial force of the bearing", "N", _bearing("radial_force"), by_joint=True),
    "bearing_moment": SweepMeasure(
        "largest tilting moment of the bearing", "N m", _bearing("tilting_moment"), by_joint=True
    ),
    "holding_torque": SweepMeasure(
        "largest gravity torque",
        "N m or N",
        lambda v: np.asarray(np.abs(v.held).max(axis=0)),
        lambda v: _peak_slopes(v.held, v.held_slopes),
        by_joint=True,
    ),
    "inertia": SweepMeasure(
        "largest inertia seen by the joint", "kg m^2 or kg", _inertia, _inertia_slopes, by_joint=True
    ),
    "inertia_ratio": SweepMeasure("largest inertia of the load / inertia of the rotor", "", _inertia_ratio, None, True),
    "reach": SweepMeasure(
        "largest distance of the tool from the base", "m", lambda v: np.atleast_1d(reach(v.robot)), larger=True
    ),
    "manipulability": SweepMeasure("mean manipulability of the tool's position", "", _manipulability, larger=True),
    "mass": SweepMeasure("moving mass", "kg", _mass),
}
"""By the names that `sweep` accepts."""
DEFAULT = ("peak_torque", "holding_torque", "reach")
OVER_POSITIONS = ("holding_torque", "inertia")
"""Measures that are the largest over the configurations of the bench, which are samples."""


def labels_of(robot: Robot, measures: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """(label, measure) of every result: a measure, or measure and joint."""
    for name in measures:
        for joint in joint_names(robot) if MEASURES[name].by_joint else [""]:
            yield f"{name}_{joint}" if joint else name, name


def measured(make: Callable[[], Variant], measures: tuple[str, ...], size: int) -> Array:
    """(r,) the results of a variant, NaN where they do not exist, as for an invalid body or a motor that is too weak.

    make: gives the variant; an invalid one has no results at all. size: number of results.
    """
    results: list[Array] = []
    try:
        variant = make()
    except FeatureError:
        raise
    except ArmdynError:
        return np.full(size, np.nan)
    for name in measures:
        try:
            with np.errstate(all="ignore"):
                results.append(MEASURES[name].of(variant))
        except FeatureError:
            raise
        except ArmdynError:
            results.append(np.full(variant.robot.n if MEASURES[name].by_joint else 1, np.nan))
    return np.concatenate(results)
