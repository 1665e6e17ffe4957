"""Proven bounds on inertias, Coriolis terms and gravity slopes over a robot's working range.

For fixed unit vectors x and y, x^T M(q) y is a polynomial of low degree in the sine and cosine of each revolute q_j and
in each prismatic q_j. The 2-norm of M is the largest of these polynomials, so that [PR-1] holds for it: on a grid that
is fine enough, no norm can peak between the points. The same is true of ||dg/dq||, of ||g||, and of

    ||C(q, qd)|| / ||qd|| <= max over unit z of ||c(q, z, z)||,   c_i(z, z) = sum_jk c_ijk z_j z_k,              [PE-1]

where the Christoffel symbols c_ijk are symmetric in j and k, so that the largest trilinear form has two equal vectors.
At a point of the grid ||c(z, z)||^2 = w^T T w with w = z z^T, and T may be replaced by any matrix that agrees with it
on such w: the smaller of the largest eigenvalues of T and of its symmetric part bounds it.                    [PE-2]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.analysis.error_bound import fine_enough, polynomial_degrees, rounding_errors
from armdyn.analysis.motion_box import MotionBox, motion_box
from armdyn.control.extremes import largest
from armdyn.control.resonance import resonances
from armdyn.dynamics import compile as compiled
from armdyn.graph import Graph, Node, derivative
from armdyn.kernels import build
from armdyn.mechanics import christoffel
from armdyn.robot import Robot
from armdyn.robot.features import TRIGONOMETRIC, takes
from armdyn.robot.limits import joint_units, torque_limits
from armdyn.tables import Column, Section, at_least, at_most
from armdyn.typing import Array

FACTOR = 1.16
"""What the grid may multiply the largest values with: leaves room for [PE-2] and rounding within a fifth."""
STARTS, ITERATIONS = 8, 15
"""Directions from which the largest Coriolis term is searched, and steps of each search, which converges linearly."""
BLOCK = 512
"""Configurations whose exact norms are computed together."""
Measure = Callable[[Array], Array]
"""Of entries (k, ...): one number for each of the k configurations."""


@dataclass(frozen=True)
class ProvenExtremes:
    """Largest values over the working range: proven (never exceeded) and found (reached at some configuration).

    inertia:  (n, 2) of M_jj, kg m^2 or kg: the a_j of Khalil (9.6).
    norms:    name -> of ||M||, ||C|| / ||qd||, ||g|| and ||dg/dq||, 2-norms.
    acceleration: (n, 2) of k_a = tau_max / M_jj, rad/s^2 or m/s^2, smallest values; infinite without torque limits.
    resonance: of the lowest resonance with locked motors, rad/s, smallest value; None without elastic joints.
    """

    robot: Robot
    inertia: Array
    norms: dict[str, tuple[float, float]]
    acceleration: Array
    resonance: tuple[float, float] | None
    points: int

    def section(self) -> Section:
        """The bounds as a table."""
        rows = []
        for j, (joint, units) in enumerate(zip(self.robot.joints, joint_units(self.robot), strict=True)):
            rows.append(
                (f"M of {joint.name}", "at most", *self.inertia[j], "kg m²" if joint.kind == "revolute" else "kg")
            )
            if np.isfinite(self.acceleration[j]).all():
                rows.append((f"k_a of {joint.name}", "at least", *self.acceleration[j], units.acceleration))
        rows += [(name, "at most", *pair, "SI") for name, pair in self.norms.items()]
        if self.resonance is not None:
            rows.append(("lowest resonance, motors locked", "at least", *self.resonance, "rad/s"))
        rounded = {"at most": at_most, "at least": at_least}
        texts = tuple(
            (name, word, rounded[word](proven), f"{found:.4g}", unit) for name, word, proven, found, unit in rows
        )
        heads = tuple(map(Column, ("quantity", "", "proven", "found by search", "unit")))
        note = f"Over the working range of all joints, by {self.points} points between which nothing can peak."
        return Section("Proven bounds", heads, texts, note)


@takes("loops", "elastic", *TRIGONOMETRIC)
def proven_extremes(robot: Robot, *, points: int = 2_000_000) -> ProvenExtremes:
    """Bounds on M_jj, ||M||, ||C|| / ||qd||, ||g||, ||dg/dq||, k_a and the lowest resonance that hold everywhere.

    Everywhere is the working range: position limits, whole turns where a revolute joint has none. Loops are covered
    where the dependent joints follow linearly, as in parallelograms; others raise NotApplicable.

    points: of a grid, at most. They suffice for bounds within a fifth of what is found if the masses depend on five
            angles or fewer, as in arms of six joints; beyond, the bounds are as close as the points allow.

    >>> import armdyn
    >>> found = proven_extremes(armdyn.load("planar2r"))
    >>> bool((found.inertia[:, 0] >= found.inertia[:, 1]).all())
    True
    """
    whole = robot.without("friction").bound()
    rigid = whole.without("elastic")
    dyn, n = compiled(rigid), range(rigid.n)
    q: tuple[Node, ...] = tuple(dyn.graph("mass_matrix").inputs["q"])
    M: Any = dyn.graph("mass_matrix").outputs["M"]
    g: Any = dyn.graph("gravity").outputs["g"]
    peaks = _Peaks(rigid, motion_box(rigid), q, points)
    slopes = derivative(tuple(g), q)
    dM: Any = [derivative(tuple(row), q) for row in M]
    c: Any = christoffel.symbols([[[dM[i][j][k] for j in n] for i in n] for k in n])
    norms = {
        "||M||": peaks.of(M, _MATRIX),
        "||C|| / ||qd||": peaks.of(c, _CORIOLIS),
        "||g||": peaks.of(g, _VECTOR),
        "||dg/dq||": peaks.of(slopes, _MATRIX),
    }
    inertia = np.array([peaks.of([M[j][j]], _VECTOR) for j in n])
    resonance = _lowest_resonance(whole, peaks) if "elastic" in robot.features else None
    return ProvenExtremes(robot, inertia, norms, torque_limits(rigid)[:, None] / inertia, resonance, peaks.points)


def _lowest_resonance(robot: Robot, peaks: _Peaks) -> tuple[float, float]:
    """(proven, found) smallest resonance: 1 / w^2 is the largest eigenvalue of K^-1/2 M K^-1/2, M of the links."""
    dyn = compiled(robot)
    soft = [j for j, joint in enumerate(robot.joints) if joint.elastic is not None]
    k = [
        float(joint.elastic.stiffness) + (float(joint.spring.stiffness) if joint.spring else 0.0)
        for joint in robot.joints
        if joint.elastic is not None
    ]
    M: Any = dyn.graph("mass_matrix").outputs["M"]
    scaled = [
        [M[i][j] * float((a * b) ** -0.5) for j, b in zip(soft, k, strict=True)] for i, a in zip(soft, k, strict=True)
    ]
    proven = peaks.of(scaled, _MATRIX)[0] ** -0.5
    return proven, -float(largest(robot, lambda q: -resonances(dyn, q)[:, :1])[0])


# Measures of the entries at configurations ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Quantity:
    """A seminorm of arrays (k, ...). value: of each; above: bounds, the quickest first; search: a lower bound."""

    value: Measure
    above: tuple[Measure, ...] = ()
    search: Measure | None = None


def _frobenius(X: Array) -> Array:
    return np.asarray(np.sqrt((X**2).sum(axis=tuple(range(1, X.ndim)))))


def _unfolding(c: Array) -> Array:
    """The norm of c as a matrix from z z^T to torques: a bound that needs the eigenvalues of small matrices only."""
    flat = c.reshape(len(c), c.shape[1], c.shape[1] ** 2)
    return np.asarray(np.sqrt(np.maximum(np.linalg.eigvalsh(flat @ flat.transpose(0, 2, 1))[:, -1], 0.0)))


def _coriolis_bound(c: Array) -> Array:
    """Upper bounds on max over unit z of ||c(z, z)||. [PE-2]"""
    T = np.einsum("aijk,ailm->ajklm", c, c)
    symmetric = (T + T.transpose(0, 1, 3, 2, 4) + T.transpose(0, 1, 4, 3, 2)) / 3
    count, n = len(c), c.shape[1]
    tops = [np.linalg.eigvalsh(each.reshape(count, n * n, n * n))[:, -1] for each in (T, symmetric)]
    return np.asarray(np.sqrt(np.maximum(np.minimum(*tops), 0.0)))


def _coriolis_search(c: Array) -> Array:
    """Lower bounds on the same, by the power method for symmetric tensors from several z."""
    z = np.random.default_rng(0).standard_normal((len(c), STARTS, c.shape[1]))
    for _ in range(ITERATIONS):
        z = _unit(z)
        x = np.einsum("aijk,asj,ask->asi", c, z, z)
        z = np.einsum("asi,aijk,ask->asj", x, c, z) + 0.3 * (x**2).sum(axis=-1, keepdims=True) * z
    z = _unit(z)
    return np.asarray(np.linalg.norm(np.einsum("aijk,asj,ask->asi", c, z, z), axis=-1).max(axis=1))


def _unit(z: Array) -> Array:
    length = np.linalg.norm(z, axis=-1, keepdims=True)
    return np.asarray(z / np.where(length > 0, length, 1.0))


_MATRIX = _Quantity(lambda X: np.linalg.norm(X, 2, axis=(-2, -1)), (_frobenius,))
_VECTOR = _Quantity(_frobenius)
_CORIOLIS = _Quantity(_coriolis_bound, (_frobenius, _unfolding), _coriolis_search)


class _Peaks:
    """Largest values over the working range of a robot. most: points of one grid. points: of all grids so far."""

    def __init__(self, robot: Robot, box: MotionBox, q: Sequence[Node], most: int) -> None:
        self.robot, self.box, self.inputs, self.most, self.points = robot, box, {"q": tuple(q)}, most, 0

    def of(self, entries: Any, quantity: _Quantity) -> tuple[float, float]:
        """(proven, found) of a quantity of an array of expressions in q."""
        shape = np.shape(np.asarray(entries, dtype=object))
        nodes = tuple(np.asarray(entries, dtype=object).ravel().tolist())
        graph = Graph(self.inputs, {"x": nodes})
        kernel = build(graph, "entries of a bound")

        def values(q: Array) -> Array:
            return np.asarray(kernel(q)).reshape(-1, *shape)

        def searched(q: Array) -> Array:
            return (quantity.search or quantity.value)(values(q))[:, None]

        found = float(largest(self.robot, searched)[0])
        scale = np.full(len(nodes), found / np.sqrt(len(nodes)))
        degrees, rest = polynomial_degrees(nodes, self.inputs, self.box, scale)
        grid = fine_enough(self.box, degrees.max(axis=0, keepdims=True), FACTOR, self.most)
        self.points += grid.points
        size, error = rounding_errors(graph, nodes, self.box)
        # Entries lie this close to polynomials of these degrees; norms of 2-norm type are at most Frobenius's.
        extra = float(np.linalg.norm(rest + error)) + 1e-12 * float(np.linalg.norm(size))
        highest = found
        for _, q in grid.blocks():
            highest = _highest(quantity, values(q), highest)
        return float(grid.factors.max()) * (highest + extra) + extra, found


def _highest(quantity: _Quantity, X: Array, least: float) -> float:
    """The largest value among configurations, if it is larger than `least`."""
    for above in quantity.above:
        bounds = above(X)
        X = X[np.argsort(-bounds)[: np.count_nonzero(bounds > least)]]
    for start in range(0, len(X), BLOCK):
        block = X[start : start + BLOCK]
        block = block if not quantity.above else block[quantity.above[-1](block) > least]
        least = max(least, float(quantity.value(block).max(initial=0.0)))
    return least
