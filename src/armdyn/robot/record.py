"""Record -> Robot: plain dicts, lists, numbers and strings with the keys of a robot file (`record_writer` goes back).

The reader checks every key, type and length and says where it found what; it executes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from armdyn.algebra import Z_AXIS, CentralInertia, Inertia, Scalar, Vec3, rpy_of
from armdyn.algebra.ops import tidy
from armdyn.conventions import GRAVITY
from armdyn.errors import ArmdynError, RobotError, unknown_name
from armdyn.graph import Node
from armdyn.robot.compounds import FORBIDDEN, PARTS, expanded, position_names
from armdyn.robot.edit import with_resting_rotors
from armdyn.robot.expression import parse
from armdyn.robot.parts import (
    KINDS,
    LOOP_KINDS,
    MAGNITUDES,
    ROTOR_MODELS,
    Body,
    Elastic,
    FreeTransform,
    Friction,
    Geometry,
    Joint,
    Limits,
    Loop,
    Mimic,
    ModifiedDH,
    Motor,
    Placement,
    Rotor,
    Spring,
    StandardDH,
)
from armdyn.robot.robot import Robot, tensor_of
from armdyn.robot.units import without_unit

CONVENTIONS = ("standard", "modified", "free")
MOST_JOINTS = 1000

_TOP = {
    "name",
    "source",
    "notes",
    "convention",
    "gravity",
    "base",
    "tool",
    "base_name",
    "parameters",
    "joint",
    "loop",
    "coupling",
    "configurations",
}
DH_KEYS = {"standard": ("theta", "d", "a", "alpha"), "modified": ("theta", "d", "a", "alpha", "gamma", "b")}
_FREE = ("xyz", "rpy", "axis", "offset")
_INERTIA = ("mass", "com", "inertia", "moment", "inertia_origin")
PARTS_OF_JOINTS = {
    "rotor": Rotor,
    "friction": Friction,
    "limits": Limits,
    "motor": Motor,
    "elastic": Elastic,
    "mimic": Mimic,
    "spring": Spring,
}
_JOINT = {
    "name",
    "type",
    "parent",
    "link",
    "convention",
    "passive",
    "home",
    "notes",
    "gravity_compensation",
    *PARTS_OF_JOINTS,
    *_INERTIA,
}
PART_KEYS: dict[str, tuple[str, ...]] = {
    "base": ("xyz", "rpy"),
    "tool": ("xyz", "rpy", "on"),
    "rotor": ("model", "inertia", "ratio", "mass", "position", "axis", "on", "transverse"),
    "friction": ("law", "viscous", "coulomb", "static", "stribeck", "width", "values", "offset"),
    "motor": (
        "torque_constant",
        "amplifier",
        "torque",
        "speed",
        "current",
        "continuous",
        "viscous",
        "coulomb",
        "width",
        "values",
    ),
    "elastic": ("stiffness", "damping", "viscous", "coulomb"),
    "mimic": ("joint", "ratio", "offset"),
    "spring": ("stiffness", "rest"),
    "limits": ("lower", "upper", *MAGNITUDES),
    "loop": ("name", "type", "first", "second", "first_at", "second_at"),
    "first_at": ("xyz", "rpy"),
    "second_at": ("xyz", "rpy"),
}


class _RecordReader:
    """Reads values of one record; knows its parameters and where it stands."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.names = names

    def scalar(self, value: Any, where: str) -> Scalar:
        if isinstance(value, str):
            try:
                value = parse(without_unit(value, _key(where)), self.names)
            except ArmdynError as error:
                raise error.located(where) from None
            return value if isinstance(value, Node) else _plain(value, where)
        if isinstance(value, Node):
            return value
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
            raise RobotError(
                f"{_shown(value)} is not a number", where=where, expected="a number or an expression in quotes"
            )
        return _plain(value, where)

    def vector(self, value: Any, where: str) -> Vec3:
        return Vec3(*self.list_of(value, 3, where))

    def list_of(self, value: Any, count: int, where: str) -> list[Scalar]:
        if not isinstance(value, list | tuple | np.ndarray) or len(value) != count:
            size = f" of {len(value)}" if isinstance(value, list | tuple) else ""
            raise RobotError(f"{_shown(value)}{size}", where=where, expected=f"a list of {count} numbers")
        return [self.scalar(entry, f"{where}[{i}]") for i, entry in enumerate(value)]

    def named(self, record: Mapping[str, Any], where: str) -> dict[str, Scalar]:
        for name in record:
            if not name.isidentifier() or not name.isascii():
                raise RobotError(f"{name!r} cannot be a name", where=where, expected="letters, digits and _")
        return {name: self.scalar(value, f"{where}.{name}") for name, value in record.items()}

    def placement(self, record: Mapping[str, Any], where: str) -> Placement:
        return Placement(
            self.vector(record.get("xyz", (0, 0, 0)), f"{where}.xyz"),
            self.vector(record.get("rpy", (0, 0, 0)), f"{where}.rpy"),
        )

    def part(self, make: Callable[..., Any], record: Any, where: str, kind: str) -> Any:
        """A part whose fields are the keys of the record."""
        checked_keys(record, PART_KEYS[kind], where)
        values: dict[str, Any] = {}
        for key, value in record.items():
            place = f"{where}.{key}"
            if key in ("axis", "position"):
                values[key] = unit(self.vector(value, place), place) if key == "axis" else self.vector(value, place)
            elif key in ("on", "law", "joint"):
                values[key] = _text(value, place)
            elif key == "values":
                values[key] = self.named(_table(value, place), place)
            elif key == "model":
                if value not in ROTOR_MODELS:
                    raise unknown_name("rotor model", value, ROTOR_MODELS, where=place)
                values[key] = value
            else:
                values[key] = self.scalar(value, place)
        for owner, key, expected in (
            ("elastic", "stiffness", "N m/rad, or N/m for a prismatic joint"),
            ("spring", "stiffness", "N m/rad, or N/m for a prismatic joint"),
            ("mimic", "joint", "the name of the joint it follows"),
        ):
            if kind == owner and key not in values:
                raise RobotError(f"{key!r} is missing", where=where, expected=expected)
        return make(**values)


