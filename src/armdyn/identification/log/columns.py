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


def columns_of(raw: Raw, robot: Robot, columns: Mapping[str, Any] | None, where: str) -> dict[str, list[str]]:
    """{quantity: names of its columns in joint order, or the name of its one block} in what a file holds.

    columns: those that the user names; the others are recognised by their names, or by place if none has a name.
    """
    chosen = {quantity_named(name): _chosen(raw, wanted, robot, where) for name, wanted in (columns or {}).items()}
    found = chosen | {
        quantity: names
        for quantity in QUANTITIES
        if quantity not in chosen and (names := _recognised(raw, quantity, robot, where))
    }
    return found if chosen or found.keys() - {"t"} else found | _by_place(raw, robot)


def blocks(raw: Raw, named: Mapping[str, Sequence[str]], robot: Robot, where: str) -> Raw:
    """{quantity: (N,) time stamps or (N, n) in joint order} of the columns that are named."""
    found: Raw = {}
    for quantity, names in named.items():
        if quantity == "t":
            found[quantity] = raw[names[0]]
            continue
        found[quantity] = np.column_stack([raw[name] for name in names])
        if found[quantity].shape[1] != robot.n:
            raise ShapeError(
                f"{quantity} has {found[quantity].shape[1]} columns",
                where=where,
                expected=f"{robot.n}, one for each joint of {robot.name!r}",
                advice=f"Found: {_shown(raw)}. Choose by columns = {{{quantity} = ...}} in the section [log] "
                "of a logger's file (--logger), or LogFormat(columns=...).",
            )
    return found


def _chosen(raw: Raw, wanted: Any, robot: Robot, where: str) -> list[str]:
    """The columns that the user names: one or several names, patterns, places from 0, or ranges of places ("1-6")."""
    if isinstance(wanted, str) and "{" in wanted:
        wanted = [wanted.format(i=i + 1, joint=joint.name) for i, joint in enumerate(robot.joints)]
    entries = [wanted] if isinstance(wanted, str | int) else list(wanted)
    return [name for entry in entries for name in _named(raw, entry, where)]


def _named(raw: Raw, entry: str | int, where: str) -> list[str]:
    names = list(raw)
    if entry in raw:
        return [str(entry)]
    ends = re.fullmatch(r"\s*(\d+)\s*-\s*(\d+)\s*", str(entry))
    if isinstance(entry, str) and ends is None:
        bare = [name for name in names if _unit_apart(name)[0] == entry.strip()]
        if len(bare) != 1:
            raise unknown_name("column", entry, raw, where=where)
        return bare
    first, last = (int(ends[1]), int(ends[2])) if ends else (int(entry), int(entry))
    if not -len(names) <= first <= last < len(names):
        expected = f"a place from 0 to {len(names) - 1}, or a range such as 1-{len(names) - 1}"
        raise UnknownName(f"column {entry}", where=where, expected=expected, advice=f"The columns are: {_shown(raw)}.")
    return [names[place] for place in range(first, last + 1)]


def _recognised(raw: Raw, quantity: str, robot: Robot, where: str) -> list[str]:
    """The columns recognised as this quantity by their names; none if there are none."""
    plain: dict[str, list[str]] = {}
    for name in raw:
        plain.setdefault(letters(_unit_apart(name)[0]), []).append(name)
    for alias in ALIASES[quantity]:
        for name in plain.get(alias, ()):
            if quantity == "t" or raw[name].ndim == 2 or robot.n == 1:
                return [name]
    if quantity == "t":
        return []
    first = 0 if any(f"{alias}0" in plain for alias in ALIASES[quantity]) else 1
    names = [_one(plain, spellings(quantity, joint.name, j + first), where) for j, joint in enumerate(robot.joints)]
    missing = [joint.name for joint, name in zip(robot.joints, names, strict=True) if name is None]
    if 0 < len(missing) < robot.n:
        raise FileError(
            f"no column {quantity} for joint {missing[0]!r}",
            where=where,
            expected=f"{quantity}1 to {quantity}{robot.n}, or names of joints; found: {_shown(raw)}",
            advice="Name them in LogFormat(columns=...).",
        )
    return [name for name in names if name is not None]


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


