"""Straight-line programs as x86-64 assembly.

LLVM takes seconds for programs of some thousand operations, nearly all of it to choose instructions and registers. Here
both are simple: every operation is one instruction, and registers are given out in one pass over the program (see
`registers`). LLVM only assembles the text. `@single` and `@rows` are as in `single` and `block`, on the same plan with
the same fused operations; sines and cosines are left to `@sines` and `@all_sines`, common to all programs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from armdyn.graph import Node
from armdyn.graph.node import COS, EXP, SIN
from armdyn.graph.structure import ordered
from armdyn.kernels import forms
from armdyn.kernels.addresses import ADDRESSES, BASES, Frame, at, near
from armdyn.kernels.forms import NEXT
from armdyn.kernels.ports import Ports
from armdyn.kernels.registers import Machine, Registers
from armdyn.kernels.schedule import Plan, soonest
from armdyn.kernels.sincos import GROUP, HALF
from armdyn.kernels.single import angle_stages

SAVED = ("%rbx", "%r12", "%r13", "%r14", "%r15")
"""Registers that belong to the caller."""
ARGUMENTS = ("%rdi", "%rsi", "%rdx", "%rcx", "%r8", "%r9")
"""Where the first arguments of a function come in; the others are on the stack."""
FETCHED, LINE = 4096, 64
"""Bytes of results whose memory is asked for before they are written, and those that come at a time."""
SHORT = 16
"""Registers that the instructions of AVX know."""


AHEAD, MOST = 8192, 16
"""Bytes and blocks, at most, of angles whose sines and cosines are computed before the rest: together they take two
thirds of the time, since none waits for another and vectors are full."""
MIDDLE = 128
"""Bytes from the first value to the address of several, so that short instructions reach twice as many."""


def possible(ports: Ports, plan: Plan) -> bool:
    """Whether all operations have an instruction, and all arrays a register."""
    return len(ports.all) <= len(BASES) and all(node.op != EXP for node in plan.order)


@dataclass(frozen=True)
class _Angles:
    """Sines and cosines of some angles."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class _Result:
    """Neighbouring entries of a result, complete; of an odd number the last two overlap those before.

    Where there are more than two, they are the same number.
    """

    port: int
    first: int
    nodes: tuple[Node, ...]


_Event = Node | _Angles | _Result
"""A node stands for its operation."""


def _events(ports: Ports, plan: Plan, lanes: int, ahead: Collection[Node]) -> Iterator[_Event]:
    """The program in order. lanes: samples at a time. ahead: angles whose sines and cosines are known."""
    executed = _executed(ports, plan) if ahead else {node for node in plan.order if node.op not in (SIN, COS)}
    done: set[Node] = set()
    for angles in () if ahead else angle_stages(plan):
        for node in ordered(tuple(angles)):
            if node in executed and node not in done:
                done.add(node)
                yield node
        yield _Angles(tuple(angles))
    waiting: dict[Node, list[_Result]] = {}
    missing: dict[_Result, int] = {}
    for i, port in enumerate(ports.outputs, len(ports.inputs)):
        for first, stop in _stored_together(port.nodes, lanes):
            result = _Result(i, first, port.nodes[first:stop])
            late = {node for node in result.nodes if node in executed and node not in done}
            missing[result] = len(late)
            for node in late:
                waiting.setdefault(node, []).append(result)
            if not late:
                yield result
    for node in plan.order:
        if node in executed and node not in done:
            yield node
            for result in waiting.get(node, ()):
                missing[result] -= 1
                if not missing[result]:
                    yield result


def _executed(ports: Ports, plan: Plan) -> set[Node]:
    """Operations whose results are needed where all sines and cosines are known."""
    needed = {node for port in ports.outputs for node in port.nodes}
    for node in reversed(plan.order):
        if node in needed and node.op not in (SIN, COS):
            needed.update(plan.reads[node])
    return {node for node in plan.order if node in needed and node.op not in (SIN, COS)}


