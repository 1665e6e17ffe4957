"""Sums in the order of their terms: the same values, as many operations, shorter chains."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.graph import Graph, Node, trace
from armdyn.graph.node import ADD, COS, SIN, SUB
from armdyn.graph.structure import leaves
from armdyn.kernels.straight.schedule import Plan, plan
from armdyn.kernels.straight.sums import reassociate_by_latency
from support.random_programs import inputs, program


def planned(graph: Graph) -> Plan:
    return plan(graph.nodes, [*leaves(dict(graph.outputs))])


def depth(program: Plan) -> int:
    """Operations of the longest chain."""
    found: dict[Node, int] = {}
    for node in program.order:
        below = max((found.get(arg, 0) for arg in program.reads[node]), default=0)
        found[node] = below + (node.op not in (SIN, COS))
    return max(found.values())


@pytest.mark.parametrize("seed", range(8))
def test_signs(seed: int) -> None:
    """Of random sums of products and single terms."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1, 1], 9)

    def formula(x):  # type: ignore[no-untyped-def]
        late = x[0]
        for _ in range(4):
            late = late * x[1] + x[2]
        terms = [late, x[3] * x[4], x[5], x[6] * late, x[7] * x[0], x[8], x[1] * x[2], late * late, x[4]]
        total = terms[0] if signs[0] > 0 else -terms[0]
        for sign, term in zip(signs[1:], terms[1:], strict=True):
            total = total + term if sign > 0 else total - term
        return [total, -total]

    graph = trace(formula, {"x": 9})
    arranged = reassociate_by_latency(graph)
    x = rng.normal(size=(50, 9))
    np.testing.assert_allclose(arranged(x=x)[0], graph(x=x)[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(arranged(x=x)[1], -arranged(x=x)[0])
    assert arranged.operations.additions == graph.operations.additions
    assert arranged.operations.multiplications == graph.operations.multiplications


def test_what_comes_last_is_added_last() -> None:
    def formula(x):  # type: ignore[no-untyped-def]
        late = x[0]
        for k in range(6):
            late = late * x[k]
        return [(late + x[1]) + (x[2] * x[3] - x[4])]

    (total,) = leaves(dict(reassociate_by_latency(trace(formula, {"x": 6})).outputs))
    early = next(arg for arg in total.args if arg.op in (ADD, SUB))
    assert "x1*" not in repr(early) and total.op == ADD


@pytest.mark.parametrize("seed", range(3))
def test_random_programs(seed: int) -> None:
    graph = program(seed, 120)
    arranged = reassociate_by_latency(graph)
    assert arranged.operations.total <= graph.operations.total
    given = dict(zip("qxsyz", (array.clip(-2, 2) for array in map(np.nan_to_num, inputs(31, seed))), strict=True))
    for one, other in zip(leaves(arranged(**given)), leaves(graph(**given)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)  # some programs magnify rounding


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix"])
@pytest.mark.parametrize("robot", ["panda", "scara5"])
def test_chains_are_shorter_and_more_is_fused(robot: str, name: str) -> None:
    graph = armdyn.compile(armdyn.load(robot), cache=False).graph(name)
    before, after = planned(graph), planned(reassociate_by_latency(graph))
    if (
        robot == "panda"
    ):  # of terms that are there together a chain is longer than a tree, by 1 here and there in scara5
        assert depth(after) < depth(before)
    assert len(after.order) <= 1.01 * len(before.order)
