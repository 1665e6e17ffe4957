"""A robot written back into the MJCF text that it was read from: only values that changed are touched.

Both the robot of the text and the changed one are written as plain MJCF. Where values of a joint or a body differ, they
are set on its own element, which goes before its default class; shapes, actuators, sensors, comments and spacing stay
as they are. The text is read again and must describe the robot.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from math import degrees
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

from armdyn.errors import ArmdynError, NotApplicable
from armdyn.files import write_text
from armdyn.formats import mjcf_read
from armdyn.formats.expressible import patched_or_new
from armdyn.formats.mjcf_write import dumps, lost_parts, plain
from armdyn.formats.patch import Page, Tag, close
from armdyn.robot.parts import RobotFile
from armdyn.robot.robot import Robot

VALUES = {
    "joint": ("damping", "frictionloss", "armature", "stiffness", "springref", "range", "actuatorfrcrange"),
    "body": ("gravcomp",),
    "inertial": ("pos", "mass", "fullinertia"),
    "option": ("gravity",),
    "mujoco": ("model",),
}
"""Attributes that are changed in place, by element."""
ANGLES = ("springref", "range")
SHARED = ("damping", "armature")
"""Attributes of a joint to which its actuators add theirs."""
AXES = ("diaginertia", "quat", "axisangle", "xyaxes", "zaxis", "euler")
"""What `fullinertia` replaces."""


def write(robot: Robot, path: Path) -> None:
    """Write the robot to an MJCF file: into the text that it was read from, if it was read from one."""
    write_text(path, dumps(robot) if robot.file is None or robot.file.format != "mjcf" else rewritten(robot))


def rewritten(robot: Robot) -> str:
    """The text of the robot's file with the robot's values; a new text, with a warning, if that is impossible."""
    robot, file = robot.bound(), robot.file
    assert file is not None
    return patched_or_new(robot, "mjcf", partial(patched, robot, file), dumps, partial(_read, file), lost_parts)


def patched(robot: Robot, file: RobotFile) -> str:
    """The text of the file with the values of the robot.

    Raises NotApplicable if the changed text would not give back the robot: other bodies, joints or places, values of
    included files, or of elements without a name.
    """
    before, after = plain(_read(file, file.text)), plain(robot)
    if tostring(_skeleton(before)) != tostring(_skeleton(after)):
        raise NotApplicable("bodies, joints or places have changed, not values alone", where=file.path)
    text = _changed(file, before, after)
    given = plain(_read(file, text))
    if not close(given, after):  # what actuators add to the joints is taken off
        text = _changed(file, before, _less(after, given))
    for one, other in zip(_read_again(file, text).iter(), after.iter(), strict=True):
        if one.tag != other.tag or not close(_alone(one), _alone(other)):
            raise NotApplicable(f"<{other.tag}> {other.get('name', '')!r} cannot be changed in place", where=file.path)
    return text


def _read(file: RobotFile, text: str) -> Robot:
    return mjcf_read.loads(text, file.path, folder=Path(file.path).parent)


def _read_again(file: RobotFile, text: str) -> Element:
    try:
        return plain(_read(file, text))
    except ArmdynError as error:
        raise NotApplicable(f"the changed file is not valid: {error.what}", where=file.path) from None


def _alone(element: Element) -> Element:
    """The element without those inside it."""
    return Element(element.tag, element.attrib)


def _skeleton(root: Element) -> Element:
    """The elements without the values that are changed in place."""
    bare = deepcopy(root)
    for element in bare.iter():
        for key in VALUES.get(element.tag, ()):
            element.attrib.pop(key, None)
        for inertial in element.findall("inertial"):
            element.remove(inertial)
    return bare


def _changed(file: RobotFile, before: Element, after: Element) -> str:
    page = Page(file.text, file.path)
    radians = any(tag.values.get("angle") == "radian" for tag in page.root.children if tag.name == "compiler")
    elements = {(tag.name, tag.values["name"]): tag for tag in _of_world(page) if "name" in tag.values}

    def find(element: Element) -> Tag:
        found = page.root.child(element.tag) or elements.get((element.tag, element.get("name", "")))
        found = found or elements.get(("freejoint", element.get("name", "")))
        if found is None:
            raise NotApplicable(
                f"there is no <{element.tag}> {element.get('name', '')!r} in the file itself", where=file.path
            )
        return found

    for old, new in zip(_values(before), _values(after), strict=True):
        for key in VALUES[new.tag]:
            text = new.get(key, "0" if key in old.attrib else None)
            if text is None or text == old.get(key):
                continue
            if key == "model":
                page.set(page.root, key, text)
                continue
            if new.tag == "option" and page.root.child("option") is None:
                page.add(page.root, f'<option gravity="{text}"/>', first=True)
                continue
            numbers = [float(word) for word in text.split()]
            turned = key in ANGLES and not radians and new.get("type") == "hinge"
            page.set_numbers(find(new), key, [degrees(x) for x in numbers] if turned else numbers)
        if new.tag == "body" and tostring(_inertial(old)) != tostring(_inertial(new)):
            _set_inertial(page, find(new), _inertial(old), _inertial(new))
    return page.text


def _of_world(page: Page) -> Iterator[Tag]:
    for child in page.root.children:
        if child.name == "worldbody":
            yield from child.walk()


def _values(root: Element) -> list[Element]:
    return [element for element in root.iter() if element.tag in VALUES and element.tag != "inertial"]


def _inertial(body: Element) -> Element:
    found = body.find("inertial")
    return Element("inertial", pos="0 0 0", mass="0", fullinertia="0 0 0 0 0 0") if found is None else found


def _set_inertial(page: Page, body: Tag, old: Element, new: Element) -> None:
    own = body.child("inertial")
    if own is None:
        page.add(body, tostring(Element("inertial", new.attrib), encoding="unicode"), first=True)
        return
    for key in ("pos", "mass", "fullinertia"):
        if new.get(key) == old.get(key):
            continue
        if key == "fullinertia":
            for axis in AXES:
                page.unset(own, axis)
        page.set_numbers(own, key, [float(word) for word in new.attrib[key].split()])


def _less(after: Element, given: Element) -> Element:
    """What to write so that what is read becomes `after`: less what is read too much."""
    wanted = deepcopy(after)
    for joint, read in zip(wanted.iter("joint"), given.iter("joint"), strict=True):
        for key in SHARED:
            if key in joint.attrib and key in read.attrib:
                joint.set(key, repr(2 * float(joint.attrib[key]) - float(read.attrib[key])))
    return wanted


__all__ = ["patched", "rewritten", "write"]
