"""A motion of the arm as a film: GIF through Pillow, MP4 where ffmpeg is installed, or a page with a player."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError, MissingExtra
from armdyn.files import writing
from armdyn.kinematics.scene import PALETTE, skeleton
from armdyn.report.figures.robot_figures import Window, draw_robot, upright
from armdyn.report.figures.style import INK, new_figure
from armdyn.robot.robot import Robot
from armdyn.typing import Array

FILMS = (".gif", ".mp4", ".html")
"""Extensions of films."""
RATE = 20
"""Pictures a second: GIF has steps of 10 ms, and a faster film of an arm looks no smoother."""
MOST_PICTURES = 240
"""Pictures of a film; longer motions are shown faster, and the film says so."""
INCHES, DOTS = 4.8, 100
"""Size of a picture and its dots per inch."""


def write_film(robot: Robot, t: Array, q: Array, path: str | Path) -> Path:
    """Write a film of the arm along a sampled motion: (k,) times, s, and (k, nq) configurations."""
    kind = Path(path).suffix.lower()
    if kind not in FILMS:
        raise ArmdynError(
            f"a film with the extension {kind!r}", where=str(path), expected=f"one of: {', '.join(FILMS)}"
        )
    writer = _writer(kind, path)
    count = int(np.clip(round(RATE * float(t[-1] - t[0])) + 1, 2, MOST_PICTURES))
    times = np.linspace(t[0], t[-1], count)
    rows = np.clip(np.searchsorted(t, times), 0, len(t) - 1)
    shown, R = q[rows], upright(robot)
    path_of_tool = np.array([R @ skeleton(robot, each).tool[:3, 3] for each in shown])
    window = Window.around(robot, shown)
    speed = float(times[-1] - times[0]) * RATE / (count - 1)
    figure = new_figure(figsize=(INCHES, INCHES), dpi=DOTS)
    axes = figure.add_subplot(projection="3d")
    figure.subplots_adjust(left=0, right=1, bottom=0, top=1)

    def draw(k: int) -> list[Any]:
        axes.clear()
        draw_robot(axes, robot, shown[k], window)
        axes.plot(*path_of_tool[: k + 1].T, color=PALETTE["revolute"], linewidth=1.4, alpha=0.8)
        faster = f", {speed:.1f} times as fast" if speed > 1.05 else ""
        axes.text2D(0.03, 0.95, f"{robot.name}   t = {times[k]:.2f} s{faster}", transform=axes.transAxes, color=INK)
        return []

    from matplotlib.animation import FuncAnimation

    film = FuncAnimation(figure, draw, frames=count, interval=1000 / RATE)
    with writing(path) as part:
        film.save(str(part), writer=writer)
    return Path(path)


def _writer(kind: str, path: str | Path) -> Any:
    from matplotlib.animation import FFMpegWriter, HTMLWriter, PillowWriter

    if kind == ".mp4" and not FFMpegWriter.isAvailable():
        raise MissingExtra(
            "ffmpeg is not installed",
            where=str(path),
            advice="Install ffmpeg with the system's package manager, or write a .gif or .html film.",
        )
    if kind == ".html":
        return HTMLWriter(fps=RATE, embed_frames=True)
    return PillowWriter(fps=RATE) if kind == ".gif" else FFMpegWriter(fps=RATE)
