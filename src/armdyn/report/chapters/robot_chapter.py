"""Chapters on the robot as it was described: check-up, geometry, parameters."""

from __future__ import annotations

import warnings

import numpy as np

from armdyn.doctor import check
from armdyn.errors import ArmdynError
from armdyn.formats import ModelWarning
from armdyn.kinematics.reach import reach
from armdyn.report.chapters.chapter import Fact, File, ReportChapter
from armdyn.report.chapters.subject import Subject
from armdyn.report.figures.robot_figures import robot_figure
from armdyn.report.pages import html
from armdyn.robot import Robot, describe
from armdyn.robot.limits import half_span, joint_names, position_limits
from armdyn.tables import Section

UNBROKEN = "\u00a0=\u00a0"
WRITTEN = {
    "robot.toml": "the robot in armdyn's own format, named parameters included",
    "robot.urdf": "the robot as URDF for simulators and other tools",
}


def checkup(subject: Subject) -> ReportChapter:
    """Whether the description is physically consistent, complete and plausible."""
    found = check(subject.robot)
    words = "The description was checked for physical consistency, completeness and plausibility."
    fact = Fact("check-up", found.summary, good=found.fine)
    blocks = [html.paragraph(words), html.findings(found)]
    if found.notes:
        own = "One note comes" if len(found.notes) == 1 else f"{len(found.notes)} notes come"
        blocks.append(html.paragraph(f"{own} from the robot's file; see Parameters."))
    return ReportChapter(blocks, [fact], numbers={"checkup": found.summary})


def geometry(subject: Subject) -> ReportChapter:
    """Pictures, joint table, tool positions at the configurations shown, reach."""
    robot = subject.robot
    views = [robot_figure(robot, {name: subject.shown[name]}) for name in subject.views]
    caption = (
        "Cylinders: revolute joints. Boxes: prismatic joints. Red, green and blue: x, y and z axes of the tool frame."
    )
    sections = [section for section in describe.sections(robot) if _is_geometry(section)]
    count = f"{robot.n} ({describe.types(robot)})" if robot.n else "none"
    facts = [Fact("joints", count)]
    numbers: dict[str, object] = {"joints": robot.n}
    reach_note = ""
    if robot.n:
        far = reach(robot)
        facts.append(Fact("reach", f"{far:.3g} m", "from base to tool"))
        numbers["reach_m"] = far
        reach_note = f"Reach: the largest distance between tool and base is {far:.4g} m."
        reach_note += _free_joints(robot)
    blocks = [html.panels(views, caption), *map(html.table, sections), html.table(subject.poses)]
    return ReportChapter([*blocks, html.paragraph(reach_note) if reach_note else ""], facts, numbers=numbers)


def _is_geometry(section: Section) -> bool:
    return section.title.startswith(("Geometry", "Loops"))


def _free_joints(robot: Robot) -> str:
    """Say over which ranges joints without limits were taken to move; nothing if there is none."""
    low, high = position_limits(robot)
    free = np.flatnonzero(np.isinf(low) | np.isinf(high))
    if not free.size:
        return ""
    names, spans = joint_names(robot), half_span(robot)
    named = "all" if free.size == robot.n else ", ".join(names[j] for j in free)
    slides = [spans[j] for j in free if robot.joints[j].kind == "prismatic"]
    slide = f", or slide by {slides[0]:.3g} m to either side" if slides else ""
    return f" Joints without limits ({named}) turn freely{slide}."


def parameters(subject: Subject) -> ReportChapter:
    """Masses, inertias, limits and drives; the robot as files."""
    robot = subject.robot
    mass = sum(float(link.inertia.mass) for link in robot.opened.links)
    sections = [section for section in describe.sections(robot) if not _is_geometry(section)]
    files, notes = _saved(subject)
    head = [(label, fact.replace(" = ", UNBROKEN)) for label, fact in describe.head(robot)]
    blocks = [html.definitions(head), *map(html.table, sections)]
    blocks.append(html.bullets("Notes from the robot's file", describe.notes(robot)))
    return ReportChapter(blocks, [Fact("moving mass", f"{mass:.4g} kg")], files, notes, {"moving_mass_kg": mass})


def _saved(subject: Subject) -> tuple[list[File], list[str]]:
    files, notes = [], []
    robot = subject.robot
    for name, what in WRITTEN.items():
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", ModelWarning)
            try:
                files.append(File(robot.save(subject.folder / name), what))
            except ArmdynError as error:
                notes.append(f"{name} was not written: {error}")
        notes += [f"{name}: {str(warning.message).removeprefix(f'robot {robot.name!r}: ')}" for warning in said]
    return files, notes
