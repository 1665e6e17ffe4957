"""Instructions of single operations, for one sample or for a vector of samples."""

from __future__ import annotations

from collections.abc import Callable

from armdyn.errors import ArmdynError
from armdyn.graph import Node, to_float
from armdyn.graph.node import ABS, ADD, COS, DIV, EXP, MUL, NEG, SELECT, SIGN, SIN, SQRT, SUB, SYMBOL
from armdyn.kernels.ir_writer import Constants, Writer, flags, integers, splat, suffix, vector, whole
from armdyn.kernels.straight.schedule import Plan

_ARITHMETIC = {ADD: "fadd", SUB: "fsub", MUL: "fmul", DIV: "fdiv"}
_INTRINSIC = {SQRT: "sqrt", ABS: "fabs", EXP: "exp"}


def operation(w: Writer, lanes: int, plan: Plan, node: Node, value: Callable[[Node], str]) -> str:
    """The instructions of one node whose operands have these values; sines and cosines are not written here."""
    kind, op = vector(lanes), node.op
    if node in plan.fused:
        return _fused(w, lanes, node, plan.fused[node], value)
    args = [value(arg) for arg in node.args]
    if op in _ARITHMETIC:
        return w.put(f"{_ARITHMETIC[op]} {kind} {args[0]}, {args[1]}")
    if op == NEG:
        return w.put(f"fneg {kind} {args[0]}")
    if op in _INTRINSIC:
        return w.put(f"call {kind} @llvm.{_INTRINSIC[op]}.{suffix(lanes)}({kind} {args[0]})")
    if op == SELECT:
        return _choice(w, lanes, _tested(w, lanes, args[0], "sge", "or", "oeq"), args[1], args[2])
    if op == SIGN:  # zero and NaN stay what they are
        positive = _tested(w, lanes, args[0], "sgt", "and", "une")
        negative = _tested(w, lanes, args[0], "slt", "and", "une")
        below = _choice(w, lanes, negative, splat(-1.0, lanes), args[0])
        return _choice(w, lanes, positive, splat(1.0, lanes), below)
    raise ArmdynError(f"no machine code for the operation {op!r}")


def _fused(w: Writer, lanes: int, node: Node, place: int, value: Callable[[Node], str]) -> str:
    """a*b + c, a*b - c or c - a*b; sign changes cost nothing, because the instruction has them."""
    kind = vector(lanes)
    product, other = node.args[place], value(node.args[1 - place])
    a, b = (value(arg) for arg in product.args)
    if node.op == SUB and place == 0:
        other = w.put(f"fneg {kind} {other}")
    elif node.op == SUB:
        a = w.put(f"fneg {kind} {a}")
    return w.fma(lanes, a, b, other)


def _tested(w: Writer, lanes: int, x: str, order: str, join: str, equality: str) -> str:
    """The sign of x, as bits, with zero apart and false for NaN: LLVM's comparisons of order would report NaN."""
    kind, ints, bools = vector(lanes), integers(lanes), flags(lanes)
    bits = w.put(f"bitcast {kind} {x} to {ints}")
    sign = w.put(f"icmp {order} {ints} {bits}, {whole(0, lanes)}")
    zero = w.put(f"fcmp {equality} {kind} {x}, {splat(0.0, lanes)}")
    number = w.put(f"fcmp ord {kind} {x}, {splat(0.0, lanes)}")
    return w.put(f"and {bools} {w.put(f'{join} {bools} {sign}, {zero}')}, {number}")


def _choice(w: Writer, lanes: int, holds: str, yes: str, no: str) -> str:
    kind = vector(lanes)
    return w.put(f"select {flags(lanes)} {holds}, {kind} {yes}, {kind} {no}")


class Body:
    """Values of nodes as they are written; `read` loads an input when it is first needed.

    LLVM gives out the registers. angles: sines and cosines, which are written before the nodes that need them.
    """

    def __init__(self, w: Writer, lanes: int, plan: Plan, read: Callable[[Node], str], constants: Constants) -> None:
        self.w, self.lanes, self.plan, self.constants = w, lanes, plan, constants
        self.angles: dict[Node, tuple[str, str]] = {}
        self.in_memory: set[Node] = set()
        self._read = read
        self._values: dict[Node, str] = {}
        self._used: dict[Node, int] = {}
        self._count = 0

    def value(self, node: Node) -> str:
        """The value of a node that is a leaf or has been written."""
        self._used[node] = self._count
        known = self._values.get(node)
        if known is None:
            if node.op == SYMBOL or node in self.in_memory:
                known = self._read(node)
            elif node.online:
                raise AssertionError(f"{node!r} is needed before it is computed")
            else:
                return self.constants.load(self.w, float(to_float(node)), self.lanes)
            self._values[node] = known
        return known

    def write(self, node: Node) -> None:
        """The instructions of one node, unless they are there already."""
        if node not in self._values and node not in self.in_memory:
            if node.op in (SIN, COS):
                value = self.angles[node.args[0]][node.op == COS]
            else:
                value = operation(self.w, self.lanes, self.plan, node, self.value)
            self._values[node] = value
            self._used[node] = self._count = self._count + 1

    def forget(self, age: int) -> None:
        """Values that are in memory are loaded again where they are needed next: no register is kept for them.

        age: operations since the last use. What has just been stored cannot be loaded at once without waiting.
        """
        self._values = {
            node: value
            for node, value in self._values.items()
            if (node.op != SYMBOL and node not in self.in_memory) or self._count - self._used[node] < age
        }


def joined(w: Writer, lanes: int, parts: list[str]) -> str:
    """Vectors of that many lanes, end to end; their number is a power of two."""
    while len(parts) > 1:
        parts = [w.shuffle(lanes, a, b, range(2 * lanes)) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        lanes *= 2
    return parts[0]
