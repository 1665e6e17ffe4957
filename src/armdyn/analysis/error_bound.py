"""A proven bound on the difference of two torque programs over a whole box of motions.

The difference e of two rigid-body models is linear in qdd, quadratic in qd, and for given rates a polynomial of low
degree in the sine and cosine of each revolute q_j and in each prismatic q_j. Such functions cannot peak between the
points of a fine grid (Bernstein and Szegő; Videnskii for a part of the circle): a trigonometric polynomial of degree d
with its largest magnitude B on an arc |x| <= w at x* has a magnitude of at least B cos(d |u - u*|) elsewhere on it,
where sin(x/2) = sin(w/2) sin(u/2), or u = x on the full circle; for a polynomial on [-1, 1], x = cos u. Hence,
coordinate by coordinate, with points evenly spaced in u and s_j the largest distance of any u from the nearest point,

    max |e| <= max over the grid of |e| / prod_j cos(d_j s_j).                                                   [PR-1]

No sample can be missed and no derivative is needed. Rates are taken at their worst at each point:

    |e_i| <= h_i(q) = sum_j |dM_ij| a_j + sum_{j<=k} |db_ijk| v_j v_k + |dg_i|,                                  [PR-2]

which is the largest of the trigonometric polynomials that all choices of signs make, so [PR-1] holds for h as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from armdyn.analysis.motion_box import MotionBox
from armdyn.errors import NotApplicable
from armdyn.graph import Graph, Node, constant, derivative, evaluate, ordered, substitute
from armdyn.graph.node import ABS, ADD, CONST, COS, MUL, NEG, SIN, SUB, SYMBOL
from armdyn.graph.polynomial import Ring, rational_terms
from armdyn.graph.structure import leaves
from armdyn.kernels import Kernel, build
from armdyn.typing import Array, Progress, quiet

ROUNDING = 2.0**-53
CHUNK = 1 << 15
MOST_POINTS = 20_000_000
RANDOM, TURNS = 100_000, 3
"""Random motions, and turns of the search for the largest error."""
NEGLIGIBLE = 0.01
"""Share of the scale that may be bounded term by term, to lower the degrees of the rest."""
Inputs = Mapping[str, Sequence[Node]]


@dataclass(frozen=True, eq=False)
class ErrorBound:
    """Proven bounds on |e_i|, and the largest errors that were found."""

    bound: Array
    """(n,) no motion in the box has a larger error, N m or N."""
    found: Array
    """(n,) errors of the motions in `worst`."""
    worst: tuple[Array, Array, Array]
    """q, qd, qdd, (n, n) each: row i is the motion with the largest error of joint i that was found."""
    points: int
    """Points of the grid."""
    factor: float
    """What [PR-1] multiplies the largest value on the grid with."""


def error_bound(
    errors: Sequence[Node], inputs: Inputs, box: MotionBox, scale: Array, *, factor: float = 1.2,
    progress: Progress | None = None,
) -> ErrorBound:  # fmt: skip
    """Return a proven bound on the largest magnitude of each of n errors over a box of motions.

    errors: expressions in q, qd, qdd: differences of rigid-body torques.
    inputs: the symbols of q, qd and qdd.
    box:    the motions.
    scale:  (n,) errors that matter; what is below 1 % of them may be bounded term by term.
    factor: the grid is made fine enough for this factor in [PR-1], if that takes at most 2e7 points.
    """
    parts = by_rates(errors, inputs)
    graph = Graph({"q": inputs["q"]}, {"h": tuple(_peak(parts, box))})
    degrees, rest = _degrees(errors, inputs, box, scale)
    grid = _fine_enough(box, degrees, factor)
    kernel = build(graph, "error")
    highest, where = _largest(grid, kernel, progress or quiet)
    extra = rest + _rounding(graph, box)  # the part of low degree lies this close to the values of the kernel
    found, worst = _found(errors, parts, inputs, where, box)
    return ErrorBound(grid.factor * (highest + extra) + extra, found, worst, grid.points, grid.factor)


def peak_kernel(errors: Sequence[Node], inputs: Inputs, box: MotionBox) -> Kernel:
    """Return h(q), (..., n): the largest errors that any rates in the box cause. [PR-2]"""
    return build(Graph({"q": inputs["q"]}, {"h": tuple(_peak(by_rates(errors, inputs), box))}), "error")


# The error by powers of the rates ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Torques by powers of the rates; expressions in q."""

    linear: Any
    """(n, n) factors of qdd_j."""
    quadratic: Any
    """(n, n, n) factors of qd_j qd_k with j <= k; zero for j > k."""
    constant: Any
    """(n,)"""


