"""The robot drawn in space at a configuration, and its skeleton."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from armdyn.mechanics.closed_chain import all_positions
from armdyn.mechanics.kinematics import link_poses
from armdyn.report.figures.style import INK, as_svg, new_figure
from armdyn.robot.links import WORLD
from armdyn.robot.robot import Robot
from armdyn.typing import Array

LINK, REVOLUTE, PRISMATIC, BASE = "#6f8fc0", "#e58a3c", "#2a9d8f", "#8a93a3"
GRAVITY = "#8a5cc2"
BALL = "#c2566e"
"""Ball and universal joints that close loops."""
AXES = ("#d64545", "#3a9d4a", "#3b6fd4")
_SIDES = 14
_PANELS = 2
_FEWEST = 3
"""Joints from the base to a platform."""


def robot_figure(robot: Robot, shown: Mapping[str, Array]) -> str:
    """The robot at the first of the named configurations and at the most extended one, as SVG."""
    names = two_views(robot, shown)
    figure = new_figure(figsize=(5.2 * len(names), 4.6))
    for k, name in enumerate(names):
        axes: Any = figure.add_subplot(1, len(names), k + 1, projection="3d")
        draw_robot(axes, robot, shown[name])
        axes.set_title(name, color=INK, fontsize=11)
    figure.subplots_adjust(left=0, right=1, bottom=0, top=0.94, wspace=0)
    return as_svg(figure)


def two_views(robot: Robot, shown: Mapping[str, Array]) -> list[str]:
    """Names of the first configuration and of the most extended one."""
    names = list(shown)
    if len(names) <= _PANELS:
        return names
    return [names[0], max(names[1:], key=lambda name: size_of(points_of(*skeleton(robot, shown[name]))))]


def draw_robot(axes: Any, robot: Robot, q: Array) -> None:
    """Draw the robot at q (n,) into 3D axes."""
    from matplotlib.colors import LightSource
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    R = upright(robot)
    joints, segments, tool = skeleton(robot, q)
    joints = [(kind, R @ p, R @ z) for kind, p, z in joints]
    segments = [(R @ start, R @ end) for start, end in segments]
    tool = np.vstack([R @ tool[:3], tool[3:]])
    points = points_of(joints, segments, tool)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    size = size_of(points)
    thick = 0.024 * size
    faces: list[Array] = []
    colors: list[str] = []
    for start, end in segments:
        tube = _tube(start, end, 0.6 * thick)
        faces += tube
        colors += [LINK] * len(tube)
    for kind, p, z in joints:
        if kind in ("spherical", "universal"):
            solid, color = _tube(p - 1.2 * thick * z, p + 1.2 * thick * z, 1.2 * thick), BALL
        elif kind == "revolute":
            solid, color = _tube(p - 1.8 * thick * z, p + 1.8 * thick * z, 1.35 * thick), REVOLUTE
        else:
            solid, color = _box(p, z, thick), PRISMATIC
        faces += solid
        colors += [color] * len(solid)
    base = R @ np.array([float(x) for x in robot.base.xyz])
    disc = _tube(base - [0, 0, thick], base, 3 * thick)
    faces += disc
    colors += [BASE] * len(disc)
    axes.add_collection3d(
        Poly3DCollection(
            _even(faces),
            facecolors=colors,
            edgecolors=colors,
            linewidths=0.3,
            shade=True,
            lightsource=LightSource(225, 50),
        )
    )
    for axis, color in enumerate(AXES):
        tip = tool[:3, 3] + 0.14 * size * tool[:3, axis]
        axes.plot(*zip(tool[:3, 3], tip, strict=True), color=color, linewidth=2, zorder=10)
    _floor(axes, middle, size, float(min(points[:, 2].min(), base[2])) - thick)
    if any(float(x) for x in robot.gravity):
        top = middle + 0.5 * size
        axes.quiver(*top, 0, 0, -0.2 * size, color=GRAVITY, linewidth=1.8, arrow_length_ratio=0.35)
        axes.text(top[0], top[1], top[2] + 0.03 * size, "g", color=GRAVITY, fontsize=10, ha="center", style="italic")
    axes.view_init(elev=20, azim=_azimuth(points))
    axes.set_axis_off()


def upright(robot: Robot) -> Array:
    """(3, 3) rotation from the world to a drawing in which gravity points down, along -z.

    An arm whose gravity is along -y hangs or stands in its plane instead of lying on the floor.
    """
    g = np.array([float(x) for x in robot.gravity])
    strength = float(np.linalg.norm(g))
    if strength == 0.0:
        return np.eye(3)
    down = g / strength
    axis = np.cross(down, [0.0, 0.0, -1.0])
    c = float(-down[2])
    if np.linalg.norm(axis) < 1e-12:
        return np.eye(3) if c > 0 else np.diag([1.0, -1.0, -1.0])
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    R: Array = np.eye(3) + K + K @ K / (1.0 + c)  # Rodrigues' formula for the angle between two unit vectors
    return R


def upright_plane(robot: Robot, plane: Iterable[int]) -> list[int]:
    """Two axes of the world for a drawing, right and up: the one nearer to gravity is up."""
    size = [abs(float(x)) for x in robot.gravity]
    return sorted(plane, key=lambda k: (size[k], k))


def draw_gravity(axes: Any, robot: Robot, plane: Sequence[int]) -> None:
    """An arrow along gravity in a corner of a drawing of two axes of the world, if gravity lies in their plane.

    A second axis along gravity is turned over, so that gravity points down.
    """
    g = np.array([float(x) for x in robot.gravity])
    way, strength = g[list(plane)], float(np.linalg.norm(g))
    if strength == 0.0 or float(np.linalg.norm(way)) < 0.99 * strength:
        return
    if way[1] > abs(way[0]):
        axes.invert_yaxis()
        way = way * [1, -1]
    axes.annotate("g", xy=(0.95, 0.83), xycoords="axes fraction", xytext=-26 * way / strength,
                  textcoords="offset points", ha="center", va="center", color=GRAVITY, style="italic", fontsize=10,
                  arrowprops={"arrowstyle": "-|>", "color": GRAVITY, "linewidth": 1.6})  # fmt: skip


def points_of(joints: list[tuple[str, Array, Array]], segments: list[tuple[Array, Array]], tool: Array) -> Array:
    """(k, 3) corners of a skeleton."""
    return np.array([p for segment in segments for p in segment] + [p for _, p, _ in joints] + [tool[:3, 3]])


def size_of(points: Array) -> float:
    """The longest side of the box around the points, m; 1 if there is none."""
    return float(np.ptp(points, axis=0).max()) or 1.0


def _azimuth(points: Array) -> float:
    """Azimuth of a view, degrees, that shows the long side of the robot, slightly rotated."""
    flat = points[:, :2] - points[:, :2].mean(axis=0)
    if np.ptp(flat, axis=0).max() < 1e-9:
        return -60.0
    _, axes = np.linalg.eigh(flat.T @ flat)
    across = math.degrees(math.atan2(axes[1, 1], axes[0, 1])) - 90
    return (across + 180) % 180 - 180 + 25


def skeleton(robot: Robot, q: Array) -> tuple[list[tuple[str, Array, Array]], list[tuple[Array, Array]], Array]:
    """Joints as (kind, origin, axis), rigid segments between them, and the pose of the tool; all in the world.

    The joints that close loops come last, with the kinds of loops.
    """
    q, loops = all_positions(robot, q), robot.loops
    robot = robot.opened
    poses = [pose.array().astype(float) for pose in link_poses(robot, [float(x) for x in q])]
    base = np.asarray(robot.base.pose().array(), dtype=float)
    joints: list[tuple[str, Array, Array]] = []
    segments: list[tuple[Array, Array]] = []
    unseen = _platforms(robot) if loops else set()
    for link, T in zip(robot.links, poses, strict=True):
        if link.index in unseen:
            continue
        joints.append((link.kind, T[:3, 3], T[:3, 2]))
        if link.parent == WORLD:
            segments.append((base[:3, 3], T[:3, 3]))
        else:
            start = poses[link.parent]
            # A prismatic joint is drawn along its travel: from the parent's joint to its zero, then along its axis.
            foot = (start @ _homogeneous(link.placement.p))[:3]
            segments += [(start[:3, 3], foot), (foot, T[:3, 3])]
    for loop in loops:
        for body, placement in ((loop.first, loop.first_placement), (loop.second, loop.second_placement)):
            held = robot.frame(body)
            end = np.asarray((held.pose @ placement.pose()).array(), dtype=float)
            T = end if held.link == WORLD else poses[held.link] @ end
            segments.append((base[:3, 3] if held.link == WORLD else poses[held.link][:3, 3], T[:3, 3]))
        joints.append((loop.kind, T[:3, 3], T[:3, 2]))
    frame = robot.frame("tool")
    local = np.asarray(frame.pose.array(), dtype=float)
    tool = local if frame.link == WORLD else poses[frame.link] @ local
    if frame.link != WORLD:
        segments.append((poses[frame.link][:3, 3], tool[:3, 3]))
    return joints, [(a, b) for a, b in segments if np.linalg.norm(a - b) > 0], tool


def _platforms(robot: Robot) -> set[int]:
    """Joints that only say where a platform is: passive ones from the base, three at least, up to the first mass."""
    found: set[int] = set()
    for first in robot.links:
        chain = [first] if first.parent == WORLD and not first.revolute and robot.joints[first.index].passive else []
        while chain and float(chain[-1].inertia.mass) == 0:
            below = [link for link in robot.links if link.parent == chain[-1].index]
            if len(below) != 1 or not robot.joints[below[0].index].passive:
                break
            chain.append(below[0])
        found |= {link.index for link in chain} if len(chain) >= _FEWEST else set()
    return found


def _homogeneous(p: Any) -> Array:
    return np.array([*(float(x) for x in p), 1.0])


def _across(z: Array) -> tuple[Array, Array]:
    """Two unit vectors that make a right-handed frame with z."""
    x = np.cross(z, [0, 0, 1] if abs(z[2]) < 0.9 else [1, 0, 0])
    x /= np.linalg.norm(x)
    return x, np.cross(z, x)


def _even(faces: list[Array]) -> list[Array]:
    """Faces with equally many corners, some repeated: Matplotlib fills up shorter ones with uninitialised memory."""
    most = max(map(len, faces))
    return [face[np.arange(most) * len(face) // most] for face in faces]


def _tube(start: Array, end: Array, radius: float) -> list[Array]:
    """A closed cylinder as polygons, normals outward."""
    length = float(np.linalg.norm(end - start))
    if length == 0:
        return []
    x, y = _across((end - start) / length)
    turn = np.arange(_SIDES + 1) * (2 * math.pi / _SIDES)
    ring = radius * (np.cos(turn)[:, None] * x + np.sin(turn)[:, None] * y)
    near, far = start + ring, end + ring
    sides = [np.array([near[i], near[i + 1], far[i + 1], far[i]]) for i in range(_SIDES)]
    return [*sides, near[-2::-1], far[:-1]]


def _box(p: Array, z: Array, thick: float) -> list[Array]:
    """A box around a prismatic joint, long along its axis, normals outward."""
    x, y = _across(z)
    frame = np.array([1.3 * thick * x, 1.3 * thick * y, 2.4 * thick * z])
    corners = {(i, j, k): p + np.array([i, j, k]) @ frame for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)}
    faces = []
    for axis in range(3):
        for sign in (-1, 1):
            square = [(-1, -1), (1, -1), (1, 1), (-1, 1)][:: sign if axis != 1 else -sign]
            faces.append(np.array([corners[_inserted(pair, axis, sign)] for pair in square]))
    return faces


def _inserted(pair: tuple[int, int], axis: int, sign: int) -> tuple[int, int, int]:
    values = list(pair)
    values.insert(axis, sign)
    return values[0], values[1], values[2]


def _floor(axes: Any, middle: Array, size: float, height: float) -> None:
    """Draw a grid below the robot and set the limits of the view."""
    half = 0.62 * size
    for t in np.linspace(-half, half, 9):
        style = {"color": INK, "linewidth": 0.5, "alpha": 0.18, "zorder": 0}
        x, y = middle[:2]
        axes.plot([x + t, x + t], [y - half, y + half], [height, height], **style)
        axes.plot([x - half, x + half], [y + t, y + t], [height, height], **style)
    low = min(height, middle[2] - half)
    axes.set_xlim(middle[0] - half, middle[0] + half)
    axes.set_ylim(middle[1] - half, middle[1] + half)
    axes.set_zlim(low, low + 2 * half)
    axes.set_box_aspect((1, 1, 1), zoom=1.25)
