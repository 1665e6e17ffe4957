"""Largest values of a quantity over the workspace, for the design of gains."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled
from armdyn.kinematics.closable import pulled_in
from armdyn.kinematics.reach import reach
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, FRICTIONLESS, TREE, takes
from armdyn.robot.limits import torque_limits, working_range
from armdyn.typing import Array

SAMPLES, ROUNDS, AROUND = 4096, 12, 128
USUAL_MASS, USUAL_PLACE = 0.1, 0.05
"""A usual payload, as a share of the arm's mass, and how far it extends along each tool axis as a share of reach."""


def largest(robot: Robot, values: Callable[[Array], Array], seed: int = 0) -> Array:
    """Return the largest entries (m,) of values(q) over the working range: random samples, then local search.

    Of closed chains, configurations near singular ones are left out: inertias have no bound there.

    robot:  the robot.
    values: function of configurations (k, n) that returns (k, m) numbers.
    seed:   of the random numbers (default: 0).
    """
    low, high = working_range(robot)
    random = np.random.default_rng(seed)
    dyn = compiled(robot) if robot.loops else None
    q = low + (high - low) * random.random((SAMPLES, robot.n))
    q = q if dyn is None else pulled_in(dyn, q, well=True)
    found = values(q)
    best = found.max(axis=0)
    where = q[found.argmax(axis=0)]
    width = 0.3 * (high - low)
    for _ in range(ROUNDS):
        near = where[:, None, :] + width * random.standard_normal((len(best), AROUND, robot.n))
        near = np.clip(near, low, high)
        near = near if dyn is None else pulled_in(dyn, near.reshape(-1, robot.n), well=True).reshape(near.shape)
        found = values(near.reshape(-1, robot.n)).reshape(len(best), AROUND, len(best))
        own = found[np.arange(len(best)), :, np.arange(len(best))]
        pick = own.argmax(axis=1)
        rows = np.arange(len(best))
        better = own[rows, pick] > best
        where = np.where(better[:, None], near[rows, pick], where)
        best = np.maximum(best, own[rows, pick])
        width = 0.6 * width
    return np.asarray(best)


@takes(*CLOSED, *FRICTIONLESS)
def largest_inertias(dyn: Dynamics, seed: int = 0) -> Array:
    """Return the largest M_jj of each joint over the workspace, (n,) kg m^2 or kg: the a_j of Khalil (9.6)."""
    return largest(dyn.robot, lambda q: np.diagonal(dyn.mass_matrix(q), axis1=-2, axis2=-1), seed)


@lru_cache(maxsize=32)
def loaded(dyn: Dynamics) -> Dynamics:
    """Return the model with a usual payload, since it may not have the one that the arm carries.

    URDF files often give wrists without rotors, 1e-4 kg m^2 and less; any payload makes them ten times heavier. The
    payload is spread evenly around the tool, so that it resists every rotation.
    """
    robot = dyn.robot.without("elastic") if "elastic" in dyn.robot.features else dyn.robot
    mass, aside = USUAL_MASS * sum(float(link.inertia.mass) for link in robot.links), USUAL_PLACE * reach(robot)
    return compiled(robot.with_payload(mass, inertia=2 * mass * aside**2 * np.eye(3)), cache=dyn.cache)


@takes(*CLOSED, *FRICTIONLESS)
def acceleration_constants(dyn: Dynamics, seed: int = 0) -> Array:
    """Return k_a = tau_max / max M_jj of each joint, (n,) rad/s^2 or m/s^2: largest accelerations. Khalil sec. 8.3

    An estimate: gravity, coupling and velocities are not considered. Infinite where no torque limit is known.
    """
    return np.asarray(torque_limits(dyn.robot) / largest_inertias(dyn, seed))


@takes(*CLOSED, *TREE)
def largest_gravity_slope(dyn: Dynamics, seed: int = 0) -> float:
    """Return the largest 2-norm of dg/dq over the workspace, N m/rad: a lower bound of kp for gravity at q_d.

    Springs and counterbalances count as gravity.

    Khalil sec. 9.3.2
    """
    still = np.zeros(dyn.n)

    def norms(q: Array) -> Array:
        rest = np.broadcast_to(still, q.shape)
        slopes, _ = dyn.inverse_dynamics_derivatives(q, rest, rest)
        return np.asarray(np.linalg.norm(slopes, ord=2, axis=(-2, -1))[:, None])

    return float(largest(dyn.robot, norms, seed)[0])
