"""Dynamics as users meet it: shapes, options, errors, laziness, printing, copies."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.dynamics.quantities import QUANTITIES
from armdyn.errors import ArmdynError, PhysicsError, ShapeError, UnknownName
from armdyn.mechanics import actuators, composite_body, kinematics, newton_euler
from armdyn.robot import Robot


@pytest.fixture(scope="module")
def robot() -> Robot:
    """Three joints on two branches, rotors of both models, friction with Stribeck effect, tilted base, tool."""
    return armdyn.random_robot(3, 3, branching=0.5, rotors=True, friction=True, fixed=0.3)


@pytest.fixture(scope="module")
def dyn(robot: Robot) -> armdyn.Dynamics:
    return armdyn.compile(robot)


def state(robot: Robot, *batch: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-2, 2, (3, *batch, robot.n))


def close(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=1e-10, atol=1e-10 * np.abs(b).max()))


# Shapes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [(), (1,), (5,), (2, 3), (0,), (37,)])
def test_batches(dyn: armdyn.Dynamics, robot: Robot, batch: tuple[int, ...]) -> None:
    q, qd, qdd = state(robot, *batch)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    assert tau.shape == (*batch, 3)
    assert dyn.mass_matrix(q).shape == (*batch, 3, 3)
    if np.size(q):
        assert close(tau, newton_euler.inverse_dynamics(robot, q, qd, qdd))


def test_leading_axes_broadcast(dyn: armdyn.Dynamics, robot: Robot) -> None:
    q, qd, qdd = state(robot, 4)
    found = dyn.inverse_dynamics(q[:, None], qd, qdd[0])
    assert found.shape == (4, 4, 3)
    assert close(found[1, 2], newton_euler.inverse_dynamics(robot, q[1], qd[2], qdd[0]))


def test_lists_keywords_out_and_threads(dyn: armdyn.Dynamics, robot: Robot) -> None:
    q, qd, qdd = state(robot)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    assert (dyn.inverse_dynamics(q.tolist(), qd.tolist(), qdd.tolist()) == tau).all()
    assert (dyn.inverse_dynamics(q, qdd=qdd, qd=qd) == tau).all()
    out = np.empty(3)
    assert dyn.inverse_dynamics(q, qd, qdd, out=out) is out
    assert (out == tau).all()
    many = state(robot, 2000)
    assert (dyn.inverse_dynamics(*many, threads=2) == dyn.inverse_dynamics(*many)).all()


def test_wrench(dyn: armdyn.Dynamics, robot: Robot) -> None:
    q, qd, qdd = state(robot)
    w = np.arange(1.0, 7.0)
    free = dyn.inverse_dynamics(q, qd, qdd)
    loaded = dyn.inverse_dynamics(q, qd, qdd, w)
    assert close(loaded - free, dyn.jacobian(q).T @ w)
    assert (dyn.inverse_dynamics(q, qd, qdd, wrench=w) == loaded).all()
    assert (dyn.inverse_dynamics(q, qd, qdd, None) == free).all()
    assert dyn.inverse_dynamics(q, qd, qdd, np.stack([w, 2 * w])).shape == (2, 3)
    assert close(dyn.forward_dynamics(q, qd, loaded, w), qdd)


def test_wrenches_on_named_frames(dyn: armdyn.Dynamics, robot: Robot) -> None:
    q, qd, qdd = state(robot)
    w = np.arange(1.0, 7.0)
    first, second = robot.joints[0].name, robot.joints[2].name
    loaded = dyn.inverse_dynamics(q, qd, qdd, {first: w, second: [-x for x in w]})
    expected = dyn.inverse_dynamics(q, qd, qdd) + (dyn.jacobian(q, first) - dyn.jacobian(q, second)).T @ w
    assert close(loaded, expected)
    assert close(dyn.forward_dynamics(q, qd, loaded, {first: w, second: -w}), qdd)
    assert (dyn.inverse_dynamics(q, qd, qdd, {}) == dyn.inverse_dynamics(q, qd, qdd)).all()
    assert close(dyn.inverse_dynamics(q, qd, qdd, {"tool": w}), dyn.inverse_dynamics(q, qd, qdd, w))
    with pytest.raises(UnknownName, match="frame 'nowhere'"):
        dyn.inverse_dynamics(q, qd, qdd, {"nowhere": w})


def test_frames(dyn: armdyn.Dynamics, robot: Robot) -> None:
    q, qd, _ = state(robot)
    for frame in ("tool", robot.joints[0].name, robot.root.name):
        assert close(dyn.pose(q, frame=frame), kinematics.pose(robot, q, frame))
        assert close(dyn.jacobian(q, frame), kinematics.jacobian(robot, q, frame))
    frame = robot.joints[1].name
    assert close(dyn.jacobian_dot_qd(q, qd, frame=frame), kinematics.jacobian_dot_qd(robot, q, qd, frame))
    with pytest.raises(UnknownName, match="unknown frame 'tol'.*Did you mean 'tool'"):
        dyn.pose(q, frame="tol")


def test_friction_is_zero_at_rest(dyn: armdyn.Dynamics, robot: Robot) -> None:
    qd = np.array([[0.0, 0.5, -0.02], [1e-3, 0.0, -3.0]])
    expected = np.array([actuators.friction_torques(robot, list(each)) for each in qd])
    assert close(dyn.friction(qd), expected)
    assert dyn.friction(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


# Errors -----------------------------------------------------------------------------------------------------------


def test_wrong_shapes_are_refused(dyn: armdyn.Dynamics, robot: Robot) -> None:
    q, qd, qdd = state(robot)
    with pytest.raises(ShapeError, match="'qd'"):
        dyn.inverse_dynamics(q, qd[:2], qdd)
    with pytest.raises(ShapeError, match="missing arguments: qdd"):
        dyn.inverse_dynamics(q, qd)  # type: ignore[call-arg]
    with pytest.raises(ShapeError, match="5 arguments"):
        dyn.inverse_dynamics(q, qd, qdd, None, q)  # type: ignore[call-arg, misc]
    with pytest.raises(ShapeError, match="'wrench'"):
        dyn.inverse_dynamics(q, qd, qdd, q)
    with pytest.raises(ShapeError, match="q is given twice"):
        dyn.gravity(q, q=q)  # type: ignore[misc]
    with pytest.raises(UnknownName, match="'qq'"):
        dyn.gravity(qq=q)  # type: ignore[call-arg]
    with pytest.raises(ArmdynError):
        dyn.gravity(["a", "b", "c"])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_does_not_travel(dyn: armdyn.Dynamics, robot: Robot, bad: float) -> None:
    q, qd, qdd = state(robot, 6)
    qd[4, 1] = bad
    with pytest.raises(ShapeError, match=r"qd\[4\]\[1\] is NaN or infinite"):
        dyn.inverse_dynamics(q, qd, qdd)
    with pytest.raises(ShapeError, match=r"qd\[1\]"):
        dyn.regressor(q[4].tolist(), qd[4], qdd[4])
    single = dyn.inverse_dynamics(q[4].copy(), qd[4].copy(), qdd[4].copy())  # machine code: NaN stays visible
    assert not np.isfinite(single[1])
    checked = armdyn.compile(robot, checked=True)
    with pytest.raises(ShapeError, match=r"qd\[1\] is NaN"):
        checked.inverse_dynamics(q[4], qd[4], qdd[4])


def test_a_singular_mass_matrix_is_an_error() -> None:
    row = {"type": "revolute", "a": 0.5, "mass": 1.0, "com": [0, 0, 0]}
    hollow = Robot.from_dh([row, row | {"mass": 0.0}], name="hollow")
    dyn = armdyn.compile(hollow)
    assert dyn.inverse_dynamics([0.1, 0.2], [0, 0], [1, 1]).shape == (2,)
    for function in ("forward_dynamics", "forward_dynamics_derivatives"):
        with pytest.raises(PhysicsError, match="joint"):
            getattr(dyn, function)


def test_singular_at_one_position_only() -> None:
    """Two sliding joints whose axes a turning joint without inertia between them brings together."""
    slide = {"type": "prismatic", "mass": 1.0, "com": [0, 0, 0]}
    rows = [
        slide | {"mass": 0.0, "alpha": "pi/2"},
        slide | {"mass": 0.0, "theta": 0, "alpha": 0},
        slide | {"mass": 1.0},
    ]
    with pytest.raises(PhysicsError):
        armdyn.compile(Robot.from_dh(rows)).forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3))
    point = {"type": "revolute", "a": 0, "alpha": "pi/2", "mass": 0.0, "com": [0, 0, 0]}
    arm = {"type": "revolute", "a": 1, "alpha": 0, "mass": 1.0, "com": [0, 0, 0]}
    dyn = armdyn.compile(Robot.from_dh([point, arm], gravity=(0, 0, 0)))
    zero = np.zeros((2, 2))
    assert np.isfinite(dyn.forward_dynamics(zero, zero, zero + 1)).all()
    upright = np.array([[0.0, 0.3], [0.0, np.pi / 2]])  # the mass on the first axis: M = diag(0, 1) but for rounding
    M = dyn.mass_matrix(upright)
    assert M[1, 0, 0] < 1e-30 < M[0, 0, 0]


def test_what_cannot_be_compiled(robot: Robot) -> None:
    with pytest.raises(ArmdynError, match="no movable joint"):
        armdyn.compile(robot.locked(dict.fromkeys((joint.name for joint in robot.joints), 0.0)))
    with pytest.raises(ArmdynError, match="given '.*armdyn.load"):
        armdyn.compile("ur5")  # type: ignore[arg-type]


# The object -------------------------------------------------------------------------------------------------------


def test_functions_are_made_when_first_used(robot: Robot) -> None:
    dyn = armdyn.compile(robot)
    assert dict(dyn.programs) == {}
    first = dyn.gravity
    assert list(dyn.programs) == ["gravity"]
    assert dyn.gravity is first
    assert "builtin" in type(first).__name__ or callable(first)
    dyn.gravity(np.zeros(3))
    dyn.friction(np.zeros(3))
    assert set(dyn.programs) == {"gravity", "friction"}


def test_frozen_printed_and_copied(dyn: armdyn.Dynamics, robot: Robot) -> None:
    with pytest.raises(AttributeError, match="frozen"):
        dyn.robot = robot
    with pytest.raises(AttributeError, match="frozen"):
        del dyn.robot
    assert copy.copy(dyn) is dyn
    assert copy.deepcopy(dyn) is dyn
    dyn.gravity(np.zeros(3))
    text = str(dyn)
    assert all(name in text for name in QUANTITIES)
    line = next(line for line in text.splitlines() if line.startswith("gravity(q)"))
    count = dyn.operations("gravity")
    assert line.split()[1:3] == [str(count.multiplications), str(count.additions)]
    assert "ms" in line
    assert repr(dyn).startswith(f"<Dynamics of '{robot.name}': 3 joints")
    assert set(QUANTITIES) <= set(dir(dyn))


def test_pickled_dynamics_compile_again(dyn: armdyn.Dynamics, robot: Robot) -> None:
    again = pickle.loads(pickle.dumps(dyn))
    q, qd, qdd = state(robot)
    assert dict(again.programs) == {}
    expected = dyn.inverse_dynamics(q, qd, qdd)  # compiled and cached by now, whichever test ran before
    assert (again.inverse_dynamics(q, qd, qdd) == expected).all()
    assert again.program("inverse_dynamics").from_cache


def test_names_of_variants_and_unknown_functions(dyn: armdyn.Dynamics) -> None:
    assert "wrench" in dyn.graph("inverse_dynamics", "wrench").inputs
    with pytest.raises(UnknownName, match="mass_matrix"):
        dyn.graph("mass_matrx")
    with pytest.raises(AttributeError):
        dyn.mass_matrx  # type: ignore[attr-defined]  # noqa: B018


def test_first_use_from_many_threads(robot: Robot) -> None:
    dyn = armdyn.compile(robot)
    q = state(robot)[0]
    results: list[Any] = []
    workers = [threading.Thread(target=lambda: results.append(dyn.mass_matrix(q))) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(results) == 8
    assert all(close(M, composite_body.mass_matrix(robot, q)) for M in results)


def test_the_robot_in_its_named_parameters_is_compiled_in_numbers() -> None:
    planar = armdyn.load("planar2r")
    dyn = armdyn.compile(planar.symbolic)
    assert dyn.mass_matrix([0.1, 0.2]).shape == (2, 2)


def test_loops_are_closed_unless_they_are_left_out() -> None:
    robot = armdyn.load("parallelogram")
    assert armdyn.compile(robot).n == 2
    assert armdyn.compile(robot.without("loops")).n == 4


def test_nan_that_a_result_does_not_depend_on() -> None:
    """As documented: it does not show, unless every input is checked."""
    robot = armdyn.load("ur5")
    q = np.zeros((3, 6))
    q[1, 0] = np.nan  # the first axis is vertical
    assert np.isfinite(armdyn.compile(robot).gravity(q)).all()
    checked = armdyn.compile(robot, checked=True)
    for value in (q, q[1]):
        for function in (checked.gravity, checked.mass_matrix):
            with pytest.raises(ShapeError, match="NaN or infinite"):
                function(value)
    with pytest.raises(ShapeError, match="NaN or infinite"):
        armdyn.compile(robot).mass_matrix(q)
