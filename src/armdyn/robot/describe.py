"""The printed robot: a heading and the usual tables, as data (`head`, `sections`) and as text.

Angles stand as fractions of pi (column unit rad) where all of them are such fractions or hold named parameters,
else in degrees. An expression in named parameters is followed by its value in parentheses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from operator import attrgetter
from typing import Any

from armdyn.algebra import CentralInertia, Inertia, Scalar, Vec3
from armdyn.errors import ArmdynError
from armdyn.graph import Node, ordered
from armdyn.notebook_view import View
from armdyn.robot.compounds import collapsed
from armdyn.robot.parts import FreeTransform, Joint, ModifiedDH, Placement, StandardDH
from armdyn.robot.robot import Robot
from armdyn.robot.scalars import scalars
from armdyn.tables import Column, Section, paragraph, render, split, without_rounding

Pair = tuple[Scalar, Scalar]
"""A scalar twice: as described (maybe an expression) and as a number."""

DIGITS = 6
LONG_FACT = 300
"""Letters of a fact that a notebook shows."""
FINEST_FRACTION = 12
"""pi/12 (15 degrees) is the finest fraction of pi that is written as such."""


def text(robot: Robot) -> str:
    """The whole description as plain text."""
    facts = head(robot)
    indent = max(len(label) for label, _ in facts) + 2
    top = title(robot)
    blocks = [f"{top}\n{'=' * len(top)}\n" + "\n".join(paragraph(label, fact, indent) for label, fact in facts)]
    blocks += [render(part) for section in sections(robot) for part in split(section)]
    if noted := notes(robot):
        blocks.append("Notes\n" + "\n".join(paragraph("-", note, 2) for note in noted))
    return "\n\n".join(blocks)


def title(robot: Robot) -> str:
    """Name, number of joints and their types in order: `scara5: 5 joints, P R R R P`."""
    plural = "s" if robot.n != 1 else ""
    what = f"degree{plural} of freedom" if robot.compounds else f"joint{plural}"
    return f"{robot.name}: {robot.n} {what}, {types(robot)}".removesuffix(", ")


def view(robot: Robot) -> View:
    """The robot in a notebook: facts and geometry; further tables and the findings folded."""
    from armdyn.doctor import check  # the view of a robot in a notebook shows its findings too

    checkup = check(robot)
    first, *further = sections(robot) or [Section("Geometry", (), ())]
    findings = checkup.section()
    issues = (Section("Findings", findings.columns, findings.rows),) if findings.rows else ()
    facts = [(label, fact if len(fact) < LONG_FACT else f"{fact[:LONG_FACT]} ...") for label, fact in head(robot)]
    return View(
        title(robot),
        (f"check-up: {checkup.summary}", checkup.fine),
        facts,
        (),
        (first,),
        (*further, *issues),
        notes(robot),
    )


def types(robot: Robot) -> str:
    """The types of the movable joints by their first letters; long lists are counted."""
    letters = [joint.compound.kind if joint.compound else joint.kind[0].upper() for joint in collapsed(robot.joints)]
    if len(letters) <= 24:
        return " ".join(letters)
    return ", ".join(f"{letters.count(letter)} {letter}" for letter in sorted(set(letters), reverse=True))


def head(robot: Robot) -> list[tuple[str, str]]:
    """What holds for the whole robot, as (label, text)."""
    both = _Both(robot)
    facts = [("source", robot.source)] if robot.source else []
    facts.append(("gravity", f"{both.vector(lambda r: r.gravity)} m/s^2"))
    if not _is_identity(robot.base):
        facts.append(("base", both.placement(lambda r: r.base)))
    carrier = robot.tool_body
    if not _is_identity(robot.tool):
        facts.append(("tool", f"{both.placement(lambda r: r.tool)}, on {carrier}"))
    elif robot.tool_on is not None:
        facts.append(("tool", f"frame of {carrier}"))
    facts.append(("moving mass", _moving_mass(both.numbers)))
    if robot.configurations:
        facts.append(("configurations", ", ".join(robot.configurations)))
    if both.symbols.parameters:
        facts.append(("parameters", ", ".join(_parameter(both, name) for name in both.symbols.parameters)))
    return facts


def sections(robot: Robot) -> list[Section]:
    """The tables: geometry, inertia, limits, drives, loops; empty ones are left out."""
    both = _Both(robot)
    makers = (_geometry, _inertia, _limits, _drives, _motors, _coupling, _loops)
    return [section for make in makers for section in make(both) if section.rows]


def notes(robot: Robot) -> list[str]:
    """Return the notes of the robot and of its joints."""
    return [*robot.notes, *(f"{joint.name}: {note}" for joint in robot.tree for note in joint.notes)]


# Scalars as text --------------------------------------------------------------------------------------------------


def number(x: Scalar, digits: int = DIGITS) -> str:
    """A number in few digits; never -0."""
    if isinstance(x, int | float):
        return f"{x:.{digits}g}" if x != 0 else "0"
    return str(x)


def pi_fraction(angle: float) -> str | None:
    """`pi/2`, `-3*pi/4`, ... if the angle is such a fraction to the last digit, else None.

    >>> pi_fraction(-1.5707963267948966), pi_fraction(0), pi_fraction(1.5708)
    ('-pi/2', '0', None)
    """
    fraction = Fraction(angle / math.pi).limit_denominator(FINEST_FRACTION)
    if abs(float(fraction) * math.pi - angle) > 4e-16 * abs(angle):  # two units in the last place
        return None
    if fraction == 0:
        return "0"
    times = "" if abs(fraction.numerator) == 1 else f"{abs(fraction.numerator)}*"
    over = "" if fraction.denominator == 1 else f"/{fraction.denominator}"
    return f"{'-' if fraction < 0 else ''}{times}pi{over}"


def _named(x: Scalar) -> bool:
    """True for an expression that holds a named parameter."""
    return isinstance(x, Node) and any(node.op == "symbol" for node in ordered(x))


class _Both:
    """A robot as described and in numbers, side by side."""

    def __init__(self, robot: Robot) -> None:
        try:
            self.numbers = robot.bound()
        except ArmdynError:  # symbols that are no parameters of the robot: expressions are all there is
            self.numbers = robot
        self.symbols = self.numbers.symbolic
        self.variable = {joint.name: f"q{i + 1}" for i, joint in enumerate(robot.movable)}
        spans = robot.opened.compounds
        self.variable |= {span.compound.name: f"q{span.joint + 1}-{span.velocities.stop}" for span in spans}
        angles = [pair for joint in self.joints() for pair in _angles(*joint)]
        as_fractions = all(_named(a) or isinstance(b, Node) or pi_fraction(b) for a, b in angles)
        self.degrees = not as_fractions and not any(_named(a) for a, _ in angles)
        self.angle_unit = "deg" if self.degrees else "rad"

    def joints(self) -> Iterator[tuple[Joint, Joint]]:
        return zip(collapsed(self.symbols.tree), collapsed(self.numbers.tree), strict=True)

    def pair(self, get: Callable[[Any], Scalar], part: Any) -> Pair:
        """One field of a part, given as (described, numeric)."""
        return get(part[0]), get(part[1])

    def scalar(self, pair: Pair) -> str:
        described, value = pair
        return f"{described} ({number(value)})" if _named(described) and value is not described else number(value)

    def angle(self, pair: Pair) -> str:
        described, value = pair
        if _named(described):
            return self.scalar(pair)
        if self.degrees:
            return number(math.degrees(value))
        return pi_fraction(value) or number(value) if isinstance(value, int | float) else str(value)

    def moved(self, joint: Joint, offset: str) -> str:
        """The joint variable with what is added to it: `q2 + pi/2`."""
        name = self.variable[joint.name]
        if offset == "0":
            return name
        return f"{name} - {offset[1:]}" if offset.startswith("-") else f"{name} + {offset}"

    def vector(self, get: Callable[[Robot], Vec3]) -> str:
        described, value = get(self.symbols), get(self.numbers)
        shown = f"({', '.join(map(number, value))})"
        if any(map(_named, described)):
            return f"({', '.join(map(str, described))}) = {shown}"
        return shown

    def placement(self, get: Callable[[Robot], Placement]) -> str:
        described, value = get(self.symbols), get(self.numbers)
        return placed(value, described)


def placed(value: Placement, described: Placement | None = None) -> str:
    """A constant pose in words: where, and how it is turned."""
    described = described or value
    parts = []
    if value.xyz != Vec3(0, 0, 0):
        parts.append("xyz (" + ", ".join(_worded(*p) for p in zip(described.xyz, value.xyz, strict=True)) + ") m")
    if value.rpy != Vec3(0, 0, 0):
        angles = zip(described.rpy, value.rpy, strict=True)
        parts.append("rpy (" + ", ".join(_worded(a, b, angle=True) for a, b in angles) + ") rad")
    return ", ".join(parts) or "at the origin"


def _worded(described: Scalar, value: Scalar, angle: bool = False) -> str:
    if _named(described):
        return f"{described} = {number(value)}" if value is not described else str(described)
    return (angle and isinstance(value, int | float) and pi_fraction(value)) or number(value)


def _parameter(both: _Both, name: str) -> str:
    described, value = both.symbols.parameters[name], both.numbers.parameters[name]
    return f"{name} = {described} = {number(value)}" if isinstance(described, Node) else f"{name} = {number(value)}"


def _is_identity(placement: Placement) -> bool:
    return placement == Placement()


def _moving_mass(robot: Robot) -> str:
    try:
        mass = sum(link.inertia.mass for link in robot.opened.links)
        full = [joint.rotor for joint in robot.tree if joint.rotor is not None and joint.rotor.model == "full"]
        rotors = sum(r.mass for r in full)
    except (TypeError, ArmdynError):
        return "not a number"
    return f"{number(mass)} kg" + (f" (rotors: {number(rotors)} kg, those on the base included)" if rotors != 0 else "")


def _angles(described: Joint, numeric: Joint) -> list[Pair]:
    """All angles of a joint's geometry."""
    found: list[list[Scalar]] = []
    for joint in (described, numeric):
        angles = scalars(joint.geometry, angles=True)
        if isinstance(joint.geometry, FreeTransform) and joint.kind == "revolute":
            angles.append(joint.geometry.zero)
        found.append(angles)
    return list(zip(*found, strict=True))


