"""The order of one call: nothing before its operands, the longest chain first, broad programs as they were."""

from __future__ import annotations

import pytest

from armdyn.graph import Graph, trace
from armdyn.graph.structure import leaves
from armdyn.kernels.straight.schedule import AHEAD, Plan, plan, soonest
from support.random_programs import program


def planned(graph: Graph) -> Plan:
    return plan(graph.nodes, [*leaves(dict(graph.outputs))], AHEAD)


def ends(program: Plan) -> int:
    """Cycles until all is computed, if operations start in their order, two in a cycle, and take four."""
    ready: dict[object, int] = {}
    clock = started = 0
    for node in program.order:
        free = clock + (started == 2)
        start = max([free, *(ready.get(arg, 0) for arg in program.reads[node])])
        clock, started = (start, 1) if start > clock else (clock, started + 1)
        ready[node] = start + 4
    return max(ready.values())


@pytest.mark.parametrize("seed", range(5))
def test_operands_come_first(seed: int) -> None:
    before = planned(program(seed, 45 + 30 * seed))
    after = soonest(before)
    assert set(after.order) == set(before.order) and after.fused == before.fused
    done: set[object] = set()
    for node in after.order:
        needed = [arg for arg in after.reads[node] if arg in set(after.order)]
        assert done.issuperset(needed)
        done.add(node)


def test_the_longest_chain_comes_first() -> None:
    def formula(x):  # type: ignore[no-untyped-def]
        late = x[0]
        for k in range(1, 9):
            late = late * x[k] + x[k - 1]
        return [x[1] / x[2] * x[3], x[4] * x[5] - x[6], late, x[7] * x[8]]

    before = planned(trace(formula, {"x": 9}))
    after = soonest(before)
    assert ends(after) < ends(before)


def test_broad_programs_keep_their_order() -> None:
    graph = trace(lambda x: [x[i] * x[j] + x[i] for i in range(9) for j in range(i)], {"x": 9})
    before = planned(graph)
    assert soonest(before) is before
