"""Our robots in Pinocchio, an engine that shares no code with us."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from armdyn.robot import Robot
from armdyn.robot.links import WORLD

pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")


def se3(pose: Any) -> Any:
    return pin.SE3(np.asarray(pose.R.array(), float), np.asarray(pose.p.array(), float))


def build(robot: Robot) -> Any:
    """The rigid bodies and joints of a robot (no rotors, no friction); joint order kept."""
    model = pin.Model()
    model.gravity.linear = np.asarray(robot.gravity.array(), float)
    ids: dict[int, int] = {WORLD: 0}
    frames: dict[int, Any] = {WORLD: pin.SE3.Identity()}  # of links, in the frames of Pinocchio's joints
    several = {"free": pin.JointModelFreeFlyer, "ball": pin.JointModelSpherical}
    spans = {span.joint: span for span in robot.compounds}
    for link in depth_first(robot):
        placement = frames[link.parent] * se3(link.placement) * se3_motion(link.kind, link.offset)
        joint = pin.JointModelRZ() if link.revolute else pin.JointModelPZ()
        frames[link.index] = pin.SE3.Identity()
        if link.index in spans:
            joint, frames[link.index] = several[spans[link.index].compound.kind](), se3(link.compound)
            placement = placement * se3(link.compound).inverse()
        if robot.joints[link.index].compound is not None and link.index not in spans:
            ids[link.index], frames[link.index] = ids[link.parent], placement
        else:
            ids[link.index] = model.addJoint(ids[link.parent], joint, placement, link.name)
        body = link.inertia.about_com()
        tensor = np.asarray(body.tensor.array(), float)
        inertia = pin.Inertia(float(body.mass), np.asarray(body.com.array(), float), tensor)
        model.appendBodyToJoint(ids[link.index], inertia, frames[link.index])
    frame = robot.frame("tool")
    if frame.link != WORLD:
        place = frames[frame.link] * se3(frame.pose)
        model.addFrame(pin.Frame("tool", ids[frame.link], 0, place, pin.FrameType.OP_FRAME))
    return model


def depth_first(robot: Robot) -> list[Any]:
    """Links, each subtree contiguous: Pinocchio's composite-body algorithm relies on it without saying so."""
    children: dict[int, list[Any]] = {}
    for link in robot.links:
        children.setdefault(link.parent, []).append(link)

    def walk(parent: int) -> list[Any]:
        return [found for link in children.get(parent, []) for found in (link, *walk(link.index))]

    return walk(WORLD)


def se3_motion(kind: str, value: float) -> Any:
    if kind == "revolute":
        c, s = np.cos(float(value)), np.sin(float(value))
        return pin.SE3(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), np.zeros(3))
    return pin.SE3(np.eye(3), np.array([0, 0, float(value)]))


def places(model: Any, robot: Robot) -> tuple[list[int], list[int]]:
    """Index into Pinocchio's q of each of our positions, with its quaternion order, and into v of our velocities."""
    positions: list[int] = []
    velocities: list[int] = []
    spans = {span.joint: span for span in robot.compounds}
    for j, part in enumerate(robot.joints):
        if part.compound is not None and j not in spans:
            continue
        joint = model.joints[model.getJointId(part.name)]
        own = list(range(joint.idx_q, joint.idx_q + joint.nq))
        positions += [*own[:-4], own[-1], *own[-4:-1]] if j in spans else own
        velocities += range(joint.idx_v, joint.idx_v + joint.nv)
    return positions, velocities


def order(model: Any, robot: Robot) -> list[int]:
    """Index into Pinocchio's joint vectors of each of our joints."""
    return [model.joints[model.getJointId(link.name)].idx_q for link in robot.links]


def inverse_dynamics(robot: Robot, q: Any, qd: Any, qdd: Any, wrench: Any = None) -> np.ndarray:
    model = build(robot)
    data, at = model.createData(), order(model, robot)
    vectors = [np.zeros(robot.n) for _ in range(3)]
    for vector, values in zip(vectors, (q, qd, qdd), strict=True):
        vector[at] = values
    tau = np.atleast_1d(pin.rnea(model, data, *vectors))[at]
    return tau if wrench is None else tau + jacobian(robot, q).T @ np.asarray(wrench)


def mass_matrix(robot: Robot, q: Any) -> np.ndarray:
    model = build(robot)
    data, at = model.createData(), order(model, robot)
    x = np.zeros(robot.n)
    x[at] = q
    M = pin.crba(model, data, x)
    M = np.reshape(M, (robot.n, robot.n))
    M = np.triu(M) + np.triu(M, 1).T
    return M[np.ix_(at, at)]


def tool_pose(robot: Robot, q: Any) -> np.ndarray:
    model = build(robot)
    data, at = model.createData(), order(model, robot)
    x = np.zeros(robot.n)
    x[at] = q
    pin.framesForwardKinematics(model, data, x)
    return data.oMf[model.getFrameId("tool")].homogeneous


def jacobian(robot: Robot, q: Any) -> np.ndarray:
    model = build(robot)
    data, at = model.createData(), order(model, robot)
    x = np.zeros(robot.n)
    x[at] = q
    J = pin.computeFrameJacobian(model, data, x, model.getFrameId("tool"), pin.LOCAL_WORLD_ALIGNED)
    return J.reshape(6, -1)[:, at]
