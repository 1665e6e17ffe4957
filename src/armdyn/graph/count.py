"""What a straight-line program of an expression graph executes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from heapq import heapify, heappop, heapreplace
from itertools import chain
from operator import attrgetter
from typing import Any

from armdyn.graph.node import ADD, COS, DIV, MUL, NEG, OPERATIONS, SIN, SQRT, SUB, Node
from armdyn.graph.structure import leaves, nodes_of, ordered


@dataclass(frozen=True)
class Operations:
    """Operations at run time; those on parameters only, done once off-line, are in `offline`.

    A subtraction is an addition; a multiplication by a constant counts. `negations` are sign changes that no
    neighbouring operation absorbs; `others` are sign, abs, exp, atan2 and select.
    """

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    trigonometric: int = 0
    square_roots: int = 0
    negations: int = 0
    others: int = 0
    offline: Operations | None = None

    @property
    def total(self) -> int:
        """All operations at run time but sign changes."""
        arithmetic = self.multiplications + self.additions + self.divisions
        return arithmetic + self.trigonometric + self.square_roots + self.others

    def __str__(self) -> str:
        words = {
            "multiplications": self.multiplications,
            "additions": self.additions,
            "divisions": self.divisions,
            "sines and cosines": self.trigonometric,
            "square roots": self.square_roots,
            "negations": self.negations,
            "others": self.others,
        }
        counted = [f"{count} {_one(name) if count == 1 else name}" for name, count in words.items() if count]
        text = ", ".join(counted) or "no operations"
        return f"{text}; off-line: {self.offline}" if self.offline and self.offline != Operations() else text


def _one(name: str) -> str:
    return "sine or cosine" if name == "sines and cosines" else name.removesuffix("s")


_FIELD = {
    MUL: "multiplications",
    ADD: "additions",
    SUB: "additions",
    DIV: "divisions",
    SIN: "trigonometric",
    COS: "trigonometric",
    SQRT: "square_roots",
    NEG: "negations",
}
_NAMES = tuple(field.name for field in fields(Operations) if field.name != "offline")
_KIND, _ARGS = attrgetter("op", "online"), attrgetter("args")


def count_operations(outputs: Any, order: Sequence[Node] | None = None) -> Operations:
    """Operations of the program that computes all the outputs, shared parts once. order: its nodes, if they are known.

    >>> from armdyn.graph import symbols
    >>> (x, y), (m, l) = symbols("x y"), symbols("m l", "parameter")
    >>> print(count_operations((m * l * x + y, (m * l) * y)))
    2 multiplications, 1 addition; off-line: 1 multiplication
    """
    nodes = nodes_of(outputs)
    order = ordered(nodes) if order is None else order
    counts = Counter(map(_KIND, order))
    counts.subtract(map(_KIND, _free_negations(nodes, order)))
    found: dict[bool, dict[str, Any]] = {at_run_time: dict.fromkeys(_NAMES, 0) for at_run_time in (True, False)}
    for (op, at_run_time), count in counts.items():
        if op in OPERATIONS:
            found[at_run_time][_FIELD.get(op, "others")] += count
    return Operations(**found[True], offline=Operations(**found[False]))


def span(outputs: Any) -> int:
    """Operations of the longest chain of which each needs the result of the one before: the time on many processors.

    The terms of a sum are added in the order that makes the chain shortest, as a tree. Sign changes and operations on
    parameters only do not count, as in `Operations.total`.

    >>> from armdyn.graph import symbols
    >>> x, y = symbols("x y")
    >>> span((x * x + y * y, x.sin() * y))
    2
    """
    nodes = ordered(nodes_of(outputs))
    uses = Counter(arg for node in nodes for arg in node.args)
    depth: dict[Node, int] = {}
    terms: dict[Node, list[int]] = {}
    for node in nodes:
        if node.op in (ADD, SUB) and node.online:
            inner = [terms[arg] if uses[arg] == 1 and arg in terms else [depth[arg]] for arg in node.args]
            terms[node] = [each for part in inner for each in part]
            depth[node] = _added(terms[node])
        else:
            before = max((depth[arg] for arg in node.args), default=0)
            depth[node] = before + (1 if node.args and node.online and node.op != NEG else 0)
    return max(depth.values(), default=0)


def _added(depths: list[int]) -> int:
    """When a sum is known whose terms are known at given times: the two earliest are added first."""
    waiting = list(depths)
    heapify(waiting)
    while len(waiting) > 1:
        heappop(waiting)
        heapreplace(waiting, waiting[0] + 1)
    return waiting[0]


def together(parts: Sequence[tuple[Operations, int]]) -> Operations:
    """Operations at run time of several programs, each of which is executed so many times."""
    return Operations(*(sum(times * getattr(count, name) for count, times in parts) for name in _NAMES))


def _free_negations(outputs: Any, order: Sequence[Node]) -> list[Node]:
    """-(a - b) costs nothing where a - b itself is not needed: the program writes b - a."""
    negations = [node for node in order if node.op == NEG and node.args[0].op == SUB]
    uses = uses_of(outputs, order) if negations else {}
    return [node for node in negations if uses[node.args[0]] == 1]


def uses_of(outputs: Any, order: Sequence[Node]) -> Counter[Node]:
    """How often nodes are operands or outputs."""
    uses = Counter(chain.from_iterable(map(_ARGS, order)))
    uses.update(leaves(outputs))
    return uses
