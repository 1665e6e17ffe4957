"""The code for batches: blocks of samples, one sample in each lane of the vectors.

Rows come as they lie in memory, one sample after the other: pairs of components are loaded from each row and transposed
in registers. Results go back four at a time, transposed as well, and large ones by `scatter`.

Where no angle depends on the sine of another, a batch is computed in chunks of several blocks: first their angles, then
the sines and cosines of all of them, then the rest block by block. Sines and cosines together take two thirds of the
time they would take one after the other, since none waits for another and vectors are full.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armdyn.graph import Node, to_float
from armdyn.graph.node import COS, SIN
from armdyn.kernels.ir_writer import Writer, splat, vector
from armdyn.kernels.loop_writer import LANES, V4, LoopWriter, transposed
from armdyn.kernels.machine import Machine
from armdyn.kernels.ports import Ports
from armdyn.kernels.straight.budget import BYTE, POINTERS, Area, BudgetedCode, Memory, defined_addresses
from armdyn.kernels.straight.events import Angles, Event, Result, angle_stages, events, nodes_before, same_constant
from armdyn.kernels.straight.operations import joined
from armdyn.kernels.straight.scatter import places, scattered_results
from armdyn.kernels.straight.schedule import Plan
from armdyn.kernels.straight.sincos import GROUP
from armdyn.kernels.streaming import LINE

FETCHED = 4096
"""Bytes of results whose memory is asked for before they are written: no processor foresees rows written in turns."""
CHUNK, MOST = 8192, 16
"""Bytes of angles, sines and cosines of a chunk, and its blocks, at most: they stay in the nearest cache."""


def rows(ports: Ports, plan: Plan, lanes: int, machine: Machine) -> str:
    """`void @rows(ptr args, i64 blocks, i64 nontemporal)`: that many blocks of samples, of arrays without gaps.

    args: where they start; results must not overlap arguments. nontemporal: not 0 if large results are written with
    non-temporal stores.
    """
    stages = angle_stages(plan)
    known = stages[0] if len(stages) == 1 else []
    scattered = scattered_results(ports)
    first, block = _FirstPass(ports, plan, lanes, machine, known), _Block(ports, plan, lanes, machine, known, scattered)
    constants: dict[str, str] = {}
    w = LoopWriter()
    bases = [w.load("ptr", w.offset("%args", 8 * i)) for i in range(len(ports.all))]
    numbers = _known_numbers(w, lanes, scattered)
    step = 8 * lanes * len(known)
    most = max(1, min(MOST, CHUNK // (3 * step))) if known else 1
    room = most * step + 8 * lanes  # of an odd number of vectors of four the last is there twice
    angles, sines, cosines = (w.put(f"alloca [{room + -room % (8 * GROUP)} x i8], align 64") for _ in range(3))
    with w.counting("chunk", "%blocks", step=most) as start:
        count = w.put(f"call i64 @llvm.smin.i64(i64 {most}, i64 {w.put(f'sub i64 %blocks, {start}')})")
        if known:
            with w.counting("turn", count) as turn:
                pointers = _at_block(w, ports, lanes, bases, w.plus(start, turn))
                first.write(w, pointers, w.offset(angles, w.times(turn, step)), constants)
            vectors = w.times(count, len(known))
            groups = vectors if lanes == GROUP else w.put(f"lshr i64 {w.plus(vectors, 1)}, 1")
            w.do(f"call void @all_sines(ptr {angles}, ptr {sines}, ptr {cosines}, i64 {groups})")
        with w.counting("block", count) as turn:
            pointers = _at_block(w, ports, lanes, bases, w.plus(start, turn))
            for pointer, port in zip(pointers, ports.inputs, strict=False):  # of a block of the next chunk
                size = 8 * lanes * port.size
                _prefetch(w, [w.offset(pointer, most * size + line) for line in range(0, size, 8 * LINE)])
            near = [w.offset(each, w.times(turn, step)) for each in (sines, cosines)]
            given = [*pointers, *near, *numbers.values()]
            w.do(f"call void @block({', '.join(f'ptr {each}' for each in given)})")
            for i in scattered:
                to = f"ptr {pointers[i]}, ptr {numbers[i]}, ptr @places{i}, i64 {ports.all[i].size}"
                w.do(f"call void @scatter_results({to}, i64 %nontemporal)")
    w.do("ret void")
    w.label("never")
    own = block.text(constants)
    w.lines[1:1] = first.definitions(block.memory.by_use(constants.values())) if known else []
    tables = {i: places(ports.all[i].nodes, listed, lanes) for i, listed in scattered.items()}
    return "".join(
        [
            w.function('void @rows(ptr %args, i64 %blocks, i64 %nontemporal) "stackrealign"'),
            own,
            block.memory.table(),
            *(
                f"@places{i} = internal constant [{len(table)} x i16] [{', '.join(f'i16 {x}' for x in table)}]\n"
                for i, table in tables.items()
            ),
            "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n",
            "declare void @all_sines(ptr, ptr, ptr, i64)\n" * bool(plan.angles),
            "declare void @scatter_results(ptr, ptr, ptr, i64, i64)\n" * bool(scattered),
        ]
    )


def _at_block(w: LoopWriter, ports: Ports, lanes: int, bases: Sequence[str], number: str) -> list[str]:
    """Where the arrays of a block begin."""
    return [w.offset(base, w.times(number, 8 * lanes * port.size)) for base, port in zip(bases, ports.all, strict=True)]


def _prefetch(w: Writer, pointers: Sequence[str]) -> None:
    for pointer in pointers:
        w.do(f"call void @llvm.prefetch.p0(ptr {pointer}, i32 0, i32 3, i32 1)")


def _known_numbers(w: Writer, lanes: int, scattered: Mapping[int, Mapping[Node, int]]) -> dict[int, str]:
    """Room for the numbers of scattered results; those that are the same for all samples are stored at once."""
    found = {}
    for i, numbers in scattered.items():
        found[i] = room = w.put(f"alloca [{len(numbers)} x {vector(lanes)}], align 64")
        for node, k in numbers.items():
            if not node.online:
                w.store(vector(lanes), splat(float(to_float(node)), lanes), w.offset(room, 8 * lanes * k), 8 * lanes)
    return found


class _Rows:
    """Straight-line code on rows of samples."""

    def __init__(self, ports: Ports, plan: Plan, lanes: int, machine: Machine, order: Sequence[Event]) -> None:
        self.ports, self.plan, self.lanes, self.machine, self.order = ports, plan, lanes, machine, order
        self.kind, self.bytes = vector(lanes), 8 * lanes
        self.place = {node: (i, j) for i, port in enumerate(ports.inputs) for j, node in enumerate(port.nodes)}

    def begin(self, w: LoopWriter, pointers: Sequence[str], constants: dict[str, str]) -> None:
        """pointers: where the arrays of the block begin. constants: those of the module."""
        self.w, self.pointers = w, pointers
        self.memory = Memory(w, self.lanes, self.machine.broadcasts, constants)
        never = f"icmp eq ptr {pointers[0]}, null"
        budget = self.machine.budget(self.lanes)
        self.code = BudgetedCode(w, self.lanes, self.plan, self.order, budget, self.memory, never)

    def row(self, i: int, lane: int, j: int = 0) -> str:
        """The address of component j of one sample's row of array i."""
        return self.w.offset(self.pointers[i], 8 * (lane * self.ports.all[i].size + j))

    def read(self, node: Node) -> None:
        """One component of all samples; its neighbour comes along."""
        i, j = self.place[node]
        nodes = self.ports.inputs[i].nodes
        if len(nodes) == 1:
            self.code.hold(node, self.w.load(self.kind, self.row(i, 0)))
            return
        first = min(j - j % 2, len(nodes) - 2)
        for each, value in zip(nodes[first : first + 2], self._pair(i, first), strict=True):
            if each is node or each not in self.memory.known:
                self.code.hold(each, value)

    def _pair(self, i: int, j: int) -> tuple[str, str]:
        """Components j and j + 1 of all samples."""
        w = self.w
        evens, odds = [], []
        for base in range(0, self.lanes, 4):
            parts = [w.load("<2 x double>", self.row(i, base + lane, j)) for lane in (0, 1, 2, 3)]
            a = w.shuffle(2, parts[0], parts[2], (0, 1, 2, 3))
            b = w.shuffle(2, parts[1], parts[3], (0, 1, 2, 3))
            evens.append(w.shuffle(4, a, b, (0, 4, 2, 6)))
            odds.append(w.shuffle(4, a, b, (1, 5, 3, 7)))
        return joined(w, 4, evens), joined(w, 4, odds)


