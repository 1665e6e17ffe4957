"""Expressions as text of a programming language: sums and products laid out as one writes them by hand.

A dialect says how a language spells numbers and functions. The text executes exactly the operations of the graph: a
chain of sums or of products is written without brackets, which changes the order of rounding and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol

from armdyn.graph import Node
from armdyn.graph.angle import natural_key
from armdyn.graph.node import ADD, CONST, DIV, MUL, NEG, PI_OP, SUB, SYMBOL, Number

SUM, PRODUCT, ATOM = 1, 2, 3
"""How strongly a text binds."""


class Dialect(Protocol):
    """The spelling of a language."""

    def number(self, value: Number) -> str:
        """A positive number."""

    def pi(self) -> str: ...

    def name(self, name: str) -> str:
        """An identifier of the program."""

    def function(self, op: str, arguments: list[str]) -> str:
        """One of sin, cos, sqrt, exp, sign, abs, select; the text must bind like a name."""

    def product(self, factors: list[str]) -> str: ...

    def quotient(self, top: str, bottom: str) -> str: ...

    def bracket(self, text: str) -> str: ...

    quotient_needs_brackets: bool


class Writer:
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
            return (f"-{text}", SUM) if node.value < 0 else (text, ATOM)
        if node.op in (ADD, SUB, NEG):
            return self._sum(node)
        if node.op == MUL:
            return self._product(node), PRODUCT
        if node.op == DIV:
            levels = (PRODUCT, ATOM) if self.dialect.quotient_needs_brackets else (0, 0)
            top, bottom = (self.write(arg, level) for arg, level in zip(node.args, levels, strict=True))
            return self.dialect.quotient(top, bottom), PRODUCT
        return self.dialect.function(node.op, [self.write(arg) for arg in node.args]), ATOM

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
        factors, stack = [], list(node.args)
        while stack:
            part = stack.pop()
            if part.op == MUL and part not in self.names:
                stack += part.args
            elif flip and part.op == SUB and part not in self.names:
                flip = False
                factors.append((True, part.online, self.dialect.bracket(self._sum(part, -1)[0])))
            else:
                factors.append((part.op != CONST, part.online, self.write(part, ATOM)))
        if flip:
            return ""
        factors.sort(key=lambda each: (*each[:2], _order(each[2])))
        return self.dialect.product([word for *_, word in factors])


def _order(word: str) -> tuple[int, list[str | int]]:
    """Names first, then functions, then brackets."""
    return 2 if word.startswith("(") else 1 if "(" in word else 0, natural_key(word)


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
