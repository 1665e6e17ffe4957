"""<equality> of MJCF: joints that follow others, and closed loops.

    joint     q1 = r1 + a0 + a1 (q2 - r2), with r the joints' positions in the configuration of the file: a mimic joint,
              or a joint held still if there is no second one
    connect   two bodies share a point: a loop that closes at a ball
    weld      two bodies hold together: a loop that closes rigidly

The loops' assembly is the configuration of the file. Of their joints those that no actuator drives are dependent, as
many as the loops determine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from xml.etree.ElementTree import Element

from armdyn.algebra import Mat3, Pose, Scalar, Vec3, ops
from armdyn.errors import RobotError, unknown_name
from armdyn.formats.mjcf_values import Posed, all_named, merged, rotation
from armdyn.formats.safe_xml import local_name
from armdyn.robot.edit import numeric_placement
from armdyn.robot.loop_freedom import independent_columns, loop_rates, with_passive_joints
from armdyn.robot.loop_paths import branches
from armdyn.robot.parts import Joint, Loop, LoopKind, Mimic
from armdyn.robot.robot import Robot

WORLD = "world"
ROUNDED = 1e-6
"""Ends of a loop this close, m or entries of rotations, are apart because the file rounds their places."""
KINDS: Mapping[str, LoopKind] = {"connect": "spherical", "weld": "fixed"}


@dataclass
class Equalities:
    """Puts the equality constraints of a document on a robot; `notes` names those that it cannot represent."""

    values: Posed
    notes: list[str] = field(default_factory=list)

    def applied(self, robot: Robot) -> Robot:
        """The robot with mimic joints, held joints and loops."""
        elements = list(self._active())
        robot = self._coupled(robot, [element for element in elements if local_name(element) == "joint"])
        loops = [found for element in elements if (found := self._loop(robot, element))]
        if not loops:
            return robot
        tree = tuple(replace(joint, home=_rest(joint)) for joint in robot.tree)
        closed, driven = replace(robot, tree=tree, loops=tuple(loops)), self._driven()
        J = loop_rates(closed)
        if len(independent_columns(J.T, [range(len(J))])) < len(J):  # rounded places would keep such loops open
            closed = replace(closed, loops=tuple(_snapped(robot, loop) for loop in loops))
        return with_passive_joints(closed, lambda name: name in driven)

    def _active(self) -> Iterator[Element]:
        """Elements with the values of their default class, without those that are switched off."""
        if "equality" in self.values.options.disabled:
            return
        root = self.values.document.root
        for element in (child for part in all_named(root, "equality") for child in part):
            if local_name(element) not in (*KINDS, "joint"):
                continue
            name = element.get("class", "main")
            if name not in self.values.defaults:
                where = self.values.document.at(element)
                raise unknown_name("default class", name, self.values.defaults, where=where)
            whole = Element(element.tag, merged(self.values.defaults[name].get("equality", {}), element.attrib))
            self.values.document.stands_for(whole, element)
            if whole.get("active", "true") == "true":
                yield whole

    def _driven(self) -> set[str]:
        """Names of joints that an actuator drives, itself or by a tendon."""
        root = self.values.document.root
        actuators = [child for part in all_named(root, "actuator") for child in part]
        pulled = {str(each.get("tendon")) for each in actuators if each.get("tendon")}
        tendons = [child for part in all_named(root, "tendon") for child in part if child.get("name") in pulled]
        wraps = [str(wrap.get("joint")) for tendon in tendons for wrap in tendon if wrap.get("joint")]
        return {str(each.get("joint") or each.get("jointinparent")) for each in actuators} | set(wraps)

    # Joints -----------------------------------------------------------------------------------------------------------

    def _coupled(self, robot: Robot, elements: list[Element]) -> Robot:
        laws: dict[str, Mimic] = {}
        held: dict[str, Scalar] = {}
        joints = {joint.name: joint for joint in robot.movable}
        for element in elements:
            label = f"equality of joint {element.get('joint1', '')!r}"
            first = self._known(robot, joints, element, "joint1", label)
            a0, a1, *higher = self._coefficients(element, label)
            second = self._known(robot, joints, element, "joint2", label) if "joint2" in element.attrib else None
            if any(higher) or (None in (first, second) and "joint2" in element.attrib) or first is None:
                why = "of a degree above one" if any(higher) else "with a joint of several degrees of freedom"
                self.notes.append(f"{label}: {why}")
            elif second is None:
                held[first.name] = ops.add(_rest(first), a0)
            elif (law := _law(first, second, a0, a1, laws)) is None:
                self.notes.append(f"{label}: a further one of joints that are coupled already")
            else:
                laws |= law
        tree = tuple(replace(joint, mimic=laws.get(joint.name, joint.mimic)) for joint in robot.tree)
        coupled = replace(robot, tree=tree) if laws else robot
        if not held:
            return coupled
        said = tuple(f"joint {name!r} is held at {float(value):g} by an equality" for name, value in held.items())
        locked = coupled.locked(held)
        return replace(locked, notes=(*locked.notes, *said))

    def _coefficients(self, element: Element, label: str) -> list[Scalar]:
        words = element.get("polycoef", "").split()
        given = self.values.numbers(" ".join(words), len(words), element, "polycoef", label) if words else []
        return [*given, *([0, 1, 0, 0, 0][len(given) :])]

    def _known(self, robot: Robot, joints: Mapping[str, Joint], element: Element, key: str, label: str) -> Joint | None:
        """The joint of an attribute; None if it has several degrees of freedom."""
        name = self.values.text(element, key, label)
        if any(joint.compound is not None and joint.compound.name == name for joint in robot.tree):
            return None
        if name not in joints:
            raise unknown_name("joint", name, joints, where=self.values.document.at(element, label))
        return joints[name]

    # Loops ------------------------------------------------------------------------------------------------------------

    def _loop(self, robot: Robot, element: Element) -> Loop | None:
        kind = KINDS.get(local_name(element))
        if kind is None:
            return None
        name = element.get("name") or f"{local_name(element)} of {self._ends_of(element)}"
        label = f"equality {name!r}"
        (first, one), (second, two) = self._ends(robot, element, kind, label)
        loop = Loop(name, first, second, numeric_placement(one), numeric_placement(two), kind)
        on_the_way = {joint for branch in branches(robot.tree, loop) for joint in branch}
        if not on_the_way:
            return None  # between bodies that do not move against each other
        if any(joint.compound is not None and joint.name in on_the_way for joint in robot.tree):
            self.notes.append(f"{label}: a loop through a free or ball joint")
            return None
        return loop

    def _ends_of(self, element: Element) -> str:
        names = [element.get(key) for key in ("body1", "body2", "site1", "site2")]
        return " and ".join(name for name in names if name)

    def _ends(
        self, robot: Robot, element: Element, kind: LoopKind, label: str
    ) -> tuple[tuple[str, Pose], tuple[str, Pose]]:
        """Body and place of both ends: at sites, or where they are in the configuration of the file."""
        bodies = [robot.root.name, *(joint.body.name for joint in robot.tree)]
        where = self.values.document.at(element, label)

        def body(key: str, default: str | None = None) -> str:
            name = element.get(key, default) if default else self.values.text(element, key, label)
            if name not in bodies:
                raise unknown_name(key, str(name), bodies, where=where)
            return str(name)

        if "site1" in element.attrib or "site2" in element.attrib:
            return (body("site1"), Pose.identity()), (body("site2"), Pose.identity())
        first, second = body("body1"), body("body2", WORLD)
        given = self._related(element, label) if kind == "fixed" else None
        if given is not None:  # where the second body is, seen from the first
            return (first, given), (second, Pose.identity())
        anchor = Pose.identity()
        if kind == "spherical":
            anchor = Pose(Mat3.identity(), self.values.vector(element, "anchor", label))
        if kind == "spherical" and "anchor" not in element.attrib:
            raise RobotError("a <connect> without a place", where=where, expected="anchor, or site1 and site2")
        apart = _at_rest(robot, second).inverse() @ _at_rest(robot, first)
        return (first, anchor), (second, apart @ anchor)

    def _related(self, element: Element, label: str) -> Pose | None:
        """`relpose` of a <weld>; None for that of the configuration of the file."""
        if "relpose" not in element.attrib:
            return None
        x, y, z, *turn = self.values.numbers(element.attrib["relpose"], 7, element, "relpose", label)
        if not any(turn):
            return None
        return Pose(rotation(turn, self.values.document.at(element, label)), Vec3(x, y, z))


def _rest(joint: Joint) -> Scalar:
    """The position of a joint in the configuration of the file, its `ref`."""
    return ops.sub(0, joint.geometry.offset(joint.kind))


def _law(first: Joint, second: Joint, a0: Scalar, a1: Scalar, laws: Mapping[str, Mimic]) -> dict[str, Mimic] | None:
    """The first follows the second; if it follows another one already, the second follows the first."""
    offset = ops.sub(ops.add(_rest(first), a0), ops.mul(a1, _rest(second)))
    if first.name not in laws and not _follows(second.name, first.name, laws):
        return {first.name: Mimic(second.name, a1, offset)}
    if second.name in laws or not a1 or _follows(first.name, second.name, laws):
        return None
    return {second.name: Mimic(first.name, 1 / a1, ops.sub(0, ops.div(offset, a1)))}


def _follows(name: str, other: str, laws: Mapping[str, Mimic]) -> bool:
    """Whether a joint is another one, or follows it."""
    while name != other and name in laws:
        name = laws[name].joint
    return name == other


def _snapped(robot: Robot, loop: Loop) -> Loop:
    """The loop, closed in the configuration of the file if it is so but for rounding: the second end moves."""
    first, second = (_at_rest(robot, body) for body in (loop.first, loop.second))
    there = second.inverse() @ first @ loop.first_placement.pose()
    stated = loop.second_placement.pose()
    if loop.kind == "spherical":
        there = Pose(stated.R, there.p)
    entries = zip(
        (*there.p, *there.R.rows[0], *there.R.rows[1]), (*stated.p, *stated.R.rows[0], *stated.R.rows[1]), strict=True
    )
    near = all(abs(float(x - y)) < ROUNDED for x, y in entries)
    return replace(loop, second_placement=numeric_placement(there)) if near else loop


def _at_rest(robot: Robot, body: str) -> Pose:
    """T_root_body in the configuration of the file."""
    carriers = {joint.body.name: joint for joint in robot.tree}
    pose = Pose.identity()
    while body in carriers:
        joint = carriers[body]
        pose, body = joint.pose(0 if joint.kind == "fixed" else _rest(joint)) @ pose, joint.parent
    return pose


__all__ = ["Equalities"]
