"""A model and how its arrays are read: what a hypothesis changes, and the torques that follow."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from armdyn.algebra import Z_AXIS, Vec3
from armdyn.mechanics import closed_chain, newton_euler
from armdyn.robot.edit import numeric_placement
from armdyn.robot.engines import forces_to_mujoco, from_mujoco
from armdyn.robot.limits import working_range
from armdyn.robot.parts import Body, FreeTransform, Joint, Placement, StandardDH
from armdyn.robot.robot import Robot
from armdyn.typing import Floats

LARGEST_VELOCITY, LARGEST_ACCELERATION = 2.0, 6.0
"""rad/s and rad/s^2 (m/s, m/s^2) of the random states: large enough for Coriolis torques beside gravity."""
AXIS = " (axis)"
"""Ending of the name of the body that stands at the joint axis where a DH row is split in two."""


@dataclass(frozen=True, eq=False)
class States:
    """States in the arrays that both models are given: q (count, nq), qd and qdd (count, n)."""

    q: Floats
    qd: Floats
    qdd: Floats

    def __len__(self) -> int:
        return len(self.q)


def random_states(robot: Robot, count: int, seed: int = 0) -> States:
    """States over the working range: positions uniform, velocities and accelerations of both signs."""
    rng = np.random.default_rng(seed)
    qd = rng.uniform(-LARGEST_VELOCITY, LARGEST_VELOCITY, (count, robot.n))
    qdd = rng.uniform(-LARGEST_ACCELERATION, LARGEST_ACCELERATION, (count, robot.n))
    if robot.compounds:
        q = robot.integrate(np.broadcast_to(robot.neutral, (count, robot.nq)), rng.uniform(-1, 1, (count, robot.n)))
        return States(q, qd, qdd)
    low, high = working_range(robot, one_turn=True)
    if robot.loops:  # near the assembly, where the loops close
        middle = np.array([float(joint.home) for joint in robot.joints])
        low, high = middle - 0.1 * (high - low), middle + 0.1 * (high - low)
    return States(rng.uniform(low, high, (count, robot.n)), qd, qdd)


@dataclass(frozen=True)
class Arrays:
    """How arrays are read and which torques are given.

    order: place i of the arrays is joint order[i] of the robot (empty: the same order).
    sign, zero: the robot's position is sign * q + zero, per joint of the robot (empty: as it is).
    scale: factor of positions, velocities and accelerations: pi/180 where the arrays are in degrees.
    triangle: "upper" or "lower": torques by a mass matrix of which only that half is filled.
    left_out: "gravity", "coriolis": torques that are not among those given.
    quaternion: True where a quaternion is given w last.
    world_velocity: True where the linear velocity of a free joint is given in world axes, as MuJoCo does.
    """

    order: tuple[int, ...] = ()
    sign: tuple[int, ...] = ()
    zero: tuple[float, ...] = ()
    scale: float = 1.0
    triangle: str = ""
    left_out: tuple[str, ...] = ()
    quaternion: bool = False
    world_velocity: bool = False


@dataclass(frozen=True, eq=False)
class Variant:
    """A robot under hypotheses: the robot and the reading of its arrays."""

    robot: Robot
    arrays: Arrays = Arrays()

    def reads(self, **changes: object) -> Variant:
        return replace(self, arrays=replace(self.arrays, **changes))  # type: ignore[arg-type]

    def sign(self) -> Floats:
        return np.array(self.arrays.sign or [1] * self.robot.n, dtype=float)

    def zero(self) -> Floats:
        return np.array(self.arrays.zero or [0] * self.robot.n, dtype=float)

    def torques(self, states: States) -> Floats:
        """Torques (count, n) in the order of the arrays."""
        arrays, robot = self.arrays, self.robot
        q, qd, qdd = states.q, states.qd * arrays.scale, states.qdd * arrays.scale
        if robot.compounds:
            return self._free_torques(States(q, qd, qdd))
        q = q * arrays.scale
        places = np.argsort(arrays.order) if arrays.order else np.arange(robot.n)
        sign = self.sign()
        own = States(q[:, places] * sign + self.zero(), qd[:, places] * sign, qdd[:, places] * sign)
        tau = self._read(own) * sign
        return tau[:, list(arrays.order)] if arrays.order else tau

    def _free_torques(self, states: States) -> Floats:
        q, qd, qdd = states.q.copy(), states.qd, states.qdd
        if self.arrays.quaternion:
            for span in self.robot.compounds:
                last = span.positions.stop
                q[:, last - 4 : last] = q[:, [last - 1, last - 4, last - 3, last - 2]]
        if self.arrays.world_velocity:
            q, qd, qdd = from_mujoco(self.robot, q, qd, qdd)
            return forces_to_mujoco(self.robot, q, self._read(States(q, qd, qdd)))
        return self._read(States(q, qd, qdd))

    def _read(self, own: States) -> Floats:
        arrays, robot = self.arrays, self.robot
        tau = robot_torques(robot, own)
        rest = np.zeros_like(own.qd)
        if arrays.triangle:
            half = np.triu if arrays.triangle == "upper" else np.tril
            M = mass_matrices(robot, own)
            tau = tau - np.einsum("kij,kj->ki", M - half(M), own.qdd)
        if "gravity" in arrays.left_out:
            tau = tau - robot_torques(robot, States(own.q, rest, rest))
        if "coriolis" in arrays.left_out:
            bare = robot.without("friction")
            tau = (
                tau - robot_torques(bare, States(own.q, own.qd, rest)) + robot_torques(bare, States(own.q, rest, rest))
            )
        return tau


def robot_torques(robot: Robot, states: States) -> Floats:
    """Inverse dynamics of a robot, (count, n), by recursion over arrays; closed chains state by state."""
    if not robot.constrained:
        return newton_euler.inverse_dynamics(robot, states.q, states.qd, states.qdd)
    if not robot.loops:  # mimic joints: all positions are q0 + G q
        zero = np.asarray(closed_chain.all_positions(robot, np.zeros(robot.n)), float)
        G: Floats = np.asarray(closed_chain.projection(robot, zero), float)
        motion = zero + states.q @ G.T, states.qd @ G.T, states.qdd @ G.T
        tau: Floats = newton_euler.inverse_dynamics(robot.opened, *motion) @ G
        return tau
    rows = zip(states.q, states.qd, states.qdd, strict=True)
    return np.array(
        [closed_chain.inverse_dynamics(robot, closed_chain.all_positions(robot, q), qd, qdd) for q, qd, qdd in rows]
    )


def mass_matrices(robot: Robot, states: States) -> Floats:
    """(count, n, n)"""
    rest = np.zeros_like(states.qd)
    still = robot_torques(robot, States(states.q, rest, rest))
    columns = [
        robot_torques(robot, States(states.q, rest, np.broadcast_to(unit, rest.shape))) - still
        for unit in np.eye(robot.n)
    ]
    return np.stack(columns, axis=-1)


# Every joint placed by xyz and rpy -----------------------------------------------------------------------------------


def uniform(robot: Robot) -> Robot:
    """The same robot in numbers, with every joint placed as URDF does; its bodies keep their frames and names.

    A row of standard DH becomes a joint at its axis and a fixed frame: what follows the axis (a, alpha) is a placement
    of its own.
    """
    robot = replace(robot.bound(), expressions=None, parameters={})
    tree = tuple(part for joint in robot.tree for part in _placed(joint))
    return replace(robot, tree=tree, tool_on=robot.tool_body)


def _placed(joint: Joint) -> tuple[Joint, ...]:
    geometry, kind = joint.geometry, joint.kind
    if isinstance(geometry, FreeTransform):
        return (joint,)
    if kind == "fixed":
        return (replace(joint, geometry=FreeTransform(numeric_placement(joint.pose()))),)
    first = FreeTransform(_before(geometry, kind), Z_AXIS, geometry.offset(kind))
    if not isinstance(geometry, StandardDH):
        return (replace(joint, geometry=first),)
    after = FreeTransform(Placement(Vec3(geometry.a, 0, 0), Vec3(geometry.alpha, 0, 0)))
    axis = Body(joint.body.name + AXIS)
    end = Joint(joint.name + AXIS, "fixed", after, axis.name, joint.body)
    return replace(joint, geometry=first, body=axis), end


def _before(geometry: object, kind: object) -> Placement:
    pose = geometry.before(kind)  # type: ignore[attr-defined]
    if isinstance(geometry, StandardDH):
        return Placement(pose.p, Vec3(0, 0, 0 if kind == "revolute" else geometry.theta))
    if kind == "revolute":  # Rz(gamma) Rx(alpha) is roll alpha, yaw gamma
        return Placement(pose.p, Vec3(geometry.alpha, 0, geometry.gamma))  # type: ignore[attr-defined]
    return numeric_placement(pose)
