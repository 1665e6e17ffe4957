"""The fast path for a batch: arrays (samples, ...) without gaps go to `@dense` without a detour through Python.

Around a kernel's loop, NumPy's own machinery, the choice of a variant and the look for NaN cost as much as a thousand
samples of a small arm. `@many` does the same in machine code for the usual call: every input an array of doubles
with one more axis than a single sample has, all of the same length, results new or given by `out=`. What it cannot
take, and what gives a result that is not finite, it leaves to the Python function, which explains it.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.kernels.call.arrays import (
    DIMS,
    Extents,
    data_of,
    give_back,
    has_sizes,
    is_array,
    is_plain,
    let_go,
    named_results,
    new_array,
    require,
    returned,
)
from armdyn.kernels.call.loop import sample_bytes
from armdyn.kernels.ir_writer import ONCE
from armdyn.kernels.loop_writer import LANES, V4, WIDE, Carried, LoopWriter
from armdyn.kernels.ports import Ports

SUMS = 4
"""Sums side by side: an addition takes as many cycles."""


def many(ports: Ports) -> str:
    """`ptr @many(ptr args, i64 count, ptr names)`: the result, or null if the call is not one of the usual kind.

    It may be called from another module. Tests stand together and branches are few: with little effort LLVM keeps no
    value in a register from one block to the next.
    """
    w = LoopWriter()
    inputs, count = len(ports.inputs), len(ports.all)
    ranks = [len(port.shape) + 1 for port in ports.all]
    for name, size in (("made", count), ("pointers", count), ("shape", 3)):
        w.do(f"%{name} = alloca [{size} x i64], align 8")
    require(w, [w.put(f"icmp eq i64 %count, {inputs}")], "no")
    given = [w.load("ptr", w.offset("%args", 8 * i)) for i in range(inputs)]
    require(w, [is_array(w, array) for array in given], "no")
    require(w, [test for array, rank in zip(given, ranks, strict=False) for test in is_plain(w, array, rank)], "no")
    samples = w.load("i64", w.load("ptr", w.offset(given[0], DIMS)))
    extents = [[samples, *Extents(ports).of(w, i)] for i in range(count)]
    require(w, [w.put(f"icmp sgt i64 {samples}, 0"), *_sized(w, given, extents)], "no")
    sizes = [sample_bytes(w, ports, i) for i in range(count)]
    _point_to(w, given, 0)
    w.do(f"br i1 {w.put('icmp eq ptr %names, null')}, label %new, label %out")
    _make(w, extents[inputs:], inputs)
    w.label("out")
    _, arrays = named_results(w, inputs, ranks[inputs:], "no")
    require(w, _sized(w, arrays, extents[inputs:]), "no")
    spans = [_span(w, array, w.times(samples, size)) for array, size in zip([*given, *arrays], sizes, strict=True)]
    require(w, [_apart(w, spans[i], spans[k]) for k in range(inputs, count) for i in range(k)], "no")
    _point_to(w, arrays, inputs)
    w.do("br label %compute")
    _compute(w, sizes, inputs, samples)
    w.label("give")
    give_back(w, w.load("ptr", w.offset("%args", 8 * inputs)))
    w.label("pack")
    made = [w.load("ptr", w.offset("%made", 8 * k)) for k in range(count - inputs)]
    returned(w, made, "lost")
    w.label("lost")
    w.do("call void @PyErr_Clear()")
    w.do("br label %drop")
    w.label("drop")
    let_go(w, [w.load("ptr", w.offset("%made", 8 * k)) for k in range(count - inputs)])
    w.do("br label %no")
    w.label("no")
    w.do("ret ptr null")
    return w.function(f"ptr @many(ptr %args, i64 %count, ptr %names) {ONCE}")


def _sized(w: LoopWriter, arrays: Sequence[str], extents: Sequence[Sequence[str]]) -> list[str]:
    """Tests that arrays have these sizes."""
    return [test for array, own in zip(arrays, extents, strict=False) for test in has_sizes(w, array, own)]


def _span(w: LoopWriter, array: str, size: str) -> tuple[str, str]:
    """Where the memory of an array begins and ends."""
    start = w.put(f"ptrtoint ptr {data_of(w, array)} to i64")
    return start, w.plus(start, size)


def _apart(w: LoopWriter, a: tuple[str, str], b: tuple[str, str]) -> str:
    """Whether two arrays share no memory; of others NumPy knows which copies are needed."""
    below, above = w.put(f"icmp ule i64 {a[1]}, {b[0]}"), w.put(f"icmp ule i64 {b[1]}, {a[0]}")
    return w.put(f"or i1 {below}, {above}")


def _point_to(w: LoopWriter, arrays: Sequence[str], first: int) -> None:
    """The memory of arrays is that of arguments of the loop from `first` on."""
    for i, array in enumerate(arrays, first):
        w.store("ptr", data_of(w, array), w.offset("%pointers", 8 * i))


def _make(w: LoopWriter, extents: Sequence[Sequence[str]], inputs: int) -> None:
    """New arrays for the results; without memory the call is left to Python, which says so."""
    made: list[str] = []
    w.label("new")
    for j, own in enumerate(extents):
        for axis, size in enumerate(own):
            w.store("i64", size, w.offset("%shape", 8 * axis))
        new = new_array(w, len(own), "%shape")
        w.do(f"br i1 {w.put(f'icmp eq ptr {new}, null')}, label %none{j}, label %made{j}")
        w.label(f"none{j}")
        w.do("call void @PyErr_Clear()")
        let_go(w, made)
        w.do("br label %no")
        w.label(f"made{j}")
        w.store("ptr", new, w.offset("%made", 8 * j))
        made.append(new)
    _point_to(w, made, inputs)
    w.do("br label %compute")


def _compute(w: LoopWriter, sizes: Sequence[str], inputs: int, samples: str) -> None:
    """The loop, with Python's lock released, then a look at inputs or results, whichever are fewer."""
    w.label("compute")
    state = w.put("call ptr @PyEval_SaveThread()")
    w.do(f"call void @dense(ptr %pointers, i64 {samples})")
    numbers = [w.put(f"lshr i64 {w.times(samples, size)}, 3") for size in sizes]
    entries = ["0", "0"]
    for i, number in enumerate(numbers):
        entries[i >= inputs] = w.plus(entries[i >= inputs], number)
    fewer = w.put(f"icmp slt i64 {entries[0]}, {entries[1]}")
    w.do(f"br i1 {fewer}, label %inputs, label %results")
    sums = []
    for name, places in (("inputs", range(inputs)), ("results", range(inputs, len(sizes)))):
        w.label(name)
        total = "0.0"
        for i in places:
            data = w.load("ptr", w.offset("%pointers", 8 * i))
            part = w.put(f"call double @total(ptr {data}, i64 {numbers[i]})")
            total = w.put(f"fadd double {total}, {part}")
        w.do("br label %summed")
        sums.append(f"[ {total}, %{name} ]")
    w.label("summed")
    total = w.put(f"phi double {', '.join(sums)}")
    w.do(f"call void @PyEval_RestoreThread(ptr {state})")
    bits = w.put(f"and i64 {w.put(f'bitcast double {total} to i64')}, {0x7FF0000000000000}")
    finite = w.put(f"icmp ne i64 {bits}, {0x7FF0000000000000}")
    new = w.put("icmp eq ptr %names, null")
    w.do(f"br i1 {finite}, label %finite, label %spoilt")
    w.label("spoilt")
    w.do(f"br i1 {new}, label %drop, label %no")
    w.label("finite")
    w.do(f"br i1 {new}, label %pack, label %give")


def total() -> str:
    """`double @total(ptr from, i64 count)`: the sum of doubles, in any order; not finite if one of them is not."""
    w = LoopWriter()
    step = SUMS * LANES
    blocks = w.put(f"sdiv i64 %count, {step}")
    sums = [Carried(V4, f"%sum{j}", "zeroinitializer") for j in range(SUMS)]
    with w.counting("block", blocks, carried=sums) as k:
        place = w.offset("%from", w.times(k, 8 * step))
        for j, each in enumerate(sums):
            each.following = w.put(f"fadd {V4} {each.value}, {w.load(V4, w.offset(place, WIDE * j))}")
    four = sums[0].value
    for each in sums[1:]:
        four = w.put(f"fadd {V4} {four}, {each.value}")
    first = "0.0"
    for lane in range(LANES):
        first = w.put(f"fadd double {first}, {w.put(f'extractelement {V4} {four}, i32 {lane}')}")
    rest = Carried("double", "%rest", first)
    with w.counting("one", "%count", w.times(blocks, step), carried=[rest]) as k:
        rest.following = w.put(f"fadd double %rest, {w.load('double', w.offset('%from', w.times(k, 8)))}")
    w.do("ret double %rest")
    return w.function("double @total(ptr %from, i64 %count) noinline")
