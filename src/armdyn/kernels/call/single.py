"""The fast path for one sample: a builtin function whose body is machine code of the kernel.

`@fast` looks at each argument: an array of exactly NumPy's type, of the right shape, of doubles, aligned and without
gaps (a plain float for a scalar). If all are, it allocates the result through NumPy's C interface and computes. `out=`
is taken the same way. Batches of such arrays are the business of `batch_call`; anything else is passed on, unchanged,
to the Python function it was made with.

Making and freeing a small array costs as much as the dynamics of an arm. So the last two results are remembered, and
one that nobody else holds any more (its reference count is one, it has no weak references, its shape, type and flags
are as made) is given out again instead of a new one: `tau = f(q, qd, qdd)` in a loop needs two arrays in all. Results
that are kept are never touched.

What it reads of an array are the fields that NumPy's public macros read (PyArray_DATA, PyArray_DIMS, ...), at the
places declared in `ndarraytypes.h`. They are checked on real arrays once per process; if anything is not where it
should be, or the interpreter is not CPython with its lock, there is no fast path and `layout_holds` says so.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
import weakref
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Protocol

import numpy as np

from armdyn.graph.structure import Port
from armdyn.kernels.ir_writer import Writer
from armdyn.kernels.ports import Ports

COUNT, TYPE, DATA, NDIM, DIMS, STRIDES, BASE, DESCR, FLAGS, WEAK = 0, 8, 16, 24, 32, 40, 48, 56, 64, 72
"""Places in an array object, in bytes."""
CONTIGUOUS, FORTRAN, OWNED, ALIGNED, WRITEABLE = 0x1, 0x2, 0x4, 0x100, 0x400
SLOTS = 2
"""Results remembered per output."""
NEW_FROM_DESCR, RETURN = 94, 76
"""Places in NumPy's table of C functions; they never change."""
METH_FASTCALL, METH_KEYWORDS = 0x80, 0x2

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


