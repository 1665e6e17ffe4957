"""The fast path for a batch: arrays (samples, ...) without gaps go to `@loop` without a detour through Python.

Around a kernel's loop, NumPy's own machinery, the choice of a variant and the look for NaN cost as much as a thousand
samples of a small arm. `@many` does the same in machine code for the usual call: every input an array of doubles
with one more axis than a single sample has, all of the same length, results new or given by `out=`. What it cannot
take, and what gives a result that is not finite, it leaves to the Python function, which explains it.
"""

from __future__ import annotations

from armdyn.graph.structure import Port
from armdyn.kernels.fastcall import ALIGNED, CONTIGUOUS, DATA, DESCR, DIMS, FLAGS, NDIM, TYPE, WRITEABLE, Fixed
from armdyn.kernels.ir_writer import ONCE
from armdyn.kernels.loop_writer import LANES, V4, WIDE, LoopWriter
from armdyn.kernels.ports import Ports

SUMS = 4
"""Sums side by side: an addition takes as many cycles."""


def many(ports: Ports, shapes: Fixed) -> str:
    """`ptr @many(ptr args, i64 count, ptr names)`: the result, or null if the call is not one of the usual kind.

    It may be called from another module.
    """
    w = LoopWriter()
    inputs, count = len(ports.inputs), len(ports.all)
    w.label("entry")
    cores = sum(len(port.shape) for port in ports.all)
    for name, size in (("pointers", count), ("steps", count + cores), ("dims", 1), ("shape", 3)):
        w.do(f"%{name} = alloca [{size} x i64], align 8")
    _require(w, w.put(f"icmp eq i64 %count, {inputs}"))
    given = [w.load("ptr", w.offset("%args", 8 * i)) for i in range(inputs)]
    for i in range(inputs):
        _require_usual(w, ports.inputs[i], given[i])
    samples = w.load("i64", w.load("ptr", w.offset(given[0], DIMS)))
    _require(w, w.put(f"icmp sgt i64 {samples}, 0"))
    sizes = [_size(w, port, shapes, i) for i, port in enumerate(ports.all)]
    for i, array in enumerate(given):
        _require_shape(w, ports.inputs[i], shapes, i, array, samples)
    w.store("i64", samples, "%dims")
    _fill_steps(w, ports, shapes, sizes)
    plain = w.put("icmp eq ptr %names, null")
    w.do(f"br i1 {plain}, label %new, label %out")
    made = _made(w, ports, shapes, samples)
    _computed(w, ports, given, made, sizes, samples, made)
    result = _packed(w, made)
    w.do(f"ret ptr {result}")
    target, arrays = _given(w, ports, shapes, samples)
    for k, array in enumerate(arrays):
        for other, i in [(other, i) for i, other in enumerate(given)] + [(arrays[j], inputs + j) for j in range(k)]:
            _require_apart(w, (array, sizes[inputs + k]), (other, sizes[i]), samples)
    _computed(w, ports, given, arrays, sizes, samples, [])
    w.do(f"call void @Py_IncRef(ptr {target})")
    w.do(f"ret ptr {target}")
    w.label("no")
    w.do("ret ptr null")
    head = f"define ptr @many(ptr %args, i64 %count, ptr %names) {ONCE}"
    return f"{head} {{\n{w.text}\n}}\n"


def _require(w: LoopWriter, holds: str) -> None:
    """Go on if it holds; else the call is left to Python."""
    label = f"good{w.name()[1:]}"
    w.do(f"br i1 {holds}, label %{label}, label %no")
    w.label(label)


def _require_usual(w: LoopWriter, port: Port, array: str, written: bool = False) -> None:
    """An array of exactly NumPy's type, of doubles, without gaps, with one axis for samples."""
    _require(w, w.put(f"icmp eq ptr {w.load('ptr', w.offset(array, TYPE))}, @ndarray"))
    wanted = CONTIGUOUS | ALIGNED | (WRITEABLE if written else 0)
    bits = w.put(f"and i32 {w.load('i32', w.offset(array, FLAGS), 4)}, {wanted}")
    _require(w, w.put(f"icmp eq i32 {bits}, {wanted}"))
    _require(w, w.put(f"icmp eq ptr {w.load('ptr', w.offset(array, DESCR))}, @float64"))
    _require(w, w.put(f"icmp eq i32 {w.load('i32', w.offset(array, NDIM), 4)}, {len(port.shape) + 1}"))


