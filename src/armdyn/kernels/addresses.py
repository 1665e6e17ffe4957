"""Where the values and constants of a function lie in memory, and which registers point there.

Processors keep instructions decoded, and more of them if they are short: one byte of displacement in place of four. So
values and constants that are used most lie side by side, where registers point to. Where that is, is known when all
lines are; until then an operand in memory stands in the lines by its name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from armdyn.graph import Node, to_float
from armdyn.graph.node import CONST
from armdyn.kernels.forms import NEXT
from armdyn.kernels.ir_writer import literal
from armdyn.kernels.registers import Machine

POINTERS = ("%rax", "%rcx", "%rdx", "%rsi", "%rdi", "%rbx", *(f"%r{k}" for k in range(15, 7, -1)))
"""Registers for addresses, those with short instructions first: of values and constants; from the end: of arrays."""
BASES = POINTERS[:1:-1]
"""Registers for the addresses of arrays, at most."""
REACH = 256
"""Bytes around an address that instructions reach with one byte."""
OPERAND = re.compile("(<[^>]*>)")
"""Stands for an operand in memory until all are known."""
ADDRESSES = "<addresses>"
"""Stands for the lines that load them."""


class Frame:
    """The memory of one function: its part of the stack, where values lie, and its constants.

    size: bytes so far. constants: their bits, in the order of first use. bases: places of the addresses of arrays.
    """

    def __init__(self, machine: Machine, arrays: int) -> None:
        self.machine = machine
        self.size = self.slots = 0
        self.constants: dict[str, int] = {}
        self._operands: dict[Node, str] = {}
        self.bases = [self.room(8) for _ in range(arrays)]

    def room(self, size: int, align: int = 8) -> int:
        """The place of so many bytes."""
        place = self.size + -self.size % align
        self.size = place + size
        return place

    def slot(self) -> str:
        """An operand for one value more, wherever it will lie."""
        self.slots += 1
        return f"<slot {self.slots - 1}>"

    def constant(self, node: Node) -> str:
        """The operand of a node whose value is known now."""
        known = self._operands.get(node)
        if known is None:
            value = node.value if node.op == CONST else to_float(node)
            number = self.constants.setdefault(literal(float(value)), len(self.constants))
            known = f"<constant {number}>" + (f"{{1to{self.machine.lanes}}}" if self.machine.broadcast else "")
            self._operands[node] = known
        return known

    def addressed(self, text: str) -> tuple[str, list[str], set[str]]:
        """The text with addresses; constants in their order; registers that are used."""
        parts, size = OPERAND.split(text), self.machine.bytes
        uses = Counter(parts[1::2])
        slots = sorted((f"<slot {k}>" for k in range(self.slots)), key=lambda use: -uses[use])
        places = {use: self.room(size, size) for use in slots}
        places |= {use: int(use[7:-1]) for use in uses if use.startswith("<place")}
        constants = sorted(self.constants, key=lambda bits: -uses[f"<constant {self.constants[bits]}>"])
        step = 8 if self.machine.broadcast else size
        numbers = {f"<constant {self.constants[bits]}>": step * k for k, bits in enumerate(constants)}
        areas = (_Area(places, REACH * (size if self.machine.broadcast else 1), "{}(%rsp)"),
                 _Area(numbers, REACH * (step if self.machine.broadcast else 1), ".Lconstants+{}(%rip)"))  # fmt: skip
        known = {use: area.form.format(place) for area in areas for use, place in area.places.items()}
        arrays = BASES[: len(self.bases)]
        loads = [f"mov {at(place)}, {base}" for base, place in zip(arrays, self.bases, strict=True)]
        taken = {*arrays}
        for register, address, reached in _pointed(areas, uses, POINTERS[: len(POINTERS) - len(arrays)]):
            known |= reached
            loads.append(f"lea {address}, {register}")
            taken.add(register)
        known[ADDRESSES] = NEXT.join(loads)
        parts[1::2] = [known[use] for use in parts[1::2]]
        return "".join(parts), constants, taken


def at(place: int) -> str:
    """An operand in the frame."""
    return f"{place}(%rsp)"


def near(place: int) -> str:
    """The same for the body, where it may get a shorter address."""
    return f"<place {place}>"


class _Area(NamedTuple):
    """Memory: places by operand, the bytes that a register with an address there reaches, the form of an address."""

    places: dict[str, int]
    reach: int
    form: str


def _pointed(
    areas: Sequence[_Area], uses: Mapping[str, int], registers: Sequence[str]
) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Registers, the addresses they get, and the operands near them, so that most uses are near one of them."""
    left = [sorted(area.places.items(), key=lambda item: item[1]) for area in areas]
    found = [_most_used(each, uses, area.reach) for each, area in zip(left, areas, strict=True)]
    for register in registers:
        total, start, stop = max(found)
        if not total:
            return
        k = found.index((total, start, stop))
        middle = left[k][start][1] + areas[k].reach // 2
        reached = {use: f"{place - middle}({register})" for use, place in left[k][start:stop]}
        yield register, areas[k].form.format(middle), reached
        del left[k][start:stop]
        found[k] = _most_used(left[k], uses, areas[k].reach)


def _most_used(places: Sequence[tuple[str, int]], uses: Mapping[str, int], reach: int) -> tuple[int, int, int]:
    """(uses, start, stop) of the neighbouring places within reach that are used most."""
    best, total, start = (0, 0, 0), 0, 0
    for stop, (use, place) in enumerate(places, 1):
        total += uses[use]
        while place - places[start][1] >= reach:
            total -= uses[places[start][0]]
            start += 1
        if total >= best[0]:
            best = total, start, stop
    return best
