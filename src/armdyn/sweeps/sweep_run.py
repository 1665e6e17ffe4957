"""`sweep`: a map over chunks of variants.

Finished chunks are kept in a folder, if one is given, and an interrupted sweep continues from there. `scheduler` is a
number of local processes, or the address of a Dask scheduler.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armdyn import text_table
from armdyn.dynamics import compile as compiled
from armdyn.errors import ArmdynError, FileError, ShapeError, required_count, unknown_name
from armdyn.formats import toml
from armdyn.kinematics.closable import pulled_in
from armdyn.motion.planning import plan
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.limits import working_range
from armdyn.sweeps.chunks import Store
from armdyn.sweeps.measures import DEFAULT, MEASURES, OVER_POSITIONS, Bench
from armdyn.sweeps.variants import SweepJob, checked_names
from armdyn.sweeps.workers import computed_chunks
from armdyn.tables import Column, Section
from armdyn.typing import Array, Progress, quiet

MOST = 10_000_000
"""Largest number of variants."""
_AT_REST = 200
_SAMPLES = 400


@dataclass(frozen=True, eq=False)
class Sweep(Result):
    """Variants of a robot and their measures.

    robot: its name
    names: (k,) parameters that vary
    points: (N, k) their values
    labels: (r,) measures
    results: (N, r), NaN where a variant could not be evaluated (an invalid model, for example)
    taken: number of chunks that were already finished
    """

    robot: str
    names: tuple[str, ...]
    points: Array
    labels: tuple[str, ...]
    results: Array
    taken: int = 0

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
            "chunks_read": self.taken,
        }

    def _view(self) -> View:
        heads = ("measured", "smallest", "at", "median", "largest", "at", *(f"with {name}" for name in self.names))
        columns = tuple(Column(head, folds=head == "at") for head in heads)
        rows = []
        for label, values, marks in zip(self.labels, self.results.T, self.influence().T, strict=True):
            if np.isnan(values).all():
                continue
            (low, place), (high, far) = (self._extreme(values, find) for find in (np.nanargmin, np.nanargmax))
            cells = low, place, self._number(float(np.nanmedian(values))), high, far
            rows.append((label, *cells, *("" if np.isnan(mark) else f"{mark:+.2f}" for mark in marks)))
        failed = int(np.isnan(self.results).any(axis=1).sum())
        notes = [f"{failed} variants could not be evaluated."] if failed else []
        notes += [f"{self.taken} finished chunks were read from their folder."] if self.taken else []
        note = "with NAME: rank correlation, +1 if the measure always grows with the parameter, -1 if it always falls."
        if any(label.startswith(OVER_POSITIONS) for label in self.labels):
            named = " and ".join(name for name in OVER_POSITIONS if any(x.startswith(name) for x in self.labels))
            notes.append(f"{named}: the largest at the sampled configurations; others may have more.")
        title = f"{self.robot}: {len(self.points)} variants"
        return View(title, sections=(Section("Results", columns, tuple(rows), note),), notes=notes)

    def _extreme(self, values: Array, find: Callable[[Array], Any]) -> tuple[str, str]:
        """The smallest or largest value, and the variant that has it."""
        i = int(find(values))
        at = ", ".join(f"{name} = {x:.4g}" for name, x in zip(self.names, self.points[i], strict=True))
        return self._number(float(values[i])), at

    def _number(self, x: float) -> str:
        return f"{x if abs(x) > self.rounding else 0:.5g}"

    def plot(self, path: str | Path | None = None, size: str | None = None) -> Any:
        """Matplotlib figure of the results over the parameters that vary.

        path: .png, .svg or .pdf file to write (default: none). size: "column" or "page" of a journal.
        """
        from armdyn.report.figures.style import save_figure
        from armdyn.report.figures.sweep_figures import sweep_figure

        figure = sweep_figure(self)
        if path is not None:
            save_figure(figure, path, size)
        return figure

    def save(self, path: str | Path) -> Path:
        """Write the table as .csv."""
        target = Path(path)
        if target.suffix != ".csv":
            raise FileError(f"unknown ending {target.suffix!r}", where=str(target), expected=".csv")
        table = np.column_stack([self.points, self.results])
        return text_table.write(target, dict(zip((*self.names, *self.labels), table.T, strict=True)), digits=12)


@takes(*CLOSED, *TREE)
def sweep(
    robot: Robot,
    vary: Mapping[str, Sequence[float] | Array | tuple[float, float]],
    *,
    measures: Sequence[str] | None = None,
    samples: int | None = None,
    motion: Any = None,
    rest: Any = None,
    seed: int = 0,
    chunk: int = 64,
    folder: str | Path | None = None,
    scheduler: str | int | None = None,
    progress: Progress = quiet,
) -> Sweep:
    """Measure design variants of a robot.

    Args:    robot: to be varied
             vary: name -> values of a grid, or with `samples`: name -> (lowest, highest). Names are those of the robot
                   file's parameters, standard parameters (M3, ZZ2, Fv1, ...) or "payload" (kg at the tool)
             measures: names of `armdyn.sweeps.MEASURES` (default: peak torque, holding torque, reach)
             samples: number of variants drawn from the ranges, by Latin hypercube (default: the whole grid)
             motion: trajectory whose torques are measured (default: 2 s through the middle half of all ranges)
             rest: (S, n) configurations at rest (default: 200 spread over the ranges)
             seed: of the variants drawn
             chunk: variants per chunk of work
             folder: where finished chunks are kept; an interrupted sweep continues from there
             scheduler: number of local processes, or address of a Dask scheduler (default: this process)
             progress: called with what is being done and the share of the work done
    """
    names, measures = checked_names(robot, tuple(vary)), measures or DEFAULT
    points = _drawn(vary, samples, seed) if samples is not None else _grid(vary)
    for name in measures:
        if name not in MEASURES:
            raise unknown_name("measure", name, MEASURES, where="sweep")
    required_count("chunk", chunk, "sweep", most=MOST)
    job = SweepJob(toml.dumps(robot), names, points, tuple(measures), _bench(robot, motion, rest), chunk)
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
    results = np.concatenate([done[number] for number in range(job.chunks)])
    return Sweep(robot.name, names, points, job.labels, results, taken)


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
    if not len(ends) or not np.isfinite(ends).all() or (ends[:, 1] <= ends[:, 0]).any():
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
    t = np.linspace(0.0, float(motion.duration), _SAMPLES)
    return Bench(rest, t, *(np.asarray(motion(t, order), dtype=float) for order in range(3)))


__all__ = ["Sweep", "sweep"]
