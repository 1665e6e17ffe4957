"""Straight-line programs as x86-64 assembly.

LLVM takes seconds for programs of some thousand operations, nearly all of it to choose instructions and registers. Here
both are simple (see `assembly_function`), and LLVM only assembles the text. `@single` and `@rows` are as in `single`
and `block`, on the same plan with the same fused operations; sines and cosines are left to `@sines` and `@all_sines`,
common to all programs.
"""

from __future__ import annotations

from armdyn.graph import Node
from armdyn.graph.node import EXP
from armdyn.kernels.addresses import BASES, at, near
from armdyn.kernels.assembly_function import ARGUMENTS, Function, Result
from armdyn.kernels.ports import Ports
from armdyn.kernels.row_assembly import Rows
from armdyn.kernels.straight.schedule import Plan, soonest
from armdyn.kernels.straight.sincos import GROUP, HALF


def possible(ports: Ports, plan: Plan) -> bool:
    """Whether all operations have an instruction, and all arrays a register."""
    return len(ports.all) <= len(BASES) and all(node.op != EXP for node in plan.order)


class Single(Function):
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

    def store(self, result: Result) -> None:
        register = self.registers.loaded(result.nodes[0])
        self.put("vmovsd", self.machine.name(register), f"{8 * result.first}({BASES[result.port]})")


def _copied(register: str, place: int, count: int) -> list[str]:
    """Copies of doubles to the frame, up to four at a time; the last ones overlap those before."""
    size = 4 if count >= 4 else 2 if count > 1 else 1
    move, name = ("vmovsd" if size == 1 else "vmovupd"), ("%ymm0" if size == 4 else "%xmm0")
    starts = [8 * min(k, count - size) for k in range(0, count, size)]
    return [line for k in starts for line in (f"{move} {k}({register}), {name}", f"{move} {name}, {at(place + k)}")]


def core(ports: Ports, plan: Plan, lanes: int, *, wide: bool) -> str:
    """`void @single(ptr in..., ptr out...)` for one lane, else `void @rows(ptr args, i64 blocks, i64)`, as a module.

    lanes: samples to a block. wide: the machine has AVX-512. Raises UnknownForm for lines LLVM might not assemble.
    """
    if lanes > 1:
        return Rows("rows", ports, plan, lanes, wide).text()
    return Single("single", ports, soonest(plan) if wide else plan, 1, wide).text()  # sooner takes more registers
