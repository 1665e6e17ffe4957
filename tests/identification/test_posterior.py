"""The convex estimator: its minimum, its barriers, and simulated arms whose truth is known."""

import numpy as np
import pytest

import armdyn
from armdyn.identification.fit.posterior import ROBOT_TERMS, Problem
from armdyn.identification.fit.rows import TERMS, TorqueRows
from armdyn.identification.log.log import Log
from armdyn.identification.log.processing import process
from armdyn.parameters import physical_consistency, standard_parameters, with_standard_parameters
from armdyn.parameters.barrier import Barrier, minimised, prior_bodies
from support import logs

FAMILIES = ("inertial", "rotor", "friction", "offset")


def bodies(seed: int, count: int = 3) -> np.ndarray:
    """(count, 10) parameters of solid random bodies."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(count):
        points, mass = rng.normal(size=(8, 3)) * 0.2, rng.uniform(0.1, 1, 8)
        second = (points * mass[:, None]).T @ points
        tensor = np.trace(second) * np.eye(3) - second
        found.append([*tensor[np.triu_indices(3)], *(mass @ points), mass.sum()])
    return np.array(found)


@pytest.mark.parametrize("seed", range(3))
def test_gradient_and_hessian_of_the_barriers_are_its_derivatives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    barrier = Barrier(np.arange(30).reshape(3, 10), bodies(seed), np.array([31, 33]), np.array([0.5, 2.0]))
    x = np.concatenate([bodies(seed + 7).ravel(), rng.uniform(0.5, 2, 5)])
    gradient, hessian = barrier.expansion(x)
    for direction in rng.normal(size=(4, len(x))):
        step = 1e-5 * direction * np.maximum(np.abs(x), 1e-3)
        slope = barrier.value(x + step) - barrier.value(x - step)
        assert slope / 2 == pytest.approx(gradient @ step, rel=1e-5, abs=1e-10)
        change = barrier.expansion(x + step)[0] - barrier.expansion(x - step)[0]
        assert change / 2 == pytest.approx(hessian @ step, rel=1e-4, abs=1e-4 * np.abs(hessian @ step).max())


def test_without_data_the_minimum_is_the_model() -> None:
    barrier = Barrier(np.arange(30).reshape(3, 10), bodies(0), np.array([30]), np.array([0.5]))
    x, _ = minimised(np.zeros((31, 31)), np.zeros(31), barrier, np.concatenate([bodies(5).ravel(), [3.0]]))
    assert x[:30].reshape(3, 10) == pytest.approx(bodies(0), rel=1e-4, abs=1e-6)
    assert x[30] == pytest.approx(0.5, rel=1e-4)


def test_data_that_ask_for_a_negative_mass_get_a_small_positive_one() -> None:
    barrier = Barrier(np.arange(10).reshape(1, 10), bodies(0, 1), np.zeros(0, dtype=int), np.zeros(0))
    H = np.diag([0.0] * 9 + [1e8])
    x, _ = minimised(H, H @ np.array([0.0] * 9 + [-1.0]), barrier, bodies(0, 1).ravel())
    J = np.linalg.eigvalsh(armdyn.parameters.consistency.pseudo_inertia(armdyn.algebra.Inertia.from_parameters(*x)))
    assert 0 < x[9] < 1e-3 and (J > 0).all()


def test_a_model_without_mass_or_extent_is_made_solid() -> None:
    light = np.zeros((2, 10))
    light[0, 9] = 5.0
    for body in prior_bodies(light):
        values = {f"{kind}1": x for kind, x in zip(armdyn.parameters.standard.INERTIAL, body, strict=True)}
        assert physical_consistency(values).solid


@pytest.mark.parametrize("name", ["planar2r", "puma560", "random"])
def test_a_simulated_arm_is_found_with_physically_consistent_bodies(name: str) -> None:
    """Torques on another motion within the noise of 2 %, from bodies that were wrong by 25 %; nothing is impossible."""
    truth = logs.rubbing(name)
    rng = np.random.default_rng(3)
    known = standard_parameters(truth, ("inertial",)).as_dict()
    wrong = {key: float(x) * (1 + 0.25 * rng.uniform(-1, 1)) for key, x in known.items() if key[0] == "M"}
    start = with_standard_parameters(truth, wrong).without("friction")
    problem = Problem.simple(TorqueRows.of(start, FAMILIES, process(logs.simulated(truth), start)))
    rows, x = problem.rows, problem.solution.x
    found = dict(zip(rows.names, x[: len(rows.names)].tolist(), strict=True))
    robot = with_standard_parameters(start, {k: v for k, v in found.items() if not k.startswith("F")})
    own = x[len(rows.names) :].reshape(rows.shape)
    friction = {f"{kind}{j + 1}": own[j, i] for j in range(truth.n) for i, kind in enumerate(("Fv", "Fc"))}
    robot = with_standard_parameters(robot, friction)
    assert physical_consistency(robot).solid
    assert min([*friction.values(), *(v for k, v in found.items() if k.startswith("Ia"))]) > 0
    course = logs.excitation(truth, 7)
    t = np.arange(0, 10, 0.01)
    motion = [course(t, order) for order in range(3)]
    real, ours = (armdyn.compile(each).inverse_dynamics(*motion) for each in (truth, robot))
    fast = np.abs(motion[1]) > 0.1  # the sign of slow joints is rounded in the one and not in the other
    error = [np.sqrt(((ours - real)[m, j] ** 2).mean() / (real[m, j] ** 2).mean()) for j, m in enumerate(fast.T)]
    assert max(error) < 0.02, error


def test_terms_that_the_torques_do_not_need_shrink_to_nothing() -> None:
    """Friction of another width is found among the widths; no presliding and no load are."""
    truth = logs.rubbing("planar2r")
    rows = TorqueRows.of(truth, FAMILIES, process(logs.simulated(truth), truth))
    problem = Problem.simple(rows).with_terms(ROBOT_TERMS)
    terms = problem.solution.x[len(rows.names) :].reshape(rows.shape)
    presliding, load = (np.isin(TERMS, [group]) for group in ("presliding", "load"))
    assert (np.abs(terms[:, presliding]).max(axis=1) < 0.03 * terms[:, 1]).all()
    assert np.abs(terms[:, load]).max() < 0.01


@pytest.mark.parametrize("moving", [(1.0, 1.0), (1.0, 0.0)])
def test_what_the_motion_does_not_excite_is_filled_by_the_model(moving: tuple[float, float]) -> None:
    """No torque of a planar arm depends on XX, YY and MZ; of a joint that never moves on even less: none is refused.

    The other parameters of a body follow its ZZ, which shares what is there with Ia as the priors like it: with both
    joints moving to 5 %, with one at rest, where link 2 may stand for link 1, to 50 %.
    """
    truth = logs.rubbing("planar2r")
    t = np.arange(0, 10, 0.004)
    q, qd, qdd = (logs.excitation(truth, 3)(t, order) * moving for order in range(3))
    tau = armdyn.compile(truth).inverse_dynamics(q, qd, qdd)
    rows = TorqueRows.of(truth, FAMILIES, process(Log(t, q, tau), truth))
    found, model = Problem.simple(rows).solution, standard_parameters(truth).as_dict()
    for kind in ("XX1", "YY1", "MZ1", "XX2", "YY2", "MZ2"):
        assert found.x[rows.names.index(kind)] == pytest.approx(float(model[kind]), rel=0.05 if all(moving) else 0.5)
    assert np.median(np.abs(found.residuals[:, 0])) < 1e-3 * np.abs(tau[:, 0]).max()  # the rest: reversals
