"""The function NumPy calls: whole blocks, then single samples; rows with gaps are copied together first."""

from __future__ import annotations

from armdyn.kernels.ports import Port, Ports
from armdyn.kernels.writer import Writer

STACK = 64 * 1024
"""Bytes of stack that a block copied together may take; larger ones are done sample by sample."""


def loop(ports: Ports, lanes: int) -> str:
    """`void @loop(ptr args, ptr dims, ptr steps, ptr data)`, the inner loop of a generalised ufunc."""
    count, elements = len(ports.all), sum(port.size for port in ports.all)
    block = lanes if 8 * elements * lanes <= STACK else 1
    w = Writer()
    w.label("entry")
    w.do(f"%here = alloca [{count} x ptr], align 8")
    w.do(f"%rowsteps = alloca [{count} x i64], align 8")
    buffers = [w.put(f"alloca [{block * port.size} x double], align 64") for port in ports.all]
    n = w.load("i64", "%dims")
    blocks = w.put(f"sdiv i64 {n}, {lanes}")
    args = [w.load("ptr", w.offset("%args", 8 * i)) for i in range(count)]
    steps = [w.load("i64", w.offset("%steps", 8 * i)) for i in range(count)]
    strides = _core_strides(w, ports)
    w.do(f"br i1 {_without_gaps(w, ports, strides)}, label %plain, label %gaps")

    w.label("plain")
    if lanes > 1:
        whole = w.put(f"icmp sgt i64 {blocks}, 0")
        w.do(f"br i1 {whole}, label %many, label %rest")
        w.label("many")
        w.do(f"call void @rows(ptr %args, ptr %steps, i64 {blocks})")
        w.do("br label %rest")
        w.label("rest")
    start = w.put(f"mul i64 {blocks}, {lanes}") if lanes > 1 else "0"
    w.do("br label %one")
    origin = "rest" if lanes > 1 else "plain"
    w.label("one")
    w.do(f"%i = phi i64 [ {start}, %{origin} ], [ %j, %oneof ]")
    w.do(f"%unfinished = icmp slt i64 %i, {n}")
    w.do("br i1 %unfinished, label %oneof, label %done")
    w.label("oneof")
    pointers = [w.offset(args[i], w.put(f"mul i64 %i, {steps[i]}")) for i in range(count)]
    w.do(f"call void @single({', '.join(f'ptr {p}' for p in pointers)})")
    w.do("%j = add i64 %i, 1")
    w.do("br label %one")

    w.label("gaps")
    for i, port in enumerate(ports.all):
        w.store("ptr", buffers[i], w.offset("%here", 8 * i))
        w.store("i64", str(8 * port.size), w.offset("%rowsteps", 8 * i))
    w.do("br label %chunk")
    w.label("chunk")
    w.do("%k = phi i64 [ 0, %gaps ], [ %l, %after ]")
    left = w.put(f"sub i64 {n}, %k")
    some = w.put(f"icmp sgt i64 {left}, 0")
    w.do(f"br i1 {some}, label %take, label %done")
    w.label("take")
    full = w.put(f"icmp sge i64 {left}, {block}")
    taken = w.put(f"select i1 {full}, i64 {block}, i64 1")
    outside = [w.offset(args[i], w.put(f"mul i64 %k, {steps[i]}")) for i in range(count)]
    inner = len(ports.inputs)
    for i, port in enumerate(ports.inputs):
        _copy(w, port, taken, buffers[i], None, outside[i], (steps[i], *strides[i]))
    w.do(f"br i1 {full}, label %asblock, label %assingle")
    w.label("asblock")
    if block > 1:
        w.do("call void @rows(ptr %here, ptr %rowsteps, i64 1)")
        w.do("br label %after")
    else:
        w.do("br label %assingle")
    w.label("assingle")
    w.do(f"call void @single({', '.join(f'ptr {buffer}' for buffer in buffers)})")
    w.do("br label %after")
    w.label("after")
    for i, port in enumerate(ports.outputs, inner):
        _copy(w, port, taken, outside[i], (steps[i], *strides[i]), buffers[i], None)
    w.do(f"%l = add i64 %k, {taken}")
    w.do("br label %chunk")

    w.label("done")
    w.do("ret void")
    head = 'define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) "stackrealign"'
    return f"{head} {{\n{w.text}\n}}\n" + COPY


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


def _without_gaps(w: Writer, ports: Ports, strides: list[tuple[str, str]]) -> str:
    result = "true"
    for port, (row, column) in zip(ports.all, strides, strict=True):
        rows, columns = _extent(port)
        for size, stride, natural in ((rows, row, 8 * columns), (columns, column, 8)):
            if size > 1:
                holds = w.put(f"icmp eq i64 {stride}, {natural}")
                result = w.put(f"and i1 {result}, {holds}")
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
define internal void @copy(ptr %to, ptr %from, i64 %t0, i64 %t1, i64 %t2, i64 %f0, i64 %f1, i64 %f2,
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
