"""Arithmetic in robot files: a small parser that knows numbers, names, + - * / **, and a few functions.

It builds expression nodes and executes nothing: there is no attribute, no call of anything but the functions
listed here, no string, no index. Sizes are bounded, so a hostile file costs no more than an error message.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from fractions import Fraction
from typing import Any

from armdyn.errors import ExpressionError, unknown_name
from armdyn.graph import PI, Node, constant, symbol

LONGEST = 1000
DEEPEST = 50
LARGEST_EXPONENT = 64

FUNCTIONS: dict[str, Callable[[Node], Any]] = {"sin": Node.sin, "cos": Node.cos, "sqrt": Node.sqrt}
FUNCTIONS["tan"] = lambda x: x.sin() / x.cos()

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<sign>\*\*|[-+*/()]))"
)


def parse(text: str, names: Collection[str]) -> Any:
    """The expression as a node (or a plain number), in symbols for the given names.

    >>> parse("2*l1 - pi/2", {"l1"}) is not None
    True
    """
    if len(text) > LONGEST:
        raise ExpressionError(f"an expression of {len(text)} characters", expected=f"at most {LONGEST}")
    return _Parser(text, names).parse()


class _Parser:
    """Recursive descent, one method per level of precedence."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        self.text, self.names = text, names
        self.tokens = self._tokens()
        self.position = 0
        self.depth = 0

    def _tokens(self) -> list[tuple[str, str, int]]:
        tokens, at = [], 0
        while self.text[at:].strip():
            match = _TOKEN.match(self.text, at)
            if match is None or match.lastgroup is None:
                place = at + len(self.text[at:]) - len(self.text[at:].lstrip())
                raise self._error(f"{self.text[place]!r} has no meaning here", place)
            tokens.append((match.lastgroup, match.group(match.lastgroup), match.start(match.lastgroup)))
            at = match.end()
        return tokens

    def _error(self, what: str, at: int) -> ExpressionError:
        shown = self.text if len(self.text) <= 60 else self.text[:57] + "..."
        return ExpressionError(
            f"{what} (column {at + 1} of {shown!r})",
            expected=f"numbers, names, + - * / **, parentheses, pi, {', '.join(FUNCTIONS)}",
        )

    def _peek(self) -> str:
        return self.tokens[self.position][1] if self.position < len(self.tokens) else ""

    def _take(self) -> tuple[str, str, int]:
        if self.position == len(self.tokens):
            raise self._error("the expression ends too early", len(self.text))
        self.position += 1
        return self.tokens[self.position - 1]

    def parse(self) -> Any:
        try:
            value = self._sum()
        except (ZeroDivisionError, OverflowError, ValueError) as error:
            raise self._error(f"cannot be evaluated: {error}", 0) from None
        if self.position < len(self.tokens):
            _, token, at = self.tokens[self.position]
            raise self._error(f"{token!r} is not expected here", at)
        return value

    def _sum(self) -> Any:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self._error(f"more than {DEEPEST} levels of nesting", 0)
        value = self._product()
        while self._peek() in ("+", "-"):
            sign = self._take()[1]
            other = self._product()
            value = value + other if sign == "+" else value - other
        self.depth -= 1
        return value

    def _product(self) -> Any:
        value = self._signed()
        while self._peek() in ("*", "/"):
            _, sign, at = self._take()
            other = self._signed()
            value = value * other if sign == "*" else self._quotient(value, other, at)
        return value

    def _quotient(self, a: Any, b: Any, at: int) -> Any:
        if not isinstance(b, Node) and b == 0:
            raise self._error("division by zero", at)
        if isinstance(a, int) and isinstance(b, int):
            return Fraction(a, b)
        return a / b

    def _signed(self) -> Any:
        minus = False
        while self._peek() in ("+", "-"):
            minus ^= self._take()[1] == "-"
        value = self._power()
        return -value if minus else value

    def _power(self) -> Any:
        value = self._atom()
        if self._peek() != "**":
            return value
        at = self._take()[2]
        minus = self._peek() == "-" and bool(self._take())
        exponent = self._atom()
        if not isinstance(exponent, int) or abs(exponent) > LARGEST_EXPONENT:
            raise self._error(f"an exponent must be a whole number up to {LARGEST_EXPONENT}", at)
        if minus:
            return self._quotient(1, value**exponent, at)
        return value**exponent

    def _atom(self) -> Any:
        kind, token, at = self._take()
        if kind == "number":
            return self._number(token, at)
        if kind == "name":
            return self._named(token, at)
        if token == "(":
            value = self._sum()
            self._close(at)
            return value
        raise self._error(f"{token!r} is not expected here", at)

    def _number(self, token: str, at: int) -> int | float:
        if token.isdigit() and len(token) <= 18:
            return int(token)
        value = float(token)
        if not math.isfinite(value):
            raise self._error(f"{token} is too large", at)
        return value

    def _named(self, name: str, at: int) -> Any:
        if self._peek() == "(":
            if name not in FUNCTIONS:
                raise unknown_name("function", name, FUNCTIONS, where=f"expression {self.text!r}")
            self._take()
            argument = self._sum()
            self._close(at)
            return FUNCTIONS[name](argument if isinstance(argument, Node) else constant(argument))
        if name in self.names:
            return symbol(name, kind="parameter")
        if name == "pi":
            return PI
        raise unknown_name("parameter", name, [*self.names, "pi"], where=f"expression {self.text!r}")

    def _close(self, at: int) -> None:
        if self._peek() != ")":
            raise self._error("a parenthesis is not closed", at)
        self._take()