class Fixed:
    """Shapes of arrays that are part of the code."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports.all

    def extent(self, w: Writer, i: int, axis: int) -> str:
        """The size of array i along an axis."""
        return str(self.ports[i].shape[axis])

    def shape(self, w: Writer, i: int) -> str:
        """The address of the sizes of array i."""
        return f"@shape{i}"

    def flags(self, i: int) -> int:
        """What an array has besides lying in one piece, as NumPy makes it."""
        return FORTRAN if sum(size > 1 for size in self.ports[i].shape) < 2 else 0

    def definitions(self) -> str:
        return "".join(
            f"@shape{i} = private constant [{len(port.shape)} x i64] [{', '.join(f'i64 {s}' for s in port.shape)}]\n"
            for i, port in enumerate(self.ports)
            if port.shape
        )


class Loaded(Fixed):
    """Shapes that the code finds in memory, at `@extents`: arrays in order, no matrix with one row or column."""

    def _place(self, i: int, axis: int) -> str:
        before = sum(len(port.shape) for port in self.ports[:i])
        return f"getelementptr (i8, ptr @extents, i64 {8 * (before + axis)})"

    def extent(self, w: Writer, i: int, axis: int) -> str:
        return w.put(f"load i64, ptr {self._place(i, axis)}, align 8, !invariant.load !1")

    def shape(self, w: Writer, i: int) -> str:
        return self._place(i, 0)

    def flags(self, i: int) -> int:
        return FORTRAN if len(self.ports[i].shape) < 2 else 0

    def definitions(self) -> str:
        return f"@extents = global [{max(len(self.sizes()), 1)} x i64] zeroinitializer\n"

    def sizes(self) -> list[int]:
        """What stands at `@extents`."""
        return [size for port in self.ports for size in port.shape]

    def tell(self, address: int) -> None:
        """Write the sizes to `@extents`, which is there."""
        for k, size in enumerate(self.sizes()):
            ctypes.c_int64.from_address(address + 8 * k).value = size


def shared(ports: Ports) -> bool:
    """Whether the code that calls a program may find the shapes in memory, and be that of many programs.

    An array that is a row or a column has other flags than a matrix.
    """
    return all(size > 1 for port in ports.outputs if len(port.shape) > 1 for size in port.shape)


def fast(ports: Ports, shapes: Fixed | None = None, *, batches: bool = True) -> str:
    """`ptr @fast(ptr self, ptr args, i64 count, ptr names)`; `self` is the function that takes all other calls.

    batches: `@many` is in the same module; else its address is in `@batch` once there is such code.
    """
    w = Writer()
    known = shapes or Fixed(ports)
    inputs = len(ports.inputs)
    w.label("entry")
    for i, port in enumerate(ports.inputs):
        if not port.shape:
            w.do(f"%number{i} = alloca double, align 8")
    enough = w.put(f"icmp eq i64 %count, {inputs}")
    w.do(f"br i1 {enough}, label %arguments, label %slow")
    w.label("arguments")
    given = [w.load("ptr", w.offset("%args", 8 * i)) for i in range(inputs)]
    pointers = [_checked(w, port, known, given[i], i) for i, port in enumerate(ports.inputs)]
    plain = w.put("icmp eq ptr %names, null")
    arrays_only = all(port.shape for port in ports.outputs)
    w.do(f"br i1 {plain}, label %allocate, label %{'named' if arrays_only else 'slow'}")
    w.label("allocate")
    made = _allocated(w, ports, known)
    targets = [w.load("ptr", w.offset(array, DATA)) for array in made]
    w.do(f"call void @single({', '.join(f'ptr {p}' for p in pointers + targets)})")
    results = [
        array if port.shape else w.put(f"call ptr @as_scalar(ptr {array})")
        for port, array in zip(ports.outputs, made, strict=True)
    ]
    if len(results) == 1:
        w.do(f"ret ptr {results[0]}")
    else:
        pack = w.put(f"call ptr @PyTuple_New(i64 {len(results)})")
        w.do(f"br i1 {w.put(f'icmp eq ptr {pack}, null')}, label %lost, label %filled")
        w.label("lost")
        for array in results:
            w.do(f"call void @Py_DecRef(ptr {array})")
        w.do("ret ptr null")
        w.label("filled")
        for i, array in enumerate(results):
            w.put(f"call i32 @PyTuple_SetItem(ptr {pack}, i64 {i}, ptr {array})")
        w.do(f"ret ptr {pack}")
    if arrays_only:
        _named_output(w, ports, known, pointers)
    w.label("slow")
    many = "@many"
    if not batches:
        many = w.load("ptr", "@batch")
        _require(w, w.put(f"icmp ne ptr {many}, null"), "linked", "other")
    batch = w.put(f"call ptr {many}(ptr %args, i64 %count, ptr %names)")
    w.do(f"br i1 {w.put(f'icmp eq ptr {batch}, null')}, label %other, label %batch")
    w.label("batch")
    w.do(f"ret ptr {batch}")
    w.label("other")
    w.do(f"ret ptr {w.put('call ptr @PyObject_Vectorcall(ptr %self, ptr %args, i64 %count, ptr %names)')}")
    linked = "" if batches else "@batch = global ptr null\n"
    linked += f"@slots = global [{SLOTS * len(ports.outputs)} x ptr] zeroinitializer\n@turn = internal global i64 0\n"
    head = "define ptr @fast(ptr %self, ptr %args, i64 %count, ptr %names)"
    return f"{known.definitions()}{linked}{head} {{\n{w.text}\n}}\n"


def _checked(w: Writer, port: Port, shapes: Fixed, array: str, i: int, *, written: bool = False) -> str:
    """The address of an argument's data; control goes to %slow if the argument is not as it should be."""
    kind = w.load("ptr", w.offset(array, TYPE))
    if not port.shape:
        _require(w, w.put(f"icmp eq ptr {kind}, @float"), f"value{i}")
        w.store("double", w.put(f"call double @PyFloat_AsDouble(ptr {array})"), f"%number{i}")
        return f"%number{i}"
    _require(w, w.put(f"icmp eq ptr {kind}, @ndarray"), f"array{i}")
    rank, doubles = _shaped(w, port, array)
    wanted = CONTIGUOUS | ALIGNED | (WRITEABLE if written else 0)
    bits = w.put(f"and i32 {w.load('i32', w.offset(array, FLAGS), 4)}, {wanted}")
    tidy = w.put(f"icmp eq i32 {bits}, {wanted}")
    _require(w, w.put(f"and i1 {w.put(f'and i1 {rank}, {doubles}')}, {tidy}"), f"tidy{i}")
    _require(w, _sized(w, port, shapes, i, array), f"sized{i}")
    return w.load("ptr", w.offset(array, DATA))


