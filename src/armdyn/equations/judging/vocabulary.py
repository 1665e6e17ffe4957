r"""What the symbols in somebody's equations mean: coordinates, velocities, sines and cosines, parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

from armdyn.graph import Node, constant, symbol

ANGLES = ("q", "theta", "vartheta", "phi", "varphi", "th", "d", "x")
"""Letters of joint positions; a robot's own parameter of that name goes first."""
SPEEDS = ("omega", "w", "v", "u")


RUN = r"(?:[A-Za-z]+\d+[A-Za-z]+(?![A-Za-z\d])|[A-Za-z]{2,}(?=_))"
"""Letters that run together: before an index, as in Jm_{2}, or around one, as in I1x."""


class Word(NamedTuple):
    """A word at the beginning of a text: its name and its length."""

    name: str
    length: int


class Vocabulary:
    """The words of a robot: names of its parameters, number of its joints.

    prismatic: the joints, from 1, whose coordinates may be called d. names: of the robot's parameters. symbols: what
    the person calls things -> what the robot calls them. joined: letters without a space between them are one name, as
    programs print LaTeX: Jm_{2} is J_m2 and not J m_2, and I1x is not I_1 x. m1g stays m_1 g if the robot has both.
    """

    name_pattern = (
        r"(?:\{\}\^\{?[\w]+\}?)?(?:\\?[A-Za-z]+|\\(?:d?dot|bar|hat)\{?\\?[A-Za-z]+\}?|\{[^{}]*\}|m\{[A-Za-z]\})"
        r"(?:[_^](?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\\?[A-Za-z]+|\d+)|\[\d+(?:,\d+)?\])*"
    )

    def __init__(
        self,
        names: Iterable[str],
        n: int,
        prismatic: Iterable[int] = (),
        symbols: Mapping[str, str] | None = None,
        joined: bool = False,
    ) -> None:
        self.names = {_key(name): name for name in names}
        self.n, self.prismatic = n, frozenset(prismatic)
        self.renamed = {_key(theirs): ours for theirs, ours in (symbols or {}).items()}
        stems = {re.sub(r"\d.*", "", name) for name in self.names.values()} | {"qd", "qdd"}
        long = sorted((stem for stem in stems if len(stem) > 1 and stem.isalpha()), key=len, reverse=True)
        trig = r"(?:SS|CC|CS|SC|S|C)(?=_?\{?\d)"
        capitals = [rf"{stem}(?=_?\{{?\d)" for stem in long if stem.isupper() or stem == "Ia"]
        self._words = re.compile("|".join([*capitals, trig]))
        whole = [name for name in (*self.names, *self.renamed) if re.fullmatch(r"[A-Za-z]+\d+[A-Za-z]\w*", name)]
        self._alone = re.compile(
            "|".join([*(rf"{name}(?!\w)" for name in whole), *(rf"{stem}(?![A-Za-z])" for stem in long)] or ["(?!)"])
        )
        self._run = re.compile(RUN if joined else "(?!)")

    def word(self, text: str, alone: bool) -> Word | None:
        """A word of several letters at the beginning of a LaTeX text.

        alone: no letter stands before it, so that it may be a name such as ml_2; capitals such as MX or SS are words in
        any case.
        """
        run = self._run.match(text) if alone else None
        if run and not self._is_product(run[0]):
            return Word(run[0], run.end())
        match = self._words.match(text) or (self._alone.match(text) if alone else None)
        return Word(match[0], match.end()) if match else None

    def _is_product(self, run: str) -> bool:
        """Whether m1g is made of names that have a meaning: m_1 and g."""
        around = re.fullmatch(r"([A-Za-z]+\d+)([A-Za-z]+)", run)
        if around is None:
            return False
        unknown = constant(0)
        parts = (around[1], *around[2])
        return all(part in self.names or self._meaning(part, unknown) is not unknown for part in parts)

    def symbol(self, name: str) -> Node:
        """The expression that a name stands for."""
        key = _key(name)
        if key in self.renamed:
            return self._own(self.renamed[key])
        return self._known(name) if key in self.names else self._meaning(name, symbol(key, kind="parameter"))

    def _known(self, name: str) -> Node:
        return symbol(self.names[_key(name)], kind="parameter")

    def _meaning(self, name: str, otherwise: Node) -> Node:
        """A velocity, a sine, a position, or else a symbol that the robot does not have."""
        found = (self._rate(name), self._trig(_key(name)), self._coordinate(_key(name)))
        return next((each for each in found if each is not None), otherwise)

    def _own(self, name: str) -> Node:
        """What the robot calls it: a parameter, or -g, or a coordinate such as q2, or a number."""
        if name.startswith("-"):
            return -self._own(name[1:].strip())
        if re.fullmatch(r"\d+(?:\.\d+)?", name):
            return constant(Fraction(name))
        if _key(name) in self.names:
            return self._known(name)
        return self._meaning(name, symbol(name, kind="parameter"))

    def _coordinate(self, key: str) -> Node | None:
        match = re.fullmatch(r"([A-Za-z]+)(\d+)", key)
        if match is None or not 1 <= int(match[2]) <= self.n:
            return None
        stem, place = match[1], int(match[2])
        if stem in SPEEDS:
            return symbol(f"qd{place}")
        if stem in ("d", "x") and place not in self.prismatic:
            return None
        return symbol(f"q{place}") if stem in ANGLES else None

    def _rate(self, name: str) -> Node | None:
        """A velocity or an acceleration: @d marks the dots of LaTeX."""
        dots = re.fullmatch(r"([A-Za-z]+?)(\d*)@(d{1,2})_?(\d*)", name)
        if dots:
            stem, place, times = dots[1], dots[2] or dots[4], len(dots[3])
            found = self._coordinate(f"{stem}{place}") if place else None
            return None if found is None else self.rate(found, times)
        for pattern, stem, place, rate in (
            (r"([A-Za-z]+?)(dd|d)_?(\d+)", 1, 3, 2),
            (r"(dd|d)_?([A-Za-z]+?)_?(\d+)", 2, 3, 1),
            (r"([A-Za-z]+?)_?(ddot|dot)_?(\d+)", 1, 3, 2),
            (r"([A-Za-z]+?)_?(\d+)_?(ddot|dot|dd|d|pp|p)", 1, 2, 3),
        ):
            match = re.fullmatch(pattern, name)
            if match and match[stem] in ANGLES and match[stem] not in ("d", "x"):
                found = self._coordinate(f"{match[stem]}{match[place]}")
                if found is not None:
                    return self.rate(found, 2 if match[rate] in ("dd", "ddot", "pp") else 1)
        return None

    def rate(self, coordinate: Node, times: int) -> Node:
        """The derivative by time of q1 or qd1."""
        match = re.fullmatch(r"q(d*)(\d+)", str(coordinate.value))
        if match is None:
            return symbol(f"{coordinate.value}dot", kind="parameter")
        return symbol(f"q{'d' * (len(match[1]) + times)}{match[2]}")

    def _trig(self, key: str) -> Node | None:
        match = re.fullmatch(r"(SS|CC|CS|SC|[sScC])(\d+)", key)
        if match is None or any(not 1 <= int(digit) <= self.n for digit in match[2]):
            return None
        angle = constant(0)
        for digit in match[2]:
            angle = angle + symbol(f"q{digit}")
        found = constant(1)
        for letter in match[1].lower():
            found = found * (angle.sin() if letter == "s" else angle.cos())
        return found


def _key(name: str) -> str:
    """A name without marks between letters and indices."""
    return re.sub(r"[_\s,{}\\]", "", name)
