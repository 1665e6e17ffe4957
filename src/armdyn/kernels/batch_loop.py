"""The function NumPy calls: whole blocks, then single samples; rows with gaps are copied together first."""

from __future__ import annotations

from armdyn.graph.structure import Port
from armdyn.kernels.ir_writer import ONCE, Writer
from armdyn.kernels.ports import Ports

STACK = 64 * 1024
"""Bytes of stack that a block copied together may take; larger ones are done sample by sample."""


def loop(ports: Ports, lanes: int) -> str:
    """`void @loop(ptr args, ptr dims, ptr steps, ptr data)`, the inner loop of a generalised ufunc."""
    count = range(len(ports.all))
    w = Writer()
    w.label("entry")
    n = w.load("i64", "%dims")
    args = [w.load("ptr", w.offset("%args", 8 * i)) for i in count]
    steps = [w.load("i64", w.offset("%steps", 8 * i)) for i in count]
    strides = _core_strides(w, ports)
    inner = [_without_gaps(w, port, own) for port, own in zip(ports.all, strides, strict=True)]
    whole = [
        w.put(f"and i1 {inner[i]}, {w.put(f'icmp eq i64 {steps[i]}, {8 * port.size}')}")
        for i, port in enumerate(ports.all)
    ]
    if lanes > 1:
        w.do(f"br i1 {_all(w, whole)}, label %plain, label %gaps")
        w.label("plain")
        blocks = w.put(f"sdiv i64 {n}, {lanes}")
        w.do(f"br i1 {w.put(f'icmp sgt i64 {blocks}, 0')}, label %many, label %rest")
        w.label("many")
        w.do(f"call void @rows(ptr %args, i64 {blocks})")
        w.do("br label %rest")
        w.label("rest")
        start, origin = w.put(f"mul i64 {blocks}, {lanes}"), "rest"
    else:
        w.do(f"br i1 {_all(w, inner)}, label %one, label %gaps")
        start, origin = "0", "entry"
    if lanes > 1:
        w.do("br label %one")
    w.label("one")
    w.do(f"%i = phi i64 [ {start}, %{origin} ], [ %j, %oneof ]")
    w.do(f"%unfinished = icmp slt i64 %i, {n}")
    w.do("br i1 %unfinished, label %oneof, label %done")
    w.label("oneof")
    pointers = [w.offset(args[i], w.put(f"mul i64 %i, {steps[i]}")) for i in count]
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
    block = lanes if 8 * lanes * sum(port.size for port in ports.all) <= STACK else 1
    w = Writer()
    w.label("entry")
    w.do(f"%here = alloca [{len(ports.all)} x ptr], align 8")
    buffers = [w.put(f"alloca [{block * port.size} x double], align 64") for port in ports.all]
    args = [w.load("ptr", w.offset("%args", 8 * i)) for i in count]
    steps = [w.load("i64", w.offset("%steps", 8 * i)) for i in count]
    strides = [(steps[i], *own) for i, own in enumerate(_core_strides(w, ports))]
    w.do("br label %chunk")
    w.label("chunk")
    w.do("%k = phi i64 [ 0, %entry ], [ %l, %finished ]")
    left = w.put("sub i64 %n, %k")
    w.do(f"br i1 {w.put(f'icmp sgt i64 {left}, 0')}, label %take, label %done")
    w.label("take")
    full = w.put(f"icmp sge i64 {left}, {block}")
    taken = w.put(f"select i1 {full}, i64 {block}, i64 1")
    outside = [w.offset(args[i], w.put(f"mul i64 %k, {steps[i]}")) for i in count]
    here = [w.put(f"select i1 %whole{i}, ptr {outside[i]}, ptr {buffers[i]}") for i in count]
    first = w.put("icmp eq i64 %k, 0")
    for i, port in enumerate(ports.inputs):
        moves = w.put(f"or i1 {first}, {w.put(f'icmp ne i64 {steps[i]}, 0')}")
        needed = w.put(f"select i1 %whole{i}, i1 false, i1 {moves}")
        w.do(f"br i1 {needed}, label %bring{i}, label %there{i}")
        w.label(f"bring{i}")
        _copy(w, port, taken, buffers[i], None, outside[i], strides[i])
        w.do(f"br label %there{i}")
        w.label(f"there{i}")
    w.do(f"br i1 {full}, label %asblock, label %assingle")
    w.label("asblock")
    if block > 1:
        for i in count:
            w.store("ptr", here[i], w.offset("%here", 8 * i))
        w.do("call void @rows(ptr %here, i64 1)")
        w.do("br label %computed")
    else:
        w.do("br label %assingle")
    w.label("assingle")
    w.do(f"call void @single({', '.join(f'ptr {p}' for p in here)})")
    w.do("br label %computed")
    w.label("computed")
    for i, port in enumerate(ports.outputs, inputs):
        w.do(f"br i1 %whole{i}, label %there{i}, label %bring{i}")
        w.label(f"bring{i}")
        _copy(w, port, taken, outside[i], strides[i], buffers[i], None)
        w.do(f"br label %there{i}")
        w.label(f"there{i}")
    w.do(f"%l = add i64 %k, {taken}")
    w.do("br label %finished")
    w.label("finished")
    w.do("br label %chunk")
    w.label("done")
    w.do("ret void")
    arguments = ", ".join(["ptr %args", "ptr %steps", "i64 %n", *(f"i1 %whole{i}" for i in count)])
    return f'define internal void @scattered({arguments}) {ONCE} "stackrealign" {{\n{w.text}\n}}\n'


def _core_strides(w: Writer, ports: Ports) -> list[tuple[str, str]]:
    """(row, column) strides of each array's own axes; 0 for axes that are not there."""
    place, found = len(ports.all), []
    for port in ports.all:
        own = []
        for _ in port.shape:
            own.append(w.load("i64", w.offset("%steps", 8 * place)))
            place += 1
        row, column = ["0"] * (2 - len(own)) + own
        found.append((row, column))
    return found


def _extent(port: Port) -> tuple[int, int]:
    """(rows, columns): a vector is one row."""
    rows, columns = (1,) * (2 - len(port.shape)) + port.shape
    return rows, columns


def _without_gaps(w: Writer, port: Port, strides: tuple[str, str]) -> str:
    """Whether one sample of this array lies in one piece."""
    rows, columns = _extent(port)
    tests = [
        w.put(f"icmp eq i64 {stride}, {natural}")
        for size, stride, natural in zip((rows, columns), strides, (8 * columns, 8), strict=True)
        if size > 1
    ]
    return _all(w, tests)


def _all(w: Writer, tests: list[str]) -> str:
    result = "true"
    for test in tests:
        result = w.put(f"and i1 {result}, {test}")
    return result


def _copy(
    w: Writer,
    port: Port,
    samples: str,
    to: str,
    to_strides: tuple[str, str, str] | None,
    source: str,
    source_strides: tuple[str, str, str] | None,
) -> None:
    rows, columns = _extent(port)
    packed = (str(8 * port.size), str(8 * columns), "8")
    numbers = (*(to_strides or packed), *(source_strides or packed), samples, str(rows), str(columns))
    w.do(f"call void @copy(ptr {to}, ptr {source}, {', '.join(f'i64 {x}' for x in numbers)})")


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
