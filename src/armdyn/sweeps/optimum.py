"""The best variant within ranges: samples, then sequential quadratic programming from the best of them.

Derivatives of smooth measures come from the graphs of the dynamics; those of the others are forward differences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from armdyn.sweeps.measures import MEASURES, labels_of, measured
from armdyn.sweeps.variants import SweepJob
from armdyn.typing import Array

STEP = 1e-3
"""Forward difference, as a share of a range: measures that search for a timing are exact to about 1e-6."""
STARTS = 3
"""Samples from which the search starts."""
KEPT = 1e-6
"""Relative excess of a limit that still counts as kept; the search ends on its limits up to rounding."""


@dataclass(frozen=True, eq=False)
class Goal:
    """What is optimised, and within which limits.

    measure: its name; of joints, the largest counts (the smallest, if larger is better).
    limits:  largest values of measures (smallest, if larger is better), for every joint.
    """

    measure: str
    limits: Mapping[str, float]

    def value(self, job: SweepJob, row: Array) -> float:
        """What is to be small."""
        return float(_signed(job, row)[_places(job, self.measure)].max())

    def excess(self, job: SweepJob, rows: Array) -> Array:
        """(..., c) how far results (..., r) exceed their limits, relative to them."""
        columns = []
        for name, limit in self.limits.items():
            signed = _signed(job, rows)[..., _places(job, name)]
            bound = -limit if MEASURES[name].larger else limit
            columns.append((signed - bound) / (abs(limit) or 1.0))
        return np.concatenate(columns, axis=-1) if columns else np.zeros((*rows.shape[:-1], 0))


def worst(job: SweepJob, rows: Array, name: str) -> Array:
    """(...) a measure of results (..., r): of joints the largest, or the smallest if larger is better."""
    signed = _signed(job, rows)[..., _places(job, name)].max(axis=-1)
    return np.asarray(-signed if MEASURES[name].larger else signed)


def _places(job: SweepJob, name: str) -> list[int]:
    return [i for i, (_, measure) in enumerate(labels_of(job.robot, job.measures)) if measure == name]


def _signed(job: SweepJob, rows: Array) -> Array:
    """Results whose small values are good."""
    signs = [-1.0 if MEASURES[name].larger else 1.0 for _, name in labels_of(job.robot, job.measures)]
    return np.asarray(rows * np.array(signs))


class _Enough(Exception):
    """As many variants as were allowed have been evaluated."""


class _Search:
    """Evaluates variants at u in the unit box, and remembers them."""

    def __init__(self, job: SweepJob, goal: Goal, low: Array, high: Array, most: int) -> None:
        self.job, self.goal, self.low, self.most = job, goal, low, most
        self.span = high - low  # zero for what is given, but does not vary
        self.points: list[Array] = []
        self.rows: list[Array] = []
        self._known: dict[bytes, Array] = {}
        self._slopes: dict[bytes, Array] = {}

    def row(self, u: Array) -> Array:
        """(r,) the results at u."""
        u = np.clip(u, 0.0, 1.0)
        if u.tobytes() not in self._known:
            if len(self.rows) >= self.most:
                raise _Enough
            x = self.low + u * self.span
            row = measured(partial(self.job.variant, x), self.job.measures, len(self.job.labels))
            self.points.append(x)
            self.rows.append(row)
            self._known[u.tobytes()] = row
        return self._known[u.tobytes()]

    def slopes(self, u: Array) -> Array:
        """(r, k) derivatives of the results by u."""
        u = np.clip(u, 0.0, 1.0)
        if u.tobytes() not in self._slopes:
            variant, row, k = self.job.variant(self.low + u * self.span), self.row(u), len(u)
            whole = np.full((len(row), k), np.nan)
            smooth = variant.family.compiles
            needed = {self.goal.measure, *self.goal.limits}
            for name in needed:
                of = MEASURES[name].slopes
                if smooth and of is not None:
                    whole[_places(self.job, name)] = of(variant)[:, :k] * self.span
            if any(not smooth or MEASURES[name].slopes is None for name in needed):
                for i in range(k):
                    if not self.span[i]:
                        whole[:, i] = 0.0
                        continue
                    step = np.zeros(k)
                    step[i] = STEP if u[i] <= 0.5 else -STEP
                    change = (self.row(u + step) - row) / step[i]
                    whole[:, i] = np.where(np.isnan(whole[:, i]), change, whole[:, i])
            self._slopes[u.tobytes()] = np.nan_to_num(_signed(self.job, whole.T).T)
        return self._slopes[u.tobytes()]

    def objective(self, scale: float) -> tuple[Callable[[Array], float], Callable[[Array], Array]]:
        """The goal and its gradient; a variant without results is much worse than any."""
        places = _places(self.job, self.goal.measure)

        def value(u: Array) -> float:
            found = self.goal.value(self.job, self.row(u)) / scale
            return found if np.isfinite(found) else 1e3

        def gradient(u: Array) -> Array:
            signed = _signed(self.job, self.row(u))[places]
            return np.asarray(self.slopes(u)[places[int(np.nan_to_num(signed, nan=-np.inf).argmax())]] / scale)

        return value, gradient

    def room(self, u: Array) -> Array:
        """(c,) what is left of the limits; a variant without results keeps none."""
        return np.nan_to_num(-self.goal.excess(self.job, self.row(u)), nan=-1e3)

    def room_slopes(self, u: Array) -> Array:
        """(c, k)"""
        rows = [
            -self.slopes(u)[_places(self.job, name)] / (abs(limit) or 1.0) for name, limit in self.goal.limits.items()
        ]
        return np.concatenate(rows) if rows else np.zeros((0, len(u)))


def ranking(job: SweepJob, goal: Goal, rows: Array) -> list[int]:
    """Rows from the best to the worst: those within the limits by the goal, then the others by their excess."""
    excess = np.nan_to_num(goal.excess(job, rows), nan=np.inf).max(axis=-1, initial=0.0)
    values = np.nan_to_num([goal.value(job, row) for row in rows], nan=np.inf)
    return [int(i) for i in np.lexsort((values, np.where(excess <= KEPT, 0.0, excess)))]


def improved(job: SweepJob, results: Array, goal: Goal, low: Array, high: Array, most: int) -> tuple[Array, Array]:
    """Further variants (N, k) and their results (N, r) on the way from the best samples to an optimum.

    job: its points are the samples; results: theirs. low, high: ranges. most: number of further variants.
    """
    from scipy.optimize import minimize

    search = _Search(job, goal, low, high, most)
    for start in ranking(job, goal, results)[:STARTS]:
        scale = abs(goal.value(job, results[start])) or 1.0
        if not np.isfinite(scale):
            continue
        value, gradient = search.objective(scale)
        limits = {"type": "ineq", "fun": search.room, "jac": search.room_slopes}
        try:
            minimize(
                value,
                (job.points[start] - low) / np.where(search.span > 0, search.span, 1.0),
                jac=gradient,
                method="SLSQP",
                bounds=[(0.0, 1.0)] * len(low),
                constraints=[limits] if goal.limits else [],
                options={"maxiter": 30, "ftol": 1e-6},
            )
        except _Enough:
            break
    return np.array(search.points).reshape(-1, len(low)), np.array(search.rows).reshape(-1, results.shape[1])
