"""The figure of an excitation: each joint relative to its limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn.motion.sampling import sample_times, states
from armdyn.report.figures.style import DARK, FAINT, color, new_figure, open_axes

if TYPE_CHECKING:
    from armdyn.identification.excitation.excite import Excitation

PANELS = ("position, relative to mid-range", "velocity", "acceleration", "torque")


def excitation_figure(excitation: Excitation) -> Any:
    """Four panels, position to torque, in per cent of the limit over one period; beyond the limits grey."""
    motion, design = excitation.motion, excitation.design
    t = sample_times(motion, motion.duration / 600)
    q, qd, qdd = states(motion, t)
    tau = design.dynamics.inverse_dynamics(q, qd, qdd)
    figure = new_figure(figsize=(10, 6.6), facecolor="white")
    grid = figure.subplots(2, 2, sharex=True).ravel()
    for axes, title, value, (middle, half) in zip(grid, PANELS, (q, qd, qdd, tau), design.bands, strict=True):
        for j, joint in enumerate(design.robot.joints):
            if np.isfinite(half[j]):
                share = 100 * (value[:, j] - middle[j]) / half[j]
                axes.plot(t, share, color=color(j), linewidth=1.3, label=joint.name)
        if not np.isfinite(half).any():
            axes.text(0.5, 0.5, "no limits known", transform=axes.transAxes, ha="center", color=DARK)
        _dress(axes, title)
    for axes in grid[2:]:
        axes.set_xlabel("time, s", color=DARK)
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=min(len(labels), 7), frameon=False, fontsize=9)
    figure.suptitle(
        f"{design.robot.name}: excitation within the limits, condition number {excitation.condition:.1f}",
        fontsize=12,
        color=DARK,
        x=0.02,
        ha="left",
    )
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    return figure


def _dress(axes: Any, title: str) -> None:
    axes.set_title(title, fontsize=10, color=DARK, loc="left")
    axes.set_ylabel("% of the limit", color=DARK)
    axes.set_ylim(-115, 115)
    axes.set_yticks((-100, -50, 0, 50, 100))
    for low, high in ((-115, -100), (100, 115)):
        axes.axhspan(low, high, color=FAINT, alpha=0.6, linewidth=0)
    open_axes(axes)
    axes.margins(x=0)


__all__ = ["excitation_figure"]
