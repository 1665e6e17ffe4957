"""From measured quantities to joints: motors, gears, currents, gravity compensation.

Everything that a `LogFormat` declares is applied here, so that a `Log` is always on the joint side and in SI units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.errors import ShapeError
from armdyn.findings import Finding
from armdyn.identification.log.columns import Raw, factors
from armdyn.identification.log.log_format import QUANTITIES, LogFormat, quantity_named
from armdyn.mechanics import coupling as transmission
from armdyn.robot import Robot
from armdyn.typing import Array


def on_joint_side(found: Raw, robot: Robot, given: LogFormat) -> tuple[Raw, tuple[Finding, ...]]:
    """({quantity: (N, n) of the joints, SI units}, findings) from what was measured and declared."""
    motor = given.side == "motor"
    kinds = ["revolute" if motor else joint.kind for joint in robot.joints]
    efforts = ["current"] * robot.n if given.effort == "current" else kinds
    units = {quantity_named(name): unit for name, unit in (given.units or {}).items()}
    out = {
        name: _in_si_units(found[name], factors(name, units.get(name), efforts if name == "tau" else kinds))
        for name in QUANTITIES[1:]
        if name in found
    }
    driven = _driven(robot, given.coupling)
    if motor:
        out["q"] = _carried(transmission.joint_positions, driven, out["q"])
        for name in ("qd", "qdd"):
            if name in out:
                out[name] = _carried(transmission.joint_velocities, driven, out[name])
    out["tau"] = _torques(out["tau"], driven, given)
    if given.offsets is not None:
        out["q"] = out["q"] + np.broadcast_to(np.asarray(given.offsets, dtype=float), (robot.n,))
    if given.effort == "gravity_compensated":
        out["tau"] = out["tau"] + _gravity(robot, out["q"])
        return out, (_GRAVITY_ADDED,)
    return out, ()


def _in_si_units(x: Array, unit: Array) -> Array:
    """x, (N, n), times the SI values of its units, (n,); x itself where there is nothing to convert."""
    numbers: Array = np.asarray(x, dtype=float)
    return numbers if (unit == 1).all() else numbers * unit


def _carried(relation: Callable[..., Any], robot: Robot, x: Array) -> Array:
    """A relation of `mechanics.coupling` on arrays."""
    finite = np.isfinite(x).all(axis=1, keepdims=True)  # broken samples are left out later, and reported
    carried: Array = np.asarray(relation(robot, np.where(finite, x, 0.0)))
    return np.where(finite, carried, np.nan)


def _driven(robot: Robot, matrix: Any) -> Robot:
    """The robot with the coupling that was given: q_m = R q, so that J of Khalil (7.31) is the inverse of R."""
    if matrix is None:
        return robot
    R = np.asarray(matrix, dtype=float)
    R = np.diag(R) if R.ndim == 1 else R
    if R.shape != (robot.n, robot.n) or not np.isfinite(R).all() or np.linalg.matrix_rank(R) < robot.n:
        raise ShapeError(f"coupling of shape {R.shape}", where="log", expected=f"({robot.n}, {robot.n}), invertible")
    return replace(robot, coupling=tuple(map(tuple, np.linalg.inv(R).tolist())), expressions=None)


def with_coupling(robot: Robot, R: Any) -> Robot:
    """The robot with motors coupled as declared, q_m = R q; the robot itself if every motor drives one joint.

    Gear ratios alone change nothing that a log shows; a motor that several joints turn has friction and inertia of its
    own.
    """
    coupled = R is not None and np.ndim(R) == 2 and not np.array_equal(R, np.diag(np.diag(R)))
    return _driven(robot, R) if coupled else robot


def _torques(effort: Array, robot: Robot, given: LogFormat) -> Array:
    """Joint torques of what was measured."""
    if given.effort == "current" and given.gains is None:
        return _carried(transmission.torques_from_currents, robot, effort)
    if given.gains is not None:
        effort = effort * np.broadcast_to(np.asarray(given.gains, dtype=float), (robot.n,))
    return _carried(transmission.joint_torques, robot, effort) if given.side == "motor" else effort


def _gravity(robot: Robot, q: Array) -> Array:
    from armdyn.dynamics import compile

    torque: Array = compile(robot).gravity(np.where(np.isfinite(q), q, 0.0))
    return torque


_GRAVITY_ADDED = Finding(
    "gravity added",
    "suspicious",
    "effort",
    "the efforts are declared gravity-compensated, so the model's gravity torques were added to them",
    condition="measured gravity torques",
    cause="the controller subtracts its own gravity model before it reports efforts",
    advice="Masses and centres of mass found from this log repeat the model; log the full torque to measure them.",
)

__all__ = ["on_joint_side", "with_coupling"]
