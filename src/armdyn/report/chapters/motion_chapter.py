"""Chapters about a motion: its torques and what they are made of, and what it asks of the actuators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.motion import Infeasible, TorqueBreakdown, feasibility, motion_limits, scale_to_torque, sizing
from armdyn.motion import torque_breakdown as broken_down
from armdyn.motion.limits import ROUNDING, names, units
from armdyn.report.chapters.chapter import Chapter, File, Subject
from armdyn.report.chapters.configurations import ranges
from armdyn.report.figures.charts import COLORS, Line, Panel, chart
from armdyn.report.figures.robot_figures import INK
from armdyn.report.figures.torque_figures import EFFECTS
from armdyn.report.pages import html
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section
from armdyn.trajectory import concatenate, point_to_point
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

TIMES, FEW_TIMES, MANY = 1000, 200, 12
"""Times at which torques are taken apart; fewer for more than MANY joints, whose pairs are many."""
GOLDEN = (5**0.5 - 1) / 2
SHARE = 0.5
"""Share of the limits of velocity and acceleration that the motion uses."""
MODERATE = {"revolute": (2.0, 8.0), "prismatic": (0.5, 2.0)}
"""Velocity and acceleration where the robot has no limits: rad/s, rad/s^2 or m/s, m/s^2."""
ROTORS = "#8a5cc2"


@dataclass(frozen=True, eq=False)
class Motion:
    """The motion of the report, there and back, and what is to be said about its speed."""

    trajectory: Trajectory
    words: str


def usual_motion(robot: Robot, dyn: Dynamics) -> Motion:
    """All joints around the middle of their ranges and back, neighbours in opposite directions, at half of the robot's
    limits; slower where the torques would exceed theirs.
    """
    low, high = ranges(robot)
    numbers = np.arange(robot.n)
    turn = np.where(numbers % 2, -1.0, 1.0)
    swing = (high - low) / 4 * (1 - (numbers * GOLDEN % 1) / 2)  # no two joints by the same amount
    middle = (low + high) / 2
    begin, end = middle - turn * swing, middle + turn * swing
    limits = motion_limits(robot)
    usual = np.array([MODERATE[joint.kind] for joint in robot.joints])
    v_max = np.where(np.isfinite(limits.velocity), SHARE * limits.velocity, usual[:, 0])
    a_max = np.where(np.isfinite(limits.acceleration), SHARE * limits.acceleration, usual[:, 1])
    there = point_to_point(begin, end, "quintic", v_max=v_max, a_max=a_max)
    back = point_to_point(end, begin, "quintic", duration=there.duration)
    cycle: Trajectory = concatenate(there, back)
    given = np.isfinite(limits.velocity).any() or np.isfinite(limits.acceleration).any()
    speed = "at half of the limits of velocity and acceleration" if given else "at a moderate speed"
    if not np.isfinite(limits.tau_max).any() or feasibility(dyn, cycle).use["torque"].max() <= 1:
        return Motion(cycle, speed)
    try:
        slower = scale_to_torque(cycle, dyn)
    except Infeasible as error:
        return Motion(cycle, f"{speed}, although the torques exceed their limits ({error.what})")
    return Motion(slower, f"slowed down until the torque of {slower.joint} keeps its limit")


def motion_of(subject: Subject) -> Motion:
    """The motion that all chapters speak of, made once."""
    subject.closed_only("a motion")
    kept = subject.kept
    if "motion" not in kept:
        kept["motion"] = usual_motion(subject.robot, subject.dyn)
    made: Motion = kept["motion"]
    return made


def motion(subject: Subject) -> Chapter:
    """A motion within the limits: positions, torques, and what the torques are made of."""
    chosen = motion_of(subject)
    subject.say("torques of a motion")
    times = TIMES if subject.robot.n <= MANY else FEW_TIMES
    parts = broken_down(subject.dyn, chosen.trajectory, chosen.trajectory.duration / times)
    words = (
        "All joints move through a quarter to a half of their ranges, around the middle, and back in "
        f"{chosen.trajectory.duration:.3g} s, "
        f"neighbours in opposite directions, by polynomials of fifth degree, {chosen.words}."
    )
    panels, key = _joint_panels(parts)
    caption = "Torques of the joints and the effects they are made of. They add up to the total."
    blocks = [
        html.paragraph(words),
        html.panels(_motion_panels(parts), "Positions and velocities.", _joint_key(parts.robot)),
        html.panels(panels, caption, key),
        html.table(_shares(parts)),
    ]
    largest = {name: float(x) for name, x in zip(names(parts.robot), np.abs(parts.tau).max(axis=0), strict=True)}
    files = _files(subject, chosen.trajectory, parts)
    return Chapter(blocks, files=files, numbers={"motion_s": chosen.trajectory.duration, "largest_torques": largest})


def _effects(parts: TorqueBreakdown) -> dict[str, Array]:
    """(k, n) each: what the torques add up from, rotors apart from the links' inertia."""
    effects = dict(parts.by_effect)
    rotors = parts.rotors.sum(axis=2)
    if np.any(rotors):
        effects = {"inertia": effects.pop("inertia") - rotors, "rotors": rotors, **effects}
    return effects


def _color(effect: str) -> str:
    return ROTORS if effect == "rotors" else EFFECTS[effect]


def _joint_panels(parts: TorqueBreakdown) -> tuple[list[str], list[tuple[str, str, bool]]]:
    effects = _effects(parts)
    drawn = []
    for i, (name, unit) in enumerate(zip(names(parts.robot), units(parts.robot), strict=True)):
        lines = [Line(parts.t, part[:, i], color=_color(effect)) for effect, part in effects.items()]
        lines.append(Line(parts.t, parts.tau[:, i], style="--", color=INK))
        drawn.append(chart(Panel(name, "time, s", unit[3], lines)))
    key = [(effect, _color(effect), False) for effect in effects]
    return drawn, [*key, ("total", "currentColor", True)]


