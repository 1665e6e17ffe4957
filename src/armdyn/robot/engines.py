"""Positions, velocities, accelerations and forces of free and ball joints in the conventions of other engines.

              position of a free joint           velocity of a free joint             quaternion
    armdyn    (x, y, z, qw, qx, qy, qz)          linear, angular; moving axes         w first
    Pinocchio (x, y, z, qx, qy, qz, qw)          the same                             w last
    MuJoCo    the same                           linear in world axes, angular moving w first

Joints stay in the order of `robot.joints`. Where a moving body carries a free joint, MuJoCo's axes are the parent's;
MuJoCo itself has free joints in the world only. Velocities, accelerations and forces of Pinocchio need no conversion.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from armdyn.robot.compounds import Span, checked, turned
from armdyn.robot.robot import Robot
from armdyn.typing import Floats

Motion = tuple[Floats, Floats, Floats]


def to_pinocchio(robot: Robot, q: ArrayLike) -> Floats:
    """Positions, (..., nq), with the quaternions in Pinocchio's order."""
    return _reordered(robot, q, (1, 2, 3, 0))


def to_mujoco(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Motion:
    """(qpos, qvel, qacc) of a motion: (..., nq), (..., n), (..., n)."""
    position, rate, acceleration = _motion(robot, q, qd, qdd)
    for span in _free(robot):
        attitude, linear = _attitude(span, position), _linear(span)
        drift = np.cross(rate[..., span.turns], rate[..., linear])  # the moving axes turn
        acceleration[..., linear] = turned(attitude, acceleration[..., linear] + drift)
        rate[..., linear] = turned(attitude, rate[..., linear])
    return position, rate, acceleration


def from_mujoco(robot: Robot, qpos: ArrayLike, qvel: ArrayLike, qacc: ArrayLike) -> Motion:
    """(q, qd, qdd) of a motion given by MuJoCo: (..., nq), (..., n), (..., n)."""
    position, rate, acceleration = _motion(robot, qpos, qvel, qacc)
    for span in _free(robot):
        back, linear = _attitude(span, position) * [1, -1, -1, -1], _linear(span)
        rate[..., linear] = turned(back, rate[..., linear])
        drift = np.cross(rate[..., span.turns], rate[..., linear])
        acceleration[..., linear] = turned(back, acceleration[..., linear]) - drift
    return position, rate, acceleration


def forces_to_mujoco(robot: Robot, q: ArrayLike, tau: ArrayLike) -> Floats:
    """Forces, (..., n), as MuJoCo's qfrc."""
    return _forces(robot, q, tau, np.array([1, 1, 1, 1]))


def forces_from_mujoco(robot: Robot, qpos: ArrayLike, qfrc: ArrayLike) -> Floats:
    """Forces, (..., n), from MuJoCo's qfrc."""
    return _forces(robot, qpos, qfrc, np.array([1, -1, -1, -1]))


def _forces(robot: Robot, q: ArrayLike, tau: ArrayLike, sense: Floats) -> Floats:
    position, forces = checked("q", q, robot.nq), checked("tau", tau, robot.n).copy()
    for span in _free(robot):
        forces[..., _linear(span)] = turned(_attitude(span, position) * sense, forces[..., _linear(span)])
    return forces


def _motion(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Motion:
    return checked("q", q, robot.nq).copy(), checked("qd", qd, robot.n).copy(), checked("qdd", qdd, robot.n).copy()


def _reordered(robot: Robot, q: ArrayLike, order: Sequence[int]) -> Floats:
    result = checked("q", q, robot.nq).copy()
    for span in robot.compounds:
        first = span.positions.stop - 4
        result[..., first : first + 4] = result[..., [first + k for k in order]]
    return result


def _free(robot: Robot) -> list[Span]:
    return [span for span in robot.compounds if span.compound.kind == "free"]


def _attitude(span: Span, q: Floats) -> Floats:
    return q[..., span.positions][..., -4:]


def _linear(span: Span) -> slice:
    return slice(span.joint, span.joint + 3)


__all__ = ["forces_from_mujoco", "forces_to_mujoco", "from_mujoco", "to_mujoco", "to_pinocchio"]
