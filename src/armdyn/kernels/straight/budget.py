"""Straight-line code that keeps few values in registers: what goes to memory is decided here and not by LLVM.

A program is one block whose order is known, so every next use of a value is known too. When more values are alive than
the budget allows, the one that is needed last goes to memory (Belady): a block then has about as few loads and stores
as its order allows, and LLVM finds registers at once, where it would spend most of its time on choosing what to spill.

Stores, reloads and loads of constants are volatile. Otherwise LLVM would merge equal loads into one value that lives
long, and all would be as before. A block of volatile accesses takes a time that grows with the square of its length, so
that it is cut by branches that are never taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from armdyn.graph import Node, to_float
from armdyn.graph.node import EXP
from armdyn.kernels.ir_writer import Writer, literal, splat_of, vector
from armdyn.kernels.straight.events import Angles, Event, Result, reads_of
from armdyn.kernels.straight.operations import operation
from armdyn.kernels.straight.schedule import Plan

NEVER = 1 << 60
CLEAN = 4
"""A value that is in memory already, or a constant, goes as if its next use were this many times as far."""
CUT = 200
"""Events after which a block is cut: LLVM then takes half the time for derivatives of torques."""


class Memory:
    """Where values lie: pointers to places of one function, and to constants, which several functions may share.

    lanes: of a value. broadcast: constants are single doubles, which instructions read for all lanes.
    constants: bits of a constant -> its pointer. uses: how often pointers are used. known: pointers to values that are
    in memory.
    """

    def __init__(self, w: Writer, lanes: int, broadcast: bool = False, constants: dict[str, str] | None = None) -> None:
        self.w, self.lanes, self.broadcast = w, lanes, broadcast
        self.constants: dict[str, str] = {} if constants is None else constants
        self.uses: dict[str, int] = {}
        self.known: dict[Node, str] = {}
        self.slots = 0

    @property
    def constant_bytes(self) -> int:
        return 8 if self.broadcast else 8 * self.lanes

    def slot(self) -> str:
        """A new place for one value."""
        self.slots += 1
        return f"%slot{self.slots - 1}"

    def constant(self, node: Node) -> str:
        """A number that is known now, in all lanes."""
        pointer = self.constants.setdefault(literal(float(to_float(node))), f"%constant{len(self.constants)}")
        return self.w.splat(self.load(pointer, 1), self.lanes) if self.broadcast else self.load(pointer)

    def load(self, pointer: str, lanes: int = 0) -> str:
        self.uses[pointer] = self.uses.get(pointer, 0) + 1
        lanes = lanes or self.lanes
        return self.w.put(f"load volatile {vector(lanes)}, ptr {pointer}, align {8 * lanes}")

    def store(self, value: str, pointer: str) -> None:
        self.uses[pointer] = self.uses.get(pointer, 0) + 1
        self.w.do(f"store volatile {vector(self.lanes)} {value}, ptr {pointer}, align {8 * self.lanes}")

    def by_use(self, pointers: Iterable[str]) -> list[str]:
        """Pointers in the order of their places: what is used most comes first."""
        return sorted(pointers, key=lambda pointer: -self.uses.get(pointer, 0))

    def table(self) -> str:
        """The definition of the constants, those that are used most first."""
        bits = {pointer: bits for bits, pointer in self.constants.items()}
        lanes = self.constant_bytes // 8
        entries = [splat_of(bits[pointer], lanes) for pointer in self.by_use(bits)]
        kind = vector(lanes)
        listed = ", ".join(f"{kind} {entry}" for entry in entries)
        return f"@constants = internal constant [{len(entries)} x {kind}] [{listed}], align 64\n" if entries else ""


class BudgetedCode:
    """The events of a program, written one after the other.

    budget: values in registers at most. memory: where the others are. never: a comparison that does not hold.
    """

    def __init__(
        self, w: Writer, lanes: int, plan: Plan, order: Sequence[Event], budget: int, memory: Memory, never: str
    ) -> None:
        self.w, self.lanes, self.plan, self.order, self.budget, self.memory = w, lanes, plan, order, budget, memory
        self.never = never
        self._held: dict[Node, str] = {}
        self._free: list[str] = []
        self._spilled: set[Node] = set()
        self._due: dict[Node, int] = {}
        """When values are needed next."""
        self._later: list[dict[Node, int]] = [{}] * len(order)
        """The same after every event, of what it reads."""
        self._now = 0
        for time in range(len(order) - 1, -1, -1):
            nodes = reads_of(plan, order[time])
            self._later[time] = {node: self._due.get(node, NEVER) for node in nodes}
            self._due.update(dict.fromkeys(nodes, time))

    def write(
        self, read: Callable[[Node], None], sines: Callable[[Angles], None], store: Callable[[Result], None]
    ) -> None:
        """All events.

        read: brings an input that is not in memory into a register, by `hold`.
        sines, store: write the events that are no operations.
        """
        self._read = read
        for now, event in enumerate(self.order):
            self._now = now
            if now % CUT == CUT - 1:
                self._cut()
            if isinstance(event, Node):
                if event.op == EXP:
                    self.clear()
                result = operation(self.w, self.lanes, self.plan, event, self.value)
                self._passed(self._later[now])
                self.hold(event, result)
            else:
                sines(event) if isinstance(event, Angles) else store(event)
                self._passed(self._later[now])

    def value(self, node: Node) -> str:
        """The value of a node, from a register or from memory; what is loaded stays if it is needed again soon."""
        if node not in self._held and node not in self.memory.known and node.online:
            self._read(node)
        known = self._held.get(node)
        if known is None:
            known = self.memory.load(self.memory.known[node]) if node.online else self.memory.constant(node)
            self._held[node] = known
        return known

    def hold(self, node: Node, value: str) -> None:
        """A register has the value of this node, if it is needed."""
        if self._due.get(node, NEVER) != NEVER:
            self._held[node] = value
            self._trim()

    def clear(self) -> None:
        """All values go to memory, because a function is called that uses all registers."""
        for node in list(self._held):
            self._evict(node)

    def _passed(self, later: dict[Node, int]) -> None:
        """An event is over: what it read and nobody else needs is forgotten."""
        for node, again in later.items():
            self._due[node] = again
            if again == NEVER:
                self._held.pop(node, None)
                if node in self._spilled:
                    self._spilled.discard(node)
                    self._free.append(self.memory.known.pop(node))
        self._trim()

    def _trim(self) -> None:
        """As many values as the budget allows stay, those that are needed soonest."""
        while len(self._held) > self.budget:
            self._evict(max(self._held, key=self._distance))

    def _distance(self, node: Node) -> int:
        distance = self._due[node] - self._now
        return distance * (CLEAN if node in self.memory.known or not node.online else 1)

    def _evict(self, node: Node) -> None:
        value = self._held.pop(node)
        if node.online and node not in self.memory.known and self._due[node] != NEVER:
            place = self._free.pop() if self._free else self.memory.slot()
            self.memory.known[node] = place
            self._spilled.add(node)
            self.memory.store(value, place)

    def _cut(self) -> None:
        """End the block with a branch that is never taken: LLVM would merge blocks that follow each other always."""
        name = f"cut{self._now}"
        self.w.do(f"br i1 {self.w.put(self.never)}, label %never, label %{name}")
        self.w.label(name)


# Short addresses: what is used most lies side by side, where registers point to ---------------------------------------
#
# x86-64 processors keep instructions decoded, and more of them if they are short: with one byte of displacement in
# place of four. A function of thousands of instructions, each of which runs once, is as fast as they are decoded.

POINTERS = 13
"""General registers of x86-64 that hold addresses; one more is LLVM's, two are those of the stack."""
BYTE = 256
"""Bytes that a displacement of one byte reaches; with AVX-512 it counts in units of the operand in memory."""
WORTH = 16
"""Uses of a window from which a pointer to it saves more than loading it costs."""