def _motion_panels(parts: TorqueBreakdown) -> list[str]:
    """Positions and velocities, turning and sliding joints apart."""
    drawn = []
    for kind in ("revolute", "prismatic"):
        joints = [j for j, joint in enumerate(parts.robot.joints) if joint.kind == kind]
        for title, values, order in (("positions", parts.q, 0), ("velocities", parts.qd, 1)):
            if joints:
                lines = [Line(parts.t, values[:, j], color=COLORS[j % len(COLORS)]) for j in joints]
                unit = units(parts.robot)[joints[0]][order]
                drawn.append(chart(Panel(f"{title}, {kind} joints", "time, s", unit, lines)))
    return drawn


def _joint_key(robot: Robot) -> list[tuple[str, str, bool]]:
    return [(name, COLORS[j % len(COLORS)], False) for j, name in enumerate(names(robot))]


def _shares(parts: TorqueBreakdown) -> Section:
    """Largest magnitudes of every effect, joint by joint."""
    effects = {**_effects(parts), "total": parts.tau}
    rows = [
        (name, unit[3], *(_largest(part[:, i], parts.tau[:, i]) for part in effects.values()))
        for i, (name, unit) in enumerate(zip(names(parts.robot), units(parts.robot), strict=True))
    ]
    columns = (Column("joint"), Column("unit"), *map(Column, effects))
    note = "The effects have their peaks at different times."
    if "rotors" in effects:
        note += " Inertia is that of the links."
    return Section("Largest magnitudes", columns, tuple(rows), note)


def _largest(part: Array, total: Array) -> str:
    """The largest magnitude; what is only rounding of the total is none."""
    size = np.abs(part).max()
    return f"{size:.4g}" if size > ROUNDING * np.abs(total).max() else "0"


def _files(subject: Subject, trajectory: Trajectory, parts: TorqueBreakdown) -> list[File]:
    n = parts.q.shape[1]
    effects = _effects(parts)
    heads = ["t"] + [f"{name}{j + 1}" for name in ("q", "qd", "qdd", "tau") for j in range(n)]
    table = np.column_stack([parts.t, parts.q, parts.qd, parts.qdd, parts.tau])
    moved = subject.rows("motion.csv", heads, table.tolist(), "the motion: t, q, qd, qdd, tau of every joint")
    path = subject.folder / "torques.npz"
    arrays: dict[str, Any] = {"t": parts.t, "tau": parts.tau, **effects}
    np.savez_compressed(path, **arrays)
    return [moved, File(path, "the torques of the motion by effect: arrays (times, joints) for NumPy")]


# What the actuators have to give -----------------------------------------------------------------------------------


def actuators(subject: Subject) -> Chapter:
    """Peak and effective torques, speeds, powers and energies over one cycle of the motion."""
    cycle = motion_of(subject).trajectory
    subject.say("sizing of actuators")
    loads = sizing(subject.dyn, cycle)
    joint = _sizing_section("At the joints", subject.robot, loads)
    words = (
        f"What every actuator gives over one cycle of the motion above ({loads.cycle:.3g} s). The effective (rms) "
        "torque is what heats a motor; the peak is what its drive must allow. Together the joints draw "
        f"{loads.mean_power:.3g} W on average if nothing is given back."
    )
    blocks = [html.paragraph(words), html.table(joint)]
    if any(j.rotor is not None and abs(float(j.rotor.ratio)) != 1 for j in subject.robot.joints):
        behind = sizing(subject.dyn, cycle, side="motor")
        blocks.append(html.table(_sizing_section("At the motors, behind the gears", subject.robot, behind)))
    file = subject.table("actuators.csv", joint, "loads of the actuators over the motion")
    return Chapter(blocks, files=[file], numbers={"mean_power_W": loads.mean_power})


def _sizing_section(title: str, robot: Robot, loads: Any) -> Section:
    """One row per actuator; torque limits beside, where the robot has any."""
    fields = [
        ("peak torque", "N m|N", loads.peak_torque), ("rms torque", "N m|N", loads.rms_torque),
        ("peak speed", "rad/s|m/s", loads.peak_speed), ("peak power", "W", loads.peak_power),
        ("peak braking", "W", loads.peak_braking), ("energy", "J", loads.energy_given),
        ("returned", "J", loads.energy_returned),
    ]  # fmt: skip
    columns = [Column("joint"), *(Column(head, _units_here(unit, robot)) for head, unit, _ in fields)]
    rows = [[name, *(f"{values[i]:.4g}" for _, _, values in fields)] for i, name in enumerate(names(robot))]
    limits = motion_limits(robot).tau_max
    if loads.side == "joint" and np.isfinite(limits).any():
        columns.append(Column("of limit", "%"))
        for row, peak, most in zip(rows, loads.peak_torque, limits, strict=True):
            row.append(f"{100 * peak / most:.0f}" if np.isfinite(most) else "")
    return Section(title, tuple(columns), tuple(map(tuple, rows)))


def _units_here(unit: str, robot: Robot) -> str:
    """Of a pair turning|sliding, those that this robot has."""
    if "|" not in unit:
        return unit
    kinds = {joint.kind for joint in robot.joints}
    pair = zip(("revolute", "prismatic"), unit.split("|"), strict=True)
    return "|".join(text for kind, text in pair if kind in kinds)
