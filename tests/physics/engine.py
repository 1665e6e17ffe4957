"""Robots in Pinocchio with their rotors as real bodies on geared joints of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.algebra import align_z
from armdyn.robot import Robot
from armdyn.robot.links import WORLD
from support.pinocchio_model import build, pin, se3


def with_rotor_bodies(robot: Robot) -> tuple[Any, np.ndarray, np.ndarray]:
    """(model, A, B): positions of the engine are A q + B theta, theta the motors seen at their joints.

    For stiff transmissions theta = q. A rotor of the reflected model is armature of a joint that carries nothing else.
    """
    model = build(robot.without("rotors"))
    places, spinning = {}, {}
    for link in robot.links:
        places[link.index] = model.getJointId(link.name)
    for i, joint in enumerate(robot.joints):
        rotor = joint.rotor
        if rotor is None:
            continue
        frame = robot.frame(rotor.on or joint.parent)
        carrier = 0 if frame.link == WORLD or rotor.model == "reflected" else places[frame.link]
        axis = np.asarray(align_z(rotor.axis).array(), float)
        place = se3(frame.pose) * pin.SE3(axis, np.asarray(rotor.position.array(), float))
        number = model.addJoint(carrier, pin.JointModelRZ(), place, f"rotor of {joint.name}")
        full = rotor.model == "full"
        across = float(rotor.transverse) if full else 0.0
        inertia = pin.Inertia(float(rotor.mass) * full, np.zeros(3), np.diag([across, across, float(rotor.inertia)]))
        model.appendBodyToJoint(number, inertia, pin.SE3.Identity())
        spinning[i] = number
    ratios = np.linalg.inv(np.array(robot.coupling, float)) if robot.coupling else None
    A, B = np.zeros((2, model.nv, robot.n))
    for i, joint in enumerate(robot.joints):
        A[model.joints[places[i]].idx_v, i] = 1
        if i in spinning:
            row = ratios[i] if ratios is not None else np.eye(robot.n)[i] * float(joint.rotor.ratio)
            B[model.joints[spinning[i]].idx_v] = row
    return model, A, B


def torques(robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Inverse dynamics with rotors, friction left out: the engine's torques, projected."""
    model, A, B = with_rotor_bodies(robot)
    S = A + B
    return S.T @ pin.rnea(model, model.createData(), S @ q, S @ qd, S @ qdd)


def mass_matrix(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Column by column: the engine's composite-body algorithm wants subtrees side by side."""
    rest = np.zeros(robot.n)
    weightless = robot.without("gravity")
    return np.transpose([torques(weightless, q, rest, unit) for unit in np.eye(robot.n)])
