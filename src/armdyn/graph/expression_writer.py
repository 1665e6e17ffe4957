"""Expressions as text: sums and products laid out as one writes them by hand, in the spelling of any language.

A dialect says how a language spells numbers and functions. The text executes exactly the operations of the graph: a
chain of sums or of products is written without brackets, which changes the order of rounding and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from armdyn.graph.angle import natural_key
from armdyn.graph.node import ADD, ATAN2, CONST, DIV, MUL, NEG, PI_OP, SELECT, SUB, SYMBOL, Node, Number
from armdyn.graph.structure import ordered

LARGEST_DENOMINATOR = 12
"""Fractions up to this denominator are written as such: x/3, 5*x/12; others as decimals, 0.37*x."""
SUM, PRODUCT, ATOM = 1, 2, 3
"""How strongly a text binds."""


def is_decimal(value: Number) -> bool:
    """Whether a number is written as a decimal: a measured one, not 3 or 1/2."""
    return isinstance(value, float) or value.denominator > LARGEST_DENOMINATOR


class Dialect:
    """Plain text, and what most languages have in common with it."""

    exact = True
    """Whether fractions are written as such: x/3 instead of 0.3333333333333333*x."""
    quotient_needs_brackets = True

    def number(self, value: Number) -> str:
        """A positive number."""
        return str(value) if self.exact and not is_decimal(value) else repr(float(value))

    def pi(self) -> str:
        return "pi"

    def name(self, name: str) -> str:
        """An identifier of the program."""
        return name

    def function(self, op: str, arguments: list[str]) -> str:
        """One of sin, cos, sqrt, exp, sign, abs, atan2, select; the text must bind like a name."""
        return f"{op}({', '.join(arguments)})"

    def product(self, factors: list[str]) -> str:
        return "*".join(factors)

    def quotient(self, top: str, bottom: str) -> str:
        return f"{top}/{bottom}"

    def bracket(self, text: str) -> str:
        return f"({text})"


class Python(Dialect):
    """Python with NumPy, or with another library of its interface, as `np`."""

    exact = False

    def pi(self) -> str:
        return "np.pi"

    def function(self, op: str, arguments: list[str]) -> str:
        if op == SELECT:
            return f"np.where({arguments[0]} >= 0.0, {arguments[1]}, {arguments[2]})"
        if op == ATAN2:
            op = "arctan2"
        return f"np.{super().function(op, arguments)}"


class ExpressionWriter:
    """Text of nodes; those that have a name are written as that name."""

    def __init__(self, names: Mapping[Node, str], dialect: Dialect) -> None:
        self.names, self.dialect = names, dialect

    def definition(self, node: Node) -> str:
        """The node spelled out one level deep: the right side of its assignment."""
        return self._plain(node)[0]

    def write(self, node: Node, level: int = 0) -> str:
        """The node as an operand of the given binding strength."""
        if node in self.names:
            return self.dialect.name(self.names[node])
        text, strength = self._plain(node)
        return self.dialect.bracket(text) if strength < level else text

    def _plain(self, node: Node) -> tuple[str, int]:
        if node.op == SYMBOL:
            return self.dialect.name(node.value), ATOM
        if node.op == PI_OP:
            return self.dialect.pi(), ATOM
        if node.op == CONST:
            text = self.dialect.number(abs(node.value))
            return (f"-{text}", SUM) if node.value < 0 else (text, PRODUCT if self._is_fraction(node) else ATOM)
        if node.op in (ADD, SUB, NEG):
            return self._sum(node)
        if node.op == MUL:
            return self._product(node), PRODUCT
        if node.op == DIV:
            levels = (PRODUCT, ATOM) if self.dialect.quotient_needs_brackets else (0, 0)
            top, bottom = (self.write(arg, level) for arg, level in zip(node.args, levels, strict=True))
            return self.dialect.quotient(top, bottom), PRODUCT
        return self.dialect.function(node.op, [self.write(arg) for arg in node.args]), ATOM

    def _is_fraction(self, node: Node) -> bool:
        return self.dialect.exact and isinstance(node.value, Fraction) and not is_decimal(node.value)

    def _sum(self, node: Node, factor: int = 1) -> tuple[str, int]:
        signed = [self._signed(factor * sign, term) for sign, term in self._terms(node)]
        signed.sort(key=lambda each: (each[0] < 0, each[2].op == CONST, _order(each[1])))
        text = "".join(f"{' + ' if sign > 0 else ' - '}{word}" for sign, word, _ in signed)
        return (text[3:] if text.startswith(" + ") else "-" + text[3:]), SUM

    def _signed(self, sign: int, term: Node) -> tuple[int, str, Node]:
        """A term with its sign; -(a - b)*c is turned to +(b - a)*c, since either orientation costs the same."""
        if term.op == CONST and term.value < 0:
            return -sign, self.dialect.number(-term.value), term
        if sign < 0 and term.op == MUL and term not in self.names:
            text = self._product(term, flip=True)
            if text:
                return 1, text, term
        return sign, self.write(term, PRODUCT), term

    def _terms(self, node: Node) -> list[tuple[int, Node]]:
        terms, stack = [], [(1, node)]
        while stack:
            sign, part = stack.pop()
            inline = part is node or part not in self.names
            if part.op == NEG and inline:
                stack.append((-sign, part.args[0]))
            elif part.op in (ADD, SUB) and inline:
                stack += [(sign, part.args[0]), (sign if part.op == ADD else -sign, part.args[1])]
            else:
                terms.append((sign, part))
        return terms

    def _product(self, node: Node, flip: bool = False) -> str:
        """Text of a product; with `flip`, of its negative, or "" if no difference can be turned round."""
        factors, stack, divisor = [], list(node.args), 1
        while stack:
            part = stack.pop()
            if part.op == MUL and part not in self.names:
                stack += part.args
            elif part.op == CONST and self._is_fraction(part) and divisor == 1:
                divisor = part.value.denominator  # x/3 reads better than 1/3*x
                if part.value.numerator != 1:
                    factors.append((False, False, str(part.value.numerator)))
            elif flip and part.op == SUB and part not in self.names:
                flip = False
                factors.append((True, part.online, self.dialect.bracket(self._sum(part, -1)[0])))
            else:
                factors.append((part.op != CONST, part.online, self.write(part, ATOM)))
        if flip:
            return ""
        factors.sort(key=lambda each: (*each[:2], _order(each[2])))
        text = self.dialect.product([word for *_, word in factors])
        return text if divisor == 1 else self.dialect.quotient(text, str(divisor))


def _order(word: str) -> tuple[int, list[str | int]]:
    """Names first, then functions, then brackets."""
    return 2 if word.startswith("(") else 1 if "(" in word else 0, natural_key(word)


def infix(node: Node, limit: int | None = None) -> str:
    """One line of text, or a summary if the expression spelled out has more than `limit` nodes.

    >>> from armdyn.graph import symbols
    >>> x, y = symbols("x y")
    >>> infix(2 * x * (y - x) - y / 3)
    '2*x*(y - x) - y/3'
    """
    order = ordered(node)
    size: dict[Node, int] = {}
    for part in order:
        size[part] = 1 + sum(size[arg] for arg in part.args)
    if limit is not None and size[node] > limit:
        return f"<{node.op} of {len(order)} nodes>"
    return ExpressionWriter({}, Dialect()).write(node)


def folded(line: str, width: int, indent: str) -> list[str]:
    """The line broken before signs of sums, or before factors if need be, so that every part fits the width.

    >>> folded("    t1 = a*b + c*d - e*f;", 20, "    ")
    ['    t1 = a*b + c*d', '        - e*f;']
    """
    parts = []
    while len(line) > width:
        at = _break(line, width)
        if at is None:
            break
        parts.append(line[:at].rstrip())
        line = indent * 2 + line[at:].lstrip()
    return [*parts, line]


_PLACES = (re.compile(r" (?=[+-] )"), re.compile(r"(?<=\*)(?=[A-Za-z(0-9])"), re.compile(r"(?<=, )"))


def _break(line: str, width: int) -> int | None:
    start = len(line) - len(line.lstrip()) + 12
    for pattern in _PLACES:
        places = [match.start() for match in pattern.finditer(line) if start < match.start() <= width]
        if places:
            outermost = min(_depth(line, at) for at in places if at > width // 2) if places[-1] > width // 2 else 0
            fitting = [at for at in places if _depth(line, at) <= outermost] or places
            return fitting[-1]
    later = [match.start() for match in _PLACES[0].finditer(line) if match.start() > width]
    return later[0] if later else None


def _depth(line: str, at: int) -> int:
    return line.count("(", 0, at) - line.count(")", 0, at)
