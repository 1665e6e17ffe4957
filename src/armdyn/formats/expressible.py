"""What the formats of robot files can express: what changes the torques and has no place in a format is refused.

The features of robots pass the gate of all functions (`armdyn.robot.features`). Beside them are the parts of `PARTS`,
which have no name of their own in the table of features because every function takes them into account. What does not
change the torques (limits that a format lacks, the order of branches, the gravity that readers of URDF choose) is named
in a warning by the writers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence

from armdyn.algebra import ZERO, CentralInertia, Inertia, ops
from armdyn.errors import FeatureError, ModelWarning, NotApplicable
from armdyn.robot.features import CLOSED, FEATURES, FREE, SUPPORT, declare, listed, require
from armdyn.robot.parts import Joint
from armdyn.robot.robot import Robot

declare("formats.toml", FEATURES)
declare("formats.par", ("elastic", "dry_friction", "payload"))
declare("formats.urdf", ("mimic", "dry_friction", "payload", *FREE))
declare("formats.mjcf", (*CLOSED, "springs", "gravity_compensation", "dry_friction", "payload", *FREE))
NAMES = {"toml": "TOML", "urdf": "URDF", "mjcf": "MJCF", "par": "SYMORO"}


def _rotor(joint: Joint) -> bool:
    return joint.rotor is not None and not (ops.is_zero(joint.rotor.inertia) or joint.rotor.inertia == 0)


def _offset(joint: Joint) -> bool:
    return joint.friction is not None and joint.friction.offset != 0


def _motor_friction(joint: Joint) -> bool:
    return joint.motor is not None and (joint.motor.viscous != 0 or joint.motor.coulomb != 0)


PARTS: dict[str, tuple[str, Callable[[Joint], bool], tuple[str, ...]]] = {
    "rotors": ("inertias of rotors", _rotor, ("toml", "mjcf", "par")),
    "offsets": ("torque offsets", _offset, ("toml",)),
    "motors": ("friction of motors", _motor_friction, ("toml",)),
}
"""Name for `without` -> words, which joints have it, formats that express it."""


def require_expressible(robot: Robot, name: str, kept: Robot | None = None) -> None:
    """Raise FeatureError if a format has no place for something that changes the torques.

    name: "toml", "par", "urdf" or "mjcf"; its declaration is that of "formats.NAME".
    kept: what the file gives back, where it is a file that exists with some values changed (default: nothing more than
        the format can express).
    """
    what = f"formats.{name}"
    same = () if kept is None else (each for each, where in kept.features.items() if robot.features.get(each) == where)
    require(robot, what, SUPPORT[what] | frozenset(same))
    for part, (words, has, formats) in PARTS.items():
        joints = [joint.name for joint in robot.movable if has(joint)]
        given_back = kept is not None and [joint.rotor for joint in kept.movable] == [j.rotor for j in robot.movable]
        if joints and name not in formats and not (part == "rotors" and given_back):
            raise FeatureError(
                f"{what} does not take into account: {words} ({listed(joints)})",
                where=f"robot {robot.name!r}",
                advice=f"It is taken into account by: {', '.join(f'formats.{each}' for each in formats)}. "
                f'To leave it out on purpose: robot.without("{part}"), or ROBOT,without={part} on the command line.',
                feature=part,
                joints=tuple(joints),
            )
    bare = [joint.body.name for joint in robot.tree if _massless_moment(joint.body.inertia)]
    if bare and name not in ("toml", "par"):
        raise NotApplicable(
            f"bodies without mass that have first moments of mass ({listed(bare)})",
            where=f"robot {robot.name!r}, {NAMES[name]}",
            expected="a mass and a centre of mass: the format has no first moments",
            advice="Save a .toml file, or identify without --estimate free, which gives bodies that can exist.",
        )


def _massless_moment(inertia: CentralInertia | Inertia) -> bool:
    return isinstance(inertia, Inertia) and inertia.mass == 0 and inertia.moment != ZERO


def warn_of_loss(robot: Robot, name: str, lost: Sequence[str]) -> None:
    """Name what does not change the torques and has no place in a format."""
    if lost:
        message = (
            f"robot {robot.name!r}: {NAMES[name]} cannot express, so the file does not contain: {'; '.join(lost)}."
        )
        warnings.warn(message, ModelWarning, stacklevel=4)


def patched_or_new(
    robot: Robot,
    name: str,
    patch: Callable[[], str],
    dumps: Callable[[Robot], str],
    loads: Callable[[str], Robot],
    lost: Callable[[Robot], Iterable[str]],
) -> str:
    """The text that `patch` makes of the robot's file; a new one, with a warning, where that raises NotApplicable.

    lost: what does not change the torques and has no place in the format; only what the file does not keep is named.
    """
    try:
        text = patch()
    except NotApplicable as error:
        message = f"robot {robot.name!r}: {error.what}. The file is written anew, without shapes and actuators."
        warnings.warn(message, ModelWarning, stacklevel=5)
        return dumps(robot)
    again = loads(text)
    require_expressible(robot, name, again)
    known = list(lost(again))
    warn_of_loss(robot, name, [part for part in lost(robot) if part not in known])
    return text


__all__ = ["patched_or_new", "require_expressible", "warn_of_loss"]
