"""What a sweep measures of every robot it makes: each measure is one number, smaller or larger for a reason one knows.

A measure is evaluated on arrays by the recursions themselves: a robot that is looked at once is not worth compiling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.kinematics.reach import reach
from armdyn.mechanics import composite_body, kinematics, newton_euler
from armdyn.robot import Robot
from armdyn.typing import Array


@dataclass(frozen=True, eq=False)
class Bench:
    """Where robots are looked at: positions at rest (S, n), and one motion: t (N,), q, qd, qdd (N, n)."""

    rest: Any
    t: Any
    q: Any
    qd: Any
    qdd: Any


@dataclass(frozen=True)
class Measure:
    """A number of a robot on a bench; by_joint: one for each joint, else one for all."""

    title: str
    unit: str
    of: Callable[[Robot, Bench], Array]
    by_joint: bool = False


def _torque(robot: Robot, bench: Bench) -> Array:
    return np.asarray(newton_euler.inverse_dynamics(robot, bench.q, bench.qd, bench.qdd), dtype=float)


def _mean_power(robot: Robot, bench: Bench) -> Array:
    power = np.maximum(_torque(robot, bench) * bench.qd, 0.0).sum(axis=-1)
    return np.atleast_1d(np.trapezoid(power, bench.t) / (bench.t[-1] - bench.t[0]))


def _rms(robot: Robot, bench: Bench) -> Array:
    squares = np.trapezoid(_torque(robot, bench) ** 2, bench.t, axis=0)
    return np.asarray(np.sqrt(squares / (bench.t[-1] - bench.t[0])))


def _holding(robot: Robot, bench: Bench) -> Array:
    tau: Array = np.asarray(newton_euler.gravity(robot, bench.rest), dtype=float)
    return np.asarray(np.abs(tau).max(axis=0))


def _inertia(robot: Robot, bench: Bench) -> Array:
    M: Array = np.asarray(composite_body.mass_matrix(robot, bench.rest), dtype=float)
    return np.asarray(np.diagonal(M, axis1=-2, axis2=-1).max(axis=0))


def _manipulability(robot: Robot, bench: Bench) -> Array:
    """The product of the half axes of the velocity ellipsoid, in the directions in which the arm moves its tool."""
    J: Array = np.asarray(kinematics.jacobian(robot, bench.rest), dtype=float)[..., :3, :]
    axes: Array = np.linalg.svd(J, compute_uv=False)
    moves = axes.max(axis=0) > 1e-9 * axes.max()
    return np.atleast_1d(np.prod(axes[:, moves], axis=-1).mean())


def _mass(robot: Robot, bench: Bench) -> Array:
    return np.atleast_1d(sum(float(link.inertia.mass) for link in robot.links))


MEASURES: dict[str, Measure] = {
    "peak_torque": Measure("largest torque of the motion", "N m or N", lambda r, b: np.abs(_torque(r, b)).max(axis=0),
                           by_joint=True),
    "rms_torque": Measure("effective torque of the motion", "N m or N", _rms, by_joint=True),
    "mean_power": Measure("mean power given during the motion", "W", _mean_power),
    "holding_torque": Measure("largest torque that holds the arm", "N m or N", _holding, by_joint=True),
    "inertia": Measure("largest inertia seen by the joint", "kg m^2 or kg", _inertia, by_joint=True),
    "reach": Measure("largest distance of the tool from the base", "m", lambda r, b: np.atleast_1d(reach(r))),
    "manipulability": Measure("mean manipulability of the tool's position", "", _manipulability),
    "mass": Measure("moving mass", "kg", _mass),
}  # fmt: skip
"""By the name under which `sweep` takes them."""
DEFAULT = ("peak_torque", "holding_torque", "reach")
