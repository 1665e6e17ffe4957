"""The code for one sample, on rows without gaps."""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.graph import Node
from armdyn.graph.node import COS, SIN
from armdyn.graph.structure import ordered
from armdyn.kernels.ir_writer import NARROW, Constants, Writer, flags, vector
from armdyn.kernels.ports import Ports
from armdyn.kernels.straight.budget import BYTE, POINTERS, Area, BudgetedCode, Memory, defined_addresses
from armdyn.kernels.straight.events import Angles, Result, angle_stages, events
from armdyn.kernels.straight.operations import Body
from armdyn.kernels.straight.schedule import LONG, Plan
from armdyn.kernels.straight.sincos import BOTH, GROUP, HALF, Reduction, exact_lanes, sincos

MANY = 64
"""Results above which a program is written with a budget of registers, as a long one is. Else code that LLVM makes
alone is 5 to 12 % faster, and it takes little time for it."""


def single(ports: Ports, plan: Plan, budget: int, reduction: Reduction, *, short_addresses: bool) -> str:
    """`void @single(ptr in..., ptr out...)`; results may lie over arguments.

    budget: values in registers at a time, if the program is long.
    short_addresses: what is used most is reached by short instructions, of which x86-64 processors keep more decoded.
    """
    if len(plan.order) >= LONG or sum(port.size for port in ports.outputs) > MANY:
        return _Long(ports, plan, budget).text(short_addresses=short_addresses)
    return _short(ports, plan, reduction)


def _head(ports: Ports) -> str:
    arguments = ", ".join(f"ptr %p{i}" for i in range(len(ports.all)))
    return f'void @single({arguments}) {NARROW} "stackrealign"'


# Short programs: LLVM gives out the registers -------------------------------------------------------------------------


def _short(ports: Ports, plan: Plan, reduction: Reduction) -> str:
    """All arguments are read before any result is written."""
    w, constants = Writer(), Constants()
    stages = angle_stages(plan)
    for stage, angles in enumerate(stages):
        for role in "xsc":
            w.do(f"%{role}{stage} = alloca {vector(_lanes(angles))}, align 64")
    place = {node: (i, j) for i, port in enumerate(ports.inputs) for j, node in enumerate(port.nodes)}

    def read(node: Node) -> str:
        i, j = place[node]
        return w.load("double", w.offset(f"%p{i}", 8 * j))

    body = Body(w, 1, plan, read, constants)
    executed = set(plan.order)
    for stage, angles in enumerate(stages):
        for node in ordered(tuple(angles)):
            if node in executed:
                body.write(node)
        _vector_of_angles(body, angles, stage, reduction)
    for node in plan.order:
        body.write(node)
    for i, port in enumerate(ports.outputs, len(ports.inputs)):
        for j, node in enumerate(port.nodes):
            w.store("double", body.value(node), w.offset(f"%p{i}", 8 * j))
    exact = exact_lanes(reduction.limit) if stages else ""
    return w.function(_head(ports)) + exact + constants.text


def _vector_of_angles(body: Body, angles: Sequence[Node], stage: int, reduction: Reduction) -> None:
    """Fill `body.angles`; where an angle is beyond the fast code's range, ask the C library."""
    w = body.w
    lanes = _lanes(angles)
    kind = vector(lanes)
    x = "undef"
    for lane in range(lanes):
        angle = angles[min(lane, len(angles) - 1)]
        x = w.put(f"insertelement {kind} {x}, double {body.value(angle)}, i32 {lane}")
    s, c, beyond = sincos(w, x, lanes, reduction, body.constants)
    anywhere = w.put(f"call i1 @llvm.vector.reduce.or.v{lanes}i1({flags(lanes)} {beyond})")
    here = "entry" if stage == 0 else f"known{stage - 1}"
    w.do(f"br i1 {anywhere}, label %rare{stage}, label %known{stage}, !prof !0")
    w.label(f"rare{stage}")
    for value, role in ((x, "x"), (s, "s"), (c, "c")):
        w.store(kind, value, f"%{role}{stage}", 64)
    w.do(f"call void @exact_lanes(ptr %x{stage}, ptr %s{stage}, ptr %c{stage}, i64 {lanes})")
    s2, c2 = w.load(kind, f"%s{stage}", 64), w.load(kind, f"%c{stage}", 64)
    w.do(f"br label %known{stage}")
    w.label(f"known{stage}")
    s = w.put(f"phi {kind} [ {s}, %{here} ], [ {s2}, %rare{stage} ]")
    c = w.put(f"phi {kind} [ {c}, %{here} ], [ {c2}, %rare{stage} ]")
    for lane, angle in enumerate(angles):
        sine = w.put(f"extractelement {kind} {s}, i32 {lane}")
        cosine = w.put(f"extractelement {kind} {c}, i32 {lane}")
        body.angles[angle] = sine, cosine


