"""The code for many samples: blocks of 4 or 8, one sample in each lane of the vectors.

Rows come as they lie in memory, one sample after the other; pairs of components are loaded from each row and
transposed in registers, results go back the same way.
"""

from __future__ import annotations

from armdyn.graph import Node
from armdyn.kernels.ir_writer import Constants, Writer, flags, vector
from armdyn.kernels.ports import Ports
from armdyn.kernels.straight.body import Body, joined
from armdyn.kernels.straight.schedule import Plan
from armdyn.kernels.straight.sincos import Reduction


def rows(ports: Ports, plan: Plan, lanes: int, reduction: Reduction, constants: Constants) -> str:
    """`void @rows(ptr args, i64 blocks, i64 past)`: that many blocks of samples, of arrays without gaps.

    args: where they start. past: whether large results go past the caches, which is a matter of our assembly alone.
    Results must not overlap arguments. Blocks with an angle beyond the range of the fast sine are computed again,
    sample by sample.
    """
    w = Writer()
    count = range(len(ports.all))
    w.label("entry")
    bases = [w.load("ptr", w.offset("%args", 8 * i)) for i in count]
    w.do("br label %block")
    w.label("block")
    w.do("%left = phi i64 [ %blocks, %entry ], [ %fewer, %next ]")
    for i in count:
        w.do(f"%a{i} = phi ptr [ {bases[i]}, %entry ], [ %b{i}, %next ]")
    memory = _Memory(w, ports, lanes)
    body = Body(w, lanes, plan, memory.read, reduction, constants)
    memory.begin(body)
    for node in plan.order:
        body.write(node)
        memory.computed(node)
    memory.finish()
    if body.beyond:
        beyond = body.beyond[0]
        for other in body.beyond[1:]:
            beyond = w.put(f"or {flags(lanes)} {beyond}, {other}")
        anywhere = w.put(f"call i1 @llvm.vector.reduce.or.v{lanes}i1({flags(lanes)} {beyond})")
        w.do(f"br i1 {anywhere}, label %rare, label %next, !prof !0")
        w.label("rare")
        for lane in range(lanes):
            pointers = ", ".join(f"ptr {memory.row(i, lane)}" for i in count)
            w.do(f"call void @single({pointers})")
    w.do("br label %next")
    w.label("next")
    for i, port in enumerate(ports.all):
        w.do(f"%b{i} = getelementptr i8, ptr %a{i}, i64 {8 * lanes * port.size}")
    w.do("%fewer = sub i64 %left, 1")
    w.do("%more = icmp sgt i64 %fewer, 0")
    w.do("br i1 %more, label %block, label %done")
    w.label("done")
    w.do("ret void")
    head = 'define void @rows(ptr %args, i64 %blocks, i64 %past) "stackrealign"'
    return f"{head} {{\n{w.text}\n}}\n"


class _Memory:
    """Loads and stores of one block."""

    def __init__(self, w: Writer, ports: Ports, lanes: int) -> None:
        self.w, self.ports, self.lanes = w, ports, lanes
        self.place = {node: (i, j) for i, port in enumerate(ports.inputs) for j, node in enumerate(port.nodes)}
        self._read: dict[Node, str] = {}

    def row(self, i: int, lane: int, j: int = 0) -> str:
        """The address of component j of one sample's row of array i."""
        return self.w.offset(f"%a{i}", 8 * (lane * self.ports.all[i].size + j))

    def begin(self, body: Body) -> None:
        self.body = body
        first = len(self.ports.inputs)
        self._due: dict[Node, list[tuple[int, int]]] = {}
        self._missing: dict[tuple[int, int], int] = {}
        for i, port in enumerate(self.ports.outputs, first):
            for j, node in enumerate(port.nodes):
                pair = (i, j // 2)
                self._due.setdefault(node, []).append(pair)
                self._missing[pair] = self._missing.get(pair, 0) + 1
        for node in list(self._due):
            if not (node.args and node.online):
                self.computed(node)

    def read(self, node: Node) -> str:
        """One component of all samples; its neighbour comes along."""
        if node not in self._read:
            i, j = self.place[node]
            nodes = self.ports.inputs[i].nodes
            if len(nodes) == 1:
                self._read[node] = self._lone(i)
            else:
                first = min(j - j % 2, len(nodes) - 2)
                even, odd = self._pair(i, first)
                self._read.setdefault(nodes[first], even)
                self._read.setdefault(nodes[first + 1], odd)
        return self._read[node]

    def _lone(self, i: int) -> str:
        kind, value = vector(self.lanes), "undef"
        for lane in range(self.lanes):
            entry = self.w.load("double", self.row(i, lane))
            value = self.w.put(f"insertelement {kind} {value}, double {entry}, i32 {lane}")
        return value

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

    def computed(self, node: Node) -> None:
        """Store the pairs of results that are complete with this node."""
        for pair in self._due.pop(node, ()):
            self._missing[pair] -= 1
            if self._missing[pair] == 0:
                self._store(*pair)

    def finish(self) -> None:
        assert not self._due, "a result was not computed"

    def _store(self, i: int, half: int) -> None:
        w, j = self.w, 2 * half
        nodes = self.ports.all[i].nodes[j : j + 2]
        values = [self.body.value(node) for node in nodes]
        if len(values) == 1:
            for lane in range(self.lanes):
                entry = w.put(f"extractelement {vector(self.lanes)} {values[0]}, i32 {lane}")
                w.store("double", entry, self.row(i, lane, j))
            return
        a, b = values
        n = self.lanes
        for base in range(0, n, 4):
            for first in (0, 1):
                low, high = base + first, base + first + 2
                both = w.shuffle(n, a, b, (low, n + low, high, n + high))
                for lane, pick in ((low, (0, 1)), (high, (2, 3))):
                    w.store("<2 x double>", w.shuffle(4, both, both, pick), self.row(i, lane, j))
