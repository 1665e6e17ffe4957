"""From the columns of a log to quantities in joint order: names of columns and units."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from armdyn.errors import FileError, ShapeError, UnknownName, unknown_name
from armdyn.identification.log.log_format import ALIASES, QUANTITIES, letters, quantity_named
from armdyn.robot import Robot
from armdyn.typing import Array

Raw = dict[str, Array]
"""What a file holds: a column, (N,), or a block of columns, (N, k), by name, in the file's order."""

_TURN = 2 * math.pi
UNITS: dict[str, dict[str, dict[str, float]]] = {
    "t": {"time": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0}},
    "q": {
        "revolute": {"rad": 1.0, "mrad": 1e-3, "deg": _TURN / 360, "rev": _TURN},
        "prismatic": {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "in": 0.0254},
    },
    "qd": {
        "revolute": {"rad/s": 1.0, "deg/s": _TURN / 360, "rpm": _TURN / 60, "rev/s": _TURN},
        "prismatic": {"m/s": 1.0, "mm/s": 1e-3, "m/min": 1 / 60},
    },
    "qdd": {
        "revolute": {"rad/s^2": 1.0, "deg/s^2": _TURN / 360, "rev/s^2": _TURN},
        "prismatic": {"m/s^2": 1.0, "mm/s^2": 1e-3},
    },
    "tau": {
        "revolute": {"N m": 1.0, "Nm": 1.0, "mN m": 1e-3, "mNm": 1e-3, "N mm": 1e-3, "kN m": 1e3},
        "prismatic": {"N": 1.0, "mN": 1e-3, "kN": 1e3},
        "current": {"A": 1.0, "mA": 1e-3},
    },
}
"""SI value of one unit, by quantity and by what it measures."""
CLOCK = 1e6
"""A log that starts later than this, s, has the time of day: it is counted from its first sample."""


# Columns ------------------------------------------------------------------------------------------------------------


def blocks(raw: Raw, robot: Robot, columns: Mapping[str, Any] | None, where: str) -> Raw:
    """{quantity: (N,) time stamps or (N, n) in joint order} of what a file holds."""
    found: Raw = {}
    chosen = {quantity_named(name): wanted for name, wanted in (columns or {}).items()}
    for quantity, wanted in chosen.items():
        found[quantity] = _chosen(raw, quantity, wanted, robot, where)
    rest = {quantity: _recognised(raw, quantity, robot, where) for quantity in QUANTITIES if quantity not in found}
    found |= {quantity: block for quantity, block in rest.items() if block is not None}
    if not any(name in found for name in QUANTITIES[1:]) and not chosen:
        found |= _by_place(raw, robot)
    return found


def _chosen(raw: Raw, quantity: str, wanted: Any, robot: Robot, where: str) -> Array:
    """The columns that the user names."""
    if isinstance(wanted, str) and "{" in wanted:
        wanted = [wanted.format(i=i + 1, joint=joint.name) for i, joint in enumerate(robot.joints)]
    entries = [wanted] if isinstance(wanted, str | int) else list(wanted)
    arrays = [_column(raw, entry, where) for entry in entries]
    if quantity == "t":
        return arrays[0]
    block = arrays[0] if len(arrays) == 1 and arrays[0].ndim == 2 else np.column_stack(arrays)
    if block.shape[1] != robot.n:
        raise ShapeError(
            f"{block.shape[1]} columns for {quantity}",
            where=where,
            expected=f"{robot.n}, one for each joint of {robot.name!r}",
        )
    return block


def _column(raw: Raw, entry: str | int, where: str) -> Array:
    if isinstance(entry, str):
        if entry not in raw:
            raise unknown_name("column", entry, raw, where=where)
        return raw[entry]
    names = list(raw)
    if not -len(names) <= entry < len(names):
        raise UnknownName(f"column {entry}", where=where, expected=f"a place from 0 to {len(names) - 1}")
    return raw[names[entry]]


def _recognised(raw: Raw, quantity: str, robot: Robot, where: str) -> Array | None:
    """The columns recognised as this quantity by their names; None if there are none."""
    plain: dict[str, list[str]] = {}
    for name in raw:
        plain.setdefault(letters(_unit_apart(name)[0]), []).append(name)
    for alias in ALIASES[quantity]:
        for name in plain.get(alias, ()):
            if quantity == "t" or raw[name].ndim == 2 or robot.n == 1:
                return raw[name] if quantity == "t" else _wide_enough(raw[name], quantity, robot, where)
    if quantity == "t":
        return None
    first = 0 if any(f"{alias}0" in plain for alias in ALIASES[quantity]) else 1
    names = [_one(plain, spellings(quantity, joint.name, j + first), where) for j, joint in enumerate(robot.joints)]
    missing = [joint.name for joint, name in zip(robot.joints, names, strict=True) if name is None]
    if len(missing) == robot.n:
        return None
    if missing:
        raise FileError(
            f"no column {quantity} for joint {missing[0]!r}",
            where=where,
            expected=f"{quantity}1 to {quantity}{robot.n}, or names of joints; found: {_shown(raw)}",
            advice="Name them in LogFormat(columns=...).",
        )
    return np.column_stack([raw[name] for name in names if name is not None])


def _wide_enough(block: Array, quantity: str, robot: Robot, where: str) -> Array:
    block = block.reshape(len(block), -1)
    if block.shape[1] != robot.n:
        raise ShapeError(
            f"{quantity} has {block.shape[1]} columns",
            where=where,
            expected=f"{robot.n}, one for each joint of {robot.name!r}",
        )
    return block