def robot_from_record(record: Mapping[str, Any]) -> Robot:
    """A Robot from a record as a robot file holds it."""
    checked_keys(record, _TOP, "robot")
    reader = _RecordReader({})
    parameters = _parameters(record.get("parameters", {}))
    reader = _RecordReader(parameters)
    convention = record.get("convention", "standard")
    if convention not in CONVENTIONS:
        raise unknown_name("convention", convention, CONVENTIONS, where="convention")
    root = _text(record.get("base_name", _usual_root(record)), "base_name")
    tree = _tree(record.get("joint", []), convention, reader, root)
    tool = _table(record.get("tool", {}), "tool")
    checked_keys(tool, PART_KEYS["tool"], "tool")
    base = _table(record.get("base", {}), "base")
    checked_keys(base, PART_KEYS["base"], "base")
    bodies = {root: root} | {joint.name: joint.body.name for joint in tree} | {j.body.name: j.body.name for j in tree}
    bodies |= {joint.compound.name: joint.body.name for joint in tree if joint.compound}
    robot = Robot(
        name=_text(record.get("name", "robot"), "name"),
        tree=tree,
        gravity=reader.vector(record.get("gravity", GRAVITY), "gravity"),
        base=reader.placement(base, "base"),
        tool=reader.placement(tool, "tool"),
        tool_on=_named(tool["on"], bodies, "tool.on") if "on" in tool else None,
        root=Body(root),
        loops=tuple(_loop(entry, i, reader, bodies) for i, entry in enumerate(_tables(record.get("loop", []), "loop"))),
        source=_text(record.get("source", ""), "source"),
        notes=_texts(record.get("notes", ()), "notes"),
        parameters=parameters,
        configurations=_configurations(record.get("configurations", {}), tree, reader),
        coupling=_coupling(record.get("coupling", []), sum(joint.kind != "fixed" for joint in tree), reader),
    )
    fixed = [joint for joint in tree if joint.kind == "fixed" and joint.rotor is not None]
    bare = tuple(replace(joint, rotor=None) if joint in fixed else joint for joint in tree)
    return with_resting_rotors(replace(robot, tree=bare), fixed).bound()