def _require_shape(w: LoopWriter, port: Port, shapes: Fixed, i: int, array: str, samples: str) -> None:
    dims = w.load("ptr", w.offset(array, DIMS))
    wanted = [samples, *(shapes.extent(w, i, axis) for axis in range(len(port.shape)))]
    for axis, size in enumerate(wanted):
        _require(w, w.put(f"icmp eq i64 {w.load('i64', w.offset(dims, 8 * axis))}, {size}"))


def _require_apart(w: LoopWriter, a: tuple[str, str], b: tuple[str, str], samples: str) -> None:
    """Two arrays that share no memory; of others NumPy knows which copies are needed."""
    starts = [w.put(f"ptrtoint ptr {w.load('ptr', w.offset(array, DATA))} to i64") for array, _ in (a, b)]
    stops = [w.plus(start, w.times(samples, size)) for start, (_, size) in zip(starts, (a, b), strict=True)]
    below, above = (w.put(f"icmp ule i64 {stops[k]}, {starts[1 - k]}") for k in range(2))
    _require(w, w.put(f"or i1 {below}, {above}"))


def _size(w: LoopWriter, port: Port, shapes: Fixed, i: int) -> str:
    """Bytes of one sample."""
    size = "8"
    for axis in range(len(port.shape)):
        size = w.times(size, shapes.extent(w, i, axis))
    return size


def _fill_steps(w: LoopWriter, ports: Ports, shapes: Fixed, sizes: list[str]) -> None:
    """Distances from sample to sample of all arrays, then from row to row and column to column."""
    place = 8 * len(ports.all)
    for i, port in enumerate(ports.all):
        w.store("i64", sizes[i], w.offset("%steps", 8 * i))
        strides = ["8"]
        for axis in reversed(range(1, len(port.shape))):
            strides.insert(0, w.times(strides[0], shapes.extent(w, i, axis)))
        for stride in strides[: len(port.shape)]:
            w.store("i64", stride, w.offset("%steps", place))
            place += 8


def _made(w: LoopWriter, ports: Ports, shapes: Fixed, samples: str) -> list[str]:
    """New arrays for the results; without memory the call is left to Python, which says so."""
    made: list[str] = []
    w.label("new")
    w.store("i64", samples, "%shape")
    for j, port in enumerate(ports.outputs):
        for axis in range(len(port.shape)):
            w.store("i64", shapes.extent(w, len(ports.inputs) + j, axis), w.offset("%shape", 8 * (axis + 1)))
        new = w.put(f"call ptr @result_array(i32 {len(port.shape) + 1}, ptr %shape)")
        w.do(f"br i1 {w.put(f'icmp eq ptr {new}, null')}, label %none{j}, label %made{j}")
        w.label(f"none{j}")
        w.do("call void @PyErr_Clear()")
        _dropped(w, made)
        w.label(f"made{j}")
        made.append(new)
    return made


def _dropped(w: LoopWriter, arrays: list[str]) -> None:
    for array in arrays:
        w.do(f"call void @Py_DecRef(ptr {array})")
    w.do("ret ptr null")


def _computed(
    w: LoopWriter, ports: Ports, given: list[str], results: list[str], sizes: list[str], samples: str, own: list[str]
) -> None:
    """The loop, with Python's lock released, then a look at inputs or results, whichever are fewer. own: dropped."""
    arrays = [*given, *results]
    label = "own" if own else "given"
    data = [w.load("ptr", w.offset(array, DATA)) for array in arrays]
    for i, pointer in enumerate(data):
        w.store("ptr", pointer, w.offset("%pointers", 8 * i))
    state = w.put("call ptr @PyEval_SaveThread()")
    w.do("call void @loop(ptr %pointers, ptr %dims, ptr %steps, ptr null)")
    inputs = len(given)
    numbers = [w.put(f"lshr i64 {w.times(size, samples)}, 3") for size in sizes]
    entries = ["0", "0"]
    for i, number in enumerate(numbers):
        entries[i >= inputs] = w.plus(entries[i >= inputs], number)
    fewer = w.put(f"icmp slt i64 {entries[0]}, {entries[1]}")
    w.do(f"br i1 {fewer}, label %{label}.inputs, label %{label}.results")
    sums = []
    for name, places in (("inputs", range(inputs)), ("results", range(inputs, len(arrays)))):
        w.label(f"{label}.{name}")
        total = "0.0"
        for i in places:
            part = w.put(f"call double @total(ptr {data[i]}, i64 {numbers[i]})")
            total = w.put(f"fadd double {total}, {part}")
        w.do(f"br label %{label}.summed")
        sums.append(f"[ {total}, %{label}.{name} ]")
    w.label(f"{label}.summed")
    total = w.put(f"phi double {', '.join(sums)}")
    w.do(f"call void @PyEval_RestoreThread(ptr {state})")
    bits = w.put(f"and i64 {w.put(f'bitcast double {total} to i64')}, {0x7FF0000000000000}")
    finite = w.put(f"icmp ne i64 {bits}, {0x7FF0000000000000}")
    w.do(f"br i1 {finite}, label %{label}.finite, label %{label}.not")
    w.label(f"{label}.not")
    _dropped(w, own)
    w.label(f"{label}.finite")


