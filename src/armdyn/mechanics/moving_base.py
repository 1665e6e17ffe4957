"""Robots on a moving base: prescribed motion in the recursion, or virtual joints under the robot.

Source: notes after Khalil (7.61). The base's motion may enter Newton-Euler as it is, by velocities and accelerations of
its frame (Eulerian variables): the recursion starts from them instead of from rest, and ends with the wrench that the
base needs. Or r virtual joints stand for it, of which the first r - 1 carry nothing and the last carries the base: then
every formulation applies, and a base that nothing holds is one whose virtual joints have no torque.

A frame fixed in another (sigma = 2 in Khalil) is a joint of type "fixed": it has no variable and no torque, its body is
merged into the link that carries it.

Base velocity and acceleration: (linear, angular) of the base frame, of its origin, in world axes; the acceleration is
the true one, without gravity. `base` is the pose of the base at that moment, (4, 4), None for the robot's own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from armdyn.algebra import ZERO, CentralInertia, Inertia, Mat3, Pose, Scalar, Vec3, cross, ops, outer
from armdyn.algebra.ops import sub
from armdyn.errors import ShapeError, unknown_name
from armdyn.mechanics import composite_body, forward
from armdyn.mechanics.external import split
from armdyn.mechanics.friction import friction_torques
from armdyn.mechanics.kinematics import Motion, Wrench, frame_pose, link_poses
from armdyn.mechanics.newton_euler import Start, tip_wrench, transmitted
from armdyn.mechanics.quantity import quantity
from armdyn.mechanics.rotors import spin_torques
from armdyn.mechanics.springs import counterbalances, spring_torques
from armdyn.robot.links import WORLD
from armdyn.robot.parts import Body, FreeTransform, Joint, Kind, Placement
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars

# The base's motion as the recursion takes it ----------------------------------------------------------------------


class BaseMotion(NamedTuple):
    """Turned into the axes in which the robot stands at its own base pose. R: from these axes to the world's."""

    R: Mat3
    w: Vec3
    wd: Vec3
    a: Vec3
    """Acceleration of the base frame's origin, gravity taken away."""

    def at_origin(self, base: Vec3) -> Start:
        """The motion of the base body where the world's origin is."""
        back = -base
        return Start(self.w, self.wd, self.a + cross(self.wd, back) + cross(self.w, cross(self.w, back)))


def base_motion(robot: Robot, velocity: Scalars | None, acceleration: Scalars | None, base: Any) -> BaseMotion:
    own = robot.base.pose().R
    R = Mat3.identity() if base is None else rotation(base) @ own.T
    v, a = velocity or [0] * 6, acceleration or [0] * 6
    back = R.T
    return BaseMotion(R, back @ Vec3.of(v[3:]), back @ Vec3.of(a[3:]), back @ (Vec3.of(a[:3]) - robot.gravity))


def rotation(pose: Any) -> Mat3:
    """The rotation of a homogeneous matrix."""
    if isinstance(pose, Pose):
        return pose.R
    if len(pose) != 4 or any(len(row) != 4 for row in pose):
        raise ShapeError("base is not a pose", expected="a 4x4 homogeneous matrix")
    return Mat3([[ops.tidy(x) for x in row[:3]] for row in pose[:3]])


def _turned(wrench: Wrench, R: Mat3) -> Wrench:
    if wrench is None:
        return None
    if isinstance(wrench, dict):
        return {name: _turned(part, R) for name, part in wrench.items()}
    return (*(R @ Vec3.of(wrench[:3])), *(R @ Vec3.of(wrench[3:])))


# Newton-Euler with Eulerian variables of the base -----------------------------------------------------------------


