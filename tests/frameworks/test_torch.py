"""Dynamics inside PyTorch: the same numbers as in NumPy, and derivatives that differences confirm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, FeatureError, NotApplicable, ShapeError

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

import armdyn.torch  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # inside PyTorch itself
STATE = ("inverse_dynamics", "forward_dynamics")
POSITION = ("gravity", "mass_matrix", "pose", "jacobian", "potential_energy")


def states(n: int, *batch: int, asked: bool = True) -> Any:
    values = np.random.default_rng(n).normal(size=(3, *batch, n))
    return [torch.tensor(value, requires_grad=asked) for value in values]


def plain(tensors: Any) -> Any:
    return [tensor.detach().numpy() for tensor in tensors]


@pytest.fixture(scope="module")
def panda() -> Any:
    return armdyn.compile(armdyn.load("panda"))


@pytest.fixture(scope="module")
def branched() -> Any:
    """Mixed joints, skew axes, a tilted base, branches, rotors and friction."""
    return armdyn.compile(armdyn.random_robot(2, 4, branching=0.3, rotors=True, friction=True))


@pytest.mark.parametrize("name", STATE)
def test_values_are_those_of_numpy_to_the_last_bit(panda: Any, name: str) -> None:
    here, there = getattr(armdyn.torch.wrap(panda), name), getattr(panda, name)
    x = states(7, 30, asked=False)
    assert (here(*x).numpy() == there(*plain(x))).all()
    assert (torch.func.vmap(here)(*x).numpy() == there(*plain(x))).all()
    q, qd, last = x
    assert (
        here(q[0], qd[:5, None], last[None, :4]).numpy() == there(*plain((q[0], qd[:5, None], last[None, :4])))
    ).all()
    nested = torch.func.vmap(torch.func.vmap(here, (None, 0, None)), (0, None, 0))
    expected = there(q[:5, None].numpy(), qd[None, :6].numpy(), last[:5, None].numpy())
    assert (nested(q[:5], qd[:6], last[:5]).numpy() == expected).all()


@pytest.mark.parametrize("name", STATE)
def test_gradients(branched: Any, name: str) -> None:
    call = getattr(armdyn.torch.wrap(branched), name)
    assert gradcheck(call, states(4), check_forward_ad=True, check_batched_grad=True)
    assert gradcheck(call, states(4, 3))
    q, qd, last = states(4, 3)
    assert gradcheck(call, (q, qd[0], last[:1]))


@pytest.mark.parametrize("name", STATE)
def test_second_gradients(branched: Any, name: str) -> None:
    call = getattr(armdyn.torch.wrap(branched), name)
    assert gradgradcheck(call, states(4))
    assert gradgradcheck(call, states(4, 2))
    x = torch.cat(states(4)).detach()

    def weighted(x: Any) -> Any:
        return call(*x.split(4)) @ torch.arange(1.0, 5.0, dtype=torch.float64)

    jacrev, jacfwd = torch.func.jacrev, torch.func.jacfwd
    ways = [outer(inner(weighted))(x) for outer in (jacfwd, jacrev) for inner in (jacfwd, jacrev)]
    for way in ways[1:]:
        assert (way - ways[0]).abs().max() < 1e-12 * ways[0].abs().max()


@pytest.mark.parametrize("name", STATE)
def test_vmap_of_jacobians(panda: Any, name: str) -> None:
    call = getattr(armdyn.torch.wrap(panda), name)
    x = states(7, 4, asked=False)
    forward = torch.func.vmap(torch.func.jacfwd(call))(*x)
    backward = torch.func.vmap(torch.func.jacrev(call))(*x)
    expected = getattr(panda, f"{name}_derivatives")(*plain(x))[0]
    for found in (forward, backward):
        assert np.abs(found.numpy() - expected).max() < 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("name", POSITION)
def test_functions_of_the_position(name: str) -> None:
    call = getattr(armdyn.torch.wrap(armdyn.compile(armdyn.load("planar3r"))), name)
    q = states(3)[0]
    assert gradcheck(call, (q,), check_forward_ad=True)
    assert gradgradcheck(call, (q,))


@pytest.mark.parametrize("name", STATE)
def test_compiled_functions(panda: Any, name: str) -> None:
    """One graph without breaks; the back end needs no compiler."""
    call = getattr(armdyn.torch.wrap(panda), name)
    x = states(7, 5)

    def effort(q: Any, qd: Any, last: Any) -> Any:
        return call(torch.sin(q), qd, last).square().sum()

    compiled = torch.compile(effort, fullgraph=True, backend="aot_eager")
    found = torch.autograd.grad(compiled(*x), x)
    expected = torch.autograd.grad(effort(*x), x)
    for one, other in zip(found, expected, strict=True):
        assert (one - other).abs().max() <= 1e-13 * other.abs().max()


def test_operators_are_registered_rightly(panda: Any) -> None:
    functions = armdyn.torch.wrap(panda)
    x = states(7, 3)
    functions.inverse_dynamics(*x)
    label = next(label for label, each in armdyn.torch._known.items() if each.dynamics is panda)
    torch.library.opcheck(torch.ops.armdyn.value.default, (x, label))
    torch.library.opcheck(torch.ops.armdyn.pull.default, ([each.detach() for each in x], x[0].detach(), label))


def test_types_and_what_is_refused(panda: Any) -> None:
    functions = armdyn.torch.wrap(panda)
    q = states(7, asked=False)[0]
    single = functions.gravity(q.float())
    assert single.dtype == torch.float32
    assert (single == functions.gravity(q.float().double()).float()).all()
    assert functions.gravity([0] * 7).dtype == torch.float64
    with pytest.raises(ShapeError, match=r"\(\.\.\., 7\)"):
        functions.gravity(q[:6])
    with pytest.raises(ArmdynError, match="meta"):
        functions.gravity(q.to("meta"))
    with pytest.raises(FeatureError, match="free"):
        armdyn.torch.wrap(armdyn.compile(armdyn.random_robot(1, 3, free_root=True)))
    x = torch.cat(states(7)).detach()
    with pytest.raises(NotApplicable, match="third"):
        third = torch.func.jacrev(torch.func.hessian(lambda x: functions.inverse_dynamics(*x.split(7)).sum()))
        third(x)


def test_closed_chains() -> None:
    dyn = armdyn.compile(armdyn.load("five_bar"))
    functions = armdyn.torch.wrap(dyn)
    home = torch.tensor([float(joint.home) + 0.05 for joint in dyn.robot.joints], dtype=torch.float64)
    x = [home.requires_grad_(), *states(dyn.n)[:2]]
    assert gradcheck(functions.forward_dynamics, x)
    with pytest.raises(NotApplicable, match="pose"):
        functions.pose(x[0]).sum().backward()
