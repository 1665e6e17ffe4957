"""PD control of arms with elastic joints from the motor side, with its condition of stability. Tomei 1991"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from armdyn.control.base import NOTHING, Desired, Law, settle
from armdyn.control.extremes import largest_gravity_slope, largest_inertias
from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled_dynamics
from armdyn.dynamics.holding import holding_torques
from armdyn.errors import ArmdynError
from armdyn.robot.features import TREE, takes
from armdyn.typing import Array


@dataclass(frozen=True)
class StabilityCondition:
    """Tomei's sufficient condition: springs and gains together are stiffer than the weights can pull.

    stiffness: smallest eigenvalue of [[K, -K], [-K, K + kp]] (kp alone for rigid joints), N m/rad.
    slope:     largest norm of dg/dq over the workspace, N m/rad.
    """

    stiffness: float
    slope: float

    @property
    def holds(self) -> bool:
        """Whether the reference is the only equilibrium, and attracts every motion."""
        return self.stiffness > self.slope

    def __str__(self) -> str:
        sign = ">" if self.holds else "<="
        verdict = "globally asymptotically stable" if self.holds else "not guaranteed to be stable"
        return f"stiffness {self.stiffness:.4g} {sign} slope of gravity {self.slope:.4g} N m/rad: {verdict}"


@takes("elastic", *TREE)
@dataclass(frozen=True, eq=False)
class ElasticPD(Law):
    """PD control of the motors with gravity compensation at the reference, for elastic joints.

        tau = kp (theta_d - theta) - kd thetad + g(q_d),   theta_d = q_d + g(q_d) / k          Tomei 1991

    It needs the motors' side only; g are all torques that hold the links, springs across joints included. The links
    come to rest at a constant q_d, where the transmissions carry these torques, if `condition` holds: transmissions and
    kp stiffer than gravity. It is checked when the law is made; as it is only sufficient, check=False makes the law
    without it.

    dyn:    compiled dynamics of the robot with its elastic joints.
    kp:     proportional gain at the motors, N m/rad or N/m, (n,) or one number.
    kd:     derivative gain at the motors, N m s/rad or N s/m, (n,) or one number.
    follow: feed back the error of the velocity instead of the velocity, for moving references (default: False).
    check:  raise ArmdynError if the condition of stability does not hold (default: True).
    """

    dyn: Dynamics
    kp: Any
    kd: Any
    follow: bool = False
    check: bool = True

    def __post_init__(self) -> None:
        settle(self, self.dyn.robot.n, positive=("kp", "kd"))
        if self.check and isinstance(self.dyn, Dynamics) and not self.condition.holds:
            raise ArmdynError(
                f"kp and the springs may not hold the arm against gravity: {self.condition}",
                where=f"ElasticPD, robot {self.dyn.robot.name!r}",
                expected=f"kp above {np.round(self.least_kp(self.dyn), 3).tolist()} N m/rad",
                advice="Infinite where the springs are too soft. check=False makes the law all the same.",
            )

    @cached_property
    def stiffness(self) -> Array:
        """(n,) stiffness of the springs, N m/rad or N/m; infinite for rigid joints."""
        return _stiffness(self.dyn)

    @cached_property
    def condition(self) -> StabilityCondition:
        """The condition of stability for these gains, over the robot's working range."""
        k, kp = self.stiffness, np.asarray(self.kp, dtype=float)
        soft = np.isfinite(k)
        half = np.where(soft, k, 0) + kp / 2
        smallest = np.where(soft, half - np.sqrt(np.where(soft, k, 0) ** 2 + kp**2 / 4), kp)
        return StabilityCondition(float(smallest.min()), _slope(self.dyn))

    @staticmethod
    def designed(dyn: Dynamics, frequency: float = 15.0, *, follow: bool = True) -> ElasticPD:
        """Critically damped gains for the largest inertias of the rigid arm: kp = a w^2, raised to 2 `least_kp`.

        dyn:       compiled dynamics of the robot with its elastic joints.
        frequency: natural frequency w, rad/s (default: 15).
        follow:    as in ElasticPD (default: True).
        """
        a = largest_inertias(compiled_dynamics(dyn.robot.without("elastic")))
        kp, least = a * frequency**2, ElasticPD.least_kp(dyn)
        kp = np.where(np.isfinite(least), np.maximum(kp, 2 * least), kp)  # stable by the law's condition
        return ElasticPD(dyn, kp, 2 * np.sqrt(a * kp), follow=follow)

    @staticmethod
    def least_kp(dyn: Dynamics) -> Array:
        """(n,) lower bounds of kp, N m/rad or N/m: slope + slope k / (k - slope); infinite where k <= slope."""
        k, slope = _stiffness(dyn), _slope(dyn)
        with np.errstate(invalid="ignore"):
            bounds = np.where(np.isfinite(k), slope + slope / (1 - slope / k), slope)
        return np.where(k > slope, bounds, np.inf)

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        n = len(self.stiffness)
        weights = holding_torques(self.dyn, np.asarray(self.dyn.coordinates.joined(desired.q, desired.q)))[:n]
        stretch: Array = weights * (1 / self.stiffness)
        rate = qd - desired.qd if self.follow else qd
        feedback: Array = self.kp * (desired.q + stretch - q) - self.kd * rate
        return weights + feedback


def _stiffness(dyn: Dynamics) -> Array:
    springs = (joint.elastic for joint in dyn.robot.joints)
    return np.array([np.inf if spring is None else float(spring.stiffness) for spring in springs])


def _slope(dyn: Dynamics) -> float:
    return largest_gravity_slope(compiled_dynamics(dyn.robot.without("elastic", "friction")))
