"""Where the bodies are and how they move: poses, Jacobians, velocities, accelerations.

Frames are named (any body, any joint, `tool`); everything is in world axes unless stated otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from armdyn.algebra import ZERO, Mat3, Pose, Scalar, Screw, Vec3, cross, derivative, ops
from armdyn.errors import unknown_name
from armdyn.mechanics.moving_axes import steady
from armdyn.mechanics.quantity import quantity
from armdyn.mechanics.steps.newton_euler import propagate_velocity
from armdyn.robot.links import WORLD, Frame
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars

Wrench = Any
"""Exerted by the robot, world axes: six scalars (force, moment) at the tool, {frame: six scalars}, or None."""
EULER = ("zyz", "rpy")


# Over scalars: what other formulas of mechanics build on --------------------------------------------------------


def link_poses(robot: Robot, q: Scalars) -> list[Pose]:
    """T_0i of every link: its joint frame in the world."""
    poses: list[Pose] = []
    for link in robot.outward():
        pose = link.pose(q[link.index])
        poses.append(pose if link.parent == WORLD else poses[link.parent] @ pose)
    return poses


def frame_pose(poses: Sequence[Pose], frame: Frame) -> Pose:
    """T_0f of a frame fixed in a link."""
    return frame.pose if frame.link == WORLD else poses[frame.link] @ frame.pose


def point_jacobian(robot: Robot, poses: Sequence[Pose], link: int, point: Vec3) -> tuple[list[Vec3], list[Vec3]]:
    """Columns of the linear and angular Jacobian of a world point fixed in a link. Siciliano (7.16)-(7.19)

    A joint that does not carry the link has zero columns.
    """
    linear, angular = [ZERO] * robot.n, [ZERO] * robot.n
    for j in robot.path(link):
        z, p = poses[j].R.column(2), poses[j].p
        if robot.links[j].revolute:
            linear[j], angular[j] = cross(z, point - p), z
        else:
            linear[j] = z
    return linear, angular


def velocities(
    robot: Robot, q: Scalars, qd: Scalars, base: tuple[Vec3, Vec3] = (ZERO, ZERO)
) -> tuple[list[Vec3], list[Vec3]]:
    """(v, w) of every link: of its frame's origin and its rotation, in the link's own frame.

    base: (v, w) of a moving base, at the world's origin in its axes.
    """
    v: list[Vec3] = []
    w: list[Vec3] = []
    for link in robot.outward():
        j, i = link.index, link.parent
        parent = base if i == WORLD else (v[i], w[i])
        own = propagate_velocity(link, link.pose(q[j]), qd[j], Screw(*parent))  # Khalil (7.17), (7.18)
        v.append(own.linear)
        w.append(own.angular)
    return v, w


class Motion:
    """Velocity and acceleration of every link, in the link's own frame, of its frame's origin.

    base: (w, wd) of a rotating base; then only the angular quantities of the links are valid.
    """

    def __init__(
        self, robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars | None = None, base: tuple[Vec3, Vec3] = (ZERO, ZERO)
    ) -> None:
        self.base = base
        self.v, self.w = velocities(robot, q, qd, (ZERO, base[0]))
        self.wd: list[Vec3] = []
        self.a: list[Vec3] = []
        rates = qdd or [0] * robot.n
        for link in robot.outward():
            i, parent = link.index, link.parent
            R, p = link.pose(q[i])
            w, wd, a = (*base, ZERO) if parent == WORLD else (self.w[parent], self.wd[parent], self.a[parent])
            back = R.T
            spin, slide, carried = link.spin(qd[i]), link.slide(qd[i]), back @ w
            self.wd.append(back @ wd + link.spin(rates[i]) + cross(carried, spin))  # Khalil (7.53)
            drift = back @ (a + cross(wd, p) + cross(w, cross(w, p)))
            self.a.append(drift + link.slide(rates[i]) + 2 * cross(carried, slide))  # Khalil (7.54)

    def turning(self, link: int) -> tuple[Vec3, Vec3]:
        """(w, wd) of a link, in its own frame; of the base, for WORLD."""
        return self.base if link == WORLD else (self.w[link], self.wd[link])


def frame_motion(motion: Motion, R: Mat3, frame: Frame) -> tuple[Vec3, Vec3, Vec3, Vec3]:
    """(v, w, a, wd) of a frame's origin in world axes; R takes the carrying link's axes to the world's."""
    if frame.link == WORLD:
        return ZERO, ZERO, ZERO, ZERO
    w, wd, p = motion.w[frame.link], motion.wd[frame.link], frame.pose.p
    v = motion.v[frame.link] + cross(w, p)
    a = motion.a[frame.link] + cross(wd, p) + cross(w, cross(w, p))
    return R @ v, R @ w, R @ a, R @ wd


# For users ------------------------------------------------------------------------------------------------------


@quantity
def pose(robot: Robot, q: Scalars, frame: str = "tool") -> Pose:
    """Pose of a frame in the world.

    Args:    q: (..., n) joint position, rad or m. frame: name of a body or joint, or "tool".
    Returns: T_0f: (..., 4, 4) homogeneous matrix.
    """
    return frame_pose(link_poses(robot, q), robot.frame(frame))


