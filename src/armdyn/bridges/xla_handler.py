"""Handlers for XLA's foreign-function interface: a kernel's loop on the buffers of a compiled JAX program, in place.

A handler is `ptr @handler(ptr frame)`; null means success. Its place in XLA's structures is that of `c_api.h`, which
comes with jaxlib; VERSIONS are the versions of that file for which the places below have been checked. Leading axes of
the inputs are those of the results or 1: such an input is the same for all samples along that axis.
"""

from __future__ import annotations

import itertools

from armdyn.kernels import jit
from armdyn.kernels.ir_writer import ONCE
from armdyn.kernels.kernel import Kernel
from armdyn.kernels.loop_writer import LoopWriter
from armdyn.kernels.ports import Ports

VERSIONS = ((0, 1), (0, 2), (0, 3))
"""Versions of the interface with these structures."""
EXTENSION, STAGE, ARGUMENTS, RESULTS = 8, 32, 72, 112
"""Places in XLA_FFI_CallFrame; arguments and results are arrays of pointers to buffers."""
KIND, METADATA = 8, 24
"""Places in an extension: its kind, and where metadata are to be written."""
MAJOR, MINOR, TRAITS = 24, 28, 32
"""Places in XLA_FFI_Metadata."""
ASKS_METADATA, EXECUTES = 1, 3
"""A kind of extension, and a stage."""
DATA, RANK, DIMS = 24, 32, 40
"""Places in XLA_FFI_Buffer."""

_immortal: list[jit.Code] = []


def handler(kernel: Kernel, version: tuple[int, int]) -> int:
    """The address of a handler for a kernel. It stays for good: XLA cannot be told that it is gone."""
    assert kernel.code is not None and version in VERSIONS
    image = jit.compiled(_text(kernel.ports, version))
    code = jit.Code([image], ("handler",), outside={"loop": kernel.code.address("loop")})
    code.kept = kernel
    _immortal.append(code)
    return code.address("handler")


def _text(ports: Ports, version: tuple[int, int]) -> str:
    w = LoopWriter()
    cores = [len(port.shape) for port in ports.all]
    names = ("pointers", len(cores)), ("starts", len(cores)), ("steps", len(cores) + sum(cores)), ("inner", 1)
    for name, size in (*names, ("rest", 1), ("place", 1), ("span", 1)):
        w.do(f"%{name} = alloca [{size} x i64], align 8")
    _answer_metadata(w, version)
    stage = w.load("i32", w.offset("%frame", STAGE), 4)
    w.do(f"br i1 {w.put(f'icmp eq i32 {stage}, {EXECUTES}')}, label %run, label %done")
    w.label("run")
    _run(w, ports)
    w.do("br label %done")
    w.label("done")
    w.do("ret ptr null")
    return "declare void @loop(ptr, ptr, ptr, ptr)\n" + w.function(f"ptr @handler(ptr %frame) {ONCE}")


def _answer_metadata(w: LoopWriter, version: tuple[int, int]) -> None:
    """XLA asks once, when a handler is registered, for the version it is made for."""
    extension = w.load("ptr", w.offset("%frame", EXTENSION))
    w.do(f"br i1 {w.put(f'icmp eq ptr {extension}, null')}, label %usual, label %extended")
    w.label("extended")
    kind = w.load("i32", w.offset(extension, KIND), 4)
    w.do(f"br i1 {w.put(f'icmp eq i32 {kind}, {ASKS_METADATA}')}, label %asked, label %usual")
    w.label("asked")
    metadata = w.load("ptr", w.offset(extension, METADATA))
    for place, value in ((MAJOR, version[0]), (MINOR, version[1]), (TRAITS, 0)):
        w.store("i32", str(value), w.offset(metadata, place), 4)
    w.do("br label %done")
    w.label("usual")


