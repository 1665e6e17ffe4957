"""URDF text -> Robot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree.ElementTree import Element

from armdyn.algebra import CentralInertia, Mat3, Scalar, Vec3
from armdyn.algebra.ops import tidy
from armdyn.errors import ArmdynError, FileError, RobotError, unknown_name
from armdyn.formats.safe_xml import XmlDocument, local_name, parse
from armdyn.formats.schema import namespace, schema
from armdyn.formats.text import MIMIC, NOT_READ, read_text
from armdyn.formats.xml_values import Values, shown
from armdyn.robot.compounds import expanded, in_plane
from armdyn.robot.parts import Body, FreeTransform, Friction, Joint, Kind, Limits, Mimic, Placement, RobotFile, Rotor
from armdyn.robot.record import unit
from armdyn.robot.robot import Robot

KINDS: dict[str, Kind] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
}
SHAPES = ("visual", "collision")
AXLESS = ("floating", "spherical")
SEVERAL = (*AXLESS, "planar")
"""Types of joints with several degrees of freedom."""
WORLD = "world"
"""A parent link of this name need not be declared."""
TOOL = "tool"
"""A link of this name is the tool frame, for the writer as for the reader."""
UNLIMITED = 1e30
"""A limit of this size or larger means none. It fits a single-precision number, which some readers use."""
MOST_LINKS = 10_000

_PRODUCTS = ("ixy", "ixz", "iyz")
_TENSOR = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def read(path: Path, free_root: bool | None = None) -> Robot:
    """The robot of a URDF file."""
    source, text = f"URDF file {path.name}", read_text(path)
    robot = loads(text, str(path), source if source.isprintable() else "", free_root)
    return replace(robot, file=RobotFile("urdf", str(path), text))


def loads(text: str, where: str = "URDF text", source: str = "", free_root: bool | None = None) -> Robot:
    """The robot of a URDF text.

    where: name of the text in messages.
    source: where it comes from.
    free_root: False welds floating joints.
    """
    document = parse(text, where)
    leftover = _checked_root(document)
    try:
        return _robot(document, source, free_root, leftover)
    except ArmdynError as error:
        if leftover:  # it is not complete without them
            raise _xacro(document, leftover[0]) from error
        raise


def _robot(document: XmlDocument, source: str, free_root: bool | None, leftover: Sequence[Element]) -> Robot:
    where, notes = document.name, schema("urdf").check(document)
    tags = dict.fromkeys(f"<xacro:{local_name(element)}>" for element in leftover)
    notes += [f"leftover tags of xacro: {', '.join(tags)}"] if tags else []
    links = _by_name(document, "link")
    joints = _by_name(document, "joint")
    if not links:
        raise RobotError("the robot has no link", where=where, expected="<link> elements in <robot>")
    if max(len(links), len(joints)) > MOST_LINKS:
        raise RobotError(f"{max(len(links), len(joints))} links", where=where, expected=f"at most {MOST_LINKS}")
    reader = _UrdfReader(document, joints, free_root is False, _rotors(document, notes), notes)
    bodies = {name: reader.body(name, element) for name, element in links.items()}
    if WORLD not in bodies and any(parent.get("link") == WORLD for parent in document.root.iter("parent")):
        bodies[WORLD] = Body(WORLD)  # by convention it need not be declared
    tree = [reader.joint(name, element, bodies) for name, element in joints.items()]
    root, ordered = _depth_first(tree, bodies, reader)
    ordered = tuple(part for joint in ordered for part in reader.parts(joint))
    try:
        return Robot(
            name=reader.name(document.root, "robot", document.root.get("name", "robot")),
            tree=ordered,
            tool_on=TOOL if TOOL in bodies else None,
            root=bodies[root],
            source=source,
            notes=tuple(f"{NOT_READ}{note}" for note in notes),
        )
    except ArmdynError as error:
        raise error.located(where) from None


def _checked_root(document: XmlDocument) -> list[Element]:
    """Check that the root is <robot>; return what xacro has left beside links and joints, and in their shapes."""
    tag = local_name(document.root)
    if tag != "robot":
        known = {"mujoco": "It is an MJCF file: name it .xml.", "sdf": "It is an SDF file: convert it to URDF first."}
        raise FileError(
            f"the root element is <{shown(tag)}>",
            where=document.at(document.root),
            expected="<robot>",
            advice=known.get(tag),
        )
    top = [child for child in document.root if _is_xacro(child)]
    others = [child for child in document.root if not _is_xacro(child)]
    shapes = {id(inner) for child in others for shape in child if local_name(shape) in SHAPES for inner in shape}
    left = [element for child in others for element in child.iter() if _is_xacro(element)]
    for element in left:
        if id(element) not in shapes:
            raise _xacro(document, element)
    return [*top, *left]


def _is_xacro(element: Element) -> bool:
    return namespace(element).endswith("xacro")


def _xacro(document: XmlDocument, element: Element) -> FileError:
    return FileError(
        f"<xacro:{local_name(element)}>: a xacro file, not yet a URDF file",
        where=document.at(element),
        advice="Run `xacro FILE > robot.urdf` and read that.",
    )


def _rotors(document: XmlDocument, notes: list[str]) -> dict[str, Rotor]:
    """Per joint, the gear ratio of its <transmission>, and the rotor that Drake's extension gives."""
    values, found = Values(document), {}
    for transmission in (child for child in document.root if local_name(child) == "transmission"):
        names = [child.get("name", child.text or "") for child in transmission if local_name(child) == "joint"]
        given = {local_name(element): element for element in transmission.iter()}
        label = "transmission"
        inertia = values.number(given["rotor_inertia"], "value", label) if "rotor_inertia" in given else 0
        ratio: Scalar = 1
        if "gear_ratio" in given:
            ratio = values.number(given["gear_ratio"], "value", label)
        elif "mechanicalReduction" in given:
            reduction = given["mechanicalReduction"]
            try:
                ratio = values.numbers(reduction.text or "1", 1, reduction, "mechanicalReduction", label)[0]
            except RobotError as error:  # of the actuator alone
                notes.append(
                    f"mechanicalReduction of the transmission of {', '.join(names) or 'no joint'}: {error.what}"
                )
        if len(names) == 1 and (inertia or ratio not in (0, 1)):
            found[names[0]] = Rotor(inertia=inertia, ratio=ratio)
    return found


