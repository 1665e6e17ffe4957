"""A payload whose mass, centre of mass and inertia are parameters of the exported code."""

from __future__ import annotations

from dataclasses import replace

from armdyn.algebra import CentralInertia, Mat3, Vec3
from armdyn.graph import symbol
from armdyn.graph.program import fresh
from armdyn.robot import Robot
from armdyn.robot.edit import add_payload

PAYLOAD_NAME = "payload"
"""The word among what is tunable that makes the payload of the model a parameter."""
PAYLOAD = {
    "mass": ("payload.mass", "kg", "mass of the payload at the tool"),
    "x": ("payload.com[1]", "m", "its centre of mass in the tool frame, x"),
    "y": ("payload.com[2]", "m", "its centre of mass in the tool frame, y"),
    "z": ("payload.com[3]", "m", "its centre of mass in the tool frame, z"),
    **{
        axes: (f"payload.inertia.{axes}", "kg.m2", f"its inertia about its centre of mass, {axes}, axes of the tool")
        for axes in ("xx", "xy", "xz", "yy", "yz", "zz")
    },
}
"""The parameters of a payload: name, unit, meaning."""


def with_payload_parameters(robot: Robot, *, parameters: bool = False) -> Robot:
    """The robot with a payload at its tool in named parameters, of mass zero.

    parameters: keep the named parameters of its file beside them (default: False).
    """
    view = robot.symbolic if parameters else replace(robot, expressions=None, parameters={})
    known = set(view.parameters)
    names = [fresh(f"payload_{part}", known) for part in PAYLOAD]
    mass, x, y, z, *inertia = map(symbol, names)
    load = CentralInertia(mass, Vec3(x, y, z), Mat3.symmetric(*inertia))
    carrying = add_payload(view, load, None)
    return replace(carrying, parameters={**view.parameters, **dict.fromkeys(names, 0.0)}).bound()
