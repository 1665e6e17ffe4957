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

and closer by [PR-5] where that decides. The largest |e_i| of all rates in the box is the largest of many trigonometric
polynomials, one for each choice of rates, so [PR-1] holds for it as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from armdyn.analysis.motion_box import MotionBox
from armdyn.analysis.worst_rates import error_at_corners, largest_error, worst_corner
from armdyn.errors import NotApplicable
from armdyn.graph import Graph, Node, constant, derivative, ordered, substitute
from armdyn.graph.node import ABS, ADD, CONST, COS, MUL, NEG, SIN, SUB, SYMBOL
from armdyn.graph.polynomial import Ring, rational_terms
from armdyn.kernels import Kernel, build
from armdyn.typing import Array, Progress, quiet

ROUNDING = 2.0**-53
CHUNK = 1 << 15
MOST_POINTS = 20_000_000
RANDOM, STARTS, STEPS, NEAR = 1_000_000, 4, 40, 128
"""Random motions; starts, steps and positions per step of the search for the largest error of a joint."""
MARGIN = 1.02
"""How far the largest value on the grid may be above the largest error found, before one says that it will be."""
BLOCK = 2048
"""Positions whose worst rates are looked at together."""
NEGLIGIBLE = 0.01
"""Share of the largest error found that may be bounded term by term, to lower the degrees of the rest."""
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
    expected: Array
    """(n,) bounds that the grid was expected to give."""
    points: int
    """Points of the grid."""
    factor: float
    """What [PR-1] multiplies the largest values on the grid with, at most."""


def error_bound(
    errors: Sequence[Node],
    inputs: Inputs,
    box: MotionBox,
    *,
    factor: float = 1.2,
    within: Array | None = None,
    progress: Progress | None = None,
) -> ErrorBound:
    """Return a proven bound on the largest magnitude of each of n errors over a box of motions.

    errors: expressions in q, qd, qdd: differences of rigid-body torques.
    inputs: the symbols of q, qd and qdd.
    box:    the motions.
    factor: the grid is made fine enough for this factor in [PR-1], if that takes at most 2e7 points.
    within: (n,) the bounds that are wanted; if errors that are found show that the grid could not prove them, the grid
            is not evaluated and the bounds are infinite (default: the grid is always evaluated).
    """
    say = progress or quiet
    say("largest errors", 0.0)
    parts = by_rates(errors, inputs)
    rates, search = _RateErrors(parts, inputs, box), _BoundSearch(errors, inputs, box)
    search.climb(rates, _random_starts(search.error, box))
    degrees, rest = polynomial_degrees(errors, inputs, box, search.found)
    grid = fine_enough(box, degrees, factor)
    bound, expected = np.full(len(errors), np.inf), MARGIN * grid.factors * search.found
    if within is None or (expected <= within).all():
        graph = Graph({"q": inputs["q"]}, {"h": tuple(_peak(parts, box))})
        highest, where = _largest(grid, build(graph, "error"), rates, say)
        extra = rest + _rounding(graph, box)  # the part of low degree lies this close to the values of the kernel
        bound = grid.factors * (highest + extra) + extra
        search.climb(rates, where[:, None, :])
    return ErrorBound(bound, search.found, search.worst, expected, grid.points, float(grid.factors.max()))


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


class _RateErrors:
    """The errors of all joints as functions of the rates, at any positions."""

    def __init__(self, parts: Coefficients, inputs: Inputs, box: MotionBox) -> None:
        self.n = len(inputs["q"])
        a, v = box.acceleration.tolist(), box.velocity.tolist()
        self._kernels = []
        for linear, quadratic, rest in zip(parts.linear, parts.quadratic, parts.constant, strict=True):
            outputs = {
                "A": tuple(x * a[j] for j, x in enumerate(linear)),
                "F": tuple(x * (v[j] * v[k]) for j, row in enumerate(quadratic) for k, x in enumerate(row)),
                "c": rest,
            }
            self._kernels.append(build(Graph({"q": inputs["q"]}, outputs), "error by rates"))

    def __call__(self, i: int, q: Array) -> tuple[Array, Array, Array]:
        """A (..., n), F (..., n, n) and c (...,) of joint i at positions (..., n)."""
        A, F, c = self._kernels[i](q)
        return A, np.reshape(F, (*np.shape(A), self.n)), c


