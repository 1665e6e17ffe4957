"""The fast path for one sample: a builtin function whose body is machine code of the kernel.

`@fast` looks at each argument: an array of exactly NumPy's type, of the right shape, of doubles, aligned and without
gaps (a plain float for a scalar). If all are, it allocates the result through NumPy's C interface and computes. `out=`
is taken the same way. Batches of such arrays are the business of `batch`; anything else is passed on, unchanged, to the
Python function it was made with.

Making and freeing a small array costs as much as the dynamics of an arm. So the last two results are remembered, and
one that nobody else holds any more (its reference count is one, it has no weak references, its shape, type and flags
are as made) is given out again instead of a new one: `tau = f(q, qd, qdd)` in a loop needs two arrays in all. Results
that are kept are never touched.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.kernels.call.arrays import (
    COUNT,
    TYPE,
    Extents,
    all_of,
    data_of,
    field_is,
    give_back,
    has_sizes,
    is_array,
    is_plain,
    is_untouched,
    let_go,
    named_results,
    new_array,
    require,
    returned,
)
from armdyn.kernels.ir_writer import Writer
from armdyn.kernels.ports import Ports

SLOTS = 2
"""Results remembered per output."""


def fast(ports: Ports, *, batches: bool = True) -> str:
    """`ptr @fast(ptr self, ptr args, i64 count, ptr names)`; `self` is the function that takes all other calls.

    batches: `@many` is in the same module; else its address is in `@batch` once there is such code.
    """
    w = Writer()
    extents = Extents(ports)
    inputs, outputs = len(ports.inputs), range(len(ports.inputs), len(ports.all))
    for i, port in enumerate(ports.inputs):
        if not port.shape:
            w.do(f"%number{i} = alloca double, align 8")
    require(w, [w.put(f"icmp eq i64 %count, {inputs}")], "slow")
    pointers = [_argument(w, extents, i) for i in range(inputs)]
    arrays_only = all(port.shape for port in ports.outputs)
    plain = w.put("icmp eq ptr %names, null")
    w.do(f"br i1 {plain}, label %allocate, label %{'named' if arrays_only else 'slow'}")
    w.label("allocate")
    made = _allocated(w, extents, outputs)
    _call_single(w, [*pointers, *(data_of(w, array) for array in made)])
    results = [
        array if port.shape else w.put(f"call ptr @as_scalar(ptr {array})")
        for port, array in zip(ports.outputs, made, strict=True)
    ]
    returned(w, results, "lost")
    w.label("lost")
    let_go(w, results)
    w.do("ret ptr null")
    if arrays_only:
        w.label("named")
        given, arrays = named_results(w, inputs, [len(port.shape) for port in ports.outputs], "slow")
        sizes = [has_sizes(w, array, extents.of(w, i)) for i, array in zip(outputs, arrays, strict=True)]
        require(w, [test for each in sizes for test in each], "slow")
        _call_single(w, [*pointers, *(data_of(w, array) for array in arrays)])
        give_back(w, given)
    w.label("slow")
    many = "@many"
    if not batches:
        many = w.load("ptr", "@batch")
        require(w, [w.put(f"icmp ne ptr {many}, null")], "other")
    batch = w.put(f"call ptr {many}(ptr %args, i64 %count, ptr %names)")
    require(w, [w.put(f"icmp ne ptr {batch}, null")], "other")
    w.do(f"ret ptr {batch}")
    w.label("other")
    w.do(f"ret ptr {w.put('call ptr @PyObject_Vectorcall(ptr %self, ptr %args, i64 %count, ptr %names)')}")
    linked = "" if batches else "@batch = global ptr null\n"
    linked += f"@slots = global [{SLOTS * len(ports.outputs)} x ptr] zeroinitializer\n@turn = internal global i64 0\n"
    return extents.definition() + linked + w.function("ptr @fast(ptr %self, ptr %args, i64 %count, ptr %names)")


def _call_single(w: Writer, pointers: Sequence[str]) -> None:
    w.do(f"call void @single({', '.join(f'ptr {pointer}' for pointer in pointers)})")


def _argument(w: Writer, extents: Extents, i: int) -> str:
    """The address of an argument's numbers; control goes to %slow if the argument is not as it should be."""
    given, rank = w.load("ptr", w.offset("%args", 8 * i)), len(extents.ports[i].shape)
    if not rank:
        require(w, [field_is(w, given, TYPE, "ptr", "@float")], "slow")
        w.store("double", w.put(f"call double @PyFloat_AsDouble(ptr {given})"), f"%number{i}")
        return f"%number{i}"
    require(w, [is_array(w, given)], "slow")
    require(w, is_plain(w, given, rank), "slow")
    require(w, has_sizes(w, given, extents.of(w, i)), "slow")
    return data_of(w, given)


def _allocated(w: Writer, extents: Extents, outputs: Sequence[int]) -> list[str]:
    """Arrays for the results, remembered or new; without memory those already made are let go."""
    made: list[str] = []
    turn = w.load("i64", "@turn")
    w.store("i64", w.put(f"xor i64 {turn}, 1"), "@turn")
    for j, i in enumerate(outputs):
        rank = len(extents.ports[i].shape)
        place = w.put(f"getelementptr ptr, ptr @slots, i64 {w.put(f'add i64 {turn}, {SLOTS * j}')}")
        old = w.load("ptr", place)
        none = w.put(f"icmp eq ptr {old}, null")
        w.do(f"br i1 {none}, label %new{j}, label %old{j}")
        w.label(f"old{j}")
        require(w, is_untouched(w, old, rank), f"new{j}")  # only then is it known that there are as many sizes to read
        w.do(f"br i1 {all_of(w, has_sizes(w, old, extents.of(w, i)))}, label %again{j}, label %new{j}")
        w.label(f"again{j}")
        w.store("i32", "2", w.offset(old, COUNT), 4)  # it was one, ours
        w.do(f"br label %made{j}")
        w.label(f"new{j}")
        new = new_array(w, rank, extents.shape(i) if rank else "null")
        w.do(f"br i1 {w.put(f'icmp eq ptr {new}, null')}, label %none{j}, label %keep{j}")
        w.label(f"none{j}")
        let_go(w, made)
        w.do("ret ptr null")
        w.label(f"keep{j}")
        w.do(f"call void @Py_IncRef(ptr {new})")
        w.store("ptr", new, place)
        w.do(f"br i1 {none}, label %made{j}, label %drop{j}")
        w.label(f"drop{j}")
        let_go(w, [old])
        w.do(f"br label %made{j}")
        w.label(f"made{j}")
        made.append(w.put(f"phi ptr [ {old}, %again{j} ], [ {new}, %keep{j} ], [ {new}, %drop{j} ]"))
    return made
