"""Seeded faults in robot files: edits of the XML text of a URDF or MJCF file, as people make them.

Nothing here uses the library: a fault is made in the file, and the library has to find it.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

Element = Any  # of xml.etree: a missing child shows as an error of the test
SIX = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
Rng = np.random.Generator
Edit = Callable[[Rng, Element], bool]
"""Changes the file's tree; False if the file has no place for this fault."""


@dataclass(frozen=True)
class Fault:
    """kind: the cause that must be named. format: of the file that is edited."""

    kind: str
    format: str
    edit: Edit


FAULTS: list[Fault] = []


def fault(kind: str, format: str = "urdf") -> Callable[[Edit], Edit]:
    def enter(edit: Edit) -> Edit:
        FAULTS.append(Fault(kind, format, edit))
        return edit

    return enter


# Reading and writing attributes -------------------------------------------------------------------------------------


def vector(element: Element | None, name: str, size: int = 3) -> np.ndarray:
    text = None if element is None else element.get(name)
    return np.array([float(x) for x in text.split()]) if text else np.zeros(size)


def put(element: Element, name: str, values: Any) -> None:
    element.set(name, " ".join(repr(float(x)) for x in np.ravel(values)))


def rotation(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Rz(yaw) Ry(pitch) Rx(roll)."""
    return turn(2, yaw) @ turn(1, pitch) @ turn(0, roll)


def turn(axis: int, angle: float) -> np.ndarray:
    R = np.eye(3)
    i, j = ((1, 2), (2, 0), (0, 1))[axis]
    c, s = math.cos(angle), math.sin(angle)
    R[i, i], R[j, j], R[i, j], R[j, i] = c, c, -s, s
    return R


def angles(R: np.ndarray) -> np.ndarray:
    pitch = math.atan2(-R[2, 0], math.hypot(R[2, 1], R[2, 2]))
    if abs(math.cos(pitch)) < 1e-9:
        return np.array([0.0, pitch, math.atan2(-R[0, 1], R[1, 1])])
    return np.array([math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])])


def about(axis: np.ndarray, angle: float) -> np.ndarray:
    x, y, z = axis / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


def inertials(root: Element) -> list[Element]:
    """Inertials of links that some joint moves, with mass."""
    children = {joint.find("child").get("link") for joint in root.findall("joint") if joint.find("child") is not None}
    found = [link.find("inertial") for link in root.findall("link") if link.get("name") in children]
    return [i for i in found if i is not None and float(i.find("mass").get("value")) > 1e-6]


def origin(element: Element) -> Element:
    found = element.find("origin")
    return ET.SubElement(element, "origin", {"xyz": "0 0 0", "rpy": "0 0 0"}) if found is None else found


def tensor(inertial: Element) -> np.ndarray:
    xx, xy, xz, yy, yz, zz = (float(inertial.find("inertia").get(key)) for key in SIX)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def put_tensor(inertial: Element, T: np.ndarray) -> None:
    for key, (i, j) in zip(SIX, ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)), strict=True):
        inertial.find("inertia").set(key, repr(float(T[i, j])))


def mass(inertial: Element) -> float:
    return float(inertial.find("mass").get("value"))


def some(rng: Rng, things: list[Element]) -> Any:
    return things[rng.integers(len(things))] if things else None


def moving(root: Element) -> list[Element]:
    return [j for j in root.findall("joint") if j.get("type") in ("revolute", "continuous", "prismatic")
            and j.find("mimic") is None]  # fmt: skip


def fixed(root: Element) -> list[Element]:
    """Fixed joints that carry a body with mass, on a moving link."""
    heavy = {link.get("name") for link in root.findall("link") if link.find("inertial") is not None
             and float(link.find("inertial").find("mass").get("value")) > 1e-6}  # fmt: skip
    return [j for j in root.findall("joint") if j.get("type") == "fixed" and j.find("child").get("link") in heavy]


# Bodies --------------------------------------------------------------------------------------------------------------


@fault("inertia_point")
def about_the_origin(rng: Rng, root: Element) -> bool:
    body = some(rng, inertials(root))
    if body is None:
        return False
    c = vector(body.find("origin"), "xyz")
    R = rotation(*vector(body.find("origin"), "rpy"))
    put_tensor(body, tensor(body) + R.T @ (mass(body) * (c @ c * np.eye(3) - np.outer(c, c))) @ R)
    return True


@fault("inertia_axes")
def turned_tensor(rng: Rng, root: Element) -> bool:
    body = some(rng, inertials(root))
    if body is None:
        return False
    put(origin(body), "rpy", rng.uniform(-1.5, 1.5, 3))
    return True


@fault("product_sign")
def opposite_products(rng: Rng, root: Element) -> bool:
    body = some(rng, inertials(root))
    if body is None:
        return False
    T = tensor(body)
    put_tensor(body, 2 * np.diag(np.diag(T)) - T)
    return True


@fault("entry_order")
def other_order(rng: Rng, root: Element) -> bool:
    body = some(rng, inertials(root))
    if body is None:
        return False
    values = [body.find("inertia").get(key) for key in SIX]
    for key, value in zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), values, strict=True):
        body.find("inertia").set(key, value)
    return True


@fault("decimal")
def missing_decimal(rng: Rng, root: Element) -> bool:
    body = some(rng, inertials(root))
    if body is None:
        return False
    factor = float(rng.choice([10, 0.1, 100]))
    if rng.random() < 0.5:
        body.find("mass").set("value", repr(factor * mass(body)))
    else:
        key = str(rng.choice(SIX))
        body.find("inertia").set(key, repr(factor * float(body.find("inertia").get(key))))
    return True


@fault("units_mass")
def grams(rng: Rng, root: Element) -> bool:
    body = some(rng, inertials(root))
    if body is None:
        return False
    body.find("mass").set("value", repr(1000 * mass(body)))
    return True


@fault("units_length")
def millimetres(rng: Rng, root: Element) -> bool:
    body = some(rng, inertials(root))
    if body is None:
        return False
    put(origin(body), "xyz", 1000 * vector(origin(body), "xyz"))
    return True


@fault("dropped_link")
def dropped_fixed_link(rng: Rng, root: Element) -> bool:
    joint = some(rng, fixed(root))
    if joint is None:
        return False
    name = joint.find("child").get("link")
    link = next(link for link in root.findall("link") if link.get("name") == name)
    link.remove(link.find("inertial"))
    return True


@fault("doubled_link")
def doubled_fixed_link(rng: Rng, root: Element) -> bool:
    joint = some(rng, fixed(root))
    if joint is None:
        return False
    name = joint.find("child").get("link")
    link = deepcopy(next(link for link in root.findall("link") if link.get("name") == name))
    again = deepcopy(joint)
    link.set("name", f"{name}_again")
    again.set("name", f"{joint.get('name')}_again")
    again.find("child").set("link", f"{name}_again")
    root.extend([link, again])
    return True


@fault("payload")
def merged_payload(rng: Rng, root: Element) -> bool:
    """A load merged into the last link's inertial by hand."""
    parents = {joint.find("parent").get("link") for joint in root.findall("joint")}
    ends = [b for b in inertials(root) if _link_of(root, b).get("name") not in parents]
    body = some(rng, ends)
    if body is None:
        return False
    R, c, m = rotation(*vector(origin(body), "rpy")), vector(origin(body), "xyz"), mass(body)
    load, at = float(rng.uniform(0.5, 3)), rng.uniform(-0.1, 0.1, 3)
    total = m + load
    centre = (m * c + load * at) / total
    T = R @ tensor(body) @ R.T
    for part, place in ((m, c), (load, at)):
        d = place - centre
        T = T + part * (d @ d * np.eye(3) - np.outer(d, d))
    body.find("mass").set("value", repr(total))
    put(origin(body), "xyz", centre)
    put(origin(body), "rpy", (0, 0, 0))
    put_tensor(body, T)
    return True


def _link_of(root: Element, inertial: Element) -> Element:
    return next(link for link in root.findall("link") if link.find("inertial") is inertial)


# Geometry ------------------------------------------------------------------------------------------------------------


@fault("rotation_dropped")
def dropped_rotation(rng: Rng, root: Element) -> bool:
    turned = [j for j in root.findall("joint") if vector(j.find("origin"), "rpy").any() and j.get("type") == "fixed"]
    turned = turned or [j for j in root.findall("joint") if vector(j.find("origin"), "rpy").any()]
    joint = some(rng, turned)
    if joint is None:
        return False
    put(origin(joint), "rpy", (0, 0, 0))
    return True


@fault("length")
def other_length(rng: Rng, root: Element) -> bool:
    joint = some(rng, moving(root))
    if joint is None:
        return False
    xyz = vector(origin(joint), "xyz")
    xyz[rng.integers(3)] += float(rng.uniform(0.02, 0.2)) * float(rng.choice([-1, 1]))
    put(origin(joint), "xyz", xyz)
    return True


@fault("rounded_angles")
def rounded_angles(rng: Rng, root: Element) -> bool:
    digits = int(rng.choice([2, 3]))
    changed = False
    for joint in root.findall("joint"):
        rpy = vector(joint.find("origin"), "rpy")
        if rpy.any():
            put(origin(joint), "rpy", np.round(rpy, digits))
            changed = changed or bool((np.round(rpy, digits) != rpy).any())
    return changed


@fault("units_angle")
def degrees(rng: Rng, root: Element) -> bool:
    joint = some(rng, [j for j in root.findall("joint") if vector(j.find("origin"), "rpy").any()])
    if joint is None:
        return False
    put(origin(joint), "rpy", np.degrees(vector(origin(joint), "rpy")))
    return True


@fault("joint_sign")
def opposite_axis(rng: Rng, root: Element) -> bool:
    joint = some(rng, moving(root))
    if joint is None:
        return False
    axis = joint.find("axis")
    axis = ET.SubElement(joint, "axis", {"xyz": "1 0 0"}) if axis is None else axis
    put(axis, "xyz", -vector(axis, "xyz"))
    return True


@fault("joint_zero")
def other_zero(rng: Rng, root: Element) -> bool:
    joint = some(rng, [j for j in moving(root) if j.get("type") != "prismatic"])
    if joint is None:
        return False
    axis = vector(joint.find("axis"), "xyz") if joint.find("axis") is not None else np.array([1.0, 0, 0])
    angle = float(rng.choice([math.pi / 2, math.pi, -math.pi / 2, rng.uniform(-1, 1)]))
    put(origin(joint), "rpy", angles(rotation(*vector(origin(joint), "rpy")) @ about(axis, angle)))
    return True


@fault("base_orientation")
def turned_base(rng: Rng, root: Element) -> bool:
    """All joints on the root link turn with it."""
    children = {joint.find("child").get("link") for joint in root.findall("joint")}
    base = next(link.get("name") for link in root.findall("link") if link.get("name") not in children)
    R = turn(int(rng.integers(2)), float(rng.choice([math.pi / 2, math.pi, rng.uniform(0.2, 1.4)])))
    for joint in root.findall("joint"):
        if joint.find("parent").get("link") == base:
            put(origin(joint), "rpy", angles(R @ rotation(*vector(origin(joint), "rpy"))))
            put(origin(joint), "xyz", R @ vector(origin(joint), "xyz"))
    return True


@fault("locked_joint")
def locked(rng: Rng, root: Element) -> bool:
    joints = moving(root)
    joint = some(rng, joints)
    if joint is None or len(joints) < 2:
        return False
    joint.set("type", "fixed")
    return True


@fault("mimic_joint")
def mimic(rng: Rng, root: Element) -> bool:
    joints = [j for j in moving(root) if j.get("type") != "prismatic"]
    if len(joints) < 2:
        return False
    leader, follower = rng.choice(len(joints), 2, replace=False)
    values = {"joint": joints[leader].get("name"), "multiplier": repr(float(rng.uniform(0.5, 2))), "offset": "0"}
    ET.SubElement(joints[follower], "mimic", values)
    return True


# Drives --------------------------------------------------------------------------------------------------------------


def _dynamics(rng: Rng, root: Element, key: str) -> bool:
    chosen = [j for j in moving(root) if rng.random() < 0.5] or moving(root)
    for joint in chosen:
        found = joint.find("dynamics")
        found = ET.SubElement(joint, "dynamics") if found is None else found
        found.set(key, repr(float(found.get(key, "0")) + float(rng.uniform(0.2, 3))))
    return bool(chosen)


@fault("damping")
def damping(rng: Rng, root: Element) -> bool:
    return _dynamics(rng, root, "damping")


@fault("dry_friction")
def dry_friction(rng: Rng, root: Element) -> bool:
    return _dynamics(rng, root, "friction")


# MJCF ----------------------------------------------------------------------------------------------------------------


def _joints(root: Element) -> list[Element]:
    return [j for j in root.find("worldbody").iter("joint") if j.get("type", "hinge") in ("hinge", "slide")]


def _number(rng: Rng, root: Element, key: str, low: float, high: float) -> bool:
    joints = _joints(root)
    for joint in [j for j in joints if rng.random() < 0.5] or joints:
        joint.set(key, repr(float(rng.uniform(low, high))))
    return bool(joints)


@fault("armature", "mjcf")
def armature(rng: Rng, root: Element) -> bool:
    return _number(rng, root, "armature", 0.01, 0.5)


@fault("spring", "mjcf")
def stiffness(rng: Rng, root: Element) -> bool:
    return _number(rng, root, "stiffness", 1.0, 50.0)


@fault("gravity_compensation", "mjcf")
def gravcomp(rng: Rng, root: Element) -> bool:
    bodies = [b for b in root.find("worldbody").iter("body") if b.find("inertial") is not None]
    body = some(rng, bodies)
    if body is None:
        return False
    body.set("gravcomp", "1")
    return True


def _option(root: Element) -> Element:
    found = root.find("option")
    return ET.SubElement(root, "option") if found is None else found


@fault("gravity", "mjcf")
def other_gravity(rng: Rng, root: Element) -> bool:
    old = vector(_option(root), "gravity") if _option(root).get("gravity") else np.array([0, 0, -9.81])
    new = 0.98 * old if rng.random() < 0.3 else np.linalg.norm(old) * about(rng.normal(size=3), 0.7) @ old / 9.81
    put(_option(root), "gravity", new)
    return True


@fault("gravity_sign", "mjcf")
def gravity_up(rng: Rng, root: Element) -> bool:
    put(_option(root), "gravity", -vector(_option(root), "gravity") if _option(root).get("gravity") else (0, 0, 9.81))
    return True


@fault("quaternion_order", "mjcf")
def quaternion_last(rng: Rng, root: Element) -> bool:
    """One body's quaternion is written w last."""
    bodies = [b for b in root.find("worldbody").iter("body") if b.get("quat")]
    body = some(rng, bodies)
    if body is None:
        return False
    w, x, y, z = vector(body, "quat", 4)
    put(body, "quat", (x, y, z, w))
    return True