def _run(w: LoopWriter, ports: Ports) -> None:
    """The loop on all samples at once; or along the last batch axis, for each place in the others."""
    inputs = len(ports.inputs)
    lists = [w.load("ptr", w.offset("%frame", place)) for place in (ARGUMENTS, RESULTS)]
    buffers = [w.load("ptr", w.offset(lists[0], 8 * i)) for i in range(inputs)]
    buffers += [w.load("ptr", w.offset(lists[1], 8 * i)) for i in range(len(ports.outputs))]
    data = [w.load("ptr", w.offset(buffer, DATA)) for buffer in buffers]
    dims = [w.load("ptr", w.offset(buffer, DIMS)) for buffer in buffers]
    axes = w.plus(w.load("i64", w.offset(buffers[inputs], RANK)), -len(ports.outputs[0].shape))
    samples = [_product(w, f"count{i}", dims[i], axes) for i in range(inputs + 1)]
    total = samples[inputs]
    _core_strides(w, ports)
    plain = "true"
    for i in range(inputs):
        all_or_one = w.put(f"or i1 {_equal(w, samples[i], total)}, {_equal(w, samples[i], '1')}")
        plain = w.put(f"and i1 {plain}, {all_or_one}")
    some = w.put(f"icmp sgt i64 {total}, 0")
    w.do(f"br i1 {some}, label %some, label %done")
    w.label("some")
    w.do(f"br i1 {plain}, label %plain, label %mixed")
    w.label("plain")
    for i, port in enumerate(ports.all):
        w.store("ptr", data[i], w.offset("%pointers", 8 * i))
        _store_step(w, i, port.size, "false" if i >= inputs else _equal(w, samples[i], "1"))
    w.store("i64", total, "%inner")
    w.do("call void @loop(ptr %pointers, ptr %inner, ptr %steps, ptr null)")
    w.do("br label %done")
    w.label("mixed")
    last = w.times(w.plus(axes, -1), 8)
    inner = w.load("i64", w.offset(dims[inputs], last))
    w.store("i64", inner, "%inner")
    for i, port in enumerate(ports.all):
        one = _equal(w, w.load("i64", w.offset(dims[i], last)), "1")
        _store_step(w, i, port.size, one)
    with w.counting("outer", w.put(f"sdiv i64 {total}, {inner}")) as outer:
        for i, port in enumerate(ports.all):
            _store_start(w, i, port.size, outer, dims[i], dims[inputs], axes)
            start = w.load("i64", w.offset("%starts", 8 * i))
            w.store("ptr", w.offset(data[i], start), w.offset("%pointers", 8 * i))
        w.do("call void @loop(ptr %pointers, ptr %inner, ptr %steps, ptr null)")


def _equal(w: LoopWriter, a: str, b: str) -> str:
    return w.put(f"icmp eq i64 {a}, {b}")


def _product(w: LoopWriter, name: str, dims: str, axes: str) -> str:
    """Samples in a buffer."""
    w.store("i64", "1", "%span")
    with w.counting(name, axes) as axis:
        w.store("i64", w.times(w.load("i64", "%span"), w.load("i64", w.offset(dims, w.times(axis, 8)))), "%span")
    return w.load("i64", "%span")


def _store_step(w: LoopWriter, i: int, size: int, one: str) -> None:
    w.store("i64", w.put(f"select i1 {one}, i64 0, i64 {8 * size}"), w.offset("%steps", 8 * i))


def _store_start(w: LoopWriter, i: int, size: int, outer: str, own: str, all_: str, axes: str) -> None:
    """Where the samples of one buffer start, in bytes, for one place in all batch axes but the last."""
    w.store("i64", outer, "%rest")
    w.store("i64", "0", "%place")
    w.store("i64", w.times(w.load("i64", w.offset(own, w.times(w.plus(axes, -1), 8))), 8 * size), "%span")
    with w.counting(f"axis{i}", w.plus(axes, -1)) as k:
        axis = w.times(w.put(f"sub i64 {w.plus(axes, -2)}, {k}"), 8)
        extent, mine = w.load("i64", w.offset(all_, axis)), w.load("i64", w.offset(own, axis))
        rest, span = w.load("i64", "%rest"), w.load("i64", "%span")
        index = w.put(f"select i1 {_equal(w, mine, '1')}, i64 0, i64 {w.put(f'srem i64 {rest}, {extent}')}")
        w.store("i64", w.plus(w.load("i64", "%place"), w.times(index, span)), "%place")
        w.store("i64", w.put(f"sdiv i64 {rest}, {extent}"), "%rest")
        w.store("i64", w.times(span, mine), "%span")
    w.store("i64", w.load("i64", "%place"), w.offset("%starts", 8 * i))


def _core_strides(w: LoopWriter, ports: Ports) -> None:
    """Strides of the arrays' own axes: buffers have no gaps."""
    place = len(ports.all)
    for port in ports.all:
        for stride in list(itertools.accumulate((8, *port.shape[:0:-1]), lambda a, b: a * b))[::-1][: len(port.shape)]:
            w.store("i64", str(stride), w.offset("%steps", 8 * place))
            place += 1


__all__ = ["VERSIONS", "handler"]
