"""PID control joint by joint, and PD control with gravity compensation. Khalil sec. 9.3"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from armdyn.control.base import NOTHING, Desired, Law, gain_vector, settle
from armdyn.control.extremes import largest_gravity_slope, largest_inertias
from armdyn.control.pointwise import clipped, where_not_negative
from armdyn.dynamics import Dynamics
from armdyn.dynamics.holding import holding_torques
from armdyn.errors import ArmdynError, unknown_name
from armdyn.robot.features import CLOSED, FRICTIONLESS, takes
from armdyn.typing import Array

FREQUENCY = 20.0
"""Triple pole of a designed PID, rad/s."""


@dataclass(frozen=True, eq=False)
class PID(Law):
    """Decentralised PID control in the joint space.

        tau = kp (q_d - q) + kd (qd_d - qd) + ki integral of (q_d - q)        Khalil (9.5)

    Gains are one number for all joints or one per joint. Notes on Khalil (9.10) for the band of the integral.

    kp:              proportional gain, N m/rad or N/m.
    kd:              derivative gain, N m s/rad or N s/m.
    ki:              integral gain, N m/(rad s) or N/(m s) (default: 0).
    integrate_above: the integral is frozen for smaller errors, against hunting under Coulomb friction, rad or m
                     (default: 0).
    integrate_below: the integral is frozen for larger errors, rad or m (default: infinite).
    torque_limits:   saturation, N m or N; the integral is frozen while it pushes against it (anti-windup; default:
                     none).
    """

    kp: Any
    kd: Any
    ki: Any = 0.0
    integrate_above: Any = 0.0
    integrate_below: Any = np.inf
    torque_limits: Any = np.inf

    def __post_init__(self) -> None:
        names = ("kp", "kd", "ki", "integrate_above", "integrate_below", "torque_limits")
        n = max(np.size(getattr(self, name)) for name in names)
        settle(self, n, positive=("torque_limits",), others=names[:-1])
        if not (self.integrate_above < self.integrate_below).all():
            raise ArmdynError("integrate_above is not below integrate_below", where="PID", expected="a band of errors")

    @staticmethod
    def designed(
        dyn: Dynamics, frequency: Any = None, *, resonance: Any = None, viscous: Any = None, torque_limits: Any = np.inf
    ) -> PID:
        """PID with the triple pole -w for each joint at its largest inertia. Khalil (9.9), (9.10)

            kp = 3 a w^2,  kd + Fv = 3 a w,  ki = a w^3,  a = largest M_jj over the workspace

        dyn:           model of the arm.
        frequency:     w, rad/s, (n,) or one number (default: 20, unless a resonance is given).
        resonance:     instead of the frequency: resonance of the structure, rad/s; w is half of it (Khalil).
        viscous:       viscous friction Fv, N m s/rad or N s/m (default: that of the robot). Raises ArmdynError where it
                       alone exceeds 3 a w.
        torque_limits: as in PID (default: none).
        """
        if frequency is not None and resonance is not None:
            raise ArmdynError(
                "both frequency and resonance given", where="PID.designed", expected="one of the two, rad/s"
            )
        w = FREQUENCY if frequency is None else np.asarray(frequency, dtype=float)
        w = w if resonance is None else np.asarray(resonance, dtype=float) / 2
        w = gain_vector("frequency", w, dyn.n, positive=True)
        a = largest_inertias(dyn)
        Fv = viscous_friction(dyn) if viscous is None else gain_vector("viscous", viscous, dyn.n)
        short = Fv > 3 * a * w * (1 + 1e-12)
        if short.any():
            j = int(np.argmax(Fv / (3 * a * w)))
            raise ArmdynError(
                f"the viscous friction {Fv[j]:.4g} of {dyn.robot.joints[j].name!r} exceeds 3 a w = "
                f"{3 * a[j] * w[j]:.4g}: kd would be negative",
                where="PID.designed",
                expected=f"a frequency of at least {Fv[j] / (3 * a[j]):.4g} rad/s for that joint",
                advice="Give one frequency per joint, or viscous=0 for a slower loop.",
            )
        return PID(kp=3 * a * w**2, kd=np.maximum(3 * a * w - Fv, 0.0), ki=a * w**3, torque_limits=torque_limits)

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        return clipped(self.demand(q, qd, desired, memory), np.broadcast_to(self.torque_limits, q.shape))

    def demand(self, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        """(n,) torques before saturation, N m or N."""
        tau: Array = self.kp * (desired.q - q) + self.kd * (desired.qd - qd)
        return tau + self.ki * memory if self.integrates else tau

    @cached_property
    def integrates(self) -> bool:
        """Whether the law has integral action."""
        return bool((self.ki > 0).any())

    def start(self, q: Array, qd: Array) -> Array:
        return np.zeros(len(q)) if self.integrates else NOTHING

    def change(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array) -> Array:
        """The error where the integral is active, zero elsewhere."""
        if not self.integrates:
            return NOTHING
        e = desired.q - q
        size = abs(e)
        rate = e
        if (self.integrate_above > 0).any():
            rate = where_not_negative(size - self.integrate_above, rate, 0.0)
        if np.isfinite(self.integrate_below).any():
            below = np.where(np.isfinite(self.integrate_below), self.integrate_below, 1e300)
            rate = where_not_negative(below - size, rate, 0.0)
        limits = np.broadcast_to(self.torque_limits, q.shape)
        if np.isfinite(limits).any():
            demand = self.demand(q, qd, desired, memory)
            over = abs(demand) - np.where(np.isfinite(limits), limits, 1e300)
            rate = where_not_negative(over, where_not_negative(demand * e, 0.0, rate), rate)
        return rate


GravityAt = Literal["actual", "desired"]


@takes(*CLOSED, *FRICTIONLESS)
@dataclass(frozen=True, eq=False)
class PDGravity(Law):
    """PD control with gravity compensation: globally asymptotically stable about a constant reference.

        tau = kp (q_d - q) - kd qd + g(q)          Khalil (9.12); V = T + e^T kp e / 2 decreases along every motion

    g: torques that hold the arm at rest, those of springs and counterbalances included.

    dyn:    the controller's model, for gravity.
    kp:     proportional gain, N m/rad or N/m, (n,) or one number.
    kd:     derivative gain, N m s/rad or N s/m, (n,) or one number.
    at:     gravity at the "actual" (default) or at the "desired" configuration; the latter is stable if kp exceeds the
            largest slope of gravity (`least_kp`).
    follow: feed back the velocity error instead of the velocity, for moving references (default: False).
    """

    dyn: Dynamics
    kp: Any
    kd: Any
    at: GravityAt = "actual"
    follow: bool = False

    def __post_init__(self) -> None:
        settle(self, self.dyn.n, others=("kp", "kd"))
        if self.at not in ("actual", "desired"):
            raise unknown_name("configuration for gravity", self.at, ("actual", "desired"), where="PDGravity")

    @staticmethod
    def designed(dyn: Dynamics, frequency: Any = 15.0, damping_ratio: Any = 1.0, *, follow: bool = True) -> PDGravity:
        """Gains for the largest inertias over the workspace: kp = a w^2, kd = 2 xi a w.

        dyn:           the controller's model.
        frequency:     natural frequency w of each joint at its largest inertia, rad/s, (n,) or one number (default:
                       15).
        damping_ratio: xi, (n,) or one number (default: 1).
        follow:        as in PDGravity (default: True).
        """
        a, w, xi = largest_inertias(dyn), np.asarray(frequency, dtype=float), np.asarray(damping_ratio, dtype=float)
        return PDGravity(dyn, a * w**2, 2 * xi * a * w, follow=follow)

    @staticmethod
    def least_kp(dyn: Dynamics) -> float:
        """Lower bound of kp, N m/rad, for gravity at the desired configuration. Khalil sec. 9.3.2"""
        return largest_gravity_slope(dyn)

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        gravity = holding_torques(self.dyn, q if self.at == "actual" else desired.q)
        rate = qd - desired.qd if self.follow else qd
        feedback: Array = self.kp * (desired.q - q) - self.kd * rate
        return gravity + feedback


def viscous_friction(dyn: Dynamics) -> Array:
    """(n,) viscous friction Fv of the robot's joints; 0 where none is given."""
    laws = [joint.friction for joint in dyn.robot.joints]
    return np.array([0.0 if law is None else float(law.viscous) for law in laws])
