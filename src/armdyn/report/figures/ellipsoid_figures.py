"""Figures of analysis: ellipsoids drawn at the tool, the effect of gravity on them, workspace maps.

Every function gives a Matplotlib figure: `as_svg(figure)` for a page, `figure.savefig(path)` for a file.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from armdyn.analysis.ellipsoids import (
    Ellipsoid,
    Polytope,
    acceleration_ellipsoid,
    acceleration_polytope,
    force_ellipsoid,
    velocity_ellipsoid,
)
from armdyn.analysis.workspace_map import WorkspaceMap
from armdyn.control.base import SingularTask
from armdyn.dynamics import Dynamics
from armdyn.errors import NotApplicable, ShapeError
from armdyn.kinematics.scene import PALETTE, skeleton
from armdyn.kinematics.task_rows import LINEAR, joint_array
from armdyn.motion.sampling import dynamics_of
from armdyn.report.figures.robot_figures import draw_gravity, draw_robot
from armdyn.report.figures.style import FAINT, GREY, INK, framed_axes, new_figure
from armdyn.robot import Robot
from armdyn.robot.limits import required_torque_limits
from armdyn.typing import Array

COLOR = {"velocity": "#3b6fd4", "force": "#c2528b", "acceleration": "#2a9d8f"}
UNIT = {"velocity": "m/s", "force": "N", "acceleration": "m/s²"}
TEXT, BOX, PLAIN = "#e58a3c", "#8a5cc2", GREY
DRAWN = 0.36
"""Half axis drawn for the longest one, as a share of the arm's size."""
LETTERS = 11.5
"""Characters of a title per inch."""
_CIRCLE = np.linspace(0, 2 * math.pi, 181)


def ellipsoid_figure(model: Robot | Dynamics, q: Any, *, tau_max: Any = None) -> Any:
    """Velocity, force and acceleration ellipsoids at q (n,), drawn at the tool.

    Planar arms are drawn in their plane, others in space. Velocities belong to joint velocities of unit norm; forces
    and accelerations to torques in an ellipsoid with half axes tau_max: as given, the robot's limits, or twice the
    holding torque. With one limit per joint the exact polytope is drawn too; for redundant arms also the ellipsoid of
    Siciliano (7.148).
    """
    dyn = dynamics_of(model)
    q = _one(dyn, q)
    rows = drawn_rows(dyn)
    strongest, words = _strength(dyn, q, tau_max)
    here = {"rows": rows}
    panels: list[tuple[str, list[tuple[Ellipsoid | Polytope, str, str]], str]] = [
        ("velocity", [(velocity_ellipsoid(dyn, q, **here), COLOR["velocity"], "")], "unit joint velocities"),
        ("force", [(force_ellipsoid(dyn, q, **here, tau_max=strongest), COLOR["force"], "")], words),
        ("acceleration", _accelerations(dyn, q, rows, strongest), f"{words}, with gravity"),
    ]
    flat = len(rows.split()) == 2
    figure = new_figure(figsize=(13.2, 5.2 if flat else 5.6))
    for k, (kind, shapes, below) in enumerate(panels):
        axes: Any = figure.add_subplot(1, 3, k + 1, **({} if flat else {"projection": "3d"}))
        (_in_plane if flat else _in_space)(axes, dyn.robot, q, shapes, UNIT[kind])
        first = shapes[0][0]
        assert isinstance(first, Ellipsoid)
        axes.set_title(f"{kind}: half axes {first.half_axes} {UNIT[kind]}\n{below}", color=INK, fontsize=10)
    figure.suptitle(
        f"{dyn.robot.name}: velocity, force and acceleration ellipsoids", x=0.02, ha="left", fontsize=12, color=INK
    )
    if flat:
        figure.subplots_adjust(left=0.05, right=0.99, bottom=0.22, top=0.83, wspace=0.18)
    else:
        figure.subplots_adjust(left=0, right=1, bottom=0.14, top=0.86, wspace=0)
    return figure


