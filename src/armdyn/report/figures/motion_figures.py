"""Figures of trajectories: position, velocity and acceleration of each joint over time, optionally torques."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from armdyn.errors import ShapeError
from armdyn.report.figures.style import DARK, FAINT, color, new_figure, open_axes
from armdyn.robot.limits import UNITS, motion_limits
from armdyn.robot.robot import Robot
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

QUANTITIES = ("position", "velocity", "acceleration")
POINTS = 600


def trajectory_figure(
    trajectory: Trajectory,
    robot: Robot | None = None,
    names: Sequence[str] | None = None,
    tau_max: Array | None = None,
) -> Any:
    """Three rows (position, velocity, acceleration), one column per kind of joint; the robot's limits dashed.

    With tau_max (and the robot) a fourth row: torques, relative to their limits if all joints have one.
    """
    kinds, labels = _joints(trajectory, robot, names)
    columns = [kind for kind in ("revolute", "prismatic") if kind in kinds]
    t = _times(trajectory)
    samples = [_with_gaps(trajectory, t, order) for order in range(3)]
    loads = None if robot is None or tau_max is None else _torques(trajectory, robot, samples[0][0])
    relative = tau_max is not None and bool(np.isfinite(tau_max).all())
    count = 3 if loads is None else 4
    tall = 2.1 * count + 0.9
    figure = new_figure(figsize=(6.4 if len(columns) == 1 else 10.5, tall), facecolor="white")
    grid = figure.subplots(count, len(columns), sharex=True, squeeze=False)
    handles = []
    for column, kind in enumerate(columns):
        for order in range(3):
            axes = grid[order, column]
            for j in (j for j, k in enumerate(kinds) if k == kind):
                time, values = samples[order]
                (curve,) = axes.plot(time, values[:, j], label=labels[j], **_style(j))
                if order == 0:
                    handles.append((j, curve))
                _limits(axes, robot, j, order, color(j), values[:, j])
            _dress(axes, f"{QUANTITIES[order]}, {UNITS[kind][order]}", t[-1])
        if loads is not None:
            shown = 100 * loads / tau_max if relative else loads
            _draw_torques(
                grid[3, column], samples[0][0], shown, [j for j, k in enumerate(kinds) if k == kind], relative
            )
            of = " / limit, %" if relative else f", {UNITS[kind].torque}"
            _dress(grid[3, column], f"{'torque' if kind == 'revolute' else 'force'}{of}", t[-1])
        if len(columns) > 1:
            grid[0, column].set_title(f"{kind} joints", fontsize=10, color=DARK, loc="left")
        grid[-1, column].set_xlabel("time, s", color=DARK)
    handles.sort(key=lambda pair: pair[0])
    figure.legend(
        [curve for _, curve in handles],
        [labels[j] for j, _ in handles],
        loc="lower center",
        ncols=min(len(handles), 6 if len(columns) > 1 else 4),
        frameon=False,
        fontsize=9,
    )
    rows = -(-len(handles) // (6 if len(columns) > 1 else 4))
    title = f"{robot.name}: " if robot is not None else ""
    figure.suptitle(f"{title}motion of {trajectory.duration:.4g} s", fontsize=12, color=DARK, x=0.02, ha="left")
    figure.tight_layout(rect=(0, (0.1 + 0.24 * rows) / tall, 1, 1))
    figure.align_ylabels()
    return figure


def _joints(trajectory: Trajectory, robot: Robot | None, names: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """(kind, label) of every joint; without a robot all count as revolute."""
    n = trajectory.n
    if robot is not None and robot.n != n:
        raise ShapeError(f"a trajectory of {n} joints", where=f"robot {robot.name!r}", expected=f"{robot.n} joints")
    if names is not None and len(names) != n:
        raise ShapeError(f"{len(names)} names", expected=f"{n}, one per joint")
    kinds = ["revolute"] * n if robot is None else [str(joint.kind) for joint in robot.joints]
    given = names if names is not None else [joint.name for joint in robot.joints] if robot is not None else None
    return kinds, list(given) if given is not None else [f"q{j + 1}" for j in range(n)]


def _times(trajectory: Trajectory) -> Array:
    return np.union1d(np.linspace(0.0, trajectory.duration, POINTS), trajectory.breaks)


def _with_gaps(trajectory: Trajectory, t: Array, order: int) -> tuple[Array, Array]:
    """Samples that draw a jump vertically: both sides of each break, and rest before and after the motion."""
    tiny = 1e-9 * max(trajectory.duration, 1e-9)
    breaks = trajectory.breaks
    pad = 0.02 * trajectory.duration
    sides = np.concatenate([breaks - tiny, breaks + tiny])
    time = np.unique(np.concatenate([[-pad], t, sides, [trajectory.duration + pad]]))
    return time, trajectory(time, order)


def _style(j: int) -> dict[str, Any]:
    """Colour and line style of joint j."""
    return {"color": color(j), "linewidth": 1.7, "linestyle": "-" if j < 10 else "--"}


def _torques(trajectory: Trajectory, robot: Robot, time: Array) -> Array:
    """(k, n) torques of the motion."""
    from armdyn.motion.sampling import dynamics_of, states  # only a figure with torques needs machine code

    tau: Array = dynamics_of(robot).inverse_dynamics(*states(trajectory, time))
    return tau


def _draw_torques(axes: Any, time: Array, torques: Array, joints: Sequence[int], relative: bool) -> None:
    for j in joints:
        axes.plot(time, torques[:, j], **_style(j))
    for limit in (-100, 100) if relative else ():
        axes.axhline(limit, color=DARK, linewidth=0.9, linestyle=(0, (4, 3)), alpha=0.7)


def _limits(axes: Any, robot: Robot | None, j: int, order: int, color: str, values: Array) -> None:
    """Draw the limits that the motion comes close to; distant ones would flatten the curves."""
    if robot is None:
        return
    limits = motion_limits(robot)
    low, high = (
        (limits.lower, limits.upper),
        (-limits.velocity, limits.velocity),
        (-limits.acceleration, limits.acceleration),
    )[order]
    span = max(float(np.ptp(values)), 1e-9)
    for value in (low[j], high[j]):
        if values.min() - 0.35 * span <= value <= values.max() + 0.35 * span:
            axes.axhline(value, color=color, linewidth=0.9, linestyle=(0, (4, 3)), alpha=0.7)


def _dress(axes: Any, label: str, end: float) -> None:
    axes.set_ylabel(label, color=DARK)
    open_axes(axes)
    axes.axhline(0, color=FAINT, linewidth=1.0, zorder=0)
    axes.margins(x=0, y=0.1)
