"""Sliding mode control: robust against a bounded error of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from armdyn.control.law import NOTHING, Desired, Law, settle
from armdyn.control.pointwise import clipped, incipient
from armdyn.dynamics import Dynamics
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
    rate:  convergence rate of the error on s = 0, 1/s.
    gain:  largest acceleration error that is rejected, rad/s^2 or m/s^2.
    layer: thickness of the boundary layer, rad/s or m/s; thin layers chatter (default: 0.05).
    """

    dyn: Dynamics
    rate: Any
    gain: Any
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
