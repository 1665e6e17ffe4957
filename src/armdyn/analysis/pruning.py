"""Reduced models: the torque program without what does not matter, and a proof of how little that is.

Khalil sec. 7.5.1 (Bejczy; Armstrong, Khatib and Burdick) and Milićević sec. 5 keep the significant terms of the
equations. Here the terms are the summands of the program with the fewest operations, the customised Newton-Euler
recursion, so what remains is shorter than the whole. The largest effect of a summand x on the torque of joint i is

    e_i(x) = max over samples of |x dtau_i/dx|,                                                                  [PR-3]

and summands are left out in the order of max_i e_i / tolerance_i while, at sampled positions, no rates in the box cause
an error [PR-5] beyond a share of the tolerance. The share is then set such that the proven bound [PR-1] meets it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.analysis.error_bound import ErrorBound, Inputs, error_bound, fine_enough
from armdyn.analysis.motion_box import MotionBox, motion_box
from armdyn.analysis.significance import Significance, significance
from armdyn.analysis.worst_rates import largest_error
from armdyn.dynamics import compile as compiled
from armdyn.equations.derivation import Equations
from armdyn.errors import ArmdynError, FileError, ShapeError
from armdyn.graph import (
    Graph,
    Node,
    Operations,
    constant,
    derivative,
    factored,
    identical,
    normal_form,
    ordered,
    substitute,
)
from armdyn.graph.derivative import with_operands
from armdyn.graph.evaluate import run
from armdyn.graph.node import ADD, MUL, NEG, SUB
from armdyn.kernels import build
from armdyn.mechanics import christoffel
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot import Robot
from armdyn.robot.features import TRIGONOMETRIC, model_line, takes
from armdyn.robot.limits import joint_units, limit_vector, torque_limits
from armdyn.tables import Column, Section, at_most
from armdyn.typing import Array, Progress, quiet

SAMPLES, POSITIONS, HARMONICS = 2000, 150, 16
TURNS, CALLS = 15, 2000
"""Of timing one call: about 10 ms a turn, so that one turn of each is undisturbed."""
CLOSE = 1.35
"""Summands stay if the error without them could not be bounded within this factor: the grid would be too large."""
ROUNDED = 1e-9
"""Harmonics below this share of the tolerance are rounding."""
NOTHING = 1e-6
"""Tolerance of a joint that needs no torque, as a share of the largest tolerance of all joints."""
Torques = tuple[Node, ...]
Values = Mapping[Node, Array]
FIRST, SECOND = 1, 2


@dataclass(frozen=True, eq=False)
class Pruned(Result):
    """A reduced model with a proven bound on its torque error."""

    robot: Robot
    box: MotionBox
    tolerance: Array
    """(n,) N m or N."""
    full: Graph
    """The whole model: tau of q, qd, qdd."""
    graph: Graph
    """The reduced model."""
    certificate: ErrorBound
    seconds: float

    @property
    def bound(self) -> Array:
        """(n,) torque error that no motion in the box exceeds, N m or N."""
        return self.certificate.bound

    @property
    def operations(self) -> Operations:
        """Operations of the reduced model; `full.operations` has those of the whole."""
        return self.graph.operations

    @cached_property
    def inverse_dynamics(self) -> Callable[..., Array]:
        """The reduced model as machine code: tau(q, qd, qdd), arrays (..., n)."""
        return build(self.graph, "pruned inverse dynamics").call

    @cached_property
    def call_seconds(self) -> dict[str, float]:
        """Seconds of one call of the full and of the reduced model: the best of several turns of each."""
        state = [each[0] for each in self.box.samples(1, np.random.default_rng(0))]
        calls = {"full": build(self.full, "inverse dynamics").call, "reduced": self.inverse_dynamics}
        best = dict.fromkeys(calls, np.inf)
        for name, call in [*calls.items()] * TURNS:
            begin = time.perf_counter()
            for _ in range(CALLS):
                call(*state)
            best[name] = min(best[name], (time.perf_counter() - begin) / CALLS)
        return best

    @cached_property
    def ranking(self) -> Significance:
        """The terms of the equations by their largest contribution in the box."""
        return significance(self.robot, box=self.box)

    def _view(self) -> View:
        heads = (Column("joint"), Column("tolerance"), Column("proven bound"), Column("largest found"), Column("unit"))
        values = zip(self.tolerance, self.bound, self.certificate.found, strict=True)
        rows = tuple(
            (joint.name, f"{allowed:.3g}", at_most(proven), f"{found:.3g}", units.torque)
            for joint, (allowed, proven, found), units in zip(
                self.robot.joints, values, joint_units(self.robot), strict=True
            )
        )
        counts = {"full": self.full.operations, "reduced": self.operations}
        costs = tuple(
            (
                name,
                str(count.multiplications),
                str(count.additions),
                str(count.trigonometric),
                f"{1e9 * self.call_seconds[name]:.0f} ns",
            )
            for name, count in counts.items()
        )
        columns = tuple(map(Column, ("model", "multiplications", "additions", "sines, cosines", "one call")))
        sections = [Section("Torque errors of the reduced model", heads, rows), Section("Cost", columns, costs)]
        facts = [
            ("model", model_line(self.robot).removeprefix("model: ")),
            ("proof", f"{self.certificate.points} points, factor {self.certificate.factor:.3g}"),
            ("velocities", f"up to {_listed(self.box.velocity)}"),
            ("accelerations", f"up to {_listed(self.box.acceleration)}"),
        ]
        notes = [f"Assumed, because the robot has none: {each}." for each in self.box.assumed]
        terms = (self.ranking.section(),)
        return View(f"Reduced torque model of {self.robot.name}", None, facts, (), sections, terms, notes)

    def record(self) -> dict[str, Any]:
        """Everything that was found, as plain values."""
        counts = {
            name: {
                "multiplications": count.multiplications,
                "additions": count.additions,
                "seconds": self.call_seconds[name],
            }
            for name, count in (("full", self.full.operations), ("reduced", self.operations))
        }
        return {
            "robot": self.robot.name,
            "model": model_line(self.robot),
            "tolerance": self.tolerance.tolist(),
            "bound": self.bound.tolist(),
            "found": self.certificate.found.tolist(),
            "points": self.certificate.points,
            "factor": self.certificate.factor,
            "velocity": self.box.velocity.tolist(),
            "acceleration": self.box.acceleration.tolist(),
            "assumed": list(self.box.assumed),
            **counts,
        }

    def save(self, path: str | Path) -> Path:
        """Write the reduced model, with what it leaves out and its bound: equations (.txt, .tex) or a program (.py)."""
        kind = Path(path).suffix.lower()
        if kind not in (".txt", ".tex", ".py"):
            raise FileError(f"unknown ending {kind!r}", where=str(path), expected=".txt, .tex, .py")
        return self.equations.save(path)

    def plot(self, path: str | Path | None = None, size: str | None = None) -> Any:
        """Matplotlib figure of where the most important terms of the equations vanish.

        path: .png, .svg or .pdf file to write (default: none). size: "column" or "page" of a journal.
        """
        from armdyn.report.figures.significance_figures import zero_lines_figure
        from armdyn.report.figures.style import save_figure

        figure = zero_lines_figure(self.ranking)
        if path is not None:
            save_figure(figure, path, size)
        return figure

    @cached_property
    def equations(self) -> Equations:
        """The reduced model in explicit form; the velocity terms decide C, which is not the Christoffel matrix of M."""
        tau, inputs = self.graph.outputs["tau"], self.graph.inputs
        n, qd = range(self.robot.n), inputs["qd"]
        M = derivative(tau, inputs["qdd"])
        curved = [derivative(row, qd) for row in derivative(tau, qd)]
        c = tuple(tuple(tuple(curved[i][j][k] / 2 for k in n) for j in n) for i in n)
        g = substitute(tau, dict.fromkeys((*qd, *inputs["qdd"]), constant(0)))
        C, k = christoffel.matrix_from_symbols(c, qd), (constant(0),) * len(n)
        raw = {"M": M, "christoffel": c, "C": C, "g": g, "k": k, "tau": tau}
        size = {name: normal_form(raw[name]).terms for name in ("M", "christoffel", "g", "k")}
        symmetric = all(identical(M[i][j], M[j][i]) for i in n for j in n if i < j)
        return Equations(
            self.robot,
            "newton_euler",
            raw,
            size,
            self.graph,
            self.seconds,
            self.robot,
            symmetric,
            reduced=self._promise,
        )

    @property
    def _promise(self) -> str:
        errors = ", ".join(at_most(each) for each in self.bound)
        return (
            f"reduced: torques are off by up to {errors} (proven) within the position limits, at velocities "
            f"{_listed(self.box.velocity)} and accelerations {_listed(self.box.acceleration)} or less"
        )


@takes(*TRIGONOMETRIC)
def prune(
    robot: Robot,
    tolerance: Any = "1%",
    *,
    v_max: Any = None,
    a_max: Any = None,
    box: MotionBox | None = None,
    factor: float = 1.2,
    progress: Progress | None = None,
) -> Pruned:
    """Return a reduced torque model whose error stays within a tolerance for all motions in a box.

    robot:     an open chain or tree; friction is not part of the reduced model, which says so.
    tolerance: (n,) or one for all, N m or N; or "1%" of the torque limits and, where a joint has none, of the largest
               torque in samples.
    v_max, a_max: largest velocities and accelerations (default: the robot's limits, else those of a careful motion).
    box:       the motions instead (default: `motion_box(robot, v_max=v_max, a_max=a_max)`).
    factor:    how tight the proof is, larger than 1; see `error_bound`.

    >>> import armdyn
    >>> reduced = prune(armdyn.load("planar2r"), "5%")
    >>> bool((reduced.bound <= reduced.tolerance).all())
    True
    """
    if not factor > 1:
        raise ArmdynError(f"factor = {factor}", where="prune", expected="a number larger than 1")
    begin, say = time.perf_counter(), progress or quiet
    robot = robot.without("friction")
    rigid = robot.bound()
    full = compiled(rigid).graph("inverse_dynamics")
    space = box or motion_box(rigid, v_max=v_max, a_max=a_max)
    values = _values(full.inputs, space)
    tau: Torques = tuple(full.outputs["tau"])
    allowed = _tolerance(rigid, tolerance, tau, values)
    budget, judge = np.full(robot.n, 1 / factor), _Judge(tau, full.inputs, space, allowed, factor)
    many = _Positions(tau, full.inputs, space, 20 * POSITIONS)
    while True:
        say("summands", 0.0)
        reduced = factored(_without_summands(tau, values, judge, budget * allowed))
        errors = [a - b for a, b in zip(tau, reduced, strict=True)]
        over = many.errors(reduced) * factor / allowed
        if (over <= 1).all():
            found = error_bound(errors, full.inputs, space, factor=factor, within=allowed, progress=say)
            if (found.bound <= allowed).all():
                break
            over = np.where(np.isfinite(found.bound), found.bound, found.expected) / allowed
        budget *= np.where(over > 1, 0.93 / np.maximum(over, 1), 1)
    graph = Graph(full.inputs, {"tau": reduced}, full.names)
    return Pruned(robot, space, allowed, full, graph, found, time.perf_counter() - begin)


def _values(inputs: Inputs, box: MotionBox) -> Values:
    states = dict(zip(("q", "qd", "qdd"), box.samples(SAMPLES, np.random.default_rng(0)), strict=True))
    return {node: states[name][:, j] for name in states for j, node in enumerate(inputs[name])}


def _listed(values: Array) -> str:
    return ", ".join(f"{x:g}" for x in values)


def _tolerance(robot: Robot, given: Any, tau: Torques, values: Values) -> Array:
    """(n,) the largest error that is accepted."""
    if not isinstance(given, str):
        return limit_vector("tolerance", given, robot.n)
    share = _share(given)
    limits = torque_limits(robot)
    results = run(ordered(tau), values)
    largest = np.array([np.abs(results[node]).max() for node in tau])
    allowed = share * np.where(np.isfinite(limits), limits, largest)
    return np.asarray(np.maximum(allowed, share * NOTHING * largest.max()))


def _share(percent: str) -> float:
    """0.01 of "1%"."""
    try:
        share = float(percent.strip().removesuffix("%")) / 100
    except ValueError:
        share = np.nan
    if not (percent.strip().endswith("%") and 0 < share < 1):
        raise ShapeError(f"tolerance = {percent!r}", where="prune", expected='between 0 and 100 %, such as "1%"')
    return share


# Leaving out summands ------------------------------------------------------------------------------------------------


class _Positions:
    """Sampled positions at which the errors of reduced torques are known for all rates.

    Torques at rest, with one acceleration, one velocity and two velocities give all factors of the rates.
    """

    def __init__(self, tau: Torques, inputs: Inputs, box: MotionBox, count: int) -> None:
        q, *_ = box.samples(count, np.random.default_rng(count))
        self.n, unit = q.shape[1], np.eye(q.shape[1])
        self.pairs = np.triu_indices(self.n, 1)
        rest, v = np.zeros((1, self.n)), box.velocity * unit
        qd = np.concatenate([rest, 0 * unit, v, v[self.pairs[0]] + v[self.pairs[1]]])
        qdd = np.concatenate([rest, box.acceleration * unit, np.zeros((len(qd) - self.n - 1, self.n))])
        states = {"q": q[:, None, :], "qd": qd, "qdd": qdd}
        shape = len(q), len(qd)
        self.values = {
            node: np.broadcast_to(states[name][..., j], shape) for name in states for j, node in enumerate(inputs[name])
        }
        results = run(ordered(tau), self.values)
        self.wanted = [results[node] for node in tau]

    def errors(self, torques: Torques) -> Array:
        """(n,) the largest error of each torque."""
        n, (j, k) = self.n, self.pairs
        found = run(ordered(torques), self.values)
        largest = []
        for node, wanted in zip(torques, self.wanted, strict=True):
            e = np.broadcast_to(found[node], wanted.shape) - wanted
            c, A, squares = e[:, 0], e[:, 1 : n + 1], e[:, n + 1 : 2 * n + 1]
            F = np.zeros((len(e), n, n))
            F[:, range(n), range(n)] = squares - c[:, None]
            F[:, j, k] = e[:, 2 * n + 1 :] - squares[:, j] - squares[:, k] + c[:, None]
            largest.append(largest_error(A - c[:, None], F, c).max())
        return np.array(largest)


class _Lines:
    """Lines along each coordinate on which the degrees of errors are seen: harmonics, or powers of prismatic joints."""

    def __init__(self, tau: Torques, inputs: Inputs, box: MotionBox) -> None:
        rng, n = np.random.default_rng(3), len(inputs["q"])
        self.box, turn = box, np.pi * (np.arange(HARMONICS) + 0.5) / HARMONICS
        self.cosines = np.cos(np.outer(np.arange(HARMONICS), turn)) * 2 / HARMONICS
        (q, qd, qdd), states = box.samples(1, rng), np.empty((n, HARMONICS, n))
        states[:] = q
        for j in range(n):
            middle, half = (box.lower[j] + box.upper[j]) / 2, (box.upper[j] - box.lower[j]) / 2
            states[j, :, j] = 2 * turn if box.revolute[j] else middle + half * np.cos(turn)
        each = {"q": states, "qd": qd * rng.uniform(0.5, 1, n), "qdd": qdd * rng.uniform(0.5, 1, n)}
        self.values = {
            node: np.broadcast_to(each[name][..., j], states.shape[:2])
            for name in each
            for j, node in enumerate(inputs[name])
        }
        results = run(ordered(tau), self.values)
        self.wanted = [results[node] for node in tau]

    def degrees(self, torques: Torques, scale: Array) -> Array:
        """(n, n) degree of each error in each coordinate, as far as it is larger than rounding."""
        found = run(ordered(torques), self.values)
        degrees = []
        for node, wanted, size in zip(torques, self.wanted, scale, strict=True):
            e = np.broadcast_to(found[node], wanted.shape) - wanted
            spectrum = np.where(
                self.box.revolute[:, None], _padded(np.abs(np.fft.rfft(e)) * 2 / HARMONICS), np.abs(e @ self.cosines.T)
            )
            degrees.append(((spectrum > ROUNDED * size) * np.arange(HARMONICS)).max(axis=1))
        return np.array(degrees)


def _padded(rows: Array) -> Array:
    return np.pad(rows, ((0, 0), (0, HARMONICS - rows.shape[1])))


class _Judge:
    """Whether reduced torques stay within a tolerance, and in a form whose error can be bounded closely."""

    def __init__(self, tau: Torques, inputs: Inputs, box: MotionBox, scale: Array, factor: float) -> None:
        self.positions, self.lines = _Positions(tau, inputs, box, POSITIONS), _Lines(tau, inputs, box)
        self.box, self.scale, self.factor = box, scale, max(factor, CLOSE)
        self._close: dict[bytes, bool] = {}

    def fits(self, torques: Torques, allowed: Array) -> bool:
        """True if no rates cause an error beyond `allowed` at the sampled positions, and a grid would prove it."""
        if (self.positions.errors(torques) > allowed).any():
            return False
        degrees = self.lines.degrees(torques, self.scale)
        key = degrees.tobytes()
        if key not in self._close:
            self._close[key] = bool((fine_enough(self.box, degrees, self.factor).factors <= self.factor).all())
        return self._close[key]


def _without_summands(tau: Torques, values: Values, judge: _Judge, allowed: Array) -> Torques:
    """The torques without summands, as many as the judge allows: first many at a time, then one by one."""

    def fits(torques: Torques) -> bool:
        return judge.fits(torques, allowed)

    while True:
        ranked = [(node, side) for effect, node, side in _ranked(tau, values, allowed) if effect <= 1]
        low, high = 0, len(ranked)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if fits(_cut(tau, ranked[:middle])) else (low, middle - 1)
        if low == 0:
            break
        tau = _cut(tau, ranked[:low])
    trying = True
    while trying:
        shorter = (_cut(tau, [(node, side)]) for e, node, side in _ranked(tau, values, allowed) if e <= 1)
        better = next(filter(fits, shorter), None)
        trying, tau = better is not None, better or tau
    return tau


def _ranked(tau: Torques, values: Values, allowed: Array) -> list[tuple[float, Node, int]]:
    """(effect as a share of the tolerance, sum, which summand), smallest first. [PR-3]"""
    order = ordered(tau)
    result = run(order, values)
    slopes: dict[Node, dict[int, Any]] = {}
    for i, node in enumerate(tau):
        _add(slopes, node, i, 1.0)
    effects = []
    for node in reversed(order):
        for i, slope in slopes.get(node, {}).items():
            if node.op in (ADD, SUB):
                _add(slopes, node.args[0], i, slope)
                _add(slopes, node.args[1], i, slope if node.op == ADD else -slope)
            elif node.op == MUL:
                a, b = node.args
                _add(slopes, a, i, slope * result[b])
                _add(slopes, b, i, slope * result[a])
            elif node.op == NEG:
                _add(slopes, node.args[0], i, -slope)
        if node.op in (ADD, SUB) and node.online and node in slopes:  # not within the angle of a sine
            for side, x in zip((FIRST, SECOND), node.args, strict=True):
                shares = [np.abs(slope * result[x]).max() / allowed[i] for i, slope in slopes[node].items()]
                effects.append((float(max(shares)), node, side))
    return sorted(effects, key=lambda each: (each[0], each[1].key, each[2]))


def _add(slopes: dict[Node, dict[int, Any]], node: Node, i: int, slope: Any) -> None:
    of = slopes.setdefault(node, {})
    of[i] = of[i] + slope if i in of else slope


def _cut(tau: Torques, summands: Sequence[tuple[Node, int]]) -> Torques:
    """The torques with some summands zero."""
    sides: dict[Node, int] = {}
    for node, side in summands:
        sides[node] = sides.get(node, 0) | side
    new: dict[Node, Node] = {}
    for node in ordered(tau):
        args = tuple(new[arg] for arg in node.args)
        if node in sides:
            args = tuple(
                constant(0) if sides[node] & side else arg for side, arg in zip((FIRST, SECOND), args, strict=True)
            )
        new[node] = with_operands(node, args) if args and node.op in (ADD, SUB, MUL, NEG) else node
    return tuple(new[node] for node in tau)
