"""The robot drawn in space at a configuration."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from armdyn.kinematics.scene import PALETTE, TOOL_AXES, skeleton
from armdyn.report.figures.style import INK, as_svg, new_figure
from armdyn.robot.robot import Robot
from armdyn.typing import Array

_SIDES = 14
_PANELS = 2


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


def solutions_figure(robot: Robot, q: Array) -> Any:
    """The robot at each of several configurations (k, n), seen through one window, in panels side by side."""
    columns = min(len(q), 4) or 1
    lines = -(-len(q) // columns) or 1
    figure = new_figure(figsize=(3.4 * columns, 3.4 * lines))
    window = Window.around(robot, q) if len(q) else None
    for k, each in enumerate(q):
        axes: Any = figure.add_subplot(lines, columns, k + 1, projection="3d")
        draw_robot(axes, robot, each, window)
        axes.set_title(str(k + 1), color=INK, fontsize=11)
    figure.subplots_adjust(left=0, right=1, bottom=0, top=0.94, wspace=0)
    return figure


def two_views(robot: Robot, shown: Mapping[str, Array]) -> list[str]:
    """Names of the first configuration and of the most extended one."""
    names = list(shown)
    if len(names) <= _PANELS:
        return names
    return [names[0], max(names[1:], key=lambda name: skeleton(robot, shown[name]).size)]


class Window(NamedTuple):
    """What a drawing of an arm shows: a cube about `middle` (3,) with sides of `size`, m, seen from `azimuth`, degrees.

    floor: height of the grid below the arm, m.
    """

    middle: Array
    size: float
    floor: float
    azimuth: float

    @staticmethod
    def around(robot: Robot, configurations: Array) -> Window:
        """The window that shows the robot at all of these configurations, (k, n)."""
        R = upright(robot)
        points = np.vstack([skeleton(robot, q).points for q in configurations]) @ R.T
        base = R @ np.array([float(x) for x in robot.base.xyz])
        size = float(np.ptp(points, axis=0).max()) or 1.0
        middle = (points.min(axis=0) + points.max(axis=0)) / 2
        floor = float(min(points[:, 2].min(), base[2])) - THICKNESS * size
        return Window(middle, size, floor, _azimuth(points))


THICKNESS = 0.024
"""Half the thickness of links, as a share of the drawing's size."""


def draw_robot(axes: Any, robot: Robot, q: Array, window: Window | None = None) -> None:
    """Draw the robot at q (n,) into 3D axes; window: what the drawing shows (default: the robot at q)."""
    from matplotlib.colors import LightSource
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    R = upright(robot)
    arm = skeleton(robot, q)
    joints = [(kind, R @ p, R @ z) for kind, p, z in arm.joints]
    segments = [(R @ start, R @ end) for start, end in arm.segments]
    tool = R @ arm.tool[:3]
    window = Window.around(robot, np.atleast_2d(q)) if window is None else window
    middle, size = window.middle, window.size
    thick = THICKNESS * size
    faces: list[Array] = []
    colors: list[str] = []
    for start, end in segments:
        tube = _tube(start, end, 0.6 * thick)
        faces += tube
        colors += [PALETTE["link"]] * len(tube)
    for kind, p, z in joints:
        if kind in ("spherical", "universal"):
            solid = _tube(p - 1.2 * thick * z, p + 1.2 * thick * z, 1.2 * thick)
        elif kind == "revolute":
            solid = _tube(p - 1.8 * thick * z, p + 1.8 * thick * z, 1.35 * thick)
        else:
            solid = _box(p, z, thick)
        faces += solid
        colors += [PALETTE[kind]] * len(solid)
    base = R @ np.array([float(x) for x in robot.base.xyz])
    disc = _tube(base - [0, 0, thick], base, 3 * thick)
    faces += disc
    colors += [PALETTE["base"]] * len(disc)
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
    for axis, color in enumerate(TOOL_AXES):
        tip = tool[:3, 3] + 0.14 * size * tool[:3, axis]
        axes.plot(*zip(tool[:3, 3], tip, strict=True), color=color, linewidth=2, zorder=10)
    _floor(axes, middle, size, window.floor)
    if any(float(x) for x in robot.gravity):
        top = middle + 0.5 * size
        axes.quiver(*top, 0, 0, -0.2 * size, color=PALETTE["gravity"], linewidth=1.8, arrow_length_ratio=0.35)
        axes.text(
            top[0],
            top[1],
            top[2] + 0.03 * size,
            "g",
            color=PALETTE["gravity"],
            fontsize=10,
            ha="center",
            style="italic",
        )
    axes.view_init(elev=20, azim=window.azimuth)
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
    axes.annotate(
        "g",
        xy=(0.95, 0.83),
        xycoords="axes fraction",
        xytext=-26 * way / strength,
        textcoords="offset points",
        ha="center",
        va="center",
        color=PALETTE["gravity"],
        style="italic",
        fontsize=10,
        arrowprops={"arrowstyle": "-|>", "color": PALETTE["gravity"], "linewidth": 1.6},
    )


def _azimuth(points: Array) -> float:
    """Azimuth of a view, degrees, that shows the long side of the robot, slightly rotated."""
    flat = points[:, :2] - points[:, :2].mean(axis=0)
    if np.ptp(flat, axis=0).max() < 1e-9:
        return -60.0
    _, axes = np.linalg.eigh(flat.T @ flat)
    across = math.degrees(math.atan2(axes[1, 1], axes[0, 1])) - 90
    return (across + 180) % 180 - 180 + 25


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
