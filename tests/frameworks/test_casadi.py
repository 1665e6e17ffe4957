"""Dynamics inside CasADi: the same numbers as in NumPy, derivatives as those of CasADi's own expressions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.bridges.shared_object import can_be_written
from armdyn.errors import FeatureError

casadi = pytest.importorskip("casadi", reason="CasADi is not installed")
import armdyn.casadi  # noqa: E402

pytestmark = pytest.mark.skipif(not can_be_written(), reason="external functions are for Linux")
STATE = ("inverse_dynamics", "forward_dynamics")


def states(n: int, *batch: int) -> Any:
    return np.random.default_rng(n).normal(size=(3, *batch, n))


@pytest.fixture(scope="module")
def functions() -> Any:
    """Mixed joints, skew axes, a tilted base, branches, rotors and friction."""
    robot = armdyn.random_robot(2, 4, branching=0.3, rotors=True, friction=True)
    return armdyn.casadi.wrap(armdyn.compile(robot))


def agree(one: Any, other: Any, tolerance: float = 1e-13) -> None:
    one, other = np.array(one), np.array(other)
    assert np.abs(one - other).max() <= tolerance * max(1.0, np.abs(other).max())


@pytest.mark.parametrize("name", STATE)
def test_values_and_derivatives(functions: Any, name: str) -> None:
    x = states(4)
    here, there = getattr(functions, name), functions.graph(name)
    assert (np.array(here(*x)).ravel() == getattr(functions.dynamics, name)(*x)).all()
    symbols = [casadi.MX.sym(f"x{k}", 4) for k in range(3)]
    weights = casadi.MX.sym("w", 4)
    found = []
    for call in (here, there):
        y = call(*symbols)
        whole = casadi.MX.sym("x", 12)
        weighted = casadi.dot(weights, call(*casadi.vertsplit(whole, 4)))
        hessian, slope = casadi.hessian(weighted, whole)
        jacobian = casadi.Function("J", symbols, [casadi.jacobian(y, each) for each in symbols])
        slopes = casadi.vec(casadi.jacobian(call(*casadi.vertsplit(whole, 4)), whole))
        second = [hessian, slope, casadi.jacobian(slope, weights), casadi.jacobian(slopes, whole)]
        second = casadi.Function("H", [whole, weights], second)
        found.append([*jacobian(*x), *second(x.ravel(), [1.0, -2.0, 3.0, -4.0])])
    for one, other in zip(*found, strict=True):
        agree(one, other)
    forward = [call.forward(1)(*x, call(*x), *2 * x) for call in (here, there)]
    agree(*forward)


@pytest.mark.parametrize("name", ["mass_matrix", "pose", "jacobian", "gravity", "potential_energy"])
def test_functions_of_the_position(functions: Any, name: str) -> None:
    q = states(4)[0]
    here, there = getattr(functions, name), functions.graph(name)
    expected = np.asarray(getattr(functions.dynamics, name)(q))
    assert (np.array(here(q)).reshape(expected.shape) == expected).all()
    for call in (here, there):
        assert call.name_in() == ["q"]
    agree(here.jacobian()(q, here(q)), there.jacobian()(q, there(q)))


def test_frames(functions: Any) -> None:
    q, robot = states(4)[0], functions.dynamics.robot
    frame = robot.joints[1].name
    assert (np.array(functions.function("pose", frame)(q)) == functions.dynamics.pose(q, frame)).all()


@pytest.mark.parametrize("method", ["rk", "cvodes", "idas"])
def test_integrators(functions: Any, method: str) -> None:
    """The end and its forward sensitivities, against the same with expressions."""
    ends = []
    for call in (functions.forward_dynamics, functions.graph("forward_dynamics")):
        x, tau, direction = casadi.MX.sym("x", 8), casadi.MX.sym("tau", 4), casadi.MX.sym("direction", 8)
        ode = {"x": x, "p": tau, "ode": casadi.vertcat(x[4:], call(x[:4], x[4:], tau))}
        options = {} if method == "rk" else {"reltol": 1e-9, "abstol": 1e-9}
        end = casadi.integrator("end", method, ode, 0, 0.1, options)(x0=x, p=tau)["xf"]
        whole = casadi.Function(
            "whole", [x, tau, direction], [end, casadi.jacobian(end, tau), casadi.jtimes(end, x, direction)]
        )
        ends.append(whole(states(4)[:2].ravel(), states(4)[2], np.arange(8.0)))
    for one, other in zip(*ends, strict=True):
        agree(one, other, 1e-6)  # cvodes chooses its steps by the Jacobian's last digits


def test_closed_chains() -> None:
    dyn = armdyn.compile(armdyn.load("five_bar"))
    functions = armdyn.casadi.wrap(dyn)
    home = np.array([float(joint.home) + 0.05 for joint in dyn.robot.joints])
    x = (home, *np.random.default_rng(0).normal(size=(2, dyn.n)))
    slopes = functions.inverse_dynamics.jacobian()(*x, functions.inverse_dynamics(*x))
    agree(slopes[0], dyn.inverse_dynamics_derivatives(*x)[0])
    with pytest.raises(RuntimeError):  # no derivative, rather than a wrong one
        functions.pose.jacobian()(home, functions.pose(home))


def test_long_chains_are_expressions() -> None:
    dyn = armdyn.compile(armdyn.random_robot(1, 12, prismatic=0.0))
    q = states(12)[0]
    assert (np.array(armdyn.casadi.wrap(dyn).gravity(q)).ravel() == dyn.gravity(q)).all()


def test_free_joints_are_refused() -> None:
    with pytest.raises(FeatureError, match="free"):
        armdyn.casadi.wrap(armdyn.compile(armdyn.random_robot(1, 3, free_root=True)))