# Tables -----------------------------------------------------------------------------------------------------------

_DH_TITLE = {StandardDH: "standard DH", ModifiedDH: "modified DH", FreeTransform: "free transforms"}
_DH_KEYS = {StandardDH: ("theta", "d", "a", "alpha"), ModifiedDH: ("gamma", "b", "alpha", "a", "theta", "d")}


def _geometry(both: _Both) -> Iterator[Section]:
    """One table per convention used, in the order of first use."""
    used = list(dict.fromkeys(type(joint.geometry) for joint in both.numbers.tree))
    for convention in used:
        rows = [pair for pair in both.joints() if type(pair[1].geometry) is convention]
        columns = [*_identity_columns(both, rows, always_parent=len(used) > 1)]
        if convention is FreeTransform:
            columns += _free_columns(both, rows)
        else:
            columns += _dh_columns(both, rows, _DH_KEYS[convention])
        yield _section(f"Geometry ({_DH_TITLE[convention]})", columns)


Cells = tuple[Column, list[str]]
Rows = Sequence[tuple[Joint, Joint]]


def _section(title: str, columns: Sequence[Cells], note: str = "") -> Section:
    rows = zip(*(cells for _, cells in columns), strict=True)
    return Section(title, tuple(column for column, _ in columns), tuple(rows), note)