def _require(w: Writer, holds: str, label: str, otherwise: str = "slow") -> None:
    w.do(f"br i1 {holds}, label %{label}, label %{otherwise}")
    w.label(label)


def _allocated(w: Writer, ports: Ports, shapes: Fixed) -> list[str]:
    """Arrays for the results, remembered or new; without memory those already made are let go."""
    made: list[str] = []
    turn = w.load("i64", "@turn")
    w.store("i64", w.put(f"xor i64 {turn}, 1"), "@turn")
    for j, port in enumerate(ports.outputs):
        i = len(ports.inputs) + j
        place = w.put(f"getelementptr ptr, ptr @slots, i64 {w.put(f'add i64 {turn}, {SLOTS * j}')}")
        old = w.load("ptr", place)
        w.do(f"br i1 {w.put(f'icmp eq ptr {old}, null')}, label %new{j}, label %old{j}")
        w.label(f"old{j}")
        w.do(f"br i1 {_untouched(w, port, shapes.flags(i), old)}, label %ranked{j}, label %new{j}")
        w.label(f"ranked{j}")  # only now is it known that there are as many dimensions to read
        w.do(f"br i1 {_sized(w, port, shapes, i, old)}, label %again{j}, label %new{j}")
        w.label(f"again{j}")
        w.store("i32", "2", w.offset(old, COUNT), 4)  # it was one, ours
        w.do(f"br label %made{j}")
        w.label(f"new{j}")
        new = new_array(w, len(port.shape), shapes.shape(w, i) if port.shape else "null")
        w.do(f"br i1 {w.put(f'icmp eq ptr {new}, null')}, label %none{j}, label %keep{j}")
        w.label(f"none{j}")
        for earlier in made:
            w.do(f"call void @Py_DecRef(ptr {earlier})")
        w.do("ret ptr null")
        w.label(f"keep{j}")
        w.do(f"call void @Py_IncRef(ptr {new})")
        w.store("ptr", new, place)
        w.do(f"br i1 {w.put(f'icmp eq ptr {old}, null')}, label %made{j}, label %drop{j}")
        w.label(f"drop{j}")
        w.do(f"call void @Py_DecRef(ptr {old})")
        w.do(f"br label %made{j}")
        w.label(f"made{j}")
        made.append(w.put(f"phi ptr [ {old}, %again{j} ], [ {new}, %keep{j} ], [ {new}, %drop{j} ]"))
    return made


def new_array(w: Writer, rank: int, shape: str) -> str:
    """A new array of doubles, null if there is no memory; shape: the address of its sizes."""
    w.do("call void @Py_IncRef(ptr @float64)")  # the next call takes this reference
    rest = f"i32 {rank}, ptr {shape}, ptr null, ptr null, i32 0, ptr null"
    return w.put(f"call ptr @new_array(ptr @ndarray, ptr @float64, {rest})")


def _untouched(w: Writer, port: Port, more: int, array: str) -> str:
    """Whether a remembered result is nobody's but ours, and as it was made; more: flags besides the usual."""
    flags = CONTIGUOUS | OWNED | ALIGNED | WRITEABLE | more
    tests = [
        w.put(f"icmp eq i32 {w.load('i32', w.offset(array, COUNT), 4)}, 1"),
        w.put(f"icmp eq ptr {w.load('ptr', w.offset(array, WEAK))}, null"),
        w.put(f"icmp eq ptr {w.load('ptr', w.offset(array, BASE))}, null"),
        w.put(f"icmp eq i32 {w.load('i32', w.offset(array, FLAGS), 4)}, {flags}"),
        *_shaped(w, port, array),
    ]
    holds = tests[0]
    for test in tests[1:]:
        holds = w.put(f"and i1 {holds}, {test}")
    return holds


