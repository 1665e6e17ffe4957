"""Intermediate results of a derivation, one by one, against Pinocchio and against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

import armdyn
from armdyn.errors import ArmdynError, NotApplicable
from support import pinocchio_model as engine

NAMES = ("planar3r", "three_link", "scara5")


def evaluated(equations: Any, name: str, q: Any, qd: Any = None) -> Any:
    """An entry in numbers, at a state; of a matrix or vector its entries by indices."""
    values = dict(zip(equations.q, q, strict=True)) | equations.parameters
    values |= {} if qd is None else dict(zip(equations.qd, qd, strict=True))
    found = equations.entry(name)
    if isinstance(found, dict):
        return {indices: float(x.subs(values)) for indices, x in found.items()}
    return float(sympy.sympify(found).subs(values))


@pytest.fixture(scope="module", params=NAMES)
def case(request: pytest.FixtureRequest) -> Any:
    robot = armdyn.load(request.param).without("friction", "rotors")
    return robot, armdyn.derive(robot), *np.random.default_rng(3).uniform(-1, 1, (2, robot.n))


def slopes(robot: Any, q: Any, step: float = 1e-3) -> Any:
    """dM/dq [k][i][j] of Pinocchio, by differences of fourth order."""
    weights = {-2: 1, -1: -8, 1: 8, 2: -1}
    return np.array(
        [
            sum(w * engine.mass_matrix(robot, q + s * step * unit) for s, w in weights.items())
            for unit in np.eye(robot.n)
        ]
    ) / (12 * step)


def test_factors_of_products_of_rates(case: Any) -> None:
    robot, equations, q, _ = case
    dM = slopes(robot, q)
    for i, j, k in ((0, 1, 1), (1, 0, 2), (2, 1, 2), (1, 1, 0)):
        place = f"{i + 1}{j + 1}{k + 1}"
        assert evaluated(equations, f"h{place}", q) == pytest.approx(dM[k, i, j] - dM[i, j, k] / 2, abs=1e-8)
        christoffel = (dM[k, i, j] + dM[j, i, k] - dM[i, j, k]) / 2
        assert evaluated(equations, f"c{place}", q) == pytest.approx(christoffel, abs=1e-8)
    products = [(j, k) for j in range(robot.n) for k in range(j, robot.n)]
    for row, column in ((0, 1), (1, 2)):
        j, k = products[column]
        factor = (dM[k, row, j] + dM[j, row, k] - dM[row, j, k]) / 2 * (1 if j == k else 2)
        assert evaluated(equations, f"Gamma{row + 1},{column + 1}", q) == pytest.approx(factor, abs=1e-8)


def test_poses_and_jacobians(case: Any) -> None:
    """Of the tool's body; without a tool transform its frame is the tool's."""
    robot, equations, q, qd = case
    n = robot.n
    found = evaluated(equations, f"T{n}", q)
    T = np.array([[found.get(f"{a}{b}", 0.0) for b in range(1, 5)] for a in range(1, 4)])
    bare = armdyn.Robot.chain(robot, tip=robot.joints[-1].body.name)
    assert pytest.approx(engine.tool_pose(bare, q)[:3], abs=1e-12) == T
    spin = evaluated(equations, f"omega{n}", q, qd)
    w = engine.jacobian(bare, q)[3:] @ qd
    assert [spin.get(str(a), 0.0) for a in (1, 2, 3)] == pytest.approx(w, abs=1e-12)
    J, step = evaluated(equations, f"J{n}", q), 1e-4
    for j, unit in enumerate(np.eye(n), 1):
        ahead, behind = (evaluated(equations, f"p_C{n}", q + s * step * unit) for s in (1, -1))
        for a in (1, 2, 3):
            slope = (ahead.get(str(a), 0.0) - behind.get(str(a), 0.0)) / (2 * step)
            assert J.get(f"{a}{j}", 0.0) == pytest.approx(slope, abs=1e-7)


def test_energies(case: Any) -> None:
    robot, equations, q, qd = case
    M = engine.mass_matrix(robot, q)
    assert evaluated(equations, "kinetic", q, qd) == pytest.approx(qd @ M @ qd / 2)
    step, rest = 1e-5, np.zeros(robot.n)
    for j, unit in enumerate(np.eye(robot.n)):
        ahead, behind = (evaluated(equations, "potential", q + s * step * unit) for s in (1, -1))
        weight = engine.inverse_dynamics(robot, q, rest, rest)[j]
        assert (ahead - behind) / (2 * step) == pytest.approx(weight, abs=1e-6)


def test_rotors_are_in_the_kinetic_energy() -> None:
    equations = armdyn.derive(armdyn.load("planar2r"))
    twice = sum(equations.M[i, j] * equations.qd[i] * equations.qd[j] for i in (0, 1) for j in (0, 1))
    assert sympy.expand(2 * equations.entry("kinetic") - twice) == 0


@pytest.mark.parametrize(
    "name", ["h11", "c1123", "Gamma14", "T3", "T", "kinetic1", "omega0", "p_C", "x1", "M1,2,3", ""]
)
def test_what_is_no_entry(name: str) -> None:
    with pytest.raises(ArmdynError, match="no entry"):
        armdyn.derive(armdyn.load("planar2r")).entry(name)


def test_bodies_of_closed_chains_are_refused() -> None:
    with pytest.raises(NotApplicable, match="closed chain"):
        armdyn.derive(armdyn.load("parallelogram")).entry("T2")


def test_many_formats() -> None:
    document = armdyn.derive(armdyn.load("planar2r")).document("latex", entries=("T2", "kinetic", "Gamma12"))
    assert r"T_{2,11} &= c_{12}" in document.source
    assert r"\mathcal{T} &=" in document.source
    assert r"\Gamma_{12} &=" in document.source
    assert document.record()["T2"]["33"] == "1"