def _lanes(angles: Sequence[Node]) -> int:
    return 4 * -(-len(angles) // 4) if len(angles) > 2 else 2


# Long programs: a budget of registers ---------------------------------------------------------------------------------


class _Long:
    """Arguments are copied first, so that results can be stored as soon as they are known.

    What is in memory lies in one frame and one table of constants. pieces: neighbouring places of the frame.
    """

    def __init__(self, ports: Ports, plan: Plan, budget: int) -> None:
        self.ports, self.plan, self.w = ports, plan, Writer()
        self.memory = Memory(self.w, 1)
        order = events(ports, plan, 1)
        self.code = BudgetedCode(self.w, 1, plan, order, budget, self.memory, "icmp eq ptr %p0, null")
        self.pieces: list[list[str]] = []

    def piece(self, name: str, size: int) -> list[str]:
        """Pointers to so many neighbouring doubles of the frame."""
        pointers = [f"%{name}.{k}" for k in range(size)]
        self.pieces.append(pointers)
        return pointers

    def text(self, *, short_addresses: bool) -> str:
        w = self.w
        for i, port in enumerate(self.ports.inputs):
            here = self.piece(f"input{i}", port.size)
            for first, count in _vectors(port.size):
                value = w.load(vector(count), w.offset(f"%p{i}", 8 * first))
                w.store(vector(count), value, here[first])
            self.memory.known.update(zip(port.nodes, here, strict=True))
        self.code.write(self.read, self.sines, self.store)
        w.do("ret void")
        w.label("never")
        frame, constants = self.laid_out()
        areas = Area("%frame", frame, 8, BYTE), Area("@constants", constants, 8, BYTE)
        windows = POINTERS - len(self.ports.outputs) if short_addresses else 0
        room = f"  %frame = alloca [{max(1, len(frame))} x double], align 64"
        w.lines[1:1] = [room, *defined_addresses(areas, self.memory.uses, windows)]
        sines = f"declare {BOTH} @sines({vector(HALF)}, {vector(HALF)})\n" * bool(self.plan.angles)
        return w.function(_head(self.ports)) + sines + self.memory.table()

    def laid_out(self) -> tuple[list[str], list[str]]:
        """Pointers into the frame, and to constants, in the order of their places: what is used most comes first."""
        uses = self.memory.uses
        pieces = [*self.pieces, *([f"%slot{k}"] for k in range(self.memory.slots))]
        pieces.sort(key=lambda piece: -sum(uses.get(each, 0) for each in piece) / len(piece))
        constants = self.memory.by_use(self.memory.constants.values())
        return [each for piece in pieces for each in piece], constants

    def read(self, node: Node) -> None:
        raise AssertionError(f"{node!r} is needed before it is computed")

    def sines(self, event: Angles) -> None:
        w = self.w
        for start in range(0, len(event.nodes), GROUP):
            angles = event.nodes[start : start + GROUP]
            halves = []
            for first in (0, HALF):
                x = "zeroinitializer"
                for k, angle in enumerate(angles[first : first + HALF]):
                    x = w.put(f"insertelement {vector(HALF)} {x}, double {self.code.value(angle)}, i32 {k}")
                halves.append(f"{vector(HALF)} {x}")
            self.code.clear()
            both = w.put(f"call {BOTH} @sines({', '.join(halves)})")
            for role, name in enumerate(("sine", "cosine")):
                here = self.piece(f"{name}{len(self.pieces)}", GROUP)
                for k in (0, 1):
                    part = w.put(f"extractvalue {BOTH} {both}, {2 * role + k}")
                    w.store(vector(HALF), part, here[HALF * k])
                places = dict(zip(angles, here, strict=False))
                for node in self.plan.order:
                    if node.op == (SIN, COS)[role] and node.args[0] in places:
                        self.memory.known[node] = places[node.args[0]]

    def store(self, result: Result) -> None:
        w, count = self.w, len(result.nodes)
        value = w.splat(self.code.value(result.nodes[0]), count)
        w.store(vector(count), value, w.offset(f"%p{result.port}", 8 * result.first))


def _vectors(count: int) -> list[tuple[int, int]]:
    """(first, size) of vectors that cover so many doubles; the last one may overlap the one before it."""
    size = 4 if count >= 4 else 2 if count > 1 else 1
    return [(min(k, count - size), size) for k in range(0, count, size)]
