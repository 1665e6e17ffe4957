"""Durations against the package toppra, which shares no code with us."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from motion.arms import compiled, waypoints

ta = pytest.importorskip("toppra", reason="toppra (pip install toppra) is not installed")
CELLS = 400


def theirs(dyn: armdyn.Dynamics, points: np.ndarray, coulomb: np.ndarray | None = None) -> float:
    """Duration by toppra: the same spline, limits at both ends of even cells."""
    limits = armdyn.motion.motion_limits(dyn.robot)
    model = armdyn.compile(dyn.robot.without("friction")) if coulomb is not None else dyn
    both = ta.constraint.DiscretizationType.Interpolation
    dry = np.zeros(dyn.n) if coulomb is None else coulomb
    torque = np.column_stack([limits.tau_min, limits.tau_max])
    constraints = [ta.constraint.JointTorqueConstraint(model.inverse_dynamics, torque, dry, both)]
    if np.isfinite(limits.velocity).all():
        constraints.append(ta.constraint.JointVelocityConstraint(np.outer(limits.velocity, [-1, 1])))
    if np.isfinite(limits.acceleration).all():
        acceleration = np.outer(limits.acceleration, [-1, 1])
        constraints.append(ta.constraint.JointAccelerationConstraint(acceleration, both))
    path = ta.SplineInterpolator(np.linspace(0, 1, len(points)), points)
    solver = ta.algorithm.TOPPRA(constraints, path, gridpoints=np.linspace(0, 1, CELLS + 1), solver_wrapper="seidel")
    _, speed, _ = solver.compute_parameterization(0, 0)
    return float((2 / CELLS / (speed[1:] + speed[:-1])).sum())


@pytest.mark.parametrize("name", ["panda", "ur5"])
@pytest.mark.parametrize("seed", range(10))
def test_durations_agree_within_one_per_cent(name: str, seed: int) -> None:
    dyn, points = compiled(name), waypoints(name, seed)
    curve = armdyn.trajectory.from_samples(np.linspace(0, 1, len(points)), points)
    ours = armdyn.time_optimal(curve, dyn, points=CELLS)
    assert abs(ours.duration / theirs(dyn, points) - 1) < 0.01


@pytest.mark.parametrize("seed", range(3))
def test_durations_agree_with_dry_friction(seed: int) -> None:
    robot = armdyn.load("puma560")
    rows = [joint.friction for joint in robot.joints]
    coulomb = np.array([float(row.coulomb) for row in rows])
    from dataclasses import replace

    tree = tuple(replace(j, friction=replace(j.friction, viscous=0)) for j in robot.tree)
    dyn = armdyn.compile(replace(robot, tree=tree))
    points = waypoints("puma560", seed)
    curve = armdyn.trajectory.from_samples(np.linspace(0, 1, len(points)), points)
    # 2 %: even cells miss the places at which a joint turns round and its friction with it.
    assert abs(armdyn.time_optimal(curve, dyn, points=CELLS).duration / theirs(dyn, points, coulomb) - 1) < 0.02
