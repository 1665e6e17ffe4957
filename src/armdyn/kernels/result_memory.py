"""Memory of large results, used again.

The system clears every page of new memory and maps it: for results of some MB that takes as long as computing them, or
several times as long. So the last large results are remembered, in all kernels together, and one that nobody else holds
any more is given out again instead of a new one of the same shape, as `fastcall` does with small ones.
"""

from __future__ import annotations

import ctypes

from armdyn.kernels.call.single import (
    ALIGNED,
    BASE,
    CONTIGUOUS,
    COUNT,
    DESCR,
    DIMS,
    FLAGS,
    FORTRAN,
    NDIM,
    OWNED,
    WEAK,
    WRITEABLE,
)
from armdyn.kernels.looped.writer import LoopWriter

SMALLEST, LARGEST = 2**20, 2**28
"""Bytes of a result that is remembered, and of all of them together."""
REMEMBERED = 4
"""Results, of all kernels, at most."""
_remembered = (ctypes.c_int64 * (2 * REMEMBERED + 1))()
"""Their addresses, their bytes, and which of them is the next to be forgotten."""
TURN = 8 * 2 * REMEMBERED
"""Where that last number is."""


def address() -> int:
    """Where they are, for all code."""
    return ctypes.addressof(_remembered)


def result_array() -> str:
    """`ptr @result_array(i32 rank, ptr shape)`: an array of doubles for a result; null if there is no memory."""
    w = LoopWriter()
    w.label("entry")
    w.do("%bytes = alloca i64, align 8")
    w.store("i64", "8", "%bytes")
    rank = w.put("zext i32 %rank to i64")
    with w.counting("axis", rank) as axis:
        size = w.load("i64", w.offset("%shape", w.times(axis, 8)))
        w.store("i64", w.times(w.load("i64", "%bytes"), size), "%bytes")
    size = w.load("i64", "%bytes")
    within = [w.put(f"icmp {test}") for test in (f"uge i64 {size}, {SMALLEST}", f"ule i64 {size}, {LARGEST}")]
    w.do(f"br i1 {w.put(f'and i1 {within[0]}, {within[1]}')}, label %large, label %other")
    w.label("large")
    with w.counting("k", str(REMEMBERED)) as k:
        old = w.load("ptr", w.offset("@remembered", w.times(k, 8)))
        _require(w, w.put(f"icmp ne ptr {old}, null"))
        _require_free(w, old)
        dims = w.load("ptr", w.offset(old, DIMS))
        with w.counting("same", rank) as axis:
            there, here = (w.load("i64", w.offset(shape, w.times(axis, 8))) for shape in (dims, "%shape"))
            _require(w, w.put(f"icmp eq i64 {there}, {here}"))
        w.do(f"call void @Py_IncRef(ptr {old})")
        w.do(f"ret ptr {old}")
        w.label("not")
    array = _new(w)
    with w.when(w.put(f"icmp ne ptr {array}, null"), "keep"):
        w.do(f"call void @Py_IncRef(ptr {array})")
        turn = w.load("i64", w.offset("@remembered", TURN))
        oldest = w.load("ptr", w.offset("@remembered", w.times(turn, 8)))
        _remember(w, turn, array, size)
        w.store("i64", w.put(f"urem i64 {w.plus(turn, 1)}, {REMEMBERED}"), w.offset("@remembered", TURN))
        _forget_too_much(w, turn)
        _let_go(w, "oldest", oldest)
    w.do(f"ret ptr {array}")
    w.label("other")
    w.do(f"ret ptr {_new(w)}")
    return f"define ptr @result_array(i32 %rank, ptr %shape) {{\n{w.text}\n}}\n"


def _remember(w: LoopWriter, k: str, array: str, size: str) -> None:
    place = w.offset("@remembered", w.times(k, 8))
    w.store("ptr", array, place)
    w.store("i64", size, w.offset(place, 8 * REMEMBERED))


def _forget_too_much(w: LoopWriter, newest: str) -> None:
    """Older results that are too large beside the newer ones. What lets go of them may call a kernel itself."""
    with w.counting("age", str(REMEMBERED), "1") as age:
        k = w.put(f"urem i64 {w.put(f'sub i64 {w.plus(newest, REMEMBERED)}, {age}')}, {REMEMBERED}")
        place = w.offset("@remembered", w.times(k, 8))
        total = w.plus(w.load("i64", "%bytes"), w.load("i64", w.offset(place, 8 * REMEMBERED)))
        w.store("i64", total, "%bytes")
        old = w.load("ptr", place)
        with w.when(w.put(f"icmp ugt i64 {total}, {LARGEST}"), "much"):
            _remember(w, k, "null", "0")
            _let_go(w, "older", old)


def _let_go(w: LoopWriter, name: str, array: str) -> None:
    with w.when(w.put(f"icmp ne ptr {array}, null"), name):
        w.do(f"call void @Py_DecRef(ptr {array})")


def _new(w: LoopWriter) -> str:
    w.do("call void @Py_IncRef(ptr @float64)")  # the next call takes this reference
    rest = "i32 %rank, ptr %shape, ptr null, ptr null, i32 0, ptr null"
    return w.put(f"call ptr @new_array(ptr @ndarray, ptr @float64, {rest})")


def _require(w: LoopWriter, holds: str) -> None:
    label = f"good{w.name()[1:]}"
    w.do(f"br i1 {holds}, label %{label}, label %not")
    w.label(label)


def _require_free(w: LoopWriter, array: str) -> None:
    """It is nobody's but ours, and as it was made."""
    flags = w.put(f"and i32 {w.load('i32', w.offset(array, FLAGS), 4)}, {~FORTRAN & 0xFFFFFFFF}")  # both of a column
    _require(w, w.put(f"icmp eq i32 {w.load('i32', w.offset(array, COUNT), 4)}, 1"))
    _require(w, w.put(f"icmp eq ptr {w.load('ptr', w.offset(array, WEAK))}, null"))
    _require(w, w.put(f"icmp eq ptr {w.load('ptr', w.offset(array, BASE))}, null"))
    _require(w, w.put(f"icmp eq i32 {flags}, {CONTIGUOUS | OWNED | ALIGNED | WRITEABLE}"))
    _require(w, w.put(f"icmp eq i32 {w.load('i32', w.offset(array, NDIM), 4)}, %rank"))
    _require(w, w.put(f"icmp eq ptr {w.load('ptr', w.offset(array, DESCR))}, @float64"))
