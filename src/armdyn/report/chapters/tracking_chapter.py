"""The chapter on control: the motion tracked by computed torque, with the exact model and with wrong ones."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from armdyn.control import ComputedTorque
from armdyn.report.chapters.chapter import File, ReportChapter
from armdyn.report.chapters.motion_chapter import by_kind, joint_key, joint_panels
from armdyn.report.chapters.subject import Subject
from armdyn.report.figures.charts import Axes, Line, chart
from armdyn.report.figures.style import color
from armdyn.report.pages import html
from armdyn.robot.limits import UNITS
from armdyn.robot.robot import Robot
from armdyn.simulation.run import Run
from armdyn.simulation.settings import Solver
from armdyn.simulation.studies import imperfect_models
from armdyn.tables import Column, Section

KP, KD = 400.0, 40.0
"""Gains of the error dynamics e'' + kd e' + kp e = 0: 20 rad/s, critically damped."""
STEP = 1e-3
MASSES = 1.2
FLOOR = 1e-9
"""Errors below this are drawn at it, since a logarithmic axis has no zero."""


def tracking(subject: Subject) -> ReportChapter:
    """The same motion under computed torque with models that omit an effect or have wrong masses."""
    cycle = subject.motion.trajectory
    robot, dyn = subject.robot, subject.dyn
    subject.say("tracking under control")
    runs = imperfect_models(
        dyn, ComputedTorque(dyn, KP, KD), cycle, masses=MASSES, duration=cycle.duration, solver=Solver(dt=STEP)
    )
    full = runs["full model"]
    words = (
        "The motion above under computed torque (Khalil sec. 9.4): the controller's model cancels the dynamics of the "
        f"arm, so that the error obeys e'' + {KD:g} e' + {KP:g} e = 0. The plant is always the full model; the "
        f"controller's model differs from the plant as listed. The time step is {1e3 * STEP:g} ms, and the arm starts "
        "on the reference."
    )
    ends = [f"{name}: {run.status.value} {run.detail}".strip() for name, run in runs.items() if not run.ok]
    caption = f"Largest tracking error among the joints over time; what is below {FLOOR:g} is drawn there."
    key = [(name, color(k), False) for k, name in enumerate(runs)]
    blocks = [
        html.paragraph(words),
        html.panels(_error_panels(robot, runs), caption, key),
        html.table(_errors(robot, runs)),
        html.bullets("Runs that ended early", ends),
        html.panels(joint_panels(robot, full.t, full.tau, 3), "Torques with the full model.", joint_key(robot)),
    ]
    file = File(
        full.save(subject.folder / "tracking.csv"), "the tracked motion with the full model: t, q, qd, tau, error"
    )
    worst = {name: float(np.abs(run.error).max()) for name, run in runs.items()}
    return ReportChapter(blocks, files=[file], numbers={"largest_tracking_errors": worst})


def _error_panels(robot: Robot, runs: Mapping[str, Run]) -> list[str]:
    drawn = []
    for kind, joints in by_kind(robot).items():
        lines = [
            Line(run.t, np.maximum(np.abs(run.error[:, joints]).max(axis=1), FLOOR), color=color(k))
            for k, run in enumerate(runs.values())
        ]
        drawn.append(chart(Axes(f"error, {kind} joints", "time, s", UNITS[kind].position, lines, log=True)))
    return drawn


def _errors(robot: Robot, runs: Mapping[str, Run]) -> Section:
    """Largest error of each joint with each model."""
    largest = {name: run.largest_error() for name, run in runs.items()}
    rows = tuple(
        (joint.name, UNITS[joint.kind].position, *(f"{errors[j]:.2g}" for errors in largest.values()))
        for j, joint in enumerate(robot.joints)
    )
    return Section("Largest errors", (Column("joint"), Column("unit"), *map(Column, largest)), rows)