def _identity_columns(both: _Both, rows: Rows, always_parent: bool = False) -> Iterator[Cells]:
    """Number, name, type; parent where the tree is not a plain chain; body where it is not called as its joint."""
    tree = collapsed(both.numbers.tree)
    before = [both.numbers.root.name, *(joint.body.name for joint in tree)]
    joints = [joint for _, joint in rows]
    yield Column("#"), [both.variable.get(joint.name, "")[1:] for joint in joints]
    yield Column("joint"), [joint.name for joint in joints]
    yield Column("type"), [joint.compound.kind if joint.compound else joint.kind for joint in joints]
    if always_parent or any(joint.parent != carrier for joint, carrier in zip(tree, before, strict=False)):
        yield Column("parent"), [joint.parent for joint in joints]
    if any(joint.body.name != joint.name for joint in joints):
        yield Column("body"), [joint.body.name for joint in joints]


def _dh_columns(both: _Both, rows: Rows, keys: Iterable[str]) -> Iterator[Cells]:
    for key in keys:
        pairs = [(getattr(a.geometry, key), getattr(b.geometry, key)) for a, b in rows]
        if key in ("gamma", "b") and all(_is_zero(value) for _, value in pairs):
            continue
        angle = key in ("theta", "alpha", "gamma")
        cells = [both.angle(pair) if angle else both.scalar(pair) for pair in pairs]
        moves = {"theta": "revolute", "d": "prismatic"}.get(key)
        cells = [both.moved(b, cell) if b.kind == moves else cell for cell, (_, b) in zip(cells, rows, strict=True)]
        yield Column(key, both.angle_unit if angle else "m"), cells


