"""The study of a robot: its chapters, written to a folder as one page with data beside it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armdyn import __version__
from armdyn.doctor import check
from armdyn.errors import ArmdynError, unknown_name
from armdyn.files import create_folder, require_free
from armdyn.motion.sampling import checked_motion
from armdyn.notebook_view import View
from armdyn.report.chapters.chapter import Fact, File, ReportChapter
from armdyn.report.chapters.contents import CHAPTERS
from armdyn.report.chapters.subject import Subject
from armdyn.report.pages import html
from armdyn.result import Result
from armdyn.robot.features import CLOSED, TREE, sentence, takes
from armdyn.robot.record_writer import record_from_robot
from armdyn.robot.robot import Robot
from armdyn.tables import Section
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Progress, quiet

PAGE = "report.html"
Maker = Callable[[Subject], ReportChapter]
ORDER = (
    "joints",
    "moving mass",
    "reach",
    "check-up",
    "agreement of formulations",
    "base parameters",
    "inverse dynamics",
    "one call",
)
"""Key facts in the order in which they are shown; all others follow."""


@dataclass(frozen=True)
class Study(Result):
    """The results of a study.

    robot: its name.
    report: the page.
    files: all files, the page first.
    facts: the key facts.
    numbers: the figures behind the facts, by name.
    findings: of the check-up.
    poses: tool positions at the configurations shown.
    notes: what was noticed while writing the files.
    missing: titles of chapters that do not apply to this robot, each with the reason.
    agrees: whether all formulations agree exactly; None if they were not compared.
    seconds, peak_megabytes: time taken, and the largest memory of the process if the system reports it.
    """

    robot: str
    report: Path
    files: tuple[Path, ...]
    facts: tuple[Fact, ...]
    numbers: Mapping[str, Any]
    findings: Section
    poses: Section
    notes: tuple[str, ...]
    missing: Mapping[str, str]
    agrees: bool | None
    seconds: float
    peak_megabytes: float | None

    def _view(self) -> View:
        told_of = {True: "all formulations agree exactly", False: "the formulations do NOT agree; see the report"}
        verdict = None if self.agrees is None else (told_of[self.agrees], self.agrees)
        facts = [(fact.label, f"{fact.text}   {fact.remark}".rstrip()) for fact in self.facts]
        names = ", ".join(path.relative_to(self.report.parent).as_posix() for path in self.files[1:])
        facts += [
            ("report", str(self.report)),
            ("also in this folder", names),
            ("done in", told(self.seconds, self.peak_megabytes)),
        ]
        reasons = dict.fromkeys(self.missing.values())
        left_out = [
            f"{', '.join(title for title in self.missing if self.missing[title] == why)}: {why}" for why in reasons
        ]
        sections = ([self.findings] if self.findings.rows else []) + [self.poses]
        return View(f"Study of {self.robot}", verdict, facts, (), sections, notes=[*left_out, *self.notes])

    def record(self) -> dict[str, Any]:
        """The results of the report, for programs: what study.json holds, and the files."""
        return {
            "robot": self.robot,
            "armdyn": __version__,
            "facts": {fact.label: fact.text for fact in self.facts},
            "numbers": dict(self.numbers),
            "missing": dict(self.missing),
            "seconds": round(self.seconds, 3),
            "peak_megabytes": self.peak_megabytes,
            "notes": list(self.notes),
            "files": [str(path) for path in self.files],
        }


@takes(*CLOSED, *TREE)
def study(
    robot: Robot,
    folder: str | Path,
    progress: Progress = quiet,
    chapters: Mapping[str, Maker] = CHAPTERS,
    motion: Trajectory | None = None,
    words: Sequence[str] = (),
) -> Study:
    """Study the robot and write report.html, with its data beside it, into the folder.

    progress: called with the step and the share done.
    chapters: functions of the subject by title, in order. A chapter that does not apply gives its reason in the
              report, and the study goes on.
    motion: that the chapters on torques, actuators and control are about (default: joints there and back, near the
            robot's limits).
    words: of the titles of the chapters to write, such as "actuators" (default: all).
    """
    chapters = _named(chapters, words)
    start, folder = time.perf_counter(), Path(folder)
    require_free([create_folder(folder) / PAGE])
    made: dict[str, ReportChapter] = {}

    def say(step: str) -> None:
        progress(step, len(made) / len(chapters))

    subject = Subject(robot, folder, say, motion)
    if motion is not None:
        checked_motion(subject.dyn, motion)
    missing: dict[str, str] = {}
    for title, make in chapters.items():
        say(title)
        made[title], reason = _attempted(make, subject)
        if reason:
            missing[title] = reason
    say("report")
    facts = _ordered([fact for chapter in made.values() for fact in chapter.facts])
    notes = [note for chapter in made.values() for note in chapter.notes]
    numbers = {name: x for chapter in made.values() for name, x in chapter.numbers.items()}
    seconds, peak = time.perf_counter() - start, peak_megabytes()
    files = [file for chapter in made.values() for file in chapter.files]
    files.append(_record(subject, facts, numbers, missing, seconds, peak))
    summary = ReportChapter(
        [
            html.cards((f.label, f.text, f.remark, f.good) for f in facts),
            _left_out(missing),
            html.bullets("Notes", notes),
        ]
    )
    whole = {"Summary": summary, **made, "Files": _listing(subject, files)}
    blocks = [html.chapter(k, title, chapter.blocks) for k, (title, chapter) in enumerate(whole.items(), 1)]
    footer = f"{sentence(robot)} Created in {told(seconds, peak)}."
    report = subject.text(
        PAGE,
        html.page(
            robot.name,
            robot.source,
            blocks,
            contents=list(whole),
            footer=footer,
            made=html.provenance(robot=_described(robot)),
        ),
        "this report",
    ).path
    return Study(
        robot=robot.name,
        report=report,
        files=(report, *(file.path for file in files)),
        facts=tuple(facts),
        numbers=numbers,
        findings=check(robot).section(),
        poses=subject.poses,
        notes=tuple(notes),
        missing=missing,
        agrees=numbers.get("agree"),
        seconds=seconds,
        peak_megabytes=peak,
    )


def _named(chapters: Mapping[str, Maker], words: Sequence[str]) -> Mapping[str, Maker]:
    """The chapters whose titles have one of the words; all, if there are none."""
    for word in words:
        if not any(word.lower() in title.lower() for title in chapters):
            raise unknown_name("chapter", word, chapters, where="study")
    wanted = [title for title in chapters if not words or any(word.lower() in title.lower() for word in words)]
    return {title: chapters[title] for title in wanted}


def _described(robot: Robot) -> str:
    """The text that a robot was read from, or what it would be written as."""
    if robot.file is not None:
        return robot.file.text
    return json.dumps(record_from_robot(robot), default=str, sort_keys=True)


def _attempted(make: Maker, subject: Subject) -> tuple[ReportChapter, str]:
    """The chapter, or one that gives the reason why it does not apply, and the reason."""
    try:
        return make(subject), ""
    except ArmdynError as error:
        reason = error.message
    except (ArithmeticError, np.linalg.LinAlgError) as error:  # numbers of this robot that no formula foresaw
        reason = f"the computation failed ({error})."
    return ReportChapter([html.missing(f"Does not apply to this robot: {reason}")]), reason


def _left_out(missing: Mapping[str, str]) -> str:
    if not missing:
        return ""
    return html.missing(f"Does not apply to this robot: {', '.join(missing)}. Each chapter gives the reason.")


def _ordered(facts: list[Fact]) -> list[Fact]:
    known = {label: k for k, label in enumerate(ORDER)}
    return sorted(facts, key=lambda fact: known.get(fact.label, len(ORDER)))


def _listing(subject: Subject, files: list[File]) -> ReportChapter:
    rows = []
    for file in files:
        address = file.path.relative_to(subject.folder).as_posix()
        rows.append((address, address, file.what))
    return ReportChapter([html.paragraph("Files beside this report:"), html.links(rows, ("file", "content"))])


def _record(
    subject: Subject,
    facts: list[Fact],
    numbers: Mapping[str, Any],
    missing: Mapping[str, str],
    seconds: float,
    peak: float | None,
) -> File:
    """study.json: the results of the report, for programs."""
    content = {
        "robot": subject.robot.name,
        "armdyn": __version__,
        "facts": {fact.label: fact.text for fact in facts},
        "numbers": dict(numbers),
        "missing": dict(missing),
        "seconds": round(seconds, 3),
        "peak_megabytes": peak,
    }
    return subject.text("study.json", json.dumps(content, indent=2) + "\n", "key figures of this report as JSON")


def peak_megabytes() -> float | None:
    """The peak memory of this process, MB; None where the system does not report it."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1))


def told(seconds: float, peak: float | None) -> str:
    """`12.3 s, 240 MB peak memory`."""
    return f"{seconds:.1f} s" + (f", {peak:.0f} MB peak memory" if peak is not None else "")
