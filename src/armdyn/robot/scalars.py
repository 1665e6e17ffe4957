"""One walk over all scalars of a robot's parts, so that views (numbers, symbols, exact) are one-liners."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from armdyn.algebra import Mat3, Scalar, Vec3
from armdyn.robot.parts import FreeTransform, Joint

Part = TypeVar("Part")
Change = Callable[[Scalar], Scalar]

ANGLES = frozenset({"theta", "alpha", "gamma", "rpy"})
"""Fields that hold angles; exact views treat these apart (a rational point of the unit circle, not a number)."""


def mapped(part: Part, number: Change, angle: Change | None = None) -> Part:
    """The same part with every scalar changed: lengths, masses, ... by `number`, angles by `angle`."""
    angle = angle or number
    changed: Any = _walk(part, number, angle)
    if isinstance(part, Joint) and isinstance(part.geometry, FreeTransform) and part.kind == "revolute":
        changed = replace(changed, geometry=replace(changed.geometry, zero=angle(part.geometry.zero)))
    return cast(Part, changed)


def _walk(value: Any, number: Change, angle: Change, name: str = "") -> Any:
    change = angle if name in ANGLES else number
    if isinstance(value, Vec3):
        return Vec3(*(change(x) for x in value))
    if isinstance(value, Mat3):
        return Mat3([[change(x) for x in row] for row in value.rows])
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _walk(getattr(value, f.name), number, angle, f.name) for f in fields(value)})
    if isinstance(value, tuple):
        return tuple(_walk(entry, number, angle, name) for entry in value)
    if isinstance(value, Mapping):
        return {key: change(entry) for key, entry in value.items()}
    if value is None or isinstance(value, str | bool):
        return value
    return change(value)


def scalars(part: Any, *, angles: bool = False) -> list[Scalar]:
    """Return all scalars of a part, or only its angles."""
    found: list[Scalar] = []

    def note(x: Scalar) -> Scalar:
        found.append(x)
        return x

    mapped(part, (lambda x: x) if angles else note, note)
    return found


def holds(part: Any, kind: type) -> bool:
    """Whether one of the part's scalars is of a kind."""
    if isinstance(part, Vec3):
        return any(isinstance(x, kind) for x in part)
    if isinstance(part, Mat3):
        return any(isinstance(x, kind) for row in part.rows for x in row)
    if isinstance(part, tuple):
        return any(holds(entry, kind) for entry in part)
    if isinstance(part, Mapping):
        return any(isinstance(entry, kind) for entry in part.values())
    if is_dataclass(part) and not isinstance(part, type):
        return any(holds(getattr(part, name), kind) for name in part.__dataclass_fields__)
    return isinstance(part, kind)
