"""Procedures over arrays as machine code: loops, branches and variables, written with Python's operators.

For algorithms whose course depends on the data, which a graph cannot express: one procedure serves all robots. Values
are doubles, vectors of LANES doubles, integers, flags and addresses; LLVM's optimiser turns variables into registers.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.kernels import cache, jit
from armdyn.kernels.ir_writer import Writer, literal, splat
from armdyn.typing import Array

LANES = 8
"""Doubles of a vector: one register of AVX-512, two of AVX2."""
REAL, WHOLE, FLAG, PLACE = "double", "i64", "i1", "ptr"
VECTOR, FLAGS = f"<{LANES} x double>", f"<{LANES} x i1>"


def _operator(real: str, whole: str, swapped: bool = False, compares: bool = False) -> Callable[[Value, Any], Value]:
    """An operator of `Value` that writes the instruction for doubles and vectors, or that for whole numbers."""

    def write(self: Value, other: Any) -> Value:
        kind = VECTOR if isinstance(other, Value) and other.kind == VECTOR else self.kind
        pair = [self.w.value(self, kind).name, self.w.value(other, kind).name]
        text = f"{whole if kind == WHOLE else real} {kind} {', '.join(pair[::-1] if swapped else pair)}"
        result = (FLAGS if kind == VECTOR else FLAG) if compares else kind
        return Value(self.w, result, self.w.put(text))

    return write


class Value:
    """A value of a procedure; arithmetic with it writes instructions."""

    def __init__(self, writer: Procedure, kind: str, name: str) -> None:
        self.w, self.kind, self.name = writer, kind, name

    __add__ = __radd__ = _operator("fadd contract", "add")
    __sub__, __rsub__ = (_operator("fsub contract", "sub", swapped) for swapped in (False, True))
    __mul__ = __rmul__ = _operator("fmul contract", "mul")
    __truediv__, __rtruediv__ = (_operator("fdiv", "sdiv", swapped) for swapped in (False, True))
    __lt__, __le__, __gt__, __ge__ = (
        _operator(f"fcmp o{test}", f"icmp s{test}", compares=True) for test in ("lt", "le", "gt", "ge")
    )
    __and__, __or__ = (_operator(word, word) for word in ("and", "or"))

    def at(self, index: Any) -> Value:
        """Of an address: that of the double with this index."""
        place = self.w.value(index, WHOLE).name
        return Value(self.w, PLACE, self.w.put(f"getelementptr double, ptr {self.name}, i64 {place}"))

    def __getitem__(self, index: Any) -> Value:
        return Value(self.w, REAL, self.w.load(REAL, self.at(index).name))

    def vector(self, index: Any = 0) -> Value:
        """LANES doubles from this index on."""
        return Value(self.w, VECTOR, self.w.load(VECTOR, self.at(index).name))

    def __setitem__(self, index: Any, value: Any) -> None:
        entry = self.w.value(value, REAL)
        self.w.do(f"store {entry.kind} {entry.name}, ptr {self.at(index).name}, align 8")


class Variable:
    """A value that changes: `variable.now` reads it, `variable.set(value)` changes it."""

    def __init__(self, writer: Procedure, start: Value) -> None:
        self.w, self.kind, self.place = writer, start.kind, writer.name()
        writer.lines.insert(1, f"  {self.place} = alloca {self.kind}")
        self.set(start)

    @property
    def now(self) -> Value:
        return Value(self.w, self.kind, self.w.put(f"load {self.kind}, ptr {self.place}"))

    def set(self, value: Any) -> None:
        self.w.do(f"store {self.kind} {self.w.value(value, self.kind).name}, ptr {self.place}")


class Procedure(Writer):
    """The text of one procedure; each argument is an address, a whole number or a double."""

    def __init__(self, name: str, kinds: Sequence[str]) -> None:
        super().__init__()
        self.title = name
        self.arguments = [Value(self, kind, f"%a{i}") for i, kind in enumerate(kinds)]
        self._labels = 0

    def value(self, entry: Any, kind: str = REAL) -> Value:
        """A number, or a value, as one of that kind; doubles are repeated in all lanes of a vector."""
        if not isinstance(entry, Value):
            text = str(int(entry)) if kind == WHOLE else splat(entry, LANES) if kind == VECTOR else literal(entry)
            return Value(self, kind, text)
        if kind == VECTOR and entry.kind == REAL:
            one = self.put(f"insertelement {VECTOR} poison, double {entry.name}, i32 0")
            return Value(self, VECTOR, self.shuffle(LANES, one, one, [0] * LANES))
        if kind == REAL and entry.kind == WHOLE:
            return Value(self, REAL, self.put(f"sitofp i64 {entry.name} to double"))
        return entry

    def variable(self, start: Any, kind: str = REAL) -> Variable:
        return Variable(self, self.value(start, kind))

    def call(self, intrinsic: str, *entries: Any) -> Value:
        """An LLVM intrinsic for doubles, on doubles or vectors: fabs, sqrt, minnum, maxnum."""
        kind = VECTOR if any(isinstance(entry, Value) and entry.kind == VECTOR for entry in entries) else REAL
        names = ", ".join(f"{kind} {self.value(entry, kind).name}" for entry in entries)
        ending = f"v{LANES}f64" if kind == VECTOR else "f64"
        return Value(self, kind, self.put(f"call nnan nsz {kind} @llvm.{intrinsic}.{ending}({names})"))

    def least(self, a: Any, b: Any) -> Value:
        return self.call("minnum", a, b)

    def largest(self, a: Any, b: Any) -> Value:
        return self.call("maxnum", a, b)

    def reduced(self, how: str, entry: Value) -> Value:
        """The least ("fmin") or largest ("fmax") entry of a vector."""
        text = f"call nnan nsz double @llvm.vector.reduce.{how}.v{LANES}f64({VECTOR} {entry.name})"
        return Value(self, REAL, self.put(text))

    def select(self, flag: Value, yes: Any, no: Any) -> Value:
        kind = VECTOR if flag.kind == FLAGS else yes.kind if isinstance(yes, Value) else REAL
        a, b = self.value(yes, kind).name, self.value(no, kind).name
        return Value(self, kind, self.put(f"select {flag.kind} {flag.name}, {kind} {a}, {kind} {b}"))

    def any(self, flags: Value) -> Value:
        """Whether a flag of a vector is set."""
        bits = self.put(f"bitcast {FLAGS} {flags.name} to i{LANES}")
        return Value(self, FLAG, self.put(f"icmp ne i{LANES} {bits}, 0"))

    def _new_label(self, word: str) -> str:
        self._labels += 1
        return f"{word}{self._labels}"

    @contextmanager
    def loop(self, stop: Any, start: Any = 0, step: int = 1) -> Iterator[Value]:
        """The body runs for whole numbers from start up to, but without, stop; downwards if the step is negative."""
        index = self.variable(start, WHOLE)
        with self.repeat():
            i = index.now
            self.leave_unless(i < stop if step > 0 else i > stop)
            yield i
            index.set(i + step)

    @contextmanager
    def repeat(self) -> Iterator[None]:
        """The body runs until `leave_unless` ends it."""
        head, done = self._new_label("again"), self._new_label("done")
        self._ends = [*getattr(self, "_ends", []), done]
        self.do(f"br label %{head}")
        self.label(head)
        yield
        self.do(f"br label %{head}")
        self.label(done)
        self._ends = self._ends[:-1]

    def leave_unless(self, flag: Value) -> None:
        """End the innermost loop unless the flag is set."""
        more = self._new_label("more")
        self.do(f"br i1 {flag.name}, label %{more}, label %{self._ends[-1]}")
        self.label(more)

    @contextmanager
    def when(self, flag: Value) -> Iterator[None]:
        yes, after = self._new_label("yes"), self._new_label("after")
        self.do(f"br i1 {flag.name}, label %{yes}, label %{after}")
        self.label(yes)
        yield
        self.do(f"br label %{after}")
        self.label(after)

    def give(self, value: Any) -> None:
        """Return a whole number."""
        self.do(f"ret i64 {self.value(value, WHOLE).name}")
        self.label(self._new_label("unreached"))

    @property
    def definition(self) -> str:
        self.do("unreachable")
        return self.function(f"i64 @{self.title}({', '.join(f'{a.kind} {a.name}' for a in self.arguments)})")


_TYPES: dict[str, Any] = {WHOLE: ctypes.c_int64, REAL: ctypes.c_double, PLACE: ctypes.c_void_p}
_SHORT = {"p": PLACE, "i": WHOLE, "d": REAL}


class Procedures:
    """Procedures that are compiled together at first use, and kept on disk like kernels.

        @procedures.define("ppi")           # two arrays and a whole number
        def scaled(w, x, y, count): ...     # w writes instructions; it ends with w.give(whole number)

    The decorated function takes arrays and numbers and returns the whole number.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._bodies: dict[str, tuple[str, Callable[..., None]]] = {}
        self._functions: dict[str, Any] = {}

    def define(self, kinds: str) -> Callable[[Callable[..., None]], Callable[..., int]]:
        def wrap(body: Callable[..., None]) -> Callable[..., int]:
            self._bodies[body.__name__] = kinds, body

            def call(*arguments: Any) -> int:
                function = self._functions.get(body.__name__) or self._compiled()[body.__name__]
                return int(function(*(_address(x) if isinstance(x, np.ndarray) else x for x in arguments)))

            return call

        return wrap

    def _compiled(self) -> dict[str, Any]:
        if not jit.available():
            raise ArmdynError(
                f"no machine code for {self.name}", expected="LLVM", advice="pip install --upgrade llvmlite"
            )
        key = cache.key("procedures", self.name, self._text, jit.machine_description())
        names = tuple(self._bodies)
        code, _ = cache.obtained(
            key, lambda: [jit.compiled(self._text, effort=2, optimise=True)], lambda images: jit.Code(images, names)
        )
        for name, (kinds, _) in self._bodies.items():
            types = [_TYPES[_SHORT[letter]] for letter in kinds]
            self._functions[name] = ctypes.CFUNCTYPE(ctypes.c_int64, *types)(code.address(name))
        self._code = code
        return self._functions

    @property
    def _text(self) -> str:
        texts = []
        for name, (kinds, body) in self._bodies.items():
            procedure = Procedure(name, [_SHORT[letter] for letter in kinds])
            body(procedure, *procedure.arguments)
            texts.append(procedure.definition)
        calls = set(re.findall(r"@llvm[\w.]+", "\n".join(texts)))
        return "\n".join([*texts, *map(_declared, sorted(calls))])


def with_slack(shape: tuple[int, ...]) -> Array:
    """Zeros that vectors may read and write past the end: the last lanes of a row reach into the next one."""
    size = math.prod(shape)
    return np.zeros(size + LANES)[:size].reshape(shape)


def _declared(name: str) -> str:
    kind = VECTOR if name.endswith(f"v{LANES}f64") else REAL
    count = 2 if "num" in name else 1
    return f"declare {REAL if 'reduce' in name else kind} {name}({', '.join([kind] * count)})"


def _address(x: Array) -> int:
    assert x.dtype == np.float64 and x.flags.c_contiguous
    return x.ctypes.data
