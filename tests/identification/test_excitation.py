"""Excitation: gradients, limits, worth against random motions, resuming, predicted error bars."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

import armdyn
from armdyn.errors import ArmdynError, FileError, UnknownName
from armdyn.identification.excitation.criteria import condition, condition_number, determinant
from armdyn.identification.excitation.design import Design
from armdyn.identification.excitation.excite import ExcitationLimits, Search, excitation_limits, excite, predicted_std
from armdyn.identification.excitation.harmonics import Harmonics
from armdyn.identification.excitation.polynomials import Polynomials
from armdyn.mechanics import newton_euler
from armdyn.parameters import base_parameters
from support import pinocchio_model

TORQUES = [1500.0, 500.0]
FOUR: Any = {"harmonics": Harmonics(count=4, period=6.0), "search": Search(starts=1, iterations=60)}
"""Limits for planar2r, N m: its links weigh 50 kg each."""


def design_of(robot: armdyn.Robot, include: tuple[str, ...], harmonics: int = 3, period: float = 5.0) -> Design:
    limits, _ = excitation_limits(robot, ExcitationLimits())
    base = base_parameters(robot, include)
    return Design(base.robot, base, Harmonics(period=period, count=harmonics), limits, 40)


@pytest.mark.parametrize("rest", [True, False])
def test_samples_are_linear_in_the_free_numbers(rest: bool) -> None:
    kind = Harmonics(period=7.0, count=4, rest=rest)
    x = np.random.default_rng(0).normal(size=(3, kind.size))
    motion = kind.motion(x)
    t = np.linspace(0, 7, 9)
    for order, S in enumerate(kind.sampling(t)):
        np.testing.assert_allclose(S @ x.T, motion(t, order), atol=1e-12)
    if rest:
        for end in (0.0, 7.0):
            assert np.abs(motion(end, 1)).max() < 1e-12 and np.abs(motion(end, 2)).max() < 1e-11
    else:
        assert kind.size == 1 + 2 * 4


@pytest.mark.parametrize("rest", [True, False])
def test_polynomials_are_periodic_splines(rest: bool) -> None:
    """[PE-1] against SciPy's periodic spline through the same positions, and its derivatives."""
    kind = Polynomials(count=9, period=4.5, rest=rest)
    assert kind.size == 9 - 2 * rest
    x = np.random.default_rng(3).normal(size=(2, kind.size))
    motion, knots, t = kind.motion(x), np.linspace(0, 4.5, 10), np.linspace(0, 4.4, 37)
    spline = make_interp_spline(knots, motion(knots), k=5, bc_type="periodic")
    for order, S in enumerate(kind.sampling(t)):
        np.testing.assert_allclose(S @ x.T, spline(t, order), atol=1e-10)
        np.testing.assert_allclose(motion(t, order), spline(t, order), atol=1e-10)
    for order in (1, 2) if rest else ():
        assert np.abs(motion([0.0, 4.5], order)).max() < 1e-12
    more = kind.repeated(motion, 2.5)
    assert more.duration == 2.5 * 4.5
    np.testing.assert_allclose(more(4.5 + t), motion(t), atol=1e-12)
    still = kind.motion(np.column_stack([[0.3, -0.7], np.zeros((2, kind.size - 1))]))
    np.testing.assert_allclose(still(t), np.tile([0.3, -0.7], (37, 1)), atol=1e-12)


def test_parameters_from_a_polynomial_motion(tmp_path: Path) -> None:
    """Least squares with Pinocchio's torques along the optimised motion; better than random ones, within limits."""
    pytest.importorskip("pinocchio")
    robot = armdyn.load("planar2r").without("friction", "rotors")
    resume = tmp_path / "progress.json"
    kind, search = Polynomials(count=8, period=5.0), Search(starts=1, iterations=25)
    found = excite(robot, include=("inertial",), harmonics=kind, search=search, resume=resume)
    assert found.feasibility.holds and "8 quintic polynomials" in str(found)
    rng = np.random.default_rng(1)
    random = [condition_number(found.design.observation(kind.motion(found.design.random(rng)))) for _ in range(8)]
    assert found.condition < 0.8 * min(random)
    t = np.linspace(0, 5, 60)
    q, qd, qdd = (found.motion(t, order) for order in range(3))
    tau = np.array([pinocchio_model.inverse_dynamics(robot, *state) for state in zip(q, qd, qdd, strict=True)])
    W = found.base.regressor(q, qd, qdd).reshape(-1, found.base.count)
    np.testing.assert_allclose(np.linalg.lstsq(W, tau.ravel())[0], found.base.values, rtol=1e-8, atol=1e-8)
    with pytest.raises(FileError):  # a search for another kind of motion is another problem
        excite(robot, include=("inertial",), harmonics=Harmonics(count=8, period=5.0), search=search, resume=resume)