def gravity_figure(
    model: Robot | Dynamics, shown: Mapping[str, Any], *, tau_max: float, rows: str | None = None
) -> Any:
    """Effect of gravity on the dynamic manipulability ellipsoid of a planar arm, as in Siciliano fig. 7.15.

    shown: {title: q (n,)}, one panel each. tau_max: radius of the ball of torques, N m. In each panel: the set without
    gravity, the exact one with gravity, and for redundant arms that of Siciliano (7.148), which drops the null space.
    """
    dyn = dynamics_of(model)
    rows = drawn_rows(dyn) if rows is None else rows
    if len(rows.split()) != 2:
        raise ShapeError(f"rows {rows}", where=f"robot {dyn.robot.name!r}", expected="an arm that moves in a plane")
    figure = new_figure(figsize=(4.6 * len(shown), 5.4))
    for k, (name, q) in enumerate(shown.items()):
        axes = figure.add_subplot(1, len(shown), k + 1)
        at = _one(dyn, q)
        free = acceleration_ellipsoid(dyn, at, rows=rows, tau_max=tau_max, gravity=False)
        exact = acceleration_ellipsoid(dyn, at, rows=rows, tau_max=tau_max)
        shapes: list[Any] = [(exact, COLOR["acceleration"], "with gravity"), (free, PLAIN, "without gravity")]
        if dyn.n > 2:
            text = acceleration_ellipsoid(dyn, at, rows=rows, tau_max=tau_max, method="text")
            shapes.append((text, TEXT, "with gravity, by Siciliano (7.148)"))
        _in_plane(axes, dyn.robot, at, shapes, UNIT["acceleration"])
        axes.set_title(name, color=INK, fontsize=10)
    figure.suptitle(
        f"{dyn.robot.name}: accelerations of the tool by torques of norm {tau_max:g} N m",
        x=0.02,
        ha="left",
        fontsize=12,
        color=INK,
    )
    figure.subplots_adjust(left=0.07, right=0.99, bottom=0.2, top=0.86, wspace=0.2)
    return figure


def map_figure(found: WorkspaceMap) -> Any:
    """A workspace map: one heat map per column of its values; samples as points, distance over height."""
    shown = len(found.labels)
    columns = min(shown, 3)
    rows = -(-shown // columns)
    figure = new_figure(figsize=(5.0 * columns + (1.4 if columns == 1 else 0), 4.1 * rows + 0.7), layout="constrained")
    for k, label in enumerate(found.labels):
        axes: Any = figure.add_subplot(rows, columns, k + 1)
        drawn = (_heat if found.axes else _cloud)(axes, found, k)
        over = np.nanmax(found.values[..., k], initial=-np.inf) > drawn.norm.vmax * (1 + 1e-9)
        bar = figure.colorbar(drawn, ax=axes, pad=0.02, extend="max" if over else "neither")
        bar.set_label(found.label_units[k], color=INK, fontsize=9.5)
        bar.ax.tick_params(labelsize=8.5, colors=INK)
        bar.outline.set(edgecolor=INK, alpha=0.35)
        framed_axes(axes)
        axes.grid(not found.axes)
        if shown > 1:
            axes.set_title(label, color=INK, fontsize=10, loc="left")
    note = "; ".join([*found.notes, *_grey(found)])
    title = "\n".join([f"{found.robot}: {found.title}", *_lines(note, int(LETTERS * figure.get_figwidth()))])
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, color=INK)
    return figure


def _lines(note: str, width: int) -> list[str]:
    """Lines that break behind commas and semicolons."""
    held = re.sub(r"(?<![,;]) ", "\xa0", note)
    return [line.replace("\xa0", " ") for line in textwrap.wrap(held, width, break_long_words=False)]


def _grey(found: WorkspaceMap) -> list[str]:
    """The meaning of cells without a value."""
    meanings = ["out of reach"] if not found.reached.all() else []
    if np.isnan(found.values[found.reached]).any():
        meanings.append("holding torque above the limits")
    return ["grey: " + ", or ".join(meanings)] if meanings and found.axes else []