def _stored_together(nodes: Sequence[Node], lanes: int) -> Iterator[tuple[int, int]]:
    """Entries of a result that are stored at a time: two of each sample, or as many as a register has of one number."""
    start, size = 0, len(nodes)
    while start < size:
        same = lanes > 1 and not nodes[start].online and {*nodes[start : start + lanes]} == {nodes[start]}
        count = lanes if same and start + lanes <= size else min(lanes, 2)
        first = max(min(start, size - count), 0)
        yield first, first + count
        start += count


class _Function:
    """One function: its lines, its memory.

    lanes: samples at a time. wide: with AVX-512. ahead: angles whose sines and cosines are known when the body begins.
    """

    def __init__(
        self, name: str, ports: Ports, plan: Plan, lanes: int, wide: bool, ahead: Collection[Node] = ()
    ) -> None:
        self.name, self.ports, self.plan = name, ports, plan
        self.machine = Machine(lanes, 32 if wide else 16, broadcast=wide and lanes > 1)
        self.lines: list[str] = []
        self.unread = {node for port in ports.inputs for node in port.nodes}
        self.frame = Frame(self.machine, len(ports.all) + 2 * bool(ahead))
        self.events = list(_events(ports, plan, lanes, ahead))
        self.registers = self.given_out(self.events)

    def given_out(self, events: Sequence[_Event]) -> Registers:
        """Registers for some events."""
        reads = self.plan.reads
        used = [reads[event] if isinstance(event, Node) else tuple(dict.fromkeys(event.nodes)) for event in events]
        return Registers(self.lines, self.machine, used, self.frame.constant, self.frame.slot)

    def put(self, instruction: str, *operands: str) -> None:
        self.lines.append(f"{instruction} {', '.join(operands)}")

    def body(self) -> None:
        """The lines from the loading of addresses on."""
        self.load_bases()
        self.execute(self.events)

    def execute(self, events: Sequence[_Event]) -> None:
        registers, fused, reads = self.registers, self.plan.fused, self.plan.reads
        for event in events:
            used = reads[event] if isinstance(event, Node) else event.nodes
            if not self.unread.isdisjoint(used):
                for node in used:
                    if node in self.unread:
                        self.read(node)
            if isinstance(event, Node):
                registers.write(event, fused.get(event))
            elif isinstance(event, _Angles):
                self.sines(event.nodes)
            else:
                needed = registers.step()
                self.store(event)
                registers.release(needed)

    def sines(self, angles: tuple[Node, ...]) -> None:
        """Sines and cosines of angles, which are laid side by side in memory, but for those that are so already."""
        r, there = self.registers, self.adjacent(angles)
        laid = [angle for angle in angles if angle not in there]
        place = self.lay(laid)
        r.step()
        r.clear()
        if there:
            self.adjacent_sines(there)
        if laid:
            self.laid_sines(place, laid)
        self.load_bases()

    def lay(self, angles: list[Node]) -> int:
        """Angles side by side in groups of eight; the last one fills the group up."""
        size, r = self.machine.bytes, self.registers
        count = -(-len(angles) * size // (8 * GROUP)) * 8 * GROUP // size
        start = self.frame.room(size * count, 64)
        for k in range(count):
            angle = angles[min(k, len(angles) - 1)]
            self.put(self.machine.move, self.machine.name(r.loaded(angle)), at(start + size * k))
            r.memory.setdefault(angle, near(start + size * k))
        return start

    def laid_sines(self, place: int, angles: list[Node]) -> None:
        """Sines and cosines of angles that lie there."""
        raise NotImplementedError

    def adjacent(self, angles: tuple[Node, ...]) -> dict[Node, int]:
        """Angles that lie side by side in an argument, and which entries they are."""
        return {}

    def adjacent_sines(self, entries: dict[Node, int]) -> None:
        raise NotImplementedError

    def know(self, places: dict[Node, int], results: Sequence[int]) -> None:
        """Sines and cosines are in memory from now on, at these places of the two results."""
        for node in self.plan.order:
            if node.op in (SIN, COS) and node.args[0] in places:
                self.registers.memory[node] = near(results[node.op == COS] + places[node.args[0]])

    def load_bases(self) -> None:
        """All addresses, after a call."""
        self.lines.append(ADDRESSES)

    def read(self, node: Node) -> None:
        """Bring an input into a register."""
        raise NotImplementedError

    def store(self, result: _Result) -> None:
        """Write entries of a result."""
        raise NotImplementedError

    def before(self) -> list[str]:
        """What stands in front of the body."""
        raise NotImplementedError

    def text(self) -> str:
        """The whole function, as a module. Raises UnknownForm."""
        before = self.before()
        self.body()
        body, constants, taken = self.frame.addressed(NEXT.join(self.lines))
        size = self.frame.size + -self.frame.size % 64
        lines = [".text", f".globl {self.name}", f".type {self.name},@function", ".p2align 5", f"{self.name}:"]
        saved = [register for register in SAVED if register in taken]
        lines += ["push %rbp", "mov %rsp, %rbp", *(f"push {register}" for register in saved)]
        lines += ["and $-64, %rsp", f"sub ${size}, %rsp", *before, body, "vzeroupper"]
        lines += [f"lea {-8 * len(saved)}(%rbp), %rsp", *(f"pop {register}" for register in reversed(saved))]
        lines += ["pop %rbp", "ret"]
        code = NEXT.join(lines)
        forms.check(code, self.machine.count > SHORT)
        data = [".section .rodata", ".p2align 6", ".Lconstants:"]
        times = 1 if self.machine.broadcast else self.machine.lanes
        data += [f".quad {', '.join([bits] * times)}" for bits in constants]
        data += [".p2align 6", ".Lmask:", f".quad {', '.join(['-1'] * HALF + ['0'] * HALF)}"]
        return f'module asm "{NEXT.join((code, *data))}"\n'


class _Single(_Function):
    """One sample. Arguments are copied to the frame first: results may lie over them."""

    def before(self) -> list[str]:
        """Copies of arguments, and the addresses of all arrays."""
        lines = []
        for i, (port, place) in enumerate(zip(self.ports.all, self.frame.bases, strict=True)):
            register = ARGUMENTS[i] if i < len(ARGUMENTS) else "%rax"
            if i >= len(ARGUMENTS):
                lines.append(f"mov {16 + 8 * (i - len(ARGUMENTS))}(%rbp), %rax")
            lines.append(f"mov {register}, {at(place)}")
            if i < len(self.ports.inputs):
                start = self.frame.room(8 * port.size, 64)
                lines += _copied(register, start, port.size)
                self.unread.difference_update(port.nodes)
                self.registers.memory.update((node, near(start + 8 * j)) for j, node in enumerate(port.nodes))
        return lines

    def adjacent(self, angles: tuple[Node, ...]) -> dict[Node, int]:
        for port in self.ports.inputs:
            there = {node: j for j, node in enumerate(port.nodes) if node in angles}
            if there:
                return there
        return {}

    def adjacent_sines(self, entries: dict[Node, int]) -> None:
        """The angles and all other entries between them go to `@sines` in registers: storing them would take longer."""
        port = next(i for i, port in enumerate(self.ports.inputs) if set(entries) <= set(port.nodes))
        start, stop, base = min(entries.values()), max(entries.values()) + 1, BASES[port]
        for first in range(start, stop, GROUP):
            if first > start:
                self.put("mov", at(self.frame.bases[port]), base)
            for register, half in (("%ymm0", first), ("%ymm1", first + HALF)):
                self._load_some(f"{8 * half}({base})", register, min(max(stop - half, 0), HALF))
            self._group_of_sines({node: j - first for node, j in entries.items() if 0 <= j - first < GROUP})

    def laid_sines(self, place: int, angles: list[Node]) -> None:
        for first in range(0, len(angles), GROUP):
            for register, half in (("%ymm0", first), ("%ymm1", first + HALF)):
                self.put("vmovapd", at(place + 8 * half), register)
            self._group_of_sines({node: k for k, node in enumerate(angles[first : first + GROUP])})

    def _group_of_sines(self, angles: dict[Node, int]) -> None:
        """Those of angles that are in two registers, at these places."""
        self.put("call", "sines@PLT")
        results = [self.frame.room(8 * GROUP, 64) for _ in range(2)]
        for k in range(4):
            self.put("vmovapd", f"%ymm{k}", at(results[k // 2] + 32 * (k % 2)))
        self.know({node: 8 * k for node, k in angles.items()}, results)

    def _load_some(self, source: str, register: str, count: int) -> None:
        """So many doubles, and zeros, without reading beyond them."""
        self.put("vmovupd", f".Lmask+{8 * (HALF - count)}(%rip)", register)
        self.put("vmaskmovpd", source, register, register)

    def read(self, node: Node) -> None:
        raise AssertionError(f"{node!r} is needed before it is computed")

    def store(self, result: _Result) -> None:
        register = self.registers.loaded(result.nodes[0])
        self.put("vmovsd", self.machine.name(register), f"{8 * result.first}({BASES[result.port]})")


def _copied(register: str, place: int, count: int) -> list[str]:
    """Copies of doubles to the frame, up to four at a time; the last ones overlap those before."""
    size = 4 if count >= 4 else 2 if count > 1 else 1
    move, name = ("vmovsd" if size == 1 else "vmovupd"), ("%ymm0" if size == 4 else "%xmm0")
    starts = [8 * min(k, count - size) for k in range(0, count, size)]
    return [line for k in starts for line in (f"{move} {k}({register}), {name}", f"{move} {name}, {at(place + k)}")]


class _Rows(_Function):
    """Blocks of samples, one in each lane; results must not overlap arguments.

    Where no angle depends on another's sine, those of several blocks are computed first, then the rest block by block.
    """

    def __init__(self, name: str, ports: Ports, plan: Plan, lanes: int, wide: bool) -> None:
        stages, fits = angle_stages(plan), len(ports.all) + 2 <= len(BASES)
        self.angles = stages[0] if len(stages) == 1 and fits else []
        super().__init__(name, ports, plan, lanes, wide, self.angles)

    def before(self) -> list[str]:
        self.left = at(self.frame.room(8))
        lines = [f"mov %rsi, {self.left}"]
        for i, place in enumerate(self.frame.bases[: len(self.ports.all)]):
            lines += [f"mov {8 * i}(%rdi), %rax", f"mov %rax, {at(place)}"]
        return lines

    def body(self) -> None:
        sizes = [self.machine.bytes * port.size for port in self.ports.all]
        if self.angles:
            self.chunks(sizes)
            return
        self.lines.append(".Lblock:")
        super().body()
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
        for kept, place in zip(frame.bases[-2:], places[1:], strict=True):
            lines += [f"lea {at(place + MIDDLE)}, %rax", f"mov %rax, {at(kept)}"]
        lines += [".Lchunk:", f"mov {self.left}, %rax", f"mov ${most}, %ecx", "cmp %rcx, %rax", "cmovg %rcx, %rax"]
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
        self.next_block(zip((*sizes, step, step), BASES, strict=False), turns, ".Lblock")
        lines += [f"mov {base}, {at(place)}" for base, place in zip(BASES, frame.bases[: len(sizes)], strict=False)]
        lines += [f"mov {count}, %rax", f"sub %rax, {self.left}", "jg .Lchunk"]

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
        wanted = _Angles(tuple(self.angles))
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

    def store(self, result: _Result) -> None:
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

    def write(self, result: _Result) -> None:
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


def core(ports: Ports, plan: Plan, lanes: int, *, wide: bool) -> str:
    """`void @single(ptr in..., ptr out...)` for one lane, else `void @rows(ptr args, i64 blocks)`, as a module.

    lanes: samples to a block. wide: the machine has AVX-512. Raises UnknownForm for lines LLVM might not assemble.
    """
    if lanes > 1:
        return _Rows("rows", ports, plan, lanes, wide).text()
    return _Single("single", ports, soonest(plan) if wide else plan, 1, wide).text()  # sooner takes more registers