def _packed(w: LoopWriter, made: list[str]) -> str:
    if len(made) == 1:
        return made[0]
    pack = w.put(f"call ptr @PyTuple_New(i64 {len(made)})")
    w.do(f"br i1 {w.put(f'icmp eq ptr {pack}, null')}, label %lost, label %filled")
    w.label("lost")
    w.do("call void @PyErr_Clear()")
    _dropped(w, made)
    w.label("filled")
    for i, array in enumerate(made):
        w.put(f"call i32 @PyTuple_SetItem(ptr {pack}, i64 {i}, ptr {array})")
    return pack


def _given(w: LoopWriter, ports: Ports, shapes: Fixed, samples: str) -> tuple[str, list[str]]:
    """What `out=` is, and the arrays of it."""
    w.label("out")
    _require(w, w.put(f"icmp eq i64 {w.put('call i64 @PyTuple_Size(ptr %names)')}, 1"))
    _require(w, w.put(f"icmp eq ptr {w.put('call ptr @PyTuple_GetItem(ptr %names, i64 0)')}, @out"))
    inputs, count = len(ports.inputs), len(ports.outputs)
    target = w.load("ptr", w.offset("%args", 8 * inputs))
    arrays = [target]
    if count > 1:
        _require(w, w.put(f"icmp eq ptr {w.load('ptr', w.offset(target, TYPE))}, @tuple"))
        _require(w, w.put(f"icmp eq i64 {w.put(f'call i64 @PyTuple_Size(ptr {target})')}, {count}"))
        arrays = [w.put(f"call ptr @PyTuple_GetItem(ptr {target}, i64 {k})") for k in range(count)]
    for k, array in enumerate(arrays):
        _require_usual(w, ports.outputs[k], array, written=True)
        _require_shape(w, ports.outputs[k], shapes, inputs + k, array, samples)
    return target, arrays


def total() -> str:
    """`double @total(ptr from, i64 count)`: the sum of doubles, in any order; not finite if one of them is not."""
    w = LoopWriter()
    w.label("entry")
    step = SUMS * LANES
    blocks = w.put(f"sdiv i64 %count, {step}")
    start = w.times(blocks, step)
    w.do("br label %head")
    w.label("head")
    w.do("%k = phi i64 [ 0, %entry ], [ %next, %body ]")
    totals = [f"%s{j}" for j in range(SUMS)]
    for j, total in enumerate(totals):
        w.do(f"{total} = phi {V4} [ zeroinitializer, %entry ], [ %t{j}, %body ]")
    w.do(f"br i1 {w.put(f'icmp slt i64 %k, {blocks}')}, label %body, label %rest")
    w.label("body")
    place = w.offset("%from", w.times("%k", 8 * step))
    for j, total in enumerate(totals):
        w.do(f"%t{j} = fadd {V4} {total}, {w.load(V4, w.offset(place, WIDE * j))}")
    w.do("%next = add i64 %k, 1")
    w.do("br label %head")
    w.label("rest")
    while len(totals) > 1:
        totals = [w.put(f"fadd {V4} {a}, {b}") for a, b in zip(totals[::2], totals[1::2], strict=True)]
    lanes = [w.put(f"extractelement {V4} {totals[0]}, i32 {k}") for k in range(LANES)]
    first = lanes[0]
    for lane in lanes[1:]:
        first = w.put(f"fadd double {first}, {lane}")
    w.do("br label %single")
    w.label("single")
    w.do(f"%i = phi i64 [ {start}, %rest ], [ %i1, %one ]")
    w.do(f"%sum = phi double [ {first}, %rest ], [ %sum1, %one ]")
    w.do(f"br i1 {w.put('icmp slt i64 %i, %count')}, label %one, label %done")
    w.label("one")
    w.do(f"%sum1 = fadd double %sum, {w.load('double', w.offset('%from', w.times('%i', 8)))}")
    w.do("%i1 = add i64 %i, 1")
    w.do("br label %single")
    w.label("done")
    w.do("ret double %sum")
    return f"define double @total(ptr %from, i64 %count) noinline {{\n{w.text}\n}}\n"
