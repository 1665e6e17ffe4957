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
    """A program: nodes to execute in order, for each sum the operand whose product it takes in, and what nodes read.

    A sum that takes in a product reads its factors. What is read twice is there once.
    """

    order: tuple[Node, ...]
    fused: dict[Node, int]
    reads: dict[Node, tuple[Node, ...]]

    @cached_property
    def angles(self) -> tuple[Node, ...]:
        """Arguments of sines and cosines, in order of need."""
        return tuple(dict.fromkeys(node.args[0] for node in self.order if node.op in (SIN, COS)))


LATENCY = 4
"""Cycles that a sum or product takes."""
LONG = 850
"""Operations from which a program may keep the order of its graph, if that order has fewer distant uses: derivatives of
torques then take 10 % fewer instructions, while torques of trees would take a quarter longer."""
DISTANT = 24
"""Operations after which a value has probably left its register before it is used again."""
CHOICE = 24
"""Operations among which one is looked for that need not wait."""
CYCLES = {SIN: 0, COS: 0, DIV: 14, SQRT: 14}
"""How long operations take whose time is not that of a sum or product; sines are computed before all others."""


def plan(nodes: Sequence[Node], outputs: Sequence[Node], ahead: int = 0) -> Plan:
    """Fuse and order the live nodes of a graph, which come operands first.

    ahead: operations that shall stand between a value and its first use, where there are others to do.
    """
    live = [node for node in nodes if node.args and node.online]
    fused, gone = _fusions(live, outputs)
    reads = {node: _operands(node, fused.get(node)) for node in live if node not in gone}
    orders = [_ordered(reads, ahead)]
    if len(reads) >= LONG:
        orders.append(tuple(reads))
    return Plan(min(orders, key=lambda order: _distant_uses(order, reads)), fused, reads)


def _distant_uses(order: Sequence[Node], reads: dict[Node, tuple[Node, ...]]) -> int:
    """Uses of values that were not computed or used shortly before."""
    last: dict[Node, int] = {}
    count = 0
    for time, node in enumerate(order):
        for arg in reads[node]:
            if arg in reads:
                count += time - last[arg] > DISTANT
                last[arg] = time
        last[node] = time
    return count


def _operands(node: Node, fused: int | None) -> tuple[Node, ...]:
    """What a node reads; fused: the operand whose product it takes in."""
    found = node.args if fused is None else (*node.args[fused].args, node.args[1 - fused])
    return found if len(found) == 1 else tuple(dict.fromkeys(found))


class _Links:
    """Operations by number, and which of them use which."""

    def __init__(self, nodes: Sequence[Node], reads: dict[Node, tuple[Node, ...]]) -> None:
        place = {node: i for i, node in enumerate(nodes)}
        self.reads = [[place[arg] for arg in reads[node] if arg in place] for node in nodes]
        self.users: list[list[int]] = [[] for _ in nodes]
        for i, read in enumerate(self.reads):
            for arg in read:
                self.users[arg].append(i)


def _ordered(reads: dict[Node, tuple[Node, ...]], ahead: int) -> tuple[Node, ...]:
    """An order that keeps few values alive: next comes the node that ends most lives, of those that need not wait.

    Ties go to the node whose operands were used last. Against the depth-first order of the graph this halves the values
    alive at a time (Panda, inverse dynamics: 61 instead of 125), and LLVM's scheduler starts from a better place.
    """
    nodes = list(reads)
    links, count = _Links(nodes, reads), len(nodes)
    all_reads, all_users = links.reads, links.users
    uses, missing = [len(users) for users in all_users], [len(reads) for reads in all_reads]
    touched, latest = [-1] * count, [-ahead] * count
    heap: list[int] = []
    best: list[int | None] = [None] * count
    order: list[Node] = []
    base = count + 1

    def offer(i: int) -> None:
        """Operation i can start: what it is worth, (values kept, last use of operands, i) in one number."""
        kept, last = int(uses[i] > 0), -1
        for arg in all_reads[i]:
            if uses[arg] == 1:
                kept -= 1
            if touched[arg] > last:
                last = touched[arg]
        entry = (kept * base - last) * base + i
        if best[i] != entry:
            best[i] = entry
            heapq.heappush(heap, entry)

    def chosen() -> int:
        """The best operation that need not wait; if all must, the one whose operands are oldest; -1: none is left."""
        waiting: list[int] = []
        found, limit = -1, len(order) - ahead
        while heap and found < 0 and len(waiting) < CHOICE:
            entry = heapq.heappop(heap)
            i = entry % base
            if best[i] == entry:
                if latest[i] <= limit:
                    found = i
                else:
                    waiting.append(entry)
        if found < 0 and waiting:
            found = min(waiting, key=lambda entry: latest[entry % base]) % base
        for entry in waiting:
            if entry % base != found:
                heapq.heappush(heap, entry)
        return found

    for i in range(count):
        if not missing[i]:
            offer(i)
    while (now := chosen()) >= 0:
        time = len(order)
        missing[now], best[now] = -1, None
        touched[now] = time
        for arg in all_reads[now]:
            uses[arg] -= 1
            touched[arg] = time
        order.append(nodes[now])
        for user in all_users[now]:
            missing[user] -= 1
            latest[user] = time
        for near in (now, *all_reads[now]):
            for user in all_users[near]:
                if not missing[user]:
                    offer(user)
    return tuple(order)


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
    for product, sums in sorted(users.items(), key=lambda item: len(item[1])):
        if product in kept or len(set(sums)) < len(sums):
            continue
        for node in sums:
            if node in fused or node.op not in (ADD, SUB):
                break
        else:
            gone.add(product)
            for node in sums:
                fused[node] = node.args.index(product)
    return fused, gone
