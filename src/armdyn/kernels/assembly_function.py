"""A straight-line program as a function of x86-64 assembly: what one sample and blocks of them have in common.

Every operation is one instruction, and registers are given out in one pass over the program (see `registers`). What is
brought into registers and written from them is a matter of `assembly` and `row_assembly`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from armdyn.graph import Node
from armdyn.graph.node import COS, SIN
from armdyn.graph.structure import ordered
from armdyn.kernels import forms
from armdyn.kernels.addresses import ADDRESSES, Frame, at, near
from armdyn.kernels.forms import NEXT
from armdyn.kernels.ports import Ports
from armdyn.kernels.registers import Machine, Registers
from armdyn.kernels.straight.schedule import Plan
from armdyn.kernels.straight.sincos import GROUP, HALF
from armdyn.kernels.straight.single import angle_stages

SAVED = ("%rbx", "%r12", "%r13", "%r14", "%r15")
"""Registers that belong to the caller."""
SHORT = 16
"""Registers that the instructions of AVX know."""
ARGUMENTS = ("%rdi", "%rsi", "%rdx", "%rcx", "%r8", "%r9")
"""Where the first arguments of a function come in; the others are on the stack."""


@dataclass(frozen=True)
class Angles:
    """Sines and cosines of some angles."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class Result:
    """Neighbouring entries of a result, complete; of an odd number the last two overlap those before.

    Where there are more than two, they are the same number. Of a result that is spread: one number of it.
    """

    port: int
    first: int
    nodes: tuple[Node, ...]


Event = Node | Angles | Result
"""A node stands for its operation."""


def _events(
    ports: Ports, plan: Plan, lanes: int, ahead: Collection[Node], spread: Mapping[int, Mapping[Node, int]]
) -> Iterator[Event]:
    """The program in order.

    lanes: samples at a time. ahead: angles whose sines and cosines are known. spread: see `Function`.
    """
    executed = _executed(ports, plan) if ahead else {node for node in plan.order if node.op not in (SIN, COS)}
    done: set[Node] = set()
    for angles in () if ahead else angle_stages(plan):
        for node in ordered(tuple(angles)):
            if node in executed and node not in done:
                done.add(node)
                yield node
        yield Angles(tuple(angles))
    waiting: dict[Node, list[Result]] = {}
    missing: dict[Result, int] = {}
    for i, port in enumerate(ports.outputs, len(ports.inputs)):
        if i in spread:
            listed = [Result(i, k, (node,)) for node, k in spread[i].items() if node.online]
        else:
            listed = [Result(i, first, port.nodes[first:stop]) for first, stop in _stored_together(port.nodes, lanes)]
        for result in listed:
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


class Function:
    """One function: its lines, its memory.

    lanes: samples at a time. wide: with AVX-512. ahead: angles whose sines and cosines are known when the body begins.
    spread: results of which every number that is not known now is stored once, and the numbers.
    """

    def __init__(
        self, name: str, ports: Ports, plan: Plan, lanes: int, wide: bool, ahead: Collection[Node] = (),
        spread: Mapping[int, Mapping[Node, int]] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        self.name, self.ports, self.plan = name, ports, plan
        self.machine = Machine(lanes, 32 if wide else 16, broadcast=wide and lanes > 1)
        self.lines: list[str] = []
        self.unread = {node for port in ports.inputs for node in port.nodes}
        self.frame = Frame(self.machine, len(ports.all) + 2 * bool(ahead))
        self.events = list(_events(ports, plan, lanes, ahead, spread))
        self.registers = self.given_out(self.events)

    def given_out(self, events: Sequence[Event]) -> Registers:
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

    def execute(self, events: Sequence[Event]) -> None:
        registers, fused, reads = self.registers, self.plan.fused, self.plan.reads
        for event in events:
            used = reads[event] if isinstance(event, Node) else event.nodes
            if not self.unread.isdisjoint(used):
                for node in used:
                    if node in self.unread:
                        self.read(node)
            if isinstance(event, Node):
                registers.write(event, fused.get(event))
            elif isinstance(event, Angles):
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

    def store(self, result: Result) -> None:
        """Write entries of a result."""
        raise NotImplementedError

    def before(self) -> list[str]:
        """What stands in front of the body."""
        raise NotImplementedError

    def tables(self) -> list[str]:
        """Data besides constants."""
        return []

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
        data += [".p2align 6", ".Lmask:", f".quad {', '.join(['-1'] * HALF + ['0'] * HALF)}", *self.tables()]
        return f'module asm "{NEXT.join((code, *data))}"\n'
