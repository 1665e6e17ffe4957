"""How wrong can torques be if masses, payload and friction are not quite those of the model?

Torques are linear in the inertial parameters, so the error of joint i at a motion x = (q, qd, qdd) is

    e_i(x) = sum_b d_b t_bi(x),   lower_b <= d_b <= upper_b,                                                     [TB-1]

with t_bi the torque that body b causes and d_b the relative error of its mass (its centre and its radii of gyration
are those of the model), or t_bi the torque of a payload of 1 kg and d_b its mass in kg. For fixed d_b this is the
difference of two rigid-body models, and the worst d_b are at corners of their box:

    max over d of |e_i(x)| = max over signs s of |sum_b (m_b + s_b w_b) t_bi(x)|,  m_b middles, w_b half widths. [TB-2]

The largest error over d and the rates is therefore the largest of many trigonometric polynomials of q, and the grid of
`error_bound` [PR-1] proves a bound over the whole box. Friction acts on its own joint and is added exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from armdyn.analysis.error_bound import (
    BLOCK,
    Coefficients,
    Grid,
    by_rates,
    fine_enough,
    polynomial_degrees,
    rounding_errors,
)
from armdyn.analysis.motion_box import MotionBox, motion_box
from armdyn.analysis.worst_rates import largest_error
from armdyn.dynamics import compile as compiled
from armdyn.errors import ArmdynError, NotApplicable
from armdyn.graph import Graph, Node, constant
from armdyn.kernels import Kernel, build
from armdyn.notebook_view import View
from armdyn.parameters import standard_parameters
from armdyn.result import Result
from armdyn.robot import Robot
from armdyn.robot.features import TRIGONOMETRIC, takes
from armdyn.robot.limits import joint_units, torque_limits
from armdyn.tables import Column, Section, at_most
from armdyn.typing import Array, Progress, quiet

POINTS = 8_000_000
"""Most points of the grid: seconds for a six-joint arm, a minute or two for one of seven joints."""
RANDOM, STARTS, STEPS, NEAR = 1_000_000, 6, 80, 256
"""Random motions; starts, steps and motions per step of the search for the largest error of a joint."""
CHUNK = 1 << 15
"""Random motions that are evaluated together."""
SLACK = 1.03
"""The proof does not tell apart errors that exceed those found by less: few points are left that it must look at."""
INERTIAL = 10
"""Inertial parameters of a body, which come first among those of its joint."""


@dataclass(frozen=True, eq=False)
class TorqueBound(Result):
    """Largest torque errors of a model over a box of motions: proven, and found by search.

    error: (n,) proven: no motion in the box and no parameters in their ranges give more, N m or N. found: (n,) reached
    at the motions `worst`: q, qd, qdd, (n, n) each, row i for joint i. friction: (n,) the part of both that friction
    causes. ranges: what may be wrong, in words. factor: the grid's share in error / found.
    """

    robot: Robot
    box: MotionBox
    error: Array
    found: Array
    worst: tuple[Array, Array, Array]
    friction: Array
    ranges: tuple[str, ...]
    points: int
    factor: float

    def _view(self) -> View:
        limits = torque_limits(self.robot)
        heads = tuple(map(Column, ("joint", "proven", "found", "proven / found", "of the limit", "unit")))
        rows = tuple(
            (
                joint.name,
                at_most(error),
                f"{found:.4g}",
                f"{error / found:.3g}" if found else "",
                f"{100 * error / limit:.3g} %" if np.isfinite(limit) else "",
                units.torque,
            )
            for joint, error, found, limit, units in zip(
                self.robot.joints, self.error, self.found, limits, joint_units(self.robot), strict=True
            )
        )
        places = tuple(
            (joint.name, *(", ".join(f"{x:.4g}" for x in each[i]) for each in self.worst))
            for i, joint in enumerate(self.robot.joints)
        )
        sections = (
            Section("Largest torque errors", heads, rows),
            Section("Where they were found", tuple(map(Column, ("joint", "q", "qd", "qdd"))), places),
        )
        facts = [("may be wrong", "; ".join(self.ranges)), ("proof", f"{self.points} points, factor {self.factor:.3g}")]
        notes = [f"Assumed, because the robot has none: {each}." for each in self.box.assumed]
        return View(f"Torque errors of {self.robot.name}", None, facts, (), sections, notes=notes)

    def record(self) -> dict[str, Any]:
        """Everything that was found, as plain values."""
        return {
            "robot": self.robot.name,
            "ranges": list(self.ranges),
            "error": self.error.tolist(),
            "found": self.found.tolist(),
            "friction": self.friction.tolist(),
            "worst": [each.tolist() for each in self.worst],
            "points": self.points,
            "factor": self.factor,
            "velocity": self.box.velocity.tolist(),
            "acceleration": self.box.acceleration.tolist(),
            "assumed": list(self.box.assumed),
        }


@takes(*TRIGONOMETRIC)
def bound(
    robot: Robot,
    *,
    mass: float = 0.1,
    payload: tuple[float, float] = (0.0, 0.0),
    com: Sequence[float] = (0.0, 0.0, 0.0),
    friction: float = 0.0,
    v_max: Any = None,
    a_max: Any = None,
    points: int = POINTS,
    progress: Progress | None = None,
) -> TorqueBound:
    """Return the largest torque errors that wrong masses, an unknown payload and wrong friction can cause.

    robot:    an open chain or tree; the model whose torques are used.
    mass:     by what share each link's mass may be off, its shape being right (default 0.1: 10 %).
    payload:  least and largest mass at the tool that the model does not know of, kg (default: none).
    com:      where the payload is, in the tool frame, m.
    friction: by what share viscous and Coulomb friction of each joint may be off (default 0).
    v_max, a_max: largest velocities and accelerations (default: the robot's limits, else those of a careful motion).
    points:   of the grid, at most; more of them bring the proven bound closer to what is found.

    >>> import armdyn
    >>> wrong = bound(armdyn.load("planar2r"), mass=0.1)
    >>> bool((wrong.error >= wrong.found).all())
    True
    """
    low, high = payload
    if not (0 <= mass < 1 and 0 <= friction < 1 and 0 <= low <= high and mass + high > 0):
        raise ArmdynError(
            f"mass = {mass}, friction = {friction}, payload = {payload}",
            where="bound",
            expected="shares from 0 to 1, and a payload from 0 kg up; something that may be wrong",
        )
    laws = set(robot.features) & {"static_friction", "asymmetric_friction", "friction_law"}
    if friction and laws:
        raise NotApplicable(
            f"friction with {', '.join(sorted(laws))}",
            where="bound",
            expected="viscous and Coulomb friction, or friction=0",
        )
    say, rigid = progress or quiet, robot.without("friction").bound()
    box = motion_box(rigid, v_max=v_max, a_max=a_max)
    causes = _Causes(rigid, mass, payload, com, box)
    say("largest errors", 0.0)
    found, worst = causes.search()
    degrees, rest = causes.degrees(found)
    grid = fine_enough(box, degrees, 1.05, points)
    highest = causes.largest(grid, found, say)
    extra = rest + causes.rounding()
    error = grid.factors * (highest + extra) + extra
    rubbing = friction * _friction(robot, box)
    return TorqueBound(
        robot, box, error + rubbing, found + rubbing, worst, rubbing, _words(mass, payload, friction),
        grid.points, float(grid.factors.max()),
    )  # fmt: skip


def _words(mass: float, payload: tuple[float, float], friction: float) -> tuple[str, ...]:
    texts = [f"masses of links by {100 * mass:g} %"] if mass else []
    texts += [f"payload from {payload[0]:g} to {payload[1]:g} kg"] if payload[1] else []
    return tuple(texts + ([f"friction by {100 * friction:g} %"] if friction else []))


def _friction(robot: Robot, box: MotionBox) -> Array:
    """(n,) the largest friction of each joint."""
    return np.array(
        [
            0.0 if f is None else abs(float(f.coulomb)) + abs(float(f.viscous)) * v
            for f, v in zip((joint.friction for joint in robot.joints), box.velocity, strict=True)
        ]
    )


class _Causes:
    """The torques t_bi of all causes b, with the middles and half widths of their factors. [TB-1]"""

    def __init__(
        self, robot: Robot, mass: float, payload: tuple[float, float], com: Sequence[float], box: MotionBox
    ) -> None:
        graph = compiled(robot).graph("regressor")
        Y: Any = graph.outputs["Y"]
        own = np.asarray(standard_parameters(robot), dtype=float)
        load = np.asarray(standard_parameters(robot.with_payload(1.0, tuple(com))), dtype=float) - own
        width = len(own) // robot.n
        groups = [
            own * (np.arange(len(own)) // width == j) * (np.arange(len(own)) % width < INERTIAL) for j in range(robot.n)
        ]
        weights = [(0.0, mass)] * robot.n
        if payload[1] > 0:
            groups, weights = [*groups, load], [*weights, (sum(payload) / 2, (payload[1] - payload[0]) / 2)]
        kept = [(group, weight) for group, weight in zip(groups, weights, strict=True) if group.any() and any(weight)]
        self.n, self.box, self.inputs = robot.n, box, graph.inputs
        self.middle, self.half = np.array([weight for _, weight in kept]).T
        self.torques = [[_combined(Y[i], group) for group, _ in kept] for i in range(robot.n)]
        self._parts: list[Coefficients] = [by_rates(row, self.inputs) for row in self.torques]
        self.errors: list[Node] = [self._error(row) for row in self.torques]

    def _error(self, row: Sequence[Node]) -> Node:
        """The largest error of a motion over all d: |sum_b m_b t_b| + sum_b w_b |t_b|, exact as |.| is even. [TB-2]"""
        base = _combined(row, self.middle)
        return sum((abs(t) * float(w) for t, w in zip(row, self.half, strict=True) if w), abs(base))

    def search(self) -> tuple[Array, tuple[Array, Array, Array]]:
        """(n,) the largest errors found, and their motions: random ones, and climbs from the best of them."""
        error = build(Graph(self.inputs, {"e": tuple(self.errors)}), "torque error")
        rng, n, box = np.random.default_rng(0), self.n, self.box
        best: list[list[tuple[float, tuple[Array, ...]]]] = [[] for _ in range(n)]
        for _ in range(0, RANDOM, CHUNK):
            motions = box.samples(CHUNK, rng)
            e = np.asarray(error(*motions))
            for i in range(n):
                top = np.argpartition(-e[:, i], STARTS)[:STARTS]
                best[i] += [(float(e[k, i]), tuple(each[k] for each in motions)) for k in top]
                best[i] = sorted(best[i], key=lambda entry: -entry[0])[:STARTS]
        found, worst = np.zeros(n), (np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)))
        for i in range(n):
            for value, motion in best[i]:
                height, place = self._climbed(error, i, value, motion, rng)
                if height >= found[i]:
                    found[i] = height
                    for rows, row in zip(worst, place, strict=True):
                        rows[i] = row
        return found, worst

    def _climbed(
        self, error: Kernel, i: int, value: float, motion: tuple[Array, ...], rng: np.random.Generator
    ) -> tuple[float, tuple[Array, ...]]:
        """A motion near the given one with a larger error of joint i."""
        box, shape = self.box, (NEAR, self.n)
        span = box.upper - box.lower
        for reach in 0.2 * 0.85 ** np.arange(STEPS):
            q = np.clip(motion[0] + reach * span * rng.standard_normal(shape), box.lower, box.upper)
            flips = np.where(rng.random((2, *shape)) < 1 / self.n, -1.0, 1.0)
            near = (q, motion[1] * flips[0], motion[2] * flips[1])
            e = np.asarray(error(*near))[:, i]
            k = int(e.argmax())
            if e[k] > value:
                value, motion = float(e[k]), tuple(each[k] for each in near)
        return value, motion

    def degrees(self, found: Array) -> tuple[Array, Array]:
        """((n, n) degrees of the errors of each joint, (n,) bounds on what is not counted in them)."""
        degrees, rest = [], []
        size = np.abs(self.middle) + self.half
        for i, row in enumerate(self.torques):
            powers, left = polynomial_degrees(row, self.inputs, self.box, found[i] / (size * len(size)))
            degrees.append(powers.max(axis=0))
            rest.append(float(size @ left))
        return np.array(degrees), np.array(rest)

    def largest(self, grid: Grid, found: Array, say: Progress) -> Array:
        """(n,) the largest errors at the points of the grid, rates and d at their worst, or SLACK times those found."""
        quick = build(self._quick(), "quick bound of torque errors")
        kernels = [self._factors(i) for i in range(self.n)]
        highest = SLACK * found
        for share, q in grid.blocks():
            say("torque bound", share)
            h = np.asarray(quick(q))
            for i in np.flatnonzero((h > highest).any(axis=0)):
                over = np.flatnonzero(h[:, i] > highest[i])
                for block in np.array_split(over[np.argsort(-h[over, i])], -(-len(over) // BLOCK)):
                    block = block[h[block, i] > highest[i]]
                    if not len(block):
                        break
                    highest[i] = max(highest[i], self._exact(kernels[i], q[block], float(highest[i])))
        return highest

    def _quick(self) -> Graph:
        """h_i(q) >= the error of joint i at q: all factors of the rates by magnitude, cause by cause. [PR-2]"""
        a, v = self.box.acceleration.tolist(), self.box.velocity.tolist()
        size = (np.abs(self.middle) + self.half).tolist()
        total = []
        for parts in self._parts:
            h = constant(0)
            for w, linear, quadratic, rest in zip(size, parts.linear, parts.quadratic, parts.constant, strict=True):
                h = h + abs(rest) * w
                for j, x in enumerate(linear):
                    h = h + abs(x) * (w * a[j])
                for j, row in enumerate(quadratic):
                    for k in range(j, self.n):
                        h = h + abs(row[k]) * (w * v[j] * v[k])
            total.append(h)
        return Graph({"q": self.inputs["q"]}, {"h": tuple(total)})

    def rounding(self) -> Array:
        """(n,) bound on the rounding errors of the values on the grid."""
        graph = self._quick()
        size, error = rounding_errors(graph, graph.outputs["h"], self.box)
        return np.asarray(error + 8 * self.n**2 * len(self.half) * 2.0**-53 * size)

    def _factors(self, i: int) -> Kernel:
        """The factors of the rates in the torques of joint i, one row for each cause: accelerations, products, rest."""
        a, v = self.box.acceleration.tolist(), self.box.velocity.tolist()
        parts, rows = self._parts[i], []
        for linear, quadratic, rest in zip(parts.linear, parts.quadratic, parts.constant, strict=True):
            rows.append(
                (
                    *(x * a[j] for j, x in enumerate(linear)),
                    *(row[k] * (v[j] * v[k]) for j, row in enumerate(quadratic) for k in range(j, self.n)),
                    rest,
                )
            )
        return build(Graph({"q": self.inputs["q"]}, {"f": tuple(rows)}), "factors of the rates")

    def _exact(self, kernel: Kernel, q: Array, above: float) -> float:
        """The largest error at positions (k, n), corners of d and rates at their worst [PR-5]; or less than `above`."""
        f = np.asarray(kernel(q))
        n, signs = self.n, _signs(len(self.half))
        combined = np.einsum("sb,kbf->skf", self.middle + signs * self.half, f, optimize=True)
        rough = np.abs(combined).sum(axis=-1)
        s, k = np.nonzero(rough > above)
        order = np.argsort(-rough[s, k])
        best, upper = above, np.triu_indices(n)
        for begin in range(0, len(order), BLOCK):
            part = order[begin : begin + BLOCK]
            if rough[s[part[0]], k[part[0]]] <= best:
                break
            values = combined[s[part], k[part]]
            F = np.zeros((len(part), n, n))
            F[:, upper[0], upper[1]] = values[:, n:-1]
            best = max(best, float(largest_error(values[:, :n], F, values[:, -1]).max()))
        return best


def _combined(row: Sequence[Node], factors: Array) -> Node:
    """sum_k row_k factors_k."""
    return sum((x * float(p) for x, p in zip(row, factors, strict=True) if p), constant(0))


@lru_cache
def _signs(count: int) -> Array:
    """(2^count, count) all signs."""
    return 1.0 - 2.0 * (np.arange(2**count)[:, None] >> np.arange(count) & 1)
