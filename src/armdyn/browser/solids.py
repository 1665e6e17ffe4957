"""What is drawn of a robot: the shapes of its file, or solid links between its joints; its surroundings; its bodies.

Places are in the frames of the moving links, so that they are sent to the page once; -1 is the ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.files import regular_size
from armdyn.formats.visuals import Visual, visuals
from armdyn.kinematics.scene import GROUND, PALETTE, placed, poses_of_links, scene
from armdyn.robot import Robot
from armdyn.robot.limits import total_length
from armdyn.robot.links import WORLD
from armdyn.typing import Array

Color = tuple[int, int, int]
PLAIN: Color = (190, 196, 204)
"""Colour of shapes whose file names none."""
MOST_MESH = 50_000_000
"""Largest mesh file that is drawn, bytes."""
MOST_TRIANGLES = 16_000
"""Most triangles with which a robot is drawn; meshes are coarsened to this number."""
SHARP = 0.6
"""Angle between two faces from which their edge is drawn sharp, rad."""
_ONE_NUMBER = np.array([1, 1 << 20, 1 << 40], dtype=np.int64)
"""Dot product with three small whole numbers gives one number that identifies them."""
THICK = 0.024
"""Half the thickness of a solid link, of the robot's size."""


@dataclass(frozen=True, eq=False)
class Solid:
    """A shape on a link.

    link:  index of the moving link; GROUND for what does not move.
    kind:  box (size: three edges), ball (three semi-axes), cylinder (radius, length along z), mesh (scale by axis).
    T:     (4, 4) its pose in the link's frame.
    mesh:  trimesh object, for a mesh.
    """

    link: int
    kind: Literal["box", "ball", "cylinder", "mesh"]
    size: tuple[float, ...]
    T: Array
    color: Color = PLAIN
    opacity: float = 1.0
    mesh: Any = None


class Weight(NamedTuple):
    """A body's centre of mass (3,) and inertia ellipsoid in its link's frame: semi-axes (3,) and axes (3, 3) of the
    homogeneous ellipsoid with the same inertia; None where no body has that inertia.
    """

    body: str
    link: int
    mass: float
    com: Array
    semi_axes: Array | None
    axes: Array


class Viewpoint(NamedTuple):
    """Where the robot stands: up, a point in its middle, its size, height of the floor, where it is seen from.

    left: unit vector, to the left as it is seen first. sides: how far the robot extends to the left and right, m.
    """

    up: Array
    middle: Array
    size: float
    floor: float
    gravity: float
    away: Array
    left: Array
    sides: tuple[float, float]


def poses(dyn: Dynamics, q: Array) -> Array:
    """(links, 4, 4) of all moving links in the world, at the positions q (n,) of the independent joints."""
    return poses_of_links(dyn.robot, dyn.closed(q) if dyn.robot.constrained else q)


def solids(robot: Robot, size: float) -> tuple[Solid, ...]:
    """The shapes of a URDF or MJCF file as far as they can be drawn, or solid links. size: of the robot, m."""
    shapes = [solid for shape in visuals(robot) for solid in _of_file(robot, shape)]
    return tuple(_coarser(shapes)) or tuple(_links(robot, THICK * size))


def surroundings(dyn: Dynamics, q: Array) -> Viewpoint:
    """How the scene is set: gravity points down, planar arms are seen from the front.

    q: (n,) the configuration to begin with.
    """
    robot, tool = dyn.robot, dyn.pose(q)
    g = np.array([float(x) for x in robot.gravity])
    strength = float(np.linalg.norm(g))
    up = -g / strength if strength else np.array([0.0, 0.0, 1.0])
    where = poses(dyn, q)
    base = np.array([float(x) for x in robot.base.xyz])
    points = np.array([base, *where[:, :3, 3], tool[:3, 3]])
    size = max(float(np.ptp(points, axis=0).max()), 0.3)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    upright = len(where) == 0 or abs(float(where[0, :3, 2] @ up)) > 0.9  # the first axis is vertical: it stands
    floor = float((points @ up).min()) if upright else float(base @ up) - total_length(robot)
    away = _away(up, where)
    left = np.cross(away, up)
    left /= np.linalg.norm(left)
    across_view = (points - middle) @ left
    sides = float(across_view.max()), float(-across_view.min())
    return Viewpoint(up, middle, size, floor, strength, away, left, sides)


