"""Chapters on a motion: its torques split by physical effect, and the loads of the actuators."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.files import writing
from armdyn.motion import TorqueBreakdown, bearing_loads, motion_limits, sizing
from armdyn.motion import torque_breakdown as broken_down
from armdyn.report.chapters.chapter import File, ReportChapter
from armdyn.report.chapters.subject import Subject
from armdyn.report.figures.charts import Axes, Line, chart
from armdyn.report.figures.style import INK, color
from armdyn.report.figures.torque_figures import EFFECTS
from armdyn.report.pages import html
from armdyn.robot.limits import UNITS, common_units, joint_names, joint_units
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section, without_rounding
from armdyn.typing import Array

TIMES, FEW_TIMES, MANY = 1000, 200, 12
"""Times at which torques are split by effect; fewer for more than MANY joints, which have many pairs."""
ROTORS = "#8a5cc2"
TITLES = {
    "revolute": ("positions", "velocities", "accelerations", "torques"),
    "prismatic": ("positions", "velocities", "accelerations", "forces"),
}


def motion(subject: Subject) -> ReportChapter:
    """A motion within the limits: positions, and torques split by physical effect."""
    chosen = subject.motion
    subject.say("torques of a motion")
    times = TIMES if subject.robot.n <= MANY else FEW_TIMES
    parts = broken_down(subject.dyn, chosen.trajectory, chosen.trajectory.duration / times)
    words = (
        "All joints move through a quarter to a half of their ranges, about the middle, and back, in "
        f"{chosen.trajectory.duration:.3g} s; neighbouring joints in opposite directions, on quintic polynomials, "
        f"{chosen.speed}."
    )
    moved = [panel for k, x in enumerate((parts.q, parts.qd)) for panel in joint_panels(parts.robot, parts.t, x, k)]
    panels, key = _effect_panels(parts)
    caption = "Joint torques split by physical effect; the effects add up to the total."
    blocks = [
        html.paragraph(words),
        html.panels(moved, "Positions and velocities.", joint_key(parts.robot)),
        html.panels(panels, caption, key),
        html.table(_shares(parts)),
    ]
    largest = {name: float(x) for name, x in zip(joint_names(parts.robot), np.abs(parts.tau).max(axis=0), strict=True)}
    files = _files(subject, parts)
    return ReportChapter(
        blocks, files=files, numbers={"motion_s": chosen.trajectory.duration, "largest_torques": largest}
    )


def _effects(parts: TorqueBreakdown) -> dict[str, Array]:
    """Torques by physical effect, (k, n) each; rotors apart from the links' inertia."""
    effects = dict(parts.by_effect)
    rotors = parts.rotors.sum(axis=2)
    if np.any(rotors):
        effects = {"inertia": effects.pop("inertia") - rotors, "rotors": rotors, **effects}
    return effects


def _color(effect: str) -> str:
    return ROTORS if effect == "rotors" else EFFECTS[effect]


def _effect_panels(parts: TorqueBreakdown) -> tuple[list[str], list[tuple[str, str, bool]]]:
    effects = _effects(parts)
    drawn = []
    for i, (name, unit) in enumerate(zip(joint_names(parts.robot), joint_units(parts.robot), strict=True)):
        lines = [Line(parts.t, part[:, i], color=_color(effect)) for effect, part in effects.items()]
        lines.append(Line(parts.t, parts.tau[:, i], style="--", color=INK))
        drawn.append(chart(Axes(name, "time, s", unit[3], lines)))
    key = [(effect, _color(effect), False) for effect in effects]
    return drawn, [*key, ("total", "currentColor", True)]


def by_kind(robot: Robot) -> dict[str, list[int]]:
    """Joint indices by kind of joint; only kinds that the robot has."""
    kinds = [joint.kind for joint in robot.joints]
    return {kind: [j for j, each in enumerate(kinds) if each == kind] for kind in TITLES if kind in kinds}


def joint_panels(robot: Robot, t: Array, values: Array, order: int) -> list[str]:
    """One panel per kind of joint. order: 0 for positions, 1 velocities, 2 accelerations, 3 torques or forces."""
    drawn = []
    for kind, joints in by_kind(robot).items():
        lines = [Line(t, values[:, j], color=color(j)) for j in joints]
        drawn.append(chart(Axes(f"{TITLES[kind][order]}, {kind} joints", "time, s", UNITS[kind][order], lines)))
    return drawn


