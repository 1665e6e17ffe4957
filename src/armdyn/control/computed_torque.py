"""Linearising and decoupling control: the model takes the nonlinearities away.

Khalil sec. 9.4, El Baji (41), Truc (72)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from armdyn.control.law import NOTHING, Desired, Law, settle
from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError, unknown_name
from armdyn.typing import Array

Scheme = Literal["tracking", "position"]
Through = Literal["newton_euler", "matrices"]
PARTS = ("coriolis", "gravity", "friction")
"""What the model of a law may leave out."""


@dataclass(frozen=True, eq=False)
class ComputedTorque(Law):
    """Computed torque in the joint space.

        tau = A(q) w + H(q, qd)                                Khalil (9.22)
        w = qdd_d + kd (qd_d - qd) + kp (q_d - q)              Khalil (9.24), scheme "tracking"
        w = kp (q_d - q) - kd qd                               Khalil (9.29), scheme "position"

    so that, with the exact model, e'' + kd e' + kp e = 0 (Khalil (9.25)). predictive: A and H are computed at the
    desired state instead of the measured one (Khalil (9.31)). ki: integral action on w (Khalil, footnote of sec.
    9.4.2.2). through: one inverse dynamics with w for the acceleration (Khalil sec. 9.4.2.5), or the explicit matrices
    M w + C qd + g + friction (El Baji (41)). leave_out: parts of the model to neglect, to see what they are worth (El
    Baji fig. 10): coriolis, gravity, friction. `dyn` may be any model with the functions of `armdyn.Dynamics`.

    >>> import armdyn
    >>> law = ComputedTorque(armdyn.compile(armdyn.load("pendulum")), kp=200, kd=10)
    >>> law.kp.tolist()
    (200.0)
    """

    dyn: Dynamics
    kp: Any
    kd: Any
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
            raise unknown_name("way", self.through, ("newton_euler", "matrices"), where="ComputedTorque")
        for part in self.leave_out:
            if part not in PARTS:
                raise unknown_name("part of the model", part, PARTS, where="ComputedTorque")

    @staticmethod
    def designed(dyn: Dynamics, frequency: Any, damping: Any = 1.0, **options: Any) -> ComputedTorque:
        """Gains for a bandwidth (rad/s) and a damping: kp = w^2, kd = 2 xi w. Khalil (9.26)"""
        w = np.asarray(frequency, dtype=float)
        return ComputedTorque(dyn, kp=w**2, kd=2 * np.asarray(damping, dtype=float) * w, **options)

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        w, dyn = self.acceleration(q, qd, desired, memory), self.dyn
        at, rate = (desired.q, desired.qd) if self.predictive else (q, qd)
        if self.through == "newton_euler":
            tau = dyn.inverse_dynamics(at, rate, w)
        else:
            tau = dyn.mass_matrix(at) @ w + dyn.coriolis(at, rate) + dyn.gravity(at) + dyn.friction(rate)
        if "coriolis" in self.leave_out:
            tau = tau - dyn.coriolis(at, rate)
        if "gravity" in self.leave_out:
            tau = tau - dyn.gravity(at)
        if "friction" in self.leave_out:
            tau = tau - dyn.friction(rate)
        return tau

    def acceleration(self, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        """The w of Khalil (9.24) or (9.29)."""
        e = desired.q - q
        w: Array
        if self.scheme == "position":
            w = self.kp * e - self.kd * qd
        else:
            w = desired.qdd + self.kd * (desired.qd - qd) + self.kp * e
        return w + self.ki * memory if self.integrates else w

    @cached_property
    def integrates(self) -> bool:
        """Whether the law has an integral to remember."""
        return bool((self.ki > 0).any())

    def start(self, q: Array, qd: Array) -> Array:
        return np.zeros(self.dyn.n) if self.integrates else NOTHING

    def change(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array) -> Array:
        return desired.q - q if self.integrates else NOTHING


@dataclass(frozen=True, eq=False)
class Feedforward(Law):
    """The torques of the reference, with PD feedback or without any.

        tau = M(q_d) qdd_d + C(q_d, qd_d) qd_d + g(q_d) + kp (q_d - q) + kd (qd_d - qd)      Truc (72) with kp = kd = 0

    Without feedback the arm stays on the reference only if the model is exact and it starts there; any other error
    stays or grows.
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
    """No torque at all: free motion."""

    n: int

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ArmdynError(f"n = {self.n}", where="NoControl", expected="the number of joints")

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        return np.zeros(self.n)
