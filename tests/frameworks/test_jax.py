"""Dynamics inside JAX: the same numbers as in NumPy, and derivatives that differences confirm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, FeatureError, NotApplicable, ShapeError

jax = pytest.importorskip("jax", reason="JAX is not installed")
from jax.test_util import check_grads  # noqa: E402

import armdyn.jax  # noqa: E402

jnp = jax.numpy
STATE = ("inverse_dynamics", "forward_dynamics")
POSITION = ("gravity", "mass_matrix", "pose", "jacobian", "potential_energy", "center_of_mass")


@pytest.fixture(autouse=True)
def double_precision() -> Any:
    jax.config.update("jax_enable_x64", True)


def states(n: int, *batch: int) -> Any:
    return np.random.default_rng(n).normal(size=(3, *batch, n))


@pytest.fixture(scope="module")
def panda() -> Any:
    return armdyn.compile(armdyn.load("panda"))


@pytest.mark.parametrize("name", STATE)
def test_values_are_those_of_numpy_to_the_last_bit(panda: Any, name: str) -> None:
    here, there = getattr(armdyn.jax.wrap(panda), name), getattr(panda, name)
    q, qd, last = states(7, 30)
    assert (here(q[0], qd[0], last[0]) == there(q[0], qd[0], last[0])).all()
    assert (jax.jit(jax.vmap(here))(q, qd, last) == there(q, qd, last)).all()
    assert (jax.jit(here)(q[0], qd[:5, None], last[None, :4]) == there(q[0], qd[:5, None], last[None, :4])).all()
    mixed = jax.vmap(jax.vmap(jax.vmap(here, (None, 0, None)), (0, None, None)), (None, None, 0), 1)
    expected = there(q[:2, None, None], qd[None, None, :3], last[None, :4, None])
    assert (mixed(q[:2], qd[:3], last[:4]) == expected).all()
    assert here(q[:0], qd[:0], last[:0]).shape == (0, 7)


def test_scan(panda: Any) -> None:
    functions = armdyn.jax.wrap(panda)
    q, qd, tau = states(7)

    def step(state: Any, _: Any) -> Any:
        q, qd = state
        qd = qd + 1e-3 * functions.forward_dynamics(q, qd, tau)
        return (q + 1e-3 * qd, qd), None

    (found, _), _ = jax.jit(lambda q, qd: jax.lax.scan(step, (q, qd), None, length=50))(q, qd)
    for _ in range(50):
        qd = qd + 1e-3 * panda.forward_dynamics(q, qd, tau)
        q = q + 1e-3 * qd
    assert np.abs(found - q).max() < 1e-14


def test_no_copies(panda: Any) -> None:
    """XLA calls the machine code on its own buffers, and nothing else."""
    call = jax.jit(jax.vmap(armdyn.jax.wrap(panda).inverse_dynamics))
    text = call.lower(*states(7, 100)).compile().as_text()
    assert text.count("custom-call(") == 1
    assert " copy(" not in text and "callback" not in text


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", STATE)
def test_first_derivatives_of_random_robots(seed: int, name: str) -> None:
    """Mixed joints, skew axes, tilted bases, branches, rotors and friction."""
    robot = armdyn.random_robot(seed, 4, branching=0.3, rotors=True, friction=True)
    call = getattr(armdyn.jax.wrap(armdyn.compile(robot)), name)
    check_grads(call, tuple(states(4)), order=1, modes=("fwd", "rev"), atol=2e-5, rtol=2e-5)  # of differences
    q, qd, last = states(4, 3)
    jacobian = jax.jit(jax.vmap(jax.jacfwd(call)))(q, qd, last)
    assert np.abs(jacobian - jax.vmap(jax.jacrev(call))(q, qd, last)).max() < 1e-12 * np.abs(jacobian).max()


@pytest.mark.parametrize("name", STATE)
def test_second_derivatives(name: str) -> None:
    """Forward and backward, in every order."""
    robot = armdyn.random_robot(2, 4, branching=0.3, rotors=True, friction=True)
    call = getattr(armdyn.jax.wrap(armdyn.compile(robot)), name)
    state = tuple(states(4))
    check_grads(call, state, order=2, modes=("fwd", "rev"), atol=1e-4, rtol=1e-4)  # of differences
    weights = np.arange(1.0, 5.0)

    def weighted(x: Any) -> Any:
        return call(*jnp.split(x, 3)) @ weights

    x = np.concatenate(state)
    ways = [outer(inner(weighted))(x) for outer in (jax.jacfwd, jax.jacrev) for inner in (jax.jacfwd, jax.jacrev)]
    for way in ways[1:]:
        assert np.abs(way - ways[0]).max() < 1e-12 * np.abs(ways[0]).max()
    batch = np.stack([x, 2 * x, 3 * x])
    assert np.abs(jax.jit(jax.vmap(jax.hessian(weighted)))(batch)[0] - ways[0]).max() < 1e-12 * np.abs(ways[0]).max()
    with pytest.raises(NotApplicable, match="third"):
        jax.jacfwd(jax.hessian(weighted))(x)


@pytest.mark.parametrize("name", POSITION)
def test_derivatives_of_functions_of_the_position(name: str) -> None:
    call = getattr(armdyn.jax.wrap(armdyn.compile(armdyn.load("planar3r"))), name)
    q = states(3)[0]
    check_grads(call, (q,), order=2, modes=("fwd", "rev"), atol=1e-5, rtol=1e-5)


def test_frames_and_names_of_arguments(panda: Any) -> None:
    functions = armdyn.jax.wrap(panda)
    q = states(7)[0]
    frame = panda.robot.joints[2].name
    assert (functions.pose(q, frame=frame) == panda.pose(q, frame)).all()
    assert (functions.pose(q=q) == panda.pose(q)).all()
    with pytest.raises(ArmdynError, match="qq"):
        functions.pose(qq=q)
    with pytest.raises(ShapeError, match=r"\(\.\.\., 7\)"):
        functions.gravity(q[:6])


def test_long_chains_run_in_looped_code() -> None:
    dyn = armdyn.compile(armdyn.random_robot(1, 30, prismatic=0.0))
    functions = armdyn.jax.wrap(dyn)
    q, qd, qdd = states(30, 9)
    assert (jax.vmap(functions.inverse_dynamics)(q, qd, qdd) == dyn.inverse_dynamics(q, qd, qdd)).all()
    found = jax.jit(jax.grad(lambda q: functions.inverse_dynamics(q, qd, qdd).sum()))(q)
    expected = dyn.inverse_dynamics_derivatives(q, qd, qdd)[0].sum(-2)
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()
    by_tau = jax.jacfwd(functions.forward_dynamics, 2)(q[0], qd[0], qdd[0])  # from NumPy, through a callback
    assert np.abs(by_tau @ dyn.mass_matrix(q[0]) - np.eye(30)).max() < 1e-6


@pytest.mark.parametrize("name", STATE)
def test_closed_chains(name: str) -> None:
    dyn = armdyn.compile(armdyn.load("five_bar"))
    functions = armdyn.jax.wrap(dyn)
    home = np.array([joint.home for joint in dyn.robot.joints], dtype=float)
    arguments = (home + 0.05, *np.random.default_rng(0).normal(size=(2, dyn.n)))
    check_grads(getattr(functions, name), arguments, order=1, atol=1e-5, rtol=1e-5)
    with pytest.raises(NotApplicable, match="pose"):
        jax.jacfwd(functions.pose)(arguments[0])


def test_what_is_refused(panda: Any) -> None:
    with pytest.raises(FeatureError, match="free"):
        armdyn.jax.wrap(armdyn.compile(armdyn.random_robot(1, 3, free_root=True)))
    with pytest.raises(ArmdynError, match=r"armdyn\.compile"):
        armdyn.jax.wrap(armdyn.load("panda"))  # type: ignore[arg-type]
    functions = armdyn.jax.wrap(panda)
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(ArmdynError, match="jax_enable_x64"):
        functions.gravity(states(7)[0])


def test_single_precision_is_converted(panda: Any) -> None:
    q = jnp.asarray(states(7)[0], dtype=jnp.float32)
    functions = armdyn.jax.wrap(panda)
    assert (functions.gravity(q) == panda.gravity(np.asarray(q, dtype=float))).all()
    assert jax.grad(lambda q: functions.potential_energy(q))(q).dtype == jnp.float32


def test_without_the_interface_of_xla(panda: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions of XLA that this one does not know: calls of NumPy."""
    monkeypatch.setattr(armdyn.jax, "_version", lambda: (9, 0))
    functions = armdyn.jax.wrap(panda)
    q, qd, tau = states(7, 5)
    assert (jax.jit(jax.vmap(functions.forward_dynamics))(q, qd, tau) == panda.forward_dynamics(q, qd, tau)).all()
    check_grads(functions.forward_dynamics, (q[0], qd[0], tau[0]), order=1, atol=1e-4, rtol=1e-4)
