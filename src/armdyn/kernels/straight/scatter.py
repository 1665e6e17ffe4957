"""Large results of straight-line code: from one vector for every number to the rows of samples.

Straight-line code leaves each number of a large result once, samples side by side, in the nearest cache. A table says
which of them stands where; by it rows are made and written in order, line by line, and with non-temporal stores if
there are many.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from armdyn.graph import Node
from armdyn.graph.node import ZERO
from armdyn.kernels.ir_writer import vector
from armdyn.kernels.loop_writer import LANES, V4, WIDE, LoopWriter, transposed
from armdyn.kernels.ports import Ports
from armdyn.kernels.streaming import LINE, fetched

FEWEST, MOST = 256, 2**16 - 8
"""The fewest and the most entries of a result that is scattered; a table of 16 bits has their places."""
NUMBERS = 4096
"""Distinct numbers among them, at most: they stay in the second cache."""
TOGETHER = 32
"""Lines of each sample that are made before they are written, where non-temporal stores cannot write them at once."""
SHORTEST = 2 * LINE
"""Neighbouring zeros that are written without looking at the table for each of them, at least."""


def scattered_results(ports: Ports) -> dict[int, dict[Node, int]]:
    """Results that are written this way, by their place among all arrays: their numbers, each once."""
    found = {}
    for i, port in enumerate(ports.outputs, len(ports.inputs)):
        numbers = {node: k for k, node in enumerate(dict.fromkeys(port.nodes))}
        if FEWEST <= port.size <= MOST and len(numbers) <= NUMBERS:
            found[i] = numbers
    return found


def places(nodes: Sequence[Node], numbers: dict[Node, int], lanes: int) -> list[int]:
    """Which number stands where: the table that `@scatter_results` reads.

    The places of all entries, in doubles; then the first entry of every row of zeros and that after it, and at the end
    entries that do not exist.
    """
    found = [lanes * numbers[node] for node in nodes]
    place = 0
    for zero, run in groupby(node is ZERO for node in nodes):
        size = len(list(run))
        if zero and size >= SHORTEST:
            found += [place, place + size]
        place += size
    return [*found, 2**16 - 1, 2**16 - 1]


def scatter_results(lanes: int) -> str:
    """`void @scatter_results(ptr to, ptr values, ptr places, i64 count, i64 nontemporal)`: for a block of samples.

    to: `count` entries of each sample. values: numbers, samples side by side. places: a table.
    nontemporal: not 0 for non-temporal stores. They write vectors of four if these are aligned in all samples; else a
    few lines are made first.
    """
    w = LoopWriter()
    room = 8 * LINE * (TOGETHER + 2)
    w.do(f"%made = alloca [{lanes * room} x i8], align 64")
    w.do("%run = alloca ptr, align 8")
    w.do("%here = alloca i64, align 8")
    row = w.times("%count", 8)
    rows = [w.offset("%to", w.times(row, k)) for k in range(lanes)]
    for each in rows:  # lines that samples share, of the next block: non-temporal stores write whole ones only
        fetched(w, w.offset(each, w.times(row, lanes)), 8 * LINE)
    w.store("ptr", w.offset("%places", w.times("%count", 2)), "%run")
    nontemporal, uneven = w.put("icmp ne i64 %nontemporal, 0"), w.put(f"and i64 %count, {LANES - 1}")
    w.do(f"br i1 {w.put(f'and i1 {nontemporal}, {_equal(w, uneven, 0)}')}, label %at_once, label %in_parts")
    w.label("at_once")
    begun = w.put(f"lshr i64 {w.put('ptrtoint ptr %to to i64')}, 3")
    head = w.put(f"and i64 {w.put(f'sub i64 0, {begun}')}, {LINE - 1}")
    stop = w.plus(head, w.put(f"and i64 {w.put(f'sub i64 %count, {head}')}, -{LINE}"))
    _single(w, "head", rows, "0", head)
    _lines(w, "direct", [w.offset(each, w.times(head, 8)) for each in rows], head, stop, nontemporal=True)
    _single(w, "end", rows, stop, "%count")
    w.do("ret void")
    w.label("in_parts")
    stop = w.put(f"and i64 %count, -{LINE}")
    most = w.put(f"select i1 {nontemporal}, i64 {LINE * TOGETHER}, i64 {stop}")
    parts = w.put(f"udiv i64 {w.plus(stop, w.plus(most, -1))}, {most}")
    buffers = [w.offset("%made", room * k + 8 * LINE) for k in range(lanes)]
    with w.counting("part", parts) as part:
        first = w.times(part, most)
        until = w.put(f"call i64 @llvm.smin.i64(i64 {w.plus(first, most)}, i64 {stop})")
        here = [w.offset(each, w.times(first, 8)) for each in rows]
        targets = [w.put(f"select i1 {nontemporal}, ptr {a}, ptr {b}") for a, b in zip(buffers, here, strict=True)]
        _lines(w, "near", targets, first, until)
        with w.when(nontemporal, "put"):
            size, after = w.put(f"sub i64 {until}, {first}"), w.put(f"icmp sgt i64 {part}, 0")
            order = f"i64 {size}, i1 {after}, i1 {_equal(w, until, stop)}"
            for to, made in zip(here, buffers, strict=True):
                w.do(f"call void @put_lines(ptr {to}, ptr {made}, {order})")
    _single(w, "rest", rows, stop, "%count")
    arguments = "ptr %to, ptr %values, ptr %places, i64 %count, i64 %nontemporal"
    return w.function(f'void @scatter_results({arguments}) noinline "stackrealign"')


def _equal(w: LoopWriter, a: str, b: str | int) -> str:
    return w.put(f"icmp eq i64 {a}, {b}")


def _lines(
    w: LoopWriter, name: str, targets: Sequence[str], start: str, stop: str, *, nontemporal: bool = False
) -> None:
    """Lines of all samples from entry `start` on, which goes to these places; zeros without looking at them."""
    w.store("i64", start, "%here")
    w.do(f"br label %{name}.turn")
    w.label(f"{name}.turn")
    here, run = w.load("i64", "%here"), w.load("ptr", "%run")
    w.do(f"br i1 {w.put(f'icmp slt i64 {here}, {stop}')}, label %{name}.go, label %{name}.end")
    w.label(f"{name}.go")
    from_start = [w.put(f"sub i64 {_number(w, w.offset(run, at))}, {start}") for at in (0, 2)]
    inner = [w.put(f"and i64 {value}, -{LINE}") for value in (w.plus(from_start[0], LINE - 1), from_start[1])]
    zeros = _within(w, w.plus(inner[0], start), here, stop)
    ended = w.plus(inner[1], start)
    others = _within(w, ended, zeros, stop)
    with w.counting(f"{name}.other", zeros, here, LINE) as entry:
        place = w.times(w.put(f"sub i64 {entry}, {start}"), 8)
        at = w.offset("%places", w.times(entry, 2))
        for k in range(0, LINE, LANES):
            _four(w, w.offset(at, 2 * k), [w.offset(w.offset(each, place), 8 * k) for each in targets], nontemporal)
    with w.counting(f"{name}.zero", others, zeros, LINE) as entry:
        place = w.times(w.put(f"sub i64 {entry}, {start}"), 8)
        for target in (w.offset(each, place) for each in targets):
            for half in range(0, 8 * LINE, WIDE):
                _put(w, "zeroinitializer", w.offset(target, half), nontemporal)
    left = w.put(f"select i1 {w.put(f'icmp slt i64 {ended}, {stop}')}, i64 4, i64 0")  # behind it, if it ends here
    w.store("ptr", w.offset(run, left), "%run")
    w.store("i64", others, "%here")
    w.do(f"br label %{name}.turn")
    w.label(f"{name}.end")


def _within(w: LoopWriter, value: str, least: str, most: str) -> str:
    value = w.put(f"call i64 @llvm.smax.i64(i64 {value}, i64 {least})")
    return w.put(f"call i64 @llvm.smin.i64(i64 {value}, i64 {most})")


def _number(w: LoopWriter, at: str) -> str:
    """A number of the table."""
    return w.put(f"zext i16 {w.put(f'load i16, ptr {at}, align 2')} to i64")


def _place(w: LoopWriter, at: str) -> str:
    """The place of an entry's numbers, which the table has there."""
    return w.put(f"getelementptr double, ptr %values, i64 {_number(w, at)}")


def _four(w: LoopWriter, at: str, targets: Sequence[str], nontemporal: bool) -> None:
    """Four neighbouring entries of all samples."""
    lanes = len(targets)
    values = [w.load(vector(lanes), _place(w, w.offset(at, 2 * k)), 8 * lanes) for k in range(LANES)]
    for target, row in zip(targets, transposed(w, values, lanes), strict=True):
        _put(w, row, target, nontemporal)


def _put(w: LoopWriter, value: str, target: str, nontemporal: bool) -> None:
    if nontemporal:
        w.do(f"store {V4} {value}, ptr {target}, align {WIDE}, !nontemporal !2")
    else:
        w.store(V4, value, target)


def _single(w: LoopWriter, name: str, rows: Sequence[str], start: str, stop: str) -> None:
    """A few entries of all samples, one by one."""
    with w.counting(name, stop, start) as entry:
        values = _place(w, w.offset("%places", w.times(entry, 2)))
        for k, row in enumerate(rows):
            w.store("double", w.load("double", w.offset(values, 8 * k)), w.offset(row, w.times(entry, 8)))
