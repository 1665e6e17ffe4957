"""A robot written back into the URDF text that it was read from: only values that changed are touched.

Both the robot of the text and the changed one are written as plain URDF; where those two differ, the text is changed.
Visuals, collisions, transmissions, simulator tags, comments and spacing stay as they are.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from xml.etree.ElementTree import Element, indent, tostring

from armdyn.algebra import CentralInertia, rot_rpy
from armdyn.errors import NotApplicable, UnknownName
from armdyn.files import write_text
from armdyn.formats import urdf_read
from armdyn.formats.expressible import patched_or_new
from armdyn.formats.patch import TENSOR, Page, Tag, close, set_attributes
from armdyn.formats.urdf_write import dumps, lost_parts, plain
from armdyn.formats.xml_values import texts, written
from armdyn.robot.parts import Body
from armdyn.robot.robot import Robot


def write(robot: Robot, path: Path) -> None:
    """Write the robot to a URDF file: into the text that it was read from, if it was read from one."""
    write_text(path, dumps(robot) if robot.file is None or robot.file.format != "urdf" else rewritten(robot))


def rewritten(robot: Robot) -> str:
    """The text of the robot's file with the robot's values; a new text, with a warning, if that is impossible."""
    robot, file = robot.bound(), robot.file
    assert file is not None
    patch = partial(patched, file.text, robot, file.path)
    return patched_or_new(robot, "urdf", patch, dumps, urdf_read.loads, lost_parts)


def patched(text: str, robot: Robot, where: str = "URDF text") -> str:
    """The text with the values of the robot.

    text: the file that the robot was read from.
    robot: its links and joints have their names in the text; others are added, missing ones removed.

    Raises NotApplicable if the changed text would not give back the robot.
    """
    old = urdf_read.loads(text, where)
    before, after = (_named(plain(each)) for each in (old, robot))
    page = Page(text, where)
    try:
        for key in before.keys() - after.keys():
            page.remove(page.find(*key))
        for key, element in after.items():
            if key not in before:
                page.add(page.root, _text(element))
            elif key[0] == "joint" and _differ(before[key], element):
                _joint(page, page.find(*key), before[key], element)
        old_bodies, new_bodies = _bodies(old), _bodies(robot)
        for name in old_bodies.keys() & new_bodies.keys():
            if old_bodies[name].inertia.about_com() != new_bodies[name].inertia.about_com():
                _inertial(page, page.find("link", name), new_bodies[name].inertia.about_com())
    except UnknownName as error:
        raise NotApplicable(f"{error.what}: the file has no such element", where=where) from None
    _check(page.text, after, where)
    return page.text


def _named(root: Element) -> dict[tuple[str, str], Element]:
    return {(element.tag, element.attrib["name"]): element for element in root}


def _bodies(robot: Robot) -> dict[str, Body]:
    return {body.name: body for body in (robot.root, *(joint.body for joint in robot.tree))}


def _text(element: Element) -> str:
    indent(element, "  ")
    return tostring(element, encoding="unicode").strip()


def _differ(a: Element, b: Element) -> bool:
    return tostring(a) != tostring(b)


def _joint(page: Page, tag: Tag, old: Element, new: Element) -> None:
    set_attributes(page, tag, old, new)
    for name in {child.tag: None for child in (*old, *new)}:
        one, other, own = old.find(name), new.find(name), tag.child(name)
        if other is None:
            if own is not None:
                page.remove(own)
        elif own is None:
            if one is None or _differ(one, other):
                page.add(tag, _text(other))
        else:
            set_attributes(page, own, Element(name) if one is None else one, other)


def _inertial(page: Page, link: Tag, inertia: CentralInertia) -> None:
    """Mass, centre of mass and tensor, the tensor in the axes that the file's <origin> gives."""
    own = link.child("inertial")
    if own is None or own.child("mass") is None or own.child("inertia") is None:
        if own is not None:
            page.remove(own)
        entries = "".join(f' {key}="{written(x)}"' for key, x in zip(TENSOR, inertia.tensor.upper(), strict=True))
        rows = (
            f'  <origin xyz="{texts(inertia.com)}" rpy="0 0 0"/>',
            f'  <mass value="{written(inertia.mass)}"/>',
            f"  <inertia{entries}/>",
        )
        page.add(link, "\n".join(("<inertial>", *rows, "</inertial>")), first=True)
        return
    origin, mass, tensor = own.child("origin"), own.child("mass"), own.child("inertia")
    assert mass is not None and tensor is not None
    page.set_numbers(mass, "value", [inertia.mass])
    R = rot_rpy(0, 0, 0)
    if origin is not None:
        R = rot_rpy(*(float(word) for word in origin.values.get("rpy", "0 0 0").split()))
        page.set_numbers(origin, "xyz", [float(x) for x in inertia.com])
    elif any(inertia.com):
        page.add(own, f'<origin xyz="{texts(inertia.com)}" rpy="0 0 0"/>', first=True)
    turned = (R.T @ inertia.tensor @ R).upper()
    size = max(abs(float(x)) for x in turned)
    for key, entry in zip(TENSOR, turned, strict=True):
        if not abs(float(tensor.values.get(key, "nan")) - float(entry)) <= 1e-14 * size:
            page.set_numbers(tensor, key, [entry])


def _check(text: str, wanted: dict[tuple[str, str], Element], where: str) -> None:
    """Read the text again: it must describe the robot that was to be written."""
    given = _named(plain(urdf_read.loads(text, where)))
    for key in given.keys() | wanted.keys():
        if key not in given or key not in wanted or not close(given[key], wanted[key]):
            raise NotApplicable(f"{key[0]} {key[1]!r} cannot be changed in place", where=where)
