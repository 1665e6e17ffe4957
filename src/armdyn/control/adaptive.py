"""Passivity-based adaptive control: the law of Slotine and Li."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.control.base import NOTHING, Desired
from armdyn.control.passivity import PassivityLaw
from armdyn.errors import ShapeError
from armdyn.kinematics.closable import pulled_in
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.limits import working_range
from armdyn.typing import Array

LEARNING, STATES = 80.0, 64
"""Speed of learning over `rate` where no adaptation gains are given; random states from which they follow."""


@takes(*CLOSED, *TREE)
@dataclass(frozen=True, eq=False)
class SlotineLi(PassivityLaw):
    """Adaptive control that estimates the inertial and friction parameters while it tracks.

        v = qd_d + rate e,  s = v - qd,  tau = Y(q, qd, v, v') p + kd s,  dp/dt = adaptation Y^T s

    J.-J. Slotine, W. Li, Int. J. Robotics Research 6(3), 1987. Y p = M(q) v' + C(q, qd) v + g + friction(qd). Since
    M' - 2C is skew-symmetric, s^T M s / 2 + (p - p_true)^T adaptation^-1 (p - p_true) / 2 never grows: the error tends
    to zero for any load.

    dyn:        model with the initial parameters.
    rate:       convergence rate of the error on s = 0, 1/s, (n,) or one number (default: 10).
    kd:         damping of s, N m s/rad or N s/m, (n,) or one number; or a model, whose mass matrix times 2 rate it is,
                so that s decays twice as fast as the error at every configuration (default: the model with a usual
                payload, a tenth of the arm's mass).
    adaptation: adaptation gains, one number or one per standard parameter; 0: not adapted (default: each parameter
                has the same share in the accelerations, and together they are learnt at 80 times `rate`; friction that
                the model does not have stays away).
    """

    adaptation: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        count = len(self.dyn.parameter_names)
        gains = np.asarray(self._even() if self.adaptation is None else self.adaptation, dtype=float)
        if gains.ndim == 0:
            gains = np.full(count, float(gains))
        if gains.shape != (count,) or not (gains >= 0).all():
            raise ShapeError(
                f"adaptation of shape {gains.shape}", where="SlotineLi", expected=f"one number or {count} numbers, >= 0"
            )
        object.__setattr__(self, "adaptation", gains)

    def _even(self) -> Array:
        """(p,) gains that let each parameter take the same part in dp/dt = -adaptation Y^T (2 rate M)^-1 Y p.

        M is that of the model without payload: light wrists must not oscillate faster than a sampled loop bears.
        """
        low, high = working_range(self.dyn.robot)
        q, qd, qdd = np.random.default_rng(0).random((3, STATES, self.dyn.n))
        q = low + (high - low) * q
        q = pulled_in(self.dyn, q) if self.dyn.robot.loops else q
        Y = self.dyn.regressor(q, 2 * qd - 1, self.rate * (2 * qdd - 1))
        scaled = Y / np.sqrt(2 * self.rate)[:, None]
        power = np.mean(np.sum(scaled * np.linalg.solve(self.dyn.mass_matrix(q), scaled), axis=1), axis=0)
        acting = power > 1e-12 * power.max()
        friction = self._friction_columns
        acting[friction] &= (
            np.asarray(self.dyn.parameters)[friction] != 0
        )  # a joint without it does not learn to chatter
        even = LEARNING * float(np.mean(self.rate)) / np.count_nonzero(acting)
        return np.where(acting, even / np.where(acting, power, 1.0), 0.0)

    def start(self, q: Array, qd: Array) -> Array:
        """The parameters of the model: the initial estimate."""
        return np.array(self.dyn.parameters, dtype=float)

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        Y, s = self.terms(q, qd, desired)
        parameters = self.start(q, qd) if len(memory) == 0 else memory
        tau: Array = Y @ parameters + self.damping(q, s)
        return tau

    def change(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array) -> Array:
        Y, s = self.terms(q, qd, desired)
        rate: Array = self.adaptation * (Y.T @ s)
        return rate