def polynomial_degrees(errors: Sequence[Node], inputs: Inputs, box: MotionBox, scale: Array) -> tuple[Array, Array]:
    """((k, n) degree of each expression in each coordinate, (k,) bounds on the terms of higher degree, negligible).

    scale: (k,) of which terms below the share NEGLIGIBLE, all together, are bounded and not counted.
    """
    ring = Ring(ordered(tuple(errors)))
    place = {node: j for j, node in enumerate(inputs["q"])}
    largest = dict(zip(inputs["q"], np.maximum(np.abs(box.lower), np.abs(box.upper)), strict=True))
    rates = {name: inputs[name] for name in ("qd", "qdd") if name in inputs}
    for name, values in (("qd", box.velocity), ("qdd", box.acceleration)):
        largest |= dict(zip(rates.get(name, ()), values, strict=name in rates))
    angles = {k: angle for k, angle in enumerate(ring.angles) if angle.online}
    straight = {node for node, j in place.items() if not box.revolute[j]}.union(*rates.values())
    if not set(angles.values()) <= place.keys() - straight or not set(ring.symbols) <= straight:
        raise NotApplicable(
            "the torques are no polynomials in rates, sines and cosines",
            where="error bound",
            expected="a rigid tree without friction, or loops whose joints follow linearly",
        )
    sizes = np.array([largest[each] for each in ring.symbols], dtype=float)
    terms = [_terms(ring, error, inputs, angles, sizes) for error in errors]
    found = [_lowered(*each, size) for each, size in zip(terms, scale, strict=True)]
    return np.array([degrees for degrees, _ in found]), np.array([rest for _, rest in found])


def _terms(ring: Ring, error: Node, inputs: Inputs, angles: Mapping[int, Node], sizes: Array) -> tuple[Array, Array]:
    """((terms, n) degrees, (terms,) magnitudes) of one error."""
    count, n = len(ring.angles), len(inputs["q"])
    place = {node: j for j, node in enumerate(inputs["q"])}
    powers, weights = [], []
    for exponents, value in rational_terms(ring.polynomial(error)).items():
        degree = [0] * n
        for k, angle in angles.items():
            degree[place[angle]] = exponents[k] + exponents[count + k]
        for each, power in zip(ring.symbols, exponents[2 * count :], strict=True):
            if each in place:
                degree[place[each]] += power
        powers.append(degree)
        weights.append(abs(float(value)) * float(np.prod(sizes ** exponents[2 * count :])))
    return np.array(powers, dtype=int).reshape(-1, n), np.array(weights)


def _lowered(powers: Array, weights: Array, scale: float) -> tuple[list[int], float]:
    """Degrees after terms of the highest degree have been given up, as long as they are negligible together."""
    rest, kept, degrees = 0.0, np.ones(len(weights), dtype=bool), []
    for j in range(powers.shape[1]):
        while True:
            degree = int(powers[kept, j].max(initial=0))
            top = kept & (powers[:, j] == degree)
            more = rest + float(weights[top].sum())
            if degree == 0 or more > NEGLIGIBLE * scale:
                break
            rest, kept = more, kept & ~top
        degrees.append(degree)
    return degrees, rest


# The grid ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Grid:
    """Points of all coordinates."""

    axes: tuple[Array, ...]
    factors: Array
    """(rows,) what [PR-1] multiplies the largest values with."""

    @property
    def points(self) -> int:
        return math.prod(map(len, self.axes))

    def blocks(self) -> Iterator[tuple[float, Array]]:
        """(share of the work before it, positions (k, n)) of all points, many at a time; one array is used again."""
        axes = self.axes
        outer = next(k for k in range(len(axes) + 1) if math.prod(map(len, axes[k:])) <= CHUNK)
        count = math.prod(map(len, axes[:outer]))
        q = np.empty((math.prod(map(len, axes[outer:])), len(axes)))
        inner = np.meshgrid(*axes[outer:], indexing="ij")
        q[:, outer:] = np.stack([each.ravel() for each in inner], axis=-1) if inner else 0.0
        for k, place in enumerate(product(*axes[:outer])):
            q[:, :outer] = place
            yield k / count, q


def fine_enough(box: MotionBox, degrees: Array, factor: float, most: int = MOST_POINTS) -> Grid:
    """The grid with the fewest points for a factor, or the best with `most` points; (rows, n) degrees."""
    full = np.where(box.revolute, 2, 1)  # points on a circle or arc for what one does on an interval
    powers = np.where(box.upper > box.lower, degrees, 0)
    counts = full * powers.max(axis=0) + 1

    def losses(j: int, count: int) -> Any:
        return -np.log(np.cos(powers[:, j] * full[j] * np.pi / (2 * count)))

    now = np.array([losses(j, count) for j, count in enumerate(counts)]).T
    while now.sum(axis=1).max() > math.log(factor):
        worst = now.sum(axis=1).argmax()
        better = np.array([losses(j, count + 1) for j, count in enumerate(counts)]).T
        best = ((now - better)[worst] / np.log1p(1 / counts)).argmax()
        if math.prod(counts.tolist()) / counts[best] * (counts[best] + 1) > most:
            break
        counts[best] += 1
        now[:, best] = better[:, best]
    reached = np.exp(now.sum(axis=1)) * (1 + 1e-12)  # points are rounded
    return Grid(tuple(_axis(box, j, count) for j, count in enumerate(counts)), reached)


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


