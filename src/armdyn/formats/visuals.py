"""What a robot looks like: the shapes that its URDF or MJCF file gives to its bodies.

for shape in visuals(robot):
T = kinematics.pose(robot, q, shape.body) @ shape.pose.array()     # of the shape in the world
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args
from xml.etree.ElementTree import Element

from armdyn.algebra import Mat3, Pose, Vec3, rot_rpy
from armdyn.formats import mjcf_read
from armdyn.formats.mesh_files import find_mesh
from armdyn.formats.mjcf_shapes import SIZES
from armdyn.formats.safe_xml import local_name, parse
from armdyn.formats.xml_values import Values
from armdyn.robot.parts import RobotFile
from armdyn.robot.robot import Robot

ShapeKind = Literal["box", "sphere", "cylinder", "capsule", "ellipsoid", "plane", "mesh"]
Color = tuple[float, float, float, float]
_URDF_SIZES: dict[ShapeKind, tuple[str, ...]] = {
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
}
SEEN = 2
"""Highest group of a geom that MuJoCo shows by default."""


@dataclass(frozen=True, slots=True)
class Visual:
    """One shape of a body.

    body: name of the body that carries it.
    pose: T_body_shape, of the shape's own frame in the body's frame.
    kind: a primitive or "mesh".
    size: m. Box: its three edges; sphere: radius; cylinder and capsule: radius and length along z (a capsule's ends are
        beyond it); ellipsoid: three semi-axes; plane: two half lengths (0: without end); mesh: scale along its axes.
    mesh_name: name of the mesh in the file.
    mesh: its file, where one is found.
    color: red, green, blue, opacity, each from 0 to 1 (None: not given).
    """

    body: str
    pose: Pose
    kind: ShapeKind
    size: tuple[float, ...]
    mesh_name: str = ""
    mesh: Path | None = None
    color: Color | None = None


def visuals(robot: Robot, *, collision: bool = False) -> tuple[Visual, ...]:
    """The shapes of a robot's bodies; none if it was not read from a URDF or MJCF file.

    collision: the shapes for collisions instead of those to be seen.
    """
    if robot.file is None:
        return ()
    found = _of_urdf(robot.file, collision) if robot.file.format == "urdf" else _of_mjcf(robot.file, collision)
    bodies = {robot.root.name, *(joint.body.name for joint in robot.tree)}
    return tuple(shape for shape in found if shape.body in bodies)


# URDF ---------------------------------------------------------------------------------------------------------------


def _of_urdf(file: RobotFile, collision: bool) -> Iterator[Visual]:
    document = parse(file.text, file.path)
    values, folder = Values(document), Path(file.path).parent
    named = {
        str(element.get("name")): element
        for element in document.root.iter()
        if local_name(element) == "material" and len(element)
    }
    for link in (child for child in document.root if local_name(child) == "link"):
        for element in (child for child in link if local_name(child) == ("collision" if collision else "visual")):
            label = f"link {link.get('name')!r}"
            parts = {local_name(child): child for child in element}
            origin = parts.get("origin")
            pose = Pose(rot_rpy(*values.vector(origin, "rpy", label)), values.vector(origin, "xyz", label))
            color = _urdf_color(values, parts.get("material"), named, label)
            for shape in parts.get("geometry", ()):
                made = _urdf_shape(values, shape, folder, label)
                if made is not None:
                    kind, size, name = made
                    mesh = find_mesh(name, folder) if name else None
                    yield Visual(str(link.get("name")), pose, kind, size, name, mesh, color)


def _urdf_shape(
    values: Values, shape: Element, folder: Path, label: str
) -> tuple[ShapeKind, tuple[float, ...], str] | None:
    kind = local_name(shape)
    if kind == "mesh":
        scale = shape.get("scale", "1 1 1")
        count = len(scale.split())  # one factor for all three axes is found in files
        factors = [float(x) for x in values.numbers(scale, count if count == 1 else 3, shape, "scale", label)]
        return "mesh", tuple(factors * 3 if count == 1 else factors), shape.get("filename", "")
    for primitive, keys in _URDF_SIZES.items():
        if kind == primitive:
            count = 3 if kind == "box" else 1
            sizes = (values.numbers(values.text(shape, key, label), count, shape, key, label) for key in keys)
            return primitive, tuple(float(x) for size in sizes for x in size), ""
    return None


def _urdf_color(values: Values, material: Element | None, named: dict[str, Element], label: str) -> Color | None:
    """The colour of a material, which may be described elsewhere in the file."""
    for element in (material, named.get(str(material.get("name"))) if material is not None else None):
        for color in element if element is not None else ():
            if local_name(color) == "color" and "rgba" in color.attrib:
                r, g, b, a = values.numbers(color.attrib["rgba"], 4, color, "rgba", label)
                return float(r), float(g), float(b), float(a)
    return None


# MJCF ---------------------------------------------------------------------------------------------------------------


def _of_mjcf(file: RobotFile, collision: bool) -> Iterator[Visual]:
    reader = mjcf_read.reading(parse(file.text, file.path), Path(file.path).parent)
    materials = {str(element.get("name")): element for element in reader.assets("material")}
    for body, geom, frame in reader.shapes:
        label = f"body {body!r}"
        touches = any(geom.get(key, "1").strip() != "0" for key in ("contype", "conaffinity"))
        group = int(reader.optional(geom, "group", label) or 0)
        if touches if collision else group <= SEEN:
            kind, pose, size, name, mesh = _mjcf_shape(reader, geom, label)
            color = _mjcf_color(reader, geom, materials, label)
            if kind is not None:
                yield Visual(body, frame @ pose, kind, size, name, mesh, color)


def _mjcf_shape(
    reader: mjcf_read.Reader, geom: Element, label: str
) -> tuple[ShapeKind | None, Pose, tuple[float, ...], str, Path | None]:
    kind, name = geom.get("type", "sphere"), geom.get("mesh", "")
    if kind in ("mesh", "sdf"):
        asset = reader.mesh_asset(geom)
        reference, scale = reader.mesh_frame(asset)
        path = reader.mesh_path(asset)
        if Mat3.identity() != reference.R and len(set(scale)) > 1:
            return None, reference, (), name, None  # a scale after a rotation is not one along the file's axes
        inner = Pose(reference.R.T, Vec3(*(-s * x for s, x in zip(scale, reference.R.T @ reference.p, strict=True))))
        sizes = tuple(map(float, scale))
        return "mesh", reader.pose(geom, label) @ inner, sizes, name, path if path and path.is_file() else None
    if kind == "plane":
        return "plane", reader.pose(geom, label), tuple(reader.first(geom, "size", 2, label)), "", None
    if kind not in SIZES:
        return None, Pose.identity(), (), "", None
    if name:
        pose, size = reader.fitted(geom, kind, reader.mesh_inertia(geom), label)
    else:
        pose, size = reader.extent(geom, kind, label)
    doubled = {"box": [2 * x for x in size], "cylinder": [size[0], 2 * size[-1]], "capsule": [size[0], 2 * size[-1]]}
    primitive = next(each for each in get_args(ShapeKind) if each == kind)
    return primitive, pose, tuple(doubled.get(kind, size)), name, None


def _mjcf_color(reader: mjcf_read.Reader, geom: Element, materials: dict[str, Element], label: str) -> Color | None:
    for element in (geom, materials.get(geom.get("material", ""))):
        if element is not None and "rgba" in element.attrib:
            r, g, b, a = reader.numbers(element.attrib["rgba"], 4, element, "rgba", label)
            return float(r), float(g), float(b), float(a)
    return None
