"""Text of LLVM IR: numbered values, constants, the few instructions that kernels need."""

from __future__ import annotations

import struct
from collections.abc import Sequence

ONCE = "noinline optnone"
"""Of functions that run once per batch: the compiler shall not spend its time on them."""
NARROW = '"prefer-vector-width"="256" "min-legal-vector-width"="256"'
"""Of functions for one sample: while 512-bit operations are under way, scalar ones lose a port on Intel's processors
and wait for it (one call of inverse dynamics: 1.4 times as long)."""


class Writer:
    """Lines of one function body. Values are names ("%12") or literals; `kind` is a scalar or vector of doubles."""

    def __init__(self) -> None:
        self.lines = ["entry:"]
        self._count = 0

    def function(self, head: str) -> str:
        """The function that these lines are; one without a result returns at their end."""
        if "void" in head.partition("@")[0]:
            self.do("ret void")
        return "\n".join([f"define {head} {{", *self.lines, "}\n"])

    def name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def put(self, text: str) -> str:
        """A line that defines a new value."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """A line that defines nothing."""
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def offset(self, base: str, displacement: int | str) -> str:
        """A pointer so many bytes further."""
        return base if displacement == 0 else self.put(f"getelementptr i8, ptr {base}, i64 {displacement}")

    def load(self, kind: str, pointer: str, align: int = 8) -> str:
        return self.put(f"load {kind}, ptr {pointer}, align {align}")

    def store(self, kind: str, value: str, pointer: str, align: int = 8) -> None:
        """Volatile, for the compiler's sake: the time LLVM takes to merge plain stores grows with their square."""
        self.do(f"store volatile {kind} {value}, ptr {pointer}, align {align}")

    def shuffle(self, lanes: int, a: str, b: str, pick: Sequence[int]) -> str:
        """Entries of two vectors of `lanes` doubles put together, b's counted from `lanes` on."""
        mask = ", ".join(f"i32 {i}" for i in pick)
        kind = f"<{lanes} x double>"
        return self.put(f"shufflevector {kind} {a}, {kind} {b}, <{len(pick)} x i32> <{mask}>")

    def fma(self, lanes: int, a: str, b: str, c: str) -> str:
        """a b + c, in one instruction where the processor has it."""
        kind = vector(lanes)
        return self.put(f"call {kind} @llvm.fmuladd.{suffix(lanes)}({kind} {a}, {kind} {b}, {kind} {c})")

    def splat(self, value: str, lanes: int) -> str:
        """A double in every lane of a vector."""
        if lanes == 1:
            return value
        one = self.put(f"insertelement {vector(lanes)} undef, double {value}, i32 0")
        return self.shuffle(lanes, one, one, [0] * lanes)


class Constants:
    """A table of constants in memory, each as wide as a register, for code that works on vectors.

    Arithmetic reads them where they lie. Written as literals LLVM would load every one with an instruction of its own.
    """

    WIDTH = 4

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def load(self, w: Writer, value: float, lanes: int) -> str:
        """The constant in every lane."""
        if lanes < self.WIDTH:
            return splat(value, lanes)
        place = self.places.setdefault(literal(value), len(self.places))
        pointer = f"getelementptr (i8, ptr @constants, i64 {8 * self.WIDTH * place})"
        kind = vector(self.WIDTH)
        part = w.put(f"load {kind}, ptr {pointer}, align {8 * self.WIDTH}, !invariant.load !1")
        return (
            part
            if lanes == self.WIDTH
            else w.shuffle(self.WIDTH, part, part, [*range(self.WIDTH)] * (lanes // self.WIDTH))
        )

    @property
    def text(self) -> str:
        if not self.places:
            return ""
        kind = vector(self.WIDTH)
        entries = ", ".join(f"{kind} <{', '.join([f'double {text}'] * self.WIDTH)}>" for text in self.places)
        return f"@constants = internal constant [{len(self.places)} x {kind}] [{entries}], align {8 * self.WIDTH}\n"


def vector(lanes: int) -> str:
    """The type of a value: double, or a vector of them."""
    return "double" if lanes == 1 else f"<{lanes} x double>"


def suffix(lanes: int) -> str:
    """The ending of intrinsics of that type."""
    return "f64" if lanes == 1 else f"v{lanes}f64"


def literal(value: float) -> str:
    """A double, to the last bit."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def splat(value: float, lanes: int) -> str:
    """A constant in every lane."""
    return splat_of(literal(value), lanes)


def splat_of(bits: str, lanes: int) -> str:
    """The literal of a double in every lane."""
    return bits if lanes == 1 else "<" + ", ".join([f"double {bits}"] * lanes) + ">"


def whole(value: int, lanes: int) -> str:
    """An integer of 64 bits in every lane."""
    return str(value) if lanes == 1 else "<" + ", ".join([f"i64 {value}"] * lanes) + ">"


def integers(lanes: int) -> str:
    return "i64" if lanes == 1 else f"<{lanes} x i64>"


def flags(lanes: int) -> str:
    return "i1" if lanes == 1 else f"<{lanes} x i1>"
