"""Files <-> Robot. One module per format, each with `read(path)` and `write(robot, path)`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from armdyn import catalog
from armdyn.errors import FileError, PhysicsError, unknown_name
from armdyn.robot.robot import Robot

FORMATS = {".toml": "toml", ".urdf": "urdf", ".xml": "mjcf"}
"""File name ending -> module of this package."""
MIMIC = "mimics "
"""How a reader's note on a joint begins that should follow another one and is read as independent."""
NOT_TAKEN = "not taken over: "
"""How a reader's note begins on something that the file says and a Robot cannot."""


class ModelWarning(UserWarning):
    """A description that is usable but physically impossible, or not taken over whole by a reader or writer."""


def load(
    robot: str | Path,
    *,
    tip: str | None = None,
    base: str | None = None,
    lock: Mapping[str, float] | None = None,
    strict: bool = False,
) -> Robot:
    """A robot by catalog name ("scara5") or from a file (.toml, .urdf, .xml for MJCF).

    tip: body whose frame becomes the tool frame. base: body on which the robot stands (with `tip`: only the chain
    between them). lock: joints held at a position and merged. An impossible inertia is reported as a warning;
    with `strict` it is an error.
    """
    made = read(robot)
    if lock:
        made = made.locked(lock)
    if tip is not None or base is not None:
        made = made.chain(base=base, tip=tip)
    _report(made, strict)
    return made


def read(robot: str | Path) -> Robot:
    """The robot as its file describes it, without any judgement of its physics."""
    path = Path(robot)
    if path.suffix.lower() not in FORMATS and not path.is_file():  # a folder may be called as a robot is: out/rx90
        return _format(catalog.path(str(robot))).read(catalog.path(str(robot)))  # type: ignore[no-any-return]
    return _format(path).read(path)  # type: ignore[no-any-return]


def save(robot: Robot, path: str | Path) -> Path:
    """Write a robot; the ending of the name decides the format."""
    path = Path(path)
    try:
        _format(path).write(robot, path)
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror}", where=str(path)) from None
    return path


def _format(path: Path) -> Any:
    ending = path.suffix.lower()
    if ending not in FORMATS:
        raise unknown_name("file format", ending, FORMATS, where=str(path))
    return import_module(f"armdyn.formats.{FORMATS[ending]}")


def _report(robot: Robot, strict: bool) -> None:
    """Say what is impossible in the robot's inertias, and what a reader could not take over: never a silent error."""
    for where, notes in (("", robot.notes), *((f", joint {joint.name!r}", joint.notes) for joint in robot.joints)):
        for note in (note for note in notes if note.startswith((MIMIC, NOT_TAKEN))):
            warnings.warn(f"robot {robot.name!r}{where}: {note}.", ModelWarning, stacklevel=3)
    impossible = [finding for finding in robot.checkup().findings if finding.invalid]
    for finding in impossible:
        if strict:
            raise PhysicsError(finding.what, where=f"robot {robot.name!r}, {finding.where}", expected=finding.condition,
                               advice=finding.advice)  # fmt: skip
        warnings.warn(f"robot {robot.name!r}, {finding.where}: {finding.what} ({finding.condition}). {finding.advice}",
                      ModelWarning, stacklevel=3)  # fmt: skip
