"""armdyn plan: a motion between two joint positions, as a file and as a picture."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.console import BaseOption, LockOption, RobotArgument, TipOption, console, load_moving_robot, tables

if TYPE_CHECKING:
    from armdyn.robot.robot import Robot
    from armdyn.robot.table import Section
    from armdyn.trajectory.base import Trajectory

UNIT = {"revolute": "rad", "prismatic": "m"}
USUAL = {
    "revolute": {"velocity": 1.0, "acceleration": 4.0},
    "prismatic": {"velocity": 0.25, "acceleration": 1.0},
}
"""Limits taken where neither the user nor the robot gives any: a careful motion."""


def plan(
    robot: RobotArgument,
    start: Annotated[
        str, typer.Option("--from", metavar="Q", help="Start: one number per joint, as in 0,30deg,-1.2 (rad, m).")
    ],
    end: Annotated[str, typer.Option("--to", metavar="Q", help="End, in the same form.")],
    profile: Annotated[
        str,
        typer.Option(help="linear, cubic, quintic, bang_bang, trapezoid, smooth or smooth_trapezoid."),
    ] = "trapezoid",
    v_max: Annotated[
        str | None, typer.Option(metavar="V", help="Largest velocities, one or one per joint; else the robot's.")
    ] = None,
    a_max: Annotated[
        str | None, typer.Option(metavar="A", help="Largest accelerations, one or one per joint; else the robot's.")
    ] = None,
    duration: Annotated[float | None, typer.Option(metavar="S", help="Duration, s, instead of the least time.")] = None,
    line: Annotated[
        bool, typer.Option("--line", help="Move the tool on a straight line; V and A are then m/s, m/s^2 of the tool.")
    ] = False,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: .png, .svg or .pdf.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write samples: .csv (t, q, qd, qdd).")] = None,
    dt: Annotated[float, typer.Option(metavar="S", help="Time step of the samples, s.")] = 1e-3,
    tip: TipOption = None,
    base: BaseOption = None,
    lock: LockOption = None,
) -> None:
    """Plan a motion between two joint positions within velocity and acceleration limits."""
    made = load_moving_robot(robot, tip, base, lock)
    q0, q1 = (numbers(text, made.n, option) for text, option in ((start, "--from"), (end, "--to")))
    motion, note = (_line if line else _joints)(made, q0, q1, profile, v_max, a_max, duration)
    screen = console()
    for table in tables(_section(made, motion, profile, line), screen.width):
        screen.print(table)
    if note:
        screen.print(note)
    for warning in _beyond_limits(made, motion):
        screen.print(f"[yellow]{warning}[/]")
    if out is not None:
        motion.save(out, dt)
        screen.print(f"Samples: [bold green]{out}[/]", soft_wrap=True)
    if plot is not None:
        _draw(motion, made, plot)
        screen.print(f"Picture: [bold green]{plot}[/]", soft_wrap=True)


def numbers(text: str, count: int, option: str, single: bool = False) -> list[float]:
    """`"0.1, 30deg, -2"` -> numbers in rad and m."""
    values = []
    for word in text.replace(",", " ").split():
        degrees = word.endswith("deg")
        try:
            value = float(word.removesuffix("deg"))
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise typer.BadParameter(f"{word!r} is not a number: rad, m, or degrees as in 30deg", param_hint=option)
        values.append(math.radians(value) if degrees else value)
    if len(values) != count and not (single and len(values) == 1):
        one = " or 1" if single and count != 1 else ""
        raise typer.BadParameter(f"{len(values)} numbers; the robot takes {count}{one}", param_hint=option)
    return values


def _joints(
    robot: Robot, q0: list[float], q1: list[float], profile: str, v: str | None, a: str | None, duration: float | None
) -> tuple[Trajectory, str]:
    """The motion, and a note on limits that were taken because nobody gave any."""
    from armdyn.trajectory.joint import point_to_point

    if duration is not None:  # enough by itself; limits that are given must hold
        v_max = None if v is None else _given(v, robot.n, "--v-max")
        a_max = None if a is None else _given(a, robot.n, "--a-max")
        return point_to_point(q0, q1, profile, v_max=v_max, a_max=a_max, duration=duration), ""
    fastest, note_v = _limit(robot, v, "velocity")
    strongest, note_a = _limit(robot, a, "acceleration")
    return point_to_point(q0, q1, profile, v_max=fastest, a_max=strongest), " ".join(filter(None, (note_v, note_a)))


def _limit(robot: Robot, given: str | None, name: str) -> tuple[list[float], str]:
    """Limits from the command line, the robot's, or the house's; and a note about the last."""
    option = f"--{name[0]}-max"
    if given is not None:
        return _given(given, robot.n, option), ""
    known = [getattr(joint.limits, name, None) for joint in robot.joints]
    usual = [USUAL[joint.kind][name] for joint in robot.joints]
    missing = sorted({f"{USUAL[joint.kind][name]:g} {UNIT[joint.kind]}/s" + "^2" * (name == "acceleration")
                      for joint, limit in zip(robot.joints, known, strict=True) if limit is None})  # fmt: skip
    values = [float(y if x is None else x) for x, y in zip(known, usual, strict=True)]
    return values, f"No {name} limits known: {', '.join(missing)} taken ({option} to choose)." if missing else ""


def _given(text: str, count: int, option: str) -> list[float]:
    values = numbers(text, count, option, single=True)
    if min(values) <= 0:
        raise typer.BadParameter("limits are positive", param_hint=option)
    return values if len(values) == count else values * count


def _line(
    robot: Robot, q0: list[float], q1: list[float], profile: str, v: str | None, a: str | None, duration: float | None
) -> tuple[Trajectory, str]:
    import numpy as np

    from armdyn.mechanics.kinematics import pose
    from armdyn.trajectory import Unreachable, follow, line

    limits: dict[str, float] = {}
    note = ""
    if duration is None:
        slide, turn = USUAL["prismatic"], USUAL["revolute"]
        limits = {"v_max": slide["velocity"], "a_max": slide["acceleration"]}
        limits |= {"w_max": turn["velocity"], "wd_max": turn["acceleration"]}
        note = f"Rotation of the tool at most {turn['velocity']:g} rad/s and {turn['acceleration']:g} rad/s^2."
    for text, name in ((v, "v_max"), (a, "a_max")):
        if text is not None:
            limits[name] = _given(text, 1, f"--{name[0]}-max")[0]
    start, end = np.asarray(pose(robot, q0)), np.asarray(pose(robot, q1))
    try:
        motion = follow(robot, line(start, end, profile, duration=duration, **limits), q0)  # type: ignore[arg-type]
    except Unreachable:
        if robot.n >= 6:
            raise
        path = line(start[:3, 3], end[:3, 3], profile, duration=duration, **limits)  # type: ignore[arg-type]
        motion = follow(robot, path, q0)
        note = "The tool's rotation is left free: the arm cannot turn it along with the line."
    if abs(motion(motion.duration) - q1).max() > 1e-6:
        note += " The line arrives at the pose of --to with other joint positions."
    return motion, note.strip()


def _section(robot: Robot, motion: Trajectory, profile: str, line: bool) -> Section:
    from armdyn.robot.table import Column, Section

    heads = ("joint", "unit", "from", "to", "peak velocity", "peak acceleration")
    first, last = motion(0.0), motion(motion.duration)
    velocity, acceleration = motion.peak(1), motion.peak(2)
    rows = []
    for j, joint in enumerate(robot.joints):
        unit = "rad" if joint.kind == "revolute" else "m"
        figures = (first[j], last[j], velocity[j], acceleration[j])
        rows.append((joint.name, unit, *(f"{round(float(x), 4) + 0.0:.4f}" for x in figures)))
    shape = "straight line of the tool" if line else "straight in joint space"
    title = f"{robot.name}: {motion.duration:.4f} s, profile {profile}, {shape}"
    return Section(title, tuple(map(Column, heads)), tuple(rows), "Velocity per s, acceleration per s^2.")


def _beyond_limits(robot: Robot, motion: Trajectory) -> list[str]:
    """Joint limits that the motion does not keep, in words."""
    sample = motion(motion.breaks) if motion.highest is None else motion.sample(motion.duration / 500).q
    low, high = sample.min(axis=0), sample.max(axis=0)
    velocity, acceleration = motion.peak(1), motion.peak(2)
    found = []
    for j, joint in enumerate(robot.joints):
        limits = joint.limits
        if limits is None:
            continue
        if (limits.lower is not None and low[j] < limits.lower - 1e-9) or (
            limits.upper is not None and high[j] > limits.upper + 1e-9
        ):
            found.append(f"{joint.name} leaves its range {limits.lower} to {limits.upper}.")
        for what, peak, limit in (
            ("velocity", velocity[j], limits.velocity),
            ("acceleration", acceleration[j], limits.acceleration),
        ):
            if limit is not None and peak > limit * (1 + 1e-9):
                found.append(f"{joint.name} exceeds its {what} limit {limit:g}: {peak:.4g}.")
    return found


def _draw(motion: Trajectory, robot: Robot, path: Path) -> None:
    from armdyn.errors import FileError

    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise typer.BadParameter(f"{path.name!r}: .png, .svg or .pdf", param_hint="--plot")
    try:
        motion.plot(path, robot)
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror}", where=str(path)) from None
