"""Computed torque, feedforward, and no control: inverse dynamics inside the control law.

Khalil sec. 9.4, El Baji (41), Truc (72)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from armdyn.control.base import NOTHING, Desired, Law, settle
from armdyn.control.pointwise import incipient
from armdyn.dynamics import Dynamics
from armdyn.dynamics.holding import holding_torques
from armdyn.errors import ArmdynError, unknown_name
from armdyn.robot.features import CLOSED, LOSSY, takes
from armdyn.typing import Array

Scheme = Literal["tracking", "position"]
Through = Literal["newton_euler", "matrices"]
PARTS = ("coupling", "coriolis", "gravity", "friction")
"""Terms of the model that a law may leave out."""


@takes(*CLOSED, *LOSSY)
@dataclass(frozen=True, eq=False)
class ComputedTorque(Law):
    """Computed torque control (inverse dynamics control, feedback linearisation) in the joint space.

        tau = M(q) w + C(q, qd) qd + g(q) + friction(qd)       Khalil (9.22)
        w = qdd_d + kd (qd_d - qd) + kp (q_d - q)              Khalil (9.24), scheme "tracking"
        w = kp (q_d - q) - kd qd                               Khalil (9.29), scheme "position"

    so that, with the exact model, e'' + kd e' + kp e = 0 (Khalil (9.25)). Gains are one number or one per joint. The
    friction of a joint at rest is compensated in the direction of w, so that the arm breaks away as commanded.

    dyn:        the controller's model: any object with the functions of `armdyn.Dynamics`.
    kp:         proportional gain, 1/s^2 (default: 400).
    kd:         derivative gain, 1/s (default: 40, critical damping).
    ki:         integral gain, 1/s^3, Khalil, footnote of sec. 9.4.2.2 (default: 0).
    scheme:     "tracking" (default) of a moving reference, or "position" control to a constant one.
    predictive: evaluate the model at the desired instead of the measured state, Khalil (9.31) (default: False).
    through:    "newton_euler" (default), one inverse dynamics with acceleration w, Khalil sec. 9.4.2.5; or "matrices",
                M w + C qd + g + friction term by term, El Baji (41).
    leave_out:  terms to neglect in the model, El Baji fig. 10: "coupling" (M w becomes diag(M) w, so that each joint
                ignores the accelerations of the others), "coriolis", "gravity", "friction" (default: none).

    >>> import armdyn
    >>> law = ComputedTorque(armdyn.compile(armdyn.load("pendulum")), kp=200, kd=10)
    >>> law.kp.tolist()
    [200.0]
    """

    dyn: Dynamics
    kp: Any = 400.0
    kd: Any = 40.0
    ki: Any = 0.0
    scheme: Scheme = "tracking"
    predictive: bool = False
    through: Through = "newton_euler"
    leave_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        settle(self, self.dyn.n, others=("kp", "kd", "ki"))
        if self.scheme not in ("tracking", "position"):
            raise unknown_name("scheme", self.scheme, ("tracking", "position"), where="ComputedTorque")
        if self.through not in ("newton_euler", "matrices"):
            raise unknown_name("computation", self.through, ("newton_euler", "matrices"), where="ComputedTorque")
        for part in self.leave_out:
            if part not in PARTS:
                raise unknown_name("term of the model", part, PARTS, where="ComputedTorque")

    @staticmethod
    def designed(
        dyn: Dynamics,
        frequency: Any = 20.0,
        damping_ratio: Any = 1.0,
        *,
        scheme: Scheme = "tracking",
        predictive: bool = False,
        through: Through = "newton_euler",
    ) -> ComputedTorque:
        """Computed torque with kp = w^2, kd = 2 xi w. Khalil (9.26)

        dyn:           the controller's model.
        frequency:     natural frequency w of the error, rad/s, (n,) or one number (default: 20).
        damping_ratio: xi, (n,) or one number (default: 1).
        scheme, predictive, through: as in ComputedTorque.
        """
        w, xi = np.asarray(frequency, dtype=float), np.asarray(damping_ratio, dtype=float)
        return ComputedTorque(dyn, w**2, 2 * xi * w, scheme=scheme, predictive=predictive, through=through)

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        w, dyn = self.acceleration(q, qd, desired, memory), self.dyn
        at, rate = (desired.q, desired.qd) if self.predictive else (q, incipient(qd, w))
        if self.through == "newton_euler":
            tau = dyn.inverse_dynamics(at, rate, w)
        else:
            tau = dyn.mass_matrix(at) @ w + dyn.coriolis(at, rate) + holding_torques(dyn, at) + dyn.friction(rate)
        if "coupling" in self.leave_out:
            M = dyn.mass_matrix(at)
            tau = tau - (M @ w - np.diagonal(M) * w)
        if "coriolis" in self.leave_out:
            tau = tau - dyn.coriolis(at, rate)
        if "gravity" in self.leave_out:
            tau = tau - dyn.gravity(at)
        if "friction" in self.leave_out:
            tau = tau - dyn.friction(rate)
        return tau

    def acceleration(self, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        """(n,) commanded acceleration w of Khalil (9.24) or (9.29), rad/s^2 or m/s^2."""
        e = desired.q - q
        w: Array
        if self.scheme == "position":
            w = self.kp * e - self.kd * qd
        else:
            w = desired.qdd + self.kd * (desired.qd - qd) + self.kp * e
        return w + self.ki * memory if self.integrates else w

    @cached_property
    def integrates(self) -> bool:
        """Whether the law has integral action."""
        return bool((self.ki > 0).any())

    def start(self, q: Array, qd: Array) -> Array:
        return np.zeros(self.dyn.n) if self.integrates else NOTHING

    def change(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array) -> Array:
        return desired.q - q if self.integrates else NOTHING


@takes(*CLOSED, *LOSSY)
@dataclass(frozen=True, eq=False)
class Feedforward(Law):
    """Feedforward of the inverse dynamics along the reference, with or without PD feedback.

        tau = M(q_d) qdd_d + C(q_d, qd_d) qd_d + g(q_d) + friction(qd_d) + kp (q_d - q) + kd (qd_d - qd)

    Truc (72) with kp = kd = 0. Without feedback the arm stays on the reference only if it starts there and the model is
    exact; errors persist or grow.

    dyn: the controller's model.
    kp:  proportional gain, N m/rad or N/m, (n,) or one number (default: 0).
    kd:  derivative gain, N m s/rad or N s/m, (n,) or one number (default: 0).
    """

    dyn: Dynamics
    kp: Any = 0.0
    kd: Any = 0.0

    def __post_init__(self) -> None:
        settle(self, self.dyn.n, others=("kp", "kd"))

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        torque: Array = self.dyn.inverse_dynamics(desired.q, desired.qd, desired.qdd)
        feedback: Array = self.kp * (desired.q - q) + self.kd * (desired.qd - qd)
        return torque + feedback


@dataclass(frozen=True, eq=False)
class NoControl(Law):
    """Zero torque: free motion of n joints."""

    n: int

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ArmdynError(f"n = {self.n}", where="NoControl", expected="the number of joints")

    @property
    def needs_reference(self) -> bool:
        return False

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        return np.zeros(self.n)
