"""NumPy arrays and Python's objects as machine code sees them: where their fields are, how they are tested and made.

What machine code reads of an array are the fields that NumPy's public macros read (PyArray_DATA, PyArray_DIMS, ...), at
the places declared in `ndarraytypes.h`. They are checked on real arrays once per process; if anything is not where it
should be, or the interpreter is not CPython with its lock, there is no fast path and `layout_holds` says so.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
import weakref
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from armdyn.kernels.ir_writer import Writer
from armdyn.kernels.ports import Ports

COUNT, TYPE, DATA, NDIM, DIMS, STRIDES, BASE, DESCR, FLAGS, WEAK = 0, 8, 16, 24, 32, 40, 48, 56, 64, 72
"""Places in an array object, in bytes."""
CONTIGUOUS, FORTRAN, OWNED, ALIGNED, WRITEABLE = 0x1, 0x2, 0x4, 0x100, 0x400
NEW_FROM_DESCR, RETURN = 94, 76
"""Places in NumPy's table of C functions; they never change."""

EXTERNALS = {
    "ndarray": "@ndarray = external global i8",
    "float64": "@float64 = external global i8",
    "float": "@float = external global i8",
    "out": "@out = external global i8",
    "tuple": "@tuple = external global i8",
    "new_array": "declare ptr @new_array(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)",
    "as_scalar": "declare ptr @as_scalar(ptr)",
    "Py_IncRef": "declare void @Py_IncRef(ptr)",
    "Py_DecRef": "declare void @Py_DecRef(ptr)",
    "PyTuple_New": "declare ptr @PyTuple_New(i64)",
    "PyTuple_SetItem": "declare i32 @PyTuple_SetItem(ptr, i64, ptr)",
    "PyTuple_Size": "declare i64 @PyTuple_Size(ptr)",
    "PyTuple_GetItem": "declare ptr @PyTuple_GetItem(ptr, i64)",
    "PyFloat_AsDouble": "declare double @PyFloat_AsDouble(ptr)",
    "PyMem_RawCalloc": "declare ptr @PyMem_RawCalloc(i64, i64)",
    "PyMem_RawFree": "declare void @PyMem_RawFree(ptr)",
    "PyErr_Clear": "declare void @PyErr_Clear()",
    "PyEval_SaveThread": "declare ptr @PyEval_SaveThread()",
    "PyEval_RestoreThread": "declare void @PyEval_RestoreThread(ptr)",
    "PyObject_Vectorcall": "declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)",
    "sin": "declare double @sin(double)",
    "cos": "declare double @cos(double)",
}
"""What the machine code finds outside of itself, by name."""


class Extents:
    """Shapes of arrays, which the code finds in memory at `@extents`, one size after the other.

    So code that calls a program is the same for all programs whose arrays have as many axes.
    """

    def __init__(self, ports: Ports) -> None:
        self.ports = ports.all
        self.sizes = [size for port in self.ports for size in port.shape]

    def shape(self, i: int, axis: int = 0) -> str:
        """The address of the sizes of array i, from an axis on."""
        before = sum(len(port.shape) for port in self.ports[:i])
        return f"getelementptr (i8, ptr @extents, i64 {8 * (before + axis)})"

    def of(self, w: Writer, i: int) -> list[str]:
        """The sizes of array i along its axes."""
        axes = range(len(self.ports[i].shape))
        return [w.put(f"load i64, ptr {self.shape(i, axis)}, align 8, !invariant.load !1") for axis in axes]

    def definition(self) -> str:
        return f"@extents = global [{max(len(self.sizes), 1)} x i64] zeroinitializer\n"

    def tell(self, address: int) -> None:
        """Write the sizes to `@extents`, which is there."""
        for k, size in enumerate(self.sizes):
            ctypes.c_int64.from_address(address + 8 * k).value = size


# Tests ----------------------------------------------------------------------------------------------------------------


