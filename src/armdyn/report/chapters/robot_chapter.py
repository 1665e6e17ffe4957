"""Chapters about the robot as it was described: check-up, geometry, parameters."""

from __future__ import annotations

import warnings

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.formats import ModelWarning
from armdyn.report.chapters.chapter import Chapter, Fact, File, Subject
from armdyn.report.chapters.configurations import base_position, pose_table, ranges
from armdyn.report.figures.robot_figures import robot_figure, two_views
from armdyn.report.pages import html
from armdyn.robot import describe
from armdyn.tables import Section
from armdyn.typing import Array

TRIALS, STEPS, ROUNDS = 4096, 73, 6
"""Random positions from which the reach is looked for, steps of a joint's range, and rounds over all joints."""
UNBROKEN = "\u00a0=\u00a0"
WRITTEN = {
    "robot.toml": "the robot in armdyn's own format, with its named parameters",
    "robot.urdf": "the robot for simulators and other tools",
}


def checkup(subject: Subject) -> Chapter:
    """What is invalid, suspicious or worth knowing about the description."""
    found = subject.robot.checkup()
    words = "Is the description physically consistent, complete and plausible? Each finding names its place."
    fact = Fact("check-up", found.summary, good=found.ok)
    blocks = [html.paragraph(words), html.findings(found)]
    if found.notes:
        own = "One note is" if len(found.notes) == 1 else f"{len(found.notes)} notes are"
        blocks.append(html.paragraph(f"{own} the description's own: see Parameters."))
    return Chapter(blocks, [fact], numbers={"checkup": found.summary})


def geometry(subject: Subject) -> Chapter:
    """Pictures, joint table, where the tool is at the configurations shown, how far it reaches."""
    robot = subject.robot
    views = [robot_figure(robot, {name: subject.shown[name]}) for name in two_views(robot, subject.shown)]
    caption = "Cylinders: revolute joints; boxes: prismatic joints; red, green and blue: x, y and z of the tool."
    sections = [section for section in describe.sections(robot) if _is_geometry(section)]
    count = f"{robot.n} ({describe.types(robot)})" if robot.n else "none"
    facts = [Fact("joints", count)]
    numbers: dict[str, object] = {"joints": robot.n}
    reach_note = ""
    if robot.n and not robot.loops:
        far, without = reach(subject), _without_limits(robot)
        facts.append(Fact("reach", f"{far:.3g} m", "tool from base"))
        numbers["reach_m"] = far
        reach_note = f"The largest distance of the tool from the base that was found is {far:.4g} m."
        if without:
            reach_note += f" Joints without limits ({without}) turn freely, or slide by 0.2 m to either side."
    blocks = [html.panels(views, caption), *map(html.table, sections), html.table(pose_table(robot, subject.shown))]
    return Chapter([*blocks, html.paragraph(reach_note) if reach_note else ""], facts, numbers=numbers)


def _is_geometry(section: Section) -> bool:
    return section.title.startswith(("Geometry", "Loops"))


def _without_limits(robot: object) -> str:
    names = [j.name for j in robot.joints if j.limits is None or j.limits.lower is None]  # type: ignore[attr-defined]
    return "all" if len(names) == robot.n else ", ".join(names)  # type: ignore[attr-defined]


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
    """Masses, inertias, limits, drives; and the robot as files."""
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
                notes.append(f"{name} could not be written: {error}")
        notes += [f"{name}: {str(warning.message).removeprefix(f'robot {robot.name!r}: ')}" for warning in said]
    return files, notes
