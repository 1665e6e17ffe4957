"""Laws that hold for every robot, with rotors and friction, among the functions of Dynamics and against mechanics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.algebra import Vec3
from armdyn.dynamics.model_choice import cheapest_views, cost, grouped_view
from armdyn.dynamics.programs import _columns, concatenated
from armdyn.graph import trace
from armdyn.kernels import Composite, Kernel, build, interpreted
from armdyn.mechanics import composite_body, gim_christoffel, kinematics, newton_euler
from armdyn.robot import Robot
from armdyn.robot.parts import Placement

STEP = 1e-30


def robot_of(seed: int) -> Robot:
    return armdyn.random_robot(
        seed,
        1 + seed % 5,
        branching=0.5 * (seed % 2),
        rotors=True,
        friction=seed % 2 == 0,
        fixed=0.3,
        skew=seed % 3 != 0,
    )


def relative(a: Any, b: Any, scale: Any = None) -> float:
    return float(np.abs(np.asarray(a) - b).max() / max(np.abs(b if scale is None else scale).max(), 1e-9))


class Case:
    """A robot's functions by their graphs, and a state."""

    def __init__(self, seed: int) -> None:
        self.robot = robot_of(seed)
        self.dyn = armdyn.compile(self.robot)
        self.q, self.qd, self.qdd = np.random.default_rng(seed).uniform(-2, 2, (3, self.robot.n))

    def __call__(self, name: str, *values: Any) -> Any:
        graph = self.dyn.graph(name)
        results = graph(**dict(zip(graph.inputs, values, strict=True)))
        found = tuple(map(np.array, results.values()))
        return found if len(found) > 1 else found[0]


@pytest.fixture(params=range(12))
def case(request: pytest.FixtureRequest) -> Case:
    return Case(request.param)


def test_equation_of_motion(case: Case) -> None:
    q, qd, qdd = case.q, case.qd, case.qdd
    tau = case("inverse_dynamics", q, qd, qdd)
    assert relative(tau, newton_euler.inverse_dynamics(case.robot, q, qd, qdd)) < 1e-10
    parts = case("mass_matrix", q) @ qdd, case("coriolis", q, qd), case("gravity", q), case("friction", qd)
    assert relative(sum(parts), tau, parts) < 1e-10
    assert relative(case("coriolis_matrix", q, qd) @ qd, parts[1], parts) < 1e-10
    expected = gim_christoffel.coriolis_matrix(case.robot, q, qd)
    assert relative(case("coriolis_matrix", q, qd), expected, np.append(expected, 1)) < 1e-10


def test_forward_undoes_inverse(case: Case) -> None:
    q, qd, qdd = case.q, case.qd, case.qdd
    tau = case("inverse_dynamics", q, qd, qdd)
    assert relative(case("forward_dynamics", q, qd, tau), qdd) < 1e-8
    dq, dqd, inverse = case("forward_dynamics_derivatives", q, qd, tau)
    by_q, by_qd = case("inverse_dynamics_derivatives", q, qd, qdd)
    M = case("mass_matrix", q)
    assert relative(inverse @ M, np.eye(case.robot.n)) < 1e-8
    assert relative(M @ dq, -by_q, by_q) < 1e-8
    assert relative(M @ dqd, -by_qd, by_qd) < 1e-8


def test_derivatives_by_complex_step(case: Case) -> None:
    q, qd, qdd = case.q, case.qd, case.qdd
    dq, dqd = case("inverse_dynamics_derivatives", q, qd, qdd)
    for k in range(case.robot.n):
        step = np.zeros(case.robot.n, complex)
        step[k] = 1j * STEP
        column = newton_euler.inverse_dynamics(case.robot, q + step, qd, qdd).imag / STEP
        assert relative(dq[:, k], column, dq) < 1e-9
        if case.robot.joints[0].friction is None:  # |qd| of the Stribeck term is no function of a complex number
            column = newton_euler.inverse_dynamics(case.robot, q, qd + step, qdd).imag / STEP
            assert relative(dqd[:, k], column, dqd) < 1e-9


def test_regressor(case: Case) -> None:
    q, qd, qdd = case.q, case.qd, case.qdd
    Y = case("regressor", q, qd, qdd)
    assert Y.shape == (case.robot.n, len(case.dyn.parameter_names))
    tau = case("inverse_dynamics", q, qd, qdd)
    assert relative(Y @ case.dyn.parameters, tau) < 1e-10


def test_jacobian_dot_by_complex_step(case: Case) -> None:
    q, qd = case.q, case.qd
    expected = kinematics.jacobian(case.robot, q + 1j * STEP * qd).imag / STEP @ qd
    assert relative(case("jacobian_dot_qd", q, qd), expected, np.append(expected, 1)) < 1e-10


def test_power_balance(case: Case) -> None:
    """qd.(tau - friction) is the rate of kinetic and potential energy, by a central difference along the motion."""
    q, qd, qdd = case.q, case.qd, case.qdd
    power = qd @ (case("inverse_dynamics", q, qd, qdd) - case("friction", qd))

    def energy(t: float) -> float:
        moved, rate = q + t * qd + 0.5 * t * t * qdd, qd + t * qdd
        return float(case("kinetic_energy", moved, rate) + case("potential_energy", moved))

    h = 1e-5  # error of order h^2, and rounding over h
    scale = max(abs(power), abs(energy(0)), 1.0)
    assert abs((energy(h) - energy(-h)) / (2 * h) - power) < 1e-6 * scale