def _free_columns(both: _Both, rows: Rows) -> Iterator[Cells]:
    kinds = ["fixed" if joint.compound else joint.kind for _, joint in rows]
    pairs: list[tuple[Any, Any]] = [(a.geometry, b.geometry) for a, b in rows]

    def column(field: str) -> list[Pair]:
        get = attrgetter(field)
        return [(get(a), get(b)) for a, b in pairs]

    for axis in "xyz":
        yield Column(axis, "m"), [both.scalar(pair) for pair in column(f"placement.xyz.{axis}")]
    for name, axis in zip(("roll", "pitch", "yaw"), "xyz", strict=True):
        yield Column(name, both.angle_unit), [both.angle(pair) for pair in column(f"placement.rpy.{axis}")]
    axes = [direction(b.axis) for _, b in pairs]
    yield Column("axis"), ["" if kind == "fixed" else axis for axis, kind in zip(axes, kinds, strict=True)]
    zeros = column("zero")
    if any(not _is_zero(value) for _, value in zeros):
        shown = [(both.angle if kind == "revolute" else both.scalar)(z) for z, kind in zip(zeros, kinds, strict=True)]
        moves = [both.moved(b, z) if b.kind != "fixed" else "" for z, (_, b) in zip(shown, rows, strict=True)]
        yield Column("motion", _unit(rows, both.angle_unit, "m")), moves


def direction(axis: Vec3) -> str:
    """A unit vector by letter where it is one of the axes.

    >>> direction(Vec3(0, -1, 0)), direction(Vec3(0.6, 0, 0.8))
    ('-y', '(0.6, 0, 0.8)')
    """
    for i, letter in enumerate("xyz"):
        others = [c for j, c in enumerate(axis) if j != i]
        if all(_is_zero(c) for c in others):
            return letter if list(axis)[i] > 0 else f"-{letter}"
    return f"({', '.join(number(c, 4) for c in axis)})"


def _is_zero(x: Scalar) -> bool:
    return isinstance(x, int | float) and x == 0