class _FirstPass(_Rows):
    """The angles of a block, to memory."""

    def __init__(self, ports: Ports, plan: Plan, lanes: int, machine: Machine, angles: Sequence[Node]) -> None:
        stored = [Result(0, k, (angle,)) for k, angle in enumerate(angles)]
        super().__init__(ports, plan, lanes, machine, [*nodes_before(angles, plan), *stored])
        self.angles = angles

    def definitions(self, constants: Sequence[str]) -> list[str]:
        """Lines that define the pointers which the code uses; constants: in the order of their table."""
        step, uses = self.memory.constant_bytes, self.memory.uses
        slots = [f"  %slot{k} = alloca {self.kind}, align {self.bytes}" for k in range(self.memory.slots)]
        return slots + [
            f"  {pointer} = getelementptr i8, ptr @constants, i64 {step * k}"
            for k, pointer in enumerate(constants)
            if pointer in uses
        ]

    def write(self, w: LoopWriter, pointers: Sequence[str], target: str, constants: dict[str, str]) -> None:
        """Into a function that is being written."""
        self.begin(w, pointers, constants)

        def store(result: Result) -> None:
            value, k = self.code.value(result.nodes[0]), result.first
            last = k == len(self.angles) - 1
            for place in (k, k + 1) if last else (k,):  # twice, to fill the last group up, unless a block follows
                w.store(self.kind, value, w.offset(target, self.bytes * place), self.bytes)

        self.code.write(self.read, _no_sines, store)


