"""Units in robot files: "-170 deg", "400 mm" and "0.5 kg mm^2" become expressions in SI units.

A unit is a product of powers of known names; the factor is exact, so that "90 deg" is the same as "pi/2".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from armdyn.errors import ExpressionError, unknown_name


class Unit(NamedTuple):
    """A unit: factor * pi^turns in SI, and the powers of kg, m, s and A; angles have no dimension."""

    factor: Fraction
    turns: int
    powers: tuple[int, int, int, int]

    def times(self, other: Unit, power: int) -> Unit:
        """This unit times a power of another one."""
        kg, m, s, A = (a + power * b for a, b in zip(self.powers, other.powers, strict=True))
        return Unit(self.factor * other.factor**power, self.turns + power * other.turns, (kg, m, s, A))


def _unit(factor: str, kg: int = 0, m: int = 0, s: int = 0, A: int = 0, turns: int = 0) -> Unit:
    return Unit(Fraction(factor), turns, (kg, m, s, A))


ONE = _unit("1")
UNITS = {
    "1": ONE,
    "rad": ONE,
    "deg": _unit("1/180", turns=1),
    "rev": _unit("2", turns=1),
    "rpm": _unit("1/30", s=-1, turns=1),
    "m": _unit("1", m=1),
    "cm": _unit("1e-2", m=1),
    "mm": _unit("1e-3", m=1),
    "um": _unit("1e-6", m=1),
    "in": _unit("0.0254", m=1),
    "kg": _unit("1", kg=1),
    "g": _unit("1e-3", kg=1),
    "t": _unit("1e3", kg=1),
    "s": _unit("1", s=1),
    "ms": _unit("1e-3", s=1),
    "min": _unit("60", s=1),
    "N": _unit("1", kg=1, m=1, s=-2),
    "mN": _unit("1e-3", kg=1, m=1, s=-2),
    "kN": _unit("1e3", kg=1, m=1, s=-2),
    "Nm": _unit("1", kg=1, m=2, s=-2),
    "mNm": _unit("1e-3", kg=1, m=2, s=-2),
    "Ncm": _unit("1e-2", kg=1, m=2, s=-2),
    "kNm": _unit("1e3", kg=1, m=2, s=-2),
    "A": _unit("1", A=1),
    "mA": _unit("1e-3", A=1),
}
"""Names of units; other spellings are in SPELLINGS."""
SPELLINGS = {"°": "deg", "º": "deg", "Grad": "deg", "degree": "deg", "degrees": "deg", "µm": "um", "U": "rev"}
TURNS = {"1/min": "rpm", "min^-1": "rpm", "r/min": "rpm"}
"""How data sheets of motors write revolutions per minute."""
SI: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("theta", "alpha", "gamma", "rpy"), ("rad",)),
    **dict.fromkeys(("d", "a", "b", "xyz", "com", "position"), ("m",)),
    **dict.fromkeys(("lower", "upper", "home", "rest"), ("rad", "m")),
    **dict.fromkeys(("velocity", "stribeck", "speed"), ("rad/s", "m/s")),
    "acceleration": ("rad/s^2", "m/s^2"),
    "jerk": ("rad/s^3", "m/s^3"),
    "mass": ("kg",),
    "moment": ("kg m",),
    **dict.fromkeys(("inertia", "inertia_origin", "transverse"), ("kg m^2",)),
    "gravity": ("m/s^2",),
    **dict.fromkeys(("torque", "continuous", "coulomb", "static"), ("N m", "N")),
    "offset": ("N m", "N", "rad", "m"),
    **dict.fromkeys(("viscous", "damping"), ("N m s/rad", "N s/m")),
    "stiffness": ("N m/rad", "N/m"),
    "torque_constant": ("N m/A",),
    "current": ("A",),
}
"""Key of a robot file -> its SI units, of revolute and of prismatic joints where these differ."""
_QUANTITY = re.compile(r"\s*([-+]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?\d{1,3}(?!\d))?+)\s*((?:[A-Za-z°ºµ]|1/).*?)\s*")
_FACTOR = re.compile(r"\s*([*·/]?)\s*(1|[A-Za-z°ºµ]+)(?:\^?(-?\d)(?!\d))?")
_RAISED = str.maketrans("²³", "23")


def unit(text: str) -> Unit:
    """The unit of a text such as "kg mm^2", "rad/s" or "N m s/rad"; UnknownName names the part that is not known."""
    found, at, text = ONE, 0, TURNS.get(text.strip(), text.strip()).translate(_RAISED)
    while at < len(text):
        match = _FACTOR.match(text, at)
        if match is None:
            raise ExpressionError(f"{text[at:]!r} in the unit {text!r}", expected="names of units, powers, * and /")
        name = SPELLINGS.get(match[2], match[2])
        if name not in UNITS:
            raise unknown_name("unit", name, UNITS)
        power = int(match[3] or 1)
        found = found.times(UNITS[name], -power if match[1] == "/" else power)
        at = match.end()
    return found


def in_si(number: str | Fraction, of: Unit) -> str:
    """The number in SI, as an expression that is exact."""
    value = Fraction(number) * of.factor
    turns = "*pi" * of.turns if of.turns >= 0 else "/pi" * -of.turns
    return f"{value.numerator}{turns}/{value.denominator}"


def fitting(units: Iterable[str], key: str, kind: str | None = None) -> Unit:
    """The unit among several that measures what the key holds.

    kind: of the joint, "revolute" or "prismatic" (default: not known; the units of both are accepted).

    Raises ExpressionError if none does, or if the key takes no units.
    """
    listed = list(units)
    known = SI.get(key)
    if known is None:
        raise ExpressionError(f"{key} takes no unit", expected="a number alone", advice=f"Leave out {listed[0]!r}.")
    if kind is not None:
        known = known[-1:] if kind == "prismatic" else known[:1]
    dimensions = {unit(each).powers for each in known}
    for each in listed:
        if (found := unit(each)).powers in dimensions:
            return found
    raise ExpressionError(f"{', '.join(listed)} does not measure {key}", expected=f"a unit like {' or '.join(known)}")


def without_unit(text: str, key: str | None) -> str:
    """A quantity such as "400 mm" as an expression in SI; a text without a unit stays as it is.

    key: what the number is, by its name in robot files; None accepts any unit.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return text
    return in_si(match[1], unit(match[2]) if key is None else fitting([match[2]], key))
