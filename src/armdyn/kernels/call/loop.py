"""The function NumPy calls: whole blocks, then single samples; rows with gaps are copied together first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from armdyn.kernels.call.arrays import Extents, all_of
from armdyn.kernels.ir_writer import ONCE
from armdyn.kernels.looped.writer import LoopWriter
from armdyn.kernels.ports import Ports
from armdyn.kernels.streaming import STREAMED, ordered

STACK = 64 * 1024
"""Bytes of stack that a block copied together may take; larger ones are done sample by sample."""


def loop(ports: Ports, lanes: int) -> str:
    """`void @loop(ptr args, ptr dims, ptr steps, ptr data)`, the inner loop of a generalised ufunc.

    It may be called from another module. lanes: samples to a block.
    """
    count = range(len(ports.all))
    w = LoopWriter()
    w.label("entry")
    n = w.load("i64", "%dims")
    args, arrays = _arguments(w, ports)
    inner = [array.without_gaps(w) for array in arrays]
    whole = [
        w.put(f"and i1 {inner[i]}, {w.put(f'icmp eq i64 {array.step}, {array.bytes}')}")
        for i, array in enumerate(arrays)
    ]
    if lanes > 1:
        w.do(f"br i1 {all_of(w, whole)}, label %plain, label %gaps")
        w.label("plain")
        blocks = w.put(f"sdiv i64 {n}, {lanes}")
        w.do(f"br i1 {w.put(f'icmp sgt i64 {blocks}, 0')}, label %blocks, label %rest")
        w.label("blocks")
        size = _total(w, arrays[len(ports.inputs) :])
        nontemporal = w.put(f"icmp sgt i64 {w.times(size, n)}, {STREAMED}")
        w.do(f"call void @rows(ptr %args, i64 {blocks}, i64 {w.put(f'zext i1 {nontemporal} to i64')})")
        ordered(w, nontemporal)
        w.do("br label %rest")
        w.label("rest")
        start, origin = w.put(f"mul i64 {blocks}, {lanes}"), "rest"
    else:
        w.do(f"br i1 {all_of(w, inner)}, label %one, label %gaps")
        start, origin = "0", "entry"
    if lanes > 1:
        w.do("br label %one")
    w.label("one")
    w.do(f"%i = phi i64 [ {start}, %{origin} ], [ %j, %oneof ]")
    w.do(f"%unfinished = icmp slt i64 %i, {n}")
    w.do("br i1 %unfinished, label %oneof, label %done")
    w.label("oneof")
    pointers = [w.offset(args[i], w.times("%i", arrays[i].step)) for i in count]
    w.do(f"call void @single({', '.join(f'ptr {p}' for p in pointers)})")
    w.do("%j = add i64 %i, 1")
    w.do("br label %one")
    w.label("gaps")
    w.do(f"call void @scattered({', '.join(['ptr %args', 'ptr %steps', f'i64 {n}', *(f'i1 {x}' for x in whole)])})")
    w.do("br label %done")
    w.label("done")
    w.do("ret void")
    head = f"define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) {ONCE}"
    return f"{head} {{\n{w.text}\n}}\n" + _scattered(ports, lanes)


def _scattered(ports: Ports, lanes: int) -> str:
    """`@scattered`: arrays with gaps are copied block by block, those without are used where they lie.

    What is the same for all samples is copied once.
    """
    count, inputs = range(len(ports.all)), len(ports.inputs)
    w = LoopWriter()
    w.label("entry")
    w.do(f"%here = alloca [{len(ports.all)} x ptr], align 8")
    args, arrays = _arguments(w, ports)
    fits = w.put(f"icmp ule i64 {w.times(_total(w, arrays), lanes)}, {STACK}")
    block = w.put(f"select i1 {fits}, i64 {lanes}, i64 1")
    buffers = [w.put(f"alloca i8, i64 {w.times(block, array.bytes)}, align 64") for array in arrays]
    w.do("br label %chunk")
    w.label("chunk")
    w.do("%k = phi i64 [ 0, %entry ], [ %l, %finished ]")
    left = w.put("sub i64 %n, %k")
    w.do(f"br i1 {w.put(f'icmp sgt i64 {left}, 0')}, label %take, label %done")
    w.label("take")
    full = w.put(f"icmp sge i64 {left}, {block}")
    taken = w.put(f"select i1 {full}, i64 {block}, i64 1")
    outside = [w.offset(args[i], w.times("%k", arrays[i].step)) for i in count]
    here = [w.put(f"select i1 %whole{i}, ptr {outside[i]}, ptr {buffers[i]}") for i in count]
    first = w.put("icmp eq i64 %k, 0")
    for i, array in enumerate(arrays[:inputs]):
        moves = w.put(f"or i1 {first}, {w.put(f'icmp ne i64 {array.step}, 0')}")
        needed = w.put(f"select i1 %whole{i}, i1 false, i1 {moves}")
        with w.when(needed, f"bring{i}"):
            _copy(w, array, taken, (buffers[i], array.packed(w)), (outside[i], array.strides))
    if lanes > 1:
        w.do(f"br i1 {w.put(f'icmp sgt i64 {taken}, 1')}, label %asblock, label %assingle")
        w.label("asblock")
        for i in count:
            w.store("ptr", here[i], w.offset("%here", 8 * i))
        w.do("call void @rows(ptr %here, i64 1, i64 0)")
        w.do("br label %computed")
    else:
        w.do("br label %assingle")
    w.label("assingle")
    w.do(f"call void @single({', '.join(f'ptr {p}' for p in here)})")
    w.do("br label %computed")
    w.label("computed")
    for i, array in enumerate(arrays[inputs:], inputs):
        with w.when(w.put(f"xor i1 %whole{i}, true"), f"bring{i}"):
            _copy(w, array, taken, (outside[i], array.strides), (buffers[i], array.packed(w)))
    w.do(f"%l = add i64 %k, {taken}")
    w.do("br label %finished")
    w.label("finished")
    w.do("br label %chunk")
    w.label("done")
    w.do("ret void")
    arguments = ", ".join(["ptr %args", "ptr %steps", "i64 %n", *(f"i1 %whole{i}" for i in count)])
    return f'define internal void @scattered({arguments}) {ONCE} "stackrealign" {{\n{w.text}\n}}\n'


@dataclass(frozen=True)
class _Array:
    """An argument or result of the loop as values of the code.

    step: bytes from sample to sample. row, column: from row to row and column to column, 0 for axes that are not there.
    rows, columns: a vector is one row. bytes: of one sample.
    """

    step: str
    row: str
    column: str
    rows: str
    columns: str
    bytes: str

    @property
    def strides(self) -> tuple[str, str, str]:
        return self.step, self.row, self.column

    def packed(self, w: LoopWriter) -> tuple[str, str, str]:
        """The strides of a copy without gaps."""
        return self.bytes, w.times(self.columns, 8), "8"

    def without_gaps(self, w: LoopWriter) -> str:
        """Whether one sample lies in one piece. The stride of an axis with one entry does not matter."""
        tests = [
            w.put(f"or i1 {w.put(f'icmp eq i64 {stride}, {natural}')}, {w.put(f'icmp eq i64 {size}, 1')}")
            for size, stride, natural in (
                (self.rows, self.row, w.times(self.columns, 8)),
                (self.columns, self.column, "8"),
            )
            if size != "1"
        ]
        return all_of(w, tests)


def _arguments(w: LoopWriter, ports: Ports) -> tuple[list[str], list[_Array]]:
    """Where arrays begin, and what they look like, from `%args`, `%steps` and their shapes."""
    place, args, found = len(ports.all), [], []
    for i, port in enumerate(ports.all):
        args.append(w.load("ptr", w.offset("%args", 8 * i)))
        rank = len(port.shape)
        strides = [w.load("i64", w.offset("%steps", 8 * (place + axis))) for axis in range(rank)]
        place += rank
        row, column = ["0"] * (2 - rank) + strides
        rows, columns = ["1"] * (2 - rank) + Extents(ports).of(w, i)
        step = w.load("i64", w.offset("%steps", 8 * i))
        found.append(_Array(step, row, column, rows, columns, w.times(w.times(rows, columns), 8)))
    return args, found


def _total(w: LoopWriter, arrays: Sequence[_Array]) -> str:
    """Bytes of a sample of all arrays."""
    total = "0"
    for array in arrays:
        total = w.plus(total, array.bytes)
    return total


Place = tuple[str, tuple[str, str, str]]
"""Where samples begin, and their strides."""


def _copy(w: LoopWriter, array: _Array, samples: str, to: Place, source: Place) -> None:
    numbers = (*to[1], *source[1], samples, array.rows, array.columns)
    w.do(f"call void @copy(ptr {to[0]}, ptr {source[0]}, {', '.join(f'i64 {x}' for x in numbers)})")


COPY = """
define void @copy(ptr %to, ptr %from, i64 %t0, i64 %t1, i64 %t2, i64 %f0, i64 %f1, i64 %f2,
                           i64 %n0, i64 %n1, i64 %n2) noinline {
entry:
  br label %sample
sample:
  %i = phi i64 [ 0, %entry ], [ %i1, %sampled ]
  %ti = mul i64 %i, %t0
  %fi = mul i64 %i, %f0
  %to.i = getelementptr i8, ptr %to, i64 %ti
  %from.i = getelementptr i8, ptr %from, i64 %fi
  br label %row
row:
  %j = phi i64 [ 0, %sample ], [ %j1, %rowed ]
  %tj = mul i64 %j, %t1
  %fj = mul i64 %j, %f1
  %to.j = getelementptr i8, ptr %to.i, i64 %tj
  %from.j = getelementptr i8, ptr %from.i, i64 %fj
  br label %entrywise
entrywise:
  %k = phi i64 [ 0, %row ], [ %k1, %entrywise ]
  %tk = mul i64 %k, %t2
  %fk = mul i64 %k, %f2
  %to.k = getelementptr i8, ptr %to.j, i64 %tk
  %from.k = getelementptr i8, ptr %from.j, i64 %fk
  %value = load i64, ptr %from.k, align 8
  store i64 %value, ptr %to.k, align 8
  %k1 = add i64 %k, 1
  %kmore = icmp slt i64 %k1, %n2
  br i1 %kmore, label %entrywise, label %rowed
rowed:
  %j1 = add i64 %j, 1
  %jmore = icmp slt i64 %j1, %n1
  br i1 %jmore, label %row, label %sampled
sampled:
  %i1 = add i64 %i, 1
  %imore = icmp slt i64 %i1, %n0
  br i1 %imore, label %sample, label %finished
finished:
  ret void
}
"""
