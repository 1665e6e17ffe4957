"""`sweep`: a map over chunks of variants, the front of those that nothing dominates, and the best one.

Finished chunks are kept in a folder, if one is given, and an interrupted sweep continues from there. `scheduler` is a
number of local processes, or the address of a Dask scheduler.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from armdyn import text_table
from armdyn.dynamics import compile as compiled
from armdyn.errors import ArmdynError, FileError, ShapeError, required_count, unknown_name
from armdyn.formats import toml
from armdyn.kinematics.closable import pulled_in
from armdyn.motion.path import as_trajectory
from armdyn.motion.planning import plan
from armdyn.motion.sampling import sample_times, states
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.limits import working_range
from armdyn.sweeps.chunks import Store
from armdyn.sweeps.design_space import parametrised, varied
from armdyn.sweeps.measures import DEFAULT, MEASURES, OVER_POSITIONS, Bench
from armdyn.sweeps.optimum import KEPT, Goal, improved, ranking, worst
from armdyn.sweeps.variants import SweepJob
from armdyn.sweeps.workers import computed_chunks
from armdyn.tables import Column, Section
from armdyn.typing import Array, Progress, quiet

MOST = 10_000_000
"""Largest number of variants."""
_AT_REST = 200
_SAMPLES = 400
_STARTS = 6
"""Samples per parameter before an optimum is searched for."""
_STEPS = 60
"""Variants that the search for an optimum evaluates at most."""
_SHOWN = 12
"""Variants of the front that are printed; all are in the record and in the figure."""


@dataclass(frozen=True, eq=False)
class Sweep(Result):
    """Variants of a robot and their measures.

    source: the robot that varies
    job: what was evaluated: `job.names` (k,) what varies, `job.points` (N, k) its values, `job.measures`
    results: (N, r), NaN where a variant could not be evaluated (an invalid model, for example)
    limits: of measures: largest values, or smallest if larger is better; for every joint
    optimised: measure whose best variant was searched for; None for a plain comparison
    taken: number of chunks that were already finished
    """

    source: Robot
    job: SweepJob
    results: Array
    limits: Mapping[str, float]
    optimised: str | None = None
    taken: int = 0

    @property
    def robot(self) -> str:
        """Name of the robot."""
        return self.source.name

    @property
    def names(self) -> tuple[str, ...]:
        """(k,) what varies."""
        return self.job.names

    @property
    def points(self) -> Array:
        """(N, k) values of what varies."""
        return self.job.points

    @property
    def labels(self) -> tuple[str, ...]:
        """(r,) names of the results: a measure, or measure and joint."""
        return self.job.labels

    def __getitem__(self, name: str) -> Array:
        """(N,) a parameter or a result by name."""
        columns = {
            **dict(zip(self.names, self.points.T, strict=True)),
            **dict(zip(self.labels, self.results.T, strict=True)),
        }
        if name not in columns:
            raise unknown_name("column", name, columns, where="sweep")
        return np.asarray(columns[name])

    def best(self, label: str, largest: bool = False) -> dict[str, float]:
        """The variant with the smallest (or largest) result, with its value."""
        values = self[label]
        if np.isnan(values).all():
            raise ArmdynError(f"no variant has a {label}", where="sweep")
        i = int(np.nanargmax(values) if largest else np.nanargmin(values))
        return {**dict(zip(self.names, self.points[i].tolist(), strict=True)), label: float(values[i])}

    def worst(self, measure: str) -> Array:
        """(N,) a measure; of joints, the largest value (the smallest, if larger is better)."""
        if measure not in self.job.measures:
            raise unknown_name("measure", measure, self.job.measures, where="sweep")
        return worst(self.job, self.results, measure)

    @property
    def within(self) -> Array:
        """(N,) whether a variant has all results and keeps all limits."""
        excess = Goal("", self.limits).excess(self.job, self.results)
        return np.asarray(np.isfinite(self.results).all(axis=1) & (excess <= KEPT).all(axis=-1))

    @property
    def compared(self) -> tuple[str, ...]:
        """Measures that differ between the variants; constant ones say nothing about a trade-off."""
        found = []
        for name in self.job.measures:
            values = self.worst(name)[self.within]
            if values.size and np.ptp(values) > 1e-9 * np.abs(values).max():
                found.append(name)
        return tuple(found)

    @cached_property
    def front(self) -> Array:
        """Indices of the variants within the limits that no other one equals or beats in all `compared` measures."""
        names = self.compared
        rows = np.flatnonzero(self.within)
        if not names or not rows.size:
            return rows[:0]
        signs = np.array([-1.0 if MEASURES[name].larger else 1.0 for name in names])
        cost = np.column_stack([self.worst(name)[rows] for name in names]) * signs
        kept = [
            i
            for i, own in enumerate(cost)
            if not ((cost <= own).all(axis=1) & (cost < own).any(axis=1)).any()
            and not (cost[:i] == own).all(axis=1).any()
        ]
        return rows[kept]

    @property
    def optimum(self) -> int | None:
        """Index of the best variant within the limits, by the measure that was optimised; None if there is none."""
        if self.optimised is None:
            return None
        first = ranking(self.job, Goal(self.optimised, self.limits), self.results)[0]
        return first if self.within[first] else None

    def design(self, index: int | None = None) -> Robot:
        """The robot of a variant; index: its row (default: the optimum)."""
        row = self.optimum if index is None else index
        if row is None:
            raise ArmdynError(
                "no variant keeps the limits" if self.optimised else "no optimum was searched for",
                where="sweep",
                expected="the row of a variant" if self.optimised is None else "limits that some variant keeps",
                advice="Name a measure to optimise." if self.optimised is None else "Widen the ranges or the limits.",
            )
        return varied(self.source, dict(zip(self.names, self.points[row].tolist(), strict=True)))

    @property
    def rounding(self) -> float:
        """Results no larger than this are zero up to rounding."""
        return float(1e-12 * np.nanmax(np.abs(self.results), initial=0.0))

    def influence(self) -> Array:
        """(k, r) Spearman's rank correlation of each parameter with each result; NaN where one does not vary."""
        from scipy.stats import spearmanr

        table = np.full((len(self.names), len(self.labels)), np.nan)
        for i, x in enumerate(self.points.T):
            for j, y in enumerate(self.results.T):
                kept = np.isfinite(y)
                if kept.sum() > 2 and np.ptp(x[kept]) > 0 and np.ptp(y[kept]) > self.rounding:
                    table[i, j] = spearmanr(x[kept], y[kept]).statistic
        return table

    def record(self) -> dict[str, Any]:
        """Parameters, results and the influence of the ones on the others, as plain values."""
        return {
            "robot": self.robot,
            "parameters": dict(zip(self.names, self.points.T.tolist(), strict=True)),
            "results": dict(zip(self.labels, self.results.T.tolist(), strict=True)),
            "influence": {
                name: dict(zip(self.labels, row, strict=True))
                for name, row in zip(self.names, self.influence().tolist(), strict=True)
            },
            "front": self.front.tolist(),
            "limits": dict(self.limits),
            "optimised": self.optimised,
            "optimum": self.optimum,
            "chunks_read": self.taken,
        }

    def _view(self) -> View:
        varying = [i for i, x in enumerate(self.points.T) if np.ptp(x) > 0]
        heads = ("measured", "smallest", "median", "largest", *(f"with {self.names[i]}" for i in varying))
        columns = tuple(map(Column, heads))
        rows = []
        for label, values, marks in zip(self.labels, self.results.T, self.influence().T, strict=True):
            if np.isnan(values).all():
                continue
            cells = [self._number(float(find(values))) for find in (np.nanmin, np.nanmedian, np.nanmax)]
            rows.append((label, *cells, *("" if np.isnan(mark) else f"{mark:+.2f}" for mark in marks[varying])))
        failed = int(np.isnan(self.results).any(axis=1).sum())
        notes = [f"{failed} variants lack a result: an invalid body, or too weak for the motion."] if failed else []
        notes += [f"{self.taken} finished chunks were read from their folder."] if self.taken else []
        note = "with NAME: rank correlation, +1 if the measure always grows with the parameter, -1 if it always falls."
        if any(label.startswith(OVER_POSITIONS) for label in self.labels):
            named = " and ".join(name for name in OVER_POSITIONS if any(x.startswith(name) for x in self.labels))
            notes.append(f"{named}: the largest at the sampled configurations; others may have more.")
        title = f"{self.robot}: {len(self.points)} variants"
        if self.limits:
            shown = ", ".join(f"{m} {'>=' if MEASURES[m].larger else '<='} {x:g}" for m, x in self.limits.items())
            notes.append(f"{int(self.within.sum())} variants keep the limits {shown}.")
        sections = (Section("Results", columns, tuple(rows), note), *self._chosen())
        verdict = None
        if self.optimised:
            verdict = (
                ("no variant keeps the limits", False)
                if self.optimum is None
                else (f"best {self.optimised.replace('_', ' ')}: {self._at(self.optimum, self.optimised)}", True)
            )
        return View(title, verdict, sections=sections, notes=notes)

    def _at(self, row: int, measure: str) -> str:
        unit = MEASURES[measure].unit
        return f"{self.worst(measure)[row]:.5g} {unit}".rstrip()

    def _chosen(self) -> list[Section]:
        """The optimum and the front, one variant per row."""
        measures = self.job.measures
        columns = (
            *(Column(name) for name in self.names),
            *(Column(name.replace("_", " "), MEASURES[name].unit) for name in measures),
        )

        def cells(i: int) -> tuple[str, ...]:
            found = (*self.points[i], *(self.worst(name)[i] for name in measures))
            return tuple(f"{x:.5g}" for x in found)

        joints = "" if not any(MEASURES[name].by_joint for name in measures) else " Of joints, the worst counts."
        sections = []
        if self.optimum is not None:
            note = f"The best of {len(self.points)} variants.{joints}"
            sections.append(Section("Optimum", columns, (cells(self.optimum),), note))
        if len(self.compared) > 1:
            order = self.front[np.argsort(self.worst(self.compared[0])[self.front])]
            shown = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), _SHOWN)).astype(int))]
            of = f"{len(shown)} of {len(order)}" if len(shown) < len(order) else f"{len(order)}"
            note = f"{of} variants that no other one beats in {', '.join(self.compared)}.{joints}"
            sections.append(Section("Pareto front", columns, tuple(map(cells, shown)), note))
        return sections

    def _number(self, x: float) -> str:
        return f"{x if abs(x) > self.rounding else 0:.5g}"

    def plot(self, path: str | Path | None = None, size: str | None = None) -> Any:
        """Matplotlib figure of the trade-offs between measures, or of the results over what varies.

        path: .png, .svg or .pdf file to write (default: none). size: "column" or "page" of a journal.
        """
        from armdyn.report.figures.style import save_figure
        from armdyn.report.figures.sweep_figures import sweep_figure

        figure = sweep_figure(self)
        if path is not None:
            save_figure(figure, path, size)
        return figure

    def save(self, path: str | Path) -> Path:
        """Write the table of all variants as .csv, or the robot of the optimum as .toml."""
        target = Path(path)
        if target.suffix == ".toml":
            toml.write(self.design(), target)
            return target
        if target.suffix != ".csv":
            raise FileError(f"unknown ending {target.suffix!r}", where=str(target), expected=".csv or .toml")
        table = np.column_stack([self.points, self.results])
        return text_table.write(target, dict(zip((*self.names, *self.labels), table.T, strict=True)), digits=12)


