r"""LaTeX for paper: the width of a formula as TeX will set it, and line breaks that keep it within a column.

TeX breaks no displayed formula by itself. Widths are those of Computer Modern at 10 pt (Times, which many journals use,
is narrower), so lines can be broken where sums and products allow it without running TeX. Brackets are written with
fixed sizes, \bigl( instead of \left(, because a pair of \left and \right must stand on one line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from armdyn.formula_lines import breaks
from armdyn.graph.node import ABS, SQRT, Node
from armdyn.graph.render import LatexStyle, rendered

EM = 10.0
"""One em, pt."""
_LETTERS = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        (
            750,
            759,
            715,
            828,
            738,
            643,
            786,
            831,
            440,
            555,
            849,
            681,
            970,
            803,
            763,
            642,
            791,
            759,
            613,
            584,
            683,
            583,
            944,
            828,
            581,
            683,
            529,
            429,
            433,
            520,
            466,
            490,
            477,
            576,
            345,
            412,
            521,
            298,
            878,
            600,
            485,
            503,
            446,
            451,
            469,
            361,
            572,
            485,
            716,
            572,
            490,
            465,
        ),
        strict=True,
    )
)
"""Widths of italic letters, 1/1000 em: the font cmmi10."""
_SIGNS = {
    "(": 389,
    ")": 389,
    "[": 278,
    "]": 278,
    "|": 278,
    ".": 278,
    ",": 445,
    "/": 500,
    "+": 1222,
    "-": 1222,
    "=": 1333,
    ":": 833,
    " ": 0,
    "&": 0,
}
"""Signs with the space that TeX puts around them; + and - as between two terms."""
_COMMANDS = {
    ",": 167,
    "quad": 1000,
    "cdot": 722,
    "sin": 1395,
    "cos": 1506,
    "exp": 1700,
    "ge": 1333,
    "bigl": 0,
    "bigr": 0,
    "Bigl": 0,
    "Bigr": 0,
    "pi": 570,
    "left": 0,
    "right": 0,
    "big": 0,
}
_GREEK = 660
_BIG_BRACKET = {"big": 70, "Big": 210}
"""What a larger bracket is wider than a plain one."""
_SCRIPT = 0.7 * 1.18
"""Width of a letter in an index; small sizes of the fonts are wider in proportion."""
_AFTER_SCRIPT, _FRACTION = 50, 240
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.", re.S)
WIDE_FRACTION = 80.0
"""A fraction with a wider numerator, pt, is written on the line, where it can be broken."""


class PaperStyle(LatexStyle):
    """LaTeX whose sums may be broken anywhere: brackets of fixed size, no wide fractions or roots."""

    def fraction(self, top: str, bottom: list[str]) -> str:
        if all(part.isdigit() for part in bottom):
            whole = re.match(r"(\d+)(?: |$)(.*)", top)
            number, rest = (whole[1], whole[2]) if whole else ("1", top)
            return rf"\tfrac{{{number}}}{{{' '.join(bottom)}}} {rest}".rstrip()
        below = self.times.join(bottom)
        if max(width(top), width(below)) <= WIDE_FRACTION:
            return super().fraction(top, bottom)
        return f"{top} / {below if len(bottom) == 1 else self.bracket(below)}"

    def bracket(self, text: str) -> str:
        size = r"\Big" if r"\frac" in text else r"\big" if "(" in text or r"\tfrac" in text else ""
        return rf"{size}l({text}{size}r)" if size else f"({text})"

    def function(self, op: str, arguments: list[str]) -> str:
        if op == SQRT and width(arguments[0]) > WIDE_FRACTION:
            return f"{self.bracket(arguments[0])}^{{1/2}}"
        if op == ABS:
            return rf"\bigl|{arguments[0]}\bigr|"
        return super().function(op, arguments)


def paper_latex(node: Node) -> str:
    """LaTeX of an expression that `lines` can break anywhere; numbers have six digits."""
    return str(rendered(node, PaperStyle()))


# Width --------------------------------------------------------------------------------------------------------------


def width(latex: str) -> float:
    r"""Width of a formula in display style, pt, as TeX sets it in Computer Modern at 10 pt.

    >>> round(width(r"m_{2} l_{1}^{2}"), 1)
    21.0
    """
    total, _ = _measured(_TOKEN.findall(latex), 0)
    return total * EM / 1000


def _measured(tokens: Sequence[str], at: int) -> tuple[float, int]:
    """Width of the tokens up to the closing brace, 1/1000 em, and the place behind it."""
    total, scripts = 0.0, [0.0, 0.0]
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token == "}":
            break
        if token in "_^":
            size, at = _argument(tokens, at)
            scripts[token == "^"] = size * _SCRIPT + _AFTER_SCRIPT
            continue
        total += max(scripts)
        scripts = [0.0, 0.0]
        if token == "{":
            size, at = _measured(tokens, at)
        else:
            size, at = _atom(tokens, token, at)
        total += size
    return total + max(scripts), at


def _atom(tokens: Sequence[str], token: str, at: int) -> tuple[float, int]:
    if not token.startswith("\\"):
        return float(_LETTERS.get(token, _SIGNS.get(token, 500))), at
    name = token[1:]
    if name in ("frac", "tfrac"):
        top, at = _argument(tokens, at)
        bottom, at = _argument(tokens, at)
        return max(top, bottom) * (_SCRIPT if name == "tfrac" else 1.0) + _FRACTION, at
    if name == "sqrt":
        size, at = _argument(tokens, at)
        return size + 1000, at
    if name in ("dot", "ddot", "overline", "operatorname", "text"):
        return _argument(tokens, at)
    if name in ("bigl", "bigr", "Bigl", "Bigr"):
        return float(_BIG_BRACKET[name[:3]]), at
    return float(_COMMANDS.get(name, _GREEK)), at


def _argument(tokens: Sequence[str], at: int) -> tuple[float, int]:
    while at < len(tokens) and tokens[at] == " ":
        at += 1
    if at == len(tokens):
        return 0.0, at
    return _measured(tokens, at + 1) if tokens[at] == "{" else _atom(tokens, tokens[at], at + 1)


# Lines --------------------------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """A place where a formula may be broken."""

    at: int
    depth: int
    factor: bool
    """Between two factors instead of before a sign."""


_FACTOR_DEPTH = 20
"""A break between factors is worse than one within this many brackets."""
_DEEPEST = 3
_DOT = 7.3
"""Width of the sign of multiplication with which a line may begin, pt."""


def lines(latex: str, room: float) -> list[str]:
    r"""The formula in lines that are at most `room` pt wide, further ones indented by \quad.

    Breaks stand before plus and minus signs, outside of brackets if possible, or between factors where one term is
    wider than a line.

    >>> print(*lines(r"a b + c_{2} (d - e) + f", 70.0), sep="\n")
    a b + c_{2} (d - e)
    \quad {} + f
    """
    places = _places(latex)
    cuts = [0, *(place.at for place in places), len(latex)]
    *marks, total = accumulate(width(latex[start:end]) for start, end in pairwise(cuts))
    indents = [EM * _quads(place) + _DOT * place.factor for place in places]
    chosen = breaks(marks, [place.depth for place in places], indents, total, room)
    ends = [places[k].at for k in chosen]
    parts = [latex[start:end].strip() for start, end in zip([0, *ends], [*ends, len(latex)], strict=True)]
    return [parts[0], *(_continued(part, places[k]) for part, k in zip(parts[1:], chosen, strict=True))]


def _quads(place: Place) -> int:
    return 1 + min(place.depth % _FACTOR_DEPTH, _DEEPEST)


def _continued(part: str, place: Place) -> str:
    indent = r"\quad" * _quads(place)
    return rf"{indent} {{}} \cdot {part}" if place.factor else rf"{indent} {{}} {part}"


_MARKS = re.compile(r"\\cdot |\\[A-Za-z]+(?=[(|])|\\[,A-Za-z]+ ?|[{}()]| [+-] |(?<=[}\w)]) (?=[\w\\(])")


def _places(latex: str) -> list[Place]:
    """Blanks outside of braces: before a sign of a sum, or between two factors."""
    found, braces, brackets = [], 0, 0
    for match in _MARKS.finditer(latex):
        token = match[0]
        if token in "{}":
            braces += 1 if token == "{" else -1
        elif token in "()":
            brackets += 1 if token == "(" else -1
        elif braces == 0 and token in (" + ", " - "):
            found.append(Place(match.start(), brackets, False))
        elif braces == 0 and token == " " and not latex.startswith(r"\cdot", match.end()):
            found.append(Place(match.start(), brackets + _FACTOR_DEPTH, True))
    return found
