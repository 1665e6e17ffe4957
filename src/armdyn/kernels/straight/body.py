"""Straight-line code of a plan, for one sample or for a vector of samples."""

from __future__ import annotations

from collections.abc import Callable

from armdyn.errors import ArmdynError
from armdyn.graph import Node, to_float
from armdyn.graph.node import ABS, ADD, COS, DIV, EXP, MUL, NEG, SELECT, SIGN, SIN, SQRT, SUB, SYMBOL
from armdyn.kernels.ir_writer import Constants, Writer, flags, integers, splat, suffix, vector, whole
from armdyn.kernels.straight.schedule import Plan
from armdyn.kernels.straight.sincos import Reduction, sincos

_ARITHMETIC = {ADD: "fadd", SUB: "fsub", MUL: "fmul", DIV: "fdiv"}
_INTRINSIC = {SQRT: "sqrt", ABS: "fabs", EXP: "exp"}
ANGLES = 2
"""Angles of a block done together."""


class Body:
    """Values of nodes as they are written; `read` loads an input when it is first needed."""

    def __init__(
        self, w: Writer, lanes: int, plan: Plan, read: Callable[[Node], str], reduction: Reduction, constants: Constants
    ) -> None:
        self.w, self.lanes, self.plan, self.reduction, self.constants = w, lanes, plan, reduction, constants
        self.kind = vector(lanes)
        self.angles: dict[Node, tuple[str, str]] = {}
        self.beyond: list[str] = []
        self.in_memory: set[Node] = set()
        self._read = read
        self._values: dict[Node, str] = {}
        self._used: dict[Node, int] = {}
        self._count = 0
        self._opposite = _opposites(plan)

    def value(self, node: Node) -> str:
        """The value of a node that is a leaf or has been written."""
        if node in self._opposite:
            return self.w.put(f"fneg {self.kind} {self.value(self._opposite[node])}")
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
        if node in self._opposite:
            opposite = self._opposite[node]
            self._values[opposite] = self._negative(node)
            self._used[opposite] = self._count = self._count + 1
            return
        if node not in self._values and node not in self.in_memory:
            self._values[node] = self._written(node)
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

    def _written(self, node: Node) -> str:
        w, kind, op = self.w, self.kind, node.op
        if node in self.plan.fused:
            return self._fused(node)
        if op in (SIN, COS):
            return self._angle(node.args[0])[op == COS]
        args = [self.value(arg) for arg in node.args]
        if op in _ARITHMETIC:
            return w.put(f"{_ARITHMETIC[op]} {kind} {args[0]}, {args[1]}")
        if op == NEG:
            return w.put(f"fneg {kind} {args[0]}")
        if op in _INTRINSIC:
            return w.put(f"call {kind} @llvm.{_INTRINSIC[op]}.{suffix(self.lanes)}({kind} {args[0]})")
        if op == SELECT:
            return self._choice(self._tested(args[0], "sge", "or", "oeq"), args[1], args[2])
        if op == SIGN:  # zero and NaN stay what they are
            positive = self._tested(args[0], "sgt", "and", "une")
            negative = self._tested(args[0], "slt", "and", "une")
            below = self._choice(negative, splat(-1.0, self.lanes), args[0])
            return self._choice(positive, splat(1.0, self.lanes), below)
        raise ArmdynError(f"no machine code for the operation {op!r}")

    def _tested(self, x: str, order: str, join: str, equality: str) -> str:
        """The sign of x, as bits, with zero apart and false for NaN: LLVM's comparisons of order would report NaN."""
        w, kind, ints, bools = self.w, self.kind, integers(self.lanes), flags(self.lanes)
        bits = w.put(f"bitcast {kind} {x} to {ints}")
        sign = w.put(f"icmp {order} {ints} {bits}, {whole(0, self.lanes)}")
        zero = w.put(f"fcmp {equality} {kind} {x}, {splat(0.0, self.lanes)}")
        number = w.put(f"fcmp ord {kind} {x}, {splat(0.0, self.lanes)}")
        return w.put(f"and {bools} {w.put(f'{join} {bools} {sign}, {zero}')}, {number}")

    def _choice(self, holds: str, yes: str, no: str) -> str:
        return self.w.put(f"select {flags(self.lanes)} {holds}, {self.kind} {yes}, {self.kind} {no}")

    def _negative(self, node: Node) -> str:
        """Minus a sum or a difference, at the same cost."""
        if node in self.plan.fused:
            return self._fused(node, negative=True)
        a, b = (self.value(arg) for arg in node.args)
        return self.w.put(f"fsub {self.kind} {b}, {a}")

    def _fused(self, node: Node, negative: bool = False) -> str:
        """a*b + c, a*b - c, c - a*b or minus that; sign changes cost nothing, the instruction has them."""
        w, kind = self.w, self.kind
        place = self.plan.fused[node]
        product, other = node.args[place], self.value(node.args[1 - place])
        a, b = (self.value(arg) for arg in product.args)
        if (node.op == SUB and place == 0) != negative:
            other = w.put(f"fneg {kind} {other}")
        if (node.op == SUB and place == 1) != negative:
            a = w.put(f"fneg {kind} {a}")
        return w.put(f"call {kind} @llvm.fmuladd.{suffix(self.lanes)}({kind} {a}, {kind} {b}, {kind} {other})")

    def _angle(self, angle: Node) -> tuple[str, str]:
        if angle not in self.angles:
            self._write_angles(self._company(angle))
        return self.angles[angle]

    def _company(self, angle: Node) -> list[Node]:
        """The angle and others that can be done with it, so that constants are loaded once for all of them."""
        ready = [
            other
            for other in self.plan.angles
            if other is not angle and other not in self.angles and (other.op == SYMBOL or other in self._values)
        ]
        return [angle, *ready][: ANGLES if len(ready) >= ANGLES - 1 else 1]

    def _write_angles(self, angles: list[Node]) -> None:
        w, lanes, count = self.w, self.lanes, len(angles)
        x = joined(w, lanes, [self.value(angle) for angle in angles])
        sine, cosine, beyond = sincos(w, x, lanes * count, self.reduction, self.constants)
        for i, angle in enumerate(angles):
            pick = range(i * lanes, (i + 1) * lanes)
            s, c = (v if count == 1 else w.shuffle(lanes * count, v, v, pick) for v in (sine, cosine))
            self.angles[angle] = s, c
            mask = ", ".join(f"i32 {k}" for k in pick)
            kind = flags(lanes * count)
            part = (
                beyond
                if count == 1
                else w.put(f"shufflevector {kind} {beyond}, {kind} {beyond}, <{lanes} x i32> <{mask}>")
            )
            self.beyond.append(part)


def _opposites(plan: Plan) -> dict[Node, Node]:
    """Sums and differences of which the opposite is computed, which is needed too, and where only sums need them."""
    found = {node.args[0]: node for node in plan.order
             if node.op == NEG and (node.args[0] in plan.fused or node.args[0].op == SUB)}  # fmt: skip
    for node in plan.order:
        if node.op not in (NEG, ADD, SUB):
            for arg in node.args:
                found.pop(arg, None)
    return found


def joined(w: Writer, lanes: int, parts: list[str]) -> str:
    """Vectors of that many lanes, end to end; their number is a power of two."""
    while len(parts) > 1:
        parts = [w.shuffle(lanes, a, b, range(2 * lanes)) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        lanes *= 2
    return parts[0]