class _Block(_Rows):
    """`@block`: all but the sines and cosines that are known before."""

    def __init__(
        self,
        ports: Ports,
        plan: Plan,
        lanes: int,
        machine: Machine,
        known: Sequence[Node],
        scattered: Mapping[int, Mapping[Node, int]],
    ) -> None:
        super().__init__(ports, plan, lanes, machine, events(ports, plan, LANES, known, scattered))
        self.known, self.scattered = {node: k for k, node in enumerate(known)}, scattered
        self.rooms: list[str] = []

    def text(self, constants: dict[str, str]) -> str:
        arrays = [f"%a{i}" for i in range(len(self.ports.all))]
        w = LoopWriter()
        self.begin(w, arrays, constants)
        for node in self.plan.order:
            if self.known and node.op in (SIN, COS):
                base = "%sines" if node.op == SIN else "%cosines"
                self.memory.known[node] = w.offset(base, self.bytes * self.known[node.args[0]])
        self.code.write(self.read, self.sines, self.store)
        w.do("ret void")
        w.label("never")
        pointers = [*arrays, "%sines", "%cosines", *(f"%numbers{i}" for i in self.scattered)]
        w.lines[1:1] = [*self.definitions(len(pointers)), *self.rooms]
        return w.function(
            f'internal void @block({", ".join(f"ptr {each}" for each in pointers)}) noinline "stackrealign"'
        )

    def definitions(self, arguments: int) -> list[str]:
        """Lines that define the pointers which the code uses, and the room that they need."""
        memory, unit = self.memory, self.machine.broadcasts
        slots = memory.by_use(f"%slot{k}" for k in range(memory.slots))
        step = memory.constant_bytes
        areas = [
            Area("%frame", slots, self.bytes, BYTE * (self.bytes if unit else 1)),
            Area("@constants", memory.by_use(memory.constants.values()), step, BYTE * (step if unit else 1)),
        ]
        frame = [f"  %frame = alloca [{len(slots)} x {self.kind}], align 64"] if slots else []
        windows = POINTERS - arguments if self.machine.short_addresses else 0
        return frame + defined_addresses(areas, memory.uses, windows)

    def sines(self, event: Angles) -> None:
        """Those of one stage, if there are several."""
        w, kind, size, angles = self.w, self.kind, self.bytes, event.nodes
        groups = -(-len(angles) * size // (8 * GROUP))
        names = [w.name() for _ in range(3)]
        self.rooms += [f"  {name} = alloca [{8 * GROUP * groups} x i8], align 64" for name in names]
        for k in range(8 * GROUP * groups // size):
            angle = angles[min(k, len(angles) - 1)]
            w.store(kind, self.code.value(angle), w.offset(names[0], size * k), size)
        self.code.clear()
        w.do(f"call void @all_sines({', '.join(f'ptr {name}' for name in names)}, i64 {groups})")
        for node in self.plan.order:
            if node.op in (SIN, COS) and node.args[0] in angles:
                place = names[1 + (node.op == COS)]
                self.memory.known[node] = w.offset(place, size * angles.index(node.args[0]))

    def store(self, result: Result) -> None:
        w, i, first, nodes = self.w, result.port, result.first, result.nodes
        kind, size = self.kind, self.bytes
        if i in self.scattered:
            w.store(kind, self.code.value(nodes[0]), w.offset(f"%numbers{i}", size * first), size)
            return
        for entry in range(first, first + len(nodes)):
            if 8 * entry % (8 * LINE) == 0:
                self._fetch(i, entry)
        values = [self.code.value(node) for node in nodes]
        if self.ports.all[i].size == 1:
            w.store(kind, values[0], self.row(i, 0))
        elif same_constant(nodes):
            row = values[0] if self.lanes == LANES else w.shuffle(self.lanes, values[0], values[0], range(LANES))
            for lane in range(self.lanes):
                w.store(V4, row, self.row(i, lane, first))
        elif len(values) == LANES:
            for lane, row in enumerate(transposed(w, values, self.lanes)):
                w.store(V4, row, self.row(i, lane, first))
        else:
            self._store_pair(i, first, *values)

    def _fetch(self, i: int, entry: int) -> None:
        """Ask for the memory of a later block."""
        block = sum(self.bytes * port.size for port in self.ports.outputs)
        ahead = -(-FETCHED // block) * self.lanes
        lanes = self.lanes if self.ports.all[i].size > 1 else 1
        _prefetch(self.w, [self.row(i, ahead + lane, entry) for lane in range(lanes)])

    def _store_pair(self, i: int, j: int, a: str, b: str) -> None:
        w, n = self.w, self.lanes
        for base in range(0, n, 4):
            for first in (0, 1):
                low, high = base + first, base + first + 2
                both = w.shuffle(n, a, b, (low, n + low, high, n + high))
                for lane, pick in ((low, (0, 1)), (high, (2, 3))):
                    w.store("<2 x double>", w.shuffle(4, both, both, pick), self.row(i, lane, j))


def _no_sines(event: Angles) -> None:
    raise AssertionError("an angle that depends on another")