@quantity
def inverse_dynamics(
    robot: Robot,
    q: Scalars,
    qd: Scalars,
    qdd: Scalars,
    base_velocity: Scalars | None = None,
    base_acceleration: Scalars | None = None,
    wrench: Wrench = None,
    base: Any = None,
) -> list[Scalar]:
    """Joint torques that produce a motion while the base moves: (..., n). Notes after Khalil (7.61)

    Args:    q, qd, qdd: (..., n). base_velocity, base_acceleration: (..., 6). wrench: (..., 6) at the tool, or
             {frame: (..., 6)}. base: (4, 4).
    """
    moving = base_motion(robot, base_velocity, base_acceleration, base)
    tip, elsewhere = split(robot, q, _turned(wrench, moving.R.T))
    bodies = transmitted(robot, q, qd, qdd, tip_wrench(robot, q, tip), moving.at_origin(robot.base.xyz)).torques
    spins = spin_torques(robot, q, Motion(robot, q, qd, qdd, (moving.w, moving.wd)), qd, qdd)
    springs = spring_torques(robot, q, moving.R.T @ robot.gravity)
    parts = (bodies, *spins, friction_torques(robot, qd), springs, elsewhere)
    return [ops.total(part) for part in zip(*parts, strict=True)]


@quantity
def forward_dynamics(
    robot: Robot,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    base_velocity: Scalars | None = None,
    base_acceleration: Scalars | None = None,
    wrench: Wrench = None,
    base: Any = None,
) -> list[Scalar]:
    """Joint accelerations that torques produce while the base moves as prescribed: (..., n)."""
    rest = [0] * robot.n
    H = inverse_dynamics.formula(robot, q, qd, rest, base_velocity, base_acceleration, wrench, base)
    M = composite_body.mass_matrix.formula(robot, q)
    return forward.accelerations(robot, M, [sub(torque, h) for torque, h in zip(tau, H, strict=True)])


@quantity
def base_wrench(
    robot: Robot,
    q: Scalars,
    qd: Scalars,
    qdd: Scalars,
    base_velocity: Scalars | None = None,
    base_acceleration: Scalars | None = None,
    wrench: Wrench = None,
    base: Any = None,
) -> list[Scalar]:
    """The wrench that must act on the base: (..., 6), force and moment, world axes, at the base frame's origin.

    The Euler equations of the base: it holds the base's own weight and inertia (body, what is fixed to it, rotors of
    the full model mounted on it) and everything that the robot passes on to it.
    """
    moving = base_motion(robot, base_velocity, base_acceleration, base)
    p_base = robot.base.xyz
    start = moving.at_origin(p_base)
    seen = _turned(wrench, moving.R.T)
    elsewhere = seen if isinstance(seen, dict) else {}
    tip = tip_wrench(robot, q, None if isinstance(seen, dict) else seen)
    passed = transmitted(robot, q, qd, qdd, tip, start)
    force, moment = base_body(robot).wrench(start.w, start.wd, start.a)
    for link in robot.links:
        if link.parent == WORLD:
            R, P = link.pose(q[link.index])
            f = R @ passed.f[link.index]
            force, moment = force + f, moment + R @ passed.m[link.index] + cross(P, f)
    for f, m in (*_elsewhere(robot, q, elsewhere), *_carried(robot, q, moving.R.T @ robot.gravity)):
        force, moment = force + f, moment + m
    moment = moment + _spins(robot, q, Motion(robot, q, qd, qdd, (moving.w, moving.wd)), qd, qdd)
    moment = moment - cross(p_base, force)
    return [*(moving.R @ force), *(moving.R @ moment)]


def _elsewhere(robot: Robot, q: Scalars, wrenches: dict[str, Scalars]) -> list[tuple[Vec3, Vec3]]:
    """Wrenches on named frames, about the world's origin."""
    poses = link_poses(robot, q)
    result = []
    for name, wrench in wrenches.items():
        force, p = Vec3.of(wrench[:3]), frame_pose(poses, robot.frame(name)).p
        result.append((force, Vec3.of(wrench[3:]) + cross(p, force)))
    return result


