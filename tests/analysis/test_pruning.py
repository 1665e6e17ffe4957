"""Reduced models: the proven bound against samples, exact interval arithmetic and Pinocchio; the ranking of terms."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.analysis import MotionBox, box_around, motion_box, prune, significance
from armdyn.analysis.error_bound import _axis, _rounding, error_bound, fine_enough
from armdyn.analysis.worst_rates import error_at_corners, largest_error, worst_corner
from armdyn.errors import FeatureError, ShapeError
from armdyn.graph import Graph, closed_form, evaluate, symbols, trace
from support import pinocchio_model
from support.limits import FULL


def errors(found: Any, q: Any, qd: Any, qdd: Any) -> Any:
    dyn = armdyn.compile(found.robot.without("friction"))
    return np.abs(dyn.inverse_dynamics(q, qd, qdd) - found.inverse_dynamics(q, qd, qdd))


def boxed(low: float, high: float, n: int = 1) -> MotionBox:
    return MotionBox(np.full(n, low), np.full(n, high), np.ones(n), np.ones(n), np.ones(n, dtype=bool))


@pytest.fixture(scope="module")
def puma() -> Any:
    return prune(armdyn.load("puma560"))


@pytest.mark.parametrize("seed", [1, 2, 5, 8])
def test_no_motion_of_a_random_robot_exceeds_the_bound(seed: int) -> None:
    robot = armdyn.random_robot(seed, n=3)
    found = prune(robot, "5%", box=motion_box(robot, v_max=2.0, a_max=5.0), factor=1.1)
    assert (found.bound <= found.tolerance).all()
    assert found.operations.total <= found.full.operations.total
    motions = found.box.samples(200_000 if FULL else 20_000, np.random.default_rng(seed))
    largest = np.maximum(errors(found, *motions).max(axis=0), found.certificate.found)
    rounding = 1e-12 * found.tolerance  # of the sums in the two programs
    assert (largest <= found.bound + rounding).all()
    dropped = largest > 1e-3 * found.tolerance
    assert (found.bound <= 1.5 * largest)[dropped].all()


def test_puma560_at_one_percent(puma: Any) -> None:
    """At most 1.5 times the largest error of 10^6 motions and of the search. Armstrong's model has 305 operations."""
    np.testing.assert_allclose(puma.tolerance, [0.976, 1.864, 0.894, 0.242, 0.201, 0.213])
    count = puma.operations
    assert count.multiplications + count.additions < 305 / 2
    motions = puma.box.samples(1_000_000, np.random.default_rng(7))
    largest = np.maximum(errors(puma, *motions).max(axis=0), puma.certificate.found)
    assert (largest <= puma.bound).all() and (puma.bound <= puma.tolerance).all()
    assert (puma.bound <= 1.5 * largest).all()
    worst = np.diagonal(errors(puma, *puma.certificate.worst))
    np.testing.assert_allclose(worst, puma.certificate.found, atol=1e-12)  # rounding of torques of 100 N m


@pytest.mark.skipif(not FULL, reason="takes a minute; set ARMDYN_FULL=1")
def test_panda_at_one_percent() -> None:
    """Seven joints, and the same closeness: 19 million points, rates at their worst, 10^6 motions and a search."""
    found = prune(armdyn.load("panda"))
    motions = found.box.samples(1_000_000, np.random.default_rng(7))
    largest = np.maximum(errors(found, *motions).max(axis=0), found.certificate.found)
    assert (largest <= found.bound + 1e-12).all() and (found.bound <= found.tolerance).all()
    assert (found.bound <= 1.5 * largest).all()
    assert found.operations.total < 0.9 * found.full.operations.total


@pytest.mark.parametrize("n", [1, 3, 6, 12])
def test_worst_rates_against_many_rates(n: int) -> None:
    """[PR-5] against random rates and a search with all of them free; twelve joints are beyond trying all signs."""
    rng = np.random.default_rng(n)
    for _ in range(5):
        A, F, c = rng.standard_normal(n), np.triu(rng.standard_normal((n, n))), np.asarray(rng.standard_normal())
        x = rng.choice((-1.0, 1.0), (5000, n)) * rng.uniform(0.5, 1, (5000, n)) ** rng.integers(0, 2, (5000, 1))
        sampled = np.abs(A).sum() + np.abs(np.einsum("sj,jk,sk->s", x, F, x) + c).max()
        bound, corner = float(largest_error(A, F, c)), float(error_at_corners(A, F, c))
        best, sign = worst_corner(F, float(c))
        reached = np.abs(A).sum() + sign * (best @ F @ best + c)
        assert np.abs(best).max() <= 1 and sampled <= bound + 1e-12 and reached <= bound + 1e-12
        if n <= 6:
            assert corner <= reached + 1e-12 and reached >= sampled - 1e-12
            assert bound <= 1.3 * reached  # squares with the wrong sign are all that is between them


