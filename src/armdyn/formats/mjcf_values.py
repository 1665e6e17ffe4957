"""How an MJCF text means its numbers: units and sequence of angles, default classes, orientations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree.ElementTree import Element

from armdyn.algebra import ZERO, Mat3, Pose, Scalar, Vec3, rot_x, rot_y, rot_z
from armdyn.conventions import GRAVITY
from armdyn.errors import RobotError, unknown_name
from armdyn.formats.safe_xml import XmlDocument, local_name
from armdyn.formats.xml_values import Values, shown, texts, written
from armdyn.robot.record import unit

_ACTUATORS = (
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "orientation",
    "pid",
    "damper",
    "cylinder",
    "muscle",
    "adhesion",
    "dcmotor",
    "plugin",
)
CLASSED = (
    {tag: tag for tag in ("joint", "geom", "site", "tendon", "equality", "mesh", "material")}
    | {"spatial": "tendon", "fixed": "tendon"}
    | dict.fromkeys(_ACTUATORS, "actuator")
)
"""Element -> what default classes hold for it; all actuators share their values."""
_TURN = {"x": rot_x, "y": rot_y, "z": rot_z}
ORIENTATIONS = {"quat": 4, "axisangle": 4, "xyaxes": 6, "zaxis": 3, "euler": 3}
"""Ways to give an orientation, and how many numbers each has."""


class Compiler(NamedTuple):
    """The settings of <compiler> that change what numbers mean."""

    degrees: bool = True
    sequence: str = "xyz"
    autolimits: bool = True
    from_shapes: str = "auto"
    groups: tuple[int, int] = (0, 5)
    balance: bool = False
    least_mass: float = 0.0
    least_inertia: float = 0.0
    total_mass: float = -1.0
    fuse_static: bool = False
    """Bodies without joints become part of the body that carries them, or of the world, which has no mass."""
    mesh_folder: str = ""
    strip_path: bool = False
    fit_to_box: bool = False
    """Primitives are fitted to the bounding box of a mesh instead of its inertia."""

    @staticmethod
    def of(document: XmlDocument) -> Compiler:
        made = Compiler()
        for element in all_named(document.root, "compiler"):
            made = made._read(element, Values(document), document.at(element))
        return made

    def _read(self, element: Element, values: Values, where: str) -> Compiler:
        given = element.attrib
        known(given.get("coordinate", "local"), ("local",), "coordinates", where)
        angle = "degree" if self.degrees else "radian"
        angle = known(given.get("angle", angle), ("degree", "radian"), "unit of angles", where)
        shapes = known(given.get("inertiafromgeom", self.from_shapes), ("auto", "true", "false"), "choice", where)
        sequence = given.get("eulerseq", self.sequence)
        if len(sequence) != 3 or sequence.lower().strip("xyz"):
            raise RobotError(f"eulerseq {shown(sequence)!r}", where=where, expected="three letters of x y z X Y Z")
        groups = self.groups
        if "inertiagrouprange" in given:
            low, high = values.numbers(given["inertiagrouprange"], 2, element, "inertiagrouprange", "compiler")
            groups = (int(low), int(high))
        limits = given.get("autolimits", "true" if self.autolimits else "false") == "true"
        balance = given.get("balanceinertia", "true" if self.balance else "false") == "true"
        changed = self._replace(
            degrees=angle == "degree",
            sequence=sequence,
            autolimits=limits,
            from_shapes=shapes,
            groups=groups,
            balance=balance,
            mesh_folder=given.get("meshdir", given.get("assetdir", self.mesh_folder)),
            strip_path=given.get("strippath", "true" if self.strip_path else "false") == "true",
            fuse_static=given.get("fusestatic", "true" if self.fuse_static else "false") == "true",
            fit_to_box=given.get("fitaabb", "true" if self.fit_to_box else "false") == "true",
        )
        masses = {"boundmass": "least_mass", "boundinertia": "least_inertia", "settotalmass": "total_mass"}
        read = {name: float(values.number(element, key, "compiler")) for key, name in masses.items() if key in given}
        return Compiler(**(changed._asdict() | read))


class Options(NamedTuple):
    """The settings of <option> that change the dynamics: gravity and what is switched off."""

    gravity: Vec3 = Vec3(*GRAVITY)
    disabled: frozenset[str] = frozenset()

    @staticmethod
    def of(document: XmlDocument) -> Options:
        gravity, disabled = Vec3(*GRAVITY), set()
        for option in all_named(document.root, "option"):
            gravity = Values(document).vector(option, "gravity", "option", gravity)
            for flag in all_named(option, "flag"):
                for name, value in flag.attrib.items():
                    known(value, ("enable", "disable"), f"value of flag {shown(name)!r}", document.at(flag))
                disabled |= {name for name, value in flag.attrib.items() if value == "disable"}
        disabled |= {"frictionloss", "equality"} if "constraint" in disabled else set()
        disabled |= {"spring", "damper"} if "passive" in disabled else set()
        return Options(ZERO if "gravity" in disabled else gravity, frozenset(disabled))


Defaults = dict[str, dict[str, dict[str, str]]]
"""Class -> element -> attributes."""
COMPLETE = " complete"
"""Class of elements that have all their values themselves; no file can have a class of this name for another use."""


def default_classes(document: XmlDocument) -> Defaults:
    """The default classes; an inner class inherits from the outer one."""
    classes: Defaults = {"main": {}, COMPLETE: {}}

    def add(element: Element, parent: dict[str, dict[str, str]], name: str) -> None:
        own = classes.setdefault(name, {})
        own |= {tag: merged(values, own.get(tag, {})) for tag, values in parent.items()}
        for child in element:
            tag = CLASSED.get(local_name(child))
            if tag is not None:
                own[tag] = merged(own.get(tag, {}), child.attrib)
        for child in all_named(element, "default"):
            inner = child.get("class")
            if not inner:
                raise RobotError(
                    "a <default> inside another has no class",
                    where=document.at(child),
                    expected='<default class="...">',
                )
            add(child, own, inner)

    for element in all_named(document.root, "default"):
        add(element, {}, element.get("class", "main"))
        classes["main"] = classes.get(element.get("class", "main"), {})
    return classes


def merged(inherited: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """The attributes of an element; its own orientation, however it is given, replaces an inherited one."""
    turned = any(key in ORIENTATIONS for key in own)
    return {key: value for key, value in inherited.items() if not (turned and key in ORIENTATIONS)} | dict(own)


@dataclass(frozen=True)
class Posed(Values):
    """Values of elements with default classes and orientations."""

    compiler: Compiler
    options: Options
    defaults: Defaults

    def full(self, element: Element, childclass: str) -> Element:
        """The element with the values that its default class gives."""
        name = element.get("class", childclass)
        if name not in self.defaults:
            raise unknown_name("default class", name, self.defaults, where=self.document.at(element))
        tag = local_name(element)
        if tag not in CLASSED:
            return element
        whole = Element(element.tag, merged(self.defaults[name].get(CLASSED[tag], {}), element.attrib))
        self.document.stands_for(whole, element)
        return whole

    def first(self, element: Element, key: str, count: int, label: str) -> list[float]:
        """The first numbers of an attribute that may have more."""
        text = " ".join(element.get(key, "").split()[:count])
        return [float(x) for x in self.numbers(text, count, element, key, label)]

    def angle(self, value: Scalar) -> Scalar:
        return math.radians(value) if self.compiler.degrees else value

    def pose(self, element: Element, label: str) -> Pose:
        """Where a body, frame, shape, site or inertia stands, by any of MJCF's five ways."""
        return Pose(self.orientation(element, label), self.vector(element, "pos", label))

    def orientation(self, element: Element, label: str) -> Mat3:
        given = [key for key in ORIENTATIONS if key in element.attrib]
        if len(given) > 1:
            raise RobotError(
                f"two orientations: {' and '.join(given)}", where=self.document.at(element, label), expected="one"
            )
        if not given:
            return Mat3.identity()
        v = self.numbers(element.attrib[given[0]], ORIENTATIONS[given[0]], element, given[0], label)
        where = self.document.at(element, f"{label}, {given[0]}")
        if given[0] == "quat":
            return rotation(v, where)
        if given[0] == "axisangle":
            return _turned(unit(Vec3(*v[:3]), where), self.angle(v[3]))
        if given[0] == "zaxis":
            return to_axis(unit(Vec3(*v), where))
        if given[0] == "xyaxes":
            x = unit(Vec3(*v[:3]), where)
            y = Vec3(*v[3:])
            y = unit(y - x * x.dot(y), where)
            return Mat3(tuple(zip(x, y, x.cross(y), strict=True)))
        return self.turned_by(Vec3(*v))

    def turned_by(self, angles: Vec3) -> Mat3:
        """The rotation by Euler angles in the unit and sequence of the compiler."""
        R = Mat3.identity()
        for letter, angle in zip(self.compiler.sequence, angles, strict=True):
            turn = _TURN[letter.lower()](self.angle(angle))
            R = R @ turn if letter.islower() else turn @ R
        return R


