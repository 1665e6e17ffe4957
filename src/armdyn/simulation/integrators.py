"""One time step, by several methods. Each is written once, for numbers and for symbols.

A method is given `rates(c, q, qd, z)` -> (qdd, zd, tau), the closed loop at time t + c h of the step (c = 0, 1/2 or 1),
and returns the increments of q, qd and z until t + h, with the torques at t. z is the internal state of the control
law. The loops add the increments with compensated summation (`plus`), so that rounding does not accumulate.
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


def euler_taylor(rates: Rates, h: float, q: Array, qd: Array, z: Array) -> Step:
    """Explicit Euler for qd, a Taylor step of second order for q; order 1. El Baji (43)

    q + h qd + h^2/2 qdd,   qd + h qdd
    """
    qdd, zd, tau = rates(0, q, qd, z)
    return h * qd + (h * h / 2) * qdd, h * qdd, h * zd, tau


def semi_implicit(rates: Rates, h: float, q: Array, qd: Array, z: Array) -> Step:
    """Semi-implicit Euler: the position moves with the new velocity; symplectic for constant inertia, order 1."""
    qdd, zd, tau = rates(0, q, qd, z)
    return h * (qd + h * qdd), h * qdd, h * zd, tau


def rk4(rates: Rates, h: float, q: Array, qd: Array, z: Array) -> Step:
    """Classical Runge-Kutta method on (q, qd, z), order 4."""
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
    """Midpoint rule for Hamilton's equations: the variational integrator of L((q0+q1)/2, (q1-q0)/h).

        p1 - p0 = h F(q_m, v),   M(q_m) v = (p0 + p1)/2,   q1 = q0 + h v,   F = M qdd + (C + C^T) v

    Symplectic, symmetric, order 2: without friction and torque the energy oscillates but does not drift. Solved by
    fixed-point iteration, which converges for steps well below the shortest period.
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
    """(x + growth, rounding error of the sum): Kahan summation. `lost` is the rounding error of the step before."""
    wanted = growth + lost
    total = x + wanted
    return total, wanted - (total - x)


@dataclass(frozen=True)
class Method:
    """An integrator.

    order:    global order of accuracy.
    stages:   evaluations of the closed loop per step; 0 where their number varies.
    halves:   whether it evaluates the reference at half steps too.
    step:     increments of one step; None for adaptive steps.
    compiles: whether it can be part of the compiled loop.
    """

    name: str
    order: int
    stages: int
    halves: bool
    step: Callable[..., Step] | None
    compiles: bool
    about: str


METHODS = {
    method.name: method
    for method in (
        Method("euler_taylor", 1, 1, False, euler_taylor, True, "explicit Euler, Taylor step for q, El Baji (43)"),
        Method("semi_implicit", 1, 1, False, semi_implicit, True, "semi-implicit Euler"),
        Method("rk4", 4, 4, True, rk4, True, "classical Runge-Kutta"),
        Method("variational", 2, 0, True, variational, False, "midpoint variational integrator, symplectic"),
        Method("dop853", 8, 0, False, None, False, "Dormand-Prince with error control and events (SciPy)"),
    )
}
FORMER_NAMES = {"euler43": "euler_taylor", "dopri": "dop853"}


def method(name: str) -> Method:
    """The integrator of that name."""
    name = FORMER_NAMES.get(name, name)
    if name not in METHODS:
        raise unknown_name("integrator", name, METHODS, where="simulate")
    return METHODS[name]