def _usual_root(record: Mapping[str, Any]) -> str:
    """The name of the body that stands: "base", or "ground" where a moving body has that name."""
    rows = _tables(record.get("joint", []), "joint")
    taken = any(row.get("link", row.get("name")) == "base" for row in rows)
    return "ground" if taken and all(row.get("parent") != "base" for row in rows) else "base"


def supplemented(robot: Robot, record: Mapping[str, Any], where: str) -> Robot:
    """The robot with the gravity, coupling, and rotors, friction laws and motors of joints that a record adds to it.

    Viscous and Coulomb friction stay those of the robot.
    """
    reader, joints = _RecordReader({}), {joint.name: joint for joint in robot.tree}
    checked_keys(record, ("gravity", "coupling", "joint"), where)
    for row in _tables(record.get("joint", []), f"{where}.joint"):
        checked_keys(row, ("name", "rotor", "friction", "motor"), f"{where}.joint")
        joint = joints[_named(row.get("name", ""), {name: name for name in joints}, f"{where}.joint.name")]
        parts = {
            key: reader.part(PARTS_OF_JOINTS[key], _table(value, f"{where}.{key}"), f"{where}.{key}", key)
            for key, value in row.items()
            if key != "name"
        }
        if "friction" in parts:
            dry = joint.friction or Friction()
            parts["friction"] = replace(parts["friction"], viscous=dry.viscous, coulomb=dry.coulomb)
        joints[joint.name] = replace(joint, **parts)
    gravity = reader.vector(record["gravity"], f"{where}.gravity") if "gravity" in record else robot.gravity
    coupling = _coupling(record.get("coupling", []), len(robot.movable), reader)
    return replace(robot, tree=tuple(joints.values()), gravity=gravity, coupling=coupling, expressions=None)


def _coupling(rows: Any, n: int, reader: _RecordReader) -> tuple[tuple[Scalar, ...], ...]:
    """The matrix from motor rates to joint rates. Khalil (7.31)"""
    if not isinstance(rows, list | tuple | np.ndarray) or len(rows) not in (0, n):
        raise RobotError(_shown(rows), where="coupling", expected=f"{n} rows, one per moving joint")
    return tuple(tuple(reader.list_of(row, n, f"coupling[{i}]")) for i, row in enumerate(rows))


def _configurations(record: Any, tree: tuple[Joint, ...], reader: _RecordReader) -> dict[str, dict[str, Scalar]]:
    """Positions of joints by the name of a configuration and of the joint."""
    known = position_names([joint for joint in tree if joint.kind != "fixed"])
    found: dict[str, dict[str, Scalar]] = {}
    for name, values in _table(record, "configurations").items():
        where = f"configurations.{name}"
        for joint in (table := _table(values, where)):
            if joint not in known:
                raise unknown_name("joint", joint, known, where=where)
        found[name] = {joint: reader.scalar(value, f"{where}.{joint}") for joint, value in table.items()}
    return found


def _parameters(record: Any) -> dict[str, Scalar]:
    """Values of named parameters, each a number or an expression in those above it."""
    parameters: dict[str, Scalar] = {}
    for name, value in _table(record, "parameters").items():
        where = f"parameters.{name}"
        if not name.isidentifier() or not name.isascii() or name in ("pi", "sin", "cos", "tan", "sqrt"):
            raise RobotError(
                f"{name!r} cannot be the name of a parameter", where=where, expected="letters, digits and _"
            )
        parameters[name] = _RecordReader(parameters).scalar(value, where)
    return parameters


def _tree(record: Any, convention: str, reader: _RecordReader, root: str) -> tuple[Joint, ...]:
    rows = _tables(record, "joint")
    if not rows:
        raise RobotError("the robot has no joint", expected="at least one [[joint]]")
    if len(rows) > MOST_JOINTS:
        raise RobotError(f"{len(rows)} joints", expected=f"at most {MOST_JOINTS}")
    bodies = {root: root}
    tree: list[Joint] = []
    for i, row in enumerate(rows):
        joint = _joint(row, i, convention, reader, tree[-1].body.name if tree else root, bodies)
        kind = row.get("type")
        tree += expanded(joint, kind) if kind in PARTS else [joint]
        bodies |= {joint.name: joint.body.name, joint.body.name: joint.body.name}
    return tuple(tree)