def _by_name(document: XmlDocument, tag: str) -> dict[str, Element]:
    """The links or joints of the robot, in the order of the file."""
    found: dict[str, Element] = {}
    for element in document.root:
        if local_name(element) != tag:
            continue
        name = element.get("name")
        if not name:
            raise RobotError(f"a <{tag}> without a name", where=document.at(element), advice='Give it name="...".')
        if name in found:
            raise RobotError(
                f"a second {tag} is called {shown(name)!r}; the first is on line {document.lines[found[name]]}",
                where=document.at(element),
                advice="Rename one of them.",
            )
        found[name] = element
    return found


@dataclass(frozen=True)
class _UrdfReader(Values):
    """Makes parts of elements; knows where they stand."""

    joints: Mapping[str, Element]
    weld: bool
    rotors: Mapping[str, Rotor]
    notes: list[str]

    def child(self, element: Element, tag: str, label: str) -> Element | None:
        """The child of that tag, if there is one; two of them would contradict each other."""
        found = [child for child in element if local_name(child) == tag]
        if len(found) > 1:
            raise RobotError(f"two <{tag}>", where=self.document.at(found[1], label), expected="at most one")
        return found[0] if found else None

    def needed(self, element: Element, tag: str, label: str, advice: str) -> Element:
        child = self.child(element, tag, label)
        if child is None:
            raise RobotError(
                f"<{tag}> is missing in <{local_name(element)}>", where=self.document.at(element, label), advice=advice
            )
        return child

    def placement(self, element: Element, label: str) -> Placement:
        origin = self.child(element, "origin", label)
        return Placement(self.vector(origin, "xyz", label), self.vector(origin, "rpy", label))

    # Links --------------------------------------------------------------------------------------------------------

    def body(self, name: str, element: Element) -> Body:
        """A link. Without <inertial> it has no mass: URDF's rule for mere frames."""
        label = f"link {shown(name)!r}"
        body = Body(self.name(element, "link", name))
        inertial = self.child(element, "inertial", label)
        return body if inertial is None else Body(body.name, self.inertia(inertial, label))

    def inertia(self, inertial: Element, label: str) -> CentralInertia:
        """The tensor is given in the axes of the inertial origin; a Body wants it in those of the link."""
        advice = "Add it, or remove <inertial> if the link is a mere frame."
        mass = self.number(self.needed(inertial, "mass", label, advice), "value", label)
        entries = self.child(inertial, "inertia", label)
        tensor = Mat3.zero()
        if entries is not None:
            missing = [key for key in _PRODUCTS if key not in entries.attrib]
            if missing:
                self.notes.append(f"{label}: {', '.join(missing)}, for <inertia> does not give them: taken as zero")
            given = (0 if key in missing else self.number(entries, key, label) for key in _TENSOR)
            tensor = Mat3.symmetric(*given)
        elif mass:
            self.notes.append(f"{label}: an inertia tensor, for there is no <inertia>: the mass is taken as a point")
        R, com = self.placement(inertial, label).pose()
        turned = (R @ tensor @ R.T).upper()  # one triangle: rounding must not leave the tensor asymmetric
        return CentralInertia(mass, com, Mat3.symmetric(*turned))

    # Joints -------------------------------------------------------------------------------------------------------

    def joint(self, name: str, element: Element, bodies: Mapping[str, Body]) -> Joint:
        label = f"joint {shown(name)!r}"
        stated = self.text(element, "type", label)
        kind = self.kind(stated, element, label)
        parent, child = (self.end(element, end, label, bodies) for end in ("parent", "child"))
        geometry = FreeTransform(self.placement(element, label))
        if stated == "fixed" or (stated == "floating" and self.weld):
            return Joint(self.name(element, "joint", name), kind, geometry, parent, bodies[child])
        limits, notes = self.limits(element, label, stated == "continuous")
        return Joint(
            name=self.name(element, "joint", name),
            kind=kind,
            geometry=geometry
            if stated in ("floating", "spherical")
            else replace(geometry, axis=self.axis(element, label)),
            parent=parent,
            body=bodies[child],
            rotor=self.rotors.get(name),
            friction=self.friction(element, label),
            limits=limits,
            notes=(*notes, *self.lost_mimic(element, label)),
            mimic=self.mimic(element, label),
        )

    def kind(self, stated: str, element: Element, label: str) -> Kind:
        if stated in SEVERAL:
            return "fixed"  # until `parts` makes several joints of it
        if stated not in KINDS:
            raise unknown_name("joint type", shown(stated), (*KINDS, *SEVERAL), where=self.document.at(element, label))
        return KINDS[stated]

    def parts(self, joint: Joint) -> list[Joint]:
        """The joints of one degree of freedom that a joint of the file is."""
        stated = self.joints[joint.name].get("type")
        if stated == "floating" and not self.weld:
            return expanded(replace(joint, limits=None, mimic=None), "free")
        if stated == "spherical":  # of Bullet
            return expanded(replace(joint, limits=None, mimic=None), "ball")
        return in_plane(replace(joint, limits=None, mimic=None)) if stated == "planar" else [joint]

    def end(self, element: Element, end: str, label: str, bodies: Mapping[str, Body]) -> str:
        """The name of the parent or child link."""
        found = self.needed(element, end, label, f'Add <{end} link="..."/>.')
        name = self.text(found, "link", label)
        if name not in bodies:
            raise unknown_name(f"{end} link", shown(name), bodies, where=self.document.at(found, label))
        return name

    def axis(self, element: Element, label: str) -> Vec3:
        axis = self.child(element, "axis", label)
        x_axis = Vec3(1, 0, 0)  # URDF's default
        if axis is None:
            return x_axis
        return unit(self.vector(axis, "xyz", label, x_axis), self.document.at(axis, f"{label}, <axis xyz>"))

    def friction(self, element: Element, label: str) -> Friction | None:
        dynamics = self.child(element, "dynamics", label)
        if dynamics is None:
            return None
        viscous, coulomb = (self.optional(dynamics, key, label) or 0 for key in ("damping", "friction"))
        return Friction(viscous=viscous, coulomb=coulomb) if viscous or coulomb else None

    def limits(self, element: Element, label: str, continuous: bool) -> tuple[Limits | None, list[str]]:
        """The limits, and notes on values that were changed or ignored."""
        limit = self.child(element, "limit", label)
        if limit is None:
            return None, []
        notes = []
        values = {key: self.optional(limit, key, label) for key in ("lower", "upper", "velocity", "effort")}
        for key in ("velocity", "effort"):
            if values[key] == 0:
                # Both attributes are compulsory in URDF, so that generators write 0 for what they do not know; a
                # joint that may not move or be driven at all would be fixed.
                values[key] = None
                notes.append(f"{key} limit is 0 in the file: treated as not given")
        if continuous and (values["lower"] or values["upper"]):
            notes.append("range in the file is ignored: a continuous joint has none")
        if continuous:
            values["lower"] = values["upper"] = None
        elif (values["lower"] is None) != (values["upper"] is None):  # one alone: URDF's default of the other is 0
            values["lower"], values["upper"] = values["lower"] or 0, values["upper"] or 0
        given = {key: value for key, value in values.items() if value is not None and abs(value) < UNLIMITED}
        if "effort" in given:
            given["torque"] = given.pop("effort")
        return (Limits(**given) if given else None), notes

    def mimic(self, element: Element, label: str) -> Mimic | None:
        """How the joint follows another one; None if it does not, or follows one that does not move."""
        mimic = self.child(element, "mimic", label)
        if mimic is None:
            return None
        leader = self.name(mimic, "mimic", self.text(mimic, "joint", label))
        factor, offset = self.optional(mimic, "multiplier", label), self.optional(mimic, "offset", label)
        known = leader in self.joints and self.joints[leader].get("type") != "fixed"
        return Mimic(leader, tidy(1 if factor is None else factor), tidy(offset or 0)) if known else None

    def lost_mimic(self, element: Element, label: str) -> list[str]:
        """A note on a joint that should follow one that is not there."""
        mimic = self.child(element, "mimic", label)
        if mimic is None or self.mimic(element, label) is not None:
            return []
        leader = self.name(mimic, "mimic", self.text(mimic, "joint", label))
        unknown = "does not move" if leader in self.joints else "is not in the file"
        return [f"{MIMIC}{leader!r}, which {unknown}: read as an independent joint; lock it to hold it still"]


