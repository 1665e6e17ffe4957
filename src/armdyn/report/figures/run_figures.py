"""Figures of simulations, in the layout of El Baji fig. 6 to 10."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import Any

import numpy as np

from armdyn.kinematics.task_rows import ROWS
from armdyn.report.figures.robot_figures import draw_gravity, upright_plane
from armdyn.report.figures.style import COLORS, GREY, color, decimated, new_figure
from armdyn.robot.limits import UNITS
from armdyn.simulation.run import Run

MOST_POINTS = 4000
"""Samples drawn per line; more only make files large."""


def run_figure(run: Run, others: Mapping[str, Run] | None = None) -> Any:
    """Tool path, joints, error, torques and energy of a run; with `others`, the errors of those runs too.

    The panels are those of El Baji: workspace (fig. 6), torques (7), error (8), joints (9), imperfect models (10).
    """
    figure = new_figure(figsize=(12.0, 10.2), layout="constrained")
    panels = figure.subplots(3, 2)
    draw_workspace(panels[0, 0], run)
    draw_joints(panels[0, 1], run)
    draw_error(panels[1, 0], run)
    draw_torques(panels[1, 1], run)
    if others:
        draw_comparison(panels[2, 0], {"this run": run, **others})
    else:
        draw_rates(panels[2, 0], run)
    draw_energy(panels[2, 1], run)
    title = fill(f"{run.dynamics.robot.name}: {run.controller}, {run.integrator}, dt = {1e3 * run.dt:g} ms", 110)
    figure.suptitle(title if run.ok else f"{title}\n{run.status.name}: {run.detail}", fontsize=11)
    _joint_legend(figure, run)
    return figure


def _joint_legend(figure: Any, run: Run) -> None:
    """The colours of the joints, once for all panels."""
    from matplotlib.lines import Line2D

    kinds = [joint.kind for joint in run.dynamics.robot.joints]
    dashed = len(set(kinds)) > 1
    lines = [
        Line2D([], [], color=color(j), linestyle="--" if dashed and kind == "prismatic" else "-", label=name)
        for j, (name, kind) in enumerate(zip(run.joints, kinds, strict=True))
    ]
    figure.legend(handles=lines, loc="outside lower center", ncols=min(len(lines), 8), fontsize=9, frameon=False)


def draw_workspace(axes: Any, run: Run) -> None:
    """Desired and actual tool path in the plane of its largest extent. El Baji fig. 6"""
    actual = run.tool
    joint_reference = run.desired.q.shape == run.q.shape
    if joint_reference:
        links = run.desired.q.T
        x = np.transpose(run.dynamics.coordinates.joined(links, links))  # the pose does not depend on motors
        desired = run.dynamics.pose(x)[:, :3, 3]
    else:
        desired = run.desired.q[:, :3, 3] if run.desired.q.ndim == 3 else run.desired.q[:, :3]
    reach = np.ptp(np.vstack([actual, desired]), axis=0)
    robot = run.dynamics.robot
    i, j = upright_plane(robot, np.argsort(-reach, kind="stable")[:2])
    keep = decimated(len(run.t), MOST_POINTS)
    axes.plot(desired[keep, i], desired[keep, j], color=GREY, linewidth=3, alpha=0.55, label="desired")
    axes.plot(actual[keep, i], actual[keep, j], color=COLORS[0], linewidth=1.2, label="actual")
    axes.plot(*actual[0, [i, j]], "o", color=COLORS[3], markersize=5, label="start")
    axes.set_aspect("equal", adjustable="datalim")
    _labelled(axes, "Tool path", f"{'xyz'[i]} (m)", f"{'xyz'[j]} (m)")
    draw_gravity(axes, robot, (i, j))


def draw_joints(axes: Any, run: Run) -> None:
    """Joint positions, desired (wide and pale) and actual. El Baji fig. 9"""
    keep = decimated(len(run.t), MOST_POINTS)
    for j in range(run.q.shape[1]):
        if run.desired.q.shape == run.q.shape:
            axes.plot(run.t[keep], run.desired.q[keep, j], color=color(j), linewidth=3.5, alpha=0.3)
        axes.plot(run.t[keep], run.q[keep, j], _style(run, j), color=color(j), linewidth=1.1)
    _labelled(axes, "Joint positions: desired (pale) and actual", "t (s)", _unit(run, "{}"))


def draw_error(axes: Any, run: Run, title: str = "Tracking error") -> None:
    """Reference minus position, with a magnified view after settling. El Baji fig. 8"""
    keep = decimated(len(run.t), MOST_POINTS)
    in_task = run.error.shape[1] != run.q.shape[1] or run.desired.q.shape != run.q.shape
    rows = ROWS if run.error.shape[1] == len(ROWS) else [f"row {k + 1}" for k in range(run.error.shape[1])]
    for j in range(run.error.shape[1]):
        style, name = ("-", rows[j]) if in_task else (_style(run, j), None)
        axes.plot(run.t[keep], run.error[keep, j], style, color=color(j), linewidth=1.2, label=name)
    settled = run.t >= run.t[-1] / 3
    left = np.abs(run.error[settled]).max() if settled.any() else 0.0
    if 0 < left < 0.12 * np.abs(run.error).max():
        inset = axes.inset_axes((0.40, 0.50, 0.57, 0.42))
        for j in range(run.error.shape[1]):
            inset.plot(run.t[keep], run.error[keep, j], color=color(j), linewidth=0.9)
        inset.set_xlim(run.t[-1] / 3, run.t[-1])
        inset.set_ylim(-1.2 * left, 1.2 * left)
        inset.tick_params(labelsize=7)
        inset.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
        inset.yaxis.get_offset_text().set_fontsize(7)
        inset.grid(alpha=0.25)
    _labelled(axes, title, "t (s)", "m, rad" if in_task else _unit(run, "{}"), place="lower right")


def draw_torques(axes: Any, run: Run) -> None:
    """Actuator torques. El Baji fig. 7"""
    keep = decimated(len(run.t), MOST_POINTS)
    kinds = [joint.kind for joint in run.dynamics.robot.joints]
    both = len(set(kinds)) > 1
    forces = axes.twinx() if both else axes
    for j, kind in enumerate(kinds):
        where = forces if kind == "prismatic" else axes
        where.plot(run.t[keep], run.tau[keep, j], _style(run, j), color=color(j), linewidth=1.1)
    if both:
        forces.set_ylabel("N (dashed)", fontsize=9)
        forces.tick_params(labelsize=8)
    _labelled(axes, "Actuator torques", "t (s)", UNITS["revolute" if "revolute" in kinds else "prismatic"].torque)


def draw_rates(axes: Any, run: Run) -> None:
    """Joint velocities."""
    keep = decimated(len(run.t), MOST_POINTS)
    for j in range(run.q.shape[1]):
        axes.plot(run.t[keep], run.qd[keep, j], _style(run, j), color=color(j), linewidth=1.1)
    _labelled(axes, "Joint velocities", "t (s)", _unit(run, "{}/s"))


def draw_energy(axes: Any, run: Run) -> None:
    """Kinetic and potential energy, and their sum; the potential energy relative to its start."""
    keep = decimated(len(run.t), MOST_POINTS)
    rest = run.potential_energy[0]
    axes.plot(run.t[keep], run.kinetic_energy[keep], color=COLORS[1], linewidth=1.1, label="kinetic")
    axes.plot(
        run.t[keep],
        run.potential_energy[keep] - rest,
        color=COLORS[2],
        linewidth=1.1,
        label="potential",
    )
    axes.plot(run.t[keep], run.energy[keep] - rest, color=COLORS[0], linewidth=1.3, label="sum")
    _labelled(axes, "Energy", "t (s)", "J")


def draw_comparison(axes: Any, runs: Mapping[str, Run]) -> None:
    """The largest error among the joints over time, for several models of the controller. El Baji fig. 10"""
    for k, (name, run) in enumerate(runs.items()):
        keep = decimated(len(run.t), MOST_POINTS)
        worst = np.abs(run.error).max(axis=1)
        axes.semilogy(run.t[keep], np.maximum(worst[keep], 1e-12), color=color(k), linewidth=1.2, label=name)
    _labelled(axes, "Largest error with imperfect models", "t (s)", "rad, m")


def _labelled(axes: Any, title: str, x: str, y: str, place: str = "best") -> None:
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.25)
    handles, _ = axes.get_legend_handles_labels()
    if not handles:
        return
    columns = 1 if len(handles) <= 4 else 2
    axes.legend(fontsize=7.5, frameon=True, framealpha=0.8, edgecolor="none", ncols=columns, loc=place)


def _style(run: Run, j: int) -> str:
    """Dashed for prismatic joints beside revolute ones."""
    kinds = [joint.kind for joint in run.dynamics.robot.joints]
    return "--" if kinds[j] == "prismatic" and len(set(kinds)) > 1 else "-"


def _unit(run: Run, pattern: str) -> str:
    """The unit of an axis for all joints: rad, m, or both."""
    kinds = {joint.kind for joint in run.dynamics.robot.joints}
    return ", ".join(pattern.format(units.position) for kind, units in UNITS.items() if kind in kinds)
