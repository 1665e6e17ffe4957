"""Figures of the torques along a motion: contributions, joint motion, tip motion. Siciliano fig. 7.5-7.11"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from armdyn.dynamics import compile as compiled
from armdyn.motion.torques import TorqueBreakdown
from armdyn.report.figures.style import DARK, FAINT, color, new_figure, open_axes
from armdyn.robot.limits import joint_names, joint_units
from armdyn.typing import Array

FEW = 3
"""Joints up to which each contribution has a panel of its own."""
EFFECTS = {
    "inertia": "#3b6fd4",
    "centrifugal": "#d9722a",
    "Coriolis": "#b5408f",
    "gravity": "#2a9d6f",
    "springs": "#c23b3b",
    "friction": "#8a6d1f",
    "tip": "#2a8fb5",
}
Curve = tuple[str, Array, str]


def contributions_figure(parts: TorqueBreakdown) -> Any:
    """A column for each joint (Siciliano fig. 7.6); for many joints one panel each, with all effects."""
    return _panel_by_panel(parts) if len(parts.q[0]) <= FEW else _joint_by_joint(parts)


def _panel_by_panel(parts: TorqueBreakdown) -> Any:
    """Rows: inertia by the joint's own acceleration, by the others', centrifugal and Coriolis, gravity, total."""
    n = parts.q.shape[1]
    rows: list[list[list[Curve]]] = []
    number = [j + 1 for j in range(n)]
    rows.append([[(f"inertia {i + 1}{i + 1}", parts.inertia[:, i, i], color(i))] for i in range(n)])
    if n > 1:
        rows.append(
            [
                [(f"inertia {i + 1}{number[j]}", parts.inertia[:, i, j], color(j)) for j in range(n) if j != i]
                for i in range(n)
            ]
        )
        rows.append([_velocity_curves(parts, i) for i in range(n)])
    rows.append([[("gravity", parts.gravity[:, i], EFFECTS["gravity"])] for i in range(n)])
    for name in ("springs", "friction", "tip"):
        if name in parts.by_effect:
            rows.append([[(name, parts.by_effect[name][:, i], EFFECTS[name])] for i in range(n)])
    rows.append([[("total", parts.tau[:, i], DARK)] for i in range(n)])
    figure, grid = _grid(len(rows), n, 4.6 * n, 1.55 * len(rows) + 0.9)
    for row, panels in zip(grid, rows, strict=True):
        for i, (axes, curves) in enumerate(zip(row, panels, strict=True)):
            _draw(axes, parts.t, curves)
            _dress(axes, joint_units(parts.robot)[i][3])
        if all(k == "revolute" for k in _kinds(parts)):
            _same_scale(row)
    for i, name in enumerate(joint_names(parts.robot)):
        grid[0, i].set_title(f"joint {i + 1}: {name}", fontsize=10.5, color=DARK, loc="left", pad=16)
        grid[-1, i].set_xlabel("time, s", color=DARK)
    return _finished(figure, f"{parts.robot.name}: torque contributions")


def _velocity_curves(parts: TorqueBreakdown, i: int) -> list[Curve]:
    """Centrifugal effects of each joint and Coriolis effects of each pair on joint i; only nonzero ones."""
    n = parts.q.shape[1]
    curves = [(f"centrifugal {i + 1}{j + 1}", parts.centrifugal[:, i, j], color(j)) for j in range(n)]
    curves += [
        (f"Coriolis {i + 1}({j + 1}{k + 1})", parts.coriolis[:, i, p], color(n + p))
        for p, (j, k) in enumerate(parts.pairs)
    ]
    size = np.abs(parts.tau).max()
    seen = [curve for curve in curves if np.abs(curve[1]).max() > 1e-12 * size]
    return seen or [("none", np.zeros_like(parts.t), FAINT)]


def _joint_by_joint(parts: TorqueBreakdown) -> Any:
    n = parts.q.shape[1]
    columns = 2 if n <= 8 else 3
    rows = -(-n // columns)
    figure, grid = _grid(rows, columns, 5.4 * columns, 2.3 * rows + 0.9)
    effects = parts.by_effect
    for i, axes in enumerate(grid.ravel()):
        if i >= n:
            axes.set_visible(False)
            continue
        curves = [(name, part[:, i], EFFECTS[name]) for name, part in effects.items()]
        _draw(axes, parts.t, [*curves, ("total", parts.tau[:, i], DARK)], legend=False)
        _dress(axes, joint_units(parts.robot)[i][3])
        axes.set_title(joint_names(parts.robot)[i], fontsize=10, color=DARK, loc="left")
        if i >= n - columns:
            axes.set_xlabel("time, s", color=DARK)
            axes.tick_params(labelbottom=True)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper right", ncols=len(labels), frameon=False, fontsize=9)
    return _finished(figure, f"{parts.robot.name}: torque contributions")


def motion_figure(parts: TorqueBreakdown) -> Any:
    """Positions, velocities, accelerations and torques of all joints. Siciliano fig. 7.5, 7.7, 7.10"""
    figure, grid = _grid(2, 2, 9.6, 6.2)
    label = joint_names(parts.robot)
    kinds = sorted(set(joint_units(parts.robot)))
    mixed = [" or ".join(dict.fromkeys(unit[k] for unit in reversed(kinds))) for k in range(4)]
    titles = ("positions", "velocities", "accelerations", "torques")
    values = (parts.q, parts.qd, parts.qdd, parts.tau)
    for axes, title, value, unit in zip(grid.ravel(), titles, values, mixed, strict=True):
        curves = [(label[i], value[:, i], color(i)) for i in range(value.shape[1])]
        _draw(axes, parts.t, curves, legend=False)
        _dress(axes, unit)
        axes.set_title(title, fontsize=10.5, color=DARK, loc="left")
    for axes in grid[-1]:
        axes.set_xlabel("time, s", color=DARK)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    columns = min(len(labels), 7)
    rows = -(-len(labels) // columns)
    figure.legend(handles, labels, loc="lower center", ncols=columns, frameon=False, fontsize=8.5, columnspacing=1.2)
    return _finished(figure, f"{parts.robot.name}: motion and torques", below=0.04 * rows)


def tip_figure(parts: TorqueBreakdown) -> Any:
    """Position, velocity and acceleration of the tool in world axes, components that change. Siciliano fig. 7.9"""
    dyn = compiled(parts.robot)
    J, T = dyn.jacobian(parts.q)[:, :3], dyn.pose(parts.q)
    velocity = np.einsum("kij,kj->ki", J, parts.qd)
    acceleration = np.einsum("kij,kj->ki", J, parts.qdd) + dyn.jacobian_dot_qd(parts.q, parts.qd)[:, :3]
    rows = (("position, m", T[:, :3, 3]), ("velocity, m/s", velocity), ("acceleration, m/s²", acceleration))
    figure, grid = _grid(3, 1, 6.4, 6.6)
    for axes, (label, values) in zip(grid[:, 0], rows, strict=True):
        span = np.abs(values).max()
        curves = [
            (f"tip {axis}", values[:, k], color(k))
            for k, axis in enumerate("xyz")
            if np.ptp(values[:, k]) > 1e-9 * span or axis != "z"
        ]
        _draw(axes, parts.t, curves, legend=label.startswith("position"))
        _dress(axes, label)
    grid[-1, 0].set_xlabel("time, s", color=DARK)
    return _finished(figure, f"{parts.robot.name}: motion of the tip")


# The look ---------------------------------------------------------------------------------------------------------


def _grid(rows: int, columns: int, width: float, height: float) -> tuple[Any, Any]:
    figure = new_figure(figsize=(width, height), facecolor="white")
    return figure, figure.subplots(rows, columns, sharex=True, squeeze=False)


def _draw(axes: Any, t: Array, curves: Sequence[Curve], legend: bool = True) -> None:
    for name, values, tint in curves:
        axes.plot(t, values, label=name, color=tint, linewidth=1.2 if name == "total" and len(curves) > 1 else 1.7)
    if legend:
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(0, 0.98),
            ncols=len(curves),
            frameon=False,
            fontsize=8.5,
            borderaxespad=0,
            borderpad=0.1,
            handlelength=1.4,
            columnspacing=1.2,
        )


def _dress(axes: Any, unit: str) -> None:
    axes.set_ylabel(unit, color=DARK, fontsize=9)
    open_axes(axes, 8.5)
    axes.axhline(0, color=FAINT, linewidth=1.0, zorder=0)
    axes.margins(x=0, y=0.1)
    low, high = axes.get_ylim()
    if high - low < 1e-9:  # rounding is not a curve
        axes.set_ylim(low - 1, high + 1)


def _same_scale(row: Any) -> None:
    """Give panels side by side the same scale, as in the book."""
    limits = [axes.get_ylim() for axes in row]
    for axes in row:
        axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


def _kinds(parts: TorqueBreakdown) -> list[str]:
    return [str(joint.kind) for joint in parts.robot.joints]


def _finished(figure: Any, title: str, below: float = 0.0) -> Any:
    """Title and layout; below: share of the height kept free under the panels."""
    figure.suptitle(title, fontsize=12, color=DARK, x=0.02, ha="left")
    figure.tight_layout(h_pad=0.9, rect=(0, below, 1, 1))
    figure.align_ylabels()
    return figure
