"""Regressor and parameters in the frames of the bodies, as Siciliano (7.73)-(7.81) has them.

Siciliano refers the inertia of link i to frame i of the standard DH convention, at the end of the link, and takes the
moment of inertia I_m of the motor's rotor where the library has Ia = k^2 I_m. Both sets are linear in each other:

    pi = B pi_end,     Y_end = Y B                                                                               [LE-1]

where the columns of B are the unit inertias of a body's frame seen from its joint's frame (Siciliano (7.60)).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.errors import NotApplicable
from armdyn.parameters.regressor import UNITS, regressor
from armdyn.parameters.standard import INERTIAL, motor_ratio, slots, standard_parameters
from armdyn.robot import Robot
from armdyn.typing import Array

INCLUDED = ("inertial", "rotor")
OF_A_LINK = (*INERTIAL, "Im")


def link_end_names(robot: Robot) -> list[str]:
    """Names of the parameters in body frames, XX1_end ... M1_end, Im1, ..., Imn: the columns of Y_end."""
    return [f"{kind}{j + 1}" + ("" if kind == "Im" else "_end") for j in range(robot.n) for kind in OF_A_LINK]


def link_end_regressor(robot: Robot, q: Any, qd: Any, qdd: Any) -> Array:
    """Return Y_end (..., n, 11 n), the regressor in the frames of the bodies and with the rotors' own inertia. [LE-1]

    Y_end @ link_end_parameters(robot) are the torques without friction; Siciliano (7.81).

    robot:      a tree in numbers.
    q, qd, qdd: (..., n) rad or m and derivatives.
    """
    return np.asarray(regressor(robot.bound(), q, qd, qdd, include=INCLUDED), dtype=float) @ _change(robot.bound())


def link_end_parameters(robot: Robot) -> Array:
    """Return (11 n,) XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M about each body's frame, and I_m, kg, kg m, kg m^2."""
    numeric = robot.bound()
    values = np.array(list(standard_parameters(numeric, INCLUDED).as_dict().values()), dtype=float)
    return np.asarray(np.linalg.solve(_change(numeric), values))


def _change(robot: Robot) -> Array:
    """B: (11 n, 11 n) standard parameters of unit parameters in body frames."""
    if robot.constrained or robot.compounds:
        raise NotApplicable(
            "parameters in body frames are for trees of revolute and prismatic joints",
            where=f"robot {robot.name!r}",
            advice="Use armdyn.parameters.regressor",
        )
    rows = {slot: k for k, slot in enumerate(slots(robot, INCLUDED))}
    B, width = np.zeros((len(rows), len(rows))), len(OF_A_LINK)
    for j, joint in enumerate(robot.joints):
        pose = robot.frame(joint.body.name).pose
        for k, unit in enumerate(UNITS):
            for kind, value in zip(INERTIAL, unit.seen_from(pose).parameters(), strict=True):
                B[rows[kind, j], width * j + k] = float(value)
        B[rows["Ia", j], width * j + len(UNITS)] = float(motor_ratio(robot, j)) ** 2  # Ia = k^2 I_m
    return B
