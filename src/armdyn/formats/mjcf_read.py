"""MJCF text -> Robot."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from xml.etree.ElementTree import Element

from armdyn.algebra import Z_AXIS, ZERO, CentralInertia, Mat3, Pose, Scalar
from armdyn.errors import ArmdynError, FileError, RobotError, unknown_name
from armdyn.formats import urdf_read
from armdyn.formats.mjcf_attach import attached
from armdyn.formats.mjcf_equality import Equalities
from armdyn.formats.mjcf_expand import included, replicated
from armdyn.formats.mjcf_inertia import Weighed
from armdyn.formats.mjcf_values import Compiler, Options, all_named, default_classes, known
from armdyn.formats.safe_xml import XmlDocument, local_name, parse
from armdyn.formats.schema import Schema, schema
from armdyn.formats.text import NOT_READ, read_text
from armdyn.formats.xml_values import shown
from armdyn.robot.compounds import POSITIONS, expanded
from armdyn.robot.edit import numeric_placement
from armdyn.robot.parts import (
    Body,
    CompoundKind,
    FreeTransform,
    Friction,
    Joint,
    Kind,
    Limits,
    Placement,
    RobotFile,
    Rotor,
    Spring,
)
from armdyn.robot.record import unit
from armdyn.robot.robot import Robot

KINDS: dict[str, Kind] = {"hinge": "revolute", "slide": "prismatic", "free": "fixed", "ball": "fixed"}
"""Joints of several degrees of freedom are fixed ones until they are expanded."""
ROOT = "world"
TOOL = urdf_read.TOOL
TARGETS = {
    "joint": "joint",
    "jointinparent": "joint",
    "tendon": "tendon",
    "tendon1": "tendon",
    "tendon2": "tendon",
    "site": "site",
    "cranksite": "site",
    "slidersite": "site",
    "refsite": "site",
    "geom": "geom",
}
"""Attributes by which actuators, tendons and equalities name what they act on, and what that is."""
KIND_OF_TAG = {"freejoint": "joint", "fixed": "tendon", "spatial": "tendon"}
"""Elements that are referred to under another name than their tag's."""
BODY_REFERENCES = ("body", "body1", "body2", "objname", "refname", "target")
"""Attributes that refer to a body by its name."""


def read(path: Path, free_root: bool | None = None) -> Robot:
    """The robot of an MJCF file."""
    source, text = f"MJCF file {path.name}", read_text(path)
    robot = loads(text, str(path), source if source.isprintable() else "", free_root, path.parent)
    return replace(robot, file=RobotFile("urdf" if robot.source.startswith("URDF") else "mjcf", str(path), text))


def loads(
    text: str,
    where: str = "MJCF text",
    source: str = "",
    free_root: bool | None = None,
    folder: Path | None = None,
) -> Robot:
    """The robot of an MJCF text.

    where: name of the text in messages.
    source: where it comes from.
    free_root: False welds bodies with a free joint to the world.
    folder: where the files that it includes are (None: it may include none).
    """
    document = parse(text, where)
    tag = local_name(document.root)
    if tag == "robot":
        return urdf_read.loads(text, where, source.replace("MJCF", "URDF"), free_root)
    if tag != "mujoco":
        raise FileError(
            f"the root element is <{shown(tag)}>",
            where=document.at(document.root),
            expected="<mujoco> (MJCF) or <robot> (URDF)",
        )
    reader = reading(document, folder, free_root)
    constraints = Equalities(reader)
    try:
        robot = Robot(
            name=reader.name(document.root, "model", document.root.get("model", "robot")),
            tree=tuple(reader.scaled()),
            gravity=reader.options.gravity,
            root=Body(ROOT),
            tool_on=TOOL if TOOL in reader.bodies else None,
            source=source,
            configurations=reader.keyframes(),
        )
        closed = constraints.applied(robot)
        unread = dict.fromkeys((*reader.notes, *constraints.notes))
        return replace(closed, notes=(*closed.notes, *(f"{NOT_READ}{note}" for note in unread)))
    except ArmdynError as error:
        raise error.located(where) from None