@dataclass(frozen=True)
class Area:
    """Memory of a function. base: its address. pointers: names of the addresses of its values, in their order.

    step: bytes of a value. reach: bytes around an address that instructions reach with a displacement of one byte.
    """

    base: str
    pointers: Sequence[str]
    step: int
    reach: int


def defined_addresses(areas: Sequence[Area], uses: Mapping[str, int], windows: int) -> list[str]:
    """Lines that define all pointers.

    windows: areas are divided into windows that a short displacement reaches, and so many get a pointer of their own,
    those that are used most. LLVM cannot see through empty inline assembly: it keeps the pointer in a register and does
    not replace it by a longer displacement.
    """
    pieces = [
        (area, start, area.pointers[start : start + area.reach // area.step])
        for area in areas
        for start in range(0, len(area.pointers), area.reach // area.step)
    ]
    count = [sum(uses.get(pointer, 0) for pointer in piece[2]) for piece in pieces]
    worth = [k for k in range(len(pieces)) if count[k] >= WORTH]
    chosen = {*sorted(worth, key=lambda k: -count[k])[: max(windows, 0)]}
    lines = []
    for k, (area, start, pointers) in enumerate(pieces):
        base, first = area.base, area.step * start
        if k in chosen:
            lines += [
                f"  %middle{k} = getelementptr i8, ptr {base}, i64 {first + area.reach // 2}",
                f'  %window{k} = call ptr asm "", "=r,0"(ptr %middle{k})',
            ]
            base, first = f"%window{k}", -area.reach // 2
        lines += [
            f"  {each} = getelementptr i8, ptr {base}, i64 {first + area.step * j}" for j, each in enumerate(pointers)
        ]
    return lines
