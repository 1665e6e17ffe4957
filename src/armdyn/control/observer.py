"""Observers around another law: contact torques without a force sensor, velocities without a velocity sensor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import chdtri, ndtri

from armdyn.control.base import NOTHING, Desired, Law, settle
from armdyn.control.passivity import friction_columns
from armdyn.control.uncertainty import break_away, error_matrix, fewest
from armdyn.dynamics import Dynamics
from armdyn.dynamics.holding import holding_torques
from armdyn.errors import ArmdynError
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.typing import Array


@dataclass(frozen=True, eq=False)
class _Observer(Law):
    """What stands around another law, and answers as it does. law: the other one. dyn: model of the arm."""

    law: Law
    dyn: Dynamics

    @property
    def compilable(self) -> bool:
        return self.law.compilable

    @property
    def in_task_space(self) -> bool:
        return self.law.in_task_space

    @property
    def innermost(self) -> Law:
        return self.law.innermost

    def error(self, q: Array, desired: Desired) -> Array:
        return self.law.error(q, desired)


@takes(*CLOSED, *TREE)
@dataclass(frozen=True, eq=False)
class MomentumObserver(_Observer):
    """Contact detection around another law: the residual r estimates the torques that contacts exert on the joints.

        p = M(q) qd,  r = gain (p - s),  ds/dt = tau + C^T qd - g - springs - friction + r

    A. De Luca, R. Mattone, ICRA 2003. With the exact model dr/dt = gain (tau_contact - r), joint by joint: contact
    torques pass through a first-order filter. tau_contact = -J^T w for a wrench w that the robot exerts on the
    environment. `residual(...)` computes r.

    With `errors` E of the parameters, p_true = p + E x, the observer also knows what its residual is worth. It is
    linear in the parameters, so that without contact r = -W E x, dW/dt = gain (Y(q, qd, qdd) - W), which needs no
    acceleration when it is integrated as r is. Friction at rest is whatever holds the joint, up to the break-away
    torque; the filter passes it to a bound b of its own. `threshold(...)` is

        b + z sqrt(|W E|^2 + noise^2),   row by row, with z the quantile of the normal distribution

    so that a robot whose parameters are drawn from E raises a false alarm in a joint with probability `false_alarms`
    at any time.

    law:          the law that computes the torques.
    dyn:          model of the arm.
    gain:         bandwidth of the filter, 1/s, (n,) or one number (default: 50).
    errors:       standard deviations E of the parameters, (p, r): `parameter_errors(dyn, ...)`, its arguments, as in
                  {"mass": 0.03}, or `identified_errors(dyn, fit)` (default: none, and no thresholds).
    false_alarms: probability of a false alarm, of a joint at a time (default: 1e-4).
    always:       false_alarms is the probability for a robot, over all joints and all times; larger thresholds
                  (default: False).
    unexplained:  standard deviation of torques that no parameter explains, N m or N, (n,) or one number (default: 0).
    noise_qd:     standard deviation of the noise of velocities, rad/s or m/s, (n,) or one number (default: 0).
    rest:         velocity below which friction may be that of a joint at rest, rad/s or m/s (default: 1e-3).
    """

    gain: Any = 50.0
    errors: Any = None
    false_alarms: float = 1e-4
    always: bool = False
    unexplained: Any = 0.0
    noise_qd: Any = 0.0
    rest: float = 1e-3

    def __post_init__(self) -> None:
        settle(self, self.dyn.n, positive=("gain",), others=("unexplained", "noise_qd"))
        if not 0 < self.false_alarms < 1:
            raise ArmdynError(
                f"false_alarms = {self.false_alarms}",
                where="MomentumObserver",
                expected="a probability between 0 and 1",
            )
        if self.errors is not None:
            object.__setattr__(self, "errors", error_matrix(self.errors, self.dyn, "MomentumObserver"))

    @property
    def compilable(self) -> bool:
        return self.errors is None and super().compilable

    @cached_property
    def _root(self) -> Array:
        """(p, m) the errors, of as few columns as the torques need."""
        return fewest(self.errors, self.dyn)

    @cached_property
    def _holding(self) -> Array:
        """(n,) largest friction at rest, N m or N."""
        return np.asarray(np.abs(break_away(self.dyn)).max(axis=0))

    @cached_property
    def deviations(self) -> float:
        """z: standard deviations of the residual from which on it is an alarm."""
        if not self.always:
            return float(-ndtri(self.false_alarms / 2))
        # |a x| <= |a| |x| for all a at once, and |x|^2 has the chi-square distribution. Scheffé 1953
        return float(np.sqrt(chdtri(self._root.shape[1], self.false_alarms)))

    @cached_property
    def _friction_columns(self) -> Array:
        return friction_columns(self.dyn)

    @cached_property
    def _unit(self) -> Array:
        return np.eye(self.dyn.n)

    @cached_property
    def _own(self) -> int:
        """Entries of the memory that are the observer's: s, and with errors b and those of W."""
        n = self.dyn.n
        return n if self.errors is None else n * (2 + self._root.shape[1])

    def start(self, q: Array, qd: Array) -> Array:
        mine = [self.law.start(q, qd), self.momentum(q, qd)]
        if self.errors is not None:
            mine += [np.zeros(self.dyn.n), self._momentum_errors(q, qd).ravel()]
        return np.concatenate(mine)

    def momentum(self, q: Array, qd: Array) -> Array:
        """(n,) generalised momentum M(q) qd."""
        p: Array = self.dyn.mass_matrix(q) @ qd
        return p

    def residual(self, q: Array, qd: Array, memory: Array) -> Array:
        """(n,) estimated contact torques, N m or N; (k, n) for q, qd, memory of a whole run."""
        n = self.dyn.n
        first = memory.shape[-1] - self._own
        s = memory[..., first : first + n]
        M = self.dyn.mass_matrix(q)
        p = (M @ qd[..., None])[..., 0] if np.ndim(q) > 1 else M @ qd
        r: Array = self.gain * (p - s)
        return r

    def threshold(self, q: Array, qd: Array, memory: Array) -> Array:
        """(n,) residuals that are alarms, N m or N; (k, n) for q, qd, memory of a whole run."""
        if self.errors is None:
            raise ArmdynError(
                "no errors of the parameters",
                where="MomentumObserver.threshold",
                expected="errors=parameter_errors(dyn, ...) or identified_errors(dyn, fit)",
            )
        n, first = self.dyn.n, memory.shape[-1] - self._own
        bound = memory[..., first + n : first + 2 * n]
        noise = self.gain * np.sqrt(self.dyn.mass_matrix(q) ** 2 @ self.noise_qd**2)
        spread = np.sum(self._filtered(q, qd, memory) ** 2, axis=-1)
        return np.asarray(bound + self.deviations * np.sqrt(spread + noise**2 + self.unexplained**2))

    def _filtered(self, q: Array, qd: Array, memory: Array) -> Array:
        """W E = gain (P E - S), (..., n, m), with dS/dt = D E + W E."""
        P = self._momentum_errors(q, qd)
        S = memory[..., memory.shape[-1] - P.shape[-2] * P.shape[-1] :]
        return np.asarray(self.gain[:, None] * (P - S.reshape(P.shape)))

    def _momentum_errors(self, q: Array, qd: Array) -> Array:
        """P E, (..., n, m): P p = M qd."""
        Y, still = self.dyn.regressor, 0 * qd
        return np.asarray((Y(q, still, qd) - Y(q, still, still)) @ self._root)

    def _drift_errors(self, q: Array, qd: Array) -> Array:
        """D E, (n, m): D p = C^T qd - g - springs - friction.

        (C^T qd)_i = qd^T C(q, qd) e_i = qd^T (h(qd + e_i) - h(qd - e_i)) / 4, as in `passivity`.
        """
        still, n = 0 * qd, self.dyn.n
        Y = self.dyn.regressor(q, np.concatenate([qd + self._unit, qd - self._unit, [still, qd]]), still)
        D = np.tensordot(qd, Y[:n] - Y[n : 2 * n], (0, 1)) / 4 - Y[2 * n]
        D[:, self._friction_columns] = -Y[2 * n + 1][:, self._friction_columns]
        return np.asarray(D @ self._root)

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        return self.law(t, q, qd, desired, memory[: len(memory) - self._own])

    def change(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array) -> Array:
        first, n = len(memory) - self._own, self.dyn.n
        own = memory[:first]
        dyn, tau = self.dyn, self.law(t, q, qd, desired, own)
        friction = dyn.friction(qd)
        drift = dyn.coriolis_matrix(q, qd).T @ qd - holding_torques(dyn, q) - friction
        rates = [self.law.change(t, q, qd, desired, own), tau + drift + self.residual(q, qd, memory)]
        if self.errors is not None:
            unsure = np.where(abs(qd) < self.rest, self._holding + abs(friction), 0.0)
            rates.append(self.gain * (unsure - memory[first + n : first + 2 * n]))
            rates.append((self._drift_errors(q, qd) + self._filtered(q, qd, memory)).ravel())
        return np.concatenate(rates)

    def detection_time(self, torque: float, threshold: float, joint: int = 0) -> float:
        """Time from a step of contact torque until the residual exceeds the threshold, s.

        -ln(1 - threshold/torque) / gain
        """
        if not 0 < threshold < abs(torque):
            raise ArmdynError(
                f"a threshold of {threshold} for a torque of {torque}",
                where="MomentumObserver",
                expected="a positive threshold below the torque",
            )
        return float(-np.log1p(-threshold / abs(torque)) / self.gain[joint])