def _carried(robot: Robot, q: Scalars, gravity: Vec3) -> list[tuple[Vec3, Vec3]]:
    """The weights that counterbalances carry, about the world's origin."""
    carried = counterbalances(robot)
    poses = link_poses(robot, q) if carried else []
    forces = [(poses[link].apply(com), mass * gravity) for link, (com, mass) in carried.items()]
    return [(force, cross(p, force)) for p, force in forces]


def _spins(robot: Robot, q: Scalars, motion: Motion, qd: Scalars, qdd: Scalars) -> Vec3:
    """Moments that turn the spins of the full model, summed in world axes. Siciliano (7.105)"""
    moment, poses = ZERO, link_poses(robot, q)
    for spin in robot.spins:
        if spin.axis is None:
            continue
        w, _ = motion.turning(spin.carrier)
        R = Mat3.identity() if spin.carrier == WORLD else poses[spin.carrier].R
        for j, k in spin.rates:
            axis = (k * spin.inertia) * spin.axis
            moment = moment + R @ (qdd[j] * axis + qd[j] * cross(w, axis))
    return moment


def base_body(robot: Robot) -> Inertia:
    """The base with all that is fixed to it, in world axes at the world's origin."""
    body = robot.root.inertia.at_origin().seen_from(robot.base.pose())
    for joint in robot.tree:
        frame = robot.frame(joint.body.name)
        if frame.link == WORLD:
            body = body + joint.body.inertia.at_origin().seen_from(frame.pose)
        rotor = joint.rotor
        if rotor is None or rotor.model != "full":
            continue
        carrier = robot.frame(rotor.on or joint.parent)
        if carrier.link == WORLD:
            along = outer(rotor.axis, rotor.axis)
            tensor = rotor.inertia * along + rotor.transverse * (Mat3.identity() - along)
            own = CentralInertia(rotor.mass, rotor.position, tensor).at_origin()
            body = body + own.seen_from(carrier.pose)
    return body


# Virtual joints -----------------------------------------------------------------------------------------------------

X, Y, Z = Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)
VIRTUAL: dict[str, tuple[Kind, Vec3]] = {
    "x": ("prismatic", X),
    "y": ("prismatic", Y),
    "z": ("prismatic", Z),
    "yaw": ("revolute", Z),
    "pitch": ("revolute", Y),
    "roll": ("revolute", X),
}
"""The virtual joints, by name; in this order they give any pose of the base (but for pitch = +-pi/2)."""


def with_virtual_joints(robot: Robot, joints: tuple[str, ...] = tuple(VIRTUAL)) -> Robot:
    """The robot on r virtual joints instead of a fixed base; planar motion is ("x", "y", "yaw").

    The joints start from the robot's base pose, along its axes; they are called base_x and so on and come first. The
    base body with its inertia is fixed to the last one. Notes after Khalil (7.61)
    """
    for name in joints:
        if name not in VIRTUAL:
            raise unknown_name("virtual joint", name, VIRTUAL, where=f"robot {robot.name!r}")
    return robot.edited(lambda one: _on_virtual_joints(one, joints))


def _on_virtual_joints(robot: Robot, joints: tuple[str, ...]) -> Robot:
    virtual: list[Joint] = []
    parent = f"under_{robot.root.name}"
    for name in joints:
        kind, axis = VIRTUAL[name]
        body = robot.root if name == joints[-1] else Body(f"{robot.root.name}_{name}")
        virtual.append(Joint(f"base_{name}", kind, FreeTransform(Placement(), axis), parent, body))
        parent = body.name
    r, n = len(joints), robot.n
    coupling: tuple[tuple[Scalar, ...], ...] = ()
    if robot.coupling:
        own = [[int(i == j) for j in range(r + n)] for i in range(r)]
        coupling = (*map(tuple, own), *((0,) * r + row for row in robot.coupling))
    root = Body(f"under_{robot.root.name}")
    return replace(robot, tree=(*virtual, *robot.tree), root=root, coupling=coupling)


__all__ = ["VIRTUAL", "base_wrench", "forward_dynamics", "inverse_dynamics", "with_virtual_joints"]
