"""Mass matrix, gravity torques and frames by the definitions, in plain NumPy, from the joints and bodies of a robot.

Slow and short, and independent of `armdyn.robot.links` and `armdyn.mechanics`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armdyn.robot import Robot


class Placed(NamedTuple):
    """A body in the world: its pose, and the joints that move it as (index, revolute, axis, point on the axis)."""

    T: np.ndarray
    columns: tuple[tuple[int, bool, np.ndarray, np.ndarray], ...]


def placed(robot: Robot, q: Any) -> dict[str, Placed]:
    """Every body by name."""
    bodies = {robot.root.name: Placed(robot.base.pose().array().astype(float), ())}
    index = 0
    for joint in robot.tree:
        parent = bodies[joint.parent]
        columns = parent.columns
        if joint.kind != "fixed":
            before = parent.T @ joint.geometry.before(joint.kind).array().astype(float)
            columns = (*columns, (index, joint.kind == "revolute", before[:3, 2], before[:3, 3]))
        value = 0 if joint.kind == "fixed" else float(q[index])
        index += joint.kind != "fixed"
        bodies[joint.body.name] = Placed(parent.T @ joint.pose(value).array().astype(float), columns)
    return bodies


def jacobians(robot: Robot, body: Placed, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of a point given in the body's frame: linear and angular, world axes."""
    Jv, Jw = np.zeros((3, robot.n)), np.zeros((3, robot.n))
    p = (body.T @ [*point, 1.0])[:3]
    for i, revolute, axis, origin in body.columns:
        Jv[:, i] = np.cross(axis, p - origin) if revolute else axis
        Jw[:, i] = axis if revolute else 0
    return Jv, Jw


def mass_matrix(robot: Robot, q: Any) -> np.ndarray:
    """Bodies and rotors, Siciliano (7.32)."""
    M = np.zeros((robot.n, robot.n))
    bodies = placed(robot, q)
    for joint in robot.tree:
        body, central = bodies[joint.body.name], joint.body.inertia.about_com()
        Jv, Jw = jacobians(robot, body, np.array([float(x) for x in central.com]))
        world = body.T[:3, :3] @ central.tensor.array().astype(float) @ body.T[:3, :3].T
        M += float(central.mass) * Jv.T @ Jv + Jw.T @ world @ Jw
    for i, joint in enumerate(robot.joints):
        rotor = joint.rotor
        if rotor is not None and rotor.model == "reflected":
            M[i, i] += rotor.ratio**2 * rotor.inertia
        elif rotor is not None:
            carrier = bodies[rotor.on or joint.parent]
            Jv, Jw = jacobians(robot, carrier, np.array([float(x) for x in rotor.position]))
            spin = carrier.T[:3, :3] @ [float(x) for x in rotor.axis] @ Jw
            spin[i] += rotor.ratio
            M += rotor.mass * Jv.T @ Jv + rotor.inertia * np.outer(spin, spin)
    return M


def gravity(robot: Robot, q: Any) -> np.ndarray:
    """Torques that hold the bodies and the rotors of the full model."""
    g = np.array([float(x) for x in robot.gravity])
    tau, bodies = np.zeros(robot.n), placed(robot, q)
    for joint in robot.tree:
        central = joint.body.inertia.about_com()
        Jv, _ = jacobians(robot, bodies[joint.body.name], np.array([float(x) for x in central.com]))
        tau -= float(central.mass) * Jv.T @ g
        if joint.rotor is not None and joint.rotor.model == "full":
            at = np.array([float(x) for x in joint.rotor.position])
            Jv, _ = jacobians(robot, bodies[joint.rotor.on or joint.parent], at)
            tau -= float(joint.rotor.mass) * Jv.T @ g
    return tau


def centre(robot: Robot, q: Any, body: str) -> np.ndarray:
    """Centre of mass in the world."""
    com = next(joint.body.inertia.about_com().com for joint in robot.tree if joint.body.name == body)
    return (placed(robot, q)[body].T @ [*(float(x) for x in com), 1.0])[:3]


def tool(robot: Robot, q: Any) -> np.ndarray:
    carrier = placed(robot, q)[robot.tool_on or robot.tree[-1].body.name]
    return carrier.T @ robot.tool.pose().array().astype(float)
