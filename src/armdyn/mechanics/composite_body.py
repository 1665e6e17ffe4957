"""Composite rigid bodies: the mass matrix, and forward dynamics with it.

Source: method 3 of Walker and Orin (1982), to which Khalil sec. 7.6.1 refers for an efficient inertia matrix
("composite links"). When joint j alone accelerates, all that it carries moves as one rigid body; the wrench that moves
this body is passed inwards, and every joint on its way bears its part along its own axis. Branches are allowed.
"""

from __future__ import annotations

from armdyn.algebra import CentralInertia, Inertia, Mat3, Pose, Scalar, Vec3, ops
from armdyn.algebra.ops import add, mul, sub
from armdyn.mechanics import forward
from armdyn.mechanics.actuators import actuated
from armdyn.mechanics.kinematics import Wrench
from armdyn.mechanics.quantity import quantity
from armdyn.mechanics.steps.composite_body import joint_axis, projection, turned_about_z, unit_wrench
from armdyn.robot.links import WORLD, Link
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars


@actuated
def mass_matrix(robot: Robot, q: Scalars) -> list[list[Scalar]]:
    """Mass matrix M(q) of the bodies and rotors, by composite rigid bodies.

    Args:    q: (..., n) joint position, rad or m.
    Returns: M: (..., n, n), both triangles; literal zeros between joints of different branches.
    """
    return bodies_matrix(robot, q)


def bodies_matrix(robot: Robot, q: Scalars) -> list[list[Scalar]]:
    """Mass matrix of the bodies alone."""
    composite = composites(robot, q)
    M: list[list[Scalar]] = [[0] * robot.n for _ in robot.links]
    for link in robot.links:
        j = i = link.index
        S = joint_axis(link)
        wrench = unit_wrench(S, composite[j])
        M[j][j] = projection(S, wrench)
        while robot.links[i].parent != WORLD:
            wrench = wrench.wrench_seen_from(robot.links[i].pose(q[i]))  # Khalil (7.59), (7.60) without own parts
            i = robot.links[i].parent
            M[i][j] = M[j][i] = projection(joint_axis(robot.links[i]), wrench)
    return M


def composites(robot: Robot, q: Scalars) -> list[Inertia]:
    """Inertia of each link with all that it carries, as one rigid body in the link's frame.

    What a link carries is its mass, at its origin, and the rest, without mass. The first is often constant for the
    parent, and stands first in the sum.
    """
    composite = [link.inertia for link in robot.links]
    for link in robot.inward():
        j, i = link.index, link.parent
        if i != WORLD:
            P = link.pose(q[j]).p
            mass_there = CentralInertia(composite[j].mass, P, Mat3.zero()).at_origin()
            composite[i] = composite[i] + mass_there + rest_seen_from_parent(link, q[j], P, composite[j])
    return composite


def rest_seen_from_parent(link: Link, q: Scalar, P: Vec3, body: Inertia) -> Inertia:
    """First moments and tensor of a body without its mass, from the link's frame to the parent's."""
    moment, tensor = body.moment, body.tensor
    if link.revolute:
        c, s = ops.cos_sin(add(q, link.offset))
        x, y, z = moment
        moment = Vec3(sub(mul(c, x), mul(s, y)), add(mul(s, x), mul(c, y)), z)
        tensor = turned_about_z(tensor, c, s)
    return Inertia(0, moment, tensor).seen_from(Pose(link.placement.R, P))


@quantity
def forward_dynamics(robot: Robot, q: Scalars, qd: Scalars, tau: Scalars, wrench: Wrench = None) -> list[Scalar]:
    """Joint accelerations that torques produce.

        qdd = M^-1 (tau - H(q, qd))        Khalil (7.63), with the composite-body M

    Args:    q, qd: (..., n) rad or m and derivative. tau: (..., n) of the actuators. wrench: (..., 6) at the
             tool, or {frame: (..., 6)}.
    Returns: qdd: (..., n).
    Raises:  PhysicsError if the mass matrix is singular.
    """
    rest = forward.accelerating(robot, q, qd, tau, wrench)  # Khalil sec. 7.6.1: the inverse dynamics with qdd = 0
    return forward.accelerations(robot, mass_matrix.formula(robot, q), rest)


__all__ = ["composites", "forward_dynamics", "mass_matrix"]
