"""The chapter about control: the motion tracked by computed torque, with the right model and with wrong ones."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from armdyn.control import ComputedTorque
from armdyn.motion.limits import names
from armdyn.report.chapters.chapter import Chapter, File, Subject
from armdyn.report.chapters.motion_chapter import motion_of
from armdyn.report.figures.charts import COLORS, Line, Panel, chart
from armdyn.report.pages import html
from armdyn.robot.robot import Robot
from armdyn.simulation.run import Run
from armdyn.simulation.studies import imperfect_models
from armdyn.tables import Column, Section

KP, KD = 400.0, 40.0
"""Gains of the error's equation e'' + kd e' + kp e = 0: 20 rad/s, critically damped."""
STEP = 1e-3
MASSES = 1.2
FLOOR = 1e-9
"""Errors below this are drawn at it: the logarithm has no zero."""


def tracking(subject: Subject) -> Chapter:
    """The same motion under computed torque, by models that leave something out or have wrong masses."""
    cycle = motion_of(subject).trajectory
    robot, dyn = subject.robot, subject.dyn
    subject.say("tracking under control")
    runs = imperfect_models(dyn, ComputedTorque(dyn, KP, KD), cycle, dt=STEP, masses=MASSES, duration=cycle.duration)
    full = runs["full model"]
    words = (
        "The motion above under computed torque (Khalil sec. 9.4): the controller's model cancels the arm's dynamics, "
        f"and the error obeys e'' + {KD:g} e' + {KP:g} e = 0. The simulated arm is always the full model; what the "
        "controller knows of it is not. Time step 1 ms, start on the reference."
    )
    ends = [f"{name}: {run.status.value} {run.detail}".strip() for name, run in runs.items() if not run.ok]
    key = [(name, COLORS[k % len(COLORS)], False) for k, name in enumerate(runs)]
    blocks = [
        html.paragraph(words),
        html.panels(_error_panels(robot, runs), "Largest error among the joints over time.", key),
        html.table(_errors(robot, runs)),
        html.bullets("Runs that did not reach their end", ends),
        html.panels(_torque_panels(robot, full), "Torques with the full model.", _joint_key(robot)),
    ]
    file = File(
        full.save(subject.folder / "tracking.csv"), "the tracked motion with the full model: t, q, qd, tau, error"
    )
    worst = {name: float(np.abs(run.error).max()) for name, run in runs.items()}
    return Chapter(blocks, files=[file], numbers={"largest_tracking_errors": worst})


def _joint_key(robot: Robot) -> list[tuple[str, str, bool]]:
    return [(name, COLORS[j % len(COLORS)], False) for j, name in enumerate(names(robot))]


def _kinds(robot: Robot) -> dict[str, list[int]]:
    """Joints by kind, those kinds that are there."""
    by = {kind: [j for j, joint in enumerate(robot.joints) if joint.kind == kind] for kind in ("revolute", "prismatic")}
    return {kind: joints for kind, joints in by.items() if joints}


def _error_panels(robot: Robot, runs: Mapping[str, Run]) -> list[str]:
    drawn = []
    for kind, joints in _kinds(robot).items():
        lines = [
            Line(run.t, np.maximum(np.abs(run.error[:, joints]).max(axis=1), FLOOR), color=COLORS[k % len(COLORS)])
            for k, run in enumerate(runs.values())
        ]
        unit = "rad" if kind == "revolute" else "m"
        drawn.append(chart(Panel(f"error, {kind} joints", "time, s", unit, lines, log=True)))
    return drawn


def _torque_panels(robot: Robot, run: Run) -> list[str]:
    drawn = []
    for kind, joints in _kinds(robot).items():
        lines = [Line(run.t, run.tau[:, j], color=COLORS[j % len(COLORS)]) for j in joints]
        title, unit = ("torques", "N m") if kind == "revolute" else ("forces", "N")
        drawn.append(chart(Panel(f"{title}, {kind} joints", "time, s", unit, lines)))
    return drawn


def _errors(robot: Robot, runs: Mapping[str, Run]) -> Section:
    """Largest error of every joint under every model."""
    largest = {name: run.largest_error() for name, run in runs.items()}
    rows = tuple(
        (joint.name, "rad" if joint.kind == "revolute" else "m", *(f"{errors[j]:.2g}" for errors in largest.values()))
        for j, joint in enumerate(robot.joints)
    )
    return Section("Largest errors", (Column("joint"), Column("unit"), *map(Column, largest)), rows)