def by_rates(errors: Sequence[Node], inputs: Inputs) -> Coefficients:
    """Return the coefficients of rigid-body torques, or of differences of them."""
    n, qd, zero = range(len(inputs["q"])), inputs["qd"], constant(0)
    curved = [derivative(row, qd) for row in derivative(tuple(errors), qd)]
    share = {-1: zero, 0: constant(0.5), 1: constant(1)}
    quadratic = [[tuple(share[(k > j) - (k < j)] * rows[j][k] for k in n) for j in n] for rows in curved]
    rest = substitute(tuple(errors), dict.fromkeys((*qd, *inputs["qdd"]), zero))
    return Coefficients(derivative(tuple(errors), inputs["qdd"]), quadratic, rest)


def _peak(parts: Coefficients, box: MotionBox) -> list[Node]:
    """h_i(q). [PR-2]"""
    a, v = box.acceleration.tolist(), box.velocity.tolist()
    total = []
    for linear, quadratic, rest in zip(parts.linear, parts.quadratic, parts.constant, strict=True):
        terms = [abs(x) * a[j] for j, x in enumerate(linear)]
        terms += [abs(x) * (v[j] * v[k]) for j, row in enumerate(quadratic) for k, x in enumerate(row)]
        total.append(reduce(Node.__add__, terms, abs(rest)))
    return total


def _degrees(errors: Sequence[Node], inputs: Inputs, box: MotionBox, scale: Array) -> tuple[list[int], Array]:
    """(degree in each coordinate, (n,) bound on the terms of higher degree, which are negligible)."""
    ring = Ring(ordered(tuple(errors)))
    count, n = len(ring.angles), len(inputs["q"])
    place = {node: j for j, node in enumerate(inputs["q"])}
    largest = dict(zip((*inputs["qd"], *inputs["qdd"]), (*box.velocity, *box.acceleration), strict=True))
    largest |= dict(zip(inputs["q"], np.maximum(np.abs(box.lower), np.abs(box.upper)), strict=True))
    angles = {k: angle for k, angle in enumerate(ring.angles) if angle.online}
    straight = {node for node, j in place.items() if not box.revolute[j]} | {*inputs["qd"], *inputs["qdd"]}
    if not set(angles.values()) <= place.keys() - straight or not set(ring.symbols) <= straight:
        raise NotApplicable("the torques are no polynomials in rates, sines and cosines", where="error bound",
                            expected="a rigid tree without friction")  # fmt: skip
    sizes = np.array([largest[each] for each in ring.symbols], dtype=float)
    powers, weights, rows = [], [], []
    for i, error in enumerate(errors):
        for exponents, value in rational_terms(ring.polynomial(error)).items():
            degree = [0] * n
            for k, angle in angles.items():
                degree[place[angle]] = exponents[k] + exponents[count + k]
            for each, power in zip(ring.symbols, exponents[2 * count :], strict=True):
                if each in place:
                    degree[place[each]] += power
            powers.append(degree)
            weights.append(abs(float(value)) * float(np.prod(sizes ** exponents[2 * count :])))
            rows.append(i)
    return _lowered(np.array(powers).reshape(-1, n), np.array(weights), np.array(rows, dtype=int), scale)


def _lowered(powers: Array, weights: Array, rows: Array, scale: Array) -> tuple[list[int], Array]:
    """Degrees after terms of the highest degree have been given up, as long as they are negligible together."""
    rest, kept = np.zeros(len(scale)), np.ones(len(weights), dtype=bool)
    degrees = []
    for j in range(powers.shape[1]):
        while True:
            degree = int(powers[kept, j].max(initial=0))
            top = kept & (powers[:, j] == degree)
            more = rest + np.bincount(rows[top], weights[top], minlength=len(scale))
            if degree == 0 or (more > NEGLIGIBLE * scale).any():
                break
            rest, kept = more, kept & ~top
        degrees.append(degree)
    return degrees, rest


