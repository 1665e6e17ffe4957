"""Stability of a sampled control loop: what the arm does between two calls of its law.

A law that is stable in continuous time need not be so when its torques are held for a control period. The loop is
linearised about slow motions all over the workspace, in which dry friction is constant, away from singular
configurations of closed chains: the plant is discretised exactly for held torques, the law and the change of its memory
are differentiated, and the largest eigenvalue of one period decides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import expm

from armdyn.control.base import Desired, Law, SingularTask
from armdyn.dynamics import Dynamics
from armdyn.kinematics.closable import pulled_in
from armdyn.robot.limits import start_position, working_range
from armdyn.typing import Array

CONFIGURATIONS = 24
"""Random configurations beside the starting one: light and heavy poses of a six-joint arm are among so many."""
SLOW = 0.02
"""Velocity about which the loop is linearised, rad/s or m/s: dry friction is constant, Coriolis torques are small."""
STEP = 1e-6
"""Relative step of the central differences: their error, about 1e-10, is far below what decides here."""
GROWTH = 0.2
"""What sampling may add to the rate of growth, 1/s: adaptive laws have eigenvalues at 1, which differences move by
their own error over the period, and no motion of a few seconds shows such growth."""
SHORTEST = 1e-6
"""Shortest period that is tried, s."""


class LinearLoops(NamedTuple):
    """Loops about motions: x' = A x + B tau, tau = F x + G z, z' = P x + Q z, with x = (q, qd) and the memory z.

    Each is an array of matrices, one for each motion.
    """

    A: Array
    B: Array
    F: Array
    G: Array
    P: Array
    Q: Array

    def growth(self, period: float) -> Array:
        """Rates of the fastest growing motion of each sampled loop, 1/s; negative if all of them decay."""
        count, size, inputs = self.B.shape
        both = expm(period * np.block([[self.A, self.B], [np.zeros((count, inputs, size + inputs))]]))
        A, B = both[:, :size, :size], both[:, :size, size:]
        memory = np.eye(self.Q.shape[-1]) + period * self.Q
        loop = np.block([[A + B @ self.F, B @ self.G], [period * self.P, memory]])
        return np.asarray(np.log(np.abs(np.linalg.eigvals(loop)).max(axis=-1)) / period)

    def continuous_growth(self) -> Array:
        """Rates of the fastest growing motion of each loop whose law answers without delay, 1/s."""
        loop = np.block([[self.A + self.B @ self.F, self.B @ self.G], [self.P, self.Q]])
        return np.asarray(np.linalg.eigvals(loop).real.max(axis=-1))

    def stable(self, period: float) -> bool:
        """Whether no motion grows faster in the sampled loops than in continuous ones."""
        if not len(self.A):
            return True
        return bool((self.growth(period) <= GROWTH + np.maximum(0.0, self.continuous_growth())).all())


def linear_loops(law: Law, model: Dynamics, plant: Dynamics) -> LinearLoops:
    """The loop about slow motions at configurations all over the workspace. model: of the law, for its reference."""
    n = plant.robot.n
    low, high = working_range(plant.robot, one_turn=True)
    rng = np.random.default_rng(0)
    places = np.vstack([start_position(plant.robot), low + (high - low) * rng.random((CONFIGURATIONS, n))])
    places = pulled_in(plant, places, well=True)
    ways = SLOW * np.where(rng.random(places.shape) < 0.5, -1.0, 1.0)
    found = []
    for q, qd in zip(places, ways, strict=True):
        try:
            found.append(_linear_loop(law, model, plant, q, qd))
        except SingularTask:  # the law gives no torques there
            continue
    return LinearLoops(*map(np.array, zip(*found, strict=True))) if found else LinearLoops(*[np.empty(0)] * 6)


def _linear_loop(law: Law, model: Dynamics, plant: Dynamics, q: Array, qd: Array) -> tuple[Array, ...]:
    """The matrices of the loop about one motion."""
    where = plant.coordinates
    n, size, motors = len(q), where.size, list(where.motors)  # the law sees and drives the motors of elastic joints
    x, xd = (np.array(where.joined(part, part)) for part in (q, qd))
    tau = plant.inverse_dynamics(x, xd, np.zeros(size))
    slopes = plant.forward_dynamics_derivatives(x, xd, tau)
    A = np.block([[np.zeros((size, size)), np.eye(size)], [slopes[0], slopes[1]]])
    B = np.vstack([np.zeros((size, n)), slopes[2][:, motors]])
    desired = Desired(q, qd, np.zeros(n))
    if law.in_task_space:
        desired = Desired(model.pose(q), model.jacobian(q) @ qd, model.jacobian_dot_qd(q, qd))

    def outputs(state: Array) -> Array:
        given = (0.0, state[:n], state[n : 2 * n], desired, state[2 * n :])
        return np.concatenate([law(*given), law.change(*given)])

    at = np.concatenate([q, qd, law.start(q, qd)])
    steps = np.diag(STEP * np.maximum(1.0, np.abs(at)))
    columns = [(outputs(at + step) - outputs(at - step)) / (2 * step.max()) for step in steps]
    jacobian, m = np.array(columns).T, 2 * n
    seen = np.zeros((len(jacobian), 2 * size))
    seen[:, [*motors, *(size + place for place in motors)]] = jacobian[:, :m]
    return A, B, seen[:n], jacobian[:n, m:], seen[n:], jacobian[n:, m:]


def largest_stable_period(law: Law, model: Dynamics, plant: Dynamics, period: float) -> float:
    """The period, s, if the law is stable when it is sampled with it; else the largest shorter one that works, or 0.

    law:    the law with its gains.
    model:  of the arm, as the law knows it.
    plant:  the arm.
    period: time between two calls of the law, s.
    """
    loops = linear_loops(law, model, plant)
    if loops.stable(period):
        return period
    if not loops.stable(SHORTEST):
        return 0.0
    low, high = SHORTEST, period
    while high / low > 1.02:
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if loops.stable(middle) else (low, middle)
    return low
