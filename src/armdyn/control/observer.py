"""Observers around another law: contact torques without a force sensor, velocities without a velocity sensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.control.law import NOTHING, Desired, Law, settle
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

    law:  the law that computes the torques.
    dyn:  model of the arm.
    gain: bandwidth of the filter, 1/s, (n,) or one number (default: 50).
    """

    gain: Any = 50.0

    def __post_init__(self) -> None:
        settle(self, self.dyn.n, positive=("gain",))

    def start(self, q: Array, qd: Array) -> Array:
        return np.concatenate([self.law.start(q, qd), self.momentum(q, qd)])

    def momentum(self, q: Array, qd: Array) -> Array:
        """(n,) generalised momentum M(q) qd."""
        p: Array = self.dyn.mass_matrix(q) @ qd
        return p

    def residual(self, q: Array, qd: Array, memory: Array) -> Array:
        """(n,) estimated contact torques, N m or N; (k, n) for q, qd, memory of a whole run."""
        s = memory[..., memory.shape[-1] - self.dyn.n :]
        M = self.dyn.mass_matrix(q)
        p = (M @ qd[..., None])[..., 0] if np.ndim(q) > 1 else M @ qd
        r: Array = self.gain * (p - s)
        return r

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        return self.law(t, q, qd, desired, memory[: len(memory) - self.dyn.n])

    def change(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array) -> Array:
        own = memory[: len(memory) - self.dyn.n]
        dyn, tau = self.dyn, self.law(t, q, qd, desired, own)
        drift = dyn.coriolis_matrix(q, qd).T @ qd - holding_torques(dyn, q) - dyn.friction(qd)
        rate = tau + drift + self.residual(q, qd, memory)
        return np.concatenate([self.law.change(t, q, qd, desired, own), rate])

    def detection_time(self, torque: float, threshold: float, joint: int = 0) -> float:
        """Time from a step of contact torque until the residual exceeds the threshold, s.

        -ln(1 - threshold/torque) / gain
        """
        if not 0 < threshold < abs(torque):
            raise ArmdynError(
                f"a threshold of {threshold} for a torque of {torque}", where="MomentumObserver",
                expected="a positive threshold below the torque",
            )  # fmt: skip
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


def first_contact(residual: Array, t: Array, threshold: float) -> float | None:
    """Time at which a residual (k, n) first exceeds the threshold in some joint, s; None if never."""
    over = np.flatnonzero((np.abs(residual) > threshold).any(axis=1))
    return float(t[over[0]]) if over.size else None
