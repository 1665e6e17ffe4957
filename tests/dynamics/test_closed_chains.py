"""Compiled closed chains: robots of their independent joints, against projections from Pinocchio's tree."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.dynamics.quantities import QUANTITIES
from armdyn.errors import NotApplicable, PhysicsError
from armdyn.graph import identical, symbols
from armdyn.mechanics import closed_chain, kinematics
from armdyn.robot import Robot
from support import pinocchio_model

RNG = np.random.default_rng(4)
RATES = np.array([[1.0, 0], [-1, 1], [1, -1], [0, 1]])
"""Siciliano sec. 7.3.3: theta2' = theta1'' - theta1', theta3' = pi - theta2'."""


def parallelogram() -> Robot:
    return armdyn.load("parallelogram")


def all_joints(q: np.ndarray) -> np.ndarray:
    return q @ RATES.T + [0, 0, np.pi, 0]


def test_the_parallelogram_against_an_engine() -> None:
    """tau_a = G^T rnea(q, G qd, G qdd), M_a = G^T M G, with G by hand."""
    robot, dyn = parallelogram(), armdyn.compile(parallelogram())
    tree = robot.opened
    for _ in range(100):
        q, qd, qdd = RNG.uniform(-3, 3, (3, 2))
        expected = RATES.T @ pinocchio_model.inverse_dynamics(tree, all_joints(q), RATES @ qd, RATES @ qdd)
        scale = np.abs(expected).max() + 1
        assert np.abs(dyn.closed(q) - all_joints(q)).max() < 1e-14
        tau = dyn.inverse_dynamics(q, qd, qdd)
        assert np.abs(tau - expected).max() < 1e-12 * scale
        M = RATES.T @ np.array(pinocchio_model.mass_matrix(tree, all_joints(q))) @ RATES
        assert np.abs(dyn.mass_matrix(q) - M).max() < 1e-12 * np.abs(M).max()
        assert np.abs(dyn.forward_dynamics(q, qd, tau) - qdd).max() < 1e-10 * scale


def test_every_quantity_agrees_with_mechanics() -> None:
    robot, dyn = parallelogram(), armdyn.compile(parallelogram())
    q, qd, qdd = RNG.uniform(-1, 1, (3, 6, 2))
    q_all = all_joints(q)
    tau = closed_chain.inverse_dynamics(robot, q_all, qd, qdd)
    wrench = RNG.uniform(-1, 1, (6, 6))
    expected = {
        "coriolis_matrix": closed_chain.coriolis_matrix(robot, q_all, qd),
        "coriolis": closed_chain.coriolis(robot, q_all, qd),
        "gravity": closed_chain.gravity(robot, q_all),
        "pose": kinematics.pose(robot.opened, q_all),
        "jacobian": kinematics.jacobian(robot.opened, q_all) @ RATES,
        "jacobian_dot_qd": kinematics.jacobian_dot_qd(robot.opened, q_all, qd @ RATES.T),
        "friction": np.zeros((6, 2)),
    }
    state = {"q": q, "qd": qd, "qdd": qdd, "tau": tau}
    for name, value in expected.items():
        found = getattr(dyn, name)(*(state[each] for each in QUANTITIES[name].inputs))
        assert np.abs(found - value).max() < 1e-12 * (1 + np.abs(value).max()), name
    assert dyn.regressor(q, qd, qdd) @ dyn.parameters == pytest.approx(tau, rel=1e-12, abs=1e-12)
    pushed = closed_chain.inverse_dynamics(robot, q_all, qd, qdd, wrench)
    assert dyn.inverse_dynamics(q, qd, qdd, wrench) == pytest.approx(pushed, rel=1e-12, abs=1e-12)
    assert dyn.inverse_dynamics(q, qd, qdd, {"link1s": wrench}) == pytest.approx(
        closed_chain.inverse_dynamics(robot, q_all, qd, qdd, {"link1s": wrench}), rel=1e-12, abs=1e-12
    )
    energy = 0.5 * np.einsum("ki,kij,kj->k", qd, dyn.mass_matrix(q), qd)
    assert dyn.kinetic_energy(q, qd) == pytest.approx(energy, rel=1e-12)


@pytest.mark.parametrize("step", [1e-6])
def test_derivatives(step: float) -> None:
    """Against central differences of the torques and accelerations."""
    dyn = armdyn.compile(parallelogram())
    q, qd, qdd = RNG.uniform(-1, 1, (3, 2))
    tau = dyn.inverse_dynamics(q, qd, qdd)

    def slope(function, place):  # type: ignore[no-untyped-def]
        columns = [(function(place + step * e) - function(place - step * e)) / (2 * step) for e in np.eye(2)]
        return np.transpose(columns)

    by_q, by_qd = dyn.inverse_dynamics_derivatives(q, qd, qdd)
    assert by_q == pytest.approx(slope(lambda x: dyn.inverse_dynamics(x, qd, qdd), q), abs=1e-6)
    assert by_qd == pytest.approx(slope(lambda x: dyn.inverse_dynamics(q, x, qdd), qd), abs=1e-6)
    by_q, by_qd, by_tau = dyn.forward_dynamics_derivatives(q, qd, tau)
    assert by_q == pytest.approx(slope(lambda x: dyn.forward_dynamics(x, qd, tau), q), abs=1e-6)
    assert by_qd == pytest.approx(slope(lambda x: dyn.forward_dynamics(q, x, tau), qd), abs=1e-6)
    assert by_tau == pytest.approx(np.linalg.inv(dyn.mass_matrix(q)), rel=1e-12)
    assert dyn.gravity(q) == pytest.approx(slope(lambda x: np.atleast_1d(dyn.potential_energy(x)), q)[0], abs=1e-6)


def test_a_robot_with_loops_has_no_links_of_its_own() -> None:
    with pytest.raises(NotApplicable, match=r"robot\.opened"):
        _ = parallelogram().links


def test_derived_equations_are_those_of_siciliano() -> None:
    """B_a and g_a of sec. 7.3.3 with b_a22 corrected, in symbols (a2' = a1'', a3' = a1')."""
    equations = armdyn.derive(parallelogram())
    a1, a2, l1, l2, l3, ls, m1, m2, m3, ms, I1, I2, I3, Is, g = symbols(
        "a1p a2p l1p l2p l3p l1s ml1p ml2p ml3p ml1s Il1p Il2p Il3p Il1s g", "parameter"
    )
    q1, q2 = symbols("q1 q2")
    b11 = I1 + m1 * l1**2 + m2 * a1**2 + I3 + m3 * l3**2 + m3 * a1**2 - 2 * a1 * m3 * l3
    b12 = (a1 * m2 * l2 + a2 * m3 * (a1 - l3)) * (q2 - q1).cos()
    b22 = Is + ms * ls**2 + I2 + m2 * l2**2 + m3 * a2**2
    assert identical(equations.nodes("M"), [[b11, b12], [b12, b22]])
    weights = [(m1 * l1 + m2 * a1 - m3 * (l3 - a1)) * g * q1.cos(), (ms * ls + m2 * l2 + m3 * a2) * g * q2.cos()]
    assert identical(equations.nodes("g"), weights)


@pytest.mark.parametrize("name", ["parallelogram", "palletiser"])
def test_motions_of_closed_chains(name: str) -> None:
    """Planning and control speak of the independent joints."""
    robot = armdyn.load(name)
    dyn, n = armdyn.compile(robot), robot.n
    start = np.array({"parallelogram": [0.0, 1.5], "palletiser": [0.0, 1.2, -0.2]}[name])
    motion = armdyn.point_to_point(start, start + 0.3, v_max=np.full(n, 1.0), a_max=np.full(n, 3.0))
    scaled = armdyn.scale_to_torque(
        motion, dyn, limits={"tau_max": np.full(n, 3000.0), "v_max": np.inf, "a_max": np.inf}
    )
    t = np.linspace(0, scaled.duration, 200)
    tau = dyn.inverse_dynamics(*(scaled(t, order) for order in range(3)))
    assert 0.95 * 3000 < np.abs(tau).max() < 3000 * (1 + 1e-6)
    run = armdyn.simulate(robot, armdyn.ComputedTorque(dyn, 100, 20), motion)
    assert np.abs(run.error).max() < 5e-4  # accelerations jump by 6 rad/s^2 within steps of 1 ms


@pytest.mark.filterwarnings("ignore:.*too many to compile")
def test_a_configuration_that_cannot_be_assembled_is_an_error_that_names_the_loop() -> None:
    """Of every quantity that depends on it, by machine code and by NumPy, and in every way to call it."""
    robot = armdyn.load("stewart")
    dyn = armdyn.compile(robot)
    home = np.array([float(joint.home) for joint in robot.joints])
    apart = home + 5.0 * np.eye(robot.n)[0]  # a leg that is far too long
    known = [name for name, row in QUANTITIES.items() if "q" in row.inputs and set(robot.features) <= row.takes]
    for name in known:
        if name == "springs" or name.startswith("forward_dynamics_"):  # no springs; graphs that take long
            continue
        function, rest = getattr(dyn, name), [np.zeros(robot.n)] * (len(QUANTITIES[name].inputs) - 1)
        for given in (apart, apart.tolist(), np.stack([home, apart])):
            with pytest.raises(PhysicsError, match=r"loop 'ball1'.* cannot be closed"):
                function(given, *rest)
        for result in np.atleast_1d(function(home, *rest)):
            assert np.isfinite(result).all()