@takes(*CLOSED, *TREE)
def sweep(
    robot: Robot,
    vary: Mapping[str, Sequence[float] | Array | tuple[float, float]],
    *,
    measures: Sequence[str] | None = None,
    limits: Mapping[str, float] | None = None,
    optimise: str | None = None,
    samples: int | None = None,
    motion: Any = None,
    rest: Any = None,
    seed: int = 0,
    chunk: int = 64,
    folder: str | Path | None = None,
    scheduler: str | int | None = None,
    progress: Progress = quiet,
) -> Sweep:
    """Measure design variants of a robot, find those that nothing dominates, and optimise.

    Args:    robot: to be varied
             vary: name -> values of a grid, or with `samples`: name -> (lowest, highest). Names are those of the robot
                   file's parameters, JOINT.KEY of the file (elbow.a, elbow.rotor.ratio), standard parameters (M3, ZZ2,
                   Fv1, ...) or "payload" (kg at the tool)
             measures: names of `armdyn.sweeps.MEASURES` (default: peak torque, holding torque, reach)
             limits: measure -> largest value, or smallest if larger is better; they are measured too
             optimise: measure whose best variant within the ranges and limits is searched for: samples, then
                   sequential quadratic programming with derivatives of the graphs
             samples: number of variants drawn from the ranges, by Latin hypercube (default: the whole grid, or some
                   for each parameter if there is something to optimise)
             motion: trajectory whose torques are measured, and whose path is timed (default: 2 s through the middle
                   half of all ranges)
             rest: (S, n) configurations at rest (default: 200 spread over the ranges)
             seed: of the variants drawn
             chunk: variants per chunk of work
             folder: where finished chunks are kept; an interrupted sweep continues from there
             scheduler: number of local processes, or address of a Dask scheduler (default: this process)
             progress: called with what is being done and the share of the work done
    """
    limits = dict(limits or {})
    asked = (*(measures or (() if limits or optimise else DEFAULT)), *limits, *([optimise] if optimise else []))
    chosen = tuple(dict.fromkeys(asked))
    for name in chosen:
        if name not in MEASURES:
            raise unknown_name("measure", name, MEASURES, where="sweep")
    required_count("chunk", chunk, "sweep", most=MOST)
    if optimise and samples is None:
        samples = _STARTS * sum(np.ptp(values) > 0 for values in vary.values())
    points = _drawn(vary, samples, seed) if samples is not None else _grid(vary)
    parametrised(robot, tuple(vary))  # an unknown name is an error now, not in every variant
    job = SweepJob(toml.dumps(robot), tuple(vary), points, chosen, _bench(robot, motion, rest), chunk)
    results, taken = _measured(job, folder, scheduler, progress)
    _require_results(job, results)
    if optimise:
        progress(f"optimising {optimise}", 0.9)
        ends = np.array([(np.min(values), np.max(values)) for values in vary.values()], dtype=float)
        more, rows = improved(job, results, Goal(optimise, limits), ends[:, 0], ends[:, 1], _STEPS)
        job, results = replace(job, points=np.concatenate([points, more])), np.concatenate([results, rows])
    return Sweep(robot, job, results, limits, optimise, taken)