def require(w: Writer, tests: Sequence[str], otherwise: str) -> None:
    """Go on if all of these hold, else to the label."""
    label = f"good{w.name()[1:]}"
    w.do(f"br i1 {all_of(w, tests)}, label %{label}, label %{otherwise}")
    w.label(label)


def all_of(w: Writer, tests: Sequence[str]) -> str:
    """Whether all of these hold."""
    holds = "true"
    for test in tests:
        holds = test if holds == "true" else w.put(f"and i1 {holds}, {test}")
    return holds


def field_is(w: Writer, array: str, place: int, kind: str, value: object) -> str:
    """Whether a field of an object, of this kind, has this value."""
    return w.put(f"icmp eq {kind} {w.load(kind, w.offset(array, place), 4 if kind == 'i32' else 8)}, {value}")


def is_array(w: Writer, array: str) -> str:
    """Whether an object is of exactly NumPy's type; other fields may be read only then."""
    return field_is(w, array, TYPE, "ptr", "@ndarray")


def is_plain(w: Writer, array: str, rank: int, *, written: bool = False) -> list[str]:
    """Tests that an array has so many axes, of doubles, aligned and without gaps; its sizes may be read only then."""
    wanted = CONTIGUOUS | ALIGNED | (WRITEABLE if written else 0)
    bits = w.put(f"and i32 {w.load('i32', w.offset(array, FLAGS), 4)}, {wanted}")
    tidy = w.put(f"icmp eq i32 {bits}, {wanted}")
    return [field_is(w, array, NDIM, "i32", rank), field_is(w, array, DESCR, "ptr", "@float64"), tidy]


def has_sizes(w: Writer, array: str, sizes: Sequence[str]) -> list[str]:
    """Tests that an array of as many axes has these sizes."""
    dims = w.load("ptr", w.offset(array, DIMS)) if sizes else ""
    return [field_is(w, dims, 8 * axis, "i64", size) for axis, size in enumerate(sizes)]


def is_untouched(w: Writer, array: str, rank: int) -> list[str]:
    """Tests that an array that was made here is nobody's but ours, and as it was made.

    Whether it is in Fortran's order too is a matter of its shape, which is tested apart.
    """
    flags = w.put(f"and i32 {w.load('i32', w.offset(array, FLAGS), 4)}, {~FORTRAN & 0xFFFFFFFF}")
    return [
        field_is(w, array, COUNT, "i32", 1),
        field_is(w, array, WEAK, "ptr", "null"),
        field_is(w, array, BASE, "ptr", "null"),
        w.put(f"icmp eq i32 {flags}, {CONTIGUOUS | OWNED | ALIGNED | WRITEABLE}"),
        field_is(w, array, NDIM, "i32", rank),
        field_is(w, array, DESCR, "ptr", "@float64"),
    ]


# Objects --------------------------------------------------------------------------------------------------------------


def data_of(w: Writer, array: str) -> str:
    """The address of an array's entries."""
    return w.load("ptr", w.offset(array, DATA))


def new_array(w: Writer, rank: int, shape: str) -> str:
    """A new array of doubles, null if there is no memory; shape: the address of its sizes."""
    w.do("call void @Py_IncRef(ptr @float64)")  # the next call takes this reference
    rest = f"i32 {rank}, ptr {shape}, ptr null, ptr null, i32 0, ptr null"
    return w.put(f"call ptr @new_array(ptr @ndarray, ptr @float64, {rest})")


def let_go(w: Writer, objects: Sequence[str]) -> None:
    for each in objects:
        w.do(f"call void @Py_DecRef(ptr {each})")


def returned(w: Writer, objects: Sequence[str], otherwise: str) -> None:
    """Return one object, or a tuple of several; to the label if there is no memory for the tuple."""
    if len(objects) == 1:
        w.do(f"ret ptr {objects[0]}")
        return
    pack = w.put(f"call ptr @PyTuple_New(i64 {len(objects)})")
    require(w, [w.put(f"icmp ne ptr {pack}, null")], otherwise)
    for k, each in enumerate(objects):
        w.put(f"call i32 @PyTuple_SetItem(ptr {pack}, i64 {k}, ptr {each})")
    w.do(f"ret ptr {pack}")


