"""Chapters on the robot as it was described: check-up, geometry, parameters."""

from __future__ import annotations

import warnings

import numpy as np

from armdyn.analysis.configurations import base_position, ranges
from armdyn.errors import ArmdynError
from armdyn.formats import ModelWarning
from armdyn.report.chapters.chapter import Chapter, Fact, File
from armdyn.report.chapters.subject import Subject
from armdyn.report.figures.robot_figures import robot_figure, two_views
from armdyn.report.pages import html
from armdyn.robot import Robot, describe
from armdyn.tables import Section
from armdyn.typing import Array

TRIALS, STEPS, ROUNDS = 4096, 73, 6
"""Random positions from which the reach is looked for, steps of a joint's range, and rounds over all joints."""
UNBROKEN = "\u00a0=\u00a0"
WRITTEN = {
    "robot.toml": "the robot in armdyn's own format, named parameters included",
    "robot.urdf": "the robot as URDF for simulators and other tools",
}


def checkup(subject: Subject) -> Chapter:
    """Whether the description is physically consistent, complete and plausible."""
    found = subject.robot.checkup()
    words = "The description was checked for physical consistency, completeness and plausibility."
    fact = Fact("check-up", found.summary, good=found.ok)
    blocks = [html.paragraph(words), html.findings(found)]
    if found.notes:
        own = "One note comes" if len(found.notes) == 1 else f"{len(found.notes)} notes come"
        blocks.append(html.paragraph(f"{own} from the robot's file; see Parameters."))
    return Chapter(blocks, [fact], numbers={"checkup": found.summary})


def geometry(subject: Subject) -> Chapter:
    """Pictures, joint table, tool positions at the configurations shown, reach."""
    robot = subject.robot
    views = [robot_figure(robot, {name: subject.shown[name]}) for name in two_views(robot, subject.shown)]
    caption = (
        "Cylinders: revolute joints. Boxes: prismatic joints. Red, green and blue: x, y and z axes of the tool frame."
    )
    sections = [section for section in describe.sections(robot) if _is_geometry(section)]
    count = f"{robot.n} ({describe.types(robot)})" if robot.n else "none"
    facts = [Fact("joints", count)]
    numbers: dict[str, object] = {"joints": robot.n}
    reach_note = ""
    if robot.n and not robot.loops:
        far, without = reach(subject), _without_limits(robot)
        facts.append(Fact("reach", f"{far:.3g} m", "from base to tool"))
        numbers["reach_m"] = far
        reach_note = f"Reach: the largest distance found between tool and base is {far:.4g} m."
        if without:
            reach_note += f" Joints without limits ({without}) turn freely, or slide by 0.2 m to either side."
    blocks = [html.panels(views, caption), *map(html.table, sections), html.table(subject.poses)]
    return Chapter([*blocks, html.paragraph(reach_note) if reach_note else ""], facts, numbers=numbers)


def _is_geometry(section: Section) -> bool:
    return section.title.startswith(("Geometry", "Loops"))


def _without_limits(robot: Robot) -> str:
    names = [joint.name for joint in robot.joints if joint.limits is None or joint.limits.lower is None]
    return "all" if len(names) == robot.n else ", ".join(names)


def reach(subject: Subject) -> float:
    """The largest distance of the tool from the base, m: the best of random positions, joint by joint improved."""
    robot, pose = subject.robot, subject.dyn.pose
    low, high = ranges(robot)

    def distances(q: Array) -> Array:
        return np.asarray(np.linalg.norm(pose(q)[:, :3, 3] - base_position(robot), axis=1))

    q = low + (high - low) * np.random.default_rng(0).random((TRIALS, robot.n))
    best = q[np.argmax(distances(q))]
    for _ in range(ROUNDS):
        for j in range(robot.n):
            tried = np.tile(best, (STEPS + 1, 1))
            tried[1:, j] = np.linspace(low[j], high[j], STEPS)
            best = tried[np.argmax(distances(tried))]
    return float(distances(best[None])[0])


def parameters(subject: Subject) -> Chapter:
    """Masses, inertias, limits and drives; the robot as files."""
    robot = subject.robot
    mass = sum(float(link.inertia.mass) for link in robot.links)
    sections = [section for section in describe.sections(robot) if not _is_geometry(section)]
    files, notes = _saved(subject)
    head = [(label, fact.replace(" = ", UNBROKEN)) for label, fact in describe.head(robot)]
    blocks = [html.definitions(head), *map(html.table, sections)]
    blocks.append(html.bullets("Notes on the robot", describe.notes(robot)))
    return Chapter(blocks, [Fact("moving mass", f"{mass:.4g} kg")], files, notes, {"moving_mass_kg": mass})


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