def reading(document: XmlDocument, folder: Path | None, free_root: bool | None = None) -> Reader:
    """The parts of a document; arguments as in `loads`."""
    included(document, folder)
    listed = schema("mjcf")
    notes = listed.check(document)
    notes += attached(document, folder)
    replicated(document)
    reader = Reader(
        document,
        Compiler.of(document),
        Options.of(document),
        default_classes(document),
        folder=folder,
        schema=listed,
        weld=free_root is False,
        notes=notes,
    )
    reader.require_different_names()
    reader.require_targets()
    reader.outside()
    for world in all_named(document.root, "worldbody"):
        reader.children(world, ROOT, Pose.identity(), "main", "worldbody")
    return reader


# The tree -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reader(Weighed):
    """Makes parts of elements, and the tree of them, parents before children."""

    schema: Schema = field(default_factory=lambda: schema("mjcf"))
    weld: bool = False
    actuators: dict[str, list[Element]] = field(default_factory=dict)
    """The actuators of each joint, complete."""
    tree: list[Joint] = field(default_factory=list)
    bodies: set[str] = field(default_factory=lambda: {ROOT})
    names: set[str] = field(default_factory=set)
    coordinates: list[str | None] = field(default_factory=list)
    """What the entries of qpos stand for (None: for a joint that is welded)."""
    shapes: list[tuple[str, Element, Pose]] = field(default_factory=list)
    """Body, geom (complete) and frame that it stands in."""

    @cached_property
    def body_names(self) -> set[str]:
        """Names of the bodies of the file: sites may have the same."""
        return {str(element.get("name")) for element in self.document.lines if local_name(element) == "body"}

    def outside(self) -> None:
        """What stands outside the tree: actuators by joint, and notes on tendons that act."""
        for section in ("actuator", "tendon"):
            for element in (child for part in all_named(self.document.root, section) for child in part):
                whole = self.whole(element, "main", section)
                joint = whole.get("joint") or whole.get("jointinparent")
                if section == "actuator" and joint:
                    self.actuators.setdefault(joint, []).append(whole)

    def whole(self, element: Element, childclass: str, parent: str) -> Element:
        """The element with the values of its default class; those that are not read are noted."""
        made = self.full(element, childclass)
        self.notes.extend(self.schema.values(self.document, made, parent))
        return made

    def children(self, element: Element, parent: str, frame: Pose, childclass: str, label: str) -> None:
        """What stands in a body or frame: bodies, frames, sites."""
        for child in element:
            tag = local_name(child)
            if tag == "body":
                self.body(child, parent, frame, child.get("childclass", childclass))
            elif tag == "frame":
                inner = frame @ self.pose(child, label)
                self.children(child, parent, inner, child.get("childclass", childclass), label)
            elif tag == "geom" and label == "worldbody":
                self.shapes.append((ROOT, self.full(child, childclass), frame))
            elif tag == "site" and child.get("name"):
                self.site(self.full(child, childclass), parent, frame, label)

    def body(self, element: Element, parent: str, frame: Pose, childclass: str) -> None:
        name = self.name(element, "body", element.get("name") or f"body{len(self.bodies)}")
        label = f"body {shown(name)!r}"
        if name in self.bodies:
            raise RobotError(
                f"a second body is called {shown(name)!r}",
                where=self.document.at(element),
                advice="Rename one of them.",
            )
        self.bodies.add(name)
        parts = [(child, pose, local_name(child), inner) for child, pose, inner in self.contents(element, childclass)]
        joints = [
            (self.whole(child, inner, "body"), pose)
            for child, pose, tag, inner in parts
            if tag in ("joint", "freejoint")
        ]
        welded = [child for child, _ in joints if self.weld and _is_free(child)]
        self.coordinates.extend([None] * 7 * len(welded))
        joints = [(child, pose) for child, pose in joints if child not in welded]
        shapes = [(self.whole(child, inner, "body"), pose) for child, pose, tag, inner in parts if tag == "geom"]
        self.shapes.extend((name, shape, pose) for shape, pose in shapes)
        inertials = [(child, pose) for child, pose, tag, _ in parts if tag == "inertial"]
        inertia = self.inertia(inertials, shapes, label, bool(joints))
        if not inertia.mass and self.compiler.least_mass:
            # MuJoCo gives the inertia that a body lacks the body's own pose, once more from the body's frame.
            inertia = replace(inertia, com=self.pose(element, label).p)
        inertia = self.bounded(inertia)
        lifted = self.number(element, "gravcomp", label) if element.get("gravcomp") else 0
        whole = Body(name, inertia, lifted)
        start = frame @ self.pose(element, label)
        if not joints:
            self.add(Joint(self.fresh(name), "fixed", FreeTransform(numeric_placement(start)), parent, whole))
        else:
            self.moving(joints, whole, parent, start)
        self.children(element, name, Pose.identity(), childclass, label)

    def contents(self, element: Element, childclass: str, frame: Pose | None = None) -> list[tuple[Element, Pose, str]]:
        """Joints, shapes and inertia of a body, also inside its frames, with the frame's pose and default class."""
        frame = frame or Pose.identity()
        found: list[tuple[Element, Pose, str]] = []
        for child in element:
            if local_name(child) == "frame":
                inner = frame @ self.pose(child, "frame")
                found += self.contents(child, child.get("childclass", childclass), inner)
            else:
                found.append((child, frame, childclass))
        return found

    def moving(self, joints: list[tuple[Element, Pose]], whole: Body, parent: str, start: Pose) -> None:
        """The joints of one body: MuJoCo turns about the first, then the second as moved by the first, and so on.

        Each turns about a line through its own anchor, so that frames stand on the axes between them; the body's frame
        follows at the end.
        """
        anchor, name = ZERO, whole.name
        for number, (element, frame) in enumerate(joints):
            label = f"joint {shown(element.get('name', name))!r}"
            stated = self.stated(element, label)
            kind = KINDS[stated]
            several: CompoundKind | None = "free" if stated == "free" else "ball" if stated == "ball" else None
            if several == "free" and (len(joints) > 1 or parent != ROOT):
                raise RobotError(
                    "a free joint beside or below others",
                    where=self.document.at(element, label),
                    expected="one on a body of the world, alone",
                )
            pos = frame.p + frame.R @ self.vector(element, "pos", label) if stated in ("hinge", "ball") else anchor
            axis = frame.R @ unit(self.vector(element, "axis", label, Z_AXIS), self.document.at(element, label))
            before = (start if number == 0 else Pose.identity()) @ Pose(Mat3.identity(), pos - anchor)
            last = number == len(joints) - 1 and pos == ZERO
            body = whole if last else Body(self.fresh_body(f"{name}_axis"))
            if several:  # a free joint's position is that of its body in the world
                geometry = FreeTransform(numeric_placement(before) if stated == "ball" else Placement())
                whole_joint = self.joint(element, kind, label, name, geometry, parent, body)
                self.tree.extend(expanded(self.bare(whole_joint, several), several))
                self.coordinates.extend(f"{whole_joint.name} {entry}" for entry in POSITIONS[several])
            else:
                geometry = FreeTransform(numeric_placement(before), axis, self.zero(element, kind, label))
                self.add(self.joint(element, kind, label, name, geometry, parent, body))
                self.coordinates.append(self.tree[-1].name)
            parent, anchor = body.name, pos
        if parent != name:
            placement = Placement(-anchor)
            self.add(Joint(self.fresh(f"{name}_frame"), "fixed", FreeTransform(placement), parent, whole))

    def site(self, element: Element, parent: str, frame: Pose, label: str) -> None:
        """A named site is a frame that a tool may stand in: a body without mass."""
        name = self.name(element, "site", str(element.get("name")))
        if name not in self.bodies and name not in self.body_names:
            placement = numeric_placement(frame @ self.stretched(element, f"site {shown(name)!r}")[0])
            self.bodies.add(name)
            self.add(Joint(self.fresh(f"{name}_site"), "fixed", FreeTransform(placement), parent, Body(name)))

    def add(self, joint: Joint) -> None:
        self.tree.append(joint)

    def fresh(self, name: str) -> str:
        return _fresh(name, self.names)

    def fresh_body(self, name: str) -> str:
        return _fresh(name, self.bodies)

    def keyframes(self) -> dict[str, dict[str, Scalar]]:
        """The keyframes that give positions; those without a name are numbered."""
        found: dict[str, dict[str, Scalar]] = {}
        keys = [key for section in all_named(self.document.root, "keyframe") for key in all_named(section, "key")]
        for number, key in enumerate(keys, start=1):
            if "qpos" in key.attrib:
                name = self.name(key, "key", key.get("name") or f"key{number}")
                entries = self.numbers(key.attrib["qpos"], len(self.coordinates), key, "qpos", f"key {shown(name)!r}")
                given = zip(self.coordinates, entries, strict=True)
                found[name] = {entry: value for entry, value in given if entry is not None}
        return found

    def scaled(self) -> list[Joint]:
        """The tree with all masses scaled to the total mass that the compiler asks for."""
        wanted = self.compiler.total_mass
        fused = self.fused_into_the_world() if self.compiler.fuse_static else set()
        total = sum(float(joint.body.inertia.mass) for joint in self.tree if joint.body.name not in fused)
        if wanted <= 0 or not total:
            return self.tree
        factor = wanted / total
        return [replace(joint, body=_heavier(joint.body, factor)) for joint in self.tree]

    def fused_into_the_world(self) -> set[str]:
        """Bodies that are welded to the world and that nothing refers to: with fusestatic they have no mass."""
        referred = {
            value
            for element in self.document.root.iter()
            for key, value in element.attrib.items()
            if key in BODY_REFERENCES
        }
        fused = {ROOT}
        for joint in self.tree:  # parents before children
            if joint.kind == "fixed" and joint.parent in fused and joint.body.name not in referred:
                fused.add(joint.body.name)
        return fused

    def require_different_names(self) -> None:
        """Refuse two bodies, joints, shapes or sites of one name, as MuJoCo does: who refers to it may mean either."""
        taken: set[tuple[str, str]] = set()
        for world in all_named(self.document.root, "worldbody"):
            for element in (each for each in world.iter() if each.get("name")):
                kind = local_name(element).replace("freejoint", "joint")
                if (kind, element.attrib["name"]) in taken:
                    raise RobotError(
                        f"a second {kind} is called {shown(element.attrib['name'])!r}",
                        where=self.document.at(element, f"<{kind}>"),
                        expected="different names",
                    )
                taken.add((kind, element.attrib["name"]))

    def require_targets(self) -> None:
        """Refuse actuators, tendons and equalities that act on something that the file does not have."""
        names: dict[str, set[str]] = {}
        for element in self.document.root.iter():
            if element.get("name"):
                kind = KIND_OF_TAG.get(local_name(element), local_name(element))
                names.setdefault(kind, set()).add(element.attrib["name"])
        for section in ("actuator", "tendon", "equality"):
            for part in all_named(self.document.root, section):
                for element in part.iter():
                    for key, kind in TARGETS.items():
                        target = element.get(key)
                        if target is not None and target not in names.get(kind, ()):
                            where = self.document.at(element, f"<{section}>")
                            raise unknown_name(kind, target, sorted(names.get(kind, ())), where)

    # Elements -------------------------------------------------------------------------------------------------------

    def stated(self, element: Element, label: str) -> str:
        """The joint's type, in the words of the file."""
        stated = "free" if _is_free(element) else element.get("type", "hinge")
        return known(stated, tuple(KINDS), "joint type", self.document.at(element, label))

    def bare(self, joint: Joint, stated: CompoundKind) -> Joint:
        """A free or ball joint without what it cannot have; what acts is noted."""
        lost = [name for name in ("rotor", "spring") if getattr(joint, name) is not None]
        friction = joint.friction
        if stated == "free" and friction is not None and friction.coulomb:
            friction, lost = replace(friction, coulomb=0), [*lost, "dry friction"]
        self.notes.extend(f"joint {joint.name!r}: {_WORDS.get(name, name)} of a {stated} joint" for name in lost)
        return replace(joint, rotor=None, spring=None, limits=None, friction=friction)

    def zero(self, element: Element, kind: Kind, label: str) -> Scalar:
        """What is added to the joint variable: `ref` is its value in the configuration of the file."""
        zero = self.optional(element, "ref", label) or 0
        return -(self.angle(zero) if kind == "revolute" else zero)

    def spring(self, element: Element, kind: Kind, label: str) -> tuple[Spring | None, list[str]]:
        """The spring of a joint, and a note on one whose stiffness varies."""
        stiffness, *higher = self.polynomial(element, "stiffness", label)
        if "spring" in self.options.disabled or not any((stiffness, *higher)):
            return None, []
        if any(higher):
            return None, [f"{NOT_READ}the joint's spring, whose stiffness is not constant"]
        rest = self.optional(element, "springref", label) or 0
        return Spring(stiffness, self.angle(rest) if kind == "revolute" else rest), []

    def joint(
        self, element: Element, kind: Kind, label: str, body: str, geometry: FreeTransform, parent: str, carried: Body
    ) -> Joint:
        armature, viscous = self.optional(element, "armature", label) or 0, self.damping(element, label)
        for actuator in self.actuators.get(element.get("name", ""), ()):
            gear = self.gear(actuator, label)
            armature += gear**2 * (self.optional(actuator, "armature", label) or 0)
            viscous += gear**2 * self.damping(actuator, label)
        coulomb = self.optional(element, "frictionloss", label) or 0
        viscous, coulomb = (
            0 if flag in self.options.disabled else value
            for flag, value in (("damper", viscous), ("frictionloss", coulomb))
        )
        spring, notes = self.spring(element, kind, label)
        return Joint(
            name=self.fresh(self.name(element, "joint", element.get("name") or f"{body}_joint")),
            kind=kind,
            geometry=geometry,
            parent=parent,
            body=carried,
            rotor=Rotor(inertia=armature) if armature else None,
            friction=Friction(viscous=viscous, coulomb=coulomb) if viscous or coulomb else None,
            limits=self.limits(element, kind == "revolute", label),
            notes=tuple(notes),
            spring=spring,
        )

    def damping(self, element: Element, label: str) -> Scalar:
        """The factor of the rate; factors of its higher powers are noted."""
        first, *higher = self.polynomial(element, "damping", label)
        if any(higher):
            self.notes.append(f"{label}: damping that is not proportional to the rate")
        return first

    def polynomial(self, element: Element, key: str, label: str) -> list[Scalar]:
        """The coefficients of an attribute that may have up to three."""
        text = element.get(key, "0")
        return self.numbers(text, min(max(len(text.split()), 1), 3), element, key, label)

    def gear(self, actuator: Element, label: str) -> float:
        return self.first(actuator, "gear", 1, label)[0] if "gear" in actuator.attrib else 1.0

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
        for actuator in self.actuators.get(joint.get("name", ""), ()):
            key = "forcerange" if "forcerange" in actuator.attrib else "ctrlrange"
            if key == "ctrlrange" and local_name(actuator) != "motor":
                continue
            if key in actuator.attrib and self.limited(actuator, key.replace("range", "limited")):
                bounds.append(abs(self.gear(actuator, label)) * self.weaker(actuator, key, label))
        positive = [bound for bound in bounds if bound > 0]
        return min(positive) if positive else None

    def weaker(self, element: Element, key: str, label: str) -> float:
        low, high = self.numbers(element.attrib[key], 2, element, key, label)
        return min(abs(float(low)), abs(float(high)))


# Small things -------------------------------------------------------------------------------------------------------


_WORDS = {"rotor": "armature"}


def _is_free(joint: Element) -> bool:
    return local_name(joint) == "freejoint" or joint.get("type") == "free"


def _heavier(body: Body, factor: float) -> Body:
    inertia = body.inertia.about_com()
    tensor = Mat3.symmetric(*(factor * x for x in inertia.tensor.upper()))
    return replace(body, inertia=CentralInertia(factor * inertia.mass, inertia.com, tensor))


def _fresh(name: str, taken: set[str]) -> str:
    found, number = name, 2
    while found in taken:
        found, number = f"{name}{number}", number + 1
    taken.add(found)
    return found


__all__ = ["loads", "read"]
