"""Kinetic and potential energy of the bodies, and the mass matrix: what the formulations after Lagrange start from.

Source: Khalil sec. 7.3.3, (7.5)-(7.25); Siciliano sec. 7.1.1-7.1.2, (7.13)-(7.36); Truc (17)-(28). Velocities are
referred to link frames (Khalil's advice) and inertias to their origins, so that everything is linear in the inertial
parameters.
"""

from __future__ import annotations

from armdyn.algebra import Scalar, Screw, Vec3, gradient, momentum, ops
from armdyn.algebra.ops import add, half
from armdyn.mechanics.actuators import actuated
from armdyn.mechanics.kinematics import frame_pose, link_poses, point_jacobian, velocities
from armdyn.mechanics.matrices import Rows, zeros
from armdyn.robot.links import WORLD
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars


def kinetic(robot: Robot, q: Scalars, qd: Scalars) -> Scalar:
    """E = sum of 1/2 V_j^T I_j V_j over the bodies. Khalil (7.9), (7.19)"""
    V = [Screw(*pair) for pair in zip(*velocities(robot, q, qd), strict=True)]
    return half(ops.total(V_j.dot(momentum(link.inertia, V_j)) for link, V_j in zip(robot.links, V, strict=True)))


def potential(robot: Robot, q: Scalars) -> Scalar:
    """U = -sum of g^T (M_j P_j + R_j MS_j). Khalil (7.24)-(7.25)"""
    poses = zip(robot.links, link_poses(robot, q), strict=True)
    moments = [link.inertia.mass * P + R @ link.inertia.moment for link, (R, P) in poses]
    return ops.total(-robot.gravity.dot(moment) for moment in moments)


def gravity_torques(robot: Robot, q: Scalars) -> list[Scalar]:
    """Q_i = dU/dq_i: U does not depend on the velocities. Khalil (7.8), Truc (45)"""
    return gradient(lambda x: potential(robot, x), q)


def jacobians(robot: Robot, q: Scalars) -> list[dict[int, Screw]]:
    """[l][j]: velocity of link l for a unit rate of joint j, for the joints j that carry the link.

    The columns of Siciliano (7.16)-(7.19) and Truc (24)-(25), in the link's frame and at its origin.
    """
    n = range(robot.n)
    unit_motions = [velocities(robot, q, [int(i == j) for i in n]) for j in n]
    return [{j: Screw(unit_motions[j][0][l], unit_motions[j][1][l]) for j in robot.path(l)} for l in n]


def inertia_matrix(robot: Robot, q: Scalars) -> Rows:
    """The matrix A of E = 1/2 qd^T A qd. Khalil (7.5); Truc (28), Siciliano (7.32)"""
    A = zeros(robot.n, robot.n)
    for link, J in zip(robot.links, jacobians(robot, q), strict=True):
        for j in J:
            P_j = momentum(link.inertia, J[j])
            for i in J:
                if i <= j:
                    A[i][j] = A[j][i] = add(A[i][j], J[i].dot(P_j))
    return A


def tip_torques(robot: Robot, q: Scalars, wrench: Scalars | None) -> list[Scalar]:
    """J^T F_e: torques of the wrench that the robot exerts at its tool; none if there is no wrench. Khalil (7.30)"""
    frame = robot.frame("tool")
    if wrench is None or frame.link == WORLD:
        return [0] * robot.n
    poses = link_poses(robot, q)
    linear, angular = point_jacobian(robot, poses, frame.link, frame_pose(poses, frame).p)
    F_e = Screw(Vec3.of(wrench[:3]), Vec3.of(wrench[3:]))
    return [Screw(*column).dot(F_e) for column in zip(linear, angular, strict=True)]


@actuated
def kinetic_energy(robot: Robot, q: Scalars, qd: Scalars) -> Scalar:
    """Kinetic energy of the bodies and rotors: (...), J. Khalil (7.9)-(7.22), Siciliano (7.4)"""
    return kinetic(robot, q, qd)


@actuated
def potential_energy(robot: Robot, q: Scalars) -> Scalar:
    """Potential energy in the field of gravity, zero at the world's origin: (...), J.

    Khalil (7.24), Siciliano (7.36)
    """
    return potential(robot, q)