def test_criteria_are_those_of_the_matrix() -> None:
    W = np.random.default_rng(1).normal(size=(30, 6)) * np.array([1, 2, 5, 0.5, 1, 3])
    eigenvalues = np.linalg.eigvalsh(W.T @ W)
    assert condition(eigenvalues, 2000.0)[0] == pytest.approx(np.log(np.linalg.cond(W)), rel=1e-3)  # its limit
    assert determinant(eigenvalues, 1.0)[0] == pytest.approx(-np.linalg.slogdet(W.T @ W)[1] / 12, rel=1e-12)
    assert condition_number(W) == pytest.approx(np.linalg.cond(W), rel=1e-12)


@pytest.mark.parametrize("criterion", ["condition", "D"])
@pytest.mark.parametrize("name", ["puma560", "random"])
def test_gradient_is_that_of_central_differences(criterion: str, name: str) -> None:
    robot = armdyn.load(name) if name != "random" else armdyn.random_robot(4, n=4)
    design = design_of(robot, ("inertial", "rotor", "friction"))
    rng = np.random.default_rng(2)
    x = design.random(rng, 0.8)
    _, slope = design.objective(x, criterion, 3.0, 1e-2)
    for _ in range(3):
        way = rng.normal(size=x.shape)
        h = 1e-5 if name == "puma560" else 3e-4
        up, down = (design.objective(x + sign * h * way, criterion, 3.0, 1e-2)[0] for sign in (1, -1))
        # The eigenvalues of W^T W of the random robot span 2e8: the smallest is rounded by 1e-8 of itself, and a
        # difference of logarithms over 2 h by 1e-8 / (h p). The objective of puma560 is rounded less and bends more.
        assert (slope * way).sum() == pytest.approx((up - down) / (2 * h), rel=2e-4, abs=1e-5)


def test_random_opponents_fill_their_limits() -> None:
    design = design_of(armdyn.load("panda"), ("inertial",))
    rng = np.random.default_rng(3)
    uses = [design.use(design.random(rng)) for _ in range(20)]
    assert max(uses) <= 1 + 1e-9 and min(uses) > 0.999


@pytest.fixture(scope="module")
def planar() -> armdyn.identification.excitation.excite.Excitation:  # type: ignore[name-defined]
    return excite(armdyn.load("planar2r"), **FOUR, limits=ExcitationLimits(tau_max=TORQUES))


def test_better_than_the_best_of_random_motions() -> None:
    """A budget of seconds; benchmarks/excitation.py has the figures of a full one (more than 5 times)."""
    robot = armdyn.load("panda")
    found = excite(robot, include=("inertial",), harmonics=Harmonics(count=6), search=Search(starts=1, iterations=30))
    rng = np.random.default_rng(0)
    harmonics = found.design.harmonics
    random = [found.design.observation(harmonics.motion(found.design.random(rng))) for _ in range(30)]
    assert found.condition * 2.5 < min(map(condition_number, random))
    assert found.feasibility.holds


def test_limits_hold_on_another_grid_by_another_formula(planar) -> None:  # type: ignore[no-untyped-def]
    robot, motion, limits = planar.robot, planar.motion, planar.design.limits
    t = np.sort(np.random.default_rng(4).uniform(0, motion.duration, 3000))
    q, qd, qdd = (motion(t, order) for order in range(3))
    tau = np.asarray(newton_euler.inverse_dynamics(robot, q, qd, qdd))
    between = 1 + 1e-9  # the finished motion keeps clear of what may happen between its own samples
    assert (q <= limits.upper * between).all() and (q >= limits.lower * between).all()
    assert (np.abs(qd) <= limits.velocity * between).all() and (np.abs(qdd) <= limits.acceleration * between).all()
    assert (np.abs(tau) <= limits.tau_max * between).all()
    assert np.abs(motion([0.0, motion.duration], 1)).max() < 1e-12
    assert any("velocity" in note for note in planar.notes)  # none is known of this robot: it says what it took


