"""The chapter on velocity, force and acceleration ellipsoids at the configurations shown."""

from __future__ import annotations

import numpy as np

from armdyn.analysis import acceleration_ellipsoid, force_ellipsoid, velocity_ellipsoid
from armdyn.dynamics import Dynamics
from armdyn.errors import NotApplicable
from armdyn.report.chapters.chapter import ReportChapter
from armdyn.report.chapters.subject import Subject
from armdyn.report.figures.ellipsoid_figures import drawn_rows, ellipsoid_figure, holding_torques_twice
from armdyn.report.figures.style import as_svg
from armdyn.report.pages import html
from armdyn.robot.limits import required_torque_limits
from armdyn.tables import Column, Section
from armdyn.typing import Array

MANY = 12
"""Joints up to which the sets are drawn: a polytope of n torques has up to 2^n vertices."""


def abilities(subject: Subject) -> ReportChapter:
    """Ellipsoids of velocity, force and acceleration."""
    dyn = subject.dyn
    dyn.program("forward_dynamics")  # raises PhysicsError if the mass matrix is singular
    subject.say("ellipsoids")
    strength, words = _strength(dyn, subject.shown)
    section = _section(dyn, subject.shown, strength)
    text = (
        "How fast and how strong the tool is depends on configuration and direction. Velocities belong to joint "
        f"velocities of norm 1, forces and accelerations to {words}. Along a long half axis the arm is fast or strong, "
        "along a short one slow or weak (Siciliano sec. 3.9 and 7.9)."
    )
    file = subject.table("ellipsoids.csv", section, "half axes of the ellipsoids")
    return ReportChapter([html.paragraph(text), _drawn(subject, strength), html.table(section)], files=[file])


def _drawn(subject: Subject, strength: Array) -> str:
    """The ellipsoids drawn at the tool, at the configuration farthest from singular ones."""
    if subject.robot.n > MANY:
        return html.remark(
            f"Not drawn: the exact set of accelerations of {subject.robot.n} joints has too many vertices."
        )
    dyn, rows = subject.dyn, drawn_rows(subject.dyn)
    name, q = max(subject.shown.items(), key=lambda shown: float(velocity_ellipsoid(dyn, shown[1], rows=rows).isotropy))
    svg = as_svg(ellipsoid_figure(dyn, q, tau_max=strength))
    return html.figure(svg, f"Configuration {name}.", wide=True)


def _strength(dyn: Dynamics, shown: dict[str, Array]) -> tuple[Array, str]:
    """(n,) torques and a phrase for them: the limits, or twice what holds the arm."""
    try:
        return required_torque_limits(dyn.robot)[1], "torques in the ellipsoid of the torque limits, gravity included"
    except NotApplicable:
        torques = holding_torques_twice(dyn, *shown.values())
        twice = " (twice the largest holding torque)" if any(np.any(dyn.gravity(q)) for q in shown.values()) else ""
        return torques, f"torques of norm {torques[0]:g} N m{twice}, gravity included"


def _section(dyn: Dynamics, shown: dict[str, Array], strength: Array) -> Section:
    rows = drawn_rows(dyn)
    cells = []
    for name, q in shown.items():
        velocity = velocity_ellipsoid(dyn, q, rows=rows)
        force = force_ellipsoid(dyn, q, rows=rows, tau_max=strength)
        acceleration = acceleration_ellipsoid(dyn, q, rows=rows, tau_max=strength)
        axes = (shape.half_axes for shape in (velocity, force, acceleration))
        cells.append((name, *axes, f"{float(velocity.isotropy):.3f}"))
    columns = (
        Column("configuration"),
        Column("velocity", "m/s"),
        Column("force", "N"),
        Column("acceleration", "m/s²"),
        Column("isotropy", "of velocity"),
    )
    note = f"Half axes along {rows}, longest first. Isotropy: shortest over longest, 0 at a singular configuration."
    return Section("Half axes of the ellipsoids", columns, tuple(cells), note)
