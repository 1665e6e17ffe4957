"""The objective of excitation: how well a motion excites the parameters, with its gradient.

The base regressor at the samples of the motion is compiled, and so is the gradient of any weighted sum of its entries,
by reverse mode on the expression graph. A criterion J of G = W^T W has dJ/dW = 2 W dJ/dG; contracted with the compiled
gradient and the sampling matrices of `harmonics` or `polynomials` this is dJ/dx, exactly, at the cost of two
regressors. Limits of position, velocity, acceleration and torque are kept by a barrier that is finite everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled
from armdyn.dynamics.programs import program
from armdyn.errors import ArmdynError
from armdyn.graph import Node, gradient, trace
from armdyn.identification.excitation.clearance import Clearance
from armdyn.identification.excitation.criteria import criterion_named
from armdyn.identification.excitation.harmonics import Harmonics
from armdyn.identification.excitation.polynomials import Polynomials
from armdyn.identification.fit.observation import base_regressor, closing, state_sizes
from armdyn.motion.sampling import states
from armdyn.parameters import BaseParameters, parameter_names, regressor
from armdyn.robot import Robot
from armdyn.robot.features import has_asymmetric_friction
from armdyn.robot.limits import MotionLimits
from armdyn.robot.parts import Friction
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

SMOOTH = 0.02
"""Share of the velocity limit over which dry friction is smoothed during the search, so that it has a slope."""
RELAXED = 1e-3
"""Distance to a limit, as a share of it, below which the logarithmic barrier continues as a parabola."""
EVERY, MARGIN = 4, 1e-3
"""Every how many of the fine samples of a motion the clearance is checked, and the share of it kept free for what is
between them."""
BETWEEN = 5e-5
"""Share of the limits kept free for what happens between the fine samples of a motion."""


@dataclass(frozen=True, eq=False)
class Design:
    """A robot, base parameters to identify, kind of motion, its limits, samples per period, what to keep clear of."""

    robot: Robot
    base: BaseParameters
    harmonics: Harmonics | Polynomials
    limits: MotionLimits
    samples: int
    clearance: Clearance | None = None

    @cached_property
    def dynamics(self) -> Dynamics:
        return compiled(self.robot)

    @cached_property
    def sampling(self) -> Array:
        return self.harmonics.sampling(np.arange(self.samples) * self.harmonics.period / self.samples)

    # The regressor and its slopes -----------------------------------------------------------------------------------

    @cached_property
    def _smooth_robot(self) -> Robot:
        """The robot with friction that has a slope everywhere."""
        joints, fastest = {}, float(self.limits.velocity.max())
        known = dict(zip((joint.name for joint in self.robot.joints), self.limits.velocity.tolist(), strict=True))
        for joint in self.robot.movable:
            width = SMOOTH * known.get(joint.name, fastest)
            law = "asymmetric_smooth" if has_asymmetric_friction(joint) else "smooth"
            joints[joint.name] = replace(joint, friction=replace(joint.friction or Friction(), law=law, width=width))
        return replace(self.robot, tree=tuple(joints.get(j.name, j) for j in self.robot.tree), expressions=None)

    @cached_property
    def _chosen(self) -> list[int]:
        names_of_all = parameter_names(self.robot, self.base.include)
        return [names_of_all.index(name) for name in self.base.columns]

    def _columns(self, q: Any, qd: Any, qdd: Any, near: Any = None) -> list[list[Any]]:
        rows = regressor.formula(self._smooth_robot, q, qd, qdd, self.base.include, near)
        return [[row[c] for c in self._chosen] for row in rows]

    @cached_property
    def _live(self) -> list[tuple[int, int]]:
        """Entries of the regressor that are not literal zeros."""
        rows = self._graph.outputs["out"]
        return [(i, j) for i, row in enumerate(rows) for j, y in enumerate(row) if not _is_zero(y)]

    @cached_property
    def _graph(self) -> Any:
        return trace(self._columns, state_sizes(self.robot))

    @cached_property
    def _regressor(self) -> Callable[..., Any]:
        return closing(self.robot, program(self._graph, "excitation_regressor", cache=True))

    @cached_property
    def _slopes(self) -> Callable[..., Any]:
        """Gradient of sum_k A_k Y_k over the live entries by (q, qd, qdd)."""

        def weighted(q: Any, qd: Any, qdd: Any, *more: Any) -> dict[str, Any]:
            *near, A = more
            rows = self._columns(q, qd, qdd, *near)
            total: Any = 0
            for weight, (i, j) in zip(A, self._live, strict=True):
                total = total + weight * rows[i][j]
            return dict(zip(("dq", "dqd", "dqdd"), gradient(total, (q, qd, qdd)), strict=True))

        sizes = state_sizes(self.robot) | {"A": len(self._live)}
        return closing(self.robot, program(trace(weighted, sizes), "excitation_slopes", cache=True))

    # The objective --------------------------------------------------------------------------------------------------

    def states(self, x: Array) -> tuple[Array, Array, Array]:
        """Position, velocity, acceleration (samples, n) of coefficients x (n, size)."""
        q, qd, qdd = (np.ascontiguousarray(S @ x.T) for S in self.sampling)
        return q, qd, qdd

    def objective(self, x: Array, criterion: str, sharpness: float, barrier: float) -> tuple[float, Array]:
        """Criterion plus barrier, and the gradient, (n, size)."""
        q, qd, qdd = self.states(x)
        value, slopes = self._informative(q, qd, qdd, criterion, sharpness)
        cost, pushes = self._within(q, qd, qdd)
        total = [a + barrier * b for a, b in zip(slopes, pushes, strict=True)]
        return value + barrier * cost, sum(g.T @ S for g, S in zip(total, self.sampling, strict=True))

    def _informative(
        self, q: Array, qd: Array, qdd: Array, criterion: str, sharpness: float
    ) -> tuple[float, list[Array]]:
        Y = self._regressor(q, qd, qdd)
        W = Y.reshape(-1, Y.shape[-1]) @ self.base.from_columns
        eigenvalues, V = np.linalg.eigh(W.T @ W)
        value, slope = criterion_named(criterion)(eigenvalues, sharpness)
        by_entry = 2 * ((W @ V) * slope) @ (V.T @ self.base.from_columns.T)  # dJ/dY = 2 W dJ/dG to_base^T
        rows, columns = np.array(self._live).T
        A = np.ascontiguousarray(by_entry.reshape(Y.shape)[:, rows, columns])
        return value, list(self._slopes(q, qd, qdd, A))

    def _within(self, q: Array, qd: Array, qdd: Array) -> tuple[float, list[Array]]:
        """The barrier and its slopes by q, qd, qdd."""
        tau = self.dynamics.inverse_dynamics(q, qd, qdd)
        cost = 0.0
        slopes = []
        for value, (middle, half) in zip((q, qd, qdd, tau), self.bands, strict=True):
            share = (value - middle) / half
            b, slope = barrier(1 - share * share)
            cost += float(b.sum()) / len(q)
            slopes.append(slope * (-2 * share / half) / len(q))
        by_q, by_qd = self.dynamics.inverse_dynamics_derivatives(q, qd, qdd)
        for slope, by in zip(slopes, (by_q, by_qd, self.dynamics.mass_matrix(q)), strict=False):
            slope += np.einsum("ki,kij->kj", slopes[3], by)
        if self.clearance is not None:
            near, by_q_of = self.clearance.shares(q)
            b, slope = barrier(1 - near * near)
            cost += float(b.sum()) / len(q)
            slopes[0] += by_q_of(slope * (-2 * near) / len(q))
        return cost, slopes[:3]

    @cached_property
    def bands(self) -> list[tuple[Array, Array]]:
        """Middle and half width of the limits of position, velocity, acceleration and torque; infinite without one."""
        limits = self.limits
        pairs = [
            (limits.lower, limits.upper),
            (-limits.velocity, limits.velocity),
            (-limits.acceleration, limits.acceleration),
            (limits.tau_min, limits.tau_max),
        ]
        bands = []
        for low, high in pairs:
            both = np.isfinite(low) & np.isfinite(high)
            middle, half = np.zeros(len(low)), np.full(len(low), np.inf)
            middle[both], half[both] = (low[both] + high[both]) / 2, (high[both] - low[both]) / 2
            bands.append((middle, half))
        return bands

    # Finished motions -----------------------------------------------------------------------------------------------

    def observation(self, motion: Trajectory) -> Array:
        """(N n, p) base regressor, with the robot's own friction laws, over one period."""
        t = np.arange(self.samples) * self.harmonics.period / self.samples
        Y = self._own_regressor(*states(motion, t))
        W: Array = Y.reshape(-1, Y.shape[-1])
        return W

    @cached_property
    def _own_regressor(self) -> Any:
        return base_regressor(self.base)

    @cached_property
    def _fine(self) -> Array:
        count = self.harmonics.fine
        return self.harmonics.sampling(np.arange(count) * self.harmonics.period / count)

    def use(self, x: Array) -> float:
        """Largest share of any limit that the motion of x uses, on a fine grid."""
        return float(max(share.max() for share in self._shares(x))) / (1 - BETWEEN)

    def _shares(self, x: Array) -> list[Array]:
        q, qd, qdd = (np.ascontiguousarray(S @ x.T) for S in self._fine)
        tau = self.dynamics.inverse_dynamics(q, qd, qdd)
        shares = [np.abs((v - m) / h).max(axis=0) for v, (m, h) in zip((q, qd, qdd, tau), self.bands, strict=True)]
        if self.clearance is not None:
            shares.append((1 + MARGIN) * self.clearance.shares(q[::EVERY])[0].max(axis=0, initial=0.0))
        return shares

    def shrunk(self, x: Array, share: float = 1.0) -> Array | None:
        """The motion of x, scaled down about its mean until it keeps all limits; None if even rest does not."""
        if self.use(x) <= share:
            return x
        low, high = 0.0, 1.0
        if self.use(_smaller(x, low)) > share:
            return None
        for _ in range(30):
            factor = (low + high) / 2
            low, high = (factor, high) if self.use(_smaller(x, factor)) <= share else (low, factor)
        return _smaller(x, low)

    def random(self, rng: np.random.Generator, share: float = 1.0) -> Array:
        """Random coefficients of a motion that is as large as its limits allow.

        The mean lies in the middle half of the range; each joint is scaled until it touches its first limit of
        position, velocity or acceleration; if torques are then too large, all joints are scaled down together.
        """
        middle, half = self.bands[0]
        reach = np.where(np.isfinite(half), half, np.pi)
        for _ in range(1000):
            x = rng.normal(size=(self.robot.n, self.harmonics.size))
            x[:, 0] = middle + 0.5 * reach * rng.uniform(-1, 1, self.robot.n)
            x = self._joints_grown(x, share)
            kept = self.shrunk(x, share)
            if kept is not None:
                return kept
        raise ArmdynError(
            "no random motion keeps the limits",
            where=f"robot {self.robot.name!r}",
            expected="torque limits that hold the arm in the middle of its ranges",
            advice="Give larger tau_max, or narrower ranges.",
        )

    def _joints_grown(self, x: Array, share: float) -> Array:
        """Each joint's oscillation scaled so that it touches the first of its own limits."""
        factors = np.full(len(x), np.inf)
        for order, (middle, half) in enumerate(self.bands[:3]):
            swing = self._fine[order][:, 1:] @ x[:, 1:].T
            room = share * half - (np.abs(x[:, 0] - middle) if order == 0 else 0.0)
            factors = np.minimum(factors, room / np.abs(swing).max(axis=0))
        grown = x.copy()
        grown[:, 1:] *= np.where(np.isfinite(factors), factors, 1.0)[:, None]
        return grown


def barrier(z: Array) -> tuple[Array, Array]:
    """-log z, below RELAXED its parabola (finite for every z), and the slope."""
    d = RELAXED
    inside = np.maximum(z, d)
    value = np.where(z > d, -np.log(inside), -np.log(d) - (z - d) / d + ((z - d) / d) ** 2 / 2)
    return value, np.where(z > d, -1 / inside, -1 / d + (z - d) / d**2)


def _is_zero(y: Node) -> bool:
    return y.op == "const" and y.value == 0


def _smaller(x: Array, factor: float) -> Array:
    return np.column_stack([x[:, 0], factor * x[:, 1:]])


__all__ = ["Design"]