def named_results(w: Writer, inputs: int, ranks: Sequence[int], otherwise: str) -> tuple[str, list[str]]:
    """What was given as `out=`, the only keyword, and its arrays, which are plain and have these ranks."""
    require(w, [w.put(f"icmp eq i64 {w.put('call i64 @PyTuple_Size(ptr %names)')}, 1")], otherwise)
    require(w, [w.put(f"icmp eq ptr {w.put('call ptr @PyTuple_GetItem(ptr %names, i64 0)')}, @out")], otherwise)
    given = w.load("ptr", w.offset("%args", 8 * inputs))
    count, arrays = len(ranks), [given]
    if count > 1:
        require(w, [field_is(w, given, TYPE, "ptr", "@tuple")], otherwise)
        require(w, [w.put(f"icmp eq i64 {w.put(f'call i64 @PyTuple_Size(ptr {given})')}, {count}")], otherwise)
        arrays = [w.put(f"call ptr @PyTuple_GetItem(ptr {given}, i64 {k})") for k in range(count)]
    require(w, [is_array(w, array) for array in arrays], otherwise)
    tests = [is_plain(w, array, rank, written=True) for array, rank in zip(arrays, ranks, strict=True)]
    require(w, [test for each in tests for test in each], otherwise)
    return given, arrays


def give_back(w: Writer, given: str) -> None:
    """Return what was given, with a reference of its own."""
    w.do(f"call void @Py_IncRef(ptr {given})")
    w.do(f"ret ptr {given}")


# The layout -----------------------------------------------------------------------------------------------------------


@cache
def layout_holds() -> bool:
    """Whether arrays look in memory as their public declaration says, tried on arrays of many kinds."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    if ctypes.sizeof(ctypes.c_void_p) != 8 or object.__basicsize__ != 16 or sys.byteorder != "little":
        return False
    if np.ndarray.__basicsize__ < WEAK + 8:
        return False
    block = np.arange(24.0)
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    trials = [block, block.reshape(2, 3, 4)[:, ::-1, ::2], block.reshape(4, 6).T, np.zeros((0, 3), "f4"), frozen]
    trials += [np.array(1.5), np.frombuffer(bytes(17), np.uint8)[1:].view("f8"), np.zeros(2, ">f8")]
    return all(map(_looks_right, trials)) and np.dtype(float) is np.zeros(1).dtype and _counts_right()


def _counts_right() -> bool:
    """Whether the reference count, the base and the weak references of an array are where they should be."""
    held = [np.zeros(3)]
    at = id(held[0])

    def count() -> int:
        return ctypes.c_int32.from_address(at + COUNT).value

    def pointers() -> tuple[int | None, ...]:
        return tuple(ctypes.c_void_p.from_address(at + place).value for place in (BASE, WEAK))

    alone, bare = count(), pointers()
    held += held * 4
    five = count()
    reference = weakref.ref(held[0])
    view = held[0][1:]
    based = ctypes.c_void_p.from_address(id(view) + BASE).value
    return (alone, five, bare) == (1, 5, (None, None)) and pointers() == (None, id(reference)) and based == at


def _looks_right(array: Any) -> bool:
    at, rank = id(array), array.ndim

    def pointer(place: int) -> int:
        return ctypes.c_void_p.from_address(at + place).value or 0

    def vector(place: int) -> tuple[int, ...] | None:
        start = pointer(place)
        return tuple((ctypes.c_ssize_t * rank).from_address(start)) if start else None

    return (
        pointer(TYPE) == id(np.ndarray)
        and pointer(DATA) == array.ctypes.data
        and ctypes.c_int.from_address(at + NDIM).value == rank
        and pointer(DESCR) == id(array.dtype)
        and ctypes.c_int.from_address(at + FLAGS).value == array.flags.num
        and (not rank or (vector(DIMS) == array.shape and vector(STRIDES) == array.strides))  # followed last, when sure
    )
