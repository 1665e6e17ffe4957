"""The code for one sample: sines and cosines of all joints as one vector, the rest scalar."""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.graph import Node
from armdyn.graph.node import COS, SIN
from armdyn.graph.structure import ordered
from armdyn.kernels.ir_writer import NARROW, Constants, Writer, flags, vector
from armdyn.kernels.ports import Ports
from armdyn.kernels.straight.body import Body
from armdyn.kernels.straight.schedule import Plan
from armdyn.kernels.straight.sincos import Reduction, sincos


def single(ports: Ports, plan: Plan, reduction: Reduction, constants: Constants) -> str:
    """`void @single(ptr in..., ptr out...)` on rows without gaps; all is read before anything is written."""
    w = Writer()
    arguments = ", ".join(f"ptr %p{i}" for i in range(len(ports.all)))
    stages = angle_stages(plan)
    w.label("entry")
    for stage, angles in enumerate(stages):
        for role in "xsc":
            w.do(f"%{role}{stage} = alloca {vector(_lanes(angles))}, align 64")
    place = {node: (i, j) for i, port in enumerate(ports.inputs) for j, node in enumerate(port.nodes)}

    def read(node: Node) -> str:
        i, j = place[node]
        return w.load("double", w.offset(f"%p{i}", 8 * j))

    body = Body(w, 1, plan, read, reduction, constants)
    executed = set(plan.order)
    for stage, angles in enumerate(stages):
        for node in ordered(tuple(angles)):
            if node in executed:
                body.write(node)
        _vector_of_angles(body, angles, stage)
    for node in plan.order:
        body.write(node)
    for i, port in enumerate(ports.outputs, len(ports.inputs)):
        for j, node in enumerate(port.nodes):
            w.store("double", body.value(node), w.offset(f"%p{i}", 8 * j))
    w.do("ret void")
    return f'define void @single({arguments}) {NARROW} "stackrealign" {{\n{w.text}\n}}\n'


def angle_stages(plan: Plan) -> list[list[Node]]:
    """Angles that need no other angle, then those that need only these, and so on."""
    depth: dict[Node, int] = {}
    stages: dict[int, list[Node]] = {}
    for node in ordered(plan.angles):
        below = max((depth[arg] for arg in node.args), default=0)
        depth[node] = below + (node.op in (SIN, COS))
    for angle in plan.angles:
        stages.setdefault(depth[angle], []).append(angle)
    return [stages[level] for level in sorted(stages)]


def _vector_of_angles(body: Body, angles: Sequence[Node], stage: int) -> None:
    """Fill `body.angles`; where an angle is beyond the fast code's range, ask the C library."""
    w = body.w
    lanes = _lanes(angles)
    kind = vector(lanes)
    x = "undef"
    for lane in range(lanes):
        angle = angles[min(lane, len(angles) - 1)]
        x = w.put(f"insertelement {kind} {x}, double {body.value(angle)}, i32 {lane}")
    s, c, beyond = sincos(w, x, lanes, body.reduction, body.constants)
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
