"""Elimination over any scalar: regular, singular, overdetermined; batches, rationals, symbols, dual numbers."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq

import armdyn
from armdyn.algebra import Dual, dot_of
from armdyn.algebra.elimination import eliminate, inverse, solve
from armdyn.graph import evaluate, symbols


def test_against_numpy() -> None:
    rng = np.random.default_rng(0)
    for n in range(1, 7):
        A, B = rng.normal(size=(n, n)), rng.normal(size=(n, 2))
        assert np.array(solve(A.tolist(), B.tolist())) == pytest.approx(np.linalg.solve(A, B), rel=1e-9)
        assert np.array(inverse(A.tolist())) == pytest.approx(np.linalg.inv(A), rel=1e-9)


def test_rank_and_contradiction() -> None:
    A = [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 1.0], [1.0, 3.0, 4.0]]
    found = eliminate(A, [[1.0], [2.0], [0.0], [1.0]])
    assert len(found.pivots) == 2
    assert all(abs(x) < 1e-12 for rest in found.rest.values() for x in rest)
    contradiction = eliminate(A, [[1.0], [2.0], [0.0], [5.0]])
    assert max(abs(x) for rest in contradiction.rest.values() for x in rest) > 0.1
    with pytest.raises(armdyn.ArmdynError, match="rank 1"):
        solve([[1.0, 2.0], [2.0, 4.0]], [[1.0], [2.0]])


def test_other_scalars() -> None:
    thirds = inverse([[fmpq(3), fmpq(1)], [0, fmpq(1, 3)]])
    assert thirds == [[fmpq(1, 3), fmpq(-1)], [0, 3]]
    a, b = symbols("a b")
    X = solve([[0, a], [b, 1]], [[1], [0]])
    values = evaluate([row[0] for row in X], {"a": 2.0, "b": 5.0})
    assert np.array(values, float) == pytest.approx([-0.1, 0.5])
    x = solve([[Dual(2.0, 1.0)]], [[1.0]])[0][0]
    assert dot_of(x) == pytest.approx(-0.25)
    batch = np.array([1.0, 2.0, 4.0])
    assert solve([[batch, 0], [1.0, batch]], [[batch], [1.0]])[1][0] == pytest.approx([0, 0, 0])
