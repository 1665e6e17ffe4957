"""armdyn.compare: agreement, counts that a hand can follow, counts as printed."""

from __future__ import annotations

from typing import Any

import pytest

import armdyn
from armdyn.equations import compare
from armdyn.equations.comparison import PUBLISHED, written_operations
from armdyn.graph import evaluate, span
from armdyn.mechanics.registry import FORMULATIONS, formulation


@pytest.mark.parametrize("name", ["pendulum", "planar2r", "scara5", "three_link"])
def test_all_formulations_agree(name: str) -> None:
    result = compare(armdyn.load(name), samples=2)
    assert result.agrees
    assert max(row.difference for row in result.rows) < 1e-12
    assert [row.formulation.name for row in result.rows] == [
        entry.name for entry in FORMULATIONS if "inverse_dynamics" in entry.gives
    ]
    for row in result.rows:
        assert row.trace_seconds > 0 and row.evaluation_seconds > 0
        assert row.operations.multiplications <= row.written[0]
    assert name in str(result)


def bare_pendulum() -> armdyn.Robot:
    """One joint, a body with mass, a centre of mass on x and a moment of inertia about z; no rotor, no friction."""
    row = {"type": "revolute", "mass": "m", "moment": ["m*l", 0, 0], "inertia_origin": [0, 0, 0, 0, 0, "I"]}
    return armdyn.Robot.from_dh([row], gravity=(0, "-g", 0), parameters={"m": 2.0, "l": 0.4, "I": 0.7, "g": 9.81})


def test_counts_of_a_pendulum_by_hand() -> None:
    """Newton-Euler, link by link as mechanics/newton_euler.py writes it; zeros and ones are free.

    a = R^T (0, g, 0)            2 x       U = wd^ + w^ w^               2 x
    f = m a + U (m l, 0, 0)      4 x 2 +   I wd, and w_z^2 for its part  2 x
    m = I wd + (m l, 0, 0) x a   1 x 1 +
    """
    assert written_operations(formulation("newton_euler"), bare_pendulum()) == (11, 3)


def test_shared_counts_of_a_pendulum_by_hand() -> None:
    """What is left when dead code is gone: I qdd + (m l) (g c): 3 x, 1 +, 1 cosine; m l is known off-line."""
    row = compare(bare_pendulum()).rows[0]
    assert (row.operations.multiplications, row.operations.additions, row.operations.trigonometric) == (3, 1, 1)
    assert row.operations.offline is not None
    assert (row.operations.offline.multiplications, row.operations.offline.additions) == (1, 0)


@pytest.mark.parametrize(
    ("name", "counts"), [("lagrange_euler", (101348, 77405)), ("newton_euler", (792, 662)), ("dalembert", (2963, 2209))]
)
def test_published_polynomials_of_milicevic_table_3_at_six_joints(name: str, counts: tuple[int, int]) -> None:
    assert tuple(polynomial(6) for polynomial in PUBLISHED[name]) == pytest.approx(counts, abs=1e-6)


def test_only_published_counts_are_quoted() -> None:
    rows = {row.formulation.name: row for row in compare(armdyn.load("planar2r"), samples=1).rows}
    assert rows["kane"].published is None
    assert rows["newton_euler"].published == (264, 218)


class Depth:
    """A scalar that knows only how many operations lie before it; terms: those before the terms of a sum.

    trees: terms of sums are added in the best order, also where others need parts of the sum; else as they are written.
    """

    def __init__(self, trees: bool, *terms: int) -> None:
        self.trees, self.terms = trees, terms or (0,)

    @property
    def steps(self) -> int:
        waiting = sorted(self.terms)
        while len(waiting) > 1:
            _, later, *rest = waiting
            waiting = sorted([later + 1, *rest])
        return waiting[0]

    def _after(self, other: Any = None) -> Depth:
        return Depth(self.trees, 1 + max(self.steps, other.steps if isinstance(other, Depth) else 0))

    def _plus(self, other: Any) -> Depth:
        terms = other.terms if isinstance(other, Depth) else (0,)
        return Depth(True, *self.terms, *terms) if self.trees else self._after(other)

    __add__ = __radd__ = __sub__ = __rsub__ = _plus
    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _after

    def __neg__(self) -> Depth:
        return self

    def sin(self) -> Depth:
        return self._after()

    cos = sin


@pytest.mark.parametrize("robot", ["planar2r", "puma560", "scara5"])
def test_span_is_between_what_scalars_that_count_their_steps_find(robot: str) -> None:
    """[WS-1], by running the program on scalars that carry their depth: sums as written, and every sum as a tree."""
    graph = armdyn.compile(armdyn.load(robot).without("friction")).graph("inverse_dynamics")

    def longest(trees: bool) -> int:
        values = {node: Depth(trees) for part in graph.inputs.values() for node in part}
        found = evaluate(graph.outputs["tau"], values)
        return max(x.steps for x in found if isinstance(x, Depth))

    assert longest(trees=True) <= span(graph.outputs) <= longest(trees=False)
    if robot == "puma560":  # long sums
        assert span(graph.outputs) < longest(trees=False)
    assert span(graph.outputs) < graph.operations.total
