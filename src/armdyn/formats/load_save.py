"""Robots from files and to files, whatever their format."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from armdyn import catalog
from armdyn.errors import FileError, ModelWarning, PhysicsError, unknown_name
from armdyn.files import write_text
from armdyn.formats.supplement import completed, has_supplement, inserted, removed, split
from armdyn.formats.text import MIMIC, NOT_READ, read_text
from armdyn.robot.edit import floated
from armdyn.robot.physical import invalid_findings
from armdyn.robot.robot import Robot

FORMATS = {
    ".toml": "toml",
    ".urdf": "urdf",
    ".xml": "mjcf",
    ".xacro": "xacro",
    ".par": "par",
    ".csv": "table",
    ".tsv": "table",
    ".xlsx": "table",
}
"""File extension -> module of this package."""


class Format(Protocol):
    """A module of this package."""

    def read(self, path: Path, free_root: bool | None = None) -> Robot: ...

    def write(self, robot: Robot, path: Path) -> None: ...


def load(
    robot: str | Path,
    *,
    tip: str | None = None,
    base: str | None = None,
    lock: Mapping[str, float] | None = None,
    strict: bool = False,
    free_root: bool | None = None,
    args: Mapping[str, Any] | None = None,
) -> Robot:
    """Load a robot by its catalog name ("scara5") or from a file (.toml, .csv or .xlsx, .urdf, .xacro, .xml for
    MJCF, .par for SYMORO).

    robot: catalog name or path.
    tip: body whose frame becomes the tool frame; only the chain to it is kept (of a robot with loops, all).
    base: body on which the robot stands (default: the root).
    lock: positions, rad or m, of joints that are held there and merged into their parents.
    strict: raise PhysicsError for an invalid inertia (default: warn).
    free_root: True puts the root on a free joint, False welds bodies that a URDF or MJCF file lets float to the
        world (default: as the file says).
    args: values of the arguments of a .xacro file, by name.
    """
    made = read(robot, free_root, args)
    if lock:
        made = made.locked(lock)
    if tip is not None or base is not None:
        made = made.chain(base=base, tip=tip)
    _report(made, strict)
    return made


def read(robot: str | Path, free_root: bool | None = None, args: Mapping[str, Any] | None = None) -> Robot:
    """Read the robot as its file describes it, without judging its physics; arguments as in `load`."""
    path = Path(robot)
    if path.suffix.lower() not in FORMATS and not path.is_file():  # a folder may have a robot's name: out/rx90
        if path.is_dir() and str(robot) not in catalog.names():
            raise FileError("a folder", where=str(path), expected="a robot file, or a name from `armdyn robots`")
        path = catalog.path(str(robot))
    if path.suffix.lower() == ".xacro":
        from armdyn.formats import xacro

        made = xacro.read(path, free_root, args)
    elif args:
        raise FileError("arguments for a file that takes none", where=str(path), expected="args= with a .xacro file")
    else:
        made = completed(_format(path).read(path, free_root))
    return made.edited(floated) if free_root else made


def save(robot: Robot, path: str | Path, *, supplement: bool = False) -> Path:
    """Write a robot to a file, in the format that its extension names, and return the path.

    supplement: write what URDF or MJCF has no place for into a comment that `load` reads back and other programs do
        not (default: only where the robot's own file has one; else it is refused)
    """
    path = Path(path)
    if path.suffix.lower() == ".xacro":
        raise FileError("a xacro file cannot be written", where=str(path), expected="a .urdf, .toml or .xml file")
    written, name = _format(path), FORMATS[path.suffix.lower()]
    own = has_supplement(robot)
    if name == "toml" or not (supplement or (own and robot.file is not None and robot.file.format == name)):
        written.write(robot, path)
        return path
    held, comment = split(robot, name)
    if own and held.file is not None:
        held = replace(held, file=replace(held.file, text=removed(held.file.text)))
    written.write(held, path)
    write_text(path, inserted(read_text(path), comment))
    return path


def changes(robot: Robot, path: str | Path) -> str:
    """What a saved file changes in the file that the robot was read from: a unified diff; empty for another format."""
    path = Path(path)
    if robot.file is None or FORMATS.get(path.suffix.lower()) != robot.file.format:
        return ""
    from armdyn.formats.patch import difference

    return difference(robot.file.text, read_text(path), Path(robot.file.path).name)


def _format(path: Path) -> Format:
    ending = path.suffix.lower()
    if ending not in FORMATS:
        raise unknown_name("file format", ending, FORMATS, where=str(path))
    return cast(Format, import_module(f"armdyn.formats.{FORMATS[ending]}"))


MOST_WARNINGS = 4
"""Warnings that the one line of a robot spells out."""


def _report(robot: Robot, strict: bool) -> None:
    """Warn, in one line, of invalid inertias and of what the reader could not represent; invalid is an error under
    `strict`.
    """
    texts = []
    for finding in invalid_findings(robot):
        if strict:
            raise PhysicsError(
                finding.what,
                where=f"robot {robot.name!r}, {finding.where}",
                expected=finding.condition,
                advice=finding.advice,
            )
        texts.append(f", {finding.where}: {finding.what} ({finding.condition}). {finding.advice}")
    for where, notes in (("", robot.notes), *((f", joint {joint.name!r}", joint.notes) for joint in robot.movable)):
        texts += [f"{where}: {note}" for note in notes if note.startswith((MIMIC, NOT_READ))]
    if texts:
        more = f"; and {len(texts) - MOST_WARNINGS} more" if len(texts) > MOST_WARNINGS else ""
        more += ". All of it: armdyn check" if len(texts) > 1 else ""
        words = "; ".join(text.removeprefix(": ").removeprefix(", ") for text in texts[1:MOST_WARNINGS])
        first = f"robot {robot.name!r}{texts[0]}"
        warnings.warn(f"{'; '.join(filter(None, (first, words)))}{more}.", ModelWarning, stacklevel=3)
