"""What torques can tell: of a robot along any motion, and along one motion.

Torques depend on standard parameters through the base parameters only, pi_base = B pi: changes of pi in the null space
of B change no torque, whatever the motion. A single motion may tell less: the null space of its observation matrix W,
in base parameters, is what it does not show.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from armdyn.errors import ShapeError
from armdyn.identification.fit.observation import base_regressor, distinct_parameters
from armdyn.motion.sampling import states
from armdyn.notebook_view import View
from armdyn.parameters import BaseParameters
from armdyn.result import Result
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.tables import Column, Section
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

Identifiability = Literal["individually identifiable", "identifiable in combination", "not identifiable"]
RANK = 1e-9
"""Singular values of W, its columns scaled to length 1, below this share of the largest count as zero."""
ALONE = 1e-6
"""Entries of a change below this share of the largest are rounding."""
SHOWN = 1e-6
"""Coefficients of a combination below this share of the largest are not shown."""


def identifiability(base: BaseParameters) -> dict[str, Identifiability]:
    """Of every standard parameter: identifiable individually, only in combination with others, or not at all.

    Individually: its unit vector is a combination of the base parameters' rows, so no change of the other parameters
    can undo its effect on the torques.
    """
    B = base.matrix / np.linalg.norm(base.matrix, axis=1, keepdims=True)
    share = np.einsum("ij,ji->i", np.linalg.pinv(B), B)
    found: dict[str, Identifiability] = {}
    for name, x in zip(base.standard, share, strict=True):
        single: Identifiability = "individually identifiable" if x > 1 - 1e-9 else "identifiable in combination"
        found[name] = "not identifiable" if x < 1e-9 else single
    return found


@dataclass(frozen=True, eq=False)
class Identifiable(Result):
    """What a robot's torques tell of its parameters, along any motion or along one.

    base: the base parameters
    singular: (k,) singular values of W with columns scaled to length 1, largest first; None: any motion
    undetermined: (m, count) changes of base parameters that the motion does not show, their largest entries 1
    """

    base: BaseParameters
    singular: Array | None = None
    undetermined: Array | None = None

    @cached_property
    def standard(self) -> dict[str, Identifiability]:
        """Of every standard parameter: identifiable individually, in combination, or not, along some motion."""
        return identifiability(self.base)

    @cached_property
    def null_space(self) -> dict[str, dict[str, float]]:
        """Changes of standard parameters that change no torque along any motion; together they are all such changes.

        Each is named after the parameter that it changes by 1, and gives the changes of the others.
        """
        base = self.base
        chosen = [base.standard.index(name) for name in base.columns]
        answer = -np.linalg.solve(base.matrix[:, chosen], base.matrix)
        found = {}
        for k, name in enumerate(base.standard):
            if name not in base.columns:
                changes = zip(base.columns, answer[:, k].tolist(), strict=True)
                found[name] = {name: 1.0} | {other: x for other, x in changes if abs(x) > 1e-12}
        return found

    @cached_property
    def determined(self) -> dict[str, bool]:
        """Of every base parameter: whether the motion determines it (always, if there is no motion)."""
        if self.undetermined is None or not len(self.undetermined):
            return dict.fromkeys(self.base.names, True)
        shown = [not column.any() for column in self.undetermined.T]
        return dict(zip(self.base.names, shown, strict=True))

    @property
    def condition(self) -> float | None:
        """Condition number of W, columns scaled to length 1; infinite if it does not determine all base parameters."""
        if self.singular is None:
            return None
        full = len(self.singular) == self.base.count and self.singular[-1] > RANK * self.singular[0]
        return float(self.singular[0] / self.singular[-1]) if full else float("inf")

    def sections(self) -> tuple[Section, ...]:
        """Tables: base parameters, standard parameters, null space."""
        count = Counter(self.standard.values())
        kinds = [
            (kind, str(count[kind]), ", ".join(name for name, of in self.standard.items() if of == kind) or "-")
            for kind in get_args(Identifiability)
        ]
        rows = [(name, group(self.base, name), "yes" if self.determined[name] else "no") for name in self.base.names]
        null = [
            (name, _combination(list(changes), list(changes.values())))
            for name, changes in self.null_space.items()
            if len(changes) > 1
        ]
        title = f"{self.base.robot.name}: {self.base.count} base parameters ({', '.join(self.base.include)})"
        tables = [
            Section(
                title,
                (Column("parameter"), Column("combination", folds=True), Column("determined")),
                tuple(rows),
                self._note(),
            ),
            Section(
                "Standard parameters", (Column("kind"), Column("count"), Column("names", folds=True)), tuple(kinds)
            ),
            Section(
                "Null space",
                (Column("of"), Column("change", folds=True)),
                tuple(null),
                "Changes of standard parameters that change no torque along any motion, beside those of parameters "
                "that are not identifiable; SI units.",
            ),
        ]
        if self.undetermined is not None and len(self.undetermined):
            found = [(str(i + 1), _combination(self.base.names, row)) for i, row in enumerate(self.undetermined)]
            note = "Changes of base parameters that change no torque along this motion; the largest is 1."
            heads = (Column("no."), Column("change"))
            tables.insert(1, Section("Null space of the motion", heads, tuple(found), note))
        return tuple(tables)

    def _note(self) -> str:
        if self.condition is None:
            return "Along a motion that excites all of them. Give a motion to judge it."
        return f"Condition number of the motion, columns scaled to length 1: {self.condition:.4g}."

    def _view(self) -> View:
        return View(f"What torques tell of {self.base.robot.name}", None, (), (), self.sections())

    def record(self) -> dict[str, Any]:
        """Base parameters with their combinations, whether the motion determines them, kinds of standard parameters."""
        return {
            "robot": self.base.robot.name,
            "base": {
                name: {"combination": group(self.base, name), "determined": self.determined[name]}
                for name in self.base.names
            },
            "standard": self.standard,
            "null_space": self.null_space,
            "condition": self.condition,
        }


@takes(*CLOSED, *TREE)
def identifiable(
    robot: Robot,
    motion: Trajectory | None = None,
    *,
    include: Iterable[str] = ("inertial", "friction"),
    rate: float = 100.0,
) -> Identifiable:
    """What torques tell of a robot's parameters, in which combinations, and what they never tell.

    Args:    robot: its geometry
             motion: to be judged (default: any motion)
             include: families of parameters
             rate: samples of the motion per second, Hz
    Raises:  ShapeError if the motion has another number of joints.
    """
    base = distinct_parameters(robot, include)
    if motion is None:
        return Identifiable(base)
    if motion.n != robot.n:
        raise ShapeError(f"a motion of {motion.n} joints", where="identifiable", expected=f"{robot.n}")
    t = np.linspace(0, motion.duration, max(round(motion.duration * rate), 2))
    W = base_regressor(base)(*states(motion, t)).reshape(-1, base.count)
    lengths = np.linalg.norm(W, axis=0)
    seen = lengths > RANK * lengths.max(initial=0.0)
    size = np.where(seen, lengths, 1.0)
    _, s, V = np.linalg.svd(np.where(seen, W / size, 0.0), full_matrices=True)
    rank = int((s > RANK * s[0]).sum())
    null = _echelon(V[rank:]) / size
    null = null / np.maximum(np.abs(null).max(axis=1, keepdims=True), 1e-300) if len(null) else null
    return Identifiable(base, s, np.where(np.abs(null) < ALONE, 0.0, null))


def _echelon(rows: Array) -> Array:
    """Rows that span the same space, each with a column that only it has: readable, sparse where possible."""
    A = rows.copy()
    free = list(range(len(A)))
    for _ in range(len(A)):
        i, j = max(((i, j) for i in free for j in range(A.shape[1])), key=lambda place: abs(A[place]))
        A[i] /= A[i, j]
        for k in range(len(A)):
            if k != i:
                A[k] -= A[k, j] * A[i]
        free.remove(i)
    return A


def group(base: BaseParameters, name: str) -> str:
    """The combination of standard parameters, coefficients to 5 digits, in the order of the standard ones."""
    row = base.matrix[base.names.index(name)]
    return _combination(base.standard, row, 1e-9)


def contained(base: BaseParameters, name: str, most: int = 56) -> str:
    """The combination, cut between two terms where it is long; empty for a single parameter."""
    whole = group(base, name)
    if " " not in whole:
        return ""
    if len(whole) <= most:
        return whole
    return re.sub(r" [+-] ?[^+-]*$", "", whole[:most]) + " ..."


def _combination(names: Sequence[str], factors: Sequence[float] | Array, least: float = SHOWN) -> str:
    row, terms = np.asarray(factors, dtype=float), []
    for i in np.flatnonzero(np.abs(row) > least * np.abs(row).max()).tolist():
        factor = f"{abs(row[i]):.5g}"
        sign = "-" if row[i] < 0 else "+"
        terms.append(f"{sign} {names[i]}" if factor == "1" else f"{sign} {factor} {names[i]}")
    return " ".join(terms).removeprefix("+ ")


__all__ = ["Identifiability", "Identifiable", "contained", "group", "identifiability", "identifiable"]
