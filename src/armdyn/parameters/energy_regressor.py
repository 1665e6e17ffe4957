"""Energies and momenta are linear in the standard parameters, too: T = Y_T pi, U = Y_U pi, M qd = Y_p pi.

Source: Siciliano (7.76), Khalil (7.22)-(7.25). The generalized momentum M qd is the torque that an acceleration qd asks
for at rest without gravity, so its regressor is that of the torques at such motions; T = qd^T M qd / 2. Weights and
springs give U. Columns are those of the regressor; friction and offsets have none of their own.
"""

from __future__ import annotations

from armdyn.algebra import Scalar, Vec3, ops
from armdyn.algebra.ops import half, mul, sub
from armdyn.mechanics.kinematics import link_poses
from armdyn.mechanics.quantity import quantity
from armdyn.parameters.regressor import regressor
from armdyn.parameters.standard import FAMILIES, slots
from armdyn.robot import Robot
from armdyn.robot.features import TREE, declare
from armdyn.typing import Scalars

declare("parameters.energy_regressor", tuple(name for name in TREE if name != "gravity_compensation"))
_AXES = {"MX": Vec3(1, 0, 0), "MY": Vec3(0, 1, 0), "MZ": Vec3(0, 0, 1)}


@quantity
def momentum_regressor(robot: Robot, q: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """The matrix Y_p with Y_p(q, qd) pi = M(q) qd, the generalized momentum: (..., n, p). After Siciliano (7.76)

    Args: q, qd: (..., n) rad or m, per s. The columns are those of `regressor`.
    """
    rest, weightless = [0] * robot.n, robot.without("gravity")
    moved, still = (regressor.formula(weightless, q, rest, qdd) for qdd in (qd, rest))
    return [[sub(a, b) for a, b in zip(*rows, strict=True)] for rows in zip(moved, still, strict=True)]


@quantity
def energy_regressor(robot: Robot, q: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """The rows Y_T, Y_U with Y_T pi the kinetic and Y_U pi the potential energy: (..., 2, p). Siciliano (7.76)

    Args: q, qd: (..., n) rad or m, per s. The columns are those of `regressor`.
    """
    momenta = momentum_regressor.formula(robot, q, qd)
    kinetic = [half(ops.total(map(mul, qd, column))) for column in zip(*momenta, strict=True)]
    poses, g = link_poses(robot, q), robot.gravity
    potential: list[Scalar] = []
    for kind, j in slots(robot, tuple(FAMILIES)):
        if kind == "M":
            potential.append(sub(0, g.dot(poses[j].p)))
        elif kind in _AXES:
            potential.append(sub(0, g.dot(poses[j].R @ _AXES[kind])))
        elif kind == "Ks":
            spring = robot.joints[j].spring
            stretch = sub(q[j], 0 if spring is None else spring.rest)
            potential.append(half(mul(stretch, stretch)))
        else:
            potential.append(0)
    return [kinetic, potential]


__all__ = ["energy_regressor", "momentum_regressor"]
