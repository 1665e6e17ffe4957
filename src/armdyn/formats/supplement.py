"""What URDF and MJCF have no place for, in a comment at the end of the file that `load` reads back.

Offsets, friction laws with their values, rotors (URDF), friction of motors, coupling and gravity (URDF) are written as
TOML into an XML comment. Other programs read the file without them; viscous and Coulomb friction, bodies and limits
stay where the format has them, once.

    <!-- armdyn: read by armdyn only; other programs see the robot without it.
    [[joint]]
    name = "elbow"
    friction = {law = "rounded", width = 0.02, offset = 0.31}
    -->
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from armdyn.algebra import Vec3
from armdyn.conventions import GRAVITY
from armdyn.formats.toml import toml_tables, toml_value
from armdyn.robot.parts import Friction, Joint
from armdyn.robot.record import supplemented
from armdyn.robot.record_writer import record_from_robot
from armdyn.robot.robot import Robot

LACKING = {"urdf": ("friction", "rotor", "motor", "coupling", "gravity"), "mjcf": ("friction", "motor", "coupling")}
"""What a format lacks, by the keys of a robot's record; viscous and Coulomb friction it has."""
DRY = ("viscous", "coulomb")
FIRST_LINE = "armdyn: read by armdyn only; other programs see the robot without it."
COMMENT = re.compile(r"\n?[ \t]*<!-- " + re.escape(FIRST_LINE) + r"\n(.*?)-->", re.DOTALL)


def split(robot: Robot, name: str) -> tuple[Robot, str]:
    """(the robot that a format can hold, what it lacks as text of a comment); name: "urdf" or "mjcf"."""
    robot = robot.bound()
    record, lacking = record_from_robot(robot), LACKING[name]
    if robot.coupling:  # the inertia of a rotor is counted at its motor, an armature at its joint
        lacking = (*lacking, "rotor")
    lines = [
        f"{key} = {toml_value(record[key])}" for key in ("gravity", "coupling") if key in lacking and key in record
    ]
    for row in record["joint"]:
        parts: dict[str, Any] = {key: row[key] for key in ("rotor", "motor") if key in lacking and key in row}
        law = {key: value for key, value in row.get("friction", {}).items() if key not in DRY and value != 0}
        parts |= {"friction": law} if law else {}
        if parts:
            entries = {"name": row["name"], **parts}
            lines += ["", "[[joint]]", *(f"{key} = {toml_value(value)}" for key, value in entries.items())]
    held = replace(robot, tree=tuple(_held(joint, lacking) for joint in robot.tree), expressions=None)
    held = replace(held, coupling=(), gravity=Vec3(*GRAVITY) if "gravity" in lacking else held.gravity)
    text = "\n".join(lines).replace("--", "-\\u002d")  # two hyphens, as in a name, would end the comment
    return held, f"<!-- {FIRST_LINE}\n{text}\n-->"


def _held(joint: Joint, lacking: tuple[str, ...]) -> Joint:
    dry = joint.friction and Friction(joint.friction.viscous, joint.friction.coulomb)
    return replace(joint, friction=dry, rotor=None if "rotor" in lacking else joint.rotor, motor=None)


def inserted(text: str, comment: str) -> str:
    """The XML text with the comment before its last closing tag."""
    place = text.rindex("</")
    return f"{text[:place].rstrip()}\n{comment}\n{text[place:]}"


def removed(text: str) -> str:
    """The XML text without its supplement."""
    return COMMENT.sub("", text)


def has_supplement(robot: Robot) -> bool:
    """Whether the file that the robot was read from has one."""
    return robot.file is not None and COMMENT.search(robot.file.text) is not None


def completed(robot: Robot) -> Robot:
    """The robot with the supplement of the file that it was read from."""
    if robot.file is None or not (found := COMMENT.findall(robot.file.text)):
        return robot
    where = f"{robot.file.path}, comment of armdyn"
    return supplemented(robot, toml_tables(found[-1], where), where)


__all__ = ["completed", "has_supplement", "inserted", "removed", "split"]