def test_grouping_changes_no_torque(case: Case) -> None:
    grouped = grouped_view(case.robot)
    values = case.q, case.qd, case.qdd
    expected = newton_euler.inverse_dynamics(case.robot, *values)
    assert relative(newton_euler.inverse_dynamics(grouped, *values), expected) < 1e-10


# Operations -------------------------------------------------------------------------------------------------------

MOST = {
    # robot: function: multiplications, additions
    "panda": {
        "inverse_dynamics": (314, 291),
        "mass_matrix": (205, 175),
        "forward_dynamics": (638, 553),
        "inverse_dynamics_derivatives": (1600, 1310),
        "coriolis_matrix": (830, 660),
    },
    "ur5": {"inverse_dynamics": (175, 146), "mass_matrix": (93, 78), "forward_dynamics": (310, 262)},
    "rx90": {"inverse_dynamics": (160, 113), "forward_dynamics": (400, 300)},
}


@pytest.mark.parametrize("name", MOST)
def test_operations(name: str) -> None:
    dyn = armdyn.compile(armdyn.load(name).without("friction", "rotors"))
    for function, (multiplications, additions) in MOST[name].items():
        count = dyn.operations(function)
        assert count.multiplications <= multiplications, function
        assert count.additions <= additions, function


@pytest.mark.parametrize("seed", range(10))
def test_lean_robots_never_cost_more(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = armdyn.random_robot(seed, 4, convention="free", skew=seed % 2 == 0)
    lean = cost(armdyn.compile(robot).operations("inverse_dynamics"))
    monkeypatch.setattr("armdyn.dynamics.model_choice.grouped_view", lambda robot: robot)
    assert lean <= cost(armdyn.compile(robot).operations("inverse_dynamics"))


def test_a_skew_base_costs_little() -> None:
    """The world is turned to suit the first joint; wrenches and poses stay in the user's."""
    upright = armdyn.load("panda").without("friction", "rotors")
    skew = replace(upright, base=Placement(Vec3(0.1, 0.2, 0.3), Vec3(0.3, -0.7, 1.1)))
    views = cheapest_views(skew, {})

    def count(robot: Robot) -> int:
        sizes = dict.fromkeys(("q", "qd", "qdd"), 7)
        return trace(lambda q, qd, qdd: newton_euler.inverse_dynamics(robot, q, qd, qdd), sizes).operations.total

    assert count(views.torques) <= count(views.loaded) - 3
    state = np.random.default_rng(0).uniform(-2, 2, (3, 7))
    wrench = np.arange(6.0)
    dyn = armdyn.compile(skew)
    for variant, values in ((None, state), ("wrench", (*state, wrench))):
        graph = dyn.graph("inverse_dynamics", variant)
        found = np.array(graph(**dict(zip(graph.inputs, values, strict=True)))["tau"])
        assert relative(found, newton_euler.inverse_dynamics(skew, *values)) < 1e-12


def test_articulated_bodies_for_long_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"type": "revolute", "a": 0.1, "alpha": ("pi/2", "-pi/2")[i % 2], "mass": 1.0} for i in range(16)]
    robot = Robot.from_dh(rows)
    auto = armdyn.compile(robot).operations("forward_dynamics")
    monkeypatch.setattr("armdyn.dynamics.graphs._forward_formulations", lambda source: [composite_body])
    assert cost(auto) < cost(armdyn.compile(robot).operations("forward_dynamics"))


def test_long_chains_compose_the_derivatives_of_forward_dynamics(monkeypatch: pytest.MonkeyPatch) -> None:
    from armdyn.dynamics import facade

    robot = armdyn.random_robot(2, 3)
    q, qd, tau = np.random.default_rng(0).uniform(-2, 2, (3, 5, 3))
    expected = armdyn.compile(robot).forward_dynamics_derivatives(q[0], qd, tau)
    monkeypatch.setattr(facade, "LONG", 2)
    dyn = armdyn.compile(robot)
    for a, b in zip(dyn.forward_dynamics_derivatives(q[0], qd, tau), expected, strict=True):
        assert a.shape == b.shape == (5, 3, 3)
        assert relative(a, b) < 1e-9
    assert "from other functions" in str(dyn)


# Programs that are too long for one kernel --------------------------------------------------------------------------


def test_split_and_interpreted_programs_agree_with_one_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = armdyn.random_robot(8, 3, skew=False)
    graph = armdyn.compile(robot).graph("inverse_dynamics_derivatives")
    whole = build(graph)
    parts = _columns(graph, 2)
    assert parts is not None
    split = Composite(tuple(build(part) for part in parts), concatenated, graph.operations)
    slow = interpreted(graph)
    for batch in ((), (5,), (2, 3)):
        values = np.random.default_rng(1).uniform(-2, 2, (3, *batch, 3))
        for one, other, third in zip(whole(*values), split(*values), slow(*values), strict=True):
            assert one.shape == other.shape == third.shape
            assert relative(other, one) < 1e-13
            assert relative(third, one) < 1e-13
    out = np.empty((3, 3)), np.empty((3, 3))
    assert split(*values[:, 0, 0], out=out)[0] is out[0]
    assert relative(out[1], whole(*values[:, 0, 0])[1]) < 1e-13
    assert _columns(graph, 4) is None
    assert _columns(trace(lambda q: q[0], {"q": 2}), 1) is None
    from armdyn.dynamics import programs

    monkeypatch.setattr(programs, "LARGEST", graph.operations.total - 1)
    assert isinstance(programs.program(graph, "long", cache=True), Composite)
    monkeypatch.setattr(programs, "LARGEST", 10)
    with pytest.warns(programs.SlowCode, match="too many to compile"):
        longest = programs.program(graph, "longest", cache=True)
    assert isinstance(longest, Kernel) and not longest.record.image
