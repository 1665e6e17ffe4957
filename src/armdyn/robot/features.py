"""Features of robots that not every function takes into account, and the gate that compares the two.

A robot has features (`robot.features`). A function declares those that it takes into account, or on which its result
does not depend, where it is defined: with `@takes(...)`, or in the row of a table. `require` refuses the rest with a
FeatureError, so that nothing is left out in silence; what is not declared is not taken into account. `features.txt`
beside this module is the table of all declarations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from weakref import finalize

import numpy as np

from armdyn.algebra import ops
from armdyn.errors import ArmdynError, FeatureError
from armdyn.robot.parts import Joint

if TYPE_CHECKING:
    from armdyn.robot.robot import Robot

Declared = TypeVar("Declared", bound=Callable[..., Any])
ASYMMETRIC = ("asymmetric", "asymmetric_smooth")
"""Laws of friction with coefficients of their own in each direction."""
ROUNDED = "rounded"
"""The law of friction with several widths, presliding and load."""
MOST_NAMES, MOST_FUNCTIONS = 8, 12
"""Joints and functions listed in a message at most."""
MODELS = {
    "Robot": ("a Robot", "armdyn.load({})"),
    "Dynamics": ("a Dynamics", "armdyn.compile(armdyn.load({}))"),
    "Robot | Dynamics": ("a Robot or its Dynamics", "armdyn.load({})"),
}
"""Annotations of arguments that must be models: what is expected, and how to get one by name or file."""


# What a robot can have ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Feature:
    """A feature: its name, a few words on what it is, and the joints (or bodies, or loops) of a robot that have it."""

    name: str
    words: str
    found: Callable[[Robot], Iterable[str]]


def _joints(has: Callable[[Joint], bool]) -> Callable[[Robot], Iterable[str]]:
    return lambda robot: (joint.name for joint in robot.tree if joint.kind != "fixed" and has(joint))


def has_dry_friction(joint: Joint) -> bool:
    """Whether friction, of the joint or of its motor, does not vanish with the velocity."""
    parts = [part for part in (joint.friction, joint.motor) if part is not None]
    dry = [part.coulomb for part in parts] + [x for part in parts for key, x in part.values.items() if is_dry(key)]
    return has_static_friction(joint) or not all(map(ops.is_zero, dry))


def is_dry(key: str) -> bool:
    """Whether a further number of friction is a coefficient of dry friction."""
    return key.startswith(("coulomb_", "presliding_")) or key == "load"


def has_static_friction(joint: Joint) -> bool:
    """Whether friction at rest exceeds Coulomb friction."""
    return joint.friction is not None and not ops.is_zero(joint.friction.static)


def has_asymmetric_friction(joint: Joint) -> bool:
    """Whether friction has coefficients of its own in each direction."""
    return joint.friction is not None and joint.friction.law in ASYMMETRIC


def has_friction_law(joint: Joint) -> bool:
    """Whether the joint names a law of friction other than those of Khalil (7.26)."""
    return (
        joint.friction is not None
        and joint.friction.law
        not in (
            None,
            "viscous",
            "coulomb",
            "stribeck",
            *ASYMMETRIC,
        )
    ) or (joint.motor is not None and not ops.is_zero(joint.motor.width))


def has_load_friction(joint: Joint) -> bool:
    """Whether friction grows with the torque that the joint carries."""
    law = joint.friction
    return law is not None and law.law == ROUNDED and not ops.is_zero(law.values.get("load", 0))


def has_presliding(joint: Joint) -> bool:
    """Whether a part of friction, of the joint or of its motor, builds up over a distance."""
    parts = [joint.friction] if joint.friction is not None and joint.friction.law == ROUNDED else []
    values = [part.values for part in (*parts, joint.motor) if part is not None]
    return any(key.startswith("presliding_") and not ops.is_zero(x) for each in values for key, x in each.items())


FEATURES = {
    feature.name: feature
    for feature in (
        Feature("loops", "kinematic loops", lambda robot: (loop.name for loop in robot.loops)),
        Feature("mimic", "joints that mimic others", _joints(lambda joint: joint.mimic is not None)),
        Feature("elastic", "elastic transmissions", _joints(lambda joint: joint.elastic is not None)),
        Feature("coupling", "motors that drive several joints", lambda robot: _coupled(robot)),
        Feature("rotors_on_links", "rotors that spin on moving links", lambda robot: _rotors_on_links(robot)),
        Feature("springs", "springs across joints", _joints(lambda joint: joint.spring is not None)),
        Feature(
            "gravity_compensation",
            "bodies with gravity compensation",
            lambda robot: (j.body.name for j in robot.tree if not ops.is_zero(j.body.gravity_compensation)),
        ),
        Feature("dry_friction", "Coulomb friction", _joints(has_dry_friction)),
        Feature("static_friction", "static friction with a Stribeck curve", _joints(has_static_friction)),
        Feature("asymmetric_friction", "friction that differs with the direction", _joints(has_asymmetric_friction)),
        Feature("friction_law", "friction by a law of another name", _joints(has_friction_law)),
        Feature("load_friction", "friction that grows with the load", _joints(has_load_friction)),
        Feature("presliding", "presliding friction, which depends on the motion before", _joints(has_presliding)),
        Feature("payload", "a payload", lambda robot: (j.name for j in robot.tree if j.body.name in robot.payloads)),
        Feature(
            "free_joints",
            "free and ball joints",
            lambda robot: dict.fromkeys(j.compound.name for j in robot.tree if j.compound),
        ),
    )
}
"""All features, by name."""
PASSIVE = ("springs", "gravity_compensation")
"""Torques of the position beside gravity."""
TRIGONOMETRIC = (
    "coupling",
    "rotors_on_links",
    "dry_friction",
    "static_friction",
    "asymmetric_friction",
    "friction_law",
    "payload",
)
"""What leaves the torques of rigid bodies polynomials in sines and cosines; friction is apart."""
TREE = (*TRIGONOMETRIC, *PASSIVE)
"""What is an ordinary part of the mechanics of a rigid tree."""
LOSSY = (*TREE, "load_friction", "presliding")
"""The same with friction that grows with the load, and with friction that has a state: torques at an instant are those
of steady sliding, in which presliding vanishes; along a motion they follow its state (`dynamics.presliding`)."""
FRICTIONLESS = LOSSY
"""What does not depend on friction takes every kind of it."""
BODIES = tuple(name for name in TREE if name != "rotors_on_links")
"""The same without rotors that turn with links: what has the velocity terms of the bodies alone."""
FREE = ("free_joints",)
"""Joints of several degrees of freedom, with positions that are not coordinates."""
CLOSED = ("loops", "mimic")
"""What makes joints dependent: a closed chain is a robot of its independent joints."""


def _coupled(robot: Robot) -> Iterator[str]:
    if robot.coupling:
        for joint in robot.tree:
            if joint.kind != "fixed":
                yield joint.name


def _rotors_on_links(robot: Robot) -> Iterator[str]:
    moving: set[str] = set()
    for joint in robot.tree:
        if joint.kind != "fixed" or joint.parent in moving:
            moving.add(joint.body.name)
    for joint in robot.tree:
        if joint.rotor is not None and joint.rotor.model == "full" and (joint.rotor.on or joint.parent) in moving:
            yield joint.name


class Features(Mapping[str, tuple[str, ...]]):
    """The features of one robot, by name, each with the joints that have it (loops and payloads: their names)."""

    def __init__(self, found: Mapping[str, tuple[str, ...]]) -> None:
        self._found = dict(found)

    def __getitem__(self, name: str) -> tuple[str, ...]:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __str__(self) -> str:
        return "\n".join(f"{name}: {listed(joints)}" for name, joints in self.items()) or "none"

    def __repr__(self) -> str:
        return f"Features({', '.join(self) or 'none'})"


def features(robot: Robot) -> Features:
    """The features that a robot has."""
    found = {name: tuple(feature.found(robot)) for name, feature in FEATURES.items()}
    return Features({name: joints for name, joints in found.items() if joints})


def model_line(robot: Robot) -> str:
    """One line for reports and headers: what the model includes and what was left out on request."""
    included = [name for name, has in _ORDINARY.items() if has(robot)] + list(robot.features)
    left_out = f"; left out on request: {', '.join(robot.left_out)}" if robot.left_out else ""
    return f"model: includes {', '.join(['rigid bodies', *included])}{left_out}"


def sentence(robot: Robot) -> str:
    """The same as a sentence."""
    return f"{model_line(robot).capitalize()}.".replace("_", " ")


_ORDINARY: Mapping[str, Callable[[Robot], bool]] = {
    "gravity": lambda robot: not all(map(ops.is_zero, robot.gravity)),
    "rotors": lambda robot: any(joint.rotor is not None for joint in robot.tree),
    "friction": lambda robot: any(joint.friction is not None for joint in robot.tree),
}


def listed(names: Iterable[str], most: int = MOST_NAMES) -> str:
    """The first names, and how many more there are."""
    all_names = list(names)
    more = f" and {len(all_names) - most} more" if len(all_names) > most else ""
    return ", ".join(all_names[:most]) + more


# What functions take into account -------------------------------------------------------------------------------------

SUPPORT: dict[str, frozenset[str]] = {}
"""The declarations of the modules imported so far: "package.function" -> features that it takes into account."""


@cache
def support() -> Mapping[str, frozenset[str]]:
    """All declarations of the library, read from `features.txt`, so that an error imports nothing to give advice.

    The file is written from the declarations, and a test compares the two.
    """
    lines = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    names = dict(line.split() for line in lines[: len(FEATURES)])
    rows = (line.split() for line in lines[len(FEATURES) :])
    return {what: frozenset(names[letter] for letter in letters if letter != ".") for what, letters in rows}


def declare(what: str, names: Iterable[str]) -> frozenset[str]:
    """Enter a declaration: `what` takes the named features into account."""
    taken = frozenset(names)
    unknown = taken - FEATURES.keys()
    assert not unknown, f"{what} declares unknown features: {sorted(unknown)}"
    SUPPORT[what] = taken
    return taken


PLAIN = frozenset({np.ndarray, dict, list, tuple, str, float, int, bool, type(None)})
"""Kinds of arguments that are no robots and have none."""


def takes(*names: str) -> Callable[[Declared], Declared]:
    """Declare what a function (or a class, when it is constructed) takes into account; other features are refused.

    Checked are all arguments that are robots or have one as `robot`, such as a Dynamics. What is annotated as a robot
    or a Dynamics must be one.
    """

    def declared(function: Declared) -> Declared:
        what = f"{function.__module__.split('.')[1]}.{function.__qualname__}"
        declare(what, names)
        target: Any = vars(function)["__init__"] if isinstance(function, type) else function
        models = [
            (place, name, parameter.annotation)
            for place, (name, parameter) in enumerate(signature(target).parameters.items())
            if parameter.annotation in MODELS
        ]

        accepted: defaultdict[frozenset[str], set[int]] = defaultdict(set)
        # Robots and what holds one never change: each is checked once against a declaration, and known by its id as
        # long as it lives.

        @wraps(target)
        def gated(*arguments: Any, **named: Any) -> Any:
            taken = SUPPORT[what]
            checked = accepted[taken]
            for place, name, annotation in models:
                if place < len(arguments) or name in named:
                    value = arguments[place] if place < len(arguments) else named[name]
                    if id(value) not in checked:
                        _require_model(value, annotation, what)
            for value in (*arguments, *named.values()):
                if type(value) in PLAIN or id(value) in checked:
                    continue
                robot = _robot_of(value)
                if robot is not None:
                    require(robot, what, taken)
                    checked.add(id(value))
                    finalize(value, checked.discard, id(value)).atexit = False
            return target(*arguments, **named)

        if isinstance(function, type):
            setattr(function, "__init__", gated)  # noqa: B010 (mypy refuses the assignment)
            return cast(Declared, function)
        return cast(Declared, gated)

    return declared


def _require_model(value: Any, annotation: str, what: str) -> None:
    """Raise ArmdynError for anything but a robot or, where one is asked for, a Dynamics."""
    robot = _robot_of(value)
    if robot is not None and (annotation == "Robot | Dynamics" or (robot is value) == (annotation == "Robot")):
        return
    expected, make = MODELS[annotation]
    if isinstance(value, str | PathLike):
        raise ArmdynError(f"{what} was given {value!r}", expected=expected, advice=f"Try {make.format(f'{value!r}')}")
    advice = f"Make one with {make.format('name or file')}"
    if robot is not None:
        advice = "Make one with armdyn.compile(robot)" if robot is value else "Pass its robot: dyn.robot"
    raise ArmdynError(f"{what} was given {type(value).__name__}", expected=expected, advice=advice)


def _robot_of(argument: Any) -> Robot | None:
    from armdyn.robot.robot import Robot

    if isinstance(argument, Robot):
        return argument
    found = getattr(argument, "robot", None)
    return found if isinstance(found, Robot) else None


def require(robot: Robot, what: str, taken: frozenset[str]) -> None:
    """Raise FeatureError if the robot has a feature that `what` does not take into account."""
    _require_model(robot, "Robot", what)
    refused = [name for name in robot.features if name not in taken]
    if refused:
        raise _refusal(robot, what, refused[0])


def _refusal(robot: Robot, what: str, name: str) -> FeatureError:
    feature, joints = FEATURES[name], robot.features[name]
    supporting = [  # the verbs of the command line are left out: they have their own names for the same
        other for other, taken in support().items() if name in taken and not other.startswith("cli.")
    ]
    supporting.sort(key=lambda other: other.split(".")[0] != what.split(".")[0])  # those of the same package first
    where = f"It is taken into account by: {listed(supporting, MOST_FUNCTIONS)}. " if supporting else ""
    return FeatureError(
        f"{what} does not take into account: {feature.words} ({listed(joints)})",
        where=f"robot {robot.name!r}",
        advice=f'{where}To leave it out on purpose: robot.without("{name}"), on the command line ROBOT,without={name}.',
        feature=name,
        joints=joints,
    )
