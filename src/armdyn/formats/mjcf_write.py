"""Robot -> MJCF text.

Bodies nest as they are mounted. A hinge of MJCF turns its body about any line in the body's own frame, so every body
keeps its frame, also where that lies off the joint axis (standard DH with a != 0).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from armdyn.algebra import ZERO, CentralInertia, Inertia, Mat3, Pose
from armdyn.errors import ModelWarning, NotApplicable
from armdyn.files import write_text
from armdyn.formats.mjcf_read import ROOT, TOOL
from armdyn.formats.mjcf_values import place
from armdyn.formats.urdf_write import depth_first, needs_tool_link, texts, written
from armdyn.robot.compounds import collapsed
from armdyn.robot.parts import FreeTransform, Friction, Joint, Placement
from armdyn.robot.robot import Robot

_TYPES = {"revolute": "hinge", "prismatic": "slide"}


def write(robot: Robot, path: Path) -> None:
    """Write the robot to an MJCF file."""
    write_text(path, dumps(robot))


def dumps(robot: Robot) -> str:
    """The robot as MJCF; `loads` gives back the same frames, masses, ranges, torque limits, friction and gravity.

    What MJCF cannot express is left out and named in a ModelWarning.
    """
    robot = robot.bound()
    lost = list(_lost(robot))
    if lost:
        message = f"robot {robot.name!r}: MJCF cannot express, so the file does not contain: {'; '.join(lost)}."
        warnings.warn(message, ModelWarning, stacklevel=2)
    root = Element("mujoco", model=robot.name)
    SubElement(root, "compiler", angle="radian")
    SubElement(root, "option", gravity=texts(robot.gravity))
    world = SubElement(root, "worldbody")
    stand = world
    if robot.root.name != ROOT or robot.base != Placement() or _has_mass(robot.root.inertia):
        stand = _body(world, robot.root.name, robot.base.pose(), robot.root.inertia)
    bodies = {robot.root.name: stand}
    for joint in collapsed(depth_first(robot)):
        carrier = bodies[joint.parent]
        if joint.compound is not None and joint.compound.kind == "free":
            carrier = _above_free(robot, joint, world)
        body = _body(carrier, joint.body.name, _rest(joint), joint.body.inertia)
        bodies[joint.body.name] = body
        if joint.body.gravity_compensation != 0:
            body.set("gravcomp", written(joint.body.gravity_compensation))
        if joint.compound is not None:
            SubElement(body, "joint", {"name": joint.name, "type": joint.compound.kind, **_rubbing(joint.friction)})
        elif joint.kind != "fixed":
            _joint(body, joint)
    if needs_tool_link(robot):
        SubElement(bodies[robot.tool_body], "site", {"name": TOOL, **place(robot.tool.pose())})
    indent(root, "  ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _rest(joint: Joint) -> Pose:
    """T_parent_body in the configuration of the file."""
    if joint.compound is None or not isinstance(joint.geometry, FreeTransform):
        return joint.pose()
    return joint.geometry.placement.pose()


def _above_free(robot: Robot, joint: Joint, world: Element) -> Element:
    """Where the body of a free joint stands: in the world, and its position is that in the world."""
    if joint.parent != robot.root.name or _rest(joint) != Pose.identity() or robot.base != Placement():
        raise NotApplicable("a free joint of MJCF stands at the world's origin", where=f"joint {joint.name!r}",
                            expected="a free joint on the base, both without a placement, or a .toml file")  # fmt: skip
    return world


def _body(parent: Element, name: str, pose: Pose, inertia: CentralInertia | Inertia) -> Element:
    body = SubElement(parent, "body", {"name": name, **place(pose)})
    if _has_mass(inertia):
        central = inertia.about_com()
        xx, xy, xz, yy, yz, zz = central.tensor.upper()
        tensor = " ".join(map(written, (xx, yy, zz, xy, xz, yz)))
        SubElement(body, "inertial", pos=texts(central.com), mass=written(central.mass), fullinertia=tensor)
    return body


def _has_mass(inertia: CentralInertia | Inertia) -> bool:
    return inertia.about_com() != CentralInertia(0, ZERO, Mat3.zero())


def _joint(body: Element, joint: Joint) -> None:
    after = joint.geometry.after().inverse()
    values = {"name": joint.name, "type": _TYPES[joint.kind], "axis": texts(after.R.column(2))}
    if joint.kind == "revolute" and after.p != ZERO:
        values["pos"] = texts(after.p)
    limits, friction = joint.limits, joint.friction
    if limits is not None and limits.lower is not None and limits.upper is not None:
        values["range"] = f"{written(limits.lower)} {written(limits.upper)}"
    if limits is not None and limits.torque is not None:
        values["actuatorfrcrange"] = f"{written(-limits.torque)} {written(limits.torque)}"
    values |= _rubbing(friction)
    if joint.rotor is not None:
        values["armature"] = written(joint.rotor.ratio * joint.rotor.ratio * joint.rotor.inertia)  # Khalil (7.29)
    if joint.spring is not None:
        values |= {"stiffness": written(joint.spring.stiffness), "springref": written(joint.spring.rest)}
    SubElement(body, "joint", values)


def _rubbing(friction: Friction | None) -> dict[str, str]:
    if friction is None:
        return {}
    return {"damping": written(friction.viscous), "frictionloss": written(friction.coulomb)}


def _lost(robot: Robot) -> Iterator[str]:
    tests: dict[str, Callable[[Joint], bool]] = {
        "rotors as bodies": lambda j: j.rotor is not None and j.rotor.model == "full",
        "static friction": lambda j: j.friction is not None and (j.friction.static != 0 or j.friction.stribeck != 0),
        "torque offsets": lambda j: j.friction is not None and j.friction.offset != 0,
        "friction laws": lambda j: j.friction is not None and j.friction.law not in (None, "viscous", "coulomb"),
        "motors": lambda j: j.motor is not None,
        "elastic joints": lambda j: j.elastic is not None,
        "mimic joints": lambda j: j.mimic is not None,
        "limits of velocity and acceleration": lambda j: (
            j.limits is not None and (j.limits.velocity is not None or j.limits.acceleration is not None)
        ),
    }
    for what, test in tests.items():
        found = [joint.name for joint in robot.movable if test(joint)]
        if found:
            yield f"{what} ({', '.join(found)})"
    if robot.loops:
        yield f"loops ({', '.join(loop.name for loop in robot.loops)})"
    if robot.coupling:
        yield "the coupling of motors and joints"
    moving = [joint.name for joint in depth_first(robot) if joint.kind != "fixed"]
    if moving != [joint.name for joint in robot.movable]:
        yield f"the order of the joints, which on reading will be {', '.join(moving)}"