# Poses as attributes --------------------------------------------------------------------------------------------------


def place(pose: Pose) -> dict[str, str]:
    """pos and quat, where they are not the identity's."""
    place = {} if pose.p == ZERO else {"pos": texts(pose.p)}
    w, x, y, z = quaternion_of(pose.R)
    return place if (x, y, z) == (0, 0, 0) else place | {"quat": " ".join(map(written, (w, x, y, z)))}


def quaternion_of(R: Mat3) -> tuple[float, float, float, float]:
    """(w, x, y, z) of a rotation, by its largest component, which loses no digits."""
    (a, b, c), (d, e, f), (g, h, i) = ([float(x) for x in row] for row in R.rows)
    squares = (1 + a + e + i, 1 + a - e - i, 1 - a + e - i, 1 - a - e + i)  # 4 w^2, 4 x^2, 4 y^2, 4 z^2
    k = max(range(4), key=lambda j: squares[j])
    s = 2 * math.sqrt(squares[k])
    return (
        (s / 4, (h - f) / s, (c - g) / s, (d - b) / s),
        ((h - f) / s, s / 4, (b + d) / s, (c + g) / s),
        ((c - g) / s, (b + d) / s, s / 4, (f + h) / s),
        ((d - b) / s, (c + g) / s, (f + h) / s, s / 4),
    )[k]


# Small things -------------------------------------------------------------------------------------------------------


def all_named(element: Element, tag: str) -> list[Element]:
    return [child for child in element if local_name(child) == tag]


def known(value: str, known: Sequence[str], kind: str, where: str) -> str:
    if value not in known:
        raise unknown_name(kind, shown(value), known, where=where)
    return value


def rotation(v: Sequence[Scalar], where: str) -> Mat3:
    """(w, x, y, z), of any length but zero."""
    length = math.sqrt(sum(float(x) ** 2 for x in v))
    if length < 1e-15:
        raise RobotError("a quaternion of length zero", where=where, expected="w x y z, not all zero")
    w, x, y, z = (float(c) / length for c in v)
    return Mat3(
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        )
    )


def _turned(axis: Vec3, angle: float) -> Mat3:
    """The rotation about an axis."""
    half = 0.5 * float(angle)
    return rotation((math.cos(half), *(math.sin(half) * float(x) for x in axis)), "")


def to_axis(z: Vec3) -> Mat3:
    """The smallest rotation that takes z to this direction."""
    c = float(z.z)
    if c < -1 + 1e-12:
        return rot_x(math.pi)
    return rotation((1 + c, -float(z.y), float(z.x), 0.0), "")
