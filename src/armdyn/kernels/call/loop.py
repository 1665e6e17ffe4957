"""The function NumPy calls with a batch: samples with gaps between them are copied together first.

All code for batches works on arrays without gaps: `@dense(ptr args, i64 samples)`, given where the arrays begin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from armdyn.kernels.call.arrays import Extents, all_of
from armdyn.kernels.ir_writer import ONCE
from armdyn.kernels.loop_writer import LoopWriter
from armdyn.kernels.ports import Ports
from armdyn.kernels.streaming import STREAMED, ordered

ROOM = 2**16
"""Bytes of samples that are copied together at a time, about: they stay in a near cache."""
TOGETHER = 8
"""The number of these samples is a multiple of this, so that they are whole blocks for any vectors."""


def loop(ports: Ports) -> str:
    """`void @loop(ptr args, ptr dims, ptr steps, ptr data)`, the inner loop of a generalised ufunc."""
    count, inputs = range(len(ports.all)), len(ports.inputs)
    w = LoopWriter()
    w.do(f"%here = alloca [{len(ports.all)} x ptr], align 8")
    n = w.load("i64", "%dims")
    args, arrays = _arguments(w, ports)
    whole = [array.without_gaps(w) for array in arrays]
    w.do(f"br i1 {all_of(w, whole)}, label %plain, label %gaps")
    w.label("plain")
    w.do(f"call void @dense(ptr %args, i64 {n})")
    w.do("ret void")
    w.label("gaps")
    groups = w.put(f"udiv i64 {ROOM}, {w.times(total_bytes(w, [array.bytes for array in arrays]), TOGETHER)}")
    most = w.times(w.put(f"call i64 @llvm.smax.i64(i64 {groups}, i64 1)"), TOGETHER)
    buffers = [w.put(f"call ptr @PyMem_RawCalloc(i64 {most}, i64 {array.bytes})") for array in arrays]
    with w.counting("chunk", w.put(f"udiv i64 {w.plus(n, w.plus(most, -1))}, {most}")) as chunk:
        first, begins = w.times(chunk, most), w.put(f"icmp eq i64 {chunk}, 0")
        taken = w.put(f"call i64 @llvm.smin.i64(i64 {most}, i64 {w.put(f'sub i64 {n}, {first}')})")
        outside = [w.offset(args[i], w.times(first, arrays[i].step)) for i in count]
        for i in count:
            place = w.put(f"select i1 {whole[i]}, ptr {outside[i]}, ptr {buffers[i]}")
            w.store("ptr", place, w.offset("%here", 8 * i))
        for i, array in enumerate(arrays[:inputs]):  # what is the same for all samples is copied once
            differs = w.put(f"or i1 {begins}, {w.put(f'icmp ne i64 {array.step}, 0')}")
            with w.when(w.put(f"select i1 {whole[i]}, i1 false, i1 {differs}"), f"bring{i}"):
                _copy(w, array, taken, (buffers[i], array.packed(w)), (outside[i], array.strides))
        w.do(f"call void @dense(ptr %here, i64 {taken})")
        for i, array in enumerate(arrays[inputs:], inputs):
            with w.when(w.put(f"xor i1 {whole[i]}, true"), f"bring{i}"):
                _copy(w, array, taken, (outside[i], array.strides), (buffers[i], array.packed(w)))
    for buffer in buffers:
        w.do(f"call void @PyMem_RawFree(ptr {buffer})")
    return w.function(f"void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) {ONCE}")


def dense(ports: Ports, lanes: int) -> str:
    """`void @dense(ptr args, i64 samples)` of straight-line code: whole blocks, then single samples."""
    w = LoopWriter()
    sizes = [sample_bytes(w, ports, i) for i in range(len(ports.all))]
    blocks = w.put(f"udiv i64 %samples, {lanes}")
    results = w.times(total_bytes(w, sizes[len(ports.inputs) :]), "%samples")
    nontemporal = w.put(f"icmp sgt i64 {results}, {STREAMED}")
    w.do(f"call void @rows(ptr %args, i64 {blocks}, i64 {w.put(f'zext i1 {nontemporal} to i64')})")
    ordered(w, nontemporal)
    args = [w.load("ptr", w.offset("%args", 8 * i)) for i in range(len(ports.all))]
    with w.counting("sample", "%samples", w.times(blocks, lanes)) as k:
        pointers = [w.offset(array, w.times(k, size)) for array, size in zip(args, sizes, strict=True)]
        w.do(f"call void @single({', '.join(f'ptr {pointer}' for pointer in pointers)})")
    return w.function(f"void @dense(ptr %args, i64 %samples) {ONCE}")


def sequence(ports: Ports) -> str:
    """`void @sequence(ptr args, ptr steps, i64 samples)`: one sample after the other, in order.

    steps: bytes from sample to sample of each array. A result may be an argument of the next sample.
    """
    w = LoopWriter()
    count = range(len(ports.all))
    args, steps = (
        [w.load(kind, w.offset(f"%{name}", 8 * i)) for i in count] for kind, name in (("ptr", "args"), ("i64", "steps"))
    )
    with w.counting("sample", "%samples") as k:
        pointers = [w.offset(args[i], w.times(k, steps[i])) for i in count]
        w.do(f"call void @single({', '.join(f'ptr {pointer}' for pointer in pointers)})")
    return w.function(f"void @sequence(ptr %args, ptr %steps, i64 %samples) {ONCE}")


def sample_bytes(w: LoopWriter, ports: Ports, i: int) -> str:
    """Bytes of one sample of array i without gaps."""
    size = "8"
    for extent in Extents(ports).of(w, i):
        size = w.times(size, extent)
    return size


def total_bytes(w: LoopWriter, sizes: Sequence[str]) -> str:
    total = "0"
    for size in sizes:
        total = w.plus(total, size)
    return total


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
        """Whether samples follow each other in one piece. The stride of an axis with one entry does not matter."""
        tests = [w.put(f"icmp eq i64 {self.step}, {self.bytes}")]
        for size, stride, natural in zip((self.rows, self.columns), self.strides[1:], self.packed(w)[1:], strict=True):
            if size != "1":
                near = w.put(f"icmp eq i64 {stride}, {natural}")
                tests.append(w.put(f"or i1 {near}, {w.put(f'icmp eq i64 {size}, 1')}"))
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
        found.append(_Array(step, row, column, rows, columns, sample_bytes(w, ports, i)))
    return args, found


Place = tuple[str, tuple[str, str, str]]
"""Where samples begin, and their strides."""


def _copy(w: LoopWriter, array: _Array, samples: str, to: Place, source: Place) -> None:
    numbers = (*to[1], *source[1], samples, array.rows, array.columns)
    w.do(f"call void @copy(ptr {to[0]}, ptr {source[0]}, {', '.join(f'i64 {x}' for x in numbers)})")


def copy() -> str:
    """`@copy`: arrays of three axes, with the strides of both sides and the sizes."""
    w = LoopWriter()
    target, source = "%to", "%from"
    with w.counting("i", "%n0") as i:
        target, source = w.offset(target, w.times(i, "%t0")), w.offset(source, w.times(i, "%f0"))
        with w.counting("j", "%n1") as j:
            row, given = w.offset(target, w.times(j, "%t1")), w.offset(source, w.times(j, "%f1"))
            with w.counting("k", "%n2") as k:
                value = w.load("i64", w.offset(given, w.times(k, "%f2")))
                w.store("i64", value, w.offset(row, w.times(k, "%t2")))
    numbers = ", ".join(f"i64 %{role}{axis}" for role in "tfn" for axis in range(3))
    return w.function(f"void @copy(ptr %to, ptr %from, {numbers}) noinline")
