"""From the columns of a log to quantities of joints: names, units, motors, currents.

Everything that is declared about a log is applied here, so that a `Log` is always on the joint side and in SI units.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from armdyn.errors import ArmdynError, FileError, ShapeError, UnknownName, unknown_name
from armdyn.findings import Finding
from armdyn.mechanics import coupling as transmission
from armdyn.robot import Robot
from armdyn.typing import Array

Raw = dict[str, Array]
"""What a file holds: a column, (N,), or a block of columns, (N, k), by name, in the file's order."""
Side = Literal["joint", "motor"]
Effort = Literal["torque", "current", "gravity_compensated"]

QUANTITIES = ("t", "q", "qd", "qdd", "tau")
ALIASES: dict[str, tuple[str, ...]] = {
    "t": ("t", "time", "timestamp", "stamp"),
    "q": ("q", "pos", "position", "positions", "angle", "theta"),
    "qd": ("qd", "dq", "qdot", "vel", "velocity", "velocities", "speed"),
    "qdd": ("qdd", "ddq", "qddot", "acc", "acceleration", "accelerations"),
    "tau": ("tau", "torque", "torques", "effort", "efforts", "trq", "moment", "force", "current", "currents"),
}

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
"""A log that starts later than this, s, carries a time of day: it is counted from its first sample."""


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """What a user says about a log.

    columns: quantity -> names or places (from 0) of its columns in joint order, or a pattern with {i} (from 1) or
    {joint}. units: quantity -> unit ("deg", "deg, mm": each for its kind of joint), a list with one unit per joint, or
    the SI value of one unit. side: where positions and efforts are measured. coupling: R with q_m = R q, gears
    included (None: the robot's). offsets: added to q, rad or m: joint zero of the log against the model. effort: what
    the efforts are. gains: N m (or N) per unit of effort, one or one per joint (None: 1, or the robot's motors).
    rate: samples per second of a log without time stamps, Hz.
    """

    columns: Mapping[str, Any] | None = None
    units: Mapping[str, Any] | None = None
    side: Side = "joint"
    coupling: Any = None
    offsets: Any = None
    effort: Effort = "torque"
    gains: Any = None
    rate: float | None = None

    def __post_init__(self) -> None:
        for name, choices in (("side", get_args(Side)), ("effort", get_args(Effort))):
            if getattr(self, name) not in choices:
                raise unknown_name(name, getattr(self, name), choices, where="log")
        for given in (self.columns, self.units):
            for name in given or ():
                quantity_named(name)
        if self.rate is not None and not 0 < self.rate < math.inf:
            raise ArmdynError(f"rate = {self.rate}", where="log", expected="samples per second, positive")


def quantity_named(name: str) -> str:
    """The quantity behind a name such as `position`.

    >>> quantity_named("Positions"), quantity_named("effort")
    ('q', 'tau')
    """
    plain = _plain(name)
    for quantity, aliases in ALIASES.items():
        if plain in aliases:
            return quantity
    raise unknown_name("quantity", name, QUANTITIES, where="log")