def _measured(
    job: SweepJob, folder: str | Path | None, scheduler: str | int | None, progress: Progress
) -> tuple[Array, int]:
    """(N, r) the results of all variants, and the number of chunks that were already finished."""
    store = None if folder is None else Store(Path(folder), job)
    done: dict[int, Array] = {} if store is None else dict(store.finished())
    taken = len(done)
    missing = [number for number in range(job.chunks) if number not in done]
    with closing(computed_chunks(job, missing, scheduler)) as computed:
        for number, results in computed:
            done[number] = results
            if store is not None:
                store.keep(number, results)
            progress(f"{len(done)} of {job.chunks} chunks", len(done) / job.chunks)
    return np.concatenate([done[number] for number in range(job.chunks)]), taken


def _require_results(job: SweepJob, results: Array) -> None:
    """Raise why a measure has no value for any variant, if none has."""
    empty = [name for name in job.measures if np.isnan(worst(job, results, name)).all()]
    for name in empty:
        MEASURES[name].of(job.variant(job.points[0]))


# Variants -----------------------------------------------------------------------------------------------------------


def _grid(vary: Mapping[str, Any]) -> Array:
    axes = [np.atleast_1d(np.asarray(values, dtype=float)).ravel() for values in vary.values()]
    if not axes or not all(axis.size and np.isfinite(axis).all() for axis in axes):
        raise ArmdynError("nothing varies", where="sweep", expected="names with finite values")
    if math.prod(axis.size for axis in axes) > MOST:
        raise ArmdynError(f"more than {MOST} variants", where="sweep", advice="Draw some of them by `samples`.")
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def _drawn(vary: Mapping[str, Any], samples: int, seed: int) -> Array:
    from scipy.stats import qmc

    required_count("samples", samples, "sweep", most=MOST)
    ends = np.array([np.asarray(pair, dtype=float).ravel()[[0, -1]] for pair in vary.values()])
    fixed = np.array([np.size(pair) == 1 for pair in vary.values()], dtype=bool)
    if not len(ends) or not np.isfinite(ends).all() or (ends[:, 1] <= ends[:, 0])[~fixed].any():
        raise ArmdynError("samples need ranges", where="sweep", expected="(lowest, highest) for each name")
    unit = qmc.LatinHypercube(len(ends), seed=np.random.default_rng(seed)).random(samples)
    return np.asarray(ends[:, 0] + unit * (ends[:, 1] - ends[:, 0]))


def _bench(robot: Robot, motion: Any, rest: Any) -> Bench:
    from scipy.stats import qmc

    low, high = working_range(robot)
    if rest is None:
        rest = low + qmc.Halton(max(robot.n, 1), scramble=False).random(_AT_REST)[:, : robot.n] * (high - low)
        rest = pulled_in(compiled(robot), rest) if robot.loops else rest
    rest = np.asarray(rest, dtype=float)
    if rest.ndim != 2 or rest.shape[1] != robot.n:
        raise ShapeError(f"rest has shape {rest.shape}", where="sweep", expected=f"(S, {robot.n})")
    if motion is None:
        middle, quarter = (low + high) / 2, (high - low) / 4
        ends = np.stack([middle - quarter, middle + quarter])
        ends = pulled_in(compiled(robot), ends) if robot.loops else ends
        motion = plan(robot, ends, profile="quintic", duration=2.0).motion
    motion = as_trajectory(motion)
    t = sample_times(motion, motion.duration / _SAMPLES)
    return Bench(rest, t, *states(motion, t), motion)


__all__ = ["Sweep", "sweep"]