_CENTRAL = ("mass", "cx", "cy", "cz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
_ORIGIN = ("M", "MX", "MY", "MZ", "XX", "XY", "XZ", "YY", "YZ", "ZZ")


def _inertia(both: _Both) -> Iterator[Section]:
    """One table per form in which inertias are given; columns of zeros and fixed bodies without mass are left out."""
    roots = (both.symbols.root, both.numbers.root)
    bodies = [(roots, False)] + [((a.body, b.body), b.kind != "fixed") for a, b in both.joints()]
    forms = (
        (CentralInertia, "Inertia (centre of mass; tensor at the centre of mass)", _CENTRAL, "m"),
        (Inertia, "Inertia (first moments; tensor at the frame's origin)", _ORIGIN, "kg m"),
    )
    for form, heading, names, moment_unit in forms:
        of_form = [(pair, moving) for pair, moving in bodies if isinstance(pair[1].inertia, form)]
        shown = [pair for pair, moving in of_form if moving or any(not _is_zero(x) for x in _ten(pair[1].inertia))]
        hidden = [pair[1].name for pair, _ in of_form if pair not in shown and pair[1] is not both.numbers.root]
        columns: list[Cells] = [(Column("body"), [b.name for _, b in shown])]
        for k, name in enumerate(names):
            pairs = [(_ten(a.inertia)[k], _ten(b.inertia)[k]) for a, b in shown]
            product = name[-2:] in ("xy", "xz", "yz", "XY", "XZ", "YZ")
            if product and all(_is_zero(value) for _, value in pairs):
                continue
            unit = "kg" if k == 0 else moment_unit if k < 4 else "kg m^2"
            columns.append((Column(name, unit), [both.scalar(pair) for pair in pairs]))
        note = f"Fixed, without mass: {', '.join(hidden)}." if hidden and shown else ""
        yield _section(heading, columns, note)


def _ten(inertia: CentralInertia | Inertia) -> tuple[Scalar, ...]:
    """Mass, vector and tensor without rounding: of the tensor beside its entries, of the vector beside 1 m."""
    if isinstance(inertia, CentralInertia):
        vector = without_rounding(inertia.com, 1.0)
    else:
        vector = without_rounding(inertia.moment, inertia.mass if isinstance(inertia.mass, int | float) else None)
    return (inertia.mass, *vector, *without_rounding(inertia.tensor.upper()))


def _unit(rows: Rows, revolute: str, prismatic: str) -> str:
    """The unit of a joint's quantity; both where the rows have both types of joints."""
    kinds = {joint.kind for _, joint in rows}
    return "|".join([revolute] * ("revolute" in kinds) + [prismatic] * ("prismatic" in kinds))


def _part_columns(both: _Both, rows: Rows, part: str, fields: dict[str, tuple[str, str]]) -> Iterator[Cells]:
    """Columns (head, unit) of the fields of an optional part; those that no joint gives are left out."""
    for name, (heading, unit) in fields.items():
        pairs = [tuple(getattr(getattr(joint, part), name, None) for joint in pair) for pair in rows]
        if all(value is None or _is_zero(value) for _, value in pairs):
            continue
        yield Column(heading, unit), ["" if value is None else both.scalar((a, value)) for a, value in pairs]


def _limits(both: _Both) -> Iterator[Section]:
    rows = [pair for pair in both.joints() if pair[1].limits is not None]
    position, force = _unit(rows, "rad", "m"), _unit(rows, "N m", "N")
    fields = {
        "lower": ("lower", position),
        "upper": ("upper", position),
        "velocity": ("velocity", _unit(rows, "rad/s", "m/s")),
        "acceleration": ("acceleration", _unit(rows, "rad/s^2", "m/s^2")),
        "torque": ("torque", force),
        "jerk": ("jerk", _unit(rows, "rad/s^3", "m/s^3")),
        "continuous": ("continuous torque", force),
    }
    columns = list(_part_columns(both, rows, "limits", fields))
    if columns:
        yield _section("Limits", [(Column("joint"), [b.name for _, b in rows]), *columns])


def _drives(both: _Both) -> Iterator[Section]:
    """Friction and rotors in one table."""
    rows = [pair for pair in both.joints() if pair[1].rotor is not None or pair[1].friction is not None]
    force = _unit(rows, "N m", "N")
    friction = {
        "viscous": ("viscous", _unit(rows, "N m s/rad", "N s/m")),
        "coulomb": ("Coulomb", force),
        "static": ("static", force),
        "stribeck": ("Stribeck", _unit(rows, "rad/s", "m/s")),
        "width": ("width", _unit(rows, "rad/s", "m/s")),
        "offset": ("offset", force),
    }
    rotor = {
        "inertia": ("rotor inertia", "kg m^2"),
        "ratio": ("gear ratio", _unit(rows, "1", "rad/m")),
        "mass": ("rotor mass", "kg"),
        "transverse": ("transverse", "kg m^2"),
    }
    columns = [*_part_columns(both, rows, "friction", friction), *_part_columns(both, rows, "rotor", rotor)]
    laws = [joint.friction.law if joint.friction is not None else None for _, joint in rows]
    if any(laws):
        columns.insert(0, (Column("friction law"), [law or "" for law in laws]))
    rotors = [joint.rotor for _, joint in rows]
    if any(r is not None and r.model != "reflected" for r in rotors):
        columns.append((Column("rotor model"), ["" if r is None else r.model for r in rotors]))
    if any(r is not None and r.on is not None for r in rotors):
        columns.append(
            (
                Column("rotor on"),
                [(r.on or b.parent) if r is not None else "" for r, (_, b) in zip(rotors, rows, strict=True)],
            )
        )
    if any(r is not None and r.position != Vec3(0, 0, 0) for r in rotors):
        columns.append(
            (Column("rotor at", "m"), ["" if r is None else f"({', '.join(map(number, r.position))})" for r in rotors])
        )
    if any(r is not None and r.axis != Vec3(0, 0, 1) for r in rotors):
        columns.append((Column("spin axis"), ["" if r is None else direction(r.axis) for r in rotors]))
    if columns:
        yield _section("Friction and rotors", [(Column("joint"), [b.name for _, b in rows]), *columns])


def _motors(both: _Both) -> Iterator[Section]:
    """Motors, elastic transmissions and passive joints in one table."""
    parts = ("motor", "elastic", "spring")
    rows = [pair for pair in both.joints() if any(getattr(pair[1], part) is not None for part in parts)]
    motor = {
        "torque_constant": ("torque constant", "N m/A"),
        "amplifier": ("amplifier", "A"),
        "torque": ("motor torque", "N m"),
        "speed": ("motor speed", "rad/s"),
        "current": ("current", "A"),
        "continuous": ("continuous torque", "N m"),
        "viscous": ("motor friction", "N m s/rad"),
        "coulomb": ("dry", "N m"),
    }
    damping = _unit(rows, "N m s/rad", "N s/m")
    elastic = {
        "stiffness": ("stiffness", _unit(rows, "N m/rad", "N/m")),
        "damping": ("damping", damping),
        "viscous": ("motor viscous", damping),
        "coulomb": ("motor Coulomb", _unit(rows, "N m", "N")),
    }
    spring = {
        "stiffness": ("spring", _unit(rows, "N m/rad", "N/m")),
        "rest": ("rest position", _unit(rows, "rad", "m")),
    }
    named = {"motor": motor, "elastic": elastic, "spring": spring}
    columns = [column for part in parts for column in _part_columns(both, rows, part, named[part])]
    if columns:
        yield _section("Motors and elastic joints", [(Column("joint"), [b.name for _, b in rows]), *columns])


def _coupling(both: _Both) -> Iterator[Section]:
    """The matrix from motor rates to joint rates."""
    if not both.numbers.coupling:
        return
    names = [joint.name for joint in both.numbers.movable]
    pairs = list(zip(both.symbols.coupling, both.numbers.coupling, strict=True))
    columns: list[Cells] = [
        (Column(f"motor {j + 1}"), [both.scalar((a[j], b[j])) for a, b in pairs]) for j in range(len(names))
    ]
    yield _section("Coupling: joint rates from motor rates", [(Column("joint"), names), *columns])


def _loops(both: _Both) -> Iterator[Section]:
    loops = list(zip(both.symbols.loops, both.numbers.loops, strict=True))
    columns: list[Cells] = [
        (Column("loop"), [b.name for _, b in loops]),
        (Column("type"), [b.kind for _, b in loops]),
        (Column("first body"), [b.first for _, b in loops]),
        (Column("at"), [placed(b.first_placement, a.first_placement) for a, b in loops]),
        (Column("second body"), [b.second for _, b in loops]),
        (Column("at"), [placed(b.second_placement, a.second_placement) for a, b in loops]),
    ]
    yield _section("Loops", columns)
