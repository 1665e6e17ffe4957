"""Which operations are executed, in which order, and which multiplications disappear into fused multiply-adds."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from armdyn.graph import Node
from armdyn.graph.node import ADD, COS, DIV, MUL, SIN, SQRT, SUB


@dataclass(frozen=True)
class Plan:
    """A program: nodes to execute in order, and for each sum the operand whose product it takes in."""

    order: tuple[Node, ...]
    fused: dict[Node, int]

    @cached_property
    def angles(self) -> tuple[Node, ...]:
        """Arguments of sines and cosines, in order of need."""
        return tuple(dict.fromkeys(node.args[0] for node in self.order if node.op in (SIN, COS)))


AHEAD = 4
"""Operations between a value and its first use that straight-line code shall have: an operation takes four cycles."""
CHOICE = 24
"""Operations among which one is looked for that need not wait."""
STARTED = 2
"""Operations that a processor starts in a cycle."""
CYCLES = {SIN: 0, COS: 0, DIV: 14, SQRT: 14}
"""How long operations take whose time is not that of a sum or product; sines are computed before all others."""
BROAD = 20
"""Operations to one of the longest chain above which a program has enough to do without looking for it."""


def plan(nodes: Sequence[Node], outputs: Sequence[Node], ahead: int = 0) -> Plan:
    """Fuse and order the live nodes of a graph, which come operands first.

    ahead: operations that shall stand between a value and its first use, where there are others to do.
    """
    live = [node for node in nodes if node.args and node.online]
    fused, gone = _fusions(live, outputs)
    return Plan(_ordered([node for node in live if node not in gone], fused, ahead), fused)


def _ordered(nodes: list[Node], fused: dict[Node, int], ahead: int) -> tuple[Node, ...]:
    """An order that keeps few values alive: next comes the node that ends most lives, of those that need not wait.

    Ties go to the node whose operands were used last. Against the depth-first order of the graph this halves the values
    alive at a time (Panda, inverse dynamics: 61 instead of 125), and LLVM's scheduler starts from a better place.
    """
    place = {node: i for i, node in enumerate(nodes)}
    reads = {node: [arg for arg in dict.fromkeys(operands(node, fused)) if arg in place] for node in nodes}
    users: dict[Node, list[Node]] = {node: [] for node in nodes}
    for node in nodes:
        for arg in reads[node]:
            users[arg].append(node)
    uses = {node: len(users[node]) for node in nodes}
    missing = {node: len(reads[node]) for node in nodes}
    touched = dict.fromkeys(nodes, -1)
    heap: list[tuple[int, int, int, Node]] = []
    best: dict[Node, tuple[int, int]] = {}

    def offer(node: Node) -> None:
        ended = sum(uses[arg] == 1 for arg in reads[node]) - (uses[node] > 0)
        score = (-ended, -max((touched[arg] for arg in reads[node]), default=-1))
        if best.get(node) != score:
            best[node] = score
            heapq.heappush(heap, (*score, place[node], node))

    for node in nodes:
        if not missing[node]:
            offer(node)
    order: list[Node] = []
    done: set[Node] = set()
    made = dict.fromkeys(nodes, -ahead)

    def latest(node: Node) -> int:
        return max((made[arg] for arg in reads[node]), default=-ahead)

    def chosen() -> Node | None:
        """The best node that need not wait; if all must, the one whose operands are oldest."""
        waiting: list[tuple[int, int, int, Node]] = []
        found = None
        while heap and found is None and len(waiting) < CHOICE:
            entry = heapq.heappop(heap)
            node = entry[-1]
            if node not in done and best[node] == entry[:2]:
                if latest(node) <= len(order) - ahead:
                    found = node
                else:
                    waiting.append(entry)
        if found is None and waiting:
            found = min(waiting, key=lambda entry: latest(entry[-1]))[-1]
        for entry in waiting:
            if entry[-1] is not found:
                heapq.heappush(heap, entry)
        return found

    while (best_now := chosen()) is not None:
        done.add(best_now)
        touched[best_now] = made[best_now] = len(order)
        for arg in reads[best_now]:
            uses[arg] -= 1
            touched[arg] = len(order)
        order.append(best_now)
        for user in users[best_now]:
            missing[user] -= 1
        for near in (best_now, *reads[best_now]):
            for user in users[near]:
                if user not in done and not missing[user]:
                    offer(user)
    return tuple(order)


def soonest(program: Plan) -> Plan:
    """The program in the order that ends one sample soonest: what the longest chain waits for comes first.

    A list schedule: of the operations that can start, those with most to come after them. It takes more registers. A
    program that is broad, which has always something to do, keeps its order.
    """
    nodes = program.order
    place = {node: i for i, node in enumerate(nodes)}
    reads = {node: [arg for arg in dict.fromkeys(operands(node, program.fused)) if arg in place] for node in nodes}
    users: dict[Node, list[Node]] = {node: [] for node in nodes}
    for node in nodes:
        for arg in reads[node]:
            users[arg].append(node)
    ahead: dict[Node, int] = {}
    for node in reversed(nodes):
        ahead[node] = CYCLES.get(node.op, AHEAD) + max((ahead[user] for user in users[node]), default=0)
    if len(nodes) * AHEAD > BROAD * max(ahead.values(), default=0):
        return program
    missing = {node: len(reads[node]) for node in nodes}
    start = dict.fromkeys(nodes, 0)
    later = [(0, -ahead[node], place[node], node) for node in nodes if not missing[node]]
    heapq.heapify(later)
    now: list[tuple[int, int, Node]] = []
    order: list[Node] = []
    clock = 0
    while later or now:
        while later and later[0][0] <= clock:
            heapq.heappush(now, heapq.heappop(later)[1:])
        for _ in range(min(STARTED, len(now))):
            node = heapq.heappop(now)[-1]
            order.append(node)
            for user in users[node]:
                missing[user] -= 1
                start[user] = max(start[user], clock + CYCLES.get(node.op, AHEAD))
                if not missing[user]:
                    heapq.heappush(later, (start[user], -ahead[user], place[user], user))
        clock += 1
    return Plan(tuple(order), program.fused)


def operands(node: Node, fused: dict[Node, int]) -> tuple[Node, ...]:
    """What a node reads when it is executed: a sum that takes in a product reads its factors."""
    if node not in fused:
        return node.args
    product, other = node.args[fused[node]], node.args[1 - fused[node]]
    return (*product.args, other)


def _fusions(live: Sequence[Node], outputs: Sequence[Node]) -> tuple[dict[Node, int], set[Node]]:
    """A sum can take in one product; a product is gone when all sums that use it take it in.

    Products used once come first, so a sum goes where it surely saves an instruction.
    """
    users: dict[Node, list[Node]] = {node: [] for node in live if node.op == MUL}
    for node in live:
        for arg in node.args:
            if arg in users:
                users[arg].append(node)
    kept = set(outputs)
    fused: dict[Node, int] = {}
    gone: set[Node] = set()
    for product in sorted(users, key=lambda node: len(users[node])):
        sums = users[product]
        if product in kept or len(set(sums)) < len(sums):
            continue
        if all(node.op in (ADD, SUB) and node not in fused for node in sums):
            gone.add(product)
            fused.update((node, node.args.index(product)) for node in sums)
    return fused, gone
