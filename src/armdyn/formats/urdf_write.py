"""Robot -> URDF text.

A URDF joint turns its child link about an axis through that link's own origin. A body frame that lies off its joint
axis (standard DH with a != 0) therefore gets a link on the axis in front of it, named `BODY_axis`, to which it is
fixed. All other bodies are links as they are. The joint's offset goes into its origin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from armdyn.algebra import Z_AXIS, ZERO, CentralInertia, Inertia, Mat3, Scalar, Vec3
from armdyn.conventions import GRAVITY
from armdyn.errors import NotApplicable, RobotError
from armdyn.formats.expressible import require_expressible, warn_of_loss
from armdyn.formats.text import MIMIC
from armdyn.formats.urdf_read import TOOL, UNLIMITED
from armdyn.formats.xml_values import texts, written
from armdyn.robot.compounds import collapsed
from armdyn.robot.edit import numeric_placement
from armdyn.robot.parts import CompoundKind, FreeTransform, Friction, Joint, Limits, Placement, motion
from armdyn.robot.robot import Robot


def plain(robot: Robot) -> Element:
    """The robot as a <robot> element of links and joints alone."""
    return _Page(robot.bound()).root


def dumps(robot: Robot) -> str:
    """The robot as URDF; `loads` gives back the same frames, masses, limits and friction.

    Raises FeatureError for what URDF cannot express and changes the torques; names the rest of it in a ModelWarning.
    """
    robot = robot.bound()
    require_expressible(robot, "urdf")
    warn_of_loss(robot, "urdf", lost_parts(robot))
    root = plain(robot)
    indent(root, "  ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


class _Page:
    """The growing <robot> element; knows the names taken."""

    def __init__(self, robot: Robot) -> None:
        self.root = Element("robot", name=_name(robot.name))
        self.links = {robot.root.name, *(joint.body.name for joint in robot.tree)}
        self.joints = {joint.name for joint in robot.tree}
        self._base(robot)
        for joint in collapsed(robot.tree):
            self._joint(joint)
        if needs_tool_link(robot):
            self.link(TOOL)
            self.fixed(self.fresh(f"{TOOL}_joint", self.joints), robot.tool_body, TOOL, robot.tool)

    def fresh(self, name: str, taken: set[str]) -> str:
        """The name, or the name with a number if it is taken; taken from now on."""
        found = name
        number = 2
        while found in taken:
            found, number = f"{name}{number}", number + 1
        taken.add(found)
        return found

    def _base(self, robot: Robot) -> None:
        """The base pose is a fixed joint from a link `world`."""
        if robot.base != Placement():
            world = self.fresh("world", self.links)
            self.link(world)
            self.fixed(self.fresh("world_joint", self.joints), world, robot.root.name, robot.base)
        self.link(robot.root.name, robot.root.inertia)

    def _joint(self, joint: Joint) -> None:
        body = joint.body
        self.link(body.name, body.inertia)
        if joint.compound is not None:
            self.floating(joint, joint.compound.kind)
            return
        if joint.kind == "fixed":
            self.fixed(joint.name, joint.parent, body.name, _origin(joint))
            return
        after = joint.geometry.after()
        if joint.kind == "prismatic" or (after.p.x == 0 and after.p.y == 0):
            axis = joint.geometry.axis if isinstance(joint.geometry, FreeTransform) else after.R.T.column(2)
            self.moving(joint, body.name, _origin(joint), axis)
            return
        on_axis = self.fresh(f"{body.name}_axis", self.links)
        self.link(on_axis)
        before = joint.geometry.before(joint.kind) @ motion(joint.kind, joint.geometry.offset(joint.kind))
        self.moving(joint, on_axis, numeric_placement(before), Z_AXIS)
        self.fixed(self.fresh(f"{body.name}_frame", self.joints), on_axis, body.name, numeric_placement(after))

    # Elements -----------------------------------------------------------------------------------------------------

    def link(self, name: str, inertia: CentralInertia | Inertia | None = None) -> None:
        link = SubElement(self.root, "link", name=_name(name))
        central = None if inertia is None else inertia.about_com()
        if central is None or central == CentralInertia(0, ZERO, Mat3.zero()):
            return
        inertial = SubElement(link, "inertial")
        _add_origin(inertial, Placement(central.com))
        SubElement(inertial, "mass", value=written(central.mass))
        keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        entries = zip(keys, central.tensor.upper(), strict=True)
        SubElement(inertial, "inertia", {key: written(value) for key, value in entries})

    def fixed(self, name: str, parent: str, child: str, origin: Placement) -> None:
        self._connection(name, "fixed", parent, child, origin)

    def moving(self, joint: Joint, child: str, origin: Placement, axis: Vec3) -> None:
        limits = joint.limits or Limits()
        endless = joint.kind == "revolute" and limits.lower is None and limits.upper is None
        element = self._connection(joint.name, "continuous" if endless else joint.kind, joint.parent, child, origin)
        SubElement(element, "axis", xyz=texts(axis))
        # Both are compulsory in URDF, and 0 would forbid motion to readers that take it at its word.
        values = {"effort": _limit(limits.torque), "velocity": _limit(limits.velocity)}
        if not endless:
            values = {"lower": _limit(limits.lower, -1), "upper": _limit(limits.upper)} | values
        SubElement(element, "limit", values)
        if joint.mimic is not None:
            law = joint.mimic
            SubElement(
                element, "mimic", joint=_name(law.joint), multiplier=written(law.ratio), offset=written(law.offset)
            )
        self._dynamics(element, joint.friction)

    def floating(self, joint: Joint, kind: CompoundKind) -> None:
        if kind != "free" or not isinstance(joint.geometry, FreeTransform):
            raise NotApplicable(
                "URDF has no ball joint", where=f"joint {joint.name!r}", expected="a .toml or .xml file"
            )
        element = self._connection(joint.name, "floating", joint.parent, joint.body.name, joint.geometry.placement)
        self._dynamics(element, joint.friction)

    def _dynamics(self, element: Element, friction: Friction | None) -> None:
        if friction is not None and (friction.viscous != 0 or friction.coulomb != 0):
            SubElement(element, "dynamics", damping=written(friction.viscous), friction=written(friction.coulomb))

    def _connection(self, name: str, kind: str, parent: str, child: str, origin: Placement) -> Element:
        element = SubElement(self.root, "joint", name=_name(name), type=kind)
        _add_origin(element, origin)
        SubElement(element, "parent", link=_name(parent))
        SubElement(element, "child", link=_name(child))
        return element


def _origin(joint: Joint) -> Placement:
    """T_parent_body at joint position 0; as it was given where that is possible, so that it reads back exactly."""
    if isinstance(joint.geometry, FreeTransform) and joint.geometry.zero == 0:
        return joint.geometry.placement
    return numeric_placement(joint.pose(0))


def _add_origin(element: Element, placement: Placement) -> None:
    SubElement(element, "origin", xyz=texts(placement.xyz), rpy=texts(placement.rpy))


# What does not survive --------------------------------------------------------------------------------------------


def depth_first(robot: Robot) -> list[Joint]:
    """The joints in the order in which the written file will be read."""
    children: dict[str, list[Joint]] = {}
    for joint in robot.tree:
        children.setdefault(joint.parent, []).append(joint)
    ordered: list[Joint] = []
    waiting = children.get(robot.root.name, [])[::-1]
    while waiting:
        joint = waiting.pop()
        ordered.append(joint)
        waiting.extend(reversed(children.get(joint.body.name, [])))
    return ordered


def _tool_understood(robot: Robot) -> bool:
    """Whether a reader finds the tool frame by itself: in the link `tool`, else where no tool is named."""
    names = [robot.root.name, *(joint.body.name for joint in robot.tree)]
    read = replace(robot, tree=tuple(depth_first(robot)), tool_on=TOOL if TOOL in names else None, expressions=None)
    return robot.tool == Placement() and robot.tool_body == read.tool_body


def needs_tool_link(robot: Robot) -> bool:
    """Whether the tool frame must get a link of its own, and can."""
    taken = TOOL in {robot.root.name, *(joint.body.name for joint in robot.tree)}
    return not taken and not _tool_understood(robot)


def lost_parts(robot: Robot) -> list[str]:
    """What the file cannot express beside features, in words."""
    lost = list(_lost_of_joints(robot))
    if robot.gravity != Vec3(*GRAVITY):
        lost.append(f"gravity ({texts(robot.gravity)}); readers take their own")
    if not _tool_understood(robot) and not needs_tool_link(robot):
        lost.append(f"the tool frame, because a body is already called {TOOL!r}")
    moving = [joint.name for joint in depth_first(robot) if joint.kind != "fixed"]
    if moving != [joint.name for joint in robot.movable]:
        lost.append(f"the order of the joints, which on reading will be {_listed(moving)}")
    return lost


def _lost_of_joints(robot: Robot) -> Iterator[str]:
    joints = robot.movable
    tests = {
        "gear ratios": [j for j in joints if j.rotor is not None],
        "motors": [j for j in joints if j.motor is not None],
        "acceleration limits": _with_limit(joints, "acceleration"),
        "jerk limits": _with_limit(joints, "jerk"),
        "continuous torques": _with_limit(joints, "continuous"),
        "mimic couplings": [j for j in joints if any(note.startswith(MIMIC) for note in j.notes)],
    }
    for what, found in tests.items():
        if found:
            yield f"{what} ({_listed(joint.name for joint in found)})"


def _with_limit(joints: Iterable[Joint], name: str) -> list[Joint]:
    return [j for j in joints if j.limits and getattr(j.limits, name) is not None]


# Numbers and names ------------------------------------------------------------------------------------------------


def _limit(value: Scalar | None, sign: int = 1) -> str:
    return written(sign * UNLIMITED if value is None else value)


def _name(name: str) -> str:
    if not name or not name.isprintable():
        raise RobotError(f"{name!r} cannot be a name in URDF", expected="printable text", advice="Rename it.")
    return name


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