def drawn_rows(dyn: Dynamics) -> str:
    """Two rows of position for arms that stay in a plane of world axes, else x y z."""
    q = np.random.default_rng(0).uniform(-1.5, 1.5, (8, dyn.n))
    moves = np.abs(dyn.jacobian(q)[:, :3]).max(axis=(0, 2))
    chosen = [i for i in range(3) if moves[i] > 1e-9 * moves.max()]
    for i in (0, 2, 1):  # an arm along a line is drawn in a plane with it
        if len(chosen) < 2 and i not in chosen:
            chosen.append(i)
    return " ".join(LINEAR[i] for i in sorted(chosen))


# Shapes -------------------------------------------------------------------------------------------------------------


def _accelerations(dyn: Dynamics, q: Array, rows: str, strongest: Array) -> list[tuple[Ellipsoid | Polytope, str, str]]:
    exact = acceleration_ellipsoid(dyn, q, rows=rows, tau_max=strongest)
    shapes: list[tuple[Ellipsoid | Polytope, str, str]] = [(exact, COLOR["acceleration"], "torques in an ellipsoid")]
    polytope = acceleration_polytope(dyn, q, rows=rows, tau_max=strongest)
    shapes.append((polytope, BOX, "each torque within its limit"))
    if dyn.n > len(rows.split()):
        try:
            text = acceleration_ellipsoid(dyn, q, rows=rows, tau_max=strongest, method="text")
            shapes.append((text, TEXT, "Siciliano (7.148)"))
        except SingularTask:
            pass  # the text's ellipsoid does not exist here; the exact sets are drawn
    return shapes


def _strength(dyn: Dynamics, q: Array, tau_max: Any) -> tuple[Array, str]:
    try:
        given = required_torque_limits(dyn.robot, tau_max)[1]
    except NotApplicable:
        given = holding_torques_twice(dyn, q)
    else:
        if tau_max is None:
            return given, "torque limits"
    alike = bool((given == given[0]).all())
    return given, f"torques up to {given[0]:g} N m" if alike else "given torque limits"


def holding_torques_twice(dyn: Dynamics, *positions: Array) -> Array:
    """(n,) torques for arms without limits: all twice the largest norm that holds the arm at rest, rounded; or 1."""
    heaviest = max(float(np.linalg.norm(dyn.gravity(q))) for q in positions)
    return np.full(dyn.n, float(f"{2 * heaviest:.1g}") or 1.0)


def _one(dyn: Dynamics, q: Any) -> Array:
    array = joint_array(dyn, "q", q)
    if array.ndim != 1:
        raise ShapeError(f"q has shape {array.shape}", where="figure", expected=f"one position ({dyn.n},)")
    return array


def _scale(shapes: list[tuple[Any, str, str]], size: float) -> float:
    """Metres drawn per unit, so that the largest shape is about as large as the arm."""
    extents = [1e-12]
    for shape, _, _ in shapes:
        if isinstance(shape, Ellipsoid):
            finite = shape.lengths[np.isfinite(shape.lengths)]
            extents.append(float(finite.max(initial=0.0) + 0.5 * np.linalg.norm(shape.centre)))
        else:
            spread = np.linalg.norm(np.abs(shape.generators).sum(axis=-1))
            extents.append(float(0.8 * spread))
    return DRAWN * size / max(extents)


def _nice(x: float) -> float:
    """The round number, 1 2 or 5 times a power of ten, at or below x."""
    power = 10.0 ** math.floor(math.log10(x))
    return max(k for k in (1, 2, 5) if k * power <= x * (1 + 1e-12)) * power


# In the plane -------------------------------------------------------------------------------------------------------