def _largest(grid: Grid, kernel: Kernel, rates: _RateErrors, say: Progress) -> tuple[Array, Array]:
    """((n,) largest values on the grid, (n, n) where): by [PR-5] at the points where [PR-2] is larger than that."""
    highest, where = np.full(rates.n, -np.inf), np.zeros((rates.n, rates.n))
    for share, q in grid.blocks():
        say("error bound", share)
        h = np.asarray(kernel(q))
        for i in np.flatnonzero(h.max(axis=0) > highest):
            over = np.flatnonzero(h[:, i] > highest[i])
            for block in np.array_split(over[np.argsort(-h[over, i])], -(-len(over) // BLOCK)):
                block = block[h[block, i] > highest[i]]
                if not len(block):
                    break
                closer = np.minimum(largest_error(*rates(int(i), q[block])), h[block, i])
                top = closer.argmax()
                if closer[top] > highest[i]:
                    highest[i], where[i] = closer[top], q[block[top]]
    return highest, where


def _rounding(graph: Graph, box: MotionBox) -> Array:
    """(n,) bound on the rounding errors of h."""
    n, (size, error) = len(graph.inputs["q"]), rounding_errors(graph, graph.outputs["h"], box)
    return error + 4 * (1 + n + n * (n + 1) // 2) * ROUNDING * size  # the same terms with signs, by products [PR-5]


def rounding_errors(graph: Graph, outputs: Sequence[Node], box: MotionBox) -> tuple[Array, Array]:
    """((k,) largest magnitudes, (k,) rounding errors) of outputs, from those of all results, added in any order."""
    size: dict[Node, float] = {}
    error: dict[Node, float] = {}
    largest = np.maximum(np.abs(box.lower), np.abs(box.upper)).tolist()
    for node in graph.nodes:
        of = [size[arg] for arg in node.args], [error[arg] for arg in node.args]
        size[node], error[node] = _rounded(node, *of, dict(zip(graph.inputs["q"], largest, strict=True)))
    return np.array([size[node] for node in outputs]), np.array([error[node] for node in outputs])


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


class _BoundSearch:
    """The largest errors so far, and their motions."""

    def __init__(self, errors: Sequence[Node], inputs: Inputs, box: MotionBox) -> None:
        self.error, self.box, n = build(Graph(inputs, {"e": tuple(errors)}), "error of a motion"), box, len(errors)
        self.found = np.zeros(n)
        self.worst = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))

    def climb(self, rates: _RateErrors, starts: Array) -> None:
        """Look for larger errors from starts (n, ..., n), those of each joint."""
        for i, positions in enumerate(starts):
            for q in positions:
                motion = _worst(rates, i, _climbed(rates, i, q, self.box), self.box)
                value = abs(float(self.error(*motion)[i]))
                if value >= self.found[i]:
                    self.found[i] = value
                    for rows, row in zip(self.worst, motion, strict=True):
                        rows[i] = row


def _random_starts(error: Kernel, box: MotionBox) -> Array:
    """(n, STARTS, n) positions of the random motions with the largest errors, for each joint."""
    rng, best, values = np.random.default_rng(0), None, None
    for _ in range(0, RANDOM, CHUNK):
        motions = box.samples(CHUNK, rng)
        size = np.abs(error(*motions))
        top = np.argpartition(-size, STARTS, axis=0)[:STARTS]
        q, height = motions[0][top].swapaxes(0, 1), np.take_along_axis(size, top, axis=0).T
        best = q if best is None else np.concatenate([best, q], axis=1)
        values = height if values is None else np.concatenate([values, height], axis=1)
    assert best is not None and values is not None
    order = np.argsort(-values, axis=1)[:, :STARTS]
    return np.asarray(np.take_along_axis(best, order[:, :, None], axis=1))


def _climbed(rates: _RateErrors, i: int, q: Array, box: MotionBox) -> Array:
    """A position near q where joint i has a larger error, rates at their worst."""
    rng, span, best = np.random.default_rng(0), box.upper - box.lower, q
    for reach in 0.2 * 0.8 ** np.arange(STEPS):
        near = np.clip(best + reach * span * rng.standard_normal((NEAR, len(span))), box.lower, box.upper)
        near[0] = best
        best = near[error_at_corners(*rates(i, near)).argmax()]
    return best


def _worst(rates: _RateErrors, i: int, q: Array, box: MotionBox) -> tuple[Array, Array, Array]:
    """q, qd, qdd: the worst rates of joint i at a position."""
    A, F, c = rates(i, q)
    x, sign = worst_corner(F, float(c))
    return q, x * box.velocity, sign * np.where(A < 0, -1, 1) * box.acceleration
