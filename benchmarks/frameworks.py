"""Gradients of the panda's forward dynamics in JAX: machine code and another package.

    python benchmarks/frameworks.py [--adam]

--adam: also adam-robotics, if installed, on the same arm. With JAX_COMPILATION_CACHE_DIR set, JAX keeps what it
compiled, and a second run measures at once.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import armdyn
import armdyn.jax

SAMPLES = 1000
AT_LEAST = 2.0
"""Seconds of measuring each way, and at least three calls."""


def with_gradient(forward_dynamics: Callable[..., Any]) -> Any:
    """The sum of squared accelerations and its gradient by q, qd and tau, of a batch."""

    def effort(q: Any, qd: Any, tau: Any) -> Any:
        return (forward_dynamics(q, qd, tau) ** 2).sum()

    return jax.jit(jax.vmap(jax.value_and_grad(effort, argnums=(0, 1, 2))))


def of_adam(own: armdyn.Robot) -> Callable[..., Any]:
    """Forward dynamics on a fixed base: M^-1 (tau - h). Its own `aba` is that of a free base."""
    from adam.core.rbd_algorithms import RBDAlgorithms
    from adam.jax.jax_like import SpatialMath
    from adam.model import Model, build_model_factory

    arithmetic = SpatialMath()  # that of adam.jax.KinDynComputations is tied to a device, which vmap refuses
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", armdyn.ModelWarning)  # acceleration limits, which no URDF contains
        path = str(own.save(Path(folder, "panda.urdf")))
        model = Model.build(build_model_factory(path, arithmetic), [joint.name for joint in own.joints])
    robot = RBDAlgorithms(model, arithmetic)
    base, still, gravity = jnp.eye(4), jnp.zeros(6), jnp.array([*own.gravity, 0.0, 0.0, 0.0])

    def forward_dynamics(q: Any, qd: Any, tau: Any) -> Any:
        M = robot.crba(base, q)[0].array[6:, 6:]
        h = robot.rnea(base, q, still, qd, gravity).array[6:]
        return jnp.linalg.solve(M, tau - h)

    return forward_dynamics


def measured(call: Callable[..., Any], state: list[Any]) -> float:
    """Microseconds a sample, the best of several calls."""
    times: list[float] = []
    while len(times) < 3 or sum(times) < AT_LEAST:
        begin = time.perf_counter()
        jax.block_until_ready(call(*state))
        times.append(time.perf_counter() - begin)
    return min(times) / SAMPLES * 1e6


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    robot = armdyn.load("panda")
    ways = {"machine code": lambda: armdyn.jax.wrap(armdyn.compile(robot)).forward_dynamics}
    if "--adam" in sys.argv:
        ways["adam-robotics"] = lambda: of_adam(robot)
    state = [jnp.asarray(x) for x in np.random.default_rng(0).normal(size=(3, SAMPLES, 7))]
    expected: Any = None
    reference = 0.0
    print(f"panda, forward dynamics with gradient, {SAMPLES} samples, jit(vmap(value_and_grad))", flush=True)
    for name, make in ways.items():
        print(f"{name:16s} is being compiled ...", file=sys.stderr, flush=True)
        begin = time.perf_counter()
        call = with_gradient(make()).lower(*state).compile()
        compiled = time.perf_counter() - begin
        gradient = jax.tree.leaves(call(*state))
        expected = expected or gradient
        difference = max(float(abs(a - b).max() / abs(b).max()) for a, b in zip(gradient, expected, strict=True))
        found = measured(call, state)
        reference = reference or found
        print(
            f"{name:16s} {found:10.2f} us a sample, {found / reference:8.1f} times; compiled in {compiled:.1f} s; "
            f"differs by {difference:.0e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