def _joint(
    row: Mapping[str, Any], i: int, convention: str, reader: _RecordReader, previous: str, bodies: Mapping[str, str]
) -> Joint:
    name = _text(row.get("name", f"joint{i + 1}"), f"joint {i + 1}.name")
    where = f"joint {name!r}"
    kind = row.get("type", "revolute")
    if kind not in (*KINDS, *PARTS):
        raise unknown_name("joint type", kind, (*KINDS, *PARTS), where=where)
    several = kind in PARTS
    convention = "free" if several else _convention_of(row, convention, where)
    known = {*_JOINT, *DH_KEYS.get(convention, _FREE)}
    checked_keys(row, known - {*FORBIDDEN, "axis", "offset", "passive", "home"} if several else known, where)
    parts: dict[str, Any] = {}
    for key, make in PARTS_OF_JOINTS.items():
        if key in row:
            parts[key] = reader.part(make, _table(row[key], f"{where}.{key}"), f"{where}.{key}", key)
    link = _text(row.get("link", name), f"{where}.link")
    parent = _text(row["parent"], f"{where}.parent") if "parent" in row else previous
    return Joint(
        name=name,
        kind="fixed" if several else kind,
        geometry=_geometry(row, convention, reader, where),
        parent=bodies.get(parent, parent),
        body=Body(
            link,
            _inertia(row, reader, where),
            reader.scalar(row.get("gravity_compensation", 0), f"{where}.gravity_compensation"),
        ),
        notes=_texts(row.get("notes", ()), f"{where}.notes"),
        passive=_flag(row.get("passive", False), f"{where}.passive"),
        home=reader.scalar(row.get("home", 0), f"{where}.home"),
        **parts,
    )


def _convention_of(row: Mapping[str, Any], default: str, where: str) -> str:
    """A joint with xyz, rpy or axis is a free transform; else it may say, else the robot's convention holds."""
    convention = row.get("convention", "free" if any(key in row for key in ("xyz", "rpy", "axis")) else default)
    if convention not in CONVENTIONS:
        raise unknown_name("convention", convention, CONVENTIONS, where=where)
    return str(convention)


def _geometry(row: Mapping[str, Any], convention: str, reader: _RecordReader, where: str) -> Geometry:
    if convention == "free":
        axis = unit(reader.vector(row.get("axis", tuple(Z_AXIS)), f"{where}.axis"), f"{where}.axis")
        return FreeTransform(reader.placement(row, where), axis, reader.scalar(row.get("offset", 0), f"{where}.offset"))
    make = StandardDH if convention == "standard" else ModifiedDH
    return make(**{key: reader.scalar(row[key], f"{where}.{key}") for key in DH_KEYS[convention] if key in row})


def _inertia(row: Mapping[str, Any], reader: _RecordReader, where: str) -> CentralInertia | Inertia:
    mass = reader.scalar(row.get("mass", 0), f"{where}.mass")
    at_origin = [key for key in ("moment", "inertia_origin") if key in row]
    at_com = [key for key in ("com", "inertia") if key in row]
    if at_origin and at_com:
        raise RobotError(
            f"{at_origin[0]!r} and {at_com[0]!r} together",
            where=where,
            expected="com and inertia (at the centre of mass), or moment and inertia_origin",
        )
    position, tensor = ("moment", "inertia_origin") if at_origin else ("com", "inertia")
    vector = reader.vector(row.get(position, (0, 0, 0)), f"{where}.{position}")
    entries = tensor_of(reader.list_of(row.get(tensor, (0,) * 6), 6, f"{where}.{tensor}"))
    return Inertia(mass, vector, entries) if at_origin else CentralInertia(mass, vector, entries)