@quantity
def jacobian(robot: Robot, q: Scalars, frame: str = "tool") -> tuple[tuple[Scalar, ...], ...]:
    """Geometric Jacobian of a frame: (v, w) = J qd.

    Args:    q: (..., n). frame: whose origin and rotation.
    Returns: J: (..., 6, n), linear rows first; world axes, at the frame's origin. Siciliano (7.16)-(7.19)
    """
    poses, where = link_poses(robot, q), robot.frame(frame)
    linear, angular = point_jacobian(robot, poses, where.link, frame_pose(poses, where).p)
    return rows_of(linear, angular)


@quantity
def body_jacobian(robot: Robot, q: Scalars, body: str) -> tuple[tuple[Scalar, ...], ...]:
    """Jacobian of a body: velocity of its centre of mass, and its angular velocity. Siciliano (7.14)-(7.19)

    Args:    q: (..., n). body: name of the body, whose inertia at its joint gives the centre of mass, rotors apart.
    Returns: J: (..., 6, n), linear rows first, world axes.
    """
    poses, where = link_poses(robot, q), robot.frame(body)
    joint = next(each for each in robot.tree if each.body.name == body)
    T = frame_pose(poses, where)
    linear, angular = point_jacobian(robot, poses, where.link, T.apply(joint.body.inertia.about_com().com))
    return rows_of(linear, angular)


def rows_of(linear: Sequence[Vec3], angular: Sequence[Vec3]) -> tuple[tuple[Scalar, ...], ...]:
    """The six rows of a Jacobian given by its columns."""
    columns = [(*v, *w) for v, w in zip(linear, angular, strict=True)]
    return tuple(zip(*columns, strict=True))


@quantity
def velocity(robot: Robot, q: Scalars, qd: Scalars, frame: str = "tool") -> tuple[Scalar, ...]:
    """(v, w) of a frame's origin: (..., 6), m/s and rad/s, world axes. Khalil (7.14)-(7.18)"""
    where = robot.frame(frame)
    v, w, _, _ = frame_motion(Motion(robot, q, qd), _world_rotation(robot, q, where), where)
    return (*v, *w)


@quantity
def acceleration(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, frame: str = "tool") -> tuple[Scalar, ...]:
    """(vd, wd) of a frame's origin: (..., 6), m/s^2 and rad/s^2, world axes, without gravity. Khalil (7.53)-(7.54)"""
    where = robot.frame(frame)
    _, _, a, wd = frame_motion(Motion(robot, q, qd, qdd), _world_rotation(robot, q, where), where)
    return (*a, *wd)


@quantity
def jacobian_dot_qd(robot: Robot, q: Scalars, qd: Scalars, frame: str = "tool") -> tuple[Scalar, ...]:
    """Jdot(q, qd) qd: (..., 6), the acceleration of the frame that velocities alone cause."""
    where = robot.frame(frame)
    _, _, a, wd = frame_motion(Motion(robot, q, qd, steady(robot, qd)), _world_rotation(robot, q, where), where)
    return (*a, *wd)


@quantity
def jacobian_dot(robot: Robot, q: Scalars, qd: Scalars, frame: str = "tool") -> list[list[Scalar]]:
    """Rate of the geometric Jacobian along a motion, dJ/dt: (..., 6, n). Siciliano (7.16)-(7.19), differentiated

    Args: q, qd: (..., n). frame: whose origin and rotation. The acceleration of the frame is J qdd + Jdot qd.
    """
    rate: list[list[Scalar]] = derivative(lambda x: jacobian.formula(robot, x, frame), q, qd)
    return rate


@quantity
def analytic_jacobian(
    robot: Robot, q: Scalars, frame: str = "tool", angles: Literal["zyz", "rpy"] = "zyz"
) -> tuple[tuple[Scalar, ...], ...]:
    """Jacobian with the rates of Euler angles in the angular rows: (v, phid) = J_A qd.

    angles: "zyz" (phi, theta, psi), R = Rz Ry Rz; "rpy" (roll, pitch, yaw), R = Rz(yaw) Ry(pitch) Rx(roll).
    Not defined where the angles are not: sin(theta) = 0 or cos(pitch) = 0.
    """
    poses, where = link_poses(robot, q), robot.frame(frame)
    tool = frame_pose(poses, where)
    linear, angular = point_jacobian(robot, poses, where.link, tool.p)
    to_rates = euler_rates(tool.R, angles)
    return rows_of(linear, [to_rates @ w for w in angular])


def euler_rates(R: Mat3, angles: str) -> Mat3:
    """The matrix that takes an angular velocity (world axes) to the rates of the Euler angles of R. Siciliano (3.64)

    The cosines and sines of the angles are read off R itself, so it works over any scalar with a square root.
    """
    if angles not in EULER:
        raise unknown_name("Euler angles", angles, EULER)
    (r00, _, r02), (r10, _, r12), (r20, _, r22) = R.rows
    if angles == "zyz":
        s = ops.sqrt(r02 * r02 + r12 * r12)
        c1, s1, c2 = r02 / s, r12 / s, r22
        cot = c2 / s
        return Mat3(((-c1 * cot, -s1 * cot, 1), (-s1, c1, 0), (c1 / s, s1 / s, 0)))
    c = ops.sqrt(r00 * r00 + r10 * r10)
    cy, sy, tan = r00 / c, r10 / c, -r20 / c
    return Mat3(((cy / c, sy / c, 0), (-sy, cy, 0), (cy * tan, sy * tan, 1)))


def _world_rotation(robot: Robot, q: Scalars, frame: Frame) -> Mat3:
    return Mat3.identity() if frame.link == WORLD else link_poses(robot, q)[frame.link].R
