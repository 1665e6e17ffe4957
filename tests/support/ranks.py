"""Ranks of regressors in double precision: a second opinion on the number of base parameters."""

from __future__ import annotations

import random
from collections.abc import Iterable

import numpy as np

from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.parameters import parameter_names, regressor
from armdyn.parameters.base import RANK_THRESHOLD
from armdyn.robot import Robot
from armdyn.typing import Array

SPREAD = 0.4
"""How far from the assembly closed configurations are drawn, rad."""


def stacked_regressor(robot: Robot, include: Iterable[str], states: int | None = None, seed: int = 0) -> Array:
    """(states n, p) regressors over random states, one below the other; of a closed chain at closed motions."""
    names = parameter_names(robot, include)
    count = states or (1 if robot.constrained else 2) * len(names) // max(robot.n, 1) + 10
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-1, 1, (3, count, robot.n)) * np.array([np.pi, 3, 10])[:, None, None]
    near = None
    if robot.constrained:
        chain = dependent_joints(robot)
        near = np.array(chain.drawn(random.Random(seed), count, SPREAD))
        q = near[:, chain.independent]
    return np.reshape(regressor(robot, q, qd, qdd, include, near), (count * robot.n, len(names)))


def numeric_rank(W: Array) -> int:
    """Number of independent columns, by singular values of the matrix with its columns scaled to length 1."""
    length = np.linalg.norm(W, axis=0)
    scaled = W[:, length > RANK_THRESHOLD * max(length.max(initial=0.0), 1e-300)]
    if not scaled.size:
        return 0
    singular = np.linalg.svd(scaled / np.linalg.norm(scaled, axis=0), compute_uv=False)
    return int((singular > RANK_THRESHOLD * singular[0]).sum())