def weights(robot: Robot) -> tuple[Weight, ...]:
    """The bodies that have mass and move, with their inertia ellipsoids."""
    found = []
    for joint in robot.opened.tree:
        frame, body = robot.opened.frame(joint.body.name), joint.body.inertia.about_com()
        mass = float(body.mass)
        if mass <= 0 or frame.link == WORLD:
            continue
        T = np.asarray(frame.pose.array(), dtype=float)
        com = T @ np.array([*(float(x) for x in body.com), 1.0])
        values, axes = np.linalg.eigh(np.array([[float(x) for x in row] for row in body.tensor.rows]))
        # A homogeneous ellipsoid with semi-axes a, b, c has the moments m (b^2 + c^2)/5, ...
        squares = 2.5 / mass * (values.sum() - 2 * values)
        real = bool((squares > -1e-9 * max(squares.max(), 1e-30)).all()) and squares.max() > 0
        semi = np.sqrt(np.maximum(squares, 0.0)) if real else None
        found.append(Weight(joint.body.name, frame.link, mass, com[:3], semi, T[:3, :3] @ axes))
    return tuple(found)


# Parts --------------------------------------------------------------------------------------------------------------


def _of_file(robot: Robot, shape: Visual) -> list[Solid]:
    frame = robot.opened.frame(shape.body)
    link = GROUND if frame.link == WORLD else frame.link
    T = np.asarray((frame.pose @ shape.pose).array(), dtype=float)
    color = _color(shape.color) if shape.color else (*PLAIN, 1.0)
    if shape.kind == "box":
        return [Solid(link, "box", shape.size, T, color[:3], color[3])]
    if shape.kind in ("sphere", "ellipsoid"):
        return [Solid(link, "ball", (shape.size * 3)[:3], T, color[:3], color[3])]
    if shape.kind in ("cylinder", "capsule"):
        return [Solid(link, "cylinder", shape.size, T, color[:3], color[3])]
    if shape.kind != "mesh":
        return []
    parts = _meshes(shape)
    return [
        Solid(
            link, "mesh", shape.size, T, (color if shape.color else own)[:3], (color if shape.color else own)[3], mesh
        )
        for own, mesh in parts.items()
    ]


def _color(rgba: Sequence[float]) -> tuple[int, int, int, float]:
    r, g, b, a = rgba
    return round(255 * r), round(255 * g), round(255 * b), float(a)


def _meshes(shape: Visual) -> dict[tuple[int, int, int, float], Any]:
    """The meshes of a file by colour, as trimesh reads them; none if they cannot be read."""
    try:
        import trimesh
    except ImportError:
        return {}
    if shape.mesh is None:
        return {}
    found: dict[tuple[int, int, int, float], Any] = {}
    try:
        regular_size(shape.mesh, MOST_MESH)
        parts: Any = trimesh.load_scene(shape.mesh).dump()
        for part in parts:
            visual = part.visual
            rgba = (visual.material if visual.kind == "texture" else visual).main_color
            color = _color([float(x) / 255 for x in rgba]) if visual.defined else (*PLAIN, 1.0)
            bare = trimesh.Trimesh(part.vertices, part.faces, process=False)
            found[color] = bare if color not in found else trimesh.util.concatenate([found[color], bare])
        for mesh in found.values():
            mesh.apply_scale(shape.size)
    except Exception:  # whatever is wrong with a stranger's file, the other shapes are drawn
        return {}
    return {color: mesh for color, mesh in found.items() if len(mesh.faces)}


def _coarser(shapes: Sequence[Solid]) -> list[Solid]:
    """The shapes with meshes of MOST_TRIANGLES together, so that they move without delay on any machine."""
    size = max((float(shape.mesh.extents.max()) for shape in shapes if shape.mesh is not None), default=0.0)
    meshes, cell = [shape.mesh for shape in shapes], 2e-3 * size
    while sum(len(mesh.faces) for mesh in meshes if mesh is not None) > MOST_TRIANGLES:
        cell *= 1.25
        meshes = [None if shape.mesh is None else _merged(shape.mesh, cell) for shape in shapes]
    return [
        replace(shape, mesh=None if mesh is None else _shaded(mesh))
        for shape, mesh in zip(shapes, meshes, strict=True)
        if mesh is None or len(mesh.faces)  # of what is smaller than a cell nothing is left
    ]


