"""The door of every formula: numbers, arrays and symbols in, the same out.

A formula of mechanics is written over scalars: `q` is a sequence of n of them. Users pass lists, arrays of shape
(..., n), symbols or exact numbers. `quantity` takes these apart, checks their sizes, calls the formula, and puts the
result together again: an array if all input was numeric, nested tuples of scalars otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import signature
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar, cast

import numpy as np

from armdyn.algebra import Mat3, Pose, Vec3
from armdyn.errors import ShapeError
from armdyn.mechanics.moving_axes import charted
from armdyn.robot.coordinates import coordinates
from armdyn.robot.features import SUPPORT, require
from armdyn.robot.robot import Robot
from armdyn.typing import Array, Floats

JOINT_VECTORS = (
    "q",
    "qd",
    "qdd",
    "tau",
    "q_m",
    "qd_m",
    "tau_m",
    "current",
    "u",
    "theta",
    "thetad",
    "thetadd",
    "qddd",
    "qdddd",
    "weights",
)
ACTIVE_VECTORS = ("q_active", "qd_active", "qdd_active", "tau_active")
"""One entry per active joint: those named by the argument `active`, or all independent ones."""
ALL_JOINTS = ("q_all", "near")
"""One entry per movable joint, dependent ones included."""
COORDINATES = ("x", "xd", "xdd", "forces")
"""One entry per coordinate: joints, and motors of elastic joints."""
SIXES = {
    "wrench": ("force x", "y", "z", "and moment x", "y", "z"),
    "base_velocity": ("linear x", "y", "z", "and angular velocity x", "y", "z"),
    "base_acceleration": ("linear x", "y", "z", "and angular acceleration x", "y", "z"),
}
"""Arguments with six entries: linear, then angular."""

NOTHING: frozenset[str] = frozenset()

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class Quantity(Protocol[P, R_co]):
    """A quantity of mechanics as users call it: numbers and arrays in, an array out.

    Symbols, exact numbers and dual numbers are welcome too; they give nested tuples of such scalars. `formula` is the
    text over scalars behind it, for other formulas to build on.
    """

    @property
    def formula(self) -> Callable[P, R_co]: ...

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Floats: ...


class Argument(NamedTuple):
    """One argument taken apart: its scalars, the shape of its batch, and whether it is numeric."""

    scalars: Sequence[Any]
    batch: tuple[int, ...]
    numeric: bool


def quantity(formula: Callable[P, R_co]) -> Quantity[P, R_co]:
    """Make a formula over scalars callable on numbers, arrays, and symbols alike.

    Arguments called q, qd, qdd, tau (and others of JOINT_VECTORS) have one entry per joint on the last axis, those of
    ACTIVE_VECTORS one per active joint; `wrench` has six, or is a mapping from names of frames to six each, or None.
    """
    names = list(signature(formula).parameters)
    scalar: Callable[..., Any] = formula
    what = formula.__module__.removeprefix("armdyn.")

    @wraps(formula)
    def call(robot: Robot, *values: Any, **options: Any) -> Any:
        require(robot, f"{what}.{formula.__name__}", SUPPORT.get(what, NOTHING))
        arguments = dict(zip(names[1:], values, strict=False)) | options
        batch: tuple[int, ...] = ()
        numeric = True
        for name, value in arguments.items():
            labels = entries(robot, name, arguments.get("active"))
            if value is None or labels is None:
                continue
            parts = value if isinstance(value, Mapping) else {"": value}
            taken = {key: take_apart(name, part, robot, labels) for key, part in parts.items()}
            scalars = {key: part.scalars for key, part in taken.items()}
            arguments[name] = scalars if isinstance(value, Mapping) else scalars[""]
            numeric = numeric and all(part.numeric for part in taken.values())
            batch = np.broadcast_shapes(batch, *(part.batch for part in taken.values()))
        chart, placed = charted(robot, arguments)
        result = scalar(chart, **placed)
        return put_together(result, batch) if numeric else nested(result)

    vars(call)["formula"] = formula
    return cast(Quantity[P, R_co], call)


def entries(robot: Robot, name: str, active: Sequence[str] | None) -> Sequence[str] | None:
    """What the entries of an argument stand for; None if it is not a vector."""
    if name == "q":
        return robot.position_names
    if name in JOINT_VECTORS:
        return [joint.name for joint in robot.joints]
    if name in ACTIVE_VECTORS:
        own = robot.position_names if name == "q_active" else [joint.name for joint in robot.joints]
        return active if active is not None else own
    if name in ALL_JOINTS:
        return robot.opened.position_names
    return coordinates(robot).names if name in COORDINATES else SIXES.get(name)


def take_apart(name: str, value: Any, robot: Robot, labels: Sequence[str]) -> Argument:
    """The scalars of one argument, one per label."""
    size = len(labels)
    if isinstance(value, list | tuple) and len(value) == size and _are_other_scalars(value):
        return Argument(tuple(value), (), numeric=False)
    array = np.asarray(value)
    if array.dtype == object:
        return Argument(tuple(_sized(name, array, labels, robot)), (), numeric=False)
    if not np.issubdtype(array.dtype, np.number):
        raise ShapeError(f"{name} is not numeric", where=f"robot {robot.name!r}", expected=f"{size} numbers")
    array = _sized(name, array, labels, robot)
    if not np.isfinite(array).all():
        raise ShapeError(f"{name} holds NaN or infinity", where=f"robot {robot.name!r}", expected="finite numbers")
    if array.ndim == 1:
        return Argument([float(x) if np.isrealobj(x) else complex(x) for x in array], (), numeric=True)
    array = array.astype(np.result_type(array, float), copy=False)
    return Argument([array[..., i] for i in range(size)], array.shape[:-1], numeric=True)


def _are_other_scalars(values: Sequence[Any]) -> bool:
    """True if some entry is neither a number nor a sequence: symbols, dual numbers, exact rationals."""
    plain = all(isinstance(x, int | float | complex | np.number) for x in values)
    return not plain and not any(isinstance(x, list | tuple | np.ndarray) for x in values)


def _sized(name: str, array: Array, labels: Sequence[str], robot: Robot) -> Array:
    if array.ndim == 0 or array.shape[-1] != len(labels):
        raise ShapeError(
            f"{name} has shape {array.shape}",
            where=f"robot {robot.name!r}",
            expected=f"(..., {len(labels)}): {', '.join(labels)}",
        )
    return array


def nested(value: Any) -> Any:
    """Structures of algebra as nested tuples of scalars."""
    if isinstance(value, Pose):
        return (*((*row, p) for row, p in zip(value.R.rows, value.p, strict=True)), (0, 0, 0, 1))
    if isinstance(value, Mat3):
        return value.rows
    if isinstance(value, Vec3):
        return tuple(value)
    return tuple(map(nested, value)) if isinstance(value, list | tuple) else value


def put_together(value: Any, batch: tuple[int, ...]) -> Any:
    """Nested scalars, each a number or an array of the batch's shape, as one array of shape (*batch, ...)."""
    value = nested(value)
    shape: list[int] = []
    level = value
    while isinstance(level, tuple):
        shape.append(len(level))
        level = level[0] if level else None
    flat = _flat(value)
    kind = np.result_type(float, *flat) if flat else float
    array = np.empty((*batch, len(flat)), dtype=kind)
    for i, entry in enumerate(flat):
        array[..., i] = entry
    array = array.reshape((*batch, *shape))
    return array if array.ndim else array[()]


def _flat(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [entry for part in value for entry in _flat(part)]
    return [value]