@takes(*CLOSED, *TREE)
@dataclass(frozen=True, eq=False)
class VelocityObserver(_Observer):
    """Another law with estimated velocities: only positions are measured.

        x' = v + 2 w (q - x),   v' = model's acceleration(q, v, tau) + w^2 (q - x)

    S. Nicosia, P. Tomei, IEEE Trans. Automatic Control 35(9), 1990, with gains that place both poles at -w. If the
    accelerations of the model are off by at most d, the velocities are off by at most 2 d / w in the end. A pure
    difference of positions is off by their resolution over the control period instead.

    law:       the law that computes the torques.
    dyn:       model of the arm.
    frequency: w, rad/s, (n,) or one number; several times that of the law, and well below 1 / control period
               (default: 100).
    """

    frequency: Any = 100.0

    def __post_init__(self) -> None:
        settle(self, self.dyn.n, positive=("frequency",))

    def start(self, q: Array, qd: Array) -> Array:
        """The law's own internal state, then x = q and v = 0: the velocity is not measured."""
        still = np.zeros(self.dyn.n)
        return np.concatenate([self.law.start(q, still), q, still])

    def velocity(self, memory: Array) -> Array:
        """(..., n) estimated velocities of a memory (..., m)."""
        return memory[..., memory.shape[-1] - self.dyn.n :]

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        memory = memory if len(memory) else self.start(q, qd)
        return self.law(t, q, self.velocity(memory), desired, memory[: len(memory) - 2 * self.dyn.n])

    def change(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array) -> Array:
        n, w = self.dyn.n, self.frequency
        own, x, v = memory[: len(memory) - 2 * n], memory[len(memory) - 2 * n : len(memory) - n], self.velocity(memory)
        qdd = self.dyn.forward_dynamics(q, v, self.law(t, q, v, desired, own))
        return np.concatenate([self.law.change(t, q, v, desired, own), v + 2 * w * (q - x), qdd + w**2 * (q - x)])


def first_contact(residual: Array, t: Array, threshold: Any) -> float | None:
    """Time at which a residual (k, n) first exceeds the threshold in some joint, s; None if never.

    threshold: one number, or (k, n) of `MomentumObserver.threshold`, N m or N.
    """
    over = np.flatnonzero((np.abs(residual) > threshold).any(axis=1))
    return float(t[over[0]]) if over.size else None
