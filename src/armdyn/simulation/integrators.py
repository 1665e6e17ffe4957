"""One time step, by several methods. Each is written once, for numbers and for symbols.

A method is given `rates(c, q, qd, z)` -> (qdd, zd, tau), the closed loop at time t + c h of the step, and returns the
increments of q, qd and z until t + h, with the torques at t. z is the internal state of the control law. The loops add
the increments with compensated summation (`plus`), so that rounding does not accumulate.

`along(q, v)` is the rate of q at velocities v: v itself, unless the robot has free or ball joints. It is linear in v.
Their quaternions may have any length (the dynamics do not depend on it), so that a method keeps its order on them.
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
Along = Callable[[Array, Array], Array]


def itself(q: Array, v: Array) -> Array:
    """The rate of coordinates is their velocity."""
    return v


def euler_taylor(rates: Rates, h: float, q: Array, qd: Array, z: Array, along: Along = itself) -> Step:
    """Explicit Euler for qd, a Taylor step of second order for q; order 1. El Baji (43)

    q + h qd + h^2/2 qdd,   qd + h qdd
    """
    qdd, zd, tau = rates(0, q, qd, z)
    return along(q, h * qd + (h * h / 2) * qdd), h * qdd, h * zd, tau


def semi_implicit(rates: Rates, h: float, q: Array, qd: Array, z: Array, along: Along = itself) -> Step:
    """Semi-implicit Euler: the position moves with the new velocity; symplectic for constant inertia, order 1."""
    qdd, zd, tau = rates(0, q, qd, z)
    return along(q, h * (qd + h * qdd)), h * qdd, h * zd, tau


def rk4(rates: Rates, h: float, q: Array, qd: Array, z: Array, along: Along = itself) -> Step:
    """Classical Runge-Kutta method on (q, qd, z), order 4."""
    a1, m1, tau = rates(0, q, qd, z)
    u1, v2 = along(q, qd), qd + h / 2 * a1
    q2 = q + h / 2 * u1
    a2, m2, _ = rates(0.5, q2, v2, z + h / 2 * m1)
    u2, v3 = along(q2, v2), qd + h / 2 * a2
    q3 = q + h / 2 * u2
    a3, m3, _ = rates(0.5, q3, v3, z + h / 2 * m2)
    u3, v4 = along(q3, v3), qd + h * a3
    q4 = q + h * u3
    a4, m4, _ = rates(1, q4, v4, z + h * m3)
    sixth = h / 6
    grown = sixth * (u1 + 2 * u2 + 2 * u3 + along(q4, v4))
    return grown, sixth * (a1 + 2 * a2 + 2 * a3 + a4), sixth * (m1 + 2 * m2 + 2 * m3 + m4), tau


SUBSTEPS = (1, 2, 3, 4)
"""Of the implicit method: one more gives one more order. `rates` is evaluated at multiples of h / 12."""
Linear = Callable[[Array, Array], tuple[Array, Array, Array]]
Solve = Callable[[Array, Array], Array]


def implicit(
    rates: Rates,
    h: float,
    q: Array,
    qd: Array,
    z: Array,
    linear: Linear,
    solve: Solve = np.linalg.solve,
    along: Along = itself,
) -> Step:
    """Linearly implicit Euler steps, extrapolated to order 4. Hairer and Wanner, Solving ODEs II, sec. IV.9

        (M + k D + k^2 K) (qd' - qd) = k (M qdd - k K qd),   q' = q + k qd',   k = h, h/2, h/3, h/4

    The order holds whatever the matrices are; with M, D, K those of `stiffness`, taken at the start of the step,
    damping and springs may be as stiff as they like: fast modes decay to their balance.
    linear: (q, qd) -> M, D, K. solve: x of A x = b, over numbers or symbols.
    """
    M, D, K = linear(q, qd)
    first = rates(0, q, qd, z)
    columns: list[list[Array]] = []
    for count in SUBSTEPS:
        k = h / count
        A = M + k * D + (k * k) * K
        dq, dqd, dz = 0 * q, 0 * qd, 0 * z
        for i in range(count):
            qdd, zd, _ = rates(i / count, q + dq, qd + dqd, z + dz) if i else first
            dqd = dqd + solve(A, k * (M @ qdd - k * (K @ (qd + dqd))))
            dq, dz = dq + along(q + dq, k * (qd + dqd)), dz + k * zd
        columns.append([dq, dqd, dz])
    for level in range(1, len(SUBSTEPS)):  # Aitken and Neville, in powers of k
        for j in reversed(range(level, len(SUBSTEPS))):
            ratio = SUBSTEPS[j] / SUBSTEPS[j - level] - 1
            columns[j] = [new + (new - old) / ratio for new, old in zip(columns[j], columns[j - 1], strict=True)]
    dq, dqd, dz = columns[-1]
    return dq, dqd, dz, first[2]


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
class Integrator:
    """An integrator.

    order:    global order of accuracy.
    stages:   evaluations of the closed loop per step; 0 where their number varies.
    grid:     evaluations of the closed loop are at multiples of h / grid.
    limit:    |lambda| h up to which it is stable, for real and imaginary rates lambda; see `stiffness`.
    step:     increments of one step; None for adaptive steps.
    compiles: whether it can be part of the compiled loop.
    """

    name: str
    order: int
    stages: int
    grid: int
    limit: float
    step: Callable[..., Step] | None
    compiles: bool
    about: str


METHODS = {
    method.name: method
    for method in (
        Integrator("euler_taylor", 1, 1, 1, 1.0, euler_taylor, True, "explicit Euler, Taylor step for q, El Baji (43)"),
        Integrator("semi_implicit", 1, 1, 1, 2.0, semi_implicit, True, "semi-implicit Euler"),
        Integrator("rk4", 4, 4, 2, 2.7, rk4, True, "classical Runge-Kutta"),
        Integrator(
            "implicit", 4, 10, 12, np.inf, implicit, True, "linearly implicit Euler, extrapolated; for stiff arms"
        ),
        Integrator("variational", 2, 0, 2, 2.0, variational, False, "midpoint variational integrator, symplectic"),
        Integrator("dop853", 8, 0, 1, np.inf, None, False, "Dormand-Prince with error control and events (SciPy)"),
        Integrator("radau", 5, 0, 1, np.inf, None, False, "implicit Runge-Kutta with error control and events (SciPy)"),
    )
}
AUTO = "auto"
"""Not a method: rk4, or implicit where damping or springs are too stiff for it."""


def method(name: str) -> Integrator:
    """The integrator of that name."""
    if name not in METHODS:
        raise unknown_name("integrator", name, (AUTO, *METHODS), where="simulate")
    return METHODS[name]