def _merged(mesh: Any, cell: float) -> Any:
    """The mesh with all vertices in one cell of a grid merged (Rossignac and Borrel, 1993). cell: its edge, m."""
    import trimesh

    places = np.floor((mesh.vertices - mesh.bounds[0]) / cell).astype(np.int64)
    _, to = np.unique(places @ _ONE_NUMBER, return_inverse=True)
    vertices = np.column_stack([np.bincount(to, mesh.vertices[:, k]) for k in range(3)]) / np.bincount(to)[:, None]
    faces = to[mesh.faces]
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (a != c)]
    _, kept = np.unique(np.sort(faces, axis=1) @ _ONE_NUMBER, return_index=True)
    return trimesh.Trimesh(vertices, faces[kept], process=False)


def _shaded(mesh: Any) -> Any:
    """The mesh with its vertices split at sharp edges: the page shades the faces of a vertex as one surface."""
    import trimesh

    return trimesh.graph.smooth_shade(mesh, angle=SHARP)


def _links(robot: Robot, thick: float) -> list[Solid]:
    """Cylinders for revolute joints, boxes for prismatic ones, balls for those that close loops, and rigid links."""
    drawn = scene(robot)
    found = []
    for kind, link, point, axis in drawn.joints:
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = frame_along(axis), point
        shape: tuple[Literal["box", "ball", "cylinder"], tuple[float, ...]] = ("ball", (1.3 * thick,) * 3)
        if kind == "revolute":
            shape = "cylinder", (1.4 * thick, 3.8 * thick)
        elif kind == "prismatic":
            shape = "box", (2.4 * thick, 2.4 * thick, 3.8 * thick)
        found.append(Solid(link, *shape, T, rgb(PALETTE[kind])))
    for first, start, second, end in drawn.segments:
        if first == second:
            tube = _tube(first, start, end, 0.7 * thick, rgb(PALETTE["base" if first == GROUND else "link"]))
            found += [tube] if tube is not None else []
    return found


def rgb(color: str) -> Color:
    """The three numbers of a colour such as "#6f8fc0"."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _tube(link: int, start: Array, end: Array, radius: float, color: Color) -> Solid | None:
    length = float(np.linalg.norm(end - start))
    if length < 1e-6:
        return None
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = frame_along((end - start) / length), (start + end) / 2
    return Solid(link, "cylinder", (radius, length), T, color)


def slides(robot: Robot, where: Array) -> Array:
    """(k, 2, 3) the travel of prismatic joints from their zero to where they are, in the world. where: `poses`."""
    moving = [segment for segment in scene(robot).segments if segment.first != segment.second]
    ends = [[placed(where, a, p), placed(where, b, r)] for a, p, b, r in moving]
    return np.array(ends, dtype=float).reshape(-1, 2, 3)


def _away(up: Array, where: Array) -> Array:
    """Direction from which the arm is seen: planar arms from the front, others from the side and above."""
    axes = where[:, :3, 2]
    flat = len(axes) > 0 and float(np.abs(np.abs(axes @ axes[0]) - 1).max()) < 1e-6 and abs(float(axes[0] @ up)) < 0.1
    if flat:
        return np.asarray(0.97 * axes[0] + 0.25 * up)
    x, y = across(up)
    return np.asarray(0.75 * x - 0.55 * y + 0.4 * up)


def across(z: Array) -> tuple[Array, Array]:
    """Two unit vectors that make a right-handed frame with z."""
    x = np.array([1.0, 0.0, 0.0]) if abs(z[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    x = x - z * float(x @ z)
    x /= np.linalg.norm(x)
    return x, np.cross(z, x)


def frame_along(z: Array) -> Array:
    """(3, 3) rotation whose third column is the unit vector z."""
    return np.column_stack([*across(z), z])


def quaternion(R: Array) -> Array:
    """(4,) w, x, y, z of a rotation (3, 3)."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(R).as_quat()
    return np.array([w, x, y, z])


def rotation(wxyz: Array) -> Array:
    """(3, 3) of a quaternion w, x, y, z."""
    from scipy.spatial.transform import Rotation

    w, x, y, z = wxyz
    R: Array = Rotation.from_quat([x, y, z, w]).as_matrix()
    return R
