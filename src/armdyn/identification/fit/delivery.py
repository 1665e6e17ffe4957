"""What is handed over: an identified robot in a file format, read back from its file and judged by the log.

A format has no place for everything that was identified. What it lacks is written into a comment of the file
(`formats.supplement`), and all parameters are fitted again, together, to explain the torques twice: with the comment,
as armdyn reads the file, and without it, as other programs do; each by its own noise. A robot with terms dropped would
predict far worse there.
"""

from __future__ import annotations

import warnings
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
from armdyn.formats.supplement import split
from armdyn.identification.fit.rows import TorqueRows
from armdyn.identification.fit.torque_model import TorqueModel
from armdyn.identification.fit.validation import Errors, Judged
from armdyn.identification.log.samples import Samples
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot import Robot
from armdyn.robot.parts import Friction, Joint

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
    left_out: what the format has no place for; it is in a comment of the file that `load` reads and others do not
    read: what the file gives back; None: a file of more joints than were identified
    errors: of `read` on the judged log (of `robot`, if there is none)
    alone: of the file as other programs read it, without what the format has no place for; None: it has all of it
    checkup: of `read`
    held_out: the judged log was not used for estimation
    path: of the file; None: it was written to try it only
    """

    suffix: str
    robot: Robot
    left_out: tuple[str, ...]
    read: Robot | None
    errors: Errors
    alone: Errors | None
    checkup: Checkup
    held_out: bool
    path: Path | None = None

    @property
    def fine(self) -> bool:
        """Whether the check-up of what was read finds nothing invalid."""
        return not any(finding.invalid for finding in self.checkup.findings)

    @property
    def lacking(self) -> str:
        """What the format has no place for, in words."""
        return ", ".join("friction terms" if part == "friction_law" else part for part in self.left_out)

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
        if self.alone is not None:
            words = f"{100 * self.alone.mean:.3g} %: they do not read the comment with {self.lacking}"
            facts.append(("in other programs", words))
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
            "error_in_other_programs": self.errors.mean if self.alone is None else self.alone.mean,
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
            require_expressible(robot, FORMATS[suffix])
        except FeatureError as error:
            parts = (error.feature, "rotors") if error.feature == "coupling" else (error.feature,)  # those of motors
            if not error.feature or error.feature in left_out or robot.without(*parts).n != robot.n:
                raise  # loops are no detail
            robot = _with_dry_friction(robot) if error.feature == "friction_law" else robot.without(*parts)
            left_out += parts
            continue
        return tuple(left_out)


def _with_dry_friction(robot: Robot) -> Robot:
    """The robot with viscous and Coulomb friction and offsets alone."""

    def dry(joint: Joint) -> Joint:
        law, motor = joint.friction, joint.motor
        friction = law and Friction(law.viscous, law.coulomb, offset=law.offset)
        return replace(joint, friction=friction, motor=motor and replace(motor, width=0, values={}))

    return replace(robot, tree=tuple(map(dry, robot.tree)), expressions=None)


def fitted_for(model: TorqueModel, bare: Robot, left_out: tuple[str, ...], samples: Samples) -> Robot:
    """The robot that explains the torques best, both with what a format lacks and, as far as it can, without it.

    model: the fit
    bare: the robot before it, without what the format lacks, `left_out`
    samples: the log without the torques of what is not identified
    """
    lacking = {FAMILY_OF.get(part) for part in left_out}
    families = tuple(family for family in model.rows.include if family not in lacking)
    held = TorqueRows.of(bare, families, samples)
    return TorqueModel(replace(model.problem, held=held)).robot


def delivered(
    robot: Robot, suffix: str, left_out: tuple[str, ...], judged: Judged, path: Path | None = None
) -> Delivery:
    """Write a robot, read it back and judge what was read.

    path: of the file (default: a temporary one)
    """
    name, alone = FORMATS[suffix], None
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # invalid bodies are findings of the check-up
        read = _read_back(save(robot, path or Path(folder) / f"robot{suffix}", supplement=bool(left_out)), robot)
    errors = expected = judged.errors(judged.torques(robot))
    if read is not None:
        errors = judged.errors(judged.torques(read))
    if left_out:
        alone = judged.errors(judged.torques(replace(split(robot, name)[0], gravity=robot.gravity)))
    if abs(errors.mean - expected.mean) > SAME * expected.mean:
        raise ArmdynError(
            f"the file gives back a robot whose torques are off by {errors.mean:.3%} instead of {expected.mean:.3%}",
            where=str(path or suffix),
            expected="the robot that was written",
            advice="Please report this, with the robot's file.",
        )
    return Delivery(suffix, robot, left_out, read, errors, alone, check(read or robot), judged.held_out, path)


def _read_back(path: Path, written: Robot) -> Robot | None:
    """The robot of a file; None if the file has other joints, as that of a robot that was loaded with `tip` or `lock`.

    URDF has no gravity: that of the robot that was written is taken.
    """
    found = load(path)
    if [joint.name for joint in found.joints] != [joint.name for joint in written.joints]:
        return None
    return replace(found, gravity=written.gravity, expressions=None) if path.suffix == ".urdf" else found


__all__ = ["Delivery", "delivered", "fitted_for", "inexpressible"]
