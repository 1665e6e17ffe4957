"""All formulations on one robot, side by side: agreement, operation counts, times."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.algebra import Mat3, Vec3
from armdyn.equations.coriolis_comparison import CoriolisMatrix, coriolis_matrices, coriolis_section
from armdyn.equations.derivation import must_move, symbolic_robot
from armdyn.equations.projection import projected, torques_of
from armdyn.errors import FeatureError
from armdyn.graph import Operations, span, trace
from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.mechanics.registry import FORMULATIONS, Formulation
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section
from armdyn.typing import Progress

PUBLISHED: dict[str, tuple[Callable[[int], float], Callable[[int], float]]] = {
    "lagrange_euler": (
        lambda n: 128 / 3 * n**4 + 512 / 3 * n**3 + 739 / 3 * n**2 + 160 / 3 * n,
        lambda n: 98 / 3 * n**4 + 781 / 6 * n**3 + 559 / 3 * n**2 + 245 / 6 * n,
    ),
    "newton_euler": (lambda n: 132 * n, lambda n: 111 * n - 4),
    "dalembert": (
        lambda n: 13 / 6 * n**3 + 105 / 2 * n**2 + 268 / 3 * n + 69,
        lambda n: 4 / 3 * n**3 + 44 * n**2 + 146 / 3 * n + 45,
    ),
}
"""Multiplications and additions for n general revolute joints, as Milićević table 3 prints them."""


class Counted:
    """A scalar that counts the operations done with it: what a formulation costs as it is written."""

    __slots__ = ("tally",)
    __array_ufunc__ = None

    def __init__(self, tally: dict[str, int]) -> None:
        self.tally = tally

    def _count(self, kind: str) -> Counted:
        self.tally[kind] += 1
        return self

    def __mul__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, Vec3 | Mat3) else self._count("multiplications")

    def __add__(self, other: Any) -> Counted:
        return self._count("additions")

    __rmul__ = __truediv__ = __rtruediv__ = __mul__
    __radd__ = __sub__ = __rsub__ = __add__

    def __neg__(self) -> Counted:
        return self

    def sin(self) -> Counted:
        return self

    cos = sin


@dataclass(frozen=True)
class Row:
    """One formulation's inverse dynamics on a robot."""

    formulation: Formulation
    difference: float
    """Largest difference from the reference, relative to the largest torque, over random states in floats."""
    written: tuple[int, int]
    """Multiplications and additions as written, every one carried out."""
    operations: Operations
    """The same traced: common subexpressions once, dead code gone; parameters are constants."""
    span: int
    """Operations of the longest chain in which each needs the one before: no parallel computer is faster."""
    trace_seconds: float
    evaluation_seconds: float
    """One direct evaluation on floats, in Python."""
    published: tuple[int, int] | None


@dataclass(frozen=True)
class Comparison(Result):
    """All formulations on one robot."""

    robot: str
    joints: int
    rows: tuple[Row, ...]
    coriolis: tuple[CoriolisMatrix, ...] = ()
    """The Coriolis matrices; none for robots that they do not cover."""

    @property
    def agrees(self) -> bool:
        """All torques the same to 1e-9 of the largest: roundings of a few thousand operations."""
        return all(row.difference < 1e-9 for row in self.rows)

    def _view(self) -> View:
        columns = {
            ("formulation", ""): [row.formulation.name for row in self.rows],
            ("differs by", "of largest"): [f"{row.difference:.0e}" if row.difference else "0" for row in self.rows],
            ("as written", "x / +"): _pairs([row.written for row in self.rows]),
            ("shared", "x / +"): _pairs([_counts(row.operations) for row in self.rows]),
            ("off-line", "x / +"): _pairs([_counts(row.operations.offline) for row in self.rows]),
            ("span", ""): [str(row.span) for row in self.rows],
            ("trace", "ms"): [f"{1e3 * row.trace_seconds:.1f}" for row in self.rows],
            ("one call", "ms"): [f"{1e3 * row.evaluation_seconds:.2f}" for row in self.rows],
            ("Milićević table 3", "x / +"): _pairs([row.published for row in self.rows]),
            ("source", ""): [row.formulation.source for row in self.rows],
        }
        heads = tuple(Column(*head) for head in columns)
        table = Section("Inverse dynamics", heads, tuple(zip(*columns.values(), strict=True)))
        largest = max(row.difference for row in self.rows)
        words = "all agree" if self.agrees else "they do NOT agree"
        verdict = f"{words}: torques differ by at most {largest:.0e} of the largest (floats)"
        sections = (table, *((coriolis_section(self.coriolis),) if self.coriolis else ()))
        notes = (*NOTES, "Exact agreement is proved by armdyn certify.")
        return View(
            f"{len(self.rows)} formulations of {self.robot}", (verdict, self.agrees), sections=sections, notes=notes
        )

    def record(self) -> dict[str, Any]:
        """Everything the comparison holds, as plain values."""
        rows = [
            {
                "name": row.formulation.name,
                "title": row.formulation.title,
                "source": row.formulation.source,
                "difference": row.difference,
                "written": _named(row.written),
                "shared": _named(_counts(row.operations)),
                "offline": _named(_counts(row.operations.offline)),
                "span": row.span,
                "trace_seconds": row.trace_seconds,
                "evaluation_seconds": row.evaluation_seconds,
                "published_milicevic_table_3": _named(row.published),
            }
            for row in self.rows
        ]
        record = {"robot": self.robot, "joints": self.joints, "agrees": self.agrees, "formulations": rows}
        return record | ({"coriolis": [each.record() for each in self.coriolis]} if self.coriolis else {})


