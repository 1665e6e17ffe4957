"""All that the graphs of a robot depend on, as a hash; or None where not all of it can be written down."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from armdyn.algebra import Mat3, Vec3
from armdyn.mechanics.friction import is_own_law
from armdyn.robot import Robot

PLAIN = (type(None), bool, int, float, str, Fraction)


class _Foreign(Exception):
    """A value of a type that this module cannot write to the last bit."""


def fingerprint(robot: Robot) -> str | None:
    """A hash of the robot as it is and as mechanics sees it (`with_assembly` makes the two differ).

    Every field counts, numbers with their type and to the last bit (a literal 0 folds away, 0.0 need not). The
    expressions and the file do not: graphs are made of numbers. None for a user's own friction law, whose code may
    change, and for robots with parts or numbers of kinds unknown here.
    """
    if type(robot) is not Robot or not all(is_own_law(joint.friction) for joint in robot.tree):
        return None
    seen = {
        field.name: getattr(robot, field.name) for field in fields(robot) if field.name not in ("expressions", "file")
    }
    try:
        text = "\n".join(_written((seen, tuple(robot.opened.links), tuple(robot.opened.spins), robot.opened.frames)))
    except _Foreign:
        return None
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _written(value: Any) -> Iterator[str]:
    """One line per number, name or opening of a part with its size: no two values have the same lines."""
    kind = type(value)
    if kind in PLAIN:
        yield f"{kind.__name__} {value!r}"
    elif kind in (tuple, list):
        yield f"{kind.__name__} {len(value)}"
        for entry in value:
            yield from _written(entry)
    elif isinstance(value, np.number):
        yield f"{value.dtype.str} {value.tobytes().hex()}"
    elif isinstance(value, Mapping):
        yield from _written([part for pair in value.items() for part in pair])
    elif kind.__module__.partition(".")[0] == "armdyn":
        yield f"{kind.__module__}.{kind.__qualname__}"
        yield from _written(_parts(value))
    else:
        raise _Foreign


def _parts(value: Any) -> list[Any]:
    if isinstance(value, Mat3):
        return [entry for row in value.rows for entry in row]
    if isinstance(value, Vec3 | tuple):
        return list(value)
    if is_dataclass(value):
        return [getattr(value, field.name) for field in fields(value)]
    raise _Foreign
