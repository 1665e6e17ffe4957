"""What a change of one parameter does to a robot at a configuration."""

from __future__ import annotations

import numpy as np

from armdyn.browser.robot_queries import within
from armdyn.dynamics import compile as compiled
from armdyn.dynamics.holding import holding_torques
from armdyn.errors import unknown_name
from armdyn.kinematics.reach import reach
from armdyn.parameters import standard_parameters, with_standard_parameters
from armdyn.robot import Robot
from armdyn.robot.limits import joint_units
from armdyn.tables import Column, Section
from armdyn.typing import Array

INERTIAL = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
LINK = "inertia of link "


def parameter_names(robot: Robot) -> tuple[str, ...]:
    """The named parameters of the robot's description; without any, the inertia of each link as a whole."""
    named = tuple(name for name, value in robot.parameters.items() if float(value) != 0.0)
    return named or tuple(f"{LINK}{k + 1}" for k in range(len(robot.movable)))


def with_changed(robot: Robot, name: str, factor: float) -> Robot:
    """The robot with one parameter times a factor."""
    times = within(factor, "factor", 100.0, 0.01)
    if name not in parameter_names(robot):
        raise unknown_name("parameter", name, parameter_names(robot))
    if name in robot.parameters:
        return robot.with_parameters(**{name: times * float(robot.parameters[name])})
    number = name.removeprefix(LINK)
    known = standard_parameters(robot.opened).as_dict()
    values = {
        f"{kind}{number}": times * float(known[f"{kind}{number}"]) for kind in INERTIAL if f"{kind}{number}" in known
    }
    return with_standard_parameters(robot, values)


def compared(before: Robot, after: Robot, q: Array) -> Section:
    """Mass, reach, holding torques and the diagonal of the mass matrix at q, before and after."""
    rows = []
    for name, unit, old, new in _measured(before, after, q):
        change = "" if old == new else f"{(new - old) / old:+.1%}" if old else f"{new - old:+.3g}"
        rows.append((name, f"{old:.4g}", f"{new:.4g}", unit, change))
    columns = (Column("at this configuration"), Column("before"), Column("after"), Column(""), Column("change"))
    return Section("What changes", columns, tuple(rows))


def _measured(before: Robot, after: Robot, q: Array) -> list[tuple[str, str, float, float]]:
    both = [compiled(before), compiled(after)]
    torques = [holding_torques(dyn, q) for dyn in both]
    inertia = [np.diagonal(dyn.mass_matrix(q)) for dyn in both]
    found = [("moving mass", "kg", _mass(before), _mass(after)), ("reach", "m", reach(before), reach(after))]
    for k, (joint, units) in enumerate(zip(before.joints, joint_units(before), strict=True)):
        found.append((f"torque of {joint.name}", units.torque, float(torques[0][k]), float(torques[1][k])))
    for k, joint in enumerate(before.joints):
        unit = "kg m²" if joint.kind == "revolute" else "kg"
        found.append((f"M{k + 1}{k + 1}", unit, float(inertia[0][k]), float(inertia[1][k])))
    return found


def _mass(robot: Robot) -> float:
    return sum(float(joint.body.inertia.mass) for joint in robot.opened.tree)