def _in_plane(axes: Any, robot: Robot, q: Array, shapes: list[tuple[Any, str, str]], unit: str) -> None:
    plane = [LINEAR.index(row) for row in shapes[0][0].rows]
    arm = skeleton(robot, q)
    size = arm.size
    for start, end in arm.segments:
        axes.plot(
            *zip(start[plane], end[plane], strict=True),
            color=PALETTE["link"],
            linewidth=5,
            solid_capstyle="round",
            zorder=2,
        )
    for kind, p, _ in arm.joints:
        axes.plot(*p[plane], "s" if kind == "prismatic" else "o", color=PALETTE[kind], markersize=9, zorder=3)
    base = np.array([float(x) for x in robot.base.xyz])[plane]
    axes.plot(*base, marker=(3, 0, 0), color=PALETTE["base"], markersize=17, zorder=1)
    tip, scale = arm.tool[:3, 3][plane], _scale(shapes, size)
    for k, (shape, color, label) in enumerate(shapes):
        outline = tip + scale * _outline(shape, 1.2 * size / scale)
        style = {"color": color, "linewidth": 1.8, "zorder": 5 + k, "linestyle": "-" if k == 0 else "--"}
        axes.plot(*outline.T, label=label or None, **style)
        if k == 0:
            axes.fill(*outline.T, color=color, alpha=0.16, zorder=4, linewidth=0)
            axes.plot(*(tip + scale * shape.centre), "+", color=color, markersize=9, zorder=9)
    axes.plot(*tip, "o", color=INK, markersize=4, zorder=10)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    names = shapes[0][0].rows
    bar = _nice(0.3 * size / scale)
    axes.set_xlabel(f"{names[0]}, m      (sets: {bar * scale:.2g} m drawn = {bar:g} {unit})", color=INK, fontsize=9.5)
    axes.set_ylabel(f"{names[1]}, m", color=INK, fontsize=9.5)
    framed_axes(axes)
    draw_gravity(axes, robot, plane)
    if any(label for _, _, label in shapes):
        axes.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.13), fontsize=8.5, frameon=False, labelcolor=INK, ncols=2
        )


def _outline(shape: Ellipsoid | Polytope, longest: float) -> Array:
    """(k, 2) closed curve about the shape, no half axis longer than `longest`."""
    if isinstance(shape, Ellipsoid):
        circle = np.stack([np.cos(_CIRCLE), np.sin(_CIRCLE)])
        return np.asarray(shape.centre + (shape.axes @ (np.minimum(shape.lengths, longest)[:, None] * circle)).T)
    corners = shape.vertices()
    middle = corners - corners.mean(axis=0)
    order = np.argsort(np.arctan2(middle[:, 1], middle[:, 0]))
    return np.asarray(corners[[*order, order[0]]])


# In space -----------------------------------------------------------------------------------------------------------


def _in_space(axes: Any, robot: Robot, q: Array, shapes: list[tuple[Any, str, str]], unit: str) -> None:
    from matplotlib.lines import Line2D

    arm = skeleton(robot, q)
    size = arm.size
    draw_robot(axes, robot, q)
    tip, scale = arm.tool[:3, 3], _scale(shapes, size)
    marks = []
    for k, (shape, color, label) in enumerate(shapes):
        if isinstance(shape, Ellipsoid):
            _ball(axes, shape, color, tip, scale, 0.8 * size / scale, 0.3 if k == 0 else 0.12)
        else:
            _solid(axes, shape, color, tip, scale)
        if label:
            marks.append(Line2D([], [], color=color, linewidth=4, alpha=0.7, label=label))
    _widen(axes, shapes, tip, scale, size)
    bar = _nice(0.3 * size / scale)
    axes.text2D(
        0.5,
        -0.02,
        f"{bar * scale:.2g} m drawn = {bar:g} {unit}",
        transform=axes.transAxes,
        ha="center",
        color=INK,
        fontsize=9,
    )
    if marks:
        axes.legend(
            handles=marks,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.02),
            ncols=2,
            frameon=False,
            fontsize=8.5,
            labelcolor=INK,
        )


def _ball(axes: Any, shape: Ellipsoid, color: str, tip: Array, scale: float, longest: float, alpha: float) -> None:
    u, v = np.meshgrid(np.linspace(0, 2 * math.pi, 41), np.linspace(0, math.pi, 21))
    sphere = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], axis=-1)
    lengths = np.minimum(shape.lengths, longest)
    x = tip + scale * (shape.centre + (sphere * lengths) @ shape.axes.T)
    axes.plot_surface(*np.moveaxis(x, -1, 0), color=color, alpha=alpha, linewidth=0, shade=True)
    axes.plot_wireframe(*np.moveaxis(x, -1, 0), rcount=5, ccount=9, color=color, linewidth=0.5, alpha=0.6)