def test_the_reduced_model_is_faster_than_the_full_one(puma: Any) -> None:
    """By operations: beside the function that users call, and not only the program that was reduced."""
    full = armdyn.compile(puma.robot.without("friction")).operations("inverse_dynamics")
    assert puma.operations.total < 0.6 * full.total


def test_the_reduced_puma560_stays_within_the_bound_of_pinocchio(puma: Any) -> None:
    pytest.importorskip("pinocchio")
    robot = puma.robot.without("friction")
    q, qd, qdd = puma.box.samples(500, np.random.default_rng(3))
    rotors = np.array([float(joint.rotor.ratio) ** 2 * float(joint.rotor.inertia) for joint in robot.joints])
    exact = rotors * qdd + np.array(
        [pinocchio_model.inverse_dynamics(robot, *state) for state in zip(q, qd, qdd, strict=True)]
    )
    error = np.abs(exact - puma.inverse_dynamics(q, qd, qdd)).max(axis=0)
    assert (error <= puma.bound).all() and (error >= 0.1 * puma.bound).all()  # a bound, and not of another model


def test_the_equations_of_the_reduced_model_are_its_program(puma: Any) -> None:
    q, qd, qdd = (each[0] for each in puma.box.samples(1, np.random.default_rng(4)))
    eq = puma.equations
    terms = eq.lambdify("M")(q) @ qdd + eq.lambdify("C")(q, qd) @ qd + eq.lambdify("g")(q)
    np.testing.assert_allclose(terms, puma.inverse_dynamics(q, qd, qdd), rtol=1e-9, atol=1e-9)
    assert "M11" in str(eq)


def test_prismatic_joints_and_branches() -> None:
    robot = armdyn.random_robot(11, n=4, branching=0.5)
    assert any(joint.kind == "prismatic" for joint in robot.joints)
    found = prune(robot, "10%")
    motions = found.box.samples(100_000, np.random.default_rng(0))
    assert (errors(found, *motions).max(axis=0) <= found.bound + 1e-12 * found.tolerance).all()


# The theorem behind the proof ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("half", [0.2, 1.0, 2.5, 3.1, 4.0])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_trigonometric_polynomials_cannot_peak_between_the_points(half: float, degree: int) -> None:
    """Random polynomials, and that which is extremal: its largest value lies just between two points."""
    box = boxed(0.3 - half, 0.3 + half)
    rng = np.random.default_rng(degree)
    x = np.linspace(0.3 - half, 0.3 + half, 2001)
    tight = 0.0
    for _ in range(200 if FULL else 60):
        a, b = rng.standard_normal((2, degree + 1)) / (1 + np.arange(degree + 1)) ** rng.uniform(-3, 3)

        def value(at: Any, a: Any = a, b: Any = b) -> Any:
            k = np.arange(len(a))
            return np.abs(np.cos(np.multiply.outer(at, k)) @ a + np.sin(np.multiply.outer(at, k)) @ b)

        grid = fine_enough(box, np.array([[degree]]), 1.2)
        bound = grid.factors[0] * value(_axis(box, 0, grid.points)).max()
        assert value(x).max() <= bound
        tight = max(tight, value(x).max() / bound)
    assert tight > 1 / 1.2  # there are polynomials that rise above all values on the grid


def test_the_bound_against_interval_arithmetic() -> None:
    """Balls of arb over a subdivision of the box enclose the largest error of given rates: no sample is involved."""
    from flint import arb

    robot = armdyn.load("three_link")
    box = motion_box(robot, v_max=2.0, a_max=3.0)
    found = prune(robot, "5%", box=box)
    inputs, row = found.full.inputs, 2
    error = closed_form(found.full.outputs["tau"][row] - found.graph.outputs["tau"][row])
    _, qd, qdd = (each[row] for each in found.certificate.worst)
    rates = dict(zip((*inputs["qd"], *inputs["qdd"]), map(arb, (*qd.tolist(), *qdd.tolist())), strict=True))
    pieces = 48
    edges = [np.linspace(a, b, pieces + 1) for a, b in zip(box.lower, box.upper, strict=True)]
    highest = 0.0
    for k in product(range(pieces), repeat=2):
        q = [arb(0.0)]
        for edge, piece in zip(edges[1:], k, strict=True):
            low, high = float(edge[piece]), float(edge[piece + 1])
            q.append(arb((low + high) / 2, (high - low) / 2 * (1 + 1e-12)))
        value = _in_balls(error, dict(zip(inputs["q"], q, strict=True)) | rates)
        highest = max(highest, float(abs(value).upper()))
    assert found.certificate.found[row] <= highest  # the enclosure holds what was found
    assert highest <= 1.25 * found.bound[row]  # and with this subdivision it is at most a quarter wider than the proof
    assert found.bound[row] >= found.certificate.found[row]