def _plain(name: str) -> str:
    """Letters and digits alone, in lower case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


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
        raise ShapeError(f"{block.shape[1]} columns for {quantity}", where=where,
                         expected=f"{robot.n}, one for each joint of {robot.name!r}")  # fmt: skip
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
    """The columns whose names say that they are this quantity; None if there are none."""
    plain: dict[str, list[str]] = {}
    for name in raw:
        plain.setdefault(_plain(_unit_apart(name)[0]), []).append(name)
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
        raise FileError(f"no column {quantity} for joint {missing[0]!r}", where=where,
                        expected=f"{quantity}1 to {quantity}{robot.n}, or names of joints; found: {_shown(raw)}",
                        advice="Name the columns by `columns`.")  # fmt: skip
    return np.column_stack([raw[name] for name in names if name is not None])


def _wide_enough(block: Array, quantity: str, robot: Robot, where: str) -> Array:
    block = block.reshape(len(block), -1)
    if block.shape[1] != robot.n:
        raise ShapeError(f"{quantity} has {block.shape[1]} columns", where=where,
                         expected=f"{robot.n}, one for each joint of {robot.name!r}")  # fmt: skip
    return block


def spellings(quantity: str, joint: str, number: int) -> set[str]:
    """Names of the column of a quantity of one joint, in plain letters: q2, elbow_position, joint2_pos ..."""
    name = _plain(joint)
    of = {str(number), f"0{number}", f"joint{number}", f"j{number}", f"axis{number}", name}
    return {f"{alias}{x}" for alias in ALIASES[quantity] for x in of} | {
        f"{x}{alias}" for alias in ALIASES[quantity] for x in of if not x.isdigit()
    }


def _one(plain: Mapping[str, Sequence[str]], wanted: set[str], where: str) -> str | None:
    names = [name for key in sorted(wanted) for name in plain.get(key, ())]
    if len(names) > 1:
        raise FileError(f"columns {' and '.join(map(repr, names[:3]))} mean the same", where=where,
                        expected="one column", advice="Name the right ones by `columns`.")  # fmt: skip
    return names[0] if names else None


def _by_place(raw: Raw, robot: Robot) -> Raw:
    """A table without names that we know: t, q, tau or t, q, qd, tau, by the number of columns."""
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
    known = {_plain(joint.name): j for j, joint in enumerate(robot.joints)}
    order = [known.get(_plain(_unit_apart(name)[0]), -1) for name in names]
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
    said: dict[str, set[str]] = {}
    for name in raw:
        plain, unit = _unit_apart(name)
        for quantity in QUANTITIES:
            of = set(ALIASES[quantity])
            if quantity != "t":
                of |= {x for j, joint in enumerate(robot.joints) for x in spellings(quantity, joint.name, j + 1)}
            if unit and _plain(plain) in of:
                said.setdefault(quantity, set()).add(unit)
    return {quantity: ", ".join(sorted(units)) for quantity, units in said.items()}


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
    """The SI value of the unit in a text that measures this kind of joint; 1 if only units of the other are there."""
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


# Motors and currents ------------------------------------------------------------------------------------------------


def on_joint_side(found: Raw, robot: Robot, said: Declaration) -> tuple[Raw, tuple[Finding, ...]]:
    """{quantity: (N, n)} of the joints, SI units, from what was measured and declared."""
    motor = said.side == "motor"
    kinds = ["revolute" if motor else joint.kind for joint in robot.joints]
    efforts = ["current"] * robot.n if said.effort == "current" else kinds
    units = {quantity_named(name): unit for name, unit in (said.units or {}).items()}
    out = {
        name: np.asarray(found[name], dtype=float) * factors(name, units.get(name), efforts if name == "tau" else kinds)
        for name in QUANTITIES[1:]
        if name in found
    }
    driven = _driven(robot, said.coupling)
    if motor:
        out["q"] = _carried(transmission.joint_positions, driven, out["q"])
        for name in ("qd", "qdd"):
            if name in out:
                out[name] = _carried(transmission.joint_velocities, driven, out[name])
    out["tau"] = _torques(out["tau"], driven, said)
    if said.offsets is not None:
        out["q"] = out["q"] + np.broadcast_to(np.asarray(said.offsets, dtype=float), (robot.n,))
    if said.effort == "gravity_compensated":
        out["tau"] = out["tau"] + _gravity(robot, out["q"])
        return out, (_GRAVITY_ADDED,)
    return out, ()


def _carried(relation: Callable[..., Any], robot: Robot, x: Array) -> Array:
    """A relation of `mechanics.coupling` on arrays."""
    return np.asarray(relation(robot, x))


def _driven(robot: Robot, matrix: Any) -> Robot:
    """The robot with the coupling that was given: q_m = R q, so that J of Khalil (7.31) is the inverse of R."""
    if matrix is None:
        return robot
    R = np.asarray(matrix, dtype=float)
    R = np.diag(R) if R.ndim == 1 else R
    if R.shape != (robot.n, robot.n) or not np.isfinite(R).all() or np.linalg.matrix_rank(R) < robot.n:
        raise ShapeError(f"coupling of shape {R.shape}", where="log", expected=f"({robot.n}, {robot.n}), invertible")
    return replace(robot, coupling=tuple(map(tuple, np.linalg.inv(R).tolist())), expressions=None)


def _torques(effort: Array, robot: Robot, said: Declaration) -> Array:
    """Joint torques of what was measured."""
    if said.effort == "current" and said.gains is None:
        return _carried(transmission.torques_from_currents, robot, effort)
    gains = np.broadcast_to(np.asarray(1.0 if said.gains is None else said.gains, dtype=float), (robot.n,))
    if said.side == "motor":
        return _carried(transmission.joint_torques, robot, gains * effort)
    return gains * effort


def _gravity(robot: Robot, q: Array) -> Array:
    from armdyn.dynamics import compile

    torque: Array = compile(robot).gravity(np.where(np.isfinite(q), q, 0.0))
    return torque


_GRAVITY_ADDED = Finding(
    "gravity added",
    "suspicious",
    "effort",
    "the efforts were declared to be without gravity, so the gravity torques of the model were added to them",
    condition="measured gravity torques",
    cause="the controller takes its own gravity model off before it reports",
    advice="Masses and centres of mass found from this log repeat the model; log the whole torque to measure them.",
)

__all__ = ["Declaration", "Raw", "blocks", "factors", "on_joint_side", "quantity_named"]


def with_coupling(robot: Robot, R: Any) -> Robot:
    """The robot whose motors are driven as declared, q_m = R q; itself if every motor drives one joint.

    Gears alone change nothing that a log tells; a motor that several joints turn has friction and inertia of its own.
    """
    if R is None or np.ndim(R) != 2:
        return robot
    ratios = np.asarray(R, dtype=float)
    if ratios.shape != (robot.n, robot.n):
        raise ShapeError(f"a coupling of shape {ratios.shape}", where="coupling", expected=f"({robot.n}, {robot.n})")
    if not (ratios - np.diag(np.diag(ratios))).any():
        return robot
    try:
        inverse = np.linalg.inv(ratios)
    except np.linalg.LinAlgError:
        raise ArmdynError(
            "the coupling is singular", where="coupling", expected="R with q_m = R q, invertible"
        ) from None
    return replace(robot, coupling=tuple(map(tuple, inverse.tolist())), expressions=None)