def joint_key(robot: Robot) -> list[tuple[str, str, bool]]:
    """The key of panels that show all joints."""
    return [(name, color(j), False) for j, name in enumerate(joint_names(robot))]


def _shares(parts: TorqueBreakdown) -> Section:
    """Largest magnitudes of every effect, joint by joint."""
    effects = {**_effects(parts), "total": parts.tau}
    rows = [
        (name, unit[3], *(_largest(part[:, i], parts.tau) for part in effects.values()))
        for i, (name, unit) in enumerate(zip(joint_names(parts.robot), joint_units(parts.robot), strict=True))
    ]
    columns = (Column("joint"), Column("unit"), *map(Column, effects))
    note = "The effects peak at different times."
    if "rotors" in effects:
        note += " Inertia: of the links."
    return Section("Largest magnitudes", columns, tuple(rows), note)


def _largest(part: Array, total: Array) -> str:
    """The largest magnitude; 0 if it is only rounding of the torques of all joints."""
    (size,) = without_rounding([float(np.abs(part).max())], float(np.abs(total).max()))
    return f"{size:.4g}"


def _files(subject: Subject, parts: TorqueBreakdown) -> list[File]:
    n = parts.q.shape[1]
    effects = _effects(parts)
    heads = ["t"] + [f"{name}{j + 1}" for name in ("q", "qd", "qdd", "tau") for j in range(n)]
    table = np.column_stack([parts.t, parts.q, parts.qd, parts.qdd, parts.tau])
    moved = subject.rows("motion.csv", heads, table.tolist(), "the motion: t, q, qd, qdd, tau of every joint")
    path = subject.folder / "torques.npz"
    arrays: dict[str, Any] = {"t": parts.t, "tau": parts.tau, **effects}
    with writing(path) as part:
        np.savez_compressed(part, **arrays)
    return [moved, File(path, "the torques split by physical effect, as NumPy arrays (times, joints)")]


# Loads of the actuators --------------------------------------------------------------------------------------------


def actuators(subject: Subject) -> ReportChapter:
    """Peak and effective torques, speeds, powers and energies over one cycle of the motion."""
    cycle = subject.motion.trajectory
    subject.say("sizing of actuators")
    loads = sizing(subject.dyn, cycle)
    joint = _sizing_section("At the joints", subject.robot, loads)
    words = (
        f"Loads over one cycle of the motion above ({loads.cycle:.3g} s). The rms torque determines how much a motor "
        f"heats up, the peak torque what its drive must supply. The mean power of all joints is "
        f"{loads.mean_power:.3g} W if braking energy is not recovered."
    )
    blocks = [html.paragraph(words), html.table(joint)]
    if any(j.rotor is not None and abs(float(j.rotor.ratio)) != 1 for j in subject.robot.joints):
        behind = sizing(subject.dyn, cycle, side="motor")
        blocks.append(html.table(_sizing_section("At the motors", subject.robot, behind)))
    if not subject.robot.constrained:
        blocks.append(html.table(bearing_loads(subject.dyn, cycle).section()))
    file = subject.table("actuators.csv", joint, "actuator loads over the motion")
    return ReportChapter(blocks, files=[file], numbers={"mean_power_W": loads.mean_power})


def _sizing_section(title: str, robot: Robot, loads: Any) -> Section:
    """One row per actuator, with the share of the torque limit where the robot has one."""
    units = common_units(robot)
    fields = [
        ("peak torque", units.torque, loads.peak_torque),
        ("rms torque", units.torque, loads.rms_torque),
        ("peak speed", units.velocity, loads.peak_speed),
        ("peak power", "W", loads.peak_power),
        ("peak braking", "W", loads.peak_braking),
        ("energy", "J", loads.energy_given),
        ("returned", "J", loads.energy_returned),
    ]
    columns = [Column("joint"), *(Column(head, unit) for head, unit, _ in fields)]
    rows = [[name, *(f"{values[i]:.4g}" for _, _, values in fields)] for i, name in enumerate(joint_names(robot))]
    limits = motion_limits(robot).tau_max
    if loads.side == "joint" and np.isfinite(limits).any():
        columns.append(Column("of limit", "%"))
        for row, peak, most in zip(rows, loads.peak_torque, limits, strict=True):
            row.append(f"{100 * peak / most:.0f}" if np.isfinite(most) else "")
    return Section(title, tuple(columns), tuple(map(tuple, rows)))
