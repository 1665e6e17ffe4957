"""Laws that are robust against bounded errors of the model: of its accelerations, or of its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.control.base import NOTHING, Desired, Law, settle
from armdyn.control.passivity import PassivityLaw
from armdyn.control.pointwise import clipped, incipient
from armdyn.control.uncertainty import error_matrix
from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.typing import Array


@takes(*CLOSED, *TREE)
@dataclass(frozen=True, eq=False)
class SlidingMode(Law):
    """Sliding mode control: computed torque that drives s = e' + rate e to zero against disturbances.

        tau = M(q) (qdd_d + rate e' + gain sat(s / layer)) + C qd + g + friction

    Slotine and Li, Applied Nonlinear Control, ch. 7. With an acceleration error d of the model, s' = d - gain sat(s /
    layer): if |d| < gain, then |s| falls below `layer` within |s(0)| / (gain - |d|) seconds and stays there, and |e|
    falls below layer / rate. Gains are one number for all joints or one per joint.

    dyn:   the controller's model.
    rate:  convergence rate of the error on s = 0, 1/s (default: 15).
    gain:  largest acceleration error that is rejected, rad/s^2 or m/s^2 (default: 30).
    layer: thickness of the boundary layer, rad/s or m/s; thin layers chatter (default: 0.05).
    """

    dyn: Dynamics
    rate: Any = 15.0
    gain: Any = 30.0
    layer: Any = 0.05

    def __post_init__(self) -> None:
        settle(self, self.dyn.n, positive=("rate", "gain", "layer"))

    def surface(self, q: Array, qd: Array, desired: Desired) -> Array:
        """s = e' + rate e."""
        s: Array = desired.qd - qd + self.rate * (desired.q - q)
        return s

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        s = self.surface(q, qd, desired)
        w = desired.qdd + self.rate * (desired.qd - qd) + self.gain * clipped(s / self.layer, 1.0)
        return self.dyn.inverse_dynamics(q, incipient(qd, w), w)


@takes(*CLOSED, *TREE)
@dataclass(frozen=True, eq=False)
class RobustPassivity(PassivityLaw):
    """Passivity-based robust control: gains that follow from bounds on the errors of the model's parameters.

        tau = Y(q, qd, v, v') p + kd s + rho sat(s / layer),   v = qd_d + rate e,  s = v - qd
        rho_j = sum over k of |(Y E)_jk|,   for true parameters p + E x with |x_k| <= 1

    M. W. Spong, IEEE Trans. Automatic Control 37(11), 1992, with bounds joint by joint: rho is the largest error of the
    torques Y p at the state, where constants such as those of `armdyn.analysis.model_bounds` hold for
    all states at once. Since M' - 2C is skew-symmetric, V = s^T M s / 2 falls while s^T kd s exceeds
    sum rho_j layer_j / 4: s is ultimately bounded (`ultimate_bound`), and |e| by |s| / rate, whatever the true robot
    within the bounds is.

    dyn:    model with the nominal parameters.
    rate:   convergence rate of the error on s = 0, 1/s, (n,) or one number (default: 10).
    kd:     damping of s, N m s/rad or N s/m, (n,) or one number; or a model, whose mass matrix times 2 rate it is
            (default: the model with a usual payload, a tenth of the arm's mass).
    errors: bounds E of the parameters' errors, (p, r) or (p,): `parameter_errors(dyn, ...)`, or its arguments, as
            in {"mass": 0.03} (default: its defaults).
    layer:  thickness of the boundary layer, rad/s or m/s, (n,) or one number; thin layers chatter (default: 0.05).
    """

    errors: Any = None
    layer: Any = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, self.dyn.n, positive=("layer",))
        errors = {} if self.errors is None else self.errors
        object.__setattr__(self, "errors", error_matrix(errors, self.dyn, "RobustPassivity"))

    def torque_errors(self, Y: Array) -> Array:
        """rho: (n,) largest errors of the torques of a regressor Y (n, p), N m or N."""
        rho: Array = abs(Y @ self.errors).sum(axis=1)
        return rho

    def ultimate_bound(self, rho: Any, smallest: float, largest: float, damping: float | None = None) -> float:
        """Norm of s that is not left again once it is reached, rad/s.

        rho: (n,) largest torque errors along the motion, N m or N. smallest, largest: eigenvalues of the true mass
        matrix over the motion, kg m^2. damping: smallest eigenvalue of kd over the motion (default: of gains kd).
        """
        if damping is None and self.follows_inertia:
            raise ArmdynError(
                "a damping that follows the inertia",
                where="ultimate_bound",
                expected="damping=...",
                advice="Give the smallest eigenvalue of 2 rate M over the motion.",
            )
        least = float(np.min(self.kd)) if damping is None else damping
        within = float(np.sum(np.asarray(rho) * self.layer)) / (4 * least)
        return float(np.sqrt(within * largest / smallest))

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        Y, s = self.terms(q, qd, desired)
        tau: Array = Y @ np.asarray(self.dyn.parameters) + self.damping(q, s)
        tau = tau + self.torque_errors(Y) * clipped(s / self.layer, 1.0)
        return tau