# The grid ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Grid:
    axes: tuple[Array, ...]
    factor: float

    @property
    def points(self) -> int:
        return math.prod(map(len, self.axes))


def _fine_enough(box: MotionBox, degrees: list[int], factor: float) -> _Grid:
    """The grid with the fewest points for a factor, or the best with MOST_POINTS."""
    full = [2 if angle else 1 for angle in box.revolute]  # points on a circle or arc for what one does on an interval
    degrees = [degree if box.upper[j] > box.lower[j] else 0 for j, degree in enumerate(degrees)]
    counts = [full[j] * degree + 1 for j, degree in enumerate(degrees)]

    def loss(j: int, count: int) -> float:
        return -math.log(math.cos(degrees[j] * full[j] * math.pi / (2 * count)))

    while sum(map(loss, range(len(counts)), counts)) > math.log(factor):
        gains = [(loss(j, c) - loss(j, c + 1)) / math.log((c + 1) / c) for j, c in enumerate(counts)]
        best = max(range(len(counts)), key=gains.__getitem__)
        if math.prod(counts) / counts[best] * (counts[best] + 1) > MOST_POINTS:
            break
        counts[best] += 1
    reached = math.exp(sum(map(loss, range(len(counts)), counts))) * (1 + 1e-12)  # points are rounded
    return _Grid(tuple(_axis(box, j, count) for j, count in enumerate(counts)), reached)


def _axis(box: MotionBox, j: int, count: int) -> Array:
    """Points of one coordinate, evenly spaced in u."""
    middle, half = (box.lower[j] + box.upper[j]) / 2, (box.upper[j] - box.lower[j]) / 2
    share = (np.arange(count) + 0.5) / count
    if not box.revolute[j]:
        return np.asarray(middle + half * np.cos(np.pi * share))
    u = np.pi * (2 * share - 1)
    if half >= np.pi:
        return np.asarray(middle + u)
    return np.asarray(middle + 2 * np.arcsin(np.sin(half / 2) * np.sin(u / 2)))


def _largest(grid: _Grid, kernel: Kernel, say: Progress) -> tuple[Array, Array]:
    """((n,) largest values on the grid, (n, n) where)."""
    shape = tuple(map(len, grid.axes))
    highest = where = None
    for start in range(0, grid.points, CHUNK):
        say("error bound", start / grid.points)
        places = np.unravel_index(np.arange(start, min(start + CHUNK, grid.points)), shape)
        q = np.stack([axis[place] for axis, place in zip(grid.axes, places, strict=True)], axis=-1)
        h = np.asarray(kernel(q))
        top = h.argmax(axis=0)
        new = h[top, np.arange(h.shape[1])]
        if highest is None or where is None:
            highest, where = new, q[top]
            continue
        better = new > highest
        highest, where = np.where(better, new, highest), np.where(better[:, None], q[top], where)
    assert highest is not None and where is not None  # a grid has at least one point
    return highest, where


def _rounding(graph: Graph, box: MotionBox) -> Array:
    """(n,) bound on the rounding errors of a program, from the magnitudes of all its intermediate results."""
    size: dict[Node, float] = {}
    error: dict[Node, float] = {}
    largest = np.maximum(np.abs(box.lower), np.abs(box.upper)).tolist()
    for node in graph.nodes:
        of = [size[arg] for arg in node.args], [error[arg] for arg in node.args]
        size[node], error[node] = _rounded(node, *of, dict(zip(graph.inputs["q"], largest, strict=True)))
    return np.array([error[node] for node in graph.outputs["h"]])


