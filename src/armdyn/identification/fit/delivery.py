"""What is handed over: an identified robot in a file format, read back from its file and judged by the log.

A format has no place for everything that was identified. What it can hold is fitted again, all of it together, from the
same rows: a robot with terms dropped predicts far worse than the best one that the format holds.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from armdyn.doctor import check
from armdyn.errors import ArmdynError, FeatureError, ModelWarning
from armdyn.findings import Checkup
from armdyn.formats import load, save
from armdyn.formats.expressible import require_expressible
from armdyn.formats.load_save import FORMATS
from armdyn.identification.fit.posterior import Problem
from armdyn.identification.fit.rows import TorqueRows
from armdyn.identification.fit.torque_model import TorqueModel
from armdyn.identification.fit.validation import Errors, Judged
from armdyn.identification.log.samples import Samples
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot import Robot

FAMILY_OF = {"rotors": "rotor", "offsets": "offset", "motors": "motor"}
"""Part of a robot that a format may lack -> family of its parameters."""
SAME = 1e-6
"""Relative difference of errors up to which a file that was read back is the robot that was written: formats round
their numbers to some digits fewer."""


@dataclass(frozen=True, eq=False)
class Delivery(Result):
    """A robot as a file of some format gives it back.

    suffix: of the format, as in ".urdf"
    robot: that was written
    left_out: what the format has no place for
    read: what the file gives back; None: a file of more joints than were identified
    errors: of `read` on the judged log (of `robot`, if there is none)
    checkup: of `read`
    held_out: the judged log was not used for estimation
    path: of the file; None: it was written to try it only
    """

    suffix: str
    robot: Robot
    left_out: tuple[str, ...]
    read: Robot | None
    errors: Errors
    checkup: Checkup
    held_out: bool
    path: Path | None = None

    @property
    def fine(self) -> bool:
        """Whether the check-up of what was read finds nothing invalid."""
        return not any(finding.invalid for finding in self.checkup.findings)

    def _view(self) -> View:
        data = "held-out data" if self.held_out else "the data used for estimation"
        facts = [
            (
                "read back",
                "other joints than were identified: not compared"
                if self.read is None
                else f"torque error {100 * self.errors.mean:.3g} % on {data} (geometric mean of the joints)",
            )
        ]
        if self.left_out:
            facts.append(("no place for", f"{', '.join(self.left_out)}; fitted again without them"))
            if self.path is not None:
                facts.append(("complete", str(self.path.with_suffix(".toml"))))
        facts.append(("check-up", self.checkup.summary))
        words = "no invalid values" if self.fine else "invalid values"
        return View(f"Written {self.path or self.suffix}", (words, self.fine), facts)

    def record(self) -> dict[str, Any]:
        """Errors by joint in motion and at rest (None: no such rows), what was left out, findings of the check-up."""
        errors = {
            name: [float(x) if np.isfinite(x) else None for x in getattr(self.errors, name)]
            for name in ("moving", "rest", "resting")
        }
        return errors | {
            "error": self.errors.mean,
            "held_out": self.held_out,
            "left_out": list(self.left_out),
            "checkup": [finding.record() for finding in self.checkup.findings],
        }


def inexpressible(robot: Robot, suffix: str) -> tuple[str, ...]:
    """What a format has no place for, by the names that `Robot.without` takes.

    Raises FeatureError for a robot that has no place in it at all, such as a closed chain in URDF.
    """
    left_out: list[str] = []
    while True:
        try:
            require_expressible(robot.without(*left_out), FORMATS[suffix])
        except FeatureError as error:
            if not error.feature or robot.without(*left_out, error.feature).n != robot.n:  # loops are no detail
                raise
            left_out.append(error.feature)
            continue
        return tuple(left_out)


def refitted(
    robot: Robot, include: tuple[str, ...], left_out: tuple[str, ...], samples: Callable[[Robot], Samples]
) -> Robot:
    """The best robot that a format without some parts can hold, all its parameters fitted together.

    robot: before identification
    include: families of parameters to identify
    left_out: parts that the format lacks
    samples: of a robot, the log without the torques of what is not identified
    """
    bare = robot.without(*left_out)
    families = tuple(family for family in include if family not in {FAMILY_OF.get(part) for part in left_out})
    return TorqueModel(Problem.simple(TorqueRows.of(bare, families, samples(bare)), plain=True, robust=False)).robot


def delivered(
    robot: Robot, suffix: str, left_out: tuple[str, ...], judged: Judged, path: Path | None = None
) -> Delivery:
    """Write a robot, read it back and judge what was read.

    path: of the file (default: a temporary one)
    """
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # invalid bodies are findings of the check-up
        read = _read_back(save(robot, Path(folder) / f"robot{suffix}" if path is None else path), robot)
    torques = judged.torques(robot)
    errors = judged.errors(torques if read is None else judged.torques(read))
    expected = judged.errors(torques)
    if abs(errors.mean - expected.mean) > SAME * expected.mean:
        raise ArmdynError(
            f"the file gives back a robot whose torques are off by {errors.mean:.3%} instead of {expected.mean:.3%}",
            where=str(path or suffix),
            expected="the robot that was written",
            advice="Please report this, with the robot's file.",
        )
    return Delivery(suffix, robot, left_out, read, errors, check(read or robot), judged.held_out, path)


def _read_back(path: Path, written: Robot) -> Robot | None:
    """The robot of a file; None if the file has other joints, as that of a robot that was loaded with `tip` or `lock`.

    URDF has no gravity: that of the robot that was written is taken.
    """
    found = load(path)
    if [joint.name for joint in found.joints] != [joint.name for joint in written.joints]:
        return None
    return replace(found, gravity=written.gravity, expressions=None) if path.suffix == ".urdf" else found


__all__ = ["Delivery", "delivered", "inexpressible", "refitted"]
