"""MJCF text -> Robot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from xml.etree.ElementTree import Element

from armdyn.algebra import Z_AXIS, ZERO, CentralInertia, Inertia, Mat3, Pose, Scalar, Vec3
from armdyn.conventions import GRAVITY
from armdyn.errors import ArmdynError, FileError, RobotError
from armdyn.formats import urdf_read
from armdyn.formats.mjcf_shapes import SIZES, gyration, volume
from armdyn.formats.mjcf_values import Compiler, Posed, all_named, default_classes, known, to_axis
from armdyn.formats.safe_xml import Document, local_name, parse
from armdyn.formats.text import NOT_READ, read_text
from armdyn.formats.xml_values import shown
from armdyn.robot.edit import numeric_placement
from armdyn.robot.parts import Body, FreeTransform, Friction, Joint, Kind, Limits, Placement, Rotor
from armdyn.robot.record import unit
from armdyn.robot.robot import Robot

KINDS: dict[str, Kind] = {"hinge": "revolute", "slide": "prismatic"}
REFUSED = {
    "free": "A robot of armdyn stands on a fixed base: remove the joint, or the whole body if it is a loose object.",
    "ball": "Write it as three hinges on one body.",
}
UNREADABLE = {
    "include": "Join the files first: `mujoco.MjSpec.from_file(FILE).to_xml()` writes one file.",
    "replicate": "Write the copies out: `mujoco.MjSpec.from_file(FILE).to_xml()` does it.",
    "attach": "Write the model out: `mujoco.MjSpec.from_file(FILE).to_xml()` does it.",
    "composite": "Write it as bodies and joints.",
    "flexcomp": "Soft bodies are not supported: remove it.",
}
ROOT = "world"
TOOL = urdf_read.TOOL
DENSITY = 1000.0
"""kg/m^3, MJCF's default."""
LARGEST_SHAPE = 1e9
"""m; masses grow with the third power."""


def read(path: Path) -> Robot:
    """The robot of an MJCF file."""
    source = f"MJCF file {path.name}"
    return loads(read_text(path), str(path), source if source.isprintable() else "")


def loads(text: str, where: str = "MJCF text", source: str = "") -> Robot:
    """The robot of an MJCF text; `where` names it in messages."""
    document = parse(text, where)
    tag = local_name(document.root)
    if tag == "robot":
        return urdf_read.loads(text, where, source.replace("MJCF", "URDF"))
    if tag != "mujoco":
        raise FileError(f"the root element is <{shown(tag)}>", where=document.at(document.root),
                        expected="<mujoco> (MJCF) or <robot> (URDF)")  # fmt: skip
    for element in document.lines:
        if local_name(element) in UNREADABLE:
            raise FileError(f"<{local_name(element)}> is not supported", where=document.at(element),
                            advice=UNREADABLE[local_name(element)])  # fmt: skip
    reader = _Reader(document, Compiler.of(document), default_classes(document), _actuators(document))
    for world in all_named(document.root, "worldbody"):
        reader.children(world, ROOT, Pose.identity(), "main", "worldbody")
    try:
        return Robot(
            name=reader.name(document.root, "model", document.root.get("model", "robot")),
            tree=tuple(reader.tree),
            gravity=reader.gravity(),
            root=Body(ROOT),
            tool_on=TOOL if TOOL in reader.bodies else None,
            source=source,
            notes=tuple(reader.left_out()),
        )
    except ArmdynError as error:
        raise error.located(where) from None


# What stands outside the tree ---------------------------------------------------------------------------------------


def _actuators(document: Document) -> list[Element]:
    return [child for element in all_named(document.root, "actuator") for child in element if child.get("joint")]


