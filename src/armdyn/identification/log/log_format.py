"""What a user declares about a log: columns, units, side of the gears, kind of effort."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from armdyn.errors import ArmdynError, unknown_name

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


@dataclass(frozen=True, kw_only=True, eq=False)
class LogFormat:
    """How to read a log; quantities are t, q, qd, qdd, tau or a common name of one (`time`, `position`, `effort`).

    columns: quantity -> names (with or without the unit behind them) or places (from 0) of its columns in joint order,
             a range of places as in "1-6", or a pattern with {i} (from 1) or {joint} (default: recognised by name)
    units: quantity -> unit ("deg", or "deg, mm" for revolute and prismatic joints), one unit per joint, or the SI value
           of one unit (default: SI, or the unit in a column's header)
    side: "joint" or "motor", where positions and efforts are measured (default "joint")
    coupling: (n, n) or (n,) R with q_m = R q, gear ratios included (default: the robot's)
    offsets: (n,) or one for all, rad or m, added to q: joint zero of the log in the model (default 0)
    effort: "torque", "current" or "gravity_compensated": what the efforts are (default "torque")
    gains: (n,) or one for all, N m or N per unit of effort (default 1; for currents, the robot's motors)
    rate: samples per second of a log without time stamps, Hz
    topic: topic of the joint states, where a ROS bag has several
    rename: part of a joint's or column's name in the log -> what the model has instead, as in {"fer_": "panda_"}
    """

    columns: Mapping[str, Any] | None = None
    units: Mapping[str, Any] | None = None
    side: Side = "joint"
    coupling: Any = None
    offsets: Any = None
    effort: Effort = "torque"
    gains: Any = None
    rate: float | None = None
    topic: str | None = None
    rename: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        for name, choices in (("side", get_args(Side)), ("effort", get_args(Effort))):
            if getattr(self, name) not in choices:
                raise unknown_name(name, getattr(self, name), choices, where="log")
        for given in (self.columns, self.units):
            for name in given or ():
                quantity_named(name)
        if self.rate is not None and not 0 < self.rate < math.inf:
            raise ArmdynError(f"rate = {self.rate}", where="log", expected="samples per second, positive")

    def renamed(self, name: str) -> str:
        """A name of the log as the model has it."""
        for old, new in (self.rename or {}).items():
            name = name.replace(old, new)
        return name

    @property
    def declared(self) -> tuple[str, ...]:
        """Names of the fields that differ from their defaults."""
        given = [(each.name, getattr(self, each.name), each.default) for each in fields(self)]
        return tuple(name for name, x, default in given if not (x is default or (isinstance(x, str) and x == default)))


def quantity_named(name: str) -> str:
    """The quantity behind a name such as `position`.

    >>> quantity_named("Positions"), quantity_named("effort")
    ('q', 'tau')
    """
    spelled = letters(name)
    for quantity, aliases in ALIASES.items():
        if spelled in aliases:
            return quantity
    raise unknown_name("quantity", name, QUANTITIES, where="log")


def letters(name: str) -> str:
    """Letters and digits alone, in lower case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


__all__ = ["LogFormat"]