def _shaped(w: Writer, port: Port, array: str) -> list[str]:
    """Tests that an array holds doubles and has the port's rank."""
    return [
        w.put(f"icmp eq i32 {w.load('i32', w.offset(array, NDIM), 4)}, {len(port.shape)}"),
        w.put(f"icmp eq ptr {w.load('ptr', w.offset(array, DESCR))}, @float64"),
    ]


def _sized(w: Writer, port: Port, shapes: Fixed, i: int, array: str) -> str:
    """Whether an array that has the port's rank has its shape."""
    fits = "true"
    if port.shape:
        dims = w.load("ptr", w.offset(array, DIMS))
        for axis in range(len(port.shape)):
            wanted = shapes.extent(w, i, axis)
            right = w.put(f"icmp eq i64 {w.load('i64', w.offset(dims, 8 * axis))}, {wanted}")
            fits = w.put(f"and i1 {fits}, {right}")
    return fits


def _named_output(w: Writer, ports: Ports, shapes: Fixed, pointers: list[str]) -> None:
    """kernel(..., out=array), or a tuple of arrays: the only keyword that does not need the slow way."""
    w.label("named")
    _require(w, w.put(f"icmp eq i64 {w.put('call i64 @PyTuple_Size(ptr %names)')}, 1"), "onename")
    _require(w, w.put(f"icmp eq ptr {w.put('call ptr @PyTuple_GetItem(ptr %names, i64 0)')}, @out"), "isout")
    given = w.load("ptr", w.offset("%args", 8 * len(ports.inputs)))
    count, arrays = len(ports.outputs), [given]
    if count > 1:
        _require(w, w.put(f"icmp eq ptr {w.load('ptr', w.offset(given, TYPE))}, @tuple"), "istuple")
        _require(w, w.put(f"icmp eq i64 {w.put(f'call i64 @PyTuple_Size(ptr {given})')}, {count}"), "complete")
        arrays = [w.put(f"call ptr @PyTuple_GetItem(ptr {given}, i64 {k})") for k in range(count)]
    targets = [
        _checked(w, port, shapes, array, i, written=True)
        for i, (port, array) in enumerate(zip(ports.outputs, arrays, strict=True), len(ports.inputs))
    ]
    w.do(f"call void @single({', '.join(f'ptr {p}' for p in [*pointers, *targets])})")
    w.do(f"call void @Py_IncRef(ptr {given})")
    w.do(f"ret ptr {given}")


class MethodRecord(ctypes.Structure):
    """PyMethodDef: what CPython knows of a builtin function."""

    _fields_ = (
        ("ml_name", ctypes.c_char_p),
        ("ml_meth", ctypes.c_void_p),
        ("ml_flags", ctypes.c_int),
        ("ml_doc", ctypes.c_char_p),
    )


_retired: list[MethodRecord] = []
"""Records of functions that nobody can call any more. They are used again and never freed: CPython still reads the
flags, which are the same in all, when it destroys a builtin function that the cycle collector has found."""


def retire(records: Iterable[MethodRecord]) -> None:
    """Let other functions have the records of functions whose code is gone."""
    _retired.extend(records)


class Owner(Protocol):
    """Code that functions belong to; their records live as long as it."""

    records: list[MethodRecord]


def builtin(address: int, name: str, doc: str, slow: Callable[..., Any], code: Owner) -> Any:
    """The builtin function around `@fast`. It keeps the Python function alive, and that the code."""
    record = _retired.pop() if _retired else MethodRecord()
    record.ml_name, record.ml_meth, record.ml_flags = name.encode(), address, METH_FASTCALL | METH_KEYWORDS
    record.ml_doc = doc.encode()
    code.records.append(record)
    slow.__dict__["_kept"] = (record, code)
    create = ctypes.pythonapi.PyCFunction_NewEx
    create.restype, create.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return create(ctypes.addressof(record), slow, None)


def rebound(fast: Any, slow: Callable[..., Any], name: str, signature: str, doc: str) -> Any:
    """The same builtin function under another name, with another Python function for the calls it does not take itself.

    The signature goes where `inspect.signature` looks for that of a builtin: in front of the docstring.
    """
    record, code = fast.__self__.__dict__["_kept"]
    return builtin(record.ml_meth, name, f"{name}{signature}\n--\n\n{doc}", slow, code)


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
