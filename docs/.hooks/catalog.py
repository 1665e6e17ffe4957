"""The page of the catalog: every robot drawn, with its provenance. Nothing to keep up to date by hand."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
from mkdocs.structure.files import File

import armdyn
from armdyn import catalog
from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.report.figures.robot_figures import draw_robot
from armdyn.report.figures.style import new_figure
from armdyn.robot import Robot
from armdyn.robot.limits import start_position, working_range
from armdyn.typing import Array

INTRO = (
    "Robots that `armdyn.load` knows by name, with the source of their numbers. Orange: revolute joints; green: "
    "prismatic ones; red: balls and universal joints that close loops. The arrow is gravity."
)


def on_config(config: Any, **_: Any) -> None:
    """The page comes first in the reference."""
    (section,) = [entry["Reference"] for entry in config.nav if "Reference" in entry]
    section.insert(1, {"catalog of robots": "reference/catalog_of_robots.md"})


def on_files(files: Any, config: Any, **_: Any) -> None:
    parts = ["# Catalog of robots", INTRO]
    for name in catalog.names():
        robot = armdyn.load(name)
        parts += [f"## {name}", f"![{name}](pictures/{name}.png)", _words(robot)]
        files.append(File.generated(config, f"reference/pictures/{name}.png", content=picture(robot)))
    files.append(File.generated(config, "reference/catalog_of_robots.md", content="\n\n".join(parts) + "\n"))


def _words(robot: Robot) -> str:
    """Joints, source and notes."""
    loops = f", {len(robot.loops)} loop{'s' * (len(robot.loops) > 1)}" if robot.loops else ""
    moving = f"{robot.n} independent of {robot.opened.n} joints{loops}" if robot.constrained else f"{robot.n} joints"
    rows = [f"{moving}. Source: {robot.source}.", *robot.notes]
    return "\n\n".join(rows)


def picture(robot: Robot) -> bytes:
    """The robot at the assembly of its loops, or a little away from its zero, as PNG."""
    figure = new_figure(figsize=(4.4, 4.0))
    axes: Any = figure.add_subplot(projection="3d")
    draw_robot(axes, robot, configuration(robot))
    figure.subplots_adjust(left=0, right=1, bottom=0, top=1)
    held = BytesIO()
    figure.savefig(held, format="png", dpi=100)
    return held.getvalue()


def configuration(robot: Robot) -> Array:
    """(n,)"""
    if robot.constrained:
        chain = dependent_joints(robot)
        return np.array([chain.assembly[k] for k in chain.independent], dtype=float)
    low, high = working_range(robot)
    revolute = [joint.kind == "revolute" for joint in robot.joints]
    return np.where(revolute, start_position(robot) + 0.5, low + 0.8 * (high - low))
