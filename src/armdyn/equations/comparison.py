"""All formulations on one robot, side by side: agreement, operation counts, times."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.algebra import Mat3, Vec3
from armdyn.equations.derivation import must_move, symbolic_robot
from armdyn.equations.projection import projected, torques_of
from armdyn.graph import Operations, span, trace
from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.mechanics.registry import FORMULATIONS, Formulation
from armdyn.notebook_view import Shown, View, rows_of
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
    published: tuple[float, float] | None


@dataclass(frozen=True)
class Comparison(Shown):
    """All formulations on one robot."""

    robot: str
    joints: int
    rows: tuple[Row, ...]

    @property
    def agrees(self) -> bool:
        """All torques the same to 1e-9 of the largest: roundings of a few thousand operations."""
        return all(row.difference < 1e-9 for row in self.rows)

    def _view(self) -> View:
        columns = (Column("formulation"), Column("difference"), Column("x written"), Column("+ written"),
                   Column("x shared"), Column("+ shared"), Column("trace", "ms"), Column("call", "ms"))  # fmt: skip
        rows = rows_of(
            (row.formulation.name, f"{row.difference:.1e}", *row.written, row.operations.multiplications,
             row.operations.additions, f"{1e3 * row.trace_seconds:.1f}", f"{1e3 * row.evaluation_seconds:.2f}")
            for row in self.rows
        )  # fmt: skip
        verdict = ("same torques" if self.agrees else "the torques differ", self.agrees)
        table = Section("Operations and differences from the first, relative to the largest torque", columns, rows)
        return View(f"{len(self.rows)} formulations of {self.robot}", verdict, sections=(table,))

    def __str__(self) -> str:
        head = f"{'formulation':20} {'difference':>10} {'as written x/+':>17} {'shared x/+':>13}"
        head += f" {'trace ms':>9} {'call ms':>8}"
        lines = [
            f"{row.formulation.name:20} {row.difference:10.1e} {row.written[0]:>8} /{row.written[1]:>7} "
            f"{row.operations.multiplications:>6} /{row.operations.additions:>5} "
            f"{1e3 * row.trace_seconds:9.1f} {1e3 * row.evaluation_seconds:8.2f}"
            for row in self.rows
        ]
        return "\n".join([f"Inverse dynamics of {self.robot!r} by every formulation", head, *lines])


@takes(*CLOSED, *TREE)
def compare(
    robot: Robot,
    *,
    formulations: Sequence[Formulation] = FORMULATIONS,
    samples: int = 3,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Inverse dynamics by every formulation: agreement, operation counts, times to trace and to evaluate."""
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
    return Comparison(robot.name, robot.n, tuple(rows))


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
    return Row(entry, difference, written_operations(entry, robot), graph.operations, span(graph.outputs), tracing,
               evaluation, _published(entry.name, n))  # fmt: skip


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


def _published(name: str, n: int) -> tuple[float, float] | None:
    return (PUBLISHED[name][0](n), PUBLISHED[name][1](n)) if name in PUBLISHED else None
