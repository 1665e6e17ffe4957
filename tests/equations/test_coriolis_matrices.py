"""Coriolis matrices side by side, and work and span of the formulations."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import armdyn
from armdyn.equations import compare, coriolis_matrices
from armdyn.graph import span, symbols
from armdyn.mechanics.coriolis_matrices import MATRICES
from support import pinocchio_model

SKEW = ("Christoffel symbols", "Kronecker products", "beta and zeta", "recursive, composite bodies",
        "Newton-Euler in link frames, made skew", "Newton-Euler at centres of mass",
        "symmetric part alone, Mdot/2")  # fmt: skip


@pytest.mark.parametrize("seed", [2, 3, 7])
def test_which_matrices_are_skew(seed: int) -> None:
    """Mdot by differences of Pinocchio's mass matrix, torques by its Newton-Euler: neither is ours."""
    pytest.importorskip("pinocchio")
    robot = armdyn.random_robot(seed, n=5, prismatic=0.4).without("friction", "rotors")
    assert any(not link.revolute for link in robot.links)
    q, qd = np.random.default_rng(seed).uniform(-1, 1, (2, 5))
    step = 1e-5
    ends = [pinocchio_model.mass_matrix(robot, q + side * step * qd) for side in (1, -1)]
    Mdot = (ends[0] - ends[1]) / (2 * step)
    torques = [pinocchio_model.inverse_dynamics(robot, q, rate, 0 * q) for rate in (qd, 0 * q)]
    scale = np.abs(Mdot).max()
    for name, (_, function) in MATRICES.items():
        C = function(robot, q, qd)
        wrong = np.abs(C @ qd - torques[0] + torques[1]).max() / scale
        assert (wrong > 1e-3) if name == SKEW[-1] else (wrong < 1e-9), name
        defect = np.abs(Mdot - C - C.T).max() / scale
        assert (defect < 1e-7) if name in SKEW else (defect > 1e-3), name  # 1e-7: differences with steps of 1e-5
    assert {matrix.name for matrix in coriolis_matrices(robot) if matrix.skew} == set(SKEW)


def test_the_skew_matrices_are_not_all_the_same() -> None:
    """Christoffel's is one of many: those of Newton and Euler are others on an arm of four skew axes."""
    robot = armdyn.random_robot(4, n=4).without("friction", "rotors")
    q, qd = np.random.default_rng(1).uniform(-1, 1, (2, 4))
    first, *others = (MATRICES[name][1](robot, q, qd) for name in SKEW)
    for other in others[:3]:
        np.testing.assert_allclose(other, first, atol=1e-9 * np.abs(first).max())
    for one, other in combinations((first, *others[3:]), 2):
        assert np.abs(one - other).max() > 1e-3 * np.abs(first).max()


def test_span_is_the_longest_chain() -> None:
    x, y = symbols("x y")
    assert span(x) == 0
    assert span((x * y + x, -(x * y))) == 2
    total = x
    for _ in range(10):
        total = total * total + y
    assert span(total) == 20


def test_recursions_have_little_work_and_long_chains() -> None:
    """Newton-Euler has the least work and, per operation, the longest chain."""
    rows = {row.formulation.name: row for row in compare(armdyn.load("puma560")).rows}
    work = {name: row.operations.total for name, row in rows.items()}
    assert min(work, key=lambda name: work[name]) == "newton_euler"
    share = {name: row.span / work[name] for name, row in rows.items()}
    assert max(share, key=lambda name: share[name]) == "newton_euler"
    assert rows["newton_euler"].span > rows["dalembert"].span