def _in_balls(error: Any, values: dict[Any, Any]) -> Any:
    from flint import arb

    from armdyn.graph import ordered
    from armdyn.graph.node import ADD, CONST, COS, MUL, NEG, SIN, SUB, SYMBOL

    result: dict[Any, Any] = {}
    for node in ordered(error):
        x = [result[arg] for arg in node.args]
        if node.op == SYMBOL:
            result[node] = values[node]
        elif node.op == CONST:
            result[node] = arb(float(node.value))
        else:
            rules = {ADD: lambda x: x[0] + x[1], SUB: lambda x: x[0] - x[1], MUL: lambda x: x[0] * x[1],
                     NEG: lambda x: -x[0], SIN: lambda x: x[0].sin(), COS: lambda x: x[0].cos()}  # fmt: skip
            result[node] = rules[node.op](x)
    return result[error]


def test_rounding_is_bounded() -> None:
    """Against exact rationals: the error of a program that cancels is within the static bound, and not absurdly so."""
    from fractions import Fraction

    graph = trace(lambda q: [(q[0] * q[1] + 1e3) * 0.1 - 100 - q[0] * 0.3], {"q": 2})
    graph = Graph(graph.inputs, {"h": graph.outputs["out"]})
    box = boxed(-2.0, 2.0, n=2)
    bound = float(_rounding(graph, box)[0])
    worst = 0.0
    for q in np.random.default_rng(0).uniform(-2, 2, (500, 2)):
        near = graph(q=q)["h"][0]
        exact = evaluate(graph.outputs["h"][0], dict(zip(graph.inputs["q"], map(Fraction, q.tolist()), strict=True)))
        worst = max(worst, abs(float(Fraction(near) - exact)))
    assert 0 < worst <= bound <= 1e3 * worst


def test_errors_that_are_zero_have_the_bound_zero() -> None:
    q, qd, qdd = symbols("q1"), symbols("qd1"), symbols("qdd1")
    box = boxed(-1.0, 1.0)
    found = error_bound([q[0] * 0], {"q": q, "qd": qd, "qdd": qdd}, box)
    assert found.bound[0] == found.found[0] == 0


# The ranking --------------------------------------------------------------------------------------------------------


def test_terms_are_those_of_the_model() -> None:
    robot = armdyn.random_robot(4, n=4)
    dyn = armdyn.compile(robot.without("friction"))
    found = significance(robot)
    q, qd, _ = motion_box(robot).samples(20, np.random.default_rng(1))
    D, h, c = found.coefficients(q)
    np.testing.assert_allclose(D, dyn.mass_matrix(q), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(c, dyn.gravity(q), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.einsum("sikm,sk,sm->si", h, qd, qd), dyn.coriolis(q, qd), rtol=1e-9, atol=1e-9)


def test_reasons_for_zero_terms() -> None:
    found = {term.name: term for term in significance(armdyn.load("puma560")).terms}
    assert found["h111"].vanishes == found["h333"].vanishes == "always"
    assert found["c1"].vanishes == "design"  # the waist is vertical
    assert found["D12"].vanishes == "at some configurations"
    assert found["D11"].vanishes == "" and found["D11"].share == 1


def test_ranking_along_a_motion() -> None:
    robot = armdyn.load("puma560")
    motion = armdyn.point_to_point(np.zeros(6), [0, 0.5, -0.5, 0, 0, 0], v_max=1.0, a_max=2.0)
    t = np.linspace(0, motion.duration, 50)
    samples = [motion(t, k) for k in range(3)]
    found = {term.name: term for term in significance(robot, motion=samples).terms}
    assert found["D11"].largest == 0  # the waist does not move
    M = armdyn.compile(robot).mass_matrix(samples[0])
    assert math.isclose(found["D22"].largest, np.abs(M[:, 1, 1] * samples[2][:, 1]).max(), rel_tol=1e-9)
    box = box_around(robot, *samples)
    assert box.velocity[0] == 0 and box.upper[1] == samples[0][:, 1].max()


def test_bad_input() -> None:
    robot = armdyn.load("planar2r")
    with pytest.raises(ShapeError, match="between 0 and 100 %"):
        prune(robot, "150%")
    with pytest.raises(ShapeError, match="tolerance"):
        prune(robot, [1.0, -1.0])
    with pytest.raises(armdyn.ArmdynError, match="larger than 1"):
        prune(robot, factor=1)
    with pytest.raises(ShapeError, match="q_range"):
        motion_box(robot, q_range=([0, 0], [-1, 1]))
    with pytest.raises(FeatureError):
        prune(armdyn.load("parallelogram"))
