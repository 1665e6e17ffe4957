"""Regressor and parameters in the frames of the bodies, as Siciliano (7.73)-(7.81) has them.

Siciliano refers the inertia of link i to frame i of the standard DH convention, at the end of the link, and takes the
moment of inertia I_m of the motor's rotor where the library has Ia = k^2 I_m. Both sets are linear in each other:

    pi = B pi_end,     Y_end = Y B                                                                               [LE-1]

where the columns of B are the unit inertias of a body's frame seen from its joint's frame (Siciliano (7.60)).
"""

from __future__ import annotations

import numpy as np

from armdyn.algebra import Scalar, ops
from armdyn.algebra.ops import mul
from armdyn.errors import NotApplicable
from armdyn.mechanics.quantity import quantity
from armdyn.parameters.regressor import UNITS, regressor
from armdyn.parameters.standard import INERTIAL, motor_ratio, slots, standard_parameters
from armdyn.robot import Robot
from armdyn.robot.features import TREE, declare
from armdyn.typing import Array, Scalars

SPRINGS = ("springs", "gravity_compensation")
"""Features whose torques no inertial parameter has."""
TAKES = tuple(name for name in TREE if name not in SPRINGS)
declare("parameters.link_end", TAKES)

INCLUDED = ("inertial", "rotor")
OF_A_LINK = (*INERTIAL, "Im")


def link_end_names(robot: Robot) -> list[str]:
    """Names of the parameters in body frames, XX1_end ... M1_end, Im1, ..., Imn: the columns of Y_end."""
    return [f"{kind}{j + 1}" + ("" if kind == "Im" else "_end") for j in range(robot.n) for kind in OF_A_LINK]


@quantity
def link_end_regressor(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars) -> list[list[Scalar]]:
    """Y_end (..., n, 11 n), the regressor in the frames of the bodies and with the rotors' own inertia. [LE-1]

    Y_end @ link_end_parameters(robot) are the torques without friction; Siciliano (7.81).

    Args: q, qd, qdd: (..., n) rad or m and derivatives.
    """
    B = _change(robot)
    return [
        [ops.total(mul(row[k], x) for k, x in column) for column in B]
        for row in regressor.formula(robot, q, qd, qdd, INCLUDED)
    ]


def link_end_parameters(robot: Robot) -> Array:
    """Return (11 n,) XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M about each body's frame, and I_m, kg, kg m, kg m^2."""
    numeric = robot.bound()
    values = np.array(list(standard_parameters(numeric, INCLUDED).as_dict().values()), dtype=float)
    B = np.zeros((len(values), len(values)))
    for place, column in enumerate(_change(numeric)):
        for k, x in column:
            B[k, place] = float(x)
    return np.asarray(np.linalg.solve(B, values))


def _change(robot: Robot) -> list[list[tuple[int, Scalar]]]:
    """B by columns, (row, entry): standard parameters of unit parameters in body frames, the zeros left out."""
    if robot.constrained or robot.compounds:
        raise NotApplicable(
            "parameters in body frames are for trees of revolute and prismatic joints",
            where=f"robot {robot.name!r}",
            advice="Use armdyn.parameters.regressor",
        )
    rows = {slot: k for k, slot in enumerate(slots(robot, INCLUDED))}
    columns: list[list[tuple[int, Scalar]]] = []
    for j, joint in enumerate(robot.joints):
        pose = robot.frame(joint.body.name).pose
        for unit in UNITS:
            seen = zip(INERTIAL, unit.seen_from(pose).parameters(), strict=True)
            columns.append([(rows[kind, j], x) for kind, x in seen if not ops.is_zero(x)])
        k = motor_ratio(robot, j)
        columns.append([(rows["Ia", j], mul(k, k))])  # Ia = k^2 I_m
    return columns
