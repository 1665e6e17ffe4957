"""Robot -> record: plain dicts, lists, numbers and strings with the keys of a robot file (`record` reads them)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armdyn.algebra import CentralInertia, Inertia, Mat3, Scalar, Vec3, ops
from armdyn.graph import Node
from armdyn.robot.compounds import collapsed
from armdyn.robot.parts import FreeTransform, Geometry, Joint, Loop, ModifiedDH, Placement, StandardDH
from armdyn.robot.record import DH_KEYS, PART_KEYS, PARTS_OF_JOINTS
from armdyn.robot.robot import Robot

RARE = {
    "rotor.transverse",
    "friction.width",
    "friction.values",
    "friction.offset",
    "motor.viscous",
    "motor.coulomb",
    "motor.width",
    "motor.values",
}


def record_from_robot(robot: Robot) -> dict[str, Any]:
    """The record of a robot; expressions are written as they were given."""
    robot = robot.symbolic
    conventions = {_convention_name(joint.geometry) for joint in robot.tree}
    convention = next((c for c in ("standard", "modified", "free") if c in conventions), "standard")
    record: dict[str, Any] = {"name": robot.name}
    if robot.source:
        record["source"] = robot.source
    if robot.notes:
        record["notes"] = list(robot.notes)
    record |= {"convention": convention, "gravity": _list(robot.gravity)}
    if robot.root.name != "base":
        record["base_name"] = robot.root.name
    base = _placement_record(robot.base)
    tool = _placement_record(robot.tool) | ({"on": robot.tool_on} if robot.tool_on else {})
    record |= {key: value for key, value in (("base", base), ("tool", tool)) if value}
    if robot.coupling:
        record["coupling"] = [list(map(_written, row)) for row in robot.coupling]
    if robot.parameters:
        record["parameters"] = {name: _written(value) for name, value in robot.parameters.items()}
    if robot.configurations:
        record["configurations"] = {
            name: {joint: _written(value) for joint, value in values.items()}
            for name, values in robot.configurations.items()
        }
    previous = robot.root.name
    record["joint"] = []
    for joint in collapsed(robot.tree):
        record["joint"].append(_joint_record(joint, convention, previous))
        previous = joint.body.name
    if robot.loops:
        record["loop"] = [_loop_record(loop) for loop in robot.loops]
    return record


def _joint_record(joint: Joint, convention: str, previous: str) -> dict[str, Any]:
    several = joint.compound is not None
    row: dict[str, Any] = {"name": joint.name, "type": joint.compound.kind if joint.compound else joint.kind}
    if joint.body.name != joint.name:
        row["link"] = joint.body.name
    if joint.parent != previous:
        row["parent"] = joint.parent
    own = _convention_name(joint.geometry)
    if own != convention and not several:
        row["convention"] = own
    row |= _geometry_record(joint.geometry)
    if several:
        del row["axis"]
    row |= _inertia_record(joint.body.inertia)
    if not ops.is_zero(joint.body.gravity_compensation):
        row["gravity_compensation"] = _written(joint.body.gravity_compensation)
    for key in PARTS_OF_JOINTS:
        part = getattr(joint, key)
        if part is not None:
            named = ((name, getattr(part, name)) for name in PART_KEYS[key])
            row[key] = {name: _entry(value) for name, value in named if _said(f"{key}.{name}", value)}
    if joint.passive:
        row["passive"] = True
    if isinstance(joint.home, Node) or joint.home != 0:
        row["home"] = _written(joint.home)
    if joint.notes:
        row["notes"] = list(joint.notes)
    return row


def _said(name: str, value: Any) -> bool:
    """Whether a field is worth writing: what is not given is left out, and so is a rare number that is zero."""
    rare = name in RARE
    return value is not None and not (rare and (value == 0 or value == {}))


def _entry(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _written(x) for name, x in value.items()}
    return value if isinstance(value, str) else _list(value) if isinstance(value, Vec3) else _written(value)


def _convention_name(geometry: Geometry) -> str:
    return {StandardDH: "standard", ModifiedDH: "modified", FreeTransform: "free"}[type(geometry)]


def _geometry_record(geometry: Geometry) -> dict[str, Any]:
    if isinstance(geometry, FreeTransform):
        row = _placement_record(geometry.placement)
        row["axis"] = _list(geometry.axis)
        return row | (
            {"offset": _written(geometry.zero)} if isinstance(geometry.zero, Node) or geometry.zero != 0 else {}
        )
    keys = DH_KEYS[_convention_name(geometry)]
    always = ("theta", "d", "a", "alpha")
    return {key: _written(value) for key in keys if (value := getattr(geometry, key)) != 0 or key in always}


def _inertia_record(inertia: CentralInertia | Inertia) -> dict[str, Any]:
    if isinstance(inertia, CentralInertia):
        return {"mass": _written(inertia.mass), "com": _list(inertia.com), "inertia": _upper(inertia.tensor)}
    moment = _list(inertia.moment)
    return {"mass": _written(inertia.mass), "moment": moment, "inertia_origin": _upper(inertia.tensor)}


def _loop_record(loop: Loop) -> dict[str, Any]:
    record: dict[str, Any] = {"name": loop.name, "type": loop.kind, "first": loop.first, "second": loop.second}
    for key, placement in (("first_at", loop.first_placement), ("second_at", loop.second_placement)):
        if placed := _placement_record(placement):
            record[key] = placed
    return record


def _placement_record(placement: Placement) -> dict[str, Any]:
    pairs = (("xyz", placement.xyz), ("rpy", placement.rpy))
    return {key: _list(value) for key, value in pairs if value != Vec3(0, 0, 0)}


def _list(vector: Vec3) -> list[Any]:
    return [_written(x) for x in vector]


def _upper(tensor: Mat3) -> list[Any]:
    return [_written(x) for x in tensor.upper()]


def _written(value: Scalar) -> Any:
    """Numbers as numbers; expressions as text that `parse` reads back."""
    return str(value) if isinstance(value, Node) else value
