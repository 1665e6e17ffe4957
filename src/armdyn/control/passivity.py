"""What passivity-based laws share: the reference velocity, and the model as a regressor with Coriolis matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from armdyn.algebra import ops
from armdyn.control.base import Desired, Law, settle
from armdyn.control.extremes import loaded
from armdyn.control.pointwise import incipient
from armdyn.dynamics import Dynamics
from armdyn.parameters.standard import FAMILIES
from armdyn.typing import Array


def friction_columns(dyn: Dynamics) -> Array:
    """Columns of the regressor for friction of joints and motors, which are not quadratic in the velocity."""
    friction = {*FAMILIES["friction"], *FAMILIES["motor"]}
    kinds = [name.rstrip("0123456789") for name in dyn.parameter_names]
    return np.array([k for k, kind in enumerate(kinds) if kind in friction], dtype=int)


@dataclass(frozen=True, eq=False)
class PassivityLaw(Law):
    """v = qd_d + rate e,  s = v - qd,  Y(q, qd, v, v') p = M(q) v' + C(q, qd) v + g + friction(qd).

    Subclasses add to Y p + kd s what keeps s small in spite of wrong parameters p. Their proofs hold for every
    positive definite kd, which may depend on q.

    dyn:  model with the nominal parameters.
    rate: convergence rate of the error on s = 0, 1/s, (n,) or one number (default: 10).
    kd:   damping of s, N m s/rad or N s/m, (n,) or one number; or a model, whose mass matrix times 2 rate it is, so
          that s decays twice as fast as the error at every configuration (default: the model with a usual payload, a
          tenth of the arm's mass).
    """

    dyn: Dynamics
    rate: Any = 10.0
    kd: Any = None

    def __post_init__(self) -> None:
        if self.kd is None:
            object.__setattr__(self, "kd", loaded(self.dyn))
        settle(self, self.dyn.n, positive=("rate",) if self.follows_inertia else ("rate", "kd"))

    @property
    def follows_inertia(self) -> bool:
        """Whether the damping is that of a model."""
        return hasattr(self.kd, "mass_matrix")

    def damping(self, q: Array, s: Array) -> Array:
        """kd s: (n,) torques, N m or N."""
        if not self.follows_inertia:
            return np.asarray(self.kd * s)
        root = np.array([ops.sqrt(2 * each) for each in self.rate])  # on both sides: positive definite for any rates
        return np.asarray(root * (self.kd.mass_matrix(q) @ (root * s)))

    @cached_property
    def _friction_columns(self) -> Array:
        return friction_columns(self.dyn)

    def regressor(self, q: Array, qd: Array, v: Array, vd: Array) -> Array:
        """Y(q, qd, v, v'): (n, p).

        h(qd) = C(q, qd) qd is quadratic in qd and C, of Christoffel symbols, is linear in it, so that
        C(q, qd) v = (h(qd + v) - h(qd - v)) / 4: the ordinary regressor suffices.
        """
        still = 0 * qd
        Y = self.dyn.regressor
        whole: Array = Y(q, still, vd) + (Y(q, qd + v, still) - Y(q, qd - v, still)) / 4
        whole = np.array(whole)
        friction = self._friction_columns  # of a joint at rest: in the direction in which it shall move
        whole[:, friction] = Y(q, incipient(qd, v), still)[:, friction]
        return whole

    def terms(self, q: Array, qd: Array, desired: Desired) -> tuple[Array, Array]:
        """Y(q, qd, v, v'), (n, p), and s, (n,)."""
        e, ed = desired.q - q, desired.qd - qd
        v, vd = desired.qd + self.rate * e, desired.qdd + self.rate * ed
        return self.regressor(q, qd, v, vd), v - qd
