"""How fast damping and springs act on the inertias: what decides whether explicit steps are stable.

The linear part of a plant,  M qdd + D qd + K q,  with D and K the slopes of friction and springs, has modes with rates
lambda, 1/s. An explicit method is stable while |lambda| dt stays below a number of order one; an implicit one always.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from armdyn.control.pointwise import where_not_negative
from armdyn.dynamics import Dynamics, compile
from armdyn.dynamics.presliding import Presliding
from armdyn.graph import Graph, derivative, substitute, trace
from armdyn.kernels import build
from armdyn.kernels.kernel import Kernel
from armdyn.mechanics import linear
from armdyn.robot import Robot, compounds
from armdyn.simulation.integrators import Linear
from armdyn.simulation.stops import StopForces
from armdyn.typing import Array

SLOW = 1e-3
"""A velocity that is small and not zero, rad/s or m/s."""


def slopes_graph(dyn: Dynamics, parameters: bool = False) -> Graph:
    """D = d friction / d qd and K = d springs / d q, (n, n) each, as functions of q and qd.

    parameters: the robot's named parameters stay symbols.
    """
    friction, springs = (dyn.graph(name, parameters=parameters) for name in ("friction", "springs"))
    (rates,), (positions,) = friction.inputs.values(), springs.inputs.values()
    (rubbing,), (pulling,) = friction.outputs.values(), springs.outputs.values()
    D, K = derivative(rubbing, rates), derivative(pulling, positions)

    def slopes(q: Any, qd: Any) -> dict[str, Any]:
        return {
            "D": substitute(D, dict(zip(rates, qd, strict=True))),
            "K": substitute(K, dict(zip(positions, q, strict=True))),
        }

    return trace(slopes, {"q": len(positions), "qd": dyn.n}, fold_angles=False)


@lru_cache(maxsize=32)
def lossless(dyn: Dynamics) -> Dynamics:
    """The same plant, its friction independent of the load: with slopes in the rates alone."""
    if "load_friction" not in dyn.robot.features:
        return dyn
    return compile(dyn.robot.without("load_friction"), cache=dyn.cache)


@lru_cache(maxsize=32)
def slopes(dyn: Dynamics) -> Kernel:
    """(q, qd) -> (D, K) as machine code."""
    return build(slopes_graph(dyn), "slopes")


class Mode(NamedTuple):
    """The fastest mode of a closed loop.

    rate: |lambda|, 1/s. joint: the coordinate that moves most. spring: K rather than D drives it.
    slope: its entry of K or D. inertia: what the joint feels when the others are free.
    """

    rate: float
    joint: int
    spring: bool
    slope: float
    inertia: float


def fastest(M: Array, D: Array, K: Array) -> Mode:
    """The fastest solution of lambda^2 M + lambda D + K."""
    n = len(M)
    if not (D.any() or K.any()) or np.linalg.matrix_rank(M) < n:  # without inertia, the loop will say so
        return Mode(0.0, 0, False, 0.0, float(M[0, 0]))
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    values, vectors = np.linalg.eig(A)
    k = int(np.abs(values).argmax())
    j = int(np.abs(vectors[n:, k]).argmax())
    spring = bool(abs(values[k].imag) > abs(values[k].real))
    return Mode(float(abs(values[k])), j, spring, float((K if spring else D)[j, j]), float(1 / np.linalg.inv(M)[j, j]))


def moving(qd: Array) -> Array:
    """The velocities, of joints at rest a slow one; numbers or symbols."""
    return where_not_negative(abs(qd) - SLOW, qd, where_not_negative(qd, SLOW, -SLOW))


def law_slopes(torques: Callable[[Array, Array], Array], q: Array, qd: Array, robot: Robot) -> tuple[Array, Array]:
    """-d tau / d qd and -d tau / d q of a control law by central differences: its damping and stiffness.

    Joints at rest are taken to move slowly: laws that compensate dry friction jump at rest, which is no stiffness.
    """
    size, spans = len(qd), robot.compounds
    qd = moving(qd)
    D, K = np.empty((size, size)), np.empty((size, size))
    for j, step in enumerate(1e-6 * np.eye(size)):
        D[:, j] = (torques(q, qd - step) - torques(q, qd + step)) / 2e-6
        ahead, behind = (compounds.integrate(spans, q, sign * step) if spans else q + sign * step for sign in (1, -1))
        K[:, j] = (torques(behind, qd) - torques(ahead, qd)) / 2e-6
    return D, K


def linear_part(dyn: Dynamics, stops: StopForces | None = None, parts: Presliding | None = None) -> Linear:
    """(q, qd) -> M, D, K over numbers, with those of the stops and of presliding friction."""
    kernel, spans = slopes(lossless(dyn)), dyn.robot.compounds
    more = parts.stiffness if parts is not None and len(parts) else 0.0

    def along_velocities(q: Array, qd: Array) -> tuple[Array, Array, Array]:
        D, K = kernel(q, qd)
        return dyn.mass_matrix(q), D, K @ compounds.rates(spans, q, np.eye(len(qd))).T if spans else K + more

    return along_velocities if stops is None else _with(stops, along_velocities)


def traced_part(dyn: Dynamics, stops: StopForces | None = None, parameters: bool = False) -> Linear:
    """(q, qd) -> M, D, K over symbols, with those of the stops. parameters: as in `slopes_graph`."""
    inertia = dyn.graph("mass_matrix", parameters=parameters)
    passive = slopes_graph(lossless(dyn), parameters)

    def linear(q: Array, qd: Array) -> tuple[Array, Array, Array]:
        values = {"q": q, "qd": qd}
        found = []
        for graph in (inertia, passive):
            known = {s: x for name, group in graph.inputs.items() for s, x in zip(group, values[name], strict=True)}
            found += [np.array(substitute(entry, known), dtype=object) for entry in graph.outputs.values()]
        M, D, K = found
        return M, D, K

    return linear if stops is None else _with(stops, linear)


def _with(stops: StopForces, plant: Linear) -> Linear:
    def linear(q: Array, qd: Array) -> tuple[Array, Array, Array]:
        M, D, K = plant(q, qd)
        damping, stiffness = stops.slopes(q, qd)
        eye = np.eye(len(qd), dtype=int)
        return M, D + eye * damping, K + eye * stiffness

    return linear


def solve_symmetric(A: Array, b: Array) -> Array:
    """The x of A x = b over symbols; A is replaced by its symmetric part, which the implicit method may do."""
    return np.array(linear.solve(linear.factor(((A + A.T) / 2).tolist()), b.tolist()), dtype=object)


def told(mode: Mode, names: Sequence[str], whose: str) -> str:
    """A mode in words: the damping of 'joint7', 2 on an inertia of 0.00014, acts within 7e-05 s."""
    kind = "stiffness" if mode.spring else "damping"
    size = f"{mode.slope:.3g} on an inertia of {mode.inertia:.3g}"
    return f"the {kind} of {whose} at {names[mode.joint]!r}, {size}, acts within {1 / mode.rate:.2g} s"
