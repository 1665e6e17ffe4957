"""Gradients of the panda's forward dynamics in JAX: machine code, the exported JAX module, and another package.

    python benchmarks/frameworks.py [--source] [--adam]

--source: also the exported module, which XLA compiles for minutes. --adam: also adam-robotics, if installed, on the
same arm.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import armdyn
import armdyn.jax
from armdyn.export.jax_source import function

SAMPLES, REPEATS = 1000, 20


def with_gradient(forward_dynamics: Callable[..., Any]) -> Callable[..., Any]:
    """The sum of squared accelerations and its gradient by q, qd and tau, of a batch."""

    def effort(q: Any, qd: Any, tau: Any) -> Any:
        return (forward_dynamics(q, qd, tau) ** 2).sum()

    return jax.jit(jax.vmap(jax.value_and_grad(effort, argnums=(0, 1, 2))))


def of_adam(own: armdyn.Robot) -> Callable[..., Any]:
    """Forward dynamics on a fixed base: M^-1 (tau - h)."""
    from adam.jax import KinDynComputations

    with TemporaryDirectory() as folder:
        robot = KinDynComputations(str(own.save(Path(folder, "panda.urdf"))), [joint.name for joint in own.joints])
    base = jnp.eye(4)

    def forward_dynamics(q: Any, qd: Any, tau: Any) -> Any:
        M = robot.mass_matrix(base, q)[6:, 6:]
        h = robot.bias_force(base, q, jnp.zeros(6), qd)[6:]
        return jnp.linalg.solve(M, tau - h)

    return forward_dynamics


def microseconds(call: Callable[..., Any], *arguments: Any, repeats: int = REPEATS) -> tuple[float, float]:
    """(per sample, best of several; seconds of the first call)."""
    begin = time.perf_counter()
    jax.block_until_ready(call(*arguments))
    first = time.perf_counter() - begin
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        jax.block_until_ready(call(*arguments))
        best = min(best, time.perf_counter() - begin)
    return best / SAMPLES * 1e6, first


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    robot = armdyn.load("panda")
    ways = {"machine code": armdyn.jax.wrap(armdyn.compile(robot)).forward_dynamics}
    if "--adam" in sys.argv:
        ways["adam-robotics"] = of_adam(robot)
    if "--source" in sys.argv:
        ways["exported module"] = function(robot, "forward_dynamics")
    state = [jnp.asarray(x) for x in np.random.default_rng(0).normal(size=(3, SAMPLES, 7))]
    reference = 0.0
    for name, way in ways.items():
        repeats = REPEATS if name == "machine code" else 3
        found, first = microseconds(with_gradient(way), *state, repeats=repeats)
        reference = reference or found
        print(
            f"{name:16s} {found:10.2f} us a sample, {found / reference:8.1f} times; first call {first:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