# The tree -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reader(Posed):
    """Makes parts of elements, and the tree of them, parents before children."""

    actuators: Sequence[Element]
    tree: list[Joint] = field(default_factory=list)
    bodies: set[str] = field(default_factory=lambda: {ROOT})
    names: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    @cached_property
    def body_names(self) -> set[str]:
        """Names of the bodies of the file: sites may have the same."""
        return {str(element.get("name")) for element in self.document.lines if local_name(element) == "body"}

    def children(self, element: Element, parent: str, frame: Pose, childclass: str, label: str) -> None:
        """What stands in a body or frame: bodies, frames, sites."""
        for child in element:
            tag = local_name(child)
            if tag == "body":
                self.body(child, parent, frame, child.get("childclass", childclass))
            elif tag == "frame":
                inner = frame @ self.pose(child, label)
                self.children(child, parent, inner, child.get("childclass", childclass), label)
            elif tag == "site" and child.get("name"):
                self.site(self.full(child, childclass), parent, frame, label)

    def body(self, element: Element, parent: str, frame: Pose, childclass: str) -> None:
        name = self.name(element, "body", element.get("name") or f"body{len(self.bodies)}")
        label = f"body {shown(name)!r}"
        if name in self.bodies:
            raise RobotError(f"a second body is called {shown(name)!r}", where=self.document.at(element),
                             advice="Rename one of them.")  # fmt: skip
        self.bodies.add(name)
        parts = list(self.contents(element, childclass))
        joints = [self.full(child, inner) for child, _, inner in parts if local_name(child) in ("joint", "freejoint")]
        shapes = [(self.full(child, inner), pose) for child, pose, inner in parts if local_name(child) == "geom"]
        inertia = self.inertia(element, shapes, label, bool(joints))
        start = frame @ self.pose(element, label)
        if not joints:
            self.add(
                Joint(self.fresh(name), "fixed", FreeTransform(numeric_placement(start)), parent, Body(name, inertia))
            )
        else:
            self.moving(joints, name, parent, start, inertia)
        if element.get("gravcomp") and self.number(element, "gravcomp", label) != 0:
            self.notes.append(f"{label}: gravity compensation")
        self.children(element, name, Pose.identity(), childclass, label)

    def contents(self, element: Element, childclass: str, frame: Pose | None = None) -> list[tuple[Element, Pose, str]]:
        """Joints and shapes of a body, also those inside its frames, with the frame's pose and default class."""
        frame = frame or Pose.identity()
        found: list[tuple[Element, Pose, str]] = []
        for child in element:
            if local_name(child) == "frame":
                inner = frame @ self.pose(child, "frame")
                found += self.contents(child, child.get("childclass", childclass), inner)
            else:
                found.append((child, frame, childclass))
        return found

    def moving(self, joints: list[Element], name: str, parent: str, start: Pose, inertia: CentralInertia) -> None:
        """The joints of one body: MuJoCo turns about the first, then the second as moved by the first, and so on.

        Each turns about a line through its own anchor, so that frames stand on the axes between them; the body's frame
        follows at the end.
        """
        anchor = ZERO
        for number, element in enumerate(joints):
            label = f"joint {shown(element.get('name', name))!r}"
            kind = self.kind(element, label)
            pos = self.vector(element, "pos", label) if kind == "revolute" else anchor
            before = (start if number == 0 else Pose.identity()) @ Pose(Mat3.identity(), pos - anchor)
            last = number == len(joints) - 1 and pos == ZERO
            body = Body(name, inertia) if last else Body(self.fresh_body(f"{name}_axis"))
            self.add(self.joint(element, kind, label, name, numeric_placement(before), parent, body))
            parent, anchor = body.name, pos
        if parent != name:
            placement = Placement(-anchor)
            self.add(Joint(self.fresh(f"{name}_frame"), "fixed", FreeTransform(placement), parent, Body(name, inertia)))

    def site(self, element: Element, parent: str, frame: Pose, label: str) -> None:
        """A named site is a frame that a tool may stand in: a body without mass."""
        name = self.name(element, "site", str(element.get("name")))
        if name not in self.bodies and name not in self.body_names:
            placement = numeric_placement(frame @ self.pose(element, f"site {shown(name)!r}"))
            self.bodies.add(name)
            self.add(Joint(self.fresh(f"{name}_site"), "fixed", FreeTransform(placement), parent, Body(name)))

    def add(self, joint: Joint) -> None:
        self.tree.append(joint)

    def fresh(self, name: str) -> str:
        return _fresh(name, self.names)

    def fresh_body(self, name: str) -> str:
        return _fresh(name, self.bodies)

    # Elements -------------------------------------------------------------------------------------------------------

    def kind(self, element: Element, label: str) -> Kind:
        stated = "free" if local_name(element) == "freejoint" else element.get("type", "hinge")
        where = self.document.at(element, label)
        if stated in REFUSED:
            raise RobotError(f"a joint of type {stated!r}", where=where, expected=f"one of: {', '.join(KINDS)}",
                             advice=REFUSED[stated])  # fmt: skip
        return KINDS[known(stated, tuple(KINDS), "joint type", where)]

    def joint(
        self, element: Element, kind: Kind, label: str, body: str, placement: Placement, parent: str, carried: Body
    ) -> Joint:
        turns = kind == "revolute"
        axis = unit(self.vector(element, "axis", label, Z_AXIS), self.document.at(element, f"{label}, axis"))
        zero = self.optional(element, "ref", label) or 0
        viscous, coulomb = (self.optional(element, key, label) or 0 for key in ("damping", "frictionloss"))
        armature = self.optional(element, "armature", label) or 0
        notes = [f"{NOT_READ}the joint's spring"] if self.optional(element, "stiffness", label) else []
        return Joint(
            name=self.fresh(self.name(element, "joint", element.get("name") or f"{body}_joint")),
            kind=kind,
            geometry=FreeTransform(placement, axis, -(self.angle(zero) if turns else zero)),
            parent=parent,
            body=carried,
            rotor=Rotor(inertia=armature) if armature else None,
            friction=Friction(viscous=viscous, coulomb=coulomb) if viscous or coulomb else None,
            limits=self.limits(element, turns, label),
            notes=tuple(notes),
        )

    def limits(self, element: Element, turns: bool, label: str) -> Limits | None:
        given: dict[str, Scalar] = {}
        if "range" in element.attrib and self.limited(element, "limited"):
            pair = self.numbers(element.attrib["range"], 2, element, "range", label)
            given["lower"], given["upper"] = (self.angle(x) if turns else x for x in pair)
        torque = self.torque(element, label)
        if torque is not None:
            given["torque"] = torque
        return Limits(**given) if given else None

    def limited(self, element: Element, key: str) -> bool:
        stated = element.get(key, "auto")
        return self.compiler.autolimits if stated == "auto" else stated == "true"

    def torque(self, joint: Element, label: str) -> Scalar | None:
        """What the joint or its actuators allow, in the weaker direction."""
        bounds: list[float] = []
        if "actuatorfrcrange" in joint.attrib and self.limited(joint, "actuatorfrclimited"):
            bounds.append(self.weaker(joint, "actuatorfrcrange", label))
        for actuator in self.actuators:
            if actuator.get("joint") == joint.get("name"):
                whole = self.full(actuator, "main")
                key = "forcerange" if "forcerange" in whole.attrib else "ctrlrange"
                if key == "ctrlrange" and local_name(whole) != "motor":
                    continue
                if key in whole.attrib and self.limited(whole, key.replace("range", "limited")):
                    gear = self.first(whole, "gear", 1, label)[0] if "gear" in whole.attrib else 1.0
                    bounds.append(abs(gear) * self.weaker(whole, key, label))
        positive = [bound for bound in bounds if bound > 0]
        return min(positive) if positive else None

    def first(self, element: Element, key: str, count: int, label: str) -> list[float]:
        """The first numbers of an attribute that may have more."""
        text = " ".join(element.get(key, "").split()[:count])
        return [float(x) for x in self.numbers(text, count, element, key, label)]

    def weaker(self, element: Element, key: str, label: str) -> float:
        low, high = self.numbers(element.attrib[key], 2, element, key, label)
        return min(abs(float(low)), abs(float(high)))

    # Inertias -------------------------------------------------------------------------------------------------------

    def inertia(self, body: Element, shapes: Sequence[tuple[Element, Pose]], label: str, moves: bool) -> CentralInertia:
        inertials = all_named(body, "inertial")
        if inertials and self.compiler.from_shapes != "true":
            return self.given(inertials[0], label)
        if self.compiler.from_shapes == "false":
            return CentralInertia(0, ZERO, Mat3.zero())
        total = Inertia.zero()
        low, high = self.compiler.groups
        for shape, frame in shapes:
            if low <= int(self.optional(shape, "group", label) or 0) <= high:
                total = total + self.shape(shape, label, moves).seen_from(frame)
        return total.about_com() if total.mass else CentralInertia(0, ZERO, Mat3.zero())

    def given(self, inertial: Element, label: str) -> CentralInertia:
        mass = self.number(inertial, "mass", label)
        com = self.vector(inertial, "pos", label)
        if "fullinertia" in inertial.attrib:
            xx, yy, zz, xy, xz, yz = self.numbers(inertial.attrib["fullinertia"], 6, inertial, "fullinertia", label)
            return CentralInertia(mass, com, Mat3.symmetric(xx, xy, xz, yy, yz, zz))
        if "diaginertia" not in inertial.attrib:
            raise RobotError("an <inertial> without a tensor", where=self.document.at(inertial, label),
                             expected="diaginertia or fullinertia")  # fmt: skip
        diagonal = self.numbers(inertial.attrib["diaginertia"], 3, inertial, "diaginertia", label)
        return CentralInertia(mass, com, _turned_tensor(self.orientation(inertial, label), diagonal))

    def shape(self, shape: Element, label: str, moves: bool) -> Inertia:
        """The inertia of a primitive, in the body's frame; a mesh has none without its file."""
        kind = shape.get("type", "sphere" if "mesh" not in shape.attrib else "mesh")
        mass = self.optional(shape, "mass", label)
        density = self.optional(shape, "density", label)
        if mass == 0 or (mass is None and density == 0):
            return Inertia.zero()
        if kind not in SIZES:
            if moves or kind in ("mesh", "sdf"):
                self.notes.append(f"{label}: mass of a shape of type {shown(kind)!r}")
            return Inertia.zero()
        pose, size = self.extent(shape, kind, label)
        if not all(0 < x < LARGEST_SHAPE for x in size):
            sizes = " ".join(f"{x:g}" for x in size)
            raise RobotError(f"a shape of size {sizes}", where=self.document.at(shape, label),
                             expected=f"sizes greater than zero, below {LARGEST_SHAPE:g} m")  # fmt: skip
        weight = (
            float(mass) if mass is not None else float(DENSITY if density is None else density) * volume(kind, size)
        )
        tensor = _turned_tensor(pose.R, [weight * g for g in gyration(kind, size)])
        return CentralInertia(weight, pose.p, tensor).at_origin()

    def extent(self, shape: Element, kind: str, label: str) -> tuple[Pose, list[float]]:
        """Where a shape stands and how large it is; `fromto` gives the ends of a long one."""
        needed = SIZES[kind]
        if "fromto" in shape.attrib:
            ends = self.numbers(shape.attrib["fromto"], 6, shape, "fromto", label)
            first, second = Vec3(*ends[:3]), Vec3(*ends[3:])
            along = second - first
            length = math.sqrt(float(along.dot(along)))
            R = to_axis(unit(along, self.document.at(shape, f"{label}, fromto")))
            size = [*self.first(shape, "size", 1, label) * (needed - 1), length / 2]
            return Pose(R, (first + second) * 0.5), size
        return self.pose(shape, label), self.first(shape, "size", needed, label)

    # The whole ------------------------------------------------------------------------------------------------------

    def gravity(self) -> Vec3:
        found = Vec3(*GRAVITY)
        for option in all_named(self.document.root, "option"):
            found = self.vector(option, "gravity", "option", found)
        return found

    def left_out(self) -> list[str]:
        """Notes on what the file contains and a Robot cannot represent."""
        notes = list(dict.fromkeys(self.notes))
        for tag in ("tendon", "equality"):
            if any(len(element) for element in all_named(self.document.root, tag)):
                notes.append(f"<{tag}>")
        for element in all_named(self.document.root, "compiler"):
            notes += [
                f"compiler {key}" for key in ("settotalmass", "boundmass", "boundinertia") if key in element.attrib
            ]
        return [f"{NOT_READ}{note}" for note in notes]


# Small things -------------------------------------------------------------------------------------------------------


def _fresh(name: str, taken: set[str]) -> str:
    found, number = name, 2
    while found in taken:
        found, number = f"{name}{number}", number + 1
    taken.add(found)
    return found


def _turned_tensor(R: Mat3, diagonal: Sequence[Scalar]) -> Mat3:
    a, b, c = diagonal
    return Mat3.symmetric(*(R @ Mat3.symmetric(a, 0, 0, b, 0, c) @ R.T).upper())


__all__ = ["loads", "read"]