def _rounded(node: Node, sizes: list[float], errors: list[float], inputs: Mapping[Node, float]) -> tuple[float, float]:
    """(magnitude, error) of one operation."""
    if node.op == SYMBOL:
        return inputs[node], 0.0
    if node.op == CONST:
        return abs(float(node.value)), ROUNDING * abs(float(node.value))
    if node.op in (SIN, COS):
        return 1.0, errors[0] + 4 * ROUNDING
    if node.op in (NEG, ABS):
        return sizes[0], errors[0]
    if node.op in (ADD, SUB):
        size, error = sizes[0] + sizes[1], errors[0] + errors[1]
    else:
        assert node.op == MUL, f"{node.op} in the torques of a rigid tree"
        size, error = sizes[0] * sizes[1], sizes[0] * errors[1] + sizes[1] * errors[0] + errors[0] * errors[1]
    return size, error + ROUNDING * (size + error)


# The largest errors that are found -----------------------------------------------------------------------------------


def _found(errors: Sequence[Node], parts: Coefficients, inputs: Inputs, where: Array, box: MotionBox) -> Any:
    """((n,) largest errors, their motions): climbed from the peaks of h and from random motions."""
    error = build(Graph(inputs, {"e": tuple(errors)}), "error of a motion")
    random = box.samples(RANDOM, np.random.default_rng(0))
    top = np.abs(error(*random)).argmax(axis=0)
    found, worst = np.zeros(len(errors)), tuple(np.zeros_like(where) for _ in range(3))
    for q in (where, random[0][top]):
        for _ in range(TURNS):
            motions = _worst(parts, inputs, q, box)
            values = np.abs(np.diagonal(error(*motions)))
            better = (values > found)[:, None]
            found = np.maximum(found, values)
            worst = tuple(np.where(better, new, old) for new, old in zip(motions, worst, strict=True))
            q = _climbed(error, motions, box)
    return found, worst


def _climbed(error: Kernel, motions: tuple[Array, Array, Array], box: MotionBox) -> Array:
    """(n, n) better positions for the same rates, row i for joint i."""
    rng, span = np.random.default_rng(0), box.upper - box.lower
    best, qd, qdd = np.array(motions[0]), *motions[1:]
    for i in range(len(best)):
        for reach in 0.1 * 0.8 ** np.arange(30):
            near = np.clip(best[i] + reach * span * rng.standard_normal((128, len(span))), box.lower, box.upper)
            near[0] = best[i]
            best[i] = near[np.abs(error(near, qd[i], qdd[i]))[:, i].argmax()]
    return best


def _worst(parts: Coefficients, inputs: Inputs, q: Array, box: MotionBox) -> tuple[Array, Array, Array]:
    """q, qd, qdd, (n, n) each: the worst rates of joint i at the i-th position."""
    n = len(q)
    qd, qdd = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        at = dict(zip(inputs["q"], q[i].tolist(), strict=True))
        linear, quadratic, rest = (
            np.array(list(leaves(evaluate(part, at))), dtype=float)
            for part in (parts.linear[i], parts.quadratic[i], parts.constant[i])
        )
        form = quadratic.reshape(n, n) * np.outer(box.velocity, box.velocity)
        velocity, value = max((_largest_form(form, float(rest[0]), sign) for sign in (1, -1)), key=lambda e: abs(e[1]))
        qd[i] = velocity * box.velocity
        qdd[i] = np.where(linear < 0, -1, 1) * np.where(value < 0, -1, 1) * box.acceleration
    return q, qd, qdd


def _largest_form(form: Array, rest: float, sign: int, starts: int = 64) -> tuple[Array, float]:
    """(x, value) with |x_j| <= 1 that makes sign (x F x + rest) large: coordinate by coordinate from many starts."""
    rng, F = np.random.default_rng(0), sign * (form + form.T) / 2
    best, highest = np.zeros(len(F)), -math.inf
    for x in rng.choice((-1.0, 1.0), (starts, len(F))):
        for j in [*range(len(F))] * 3:
            slope = 2 * (F[j] @ x - F[j, j] * x[j])
            choices = [-1.0, 1.0, float(np.clip(-slope / (2 * F[j, j]), -1, 1)) if F[j, j] < 0 else 1.0]
            x[j] = max(choices, key=lambda c: F[j, j] * c * c + slope * c)
        if x @ F @ x > highest:
            best, highest = x.copy(), float(x @ F @ x)
    return best, sign * highest + rest