def test_determinant_criterion_shrinks_the_ellipsoid(planar) -> None:  # type: ignore[no-untyped-def]
    other = excite(planar.robot, criterion="D", **FOUR, limits=ExcitationLimits(tau_max=TORQUES))
    volumes = [np.linalg.slogdet(e.observation.T @ e.observation)[1] for e in (other, planar)]
    assert volumes[0] > volumes[1]


def test_interrupted_work_goes_on_to_the_same_end(tmp_path: Path, planar) -> None:  # type: ignore[no-untyped-def]
    class Interrupted(Exception):
        pass

    def stop(text: str, done: float) -> None:
        if "stage 3" in text:
            raise Interrupted

    file = tmp_path / "search.json"
    with pytest.raises(Interrupted):
        excite(planar.robot, resume=file, progress=stop, **FOUR, limits=ExcitationLimits(tau_max=TORQUES))
    assert json.loads(json.loads(file.read_text())["content"])["stage"] == 2  # two stages are behind it
    again = excite(planar.robot, resume=file, **FOUR, limits=ExcitationLimits(tau_max=TORQUES))
    t = np.linspace(0, again.motion.duration, 7)
    np.testing.assert_array_equal(again.motion(t), planar.motion(t))
    with pytest.raises(FileError, match="another seed"):
        excite(
            planar.robot,
            resume=file,
            harmonics=FOUR["harmonics"],
            search=Search(starts=1, iterations=60, seed=5),
            limits=ExcitationLimits(tau_max=TORQUES),
        )
    file.write_text("{}")
    with pytest.raises(FileError, match="not a progress file"):
        excite(planar.robot, resume=file, **FOUR, limits=ExcitationLimits(tau_max=TORQUES))


def test_time_ends_the_search_with_the_best_so_far() -> None:
    found = excite(
        armdyn.load("planar2r"), harmonics=Harmonics(count=3, period=6.0), search=Search(starts=50, seconds=0.5)
    )
    assert 1 <= len(found.starts) < 50
    assert found.feasibility.holds


def test_predicted_deviations_are_those_of_repeated_identification(planar) -> None:  # type: ignore[no-untyped-def]
    base, motion, noise = planar.base, planar.motion, np.array([0.3, 0.1])
    predicted = predicted_std(base, motion, noise, rate=20.0)
    t = np.arange(0, motion.duration, 1 / 20)
    W = base.regressor(motion(t), motion(t, 1), motion(t, 2)).reshape(-1, base.count)
    weights = np.tile(1 / noise, len(t))
    rng = np.random.default_rng(5)
    errors = rng.normal(size=(len(W), 4000))  # in units of sigma
    estimates = np.linalg.lstsq(W * weights[:, None], errors, rcond=None)[0]
    # A standard deviation from 4000 draws is known to 1/sqrt(8000) = 1.1 %; 5 % is more than four of these.
    np.testing.assert_allclose(predicted.std, estimates.std(axis=1), rtol=0.05)
    np.testing.assert_allclose(np.corrcoef(estimates), _correlations(predicted.covariance), atol=0.08)
    assert predicted.section().rows[0][0] == base.names[0]


def _correlations(covariance: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    s = np.sqrt(np.diag(covariance))
    return covariance / np.outer(s, s)


def test_more_samples_shrink_the_error_bars_by_their_root(planar) -> None:  # type: ignore[no-untyped-def]
    once, often = (predicted_std(planar.base, planar.repeated(k), 0.2, rate=50.0).std for k in (1, 4))
    np.testing.assert_allclose(once, 2 * often, rtol=1e-6)


def test_errors() -> None:
    robot = armdyn.load("pendulum")
    with pytest.raises(UnknownName, match="criterion"):
        excite(robot, criterion="E")
    with pytest.raises(ArmdynError, match="at least 2"):
        excite(robot, harmonics=Harmonics(count=1))
    with pytest.raises(ArmdynError, match="no random motion keeps the limits"):
        excite(robot, harmonics=Harmonics(count=3), limits=ExcitationLimits(tau_max=1e-6))
    with pytest.raises(ArmdynError, match="does not determine"):
        predicted_std(robot, armdyn.trajectory.hold([0.1], 1.0), 0.1)
