"""Measures of a robot for a sweep, each one number, or one per joint.

They are evaluated on arrays by the recursions themselves: a variant that is evaluated once is not worth compiling,
unless it is a closed chain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.dynamics import compile as compiled
from armdyn.kinematics.manipulability import general_rank, product_of_axes
from armdyn.kinematics.reach import reach
from armdyn.mechanics import composite_body, kinematics, newton_euler
from armdyn.mechanics.quantity import quantity
from armdyn.mechanics.reactions import joint_reactions
from armdyn.mechanics.springs import spring_torques
from armdyn.motion.bearings import loads_of
from armdyn.robot import Robot
from armdyn.typing import Array


@dataclass(frozen=True, eq=False)
class Bench:
    """Where variants are measured: configurations at rest (S, n), and one motion: t (N,), q, qd, qdd (N, n)."""

    rest: Any
    t: Any
    q: Any
    qd: Any
    qdd: Any


@dataclass(frozen=True)
class SweepMeasure:
    """A measure of a robot on a bench; by_joint: one number per joint, else one for all."""

    title: str
    unit: str
    of: Callable[[Robot, Bench], Array]
    by_joint: bool = False


def _value(name: str, robot: Robot, *state: Any) -> Array:
    """A quantity of the robot, as a function of `Dynamics` is called."""
    found = getattr(compiled(robot), name)(*state) if robot.constrained else RECURSIONS[name](robot, *state)
    return np.asarray(found, dtype=float)


RECURSIONS: dict[str, Callable[..., Any]] = {
    "inverse_dynamics": newton_euler.inverse_dynamics,
    "gravity": newton_euler.gravity,
    "springs": quantity(spring_torques),
    "mass_matrix": composite_body.mass_matrix,
    "jacobian": kinematics.jacobian,
}


def _torque(robot: Robot, bench: Bench) -> Array:
    return _value("inverse_dynamics", robot, bench.q, bench.qd, bench.qdd)


def _bearing(field: str) -> Callable[[Robot, Bench], Array]:
    """Largest load of the bearings along the motion; a drive's own part does not count."""

    def of(robot: Robot, bench: Bench) -> Array:
        return np.asarray(getattr(loads_of(robot, joint_reactions(robot, bench.q, bench.qd, bench.qdd)), field))

    return of


def _mean_power(robot: Robot, bench: Bench) -> Array:
    power = np.maximum(_torque(robot, bench) * bench.qd, 0.0).sum(axis=-1)
    return np.atleast_1d(np.trapezoid(power, bench.t) / (bench.t[-1] - bench.t[0]))


def _peak(robot: Robot, bench: Bench) -> Array:
    return np.asarray(np.abs(_torque(robot, bench)).max(axis=0))


def _rms(robot: Robot, bench: Bench) -> Array:
    squares = np.trapezoid(_torque(robot, bench) ** 2, bench.t, axis=0)
    return np.asarray(np.sqrt(squares / (bench.t[-1] - bench.t[0])))


def _holding(robot: Robot, bench: Bench) -> Array:
    tau = _value("gravity", robot, bench.rest) + _value("springs", robot, bench.rest)
    return np.asarray(np.abs(tau).max(axis=0))


def _inertia(robot: Robot, bench: Bench) -> Array:
    M = _value("mass_matrix", robot, bench.rest)
    return np.asarray(np.diagonal(M, axis1=-2, axis2=-1).max(axis=0))


def _manipulability(robot: Robot, bench: Bench) -> Array:
    J = _value("jacobian", robot, bench.rest)[..., :3, :]
    return np.atleast_1d(product_of_axes(J, general_rank(J)).mean())


def _mass(robot: Robot, bench: Bench) -> Array:
    return np.atleast_1d(sum(float(link.inertia.mass) for link in robot.opened.links))


MEASURES: dict[str, SweepMeasure] = {
    "peak_torque": SweepMeasure("largest torque of the motion", "N m or N", _peak, by_joint=True),
    "rms_torque": SweepMeasure("rms torque of the motion", "N m or N", _rms, by_joint=True),
    "bearing_force": SweepMeasure("largest radial force of the bearing", "N", _bearing("radial_force"), by_joint=True),
    "bearing_moment": SweepMeasure(
        "largest tilting moment of the bearing", "N m", _bearing("tilting_moment"), by_joint=True
    ),
    "mean_power": SweepMeasure("mean mechanical power of the motion", "W", _mean_power),
    "holding_torque": SweepMeasure("largest gravity torque", "N m or N", _holding, by_joint=True),
    "inertia": SweepMeasure("largest inertia seen by the joint", "kg m^2 or kg", _inertia, by_joint=True),
    "reach": SweepMeasure("largest distance of the tool from the base", "m", lambda r, b: np.atleast_1d(reach(r))),
    "manipulability": SweepMeasure("mean manipulability of the tool's position", "", _manipulability),
    "mass": SweepMeasure("moving mass", "kg", _mass),
}
"""By the names that `sweep` accepts."""
DEFAULT = ("peak_torque", "holding_torque", "reach")
OVER_POSITIONS = ("holding_torque", "inertia")
"""Measures that are the largest over the configurations of the bench, which are samples."""
