"""Expressions as a textbook prints them: c23 for cos(q2 + q3), powers, fractions; plain text or LaTeX."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from typing import Any

from armdyn.graph.angle import linear_form, natural_key, natural_order
from armdyn.graph.expression_writer import Dialect, is_decimal
from armdyn.graph.node import (
    ABS,
    ADD,
    ATAN2,
    CONST,
    COS,
    DIV,
    EXP,
    MUL,
    NEG,
    PI_OP,
    SELECT,
    SIGN,
    SIN,
    SQRT,
    SUB,
    SYMBOL,
    Node,
)
from armdyn.graph.structure import is_scalar, nodes_of

GREEK = frozenset(
    """alpha beta gamma delta epsilon zeta eta theta vartheta kappa lambda mu nu xi pi rho sigma tau phi varphi
    chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega""".split()  # noqa: SIM905
)
_LETTER = "|".join(sorted(GREEK, key=len, reverse=True))
_GREEK_STEM = re.compile(f"({_LETTER})(?![a-z])")
_RATE_STEM = re.compile(rf"({_LETTER}|[A-Za-z])(_ddot|_dot|dd|d)(?=_?\d*$)")


_TOLD_APART = 80
"""Letters at the start of a term by which it is sorted; texts that are equal so far are compared as they are."""


DIGITS = 6
"""Significant digits of decimals that are read; programs and records have all of them."""
LARGEST_WHOLE = 10**9
"""Whole numbers from here on are written like decimals."""


class TextStyle(Dialect):
    """Plain text: `m3*(l1*c2 + r2*c23)^2`."""

    times, plus, minus, negative = "*", " + ", " - ", "-"

    def letters(self, word: str) -> str:
        """What is read of a word: terms are sorted by it."""
        return word

    def symbol(self, node: Node) -> str:
        return str(node.value)

    def power(self, base: str, exponent: int) -> str:
        return f"{base}^{exponent}"

    def fraction(self, top: str, bottom: list[str]) -> str:
        """A product over a product of factors."""
        below = self.times.join(bottom)
        return f"{top}/{self.bracket(below) if len(bottom) > 1 else below}"

    def number(self, value: Any) -> str:
        """A number as it is read: whole numbers and fractions exactly, decimals with six digits."""
        if is_decimal(value) or abs(value) >= LARGEST_WHOLE:
            return f"{float(value):.{DIGITS}g}".replace("e+", "e")
        return str(value)

    def short_trig(self, letter: str, indices: list[str]) -> str:
        return letter + ("_" if any(len(index) > 1 for index in indices) else "").join(indices)


class LatexStyle(TextStyle):
    r"""LaTeX: `m_{3} \left(l_{1} c_{2} + r_{2} c_{23}\right)^{2}`."""

    times = " "

    def symbol(self, node: Node) -> str:
        return latex_name(node.value, dots=node.online)

    def power(self, base: str, exponent: int) -> str:
        return f"{base}^{{{exponent}}}"

    def fraction(self, top: str, bottom: list[str]) -> str:
        return rf"\frac{{{top}}}{{{self.times.join(bottom)}}}"

    def bracket(self, text: str) -> str:
        return rf"\left({text}\right)"

    def function(self, op: str, arguments: list[str]) -> str:
        if op == SQRT:
            return rf"\sqrt{{{arguments[0]}}}"
        if op == ABS:
            return rf"\left|{arguments[0]}\right|"
        if op == SELECT:
            condition, yes, no = arguments
            return rf"\begin{{cases}} {yes} & {condition} \ge 0 \\ {no} & \text{{else}} \end{{cases}}"
        words = {SIN: r"\sin", COS: r"\cos", EXP: r"\exp", SIGN: r"\operatorname{sgn}", ATAN2: r"\operatorname{atan2}"}
        return words[op] + self.bracket(",\\, ".join(arguments))

    def short_trig(self, letter: str, indices: list[str]) -> str:
        between = "," if any(len(index) > 1 for index in indices) else ""
        return f"{letter}_{{{between.join(indices)}}}"

    def number(self, value: Any) -> str:
        text = super().number(value)
        if "e" in text:
            mantissa, exponent = text.split("e")
            return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"
        return text

    def pi(self) -> str:
        return r"\pi"


def latex_name(name: str, *, dots: bool = True) -> str:
    r"""A symbol name in LaTeX: Greek letters, indices, and dots for rates (parameters such as a gain kd have none).

    >>> print(*map(latex_name, ("qdd1", "theta_dot2", "theta12", "Ixx3", "l_c1", "g")))
    \ddot{q}_{1} \dot{\theta}_{2} \theta_{12} I_{xx3} l_{c1} g
    """
    stem, rate, index = name_parts(name, dots=dots)
    text = rf"\{stem}" if stem in GREEK else stem
    if rate:
        text = rf"\{'d' * rate}ot{{{text}}}"
    return f"{text}_{{{index}}}" if index else text


def name_parts(name: str, *, dots: bool = True) -> tuple[str, int, str]:
    """The letter a name begins with, how many dots it gets, and its index.

    >>> name_parts("qdd1"), name_parts("theta_dot2"), name_parts("kd", dots=False)
    (('q', 2, '1'), ('theta', 1, '2'), ('k', 0, 'd'))
    """
    rate = _RATE_STEM.match(name) if dots else None
    greek = _GREEK_STEM.match(name)
    stem = rate[1] if rate else greek[1] if greek else name[0]
    index = name[rate.end() if rate else len(stem) :].strip("_").replace("_", ",")
    return stem, 0 if rate is None else 2 if "dd" in rate[2] else 1, index


class _Renderer:
    def __init__(self, style: TextStyle) -> None:
        self.style = style
        self._trigs: dict[Node, tuple[str, tuple[Any, ...]]] = {}
        self._brackets: dict[Node, str] = {}
        self._products: dict[Node, tuple[Counter[Node], Any, list[Node]]] = {}

    def total(self, node: Node, factor: int = 1) -> str:
        """Text of a sum (or a single term) times 1 or -1, terms in a stable order, positive ones first."""
        terms = [self._term(factor * sign, part) for sign, part in _terms(node)]
        style = self.style
        terms.sort(key=lambda each: (each[0] < 0, self._term_order(each[1], style.letters(each[2]))))
        rest = "".join(f"{style.plus if sign > 0 else style.minus}{word}" for sign, _, word in terms[1:])
        return ("" if terms[0][0] > 0 else style.negative) + terms[0][2] + rest

    def _term(self, sign: int, part: Node) -> tuple[int, Node, str]:
        """A term with its sign; -(a - b)*c is written (b - a)*c."""
        if sign < 0:
            for factor, power in self._gathered(part)[0].items():
                if factor.op == SUB and power == 1:
                    return 1, part, self.product(part, turned=factor)
        return sign, part, self.product(part)

    def product(self, node: Node, turned: Node | None = None) -> str:
        """Text of one term: number, parameters, brackets, sines and cosines, variables; powers gathered.

        The factor `turned`, a difference, is written the other way round.
        """
        powers, number, divisors = self._gathered(node)
        ordered_factors = sorted(powers.items(), key=self._factor_order)
        words = [self._word(part, power, -1 if part is turned else 1) for part, power in ordered_factors]
        exact = None if is_decimal(number) else Fraction(number)
        bottom = [self.factor(part) for part in divisors]
        if exact is not None and exact.denominator != 1:
            bottom.insert(0, self.style.number(exact.denominator))
            number = exact.numerator
        if number != 1 or not words:
            words.insert(0, self.style.number(number))
        top = self.style.times.join(words)
        return self.style.fraction(top, bottom) if bottom else top

    def _word(self, node: Node, power: int, factor: int) -> str:
        base = self.factor(node) if factor == 1 else self.style.bracket(self.total(node, factor))
        return base if power == 1 else self.style.power(base, power)

    def factor(self, node: Node) -> str:
        """Text that binds at least as strongly as a product."""
        if node.op == SYMBOL:
            return self.style.symbol(node)
        if node.op == PI_OP:
            return self.style.pi()
        if node.op in (SIN, COS):
            return self._trig(node)[0]
        if node.op == CONST:
            return self.style.number(node.value)
        if node.op in (ADD, SUB, NEG, MUL, DIV):
            if node not in self._brackets:
                self._brackets[node] = self.style.bracket(self.total(node))
            return self._brackets[node]
        return self.style.function(node.op, [self.total(arg) for arg in node.args])

    def _trig(self, node: Node) -> tuple[str, tuple[Any, ...]]:
        """Text and place among the factors of a sine or cosine; there are few, which occur often."""
        if node not in self._trigs:
            indices = _joint_indices(node.args[0])
            short = self.style.short_trig(node.op[0], indices) if indices else ""
            word = short or self.style.function(node.op, [self.total(node.args[0])])
            self._trigs[node] = word, (3, natural_key(repr(node)))
        return self._trigs[node]

    def _factor_order(self, item: tuple[Node, int]) -> tuple[Any, ...]:
        node = item[0]
        if node.op == SYMBOL:
            return (4 if node.online else 0, natural_order(node))
        if node.op == PI_OP:
            return (-1,)
        if node.op in (SIN, COS):
            return self._trig(node)[1]
        return (2 if node.op in (ADD, SUB) else 1, node.key)

    def _term_order(self, node: Node, text: str) -> tuple[Any, ...]:
        """Terms with accelerations, then with other variables, then the constant ones; a before 2 b."""
        rates = sorted(part.value for part in self._gathered(node)[0] if part.op == SYMBOL and part.online)
        has_acceleration = any("dd" in name for name in rates)
        letters = re.sub(r"^[\d.]+[* ]", "", text)
        start = natural_key(letters[:_TOLD_APART])
        return (not has_acceleration, not rates, rates, not node.online, node.op == CONST, start, letters)

    def _gathered(self, node: Node) -> tuple[Counter[Node], Any, list[Node]]:
        if node not in self._products:
            self._products[node] = _gathered(node)
        return self._products[node]


def _terms(node: Node) -> list[tuple[int, Node]]:
    terms, stack = [], [(1, node)]
    while stack:
        sign, part = stack.pop()
        if part.op == NEG:
            stack.append((-sign, part.args[0]))
        elif part.op in (ADD, SUB):
            stack += [(sign, part.args[0]), (sign if part.op == ADD else -sign, part.args[1])]
        elif part.op == CONST and part.value < 0:
            terms.append((-sign, -part))
        else:
            terms.append((sign, part))
    return terms


def _gathered(node: Node) -> tuple[Counter[Node], Any, list[Node]]:
    """Powers of the factors of a term, its number, and what it is divided by."""
    powers: Counter[Node] = Counter()
    number: Any = 1
    divisors: list[Node] = []
    stack = [node]
    while stack:
        part = stack.pop()
        if part.op == MUL:
            stack += part.args
        elif part.op == CONST:
            number = number * part.value
        elif part.op == DIV:
            stack.append(part.args[0])
            divisors.append(part.args[1])
        else:
            powers[part] += 1
    return powers, number, divisors


def _joint_indices(angle: Node) -> list[str]:
    """["2", "3"] for q2 + q3: symbols of one stem, each once, no constant; else nothing."""
    terms, quarters, offset = linear_form(angle)
    if quarters or offset or any(atom.op != SYMBOL or factor != 1 for atom, factor in terms.items()):
        return []
    names = [re.fullmatch(r"([A-Za-z]+)_?(\d+)", atom.value) for atom in sorted(terms, key=natural_order)]
    stems = {match[1] for match in names if match}
    return [match[2] for match in names if match] if all(names) and len(stems) == 1 else []


def text(expression: Any) -> Any:
    """Textbook-like plain text; nested expressions give nested texts.

    >>> from armdyn.graph import symbols
    >>> (q1, q2, qd2), (m, l) = symbols("q1 q2 qd2"), symbols("m l", "parameter")
    >>> text(m * l * l * (q1 + q2).cos() * qd2 * qd2 / 2 - m * l)
    'l^2*m*c12*qd2^2/2 - l*m'
    """
    return rendered(expression, TextStyle())


def latex(expression: Any) -> Any:
    r"""LaTeX of a scalar; of a sequence a column, of nested sequences a matrix (`bmatrix`).

    >>> from armdyn.graph import symbols
    >>> (q1, q2, qd2), (m, l) = symbols("q1 q2 qd2"), symbols("m l", "parameter")
    >>> print(latex(m * l * l * (q1 + q2).cos() * qd2 * qd2 / 2 - m * l))
    \frac{l^{2} m c_{12} \dot{q}_{2}^{2}}{2} - l m
    """
    nodes = nodes_of(expression)
    if is_scalar(nodes):
        return _Renderer(LatexStyle()).total(nodes)
    rows = [[row] if is_scalar(row) else row for row in nodes]
    total = _Renderer(LatexStyle()).total
    lines = (" & ".join(total(entry) for entry in row) for row in rows)
    return r"\begin{bmatrix} " + r" \\ ".join(lines) + r" \end{bmatrix}"


def rendered(expression: Any, style: TextStyle) -> Any:
    return _all(nodes_of(expression), _Renderer(style))


def _all(nodes: Any, renderer: _Renderer) -> Any:
    return renderer.total(nodes) if is_scalar(nodes) else tuple(_all(part, renderer) for part in nodes)