def _solid(axes: Any, shape: Polytope, color: str, tip: Array, scale: float) -> None:
    """The edges of a polytope: borders between faces that are not in one plane."""
    from scipy.spatial import ConvexHull, QhullError

    corners = shape.vertices()
    try:
        hull = ConvexHull(corners)
    except QhullError:
        return  # flat: nothing to see beside the ellipsoid
    drawn = tip + scale * corners
    for k, neighbours in enumerate(hull.neighbors):
        for other in neighbours:
            if other > k and hull.equations[k, :3] @ hull.equations[other, :3] < 1 - 1e-9:
                a, b = set(hull.simplices[k]) & set(hull.simplices[other])
                axes.plot(*zip(drawn[a], drawn[b], strict=True), color=color, linewidth=0.8, alpha=0.8)


def _widen(axes: Any, shapes: list[tuple[Any, str, str]], tip: Array, scale: float, size: float) -> None:
    """Set the limits of the view to hold the arm and the shapes, with one scale for all axes."""
    low = np.array([axes.get_xlim()[0], axes.get_ylim()[0], axes.get_zlim()[0]])
    high = np.array([axes.get_xlim()[1], axes.get_ylim()[1], axes.get_zlim()[1]])
    for shape, _, _ in shapes:
        for i in range(3):
            reach = [float(s * shape.support(s * np.eye(3)[i])) for s in (-1, 1)]
            low[i] = min(low[i], tip[i] + max(scale * reach[0], -0.8 * size))
            high[i] = max(high[i], tip[i] + min(scale * reach[1], 0.8 * size))
    middle, half = (low + high) / 2, float((high - low).max()) / 2
    axes.set_xlim(middle[0] - half, middle[0] + half)
    axes.set_ylim(middle[1] - half, middle[1] + half)
    axes.set_zlim(middle[2] - half, middle[2] + half)
    axes.set_box_aspect((1, 1, 1), zoom=1.2)


# Maps ---------------------------------------------------------------------------------------------------------------


def _heat(axes: Any, found: WorkspaceMap, k: int) -> Any:
    values = found.values[..., k].T
    axes.set_facecolor(FAINT)
    drawn = axes.pcolormesh(*found.axes, _bounded(values), shading="nearest", **_colors(found, values))
    for side, name, unit in zip("xy", found.over, found.over_units, strict=True):
        getattr(axes, f"set_{side}label")(f"{name}, {unit}", color=INK, fontsize=9.5)
    if found.over[0] in LINEAR:
        axes.set_aspect("equal")
    return drawn


def _cloud(axes: Any, found: WorkspaceMap, k: int) -> Any:
    reach, height = np.hypot(found.position[..., 0], found.position[..., 1]), found.position[..., 2]
    values = found.values[..., k]
    drawn = axes.scatter(reach, height, c=_bounded(values), s=5, linewidths=0, **_colors(found, values))
    axes.set_xlabel("distance from the z axis, m", color=INK, fontsize=9.5)
    axes.set_ylabel("z, m", color=INK, fontsize=9.5)
    axes.set_aspect("equal")
    return drawn


def _bounded(values: Array) -> Array:
    """Infinite values replaced by very large ones, for the brightest colour; NaN masked."""
    return np.ma.masked_invalid(np.where(np.isposinf(values), 1e30, values))


def _colors(found: WorkspaceMap, values: Array) -> dict[str, Any]:
    """Torques in two colours about zero; other values from dark to bright, the largest 5 % in one colour."""
    finite = np.abs(values[np.isfinite(values)])
    top = float(np.quantile(finite, 0.95)) if finite.size else 1.0
    if found.quantity == "gravity":
        top = float(finite.max(initial=0.0))
        top = top if top > 1e-9 * np.nanmax(np.abs(found.values)) else 1.0  # nothing but rounding
        return {"cmap": "RdBu_r", "vmin": -top, "vmax": top}
    return {"cmap": "viridis", "vmin": 0.0, "vmax": top or 1.0}


__all__ = ["drawn_rows", "ellipsoid_figure", "gravity_figure", "map_figure"]