# The tree ---------------------------------------------------------------------------------------------------------


def _depth_first(joints: list[Joint], bodies: Mapping[str, Body], reader: _UrdfReader) -> tuple[str, tuple[Joint, ...]]:
    """The root link and the joints, depth first, children in the order of the file."""
    children: dict[str, list[Joint]] = {name: [] for name in bodies}
    carriers: dict[str, Joint] = {}
    for joint in joints:
        child = joint.body.name
        if child in carriers:
            raise RobotError(
                f"link {child!r} is the child of two joints: {carriers[child].name!r} and {joint.name!r}",
                where=reader.document.at(reader.joints[joint.name]),
                expected="a tree: one parent for every link but the root",
                advice="Cut the loop by removing one of the joints.",
            )
        carriers[child] = joint
        children[joint.parent].append(joint)
    root = _root([name for name in bodies if name not in carriers], carriers, reader)
    ordered: list[Joint] = []
    waiting = children[root][::-1]
    while waiting:
        joint = waiting.pop()
        ordered.append(joint)
        waiting.extend(reversed(children[joint.body.name]))
    if len(ordered) < len(joints):
        raise _cycle(carriers, {joint.name for joint in ordered}, reader)
    return root, tuple(ordered)


def _root(roots: list[str], carriers: Mapping[str, Joint], reader: _UrdfReader) -> str:
    if not roots:
        raise _cycle(carriers, set(), reader)
    if len(roots) > 1:
        raise RobotError(
            f"{len(roots)} links have no parent: {_listed(roots)}",
            where=reader.document.name,
            expected="one root link, of which all others are descendants",
            advice="Connect them by fixed joints, or remove the links that do not belong to the robot.",
        )
    return roots[0]


def _cycle(carriers: Mapping[str, Joint], reached: set[str], reader: _UrdfReader) -> RobotError:
    """The error for joints that form a cycle; walking up from any of them ends in it."""
    link = next(child for child, joint in carriers.items() if joint.name not in reached)
    seen: list[str] = []
    while link not in seen:
        seen.append(link)
        link = carriers[link].parent
    cycle = seen[seen.index(link) :][::-1]
    alone = f"link {_listed(cycle)} is its own parent"
    return RobotError(
        f"the links {_listed(cycle)} form a cycle" if len(cycle) > 1 else alone,
        where=reader.document.at(reader.joints[carriers[cycle[0]].name]),
        expected="a tree with one root",
        advice="Remove a joint of the cycle, or correct its parent.",
    )


# Small things -----------------------------------------------------------------------------------------------------


def _listed(names: Iterable[str]) -> str:
    texts = [repr(shown(name)) for name in names]
    return ", ".join(texts[:8]) + (f" and {len(texts) - 8} more" if len(texts) > 8 else "")
