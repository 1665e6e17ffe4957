"""What every formulation must satisfy, whatever its method: laws and an independent engine."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
from flint import fmpq

from armdyn.algebra import Dual, Inertia, dot_of
from armdyn.graph import RationalAngle, trace
from armdyn.mechanics import newton_euler
from armdyn.robot import Robot
from armdyn.robot.exact import exact
from armdyn.robot.random import random_robot
from support import pinocchio_model
from support.pinocchio_model import pin

SHAPES: dict[str, dict[str, Any]] = {
    "one joint": {"n": 1},
    "standard": {"n": 5, "convention": "standard"},
    "modified": {"n": 5, "convention": "modified", "any_gravity": True},
    "free axes": {"n": 4, "convention": "free", "fixed": 0.4},
    "sliding": {"n": 4, "prismatic": 0.8},
    "turning": {"n": 6, "prismatic": 0.0},
    "right angles": {"n": 6, "skew": False},
    "tree": {"n": 7, "branching": 0.5, "any_gravity": True},
}
"""Random robots of every kind, by name; all on tilted bases, with a tool."""


def sample(shape: str) -> tuple[Robot, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A robot, q, qd, qdd and a tip wrench, the same for the same shape."""
    seed = list(SHAPES).index(shape)
    robot = random_robot(100 + seed, **SHAPES[shape])
    rng = np.random.default_rng(seed)
    return robot, *rng.uniform(-2, 2, (3, robot.n)), rng.uniform(-5, 5, 6)  # type: ignore[return-value]


def assert_close(found: Any, expected: Any, relative: float = 1e-10) -> None:
    """Equal to a part of the largest entry expected."""
    scale = np.abs(expected).max()
    assert np.shape(found) == np.shape(expected)
    assert np.abs(np.asarray(found) - expected).max() <= relative * max(scale, 1e-3)


def check_engine(module: ModuleType, shape: str) -> None:
    """All quantities against Pinocchio."""
    robot, q, qd, qdd, wrench = sample(shape)
    model = pinocchio_model
    rest = np.zeros(robot.n)
    weightless = model.inverse_dynamics(robot.without("gravity"), q, qd, rest)
    assert_close(module.inverse_dynamics(robot, q, qd, qdd, wrench), model.inverse_dynamics(robot, q, qd, qdd, wrench))
    assert_close(module.inverse_dynamics(robot, q, qd, qdd), model.inverse_dynamics(robot, q, qd, qdd))
    assert_close(module.mass_matrix(robot, q), model.mass_matrix(robot, q))
    assert_close(module.gravity(robot, q), model.inverse_dynamics(robot, q, rest, rest))
    assert_close(module.coriolis(robot, q, qd), weightless)
    if hasattr(module, "coriolis_matrix"):
        assert_close(module.coriolis_matrix(robot, q, qd) @ qd, weightless)
    engine = model.build(robot)
    data, at = engine.createData(), model.order(engine, robot)
    x, v = np.zeros(robot.n), np.zeros(robot.n)
    x[at], v[at] = q, qd
    assert_close(module.kinetic_energy(robot, q, qd), pin.computeKineticEnergy(engine, data, x, v))
    assert_close(module.potential_energy(robot, q), pin.computePotentialEnergy(engine, data, x))


def check_christoffel(module: ModuleType, shape: str) -> None:
    """Mdot - 2C is skew-symmetric, and C is half the derivative of C qd by qd: only the Christoffel matrix is both."""
    robot, q, qd, _, _ = sample(shape)
    step = 1e-30
    Mdot = module.mass_matrix(robot, q + 1j * step * qd).imag / step
    C = module.coriolis_matrix(robot, q, qd)
    N = Mdot - 2 * C
    assert np.abs(N + N.T).max() <= 1e-12 * max(np.abs(C).max(), 1e-3)
    columns = [module.coriolis(robot, q, qd + 1j * step * unit).imag / step for unit in np.eye(robot.n)]
    assert_close(C, np.transpose(columns) / 2)


def check_exact(module: ModuleType, shape: str, seed: int = 0, **more: Any) -> None:
    """Equality with Newton-Euler over rationals: no tolerance. Rotors too, if asked for."""
    robot = exact(random_robot(200 + seed, **{**SHAPES[shape], **more}))
    assert not more.get("rotors") or any(spin.axis is not None and spin.carrier >= 0 for spin in robot.spins)
    rng = np.random.default_rng(seed)

    def rational() -> fmpq:
        return fmpq(int(rng.integers(-20, 20)), int(rng.integers(1, 10)))

    q = [RationalAngle(rational()) if link.revolute else rational() for link in robot.links]
    qd, qdd, wrench = ([rational() for _ in range(size)] for size in (robot.n, robot.n, 6))
    same = newton_euler.inverse_dynamics(robot, q, qd, qdd, wrench)
    assert module.inverse_dynamics(robot, q, qd, qdd, wrench) == same
    assert module.mass_matrix(robot, q) == newton_euler.mass_matrix(robot, q)
    assert module.coriolis(robot, q, qd) == newton_euler.coriolis(robot, q, qd)
    assert module.gravity(robot, q) == newton_euler.gravity(robot, q)


def check_scalars(module: ModuleType, shape: str = "tree") -> None:
    """The same formula on batches, dual numbers and graph nodes."""
    robot, q, qd, qdd, wrench = sample(shape)
    tau = module.inverse_dynamics(robot, q, qd, qdd, wrench)
    batch = module.inverse_dynamics(robot, np.stack([q, qd]), qd, qdd, wrench)
    assert_close(batch, [tau, module.inverse_dynamics(robot, qd, qd, qdd, wrench)], 1e-13)

    step, along = 1e-30, qdd
    moved = [Dual(x, y) for x, y in zip(q.tolist(), along.tolist(), strict=True)]
    slopes = [dot_of(x) for x in module.inverse_dynamics(robot, moved, qd.tolist(), qdd.tolist())]
    assert_close(slopes, module.inverse_dynamics(robot, q + 1j * step * along, qd, qdd).imag / step)

    inputs = {"q": robot.n, "qd": robot.n, "qdd": robot.n, "w": 6}
    graph = trace(lambda *arguments: module.inverse_dynamics(robot, *arguments), inputs)
    assert_close(graph(q=q, qd=qd, qdd=qdd, w=wrench), tau, 1e-12)


def without_mass(robot: Robot, keep_moment: bool) -> Robot:
    """The robot whose second body has no mass: no inertia at all, or grouped parameters with first moments."""
    joint = robot.tree[1]
    inertia = replace(joint.body.inertia.at_origin(), mass=0) if keep_moment else Inertia.zero()
    bare = replace(joint, body=replace(joint.body, inertia=inertia))
    return replace(robot, tree=(robot.tree[0], bare, *robot.tree[2:]))