def _by_place(raw: Raw, robot: Robot) -> dict[str, list[str]]:
    """A table without column names, read by its width: t, q, tau, or t, q, qd, tau, or q, tau."""
    n, rest = robot.n, list(raw)
    layouts = {1 + 2 * n: ("t", "q", "tau"), 1 + 3 * n: ("t", "q", "qd", "tau"), 2 * n: ("q", "tau")}
    if len(rest) not in layouts or not nameless(raw):
        return {}
    found = {}
    for quantity in layouts[len(rest)]:
        width = 1 if quantity == "t" else n
        found[quantity], rest = rest[:width], rest[width:]
    return found


def nameless(raw: Raw) -> bool:
    """Whether the file gives its columns no names."""
    return all(name.startswith("column ") and array.ndim == 1 for name, array in raw.items())


def columns_of_one(
    raw: Raw, quantity: str, robot: Robot, columns: Mapping[str, Any] | None, where: str
) -> dict[str, list[str]]:
    """The same of a file that holds one quantity, perhaps with its time stamps: all columns that are not the stamps."""
    chosen = {quantity_named(name): wanted for name, wanted in (columns or {}).items()}
    found: dict[str, list[str]] = {}
    of_stamps = chosen.get("t")
    if of_stamps is not None and (
        quantity == "t" or isinstance(of_stamps, int) or any(of_stamps in (x, _unit_apart(x)[0]) for x in raw)
    ):
        found["t"] = _chosen(raw, of_stamps, robot, where)
    elif stamps := _recognised(raw, "t", robot, where):
        found["t"] = stamps
    elif quantity == "t" or (nameless(raw) and len(raw) == robot.n + 1):
        found["t"] = list(raw)[:1]
    if quantity == "t":
        return found
    if quantity in chosen:
        return found | {quantity: _chosen(raw, chosen[quantity], robot, where)}
    names = [name for name in raw if [name] != found.get("t")]
    known = {letters(joint.name): j for j, joint in enumerate(robot.joints)}
    order = [known.get(letters(_unit_apart(name)[0]), -1) for name in names]
    if sorted(order) == list(range(robot.n)):
        names = [names[order.index(j)] for j in range(robot.n)]
    return found | {quantity: names}


def _shown(names: Iterable[str]) -> str:
    text = ", ".join(names)
    return text if len(text) < 200 else text[:197] + "..."


# Units --------------------------------------------------------------------------------------------------------------


def _unit_apart(name: str) -> tuple[str, str | None]:
    """`q1 [deg]` -> ("q1", "deg"); a number in brackets is that of a joint."""
    match = re.fullmatch(r"(.*?)[\s_]*[\[(](?!\d+[\])])([^\])]+)[\])]\s*", name)
    return (match[1], match[2].strip()) if match else (name, None)


def header_units(named: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Units that the names of the columns carry in brackets: one for a whole quantity, or one per joint."""
    found: dict[str, Any] = {}
    for quantity, names in named.items():
        units = [_unit_apart(name)[1] for name in names]
        if any(units):
            found[quantity] = units[0] if len(units) == 1 else units
    return found


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
    if None in each:
        raise FileError(
            f"some columns of {quantity} have a unit in their heading and some have none",
            where="log",
            expected="a unit in each heading, or in none",
            advice=f"Say that of all: units = {{{quantity} = ...}} in the section [log] of a logger's file (--logger).",
        )
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
    stamps, scale = _whole(stamps, unit)
    first = stamps[0] if len(stamps) else 0
    if np.isfinite(first) and abs(float(first)) * scale > CLOCK:
        stamps = stamps - first
    result: Array = np.asarray(stamps, dtype=float) * scale
    return result


def instants_of(stamps: Array, unit: Any) -> Array:
    """(N,) s as they were logged, to compare those of several files."""
    stamps, scale = _whole(stamps, unit)
    return np.asarray(stamps, dtype=float) * scale


def _whole(stamps: Array, unit: Any) -> tuple[Array, float]:
    """Time stamps and the seconds of one unit of them; dates in ns."""
    if np.issubdtype(stamps.dtype, np.datetime64):
        return stamps.astype("datetime64[ns]").astype(np.int64), 1e-9
    return stamps, float(factors("t", unit, ["time"])[0])


__all__ = [
    "Raw",
    "blocks",
    "columns_of",
    "columns_of_one",
    "factors",
    "header_units",
    "instants_of",
    "nameless",
    "seconds",
]
