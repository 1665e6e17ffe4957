"""One step of the motion, by several methods. Each is written once, for numbers and for symbols.

A method is given `rates(c, q, qd, z)` -> (qdd, zd, tau), the closed loop at the time t + c h of this step, c being 0,
1/2 or 1, and returns what q, qd and z grow by until t + h, with the torques at t. z is the memory of the control law.
The loops add these increments with compensation (`plus`), so that rounding does not pile up over many small steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.errors import unknown_name
from armdyn.typing import Array

Rates = Callable[[float, Array, Array, Array], tuple[Array, Array, Array]]
Step = tuple[Array, Array, Array, Array]


def euler43(rates: Rates, h: float, q: Array, qd: Array, z: Array) -> Step:
    """q + qd h + qdd h^2/2, qd + qdd h. El Baji (43)"""
    qdd, zd, tau = rates(0, q, qd, z)
    return h * qd + (h * h / 2) * qdd, h * qdd, h * zd, tau


def semi_implicit(rates: Rates, h: float, q: Array, qd: Array, z: Array) -> Step:
    """Velocity first, position with the new velocity: symplectic for constant inertia."""
    qdd, zd, tau = rates(0, q, qd, z)
    return h * (qd + h * qdd), h * qdd, h * zd, tau


def rk4(rates: Rates, h: float, q: Array, qd: Array, z: Array) -> Step:
    """The classical method of Runge and Kutta on (q, qd, z)."""
    a1, m1, tau = rates(0, q, qd, z)
    v2 = qd + h / 2 * a1
    a2, m2, _ = rates(0.5, q + h / 2 * qd, v2, z + h / 2 * m1)
    v3 = qd + h / 2 * a2
    a3, m3, _ = rates(0.5, q + h / 2 * v2, v3, z + h / 2 * m2)
    v4 = qd + h * a3
    a4, m4, _ = rates(1, q + h * v3, v4, z + h * m3)
    sixth = h / 6
    grown = sixth * (qd + 2 * v2 + 2 * v3 + v4)
    return grown, sixth * (a1 + 2 * a2 + 2 * a3 + a4), sixth * (m1 + 2 * m2 + 2 * m3 + m4), tau


ITERATIONS, TIGHT = 60, 1e-15


def variational(rates: Rates, h: float, q: Array, qd: Array, z: Array, dyn: Dynamics) -> Step:
    """The midpoint rule for Hamilton's equations, which is the variational integrator of L((q0+q1)/2, (q1-q0)/h).

        p1 - p0 = h F(q_m, v),   M(q_m) v = (p0 + p1)/2,   q1 = q0 + h v,   F = M qdd + (C + C^T) v

    Symplectic, symmetric, order 2: without friction and torque the energy swings but does not drift. Solved by
    fixed point iteration, which converges for steps well below the fastest period.
    """
    p = dyn.mass_matrix(q) @ qd
    v = qd
    for _ in range(ITERATIONS):
        middle = q + h / 2 * v
        qdd, zd, _ = rates(0.5, middle, v, z)
        M, C = dyn.mass_matrix(middle), dyn.coriolis_matrix(middle, v)
        F = M @ qdd + C @ v + C.T @ v
        better = np.linalg.solve(M, p + h / 2 * F)
        done = np.abs(better - v).max() <= TIGHT * (1 + np.abs(v).max())
        v = better
        if done:
            break
    _, _, tau = rates(0, q, qd, z)
    qd_next = np.linalg.solve(dyn.mass_matrix(q + h * v), p + h * F)
    return h * v, qd_next - qd, h * zd, tau


def plus(x: Array, growth: Array, lost: Array) -> tuple[Array, Array]:
    """(x + growth, what rounding has taken from it): the sum of Kahan. `lost` is what it took in the step before."""
    wanted = growth + lost
    total = x + wanted
    return total, wanted - (total - x)


@dataclass(frozen=True)
class Method:
    """A method by name. halves: it asks for the reference between the steps too. step: None for adaptive ones."""

    name: str
    order: int
    halves: bool
    step: Callable[..., Step] | None
    compiles: bool
    about: str


METHODS = {
    method.name: method
    for method in (
        Method("euler43", 1, False, euler43, True, "the discrete scheme of El Baji (43)"),
        Method("semi_implicit", 1, False, semi_implicit, True, "semi-implicit Euler"),
        Method("rk4", 4, True, rk4, True, "Runge-Kutta of order 4"),
        Method("variational", 2, True, variational, False, "midpoint variational integrator, symplectic"),
        Method("dopri", 8, False, None, False, "Dormand-Prince of order 8 with error control (SciPy)"),
    )
}


def method(name: str) -> Method:
    """The method of that name."""
    if name not in METHODS:
        raise unknown_name("integrator", name, METHODS, where="simulate")
    return METHODS[name]