NOTES = (
    "as written: multiplications / additions of one evaluation, without sharing; products with 0 and 1 do not count.",
    "shared: the same with common subexpressions computed once and parameters folded in; off-line: operations that "
    "depend on parameters only, done once.",
    "span: operations of the longest chain in which each needs the one before; work divided by span is the largest "
    "speed-up on many processors.",
    "Milićević table 3: counts of other authors, as polynomials in n for n general revolute joints.",
)


def _counts(operations: Operations | None) -> tuple[int, int]:
    return (operations.multiplications, operations.additions) if operations else (0, 0)


def _pairs(counts: Sequence[tuple[int, int] | None]) -> list[str]:
    """Two counts per cell, with the slashes aligned."""
    left, right = (max((len(str(pair[k])) for pair in counts if pair), default=1) for k in (0, 1))
    return [f"{pair[0]:>{left}} / {pair[1]:>{right}}" if pair else "" for pair in counts]


def _named(pair: tuple[int, int] | None) -> dict[str, int] | None:
    return {"multiplications": pair[0], "additions": pair[1]} if pair else None


@takes(*CLOSED, *TREE)
def compare(
    robot: Robot,
    *,
    formulations: Sequence[Formulation] = FORMULATIONS,
    samples: int = 3,
    seed: int = 0,
    coriolis: bool = True,
    progress: Progress | None = None,
) -> Comparison:
    """Inverse dynamics by every formulation: agreement, operation counts, times to trace and to evaluate.

    samples, seed: random states, in floats.
    coriolis:      compare the Coriolis matrices of the literature too, for robots that they cover: see
                   `coriolis_matrices`.
    """
    must_move(robot)
    giving = [f for f in formulations if "inverse_dynamics" in f.gives]
    states = np.random.default_rng(seed).uniform(-1, 1, (samples, 3, robot.n))
    if robot.constrained:  # near the assembly, where loops close
        chain = dependent_joints(robot)
        states[:, 0] = 0.2 * states[:, 0] + [chain.assembly[k] for k in chain.independent]
    reference = [_torques(robot, giving[0], state) for state in states]
    rows = []
    for k, entry in enumerate(giving):
        if progress:
            progress(entry.name, k / len(giving))
        rows.append(_row(entry, robot, states, reference))
    return Comparison(robot.name, robot.n, tuple(rows), _coriolis(robot) if coriolis else ())


def _coriolis(robot: Robot) -> tuple[CoriolisMatrix, ...]:
    try:
        return coriolis_matrices(robot)
    except FeatureError:
        return ()


def _row(entry: Formulation, robot: Robot, states: Any, reference: Sequence[Any]) -> Row:
    begin = time.perf_counter()
    torques = [_torques(robot, entry, state) for state in states]
    evaluation = (time.perf_counter() - begin) / len(states)
    scale = max(np.abs(reference).max(), 1e-300)
    difference = float(np.abs(np.subtract(torques, reference)).max() / scale)
    model, tree, n = robot.symbolic, symbolic_robot(robot.opened, "named"), robot.n
    function = entry.function("inverse_dynamics")
    begin = time.perf_counter()
    graph = trace(lambda *state: projected(model, tree, function, torques_of, *state), {"q": n, "qd": n, "qdd": n})
    tracing = time.perf_counter() - begin
    return Row(
        entry,
        difference,
        written_operations(entry, robot),
        graph.operations,
        span(graph.outputs),
        tracing,
        evaluation,
        _published(entry.name, n),
    )


def _torques(robot: Robot, entry: Formulation, state: Any) -> Any:
    """Torques of the independent joints, in numbers."""
    motion = [list(map(float, each)) for each in state]
    return projected(robot, robot.opened, entry.function("inverse_dynamics"), torques_of, *motion)


def written_operations(entry: Formulation, robot: Robot) -> tuple[int, int]:
    """Multiplications and additions that one evaluation carries out, literal zeros and ones apart.

    Of a closed chain: those of the opened tree, which is where formulations differ.
    """
    tally = {"multiplications": 0, "additions": 0}
    tree = robot.opened
    state = [Counted(tally)] * tree.n
    entry.function("inverse_dynamics")(tree.without("friction"), state, state, state)
    return tally["multiplications"], tally["additions"]


def _published(name: str, n: int) -> tuple[int, int] | None:
    return (round(PUBLISHED[name][0](n)), round(PUBLISHED[name][1](n))) if name in PUBLISHED else None
