"""Blocks of samples as x86-64 assembly, one sample in each lane: `@rows`, as in `block`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from armdyn.graph import Node
from armdyn.graph.node import COS, SIN
from armdyn.graph.structure import ordered
from armdyn.kernels.addresses import BASES, at
from armdyn.kernels.assembly_function import ARGUMENTS, SHORT, Angles, Function, Result
from armdyn.kernels.ports import Ports
from armdyn.kernels.straight.scatter import places, spread_results
from armdyn.kernels.straight.schedule import Plan
from armdyn.kernels.straight.sincos import GROUP
from armdyn.kernels.straight.single import angle_stages

FETCHED, LINE = 4096, 64
"""Bytes of results whose memory is asked for before they are written, and those that come at a time."""
AHEAD, MOST = 8192, 16
"""Bytes and blocks, at most, of angles whose sines and cosines are computed before the rest: together they take two
thirds of the time, since none waits for another and vectors are full."""
MIDDLE = 128
"""Bytes from the first value to the address of several, so that short instructions reach twice as many."""


class Rows(Function):
    """Blocks of samples, one in each lane; results must not overlap arguments.

    Where no angle depends on another's sine, those of several blocks are computed first, then the rest block by block.
    """

    def __init__(self, name: str, ports: Ports, plan: Plan, lanes: int, wide: bool) -> None:
        stages, fits = angle_stages(plan), len(ports.all) + 2 <= len(BASES)
        self.angles = stages[0] if len(stages) == 1 and fits else []
        self.spread = spread_results(ports)
        super().__init__(name, ports, plan, lanes, wide, self.angles, self.spread)
        size = self.machine.bytes
        self.numbers = {i: self.frame.room(size * len(numbers), 64) for i, numbers in self.spread.items()}
        self.listed = {i: places(ports.all[i].nodes, numbers, lanes) for i, numbers in self.spread.items()}
        starts = accumulate((2 * len(table) for table in self.listed.values()), initial=0)
        self.table_at = dict(zip(self.listed, starts, strict=False))

    def before(self) -> list[str]:
        self.left, self.past = (at(self.frame.room(8)) for _ in range(2))
        lines = [f"mov %rsi, {self.left}", *([f"mov %rdx, {self.past}"] if self.spread else [])]
        for i, place in enumerate(self.frame.bases[: len(self.ports.all)]):
            lines += [f"mov {8 * i}(%rdi), %rax", f"mov %rax, {at(place)}"]
        return lines

    def body(self) -> None:
        sizes = [self.machine.bytes * port.size for port in self.ports.all]
        if self.angles:
            self.chunks(sizes)
            return
        self.known_numbers()
        self.lines.append(".Lblock:")
        super().body()
        self.put_spread()
        self.lines += [f"addq ${size}, {at(place)}" for size, place in zip(sizes, self.frame.bases, strict=True)]
        self.lines += [f"decq {self.left}", "jg .Lblock"]

    def chunks(self, sizes: Sequence[int]) -> None:
        """Several blocks at a time: their angles, sines and cosines of these, the rest."""
        step, frame, lines = self.machine.bytes * len(self.angles), self.frame, self.lines
        most = max(1, min(MOST, AHEAD // (3 * step)))
        room = most * step + self.machine.bytes
        places = [frame.room(room + -room % (8 * GROUP), 64) for _ in range(3)]
        count, turns = (at(frame.room(8)) for _ in range(2))
        sines, cosines = BASES[len(sizes) : len(sizes) + 2]
        self.known_numbers()
        lines += [".Lchunk:"]
        for kept, place in zip(frame.bases[-2:], places[1:], strict=True):
            lines += [f"lea {at(place + MIDDLE)}, %rax", f"mov %rax, {at(kept)}"]
        lines += [f"mov {self.left}, %rax", f"mov ${most}, %ecx", "cmp %rcx, %rax", "cmovg %rcx, %rax"]
        lines += [f"mov %rax, {count}", f"mov %rax, {turns}"]
        self.load_bases()
        lines += [f"lea {at(places[0] + MIDDLE)}, {sines}", ".Lfirst:"]
        read = self.first_pass(sines)
        self.next_block([(sizes[i], BASES[i]) for i in read] + [(step, sines)], turns, ".Lfirst")
        self.sines_of_blocks(places, count)
        lines += [f"mov {count}, %rax", f"mov %rax, {turns}"]
        self.load_bases()
        lines.append(".Lblock:")
        for size, base in zip(sizes[: len(self.ports.inputs)], BASES, strict=False):
            for line in range(0, size, LINE):
                self.put("prefetcht0", f"{most * size + line}({base})")  # arguments of a block of the next chunk
        self.second_pass(sines, cosines)
        if self.spread:
            lines += [f"mov {base}, {at(place)}" for base, place in zip(BASES, frame.bases, strict=False)]
            self.put_spread()
            self.load_bases()
        self.next_block(zip((*sizes, step, step), BASES, strict=False), turns, ".Lblock")
        lines += [f"mov {base}, {at(place)}" for base, place in zip(BASES, frame.bases[: len(sizes)], strict=False)]
        lines += [f"mov {count}, %rax", f"sub %rax, {self.left}", "jg .Lchunk"]

    def known_numbers(self) -> None:
        """Numbers of spread results that are the same for all samples."""
        if self.spread:
            self.load_bases()
        for i, numbers in self.spread.items():
            for node, k in numbers.items():
                if not node.online:
                    self.registers.load(node, 0)
                    self.put("vmovapd", self.machine.name(0), at(self.numbers[i] + self.machine.bytes * k))

    def put_spread(self) -> None:
        """Spread results of a block, in their places."""
        for i in self.spread:
            self.put("mov", at(self.frame.bases[i]), "%rdi")
            self.put("lea", at(self.numbers[i]), "%rsi")
            self.put("lea", f".Lplaces+{self.table_at[i]}(%rip)", "%rdx")
            self.put("mov", f"${self.ports.all[i].size}", "%ecx")
            self.put("mov", self.past, "%r8")
            self.put("call", "spread@PLT")

    def tables(self) -> list[str]:
        """Those of spread results, one after the other."""
        return [".p2align 6", ".Lplaces:", *(f".short {', '.join(map(str, table))}" for table in self.listed.values())]

    def next_block(self, steps: Iterable[tuple[int, str]], turns: str, label: str) -> None:
        """Registers move on; if turns are left, another one begins."""
        self.lines += [f"add ${step}, {register}" for step, register in steps]
        self.lines += [f"decq {turns}", f"jg {label}"]

    def sines_of_blocks(self, places: Sequence[int], count: str) -> None:
        """Sines and cosines of the angles of so many blocks. places: of all three."""
        for place, register in zip(places, ARGUMENTS, strict=False):
            self.put("lea", at(place), register)
        self.lines += [f"mov {count}, %rcx", f"imul ${len(self.angles)}, %rcx, %rcx"]
        if self.machine.lanes < GROUP:
            self.lines += ["add $1, %rcx", "shr $1, %rcx"]  # two vectors to a group
        self.put("call", "all_sines@PLT")

    def second_pass(self, sines: str, cosines: str) -> None:
        """All but sines and cosines, which these registers point to."""
        places = {angle: self.machine.bytes * k - MIDDLE for k, angle in enumerate(self.angles)}
        for node in self.plan.order:
            if node.op in (SIN, COS):
                self.registers.memory[node] = f"{places[node.args[0]]}({sines if node.op == SIN else cosines})"
        self.execute(self.events)

    def first_pass(self, target: str) -> list[int]:
        """Angles to memory, the last twice: it fills the last group up. Returns which arrays were read."""
        wanted = Angles(tuple(self.angles))
        operations = [node for node in ordered(wanted.nodes) if node in self.plan.reads and node.op not in (SIN, COS)]
        main, self.registers = self.registers, self.given_out([*operations, wanted])
        self.execute(operations)
        for node in wanted.nodes:
            if node in self.unread:
                self.read(node)
        self.registers.step()
        for k, node in enumerate((*wanted.nodes, wanted.nodes[-1])):
            name = self.machine.name(self.registers.loaded(node))
            self.put("vmovapd", name, f"{self.machine.bytes * k - MIDDLE}({target})")
        self.registers = main
        read = [i for i, port in enumerate(self.ports.inputs) if not self.unread.issuperset(port.nodes)]
        self.unread = {node for port in self.ports.inputs for node in port.nodes}
        return read

    def laid_sines(self, place: int, angles: list[Node]) -> None:
        size = self.machine.bytes
        groups = -(-len(angles) * size // (8 * GROUP))
        results = [self.frame.room(8 * GROUP * groups, 64) for _ in range(2)]
        for start, register in zip((place, *results), ARGUMENTS, strict=False):
            self.put("lea", at(start), register)
        self.put("mov", f"${groups}", "%ecx")
        self.put("call", "all_sines@PLT")
        self.know({angle: size * k for k, angle in enumerate(angles)}, results)

    def row(self, i: int, lane: int, j: int) -> str:
        """Component j of one sample's row of array i."""
        return f"{8 * (lane * self.ports.all[i].size + j)}({BASES[i]})"

    def read(self, node: Node) -> None:
        """One component of all samples; its neighbour comes along."""
        r, name = self.registers, self.machine.name
        i, nodes = next((i, port.nodes) for i, port in enumerate(self.ports.inputs) if node in port.nodes)
        a = r.take()
        if len(nodes) == 1:
            self.put("vmovupd", self.row(i, 0, 0), name(a))
            self.unread.discard(node)
            r.hold(node, a)
            return
        b = r.take((a,))
        even = r.take((a, b))
        first = min(nodes.index(node) // 2 * 2, len(nodes) - 2)
        for register, start in ((a, 0), (b, 1)):
            self.put("vmovupd", self.row(i, start, first), name(register, 1))
            for part in range(1, self.machine.lanes // 2):
                whole = name(register, 4 if part == 1 else self.machine.lanes)
                kind = self._part("vinsert", register, part)
                self.put(kind, f"${part}", self.row(i, start + 2 * part, first), whole, whole)
        self.put("vunpcklpd", name(b), name(a), name(even))
        self.put("vunpckhpd", name(b), name(a), name(a))
        r.give_back(b)
        for each, register in zip(nodes[first : first + 2], (even, a), strict=True):
            if each in self.unread:
                self.unread.discard(each)
                r.hold(each, register)
            else:
                r.give_back(register)

    def store(self, result: Result) -> None:
        if result.port in self.spread:
            place = self.numbers[result.port] + self.machine.bytes * result.first
            self.put("vmovapd", self.machine.name(self.registers.loaded(result.nodes[0])), at(place))
            return
        for entry in range(result.first, result.first + len(result.nodes)):
            if 8 * entry % LINE == 0:
                self.fetch(result.port, entry)
        self.write(result)

    def fetch(self, i: int, entry: int) -> None:
        """Ask for the memory of a later block: no processor foresees that rows are written in turns."""
        block = [self.machine.bytes * port.size for port in self.ports.outputs]
        ahead = -(-FETCHED // sum(block)) * self.machine.lanes
        for lane in range(self.machine.lanes if self.ports.all[i].size > 1 else 1):
            self.put("prefetcht0", self.row(i, ahead + lane, entry))

    def write(self, result: Result) -> None:
        """Two components of all samples, or the only one, or several that are the same number."""
        r, name, i = self.registers, self.machine.name, result.port
        a = r.loaded(result.nodes[0])
        if self.ports.all[i].size == 1:
            self.put("vmovupd", name(a), self.row(i, 0, 0))
            return
        if len(result.nodes) > 2:
            for lane in range(self.machine.lanes):
                self.put("vmovupd", name(a), self.row(i, lane, result.first))
            return
        b = r.loaded(result.nodes[-1], (a,))
        both = r.take((a, b))
        for odd, kind in enumerate(("vunpcklpd", "vunpckhpd")):
            self.put(kind, name(b), name(a), name(both))
            for part in range(self.machine.lanes // 2):
                row = self.row(i, 2 * part + odd, result.first)
                if part == 0:
                    self.put("vmovupd", name(both, 1), row)
                else:
                    whole = name(both, 4 if part == 1 else self.machine.lanes)
                    self.put(self._part("vextract", both, part), f"${part}", whole, row)
        r.give_back(both)

    @staticmethod
    def _part(what: str, register: int, part: int) -> str:
        """The instruction for a quarter of a register, in its short form where there is one."""
        return f"{what}f128" if part == 1 and register < SHORT else f"{what}f32x4"