def spellings(quantity: str, joint: str, number: int) -> set[str]:
    """Names of the column of a quantity of one joint, in plain letters: q2, elbow_position, joint2_pos ..."""
    name = letters(joint)
    of = {str(number), f"0{number}", f"joint{number}", f"j{number}", f"axis{number}", name}
    return {f"{alias}{x}" for alias in ALIASES[quantity] for x in of} | {
        f"{x}{alias}" for alias in ALIASES[quantity] for x in of if not x.isdigit()
    }


def _one(plain: Mapping[str, Sequence[str]], wanted: set[str], where: str) -> str | None:
    names = [name for key in sorted(wanted) for name in plain.get(key, ())]
    if len(names) > 1:
        raise FileError(
            f"columns {' and '.join(map(repr, names[:3]))} mean the same",
            where=where,
            expected="one column",
            advice="Name the right ones in LogFormat(columns=...).",
        )
    return names[0] if names else None


def _by_place(raw: Raw, robot: Robot) -> Raw:
    """A table without column names, read by its width: t, q, tau, or t, q, qd, tau, or q, tau."""
    arrays = [array for array in raw.values() if array.ndim == 1]
    n, count = robot.n, len(arrays)
    layouts = {1 + 2 * n: ("t", "q", "tau"), 1 + 3 * n: ("t", "q", "qd", "tau"), 2 * n: ("q", "tau")}
    if count not in layouts or any(not name.startswith("column ") for name in raw):
        return {}
    found: Raw = {}
    for quantity in layouts[count]:
        width = 1 if quantity == "t" else n
        found[quantity] = arrays[0] if quantity == "t" else np.column_stack(arrays[:width])
        arrays = arrays[width:]
    return found


def single_quantity(raw: Raw, quantity: str, robot: Robot, where: str) -> Raw:
    """{quantity: block, perhaps t: stamps} of a file that holds one quantity: its columns by names, or as they are."""
    stamps = _recognised(raw, "t", robot, where)
    names = [name for name in raw if raw[name] is not stamps]
    known = {letters(joint.name): j for j, joint in enumerate(robot.joints)}
    order = [known.get(letters(_unit_apart(name)[0]), -1) for name in names]
    if sorted(order) == list(range(robot.n)):
        names = [names[order.index(j)] for j in range(robot.n)]
    block = _wide_enough(np.column_stack([raw[name] for name in names]), quantity, robot, where)
    return {quantity: block} | ({} if stamps is None else {"t": stamps})


def _shown(names: Iterable[str]) -> str:
    text = ", ".join(names)
    return text if len(text) < 200 else text[:197] + "..."


# Units --------------------------------------------------------------------------------------------------------------


def _unit_apart(name: str) -> tuple[str, str | None]:
    """`q1 [deg]` -> ("q1", "deg")."""
    match = re.fullmatch(r"(.*?)[\s_]*[\[(]([^\])]*)[\])]\s*", name)
    return (match[1], match[2].strip()) if match else (name, None)


def header_units(raw: Raw, robot: Robot) -> dict[str, str]:
    """Units that the names of columns carry in brackets, where all of a quantity agree."""
    found: dict[str, set[str]] = {}
    for name in raw:
        plain, unit = _unit_apart(name)
        for quantity in QUANTITIES:
            of = set(ALIASES[quantity])
            if quantity != "t":
                of |= {x for j, joint in enumerate(robot.joints) for x in spellings(quantity, joint.name, j + 1)}
            if unit and letters(plain) in of:
                found.setdefault(quantity, set()).add(unit)
    return {quantity: ", ".join(sorted(units)) for quantity, units in found.items()}


def factors(quantity: str, unit: Any, kinds: Sequence[str]) -> Array:
    """(n,) SI values of one unit of a quantity for joints of these kinds.

    >>> factors("q", "deg, mm", ["revolute", "prismatic"]).round(6).tolist()
    [0.017453, 0.001]
    """
    if unit is None:
        return np.ones(len(kinds))
    if isinstance(unit, str):
        return np.array([_factor(quantity, unit, kind) for kind in kinds])
    each = [unit] * len(kinds) if isinstance(unit, int | float) else list(unit)
    if len(each) != len(kinds):
        raise ShapeError(f"{len(each)} units for {quantity}", where="log", expected=f"{len(kinds)}, one per joint")
    return np.array(
        [_factor(quantity, u, kind) if isinstance(u, str) else float(u) for u, kind in zip(each, kinds, strict=True)]
    )


def _factor(quantity: str, text: str, kind: str) -> float:
    """The SI value of the unit for this kind of joint in a text; 1 if it names only units of the other kind."""
    tables = UNITS[quantity]
    known = {_squeezed(unit): (of, value) for of, table in tables.items() for unit, value in table.items()}
    whole = known.get(_squeezed(text))
    parts = [whole] if whole else [known.get(_squeezed(part)) for part in text.split(",")]
    if not text.strip() or None in parts:
        raise unknown_name(f"unit of {quantity}", text, [unit for table in tables.values() for unit in table], "log")
    return next((part[1] for part in parts if part and part[0] in (kind, "time", "current")), 1.0)


def _squeezed(unit: str) -> str:
    return unit.replace(" ", "").replace("²", "^2").replace("µ", "u").replace("°", "deg").replace("·", "")


def seconds(stamps: Array, unit: Any) -> Array:
    """(N,) s; a time of day is counted from its first sample, whole numbers without rounding."""
    scale = float(factors("t", unit, ["time"])[0])
    if np.issubdtype(stamps.dtype, np.datetime64):
        stamps, scale = stamps.astype("datetime64[ns]").astype(np.int64), 1e-9
    first = stamps[0] if len(stamps) else 0
    if np.isfinite(first) and abs(float(first)) * scale > CLOCK:
        stamps = stamps - first
    result: Array = np.asarray(stamps, dtype=float) * scale
    return result


__all__ = ["Raw", "blocks", "factors", "header_units", "seconds", "single_quantity"]
