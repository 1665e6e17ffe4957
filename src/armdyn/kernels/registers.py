"""Registers for straight-line code: which value is in which register, and what goes to memory when there are too few.

The program is one block whose order is known, so every next use of a value is known too. The value that is needed last
gives way (Belady): with it a block has about as few loads and stores as its order allows. Operands are read from memory
where the instruction can do that; a load of its own is written for a second one only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from armdyn.graph import Node
from armdyn.graph.node import ABS, ADD, DIV, MUL, NEG, ONE, SELECT, SIGN, SQRT, SUB, ZERO, constant

NAMES = {lanes: [f"%{kind}{i}" for i in range(32)] for lanes, kind in ((1, "xmm"), (4, "ymm"), (8, "zmm"))}
_ARITHMETIC = {ADD: "vadd", SUB: "vsub", MUL: "vmul", DIV: "vdiv"}
MINUS = constant(-1)
NEVER = 1 << 60
NEGATIVE, NOT_NEGATIVE, POSITIVE = 17, 29, 30
"""Comparisons with zero, as the instructions number them."""
CLEAN = 2
"""A value that is in memory already gives way as if its next use were this many times as far."""


@dataclass(frozen=True)
class Machine:
    """lanes: doubles in a value. count: registers. broadcast: an operand in memory may be one double for all lanes."""

    lanes: int
    count: int
    broadcast: bool

    @property
    def bytes(self) -> int:
        return 8 * self.lanes

    @property
    def ending(self) -> str:
        return "sd" if self.lanes == 1 else "pd"

    @property
    def move(self) -> str:
        return "vmovsd" if self.lanes == 1 else "vmovapd"

    def name(self, register: int, lanes: int = 0) -> str:
        return NAMES[lanes or self.lanes][register]


class Registers:
    """Instructions of nodes, written one after the other.

    lines: the assembly. order: what instructions use, as they will be written. constant: the operand of a node that is
    known now. slot: a new place in memory for one value.
    """

    def __init__(
        self,
        lines: list[str],
        machine: Machine,
        order: Sequence[tuple[Node, ...]],
        constant: Callable[[Node], str],
        slot: Callable[[], str],
    ) -> None:
        self.lines, self.machine = lines, machine
        self.memory: dict[Node, str] = {}
        self._names, self._move, self._ending = NAMES[machine.lanes], machine.move, machine.ending
        self._constant, self._slot = constant, slot
        self._place: dict[Node, int] = {}
        self._free = list(range(machine.count))[::-1]
        self._slots: list[str] = []
        self._leaving: list[str] = []
        self._spilled: set[Node] = set()
        self._due: dict[Node, int] = {}
        """When values are needed next."""
        self._later: list[dict[Node, int]] = []
        """The same after instructions, of what they use; the next instruction comes last."""
        due, self.time = self._due, -1
        for time in range(len(order) - 1, -1, -1):
            later = {}
            for node in order[time]:
                later[node] = due.get(node, NEVER)
                due[node] = time
            self._later.append(later)

    # Where values are ----------------------------------------------------------------------------------------------

    def step(self) -> dict[Node, int]:
        """The next instruction begins: what the last one read may be overwritten. What it uses, and when next."""
        self.time += 1
        used = self._later.pop()
        self._due.update(used)
        if self._leaving:
            self._slots += self._leaving
            self._leaving.clear()
        return used

    def take(self, keep: Sequence[int] = ()) -> int:
        """A register that is free, or made so; those in `keep` stay."""
        if self._free:
            return self._free.pop()
        farthest, victim, due, now, memory = -1, None, self._due, self.time, self.memory
        for node, register in self._place.items():
            distance = due[node] - now
            if CLEAN * distance > farthest and register not in keep:
                if node in memory or not node.online:
                    distance *= CLEAN
                if distance > farthest:
                    farthest, victim = distance, node
        assert victim is not None
        register = self._place.pop(victim)
        self._store(victim, register)
        return register

    def _store(self, node: Node, register: int) -> None:
        """Put a value into memory, if it is not there."""
        if node not in self.memory and node.online:
            self.memory[node] = place = self._slots.pop() if self._slots else self._slot()
            self._spilled.add(node)
            self.lines.append(f"{self._move} {self._names[register]}, {place}")

    def hold(self, node: Node, register: int) -> None:
        """The register has the node's value, if that is needed."""
        if node in self._due:
            self._place[node] = register
        else:
            self._free.append(register)

    def release(self, used: Mapping[Node, int]) -> None:
        """Forget those values that are not needed any more."""
        for node, again in used.items():
            if again == NEVER:
                register = self._place.pop(node, None)
                if register is not None:
                    self._free.append(register)
                if node in self._spilled:
                    self._spilled.discard(node)
                    self._leaving.append(self.memory.pop(node))

    def give_back(self, register: int) -> None:
        self._free.append(register)

    def clear(self) -> None:
        """All that is needed later goes to memory: somebody else uses the registers."""
        for node, register in self._place.items():
            if self._due[node] != NEVER:
                self._store(node, register)
            self._free.append(register)
        self._place.clear()

    def loaded(self, node: Node, keep: Sequence[int] = ()) -> int:
        """The register of a value, loaded if it has none."""
        register = self._place.get(node)
        if register is None:
            register = self.take(keep)
            self.load(node, register)
            self._place[node] = register
        return register

    def _bring(self, node: Node, used: Mapping[Node, int]) -> None:
        """Load a value from memory that is needed again, if a register is free or has what is needed later still.

        Reading it from memory every time is no instruction more, but there is about one load of 64 bytes in a cycle.
        """
        if not self._free:
            later, victim, due, memory = used[node], None, self._due, self.memory
            for other in self._place:
                if due[other] > later and (other in memory or not other.online) and other not in used:
                    later, victim = due[other], other
            if victim is None:
                return
            self._free.append(self._place.pop(victim))
        self.loaded(node)

    def load(self, node: Node, register: int) -> None:
        """Bring a value from where it is into a register, whatever is in that."""
        text = self._operand(node)
        move = "vmovapd" if text[0] == "%" else self._move
        if text[-1] == "}":
            move, text = "vbroadcastsd", text.partition("{")[0]
        self.lines.append(f"{move} {text}, {self._names[register]}")

    def _operand(self, node: Node) -> str:
        register = self._place.get(node)
        if register is not None:
            return self._names[register]
        return self.memory.get(node) or self._constant(node)

    # Instructions --------------------------------------------------------------------------------------------------

    def put(self, instruction: str, *operands: str) -> None:
        self.lines.append(f"{instruction} {', '.join(operands)}")

    def write(self, node: Node, fused: int | None) -> None:
        """The instructions of one node, whose operands are known; fused: which of them is a product."""
        used = self.step()
        for each, again in used.items():
            if again != NEVER and each not in self._place:
                self._bring(each, used)
        if fused is not None:
            result = self._fused(node, used, fused)
        elif node.op in _ARITHMETIC:
            result = self._binary(node, used)
        elif node.op in (SELECT, SIGN, ABS):
            result = self._chosen(node, used)
        else:
            result = self._unary(node, used)
        self._place[node] = result

    def _result(self, used: Mapping[Node, int]) -> int:
        """A register for a result whose operands are in the text already: one of theirs, if they are needed no more."""
        self.release(used)
        return self.take()

    def _binary(self, node: Node, used: Mapping[Node, int]) -> int:
        a, b = node.args
        if a not in self._place and b in self._place and node.op in (ADD, MUL):
            a, b = b, a
        keep = [self._place[b]] if b in self._place else []
        first = self._names[self.loaded(a, keep)]
        second = self._operand(b)
        result = self._result(used)
        self.lines.append(f"{_ARITHMETIC[node.op]}{self._ending} {second}, {first}, {self._names[result]}")
        return result

    def _unary(self, node: Node, used: Mapping[Node, int]) -> int:
        first = self._names[self.loaded(node.args[0])]
        result = self._result(used)
        name, ending = self._names[result], self._ending
        if node.op == SQRT:
            self.put(f"vsqrt{ending}", *([first] * (2 if self.machine.lanes == 1 else 1)), name)
        else:
            assert node.op == NEG
            self.put(f"vmul{ending}", self._constant(MINUS), first, name)
        return result

    def _chosen(self, node: Node, used: Mapping[Node, int]) -> int:
        """Operations that look at a sign. NaN is neither positive nor negative, and comparing it is not reported."""
        tested, *others = node.args
        keep = [self.loaded(tested)]
        for each in others:
            keep.append(self.loaded(each, keep))
        result = self.take(keep)
        self.put("vmovapd", self.machine.name(keep[-1]), self.machine.name(result))
        keep.append(result)
        if node.op == SELECT:
            self._replace(result, keep[1], keep[0], NOT_NEGATIVE, keep)
        else:
            other = self.take(keep)
            keep.append(other)
            name, ending = self.machine.name, self.machine.ending
            if node.op == SIGN:
                for value, kind in ((ONE, POSITIVE), (MINUS, NEGATIVE)):
                    self.load(value, other)
                    self._replace(result, other, keep[0], kind, keep)
            else:
                self.put(f"vmul{ending}", self._constant(MINUS), name(keep[0]), name(other))
                self._replace(result, other, keep[0], NEGATIVE, keep)
                self.put(f"vadd{ending}", self._constant(ZERO), name(result), name(result))  # -0.0 becomes 0.0
            self.give_back(other)
        self.release(used)
        return result

    def _replace(self, result: int, value: int, tested: int, kind: int, keep: Sequence[int]) -> None:
        """Put a value in the place of the result where another one is of that kind."""
        name, compare = self.machine.name, f"vcmp{self.machine.ending}"
        if self.machine.count > 16:
            self.put(compare, f"${kind}", self._constant(ZERO), name(tested), "%k1")
            self.put("vmovapd", name(value), f"{name(result)} {{%k1}}")
        else:
            mask = self.take(keep)
            self.put(compare, f"${kind}", self._constant(ZERO), name(tested), name(mask))
            self.put("vblendvpd", name(mask), name(value), name(result), name(result))
            self.give_back(mask)

    def _fused(self, node: Node, used: Mapping[Node, int], product: int) -> int:
        """a*b + c, a*b - c or c - a*b. The result takes the register of an operand, which is lost."""
        (a, b), c = node.args[product].args, node.args[1 - product]
        place = self._place
        for lost in (c, a, b):
            if used[lost] == NEVER and lost in place:
                result = place.pop(lost)
                break
        else:
            lost = next((x for x in used if x not in place), c)
            result = self.take([place[x] for x in used if x in place])
            if lost in place:
                self.put("vmovapd", self._names[place[lost]], self._names[result])
            else:
                self.load(lost, result)
        x, y = (a, b) if lost is c else (b if lost is a else a, c)
        if x not in place and y not in place and x is not lost and y is not lost:
            self.loaded(x, [result, *(place[each] for each in used if each in place)])
        name = self._names[result]
        first = name if x is lost else self._operand(x)
        second = name if y is lost else self._operand(y)
        form = "231" if lost is c else "213"
        if first[0] != "%":  # only y, which stands first in the text, may be in memory
            first, second, form = second, first, form if lost is c else "132"
        kind = "vfmadd" if node.op == ADD else "vfmsub" if product == 0 else "vfnmadd"
        self.lines.append(f"{kind}{form}{self._ending} {second}, {first}, {name}")
        self.release(used)
        return result
