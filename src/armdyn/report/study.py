"""The study of a robot: what can be said about it without a motion, written to a folder."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.equations import certify, compare, derive
from armdyn.errors import ArmdynError, FileError
from armdyn.formats import ModelWarning
from armdyn.mechanics import kinematics
from armdyn.report import html, mechanics
from armdyn.report.figures import robot_figure
from armdyn.robot import describe
from armdyn.robot.parts import Joint
from armdyn.robot.robot import Robot
from armdyn.robot.table import Column, Section

Array = np.ndarray[Any, Any]

SINGULAR = 1e3
"""Condition number from which on a configuration is called singular: a tool speed then needs joint speeds a thousand
times larger in the worst direction than in the best."""
_NO_LIMITS = {"revolute": math.pi, "prismatic": 0.2}
"""Range to either side that is shown for a joint without limits, rad or m."""
_TURNS = 2 * math.pi


@dataclass(frozen=True)
class Study:
    """What a study made: the report, all files, the table of poses, and what could not be done."""

    report: Path
    files: tuple[Path, ...]
    poses: Section
    notes: tuple[str, ...]
    agrees: bool | None
    """Whether all formulations agree exactly; None for a robot without joints."""


def study(robot: Robot, folder: Path, say: Callable[[str], object] = lambda step: None) -> Study:
    """Study the robot and write report.html, robot.toml and robot.urdf into the folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot be made: {error.strerror}", where=str(folder)) from None
    say("poses and Jacobians")
    shown = configurations(robot)
    poses = pose_table(robot, shown)
    say("figure")
    figure = robot_figure(robot, shown)
    say("robot files")
    files, notes = _saved(robot, folder)
    chapter: list[str] = []
    verdict = None
    if robot.n:
        equations = derive(robot, progress=lambda step: say(f"equations: {step}"))
        certificate = certify(robot, progress=lambda step: say(f"certificate: {step}"))
        comparison = compare(robot, progress=lambda step: say(f"formulations: {step}"))
        say("equations on paper")
        files += mechanics.write_equations(equations, folder)
        chapter = [
            html.heading("Equations of motion"),
            mechanics.equations_block(equations),
            html.table(mechanics.certificate_section(certificate)),
            html.table(mechanics.comparison_section(comparison)),
        ]
        verdict = certificate.holds
    say("report")
    report = folder / "report.html"
    report.write_text(_page(robot, figure, poses, notes, chapter), encoding="utf-8")
    return Study(report, (report, *files), poses, tuple(notes), verdict)


def configurations(robot: Robot, more: int = 3) -> dict[str, Array]:
    """Named joint positions to look at: zero, the middle of the ranges, and some in general position."""
    if robot.n == 0:
        return {"fixed": np.zeros(0)}
    ranges = np.array([_range(joint) for joint in robot.joints])
    middle = ranges.mean(axis=1)
    shown = {"zero": np.zeros(robot.n)}
    if np.abs(middle).max() > 0.01 * _TURNS:
        shown["middle of ranges"] = middle
    steps = np.arange(1, robot.n + 1) * ((math.sqrt(5) - 1) / 2)  # golden ratio: well spread and always the same
    for k in range(1, more + 1):
        shown[f"general {k}"] = ranges[:, 0] + (steps * k % 1) * (ranges[:, 1] - ranges[:, 0])
    return shown


def _range(joint: Joint) -> tuple[float, float]:
    width = _NO_LIMITS[joint.kind]
    if joint.limits is None or joint.limits.lower is None or joint.limits.upper is None:
        return -width, width
    lower, upper = float(joint.limits.lower), float(joint.limits.upper)
    if joint.kind == "revolute":  # an almost endless joint needs no more than a turn
        lower, upper = max(lower, -_TURNS), min(upper, _TURNS)
    return lower, max(lower, upper)


def pose_table(robot: Robot, shown: dict[str, Array]) -> Section:
    """Tool position and conditioning of the Jacobian, its linear rows measured in distances of the tool."""
    tools = {name: _tool(robot, q) for name, q in shown.items()}
    size = max((float(np.linalg.norm(T[:3, 3] - _base(robot))) for T in tools.values()), default=0.0) or 1.0
    values = {name: _singular_values(robot, q, size) for name, q in shown.items()}
    rank = max((int((s > 1e-9 * max(s.max(initial=0.0), 1e-300)).sum()) for s in values.values()), default=0)
    rows = []
    for name, q in shown.items():
        s = values[name]
        condition = s[0] / s[rank - 1] if rank and s[rank - 1] > 0 else math.inf
        text = f"{condition:.3g}" if condition < SINGULAR else "singular"
        joints = ", ".join(describe.number(float(x), 3) for x in q)
        rows.append((name, *(f"{x:.4f}" for x in tools[name][:3, 3]), text if rank else "no motion", f"({joints})"))
    columns = (Column("configuration"), Column("x", "m"), Column("y", "m"), Column("z", "m"),
               Column("condition of J"), Column("q", "rad|m"))  # fmt: skip
    note = f"The tool moves in {rank} of 6 directions; lengths in J are measured in {size:.3g} m." if rank else ""
    return Section("Tool positions", columns, tuple(rows), note)


def _singular_values(robot: Robot, q: Array, size: float) -> Array:
    """Of the Jacobian with lengths measured in `size`: rows of linear velocity, columns of slides."""
    jacobian: Any = kinematics.jacobian(robot, q)  # type: ignore[arg-type]
    rows = np.array([1 / size] * 3 + [1.0] * 3)
    columns = np.array([size if joint.kind == "prismatic" else 1.0 for joint in robot.joints])
    J: Array = rows[:, None] * np.reshape(jacobian, (6, robot.n)) * columns
    return np.linalg.svd(J, compute_uv=False) if robot.n else np.zeros(0)


def _tool(robot: Robot, q: Array) -> Array:
    pose: Any = kinematics.pose(robot, q)  # type: ignore[arg-type]
    return np.asarray(pose)


def _base(robot: Robot) -> Array:
    return np.array([float(x) for x in robot.base.xyz])


def _saved(robot: Robot, folder: Path) -> tuple[list[Path], list[str]]:
    files, notes = [], []
    for name in ("robot.toml", "robot.urdf"):
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always", ModelWarning)
                files.append(robot.save(folder / name))
        except ArmdynError as error:
            notes.append(f"{name} could not be written: {error}")
        notes += [f"{name}: {str(warning.message).removeprefix(f'robot {robot.name!r}: ')}" for warning in said]
    return files, notes


def _page(robot: Robot, figure: str, poses: Section, notes: list[str], chapter: list[str]) -> str:
    checkup = robot.checkup()
    mass = sum(float(link.inertia.mass) for link in robot.links)
    facts = [("joints", str(robot.n)), ("types", describe.types(robot) or "none"),
             ("moving mass", f"{mass:.4g} kg"), ("check-up", checkup.summary)]  # fmt: skip
    blocks = [
        html.facts(facts, ok=checkup.ok),
        html.figure(figure, "The robot at zero and in a general configuration. Cylinders: revolute joints; "
                            "boxes: prismatic joints; red, green and blue: x, y and z of the tool."),
        html.heading("Check-up"),
        html.findings(checkup),
        html.heading("Robot"),
        html.definitions(describe.head(robot)),
        *map(html.table, describe.sections(robot)),
        html.table(poses),
        *chapter,
        html.bullets("Notes", [*describe.notes(robot), *notes]),
    ]  # fmt: skip
    return html.page(robot.name, robot.source, blocks)
