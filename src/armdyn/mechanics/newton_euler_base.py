"""Newton-Euler with everything in base axes.

Source: Milićević table 1, with two corrections: the linear acceleration of a rotational link is
wd x p* + w x (w x p*) + a (the print repeats the row of wd), and the base accelerates by minus gravity, not plus.
Link frames are ours: the axis of joint j is z_j through the link's own origin p_j (Milićević puts it on z_{j-1}), so
p*_j, from the parent's origin to p_j, turns with the parent. The tensor of each link is taken at its centre of mass and
turned into base axes: I = R I_link R^T, anew for each posture; that is what makes this form dearer than link frames.
"""

from __future__ import annotations

from armdyn.algebra import ZERO, CentralInertia, Mat3, Scalar, Vec3, cross
from armdyn.algebra.ops import is_zero
from armdyn.errors import PhysicsError
from armdyn.mechanics.by_recursion import by_recursion
from armdyn.mechanics.kinematics import frame_pose, link_poses
from armdyn.robot.links import WORLD, Link
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars


def joint_torques(
    robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Scalars | None = None, *, weightless: bool = False
) -> list[Scalar]:
    """Torques of the bodies' motion, gravity and tip wrench. Milićević table 1"""
    n = robot.n
    poses = link_poses(robot, q)
    z = [pose.R.column(2) for pose in poses]
    w, wd, a, f, m = ([ZERO] * n for _ in range(5))
    a_base = ZERO if weightless else -robot.gravity  # Milićević table 1, initial condition corrected

    for link in robot.outward():
        i, parent = link.index, link.parent
        p_star = poses[i].p if parent == WORLD else poses[i].p - poses[parent].p
        w_0, wd_0, a_0 = (ZERO, ZERO, a_base) if parent == WORLD else (w[parent], wd[parent], a[parent])
        if link.revolute:
            w[i] = w_0 + qd[i] * z[i]  # Milićević table 1, omega
            wd[i] = wd_0 + qdd[i] * z[i] + cross(w_0, qd[i] * z[i])  # Milićević table 1, omega dot
            a[i] = carried(w_0, wd_0, p_star) + a_0  # Milićević table 1, v dot, corrected
        else:
            w[i], wd[i] = w_0, wd_0
            slide = qdd[i] * z[i] + 2 * cross(w_0, qd[i] * z[i])
            a[i] = slide + carried(w_0, wd_0, p_star) + a_0  # Milićević table 1, v dot

        body, R = central(link), poses[i].R
        s, tensor = R @ body.com, symmetric(R @ body.tensor @ R.T)
        f[i] = body.mass * (carried(w[i], wd[i], s) + a[i])  # Milićević table 1, a bar and F
        m[i] = tensor @ wd[i] + cross(w[i], tensor @ w[i]) + cross(s, f[i])  # Milićević table 1, M and s x F of n

    tool = robot.frame("tool")
    if wrench is not None and tool.link != WORLD:
        force, arm = Vec3.of(wrench[:3]), frame_pose(poses, tool).p - poses[tool.link].p
        f[tool.link] = f[tool.link] + force  # f_{n+1} of Milićević table 1
        m[tool.link] = m[tool.link] + Vec3.of(wrench[3:]) + cross(arm, force)

    torques: list[Scalar] = [0] * n
    for link in robot.inward():
        i, parent = link.index, link.parent
        torques[i] = z[i].dot(m[i] if link.revolute else f[i])  # Milićević table 1, tau
        if parent != WORLD:
            f[parent] = f[parent] + f[i]  # Milićević table 1, f
            m[parent] = m[parent] + m[i] + cross(poses[i].p - poses[parent].p, f[i])  # Milićević table 1, n
    return torques


def carried(w: Vec3, wd: Vec3, r: Vec3) -> Vec3:
    """Acceleration of a point at r from the origin of a turning frame: wd x r + w x (w x r)."""
    return cross(wd, r) + cross(w, cross(w, r))


def symmetric(tensor: Mat3) -> Mat3:
    """A tensor known to be symmetric, by its upper half: the lower one is not computed again."""
    return Mat3.symmetric(*tensor.upper())


def central(link: Link) -> CentralInertia:
    """The link by its centre of mass; one without mass has none, and must have no first moment either."""
    body = link.inertia
    massless = is_zero(body.mass) or (isinstance(body.mass, float) and body.mass == 0.0)
    if massless and not all(is_zero(x) or (isinstance(x, float) and x == 0.0) for x in body.moment):
        raise PhysicsError(
            "first moments without mass: there is no centre of mass",
            where=f"link {link.name!r}",
            expected="a mass, or first moments equal to zero",
            advice="Grouped parameters need a formulation that is linear in them, such as newton_euler.",
        )
    return body.about_com()


inverse_dynamics, mass_matrix, coriolis, gravity = by_recursion(joint_torques)