def _loop(record: Mapping[str, Any], i: int, reader: _RecordReader, bodies: Mapping[str, str]) -> Loop:
    where = f"loop {i + 1}"
    checked_keys(record, PART_KEYS["loop"], where)
    kind = record.get("type", "revolute")
    if kind not in LOOP_KINDS:
        raise unknown_name("type of closing joint", kind, LOOP_KINDS, where=where)
    ends = []
    for end in ("first", "second"):
        if end not in record:
            raise RobotError(f"{end!r} is missing", where=where, expected="the names of the two bodies that meet")
        ends.append(_named(record[end], bodies, f"{where}.{end}"))
        checked_keys(_table(record.get(f"{end}_at", {}), f"{where}.{end}_at"), ("xyz", "rpy"), f"{where}.{end}_at")
    placements = [reader.placement(record.get(key, {}), f"{where}.{key}") for key in ("first_at", "second_at")]
    name = _text(record.get("name", f"loop{i + 1}"), f"{where}.name")
    return Loop(name, ends[0], ends[1], placements[0], placements[1], kind)


def unit(axis: Vec3, where: str) -> Vec3:
    """A numeric axis of length one."""
    if any(isinstance(x, Node) for x in axis):
        raise RobotError("an axis cannot hold named parameters", where=where, expected="three numbers")
    length = math.hypot(*(float(x) for x in axis))
    if not 1e-9 < length < 1e9:
        raise RobotError(f"an axis of length {length:g}", where=where, expected="a direction, not zero")
    if abs(length - 1) < 1e-15 or (all(x in (0, 1, -1) for x in axis) and length == 1):
        return Vec3(*map(tidy, axis))
    return Vec3(*(tidy(float(x) / length) for x in axis))


def placement_from_matrix(matrix: Any, where: str) -> dict[str, list[float]]:
    """The record of a placement given as a 4x4 homogeneous matrix."""
    T = np.asarray(matrix, dtype=float)
    if T.shape != (4, 4) or not np.isfinite(T).all():
        raise RobotError(f"a matrix of shape {T.shape}", where=where, expected="a finite 4x4 homogeneous matrix")
    R = T[:3, :3]
    if np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0 or np.abs(T[3] - (0, 0, 0, 1)).max() > 1e-9:
        raise RobotError(
            "the matrix is not a rigid displacement",
            where=where,
            expected="a rotation, a translation and the last row 0 0 0 1",
        )
    return {"xyz": T[:3, 3].tolist(), "rpy": list(rpy_of(R))}


def checked_keys(record: Mapping[str, Any], known: Any, where: str) -> None:
    """An unknown key is an error: a misspelt `mas` must not become a silent zero."""
    for key in record:
        if key not in known:
            raise unknown_name("key", key, sorted(known), where=where)


def _key(where: str) -> str | None:
    """The key that a place ends with, or None for a named parameter, which may have any unit."""
    return None if where.startswith("parameters.") else where.rpartition(".")[2].partition("[")[0]


def _plain(value: Any, where: str) -> Scalar:
    if isinstance(value, Fraction):
        value = float(value)
    if isinstance(value, np.generic):
        value = value.item()
    try:
        finite = math.isfinite(value)
    except OverflowError:
        finite = False
    if not finite or abs(value) > 1e100:
        raise RobotError(f"{_shown(value)} is not a finite number of a sensible size", where=where)
    return tidy(value) if isinstance(value, float) or value in (0, 1, -1) else float(value)


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        text = "a huge integer"
    return text if len(text) <= 40 else text[:37] + "..."


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.isprintable() or len(value) > 2000:
        raise RobotError(f"{_shown(value)} is not a line of text", where=where)
    return value


def _flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise RobotError(f"{_shown(value)} is neither true nor false", where=where, expected="true or false")
    return value


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (_text(value, where),)
    if not isinstance(value, list | tuple):
        raise RobotError(f"{_shown(value)} is not a list of texts", where=where)
    return tuple(_text(entry, where) for entry in value)


def _table(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise RobotError(f"{_shown(value)} is not a table", where=where, expected="keys and values")
    return value


def _tables(value: Any, where: str) -> list[Mapping[str, Any]]:
    if not isinstance(value, list):
        raise RobotError(f"{_shown(value)} is not a list of tables", where=where, expected=f"[[{where}]]")
    return [_table(entry, where) for entry in value]


def _named(value: Any, bodies: Mapping[str, str], where: str) -> str:
    name = _text(value, where)
    if name not in bodies:
        raise unknown_name("body", name, bodies, where=where)
    return bodies[name]
