"""Observation: the regressor along a log, tau = Y(q, qd, qdd) pi, condensed to one small triangle per joint.

Source: Khalil sec. 7.3.3 f, Siciliano (7.85)-(7.86). All samples of joint j, [Y_j | tau_j], are reduced to a triangular
factor F_j with F_j^T F_j = [Y_j | tau_j]^T [Y_j | tau_j], which is all that least squares needs, weights by joint
included. The factors are built chunk by chunk (a QR of the factor so far and the samples of a chunk), so that memory
does not grow with the log; unlike sums of Y^T Y they do not square the condition number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import binary_opening

from armdyn.algebra import ops
from armdyn.dynamics import compile as compiled
from armdyn.errors import ArmdynError, ShapeError
from armdyn.graph import trace
from armdyn.identification.log.filters import decimated, decimated_keep
from armdyn.identification.log.samples import Samples
from armdyn.kernels import build
from armdyn.parameters.base import BaseParameters, base_parameters
from armdyn.parameters.regressor import regressor
from armdyn.parameters.standard import parameter_names
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.right_angles import unrounded
from armdyn.robot.scalars import scalars
from armdyn.typing import Array, Progress, quiet

CHUNK = 20_000
"""Samples whose regressor is held at a time: 7 joints, 70 parameters, 80 MB."""
HALO = 12
"""Decimated samples by which neighbouring chunks overlap: the window of `decimated` reaches over 10."""
KEPT = 200e6
"""Bytes of regressor that are kept for later use; beyond, it is computed again."""


def distinct_parameters(robot: Robot, include: Iterable[str]) -> BaseParameters:
    """The base parameters of a robot whose angles that are typed as 1.5708 are quarter turns.

    With the angles as they are, torques would tell parameters apart by 4e-6 of their effect, far below any noise: pairs
    such as Ia2 = 2809, ZZR2 = -2808. Loops stay as they are, because they would no longer close.
    """
    numeric = robot.bound()
    angles = [x for joint in numeric.tree for x in scalars(joint, angles=True)]
    if numeric.constrained or all(unrounded(x) == x for x in angles):
        return base_parameters(robot, include)
    return base_parameters(numeric.mapped(lambda x: x, unrounded), include)


class Rows(NamedTuple):
    """Consecutive decimated samples: t (m,), regressor Y (m, n, p), tau (m, n), keep (m, n)."""

    t: Array
    Y: Array
    tau: Array
    keep: Array


@dataclass(frozen=True, eq=False)
class Observation:
    """Regressor and torques of a log, condensed.

    base: the base parameters
    samples: the processed log
    factors: (n, p + 1, p + 1) upper triangles, F_j^T F_j = [Y_j | tau_j]^T [Y_j | tau_j] over the samples that count
    counts: (n,) number of samples that count, by joint
    length: number of samples after decimation
    """

    base: BaseParameters
    samples: Samples
    factors: Array
    counts: Array
    length: int
    _rows: tuple[Rows, ...] | None = field(default=None, repr=False)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.factors)

    @property
    def count(self) -> int:
        """Number of base parameters."""
        return self.base.count

    @cached_property
    def active(self) -> Array:
        """(n, p) bool: the base parameters that the torque of each joint depends on."""
        lengths = np.sqrt((self.factors[:, :, :-1] ** 2).sum(axis=1))
        active: Array = lengths > 1e-10 * np.maximum(lengths.max(axis=0), 1e-300)
        return active

    def rows(self) -> Iterator[Rows]:
        """The decimated samples with their regressor, in order, some at a time."""
        yield from _rows(self.base, self.samples) if self._rows is None else self._rows

    def residuals(self, values: Array) -> Array:
        """(length, n) tau - Y pi of every sample; NaN where it does not count."""
        parts = [np.where(r.keep, r.tau - r.Y @ values, np.nan) for r in self.rows()]
        return np.concatenate(parts)

    def condition(self, weights: Array | None = None) -> float:
        """Condition number of the regressor of all joints, columns scaled to length 1."""
        A = stacked(self, np.ones(self.n) if weights is None else weights)[:, :-1]
        lengths = np.linalg.norm(A, axis=0)
        return float(np.linalg.cond(A / np.where(lengths > 0, lengths, 1.0)))


@takes(*CLOSED, *TREE)
def observe(robot: Robot, samples: Samples, base: BaseParameters, *, progress: Progress = quiet) -> Observation:
    """Evaluate the regressor along processed samples.

    Args:    robot: of the base parameters
             samples: at the rate of the log; torque and regressor are decimated alike
             base: the base parameters
             progress: called with what is being done and the share of the work done
    Raises:  ShapeError if the samples have another number of joints; ArmdynError if no sample counts.
    """
    if samples.q.shape[1:] != (robot.n,) or base.robot.n != robot.n:
        raise ShapeError(
            f"samples of {samples.q.shape[1]} joints",
            where=f"robot {robot.name!r}",
            expected=f"{robot.n}, those of the robot",
        )
    return condensed(base, samples, _rows(base, samples), progress)


def condensed(
    base: BaseParameters, samples: Samples, source: Iterable[Rows], progress: Progress = quiet
) -> Observation:
    """The observation of decimated samples that come some at a time.

    A list of them is kept; those of `observe` only as far as memory allows.
    """
    n, p = base.robot.n, base.count
    factors, counts, length = np.zeros((n, p + 1, p + 1)), np.zeros(n, dtype=int), 0
    expected = -(-len(samples) // samples.decimation)
    own = not isinstance(source, Iterator)
    kept: list[Rows] | None = [] if own or expected * n * (p + 3) * 8 < KEPT else None
    for rows in source:
        for j in range(n):
            chosen = rows.keep[:, j]
            factors[j] = extended(factors[j], np.column_stack([rows.Y[chosen, j], rows.tau[chosen, j]]))
            counts[j] += int(chosen.sum())
        length += len(rows.t)
        if kept is not None:
            kept.append(rows)
        progress("evaluating the regressor", min(length / expected, 1.0))
    if not counts.any():
        raise ArmdynError(
            "no sample of the log counts",
            where=f"robot {base.robot.name!r}",
            expected="joints that move faster than their dead band",
            advice="Log a motion in which the joints move, or process it with dead_band=0.",
        )
    return Observation(base, samples, factors, counts, length, _rows=None if kept is None else tuple(kept))


def extended(factor: Array, rows: Array) -> Array:
    """The triangle of a triangle with rows added below it; only nonzero columns take part."""
    full = np.flatnonzero(factor.any(axis=0) | rows.any(axis=0))
    if not len(rows) or not len(full):
        return factor
    # Rows of the factor beyond its rank are zero: what is stacked is small.
    stacked = np.vstack([factor[factor.any(axis=1)][:, full], rows[:, full]])
    R = np.linalg.qr(stacked, mode="r")
    result = np.zeros_like(factor)
    result[: len(R), full] = R
    return result


def stacked(observation: Observation, weights: Array) -> Array:
    """(m, p + 1) rows equivalent to all samples of all joints, those of joint j times weights[j]."""
    return np.vstack([w * factor[factor.any(axis=1)] for w, factor in zip(weights, observation.factors, strict=True)])


# Chunks -------------------------------------------------------------------------------------------------------------


def _rows(base: BaseParameters, samples: Samples) -> Iterator[Rows]:
    entries = _entries(base)
    return rows_of(samples, entries.kernel, entries.placed, base.robot.n)


def rows_of(
    samples: Samples, kernel: Callable[[Array, Array, Array], Array], placed: Callable[[Array], Array], n: int
) -> Iterator[Rows]:
    """Decimated samples: each chunk is computed with a margin on both sides, which is cut off after filtering.

    kernel: q, qd, qdd, (m, n) each -> (m, k) entries of the regressor
    placed: (m, k) entries -> (m, n, p) regressor
    n: number of joints
    """
    factor = samples.decimation
    step = max(CHUNK // factor, 1) * factor
    margin = HALO * factor if factor > 1 else 0
    keep = decimated_keep(samples.keep, factor)
    for start in range(0, len(samples), step):
        low, high = max(start - margin, 0), min(start + step + margin, len(samples))
        part = slice(low, high)
        found = np.hstack([kernel(samples.q[part], samples.qd[part], samples.qdd[part]), samples.tau[part]])
        t = samples.t[start : start + step : factor]
        before, first = (start - low) // factor, start // factor
        kept_rows = decimated(found, factor)[before : before + len(t)]
        yield Rows(t, placed(kept_rows[:, :-n]), kept_rows[:, -n:], keep[first : first + len(t)])


def regressor_rows(robot: Robot, include: tuple[str, ...], samples: Samples) -> tuple[Array, Array, Array]:
    """(t (m,), Y (m, n, p), tau (m, n)): the regressor of the standard parameters at decimated samples.

    The velocity of a joint that rests while others move, from one row to the next at least, counts as zero. Its sign
    would be that of the noise, and the Coulomb friction of a joint that rests half of the time would come out far too
    small. A joint that only reverses is not at rest: its friction changes sign.
    """
    slow = samples.keep.any(axis=1, keepdims=True) & ~samples.keep
    rests = binary_opening(slow, np.ones((samples.decimation + 1, 1)))
    samples = replace(samples, qd=np.where(rests, 0.0, samples.qd))
    entries = standard_entries(robot, include)
    parts = list(rows_of(samples, entries.kernel, entries.placed, robot.n))
    t, Y, tau = (np.concatenate([getattr(part, name) for part in parts]) for name in ("t", "Y", "tau"))
    return t, Y, tau


class Entries(NamedTuple):
    """The entries of a regressor that are not zero by structure.

    kernel: q, qd, qdd, (m, n) each -> (m, k)
    places: (k,) in the flat (n, c) matrix of the chosen columns
    shape: (n, c)
    mixing: (c, p) from these columns to base parameters; None: they are the same
    """

    kernel: Callable[[Array, Array, Array], Array]
    places: Array
    shape: tuple[int, int]
    mixing: Array | None

    def placed(self, values: Array) -> Array:
        """(m, n, p) the regressor of the entries, (m, k)."""
        flat = np.zeros((len(values), self.shape[0] * self.shape[1]))
        flat[:, self.places] = values
        Y = flat.reshape(-1, *self.shape)
        return Y if self.mixing is None else Y @ self.mixing


@lru_cache(maxsize=8)
def _entries(base: BaseParameters) -> Entries:
    """The compiled base regressor, made once for each `base`."""
    found = _compiled(base.robot, base.include, base.columns)
    plain = np.array_equal(base.from_columns, np.eye(base.count))
    return found if plain else found._replace(mixing=base.from_columns)


def standard_entries(robot: Robot, include: tuple[str, ...]) -> Entries:
    """The compiled regressor of the standard parameters."""
    return _compiled(robot, include, parameter_names(robot, include))


def _compiled(robot: Robot, include: tuple[str, ...], columns: tuple[str, ...]) -> Entries:
    names = parameter_names(robot, include)
    chosen = [names.index(name) for name in columns]
    places: list[int] = []

    def formula(q: Any, qd: Any, qdd: Any, near: Any = None) -> list[Any]:
        Y = regressor.formula(robot, q, qd, qdd, include, near)
        flat = [row[i] for row in Y for i in chosen]
        places[:] = [k for k, entry in enumerate(flat) if not ops.is_zero(entry)]
        return [flat[k] for k in places]

    kernel = closing(robot, build(trace(formula, state_sizes(robot), fold_angles=False), "base_regressor"))
    return Entries(kernel, np.array(places), (robot.n, len(columns)), None)


def state_sizes(robot: Robot) -> dict[str, int]:
    """Inputs of a function of the motion and their sizes; of a closed chain with `near`, all joints, closed."""
    sizes = dict.fromkeys(("q", "qd", "qdd"), robot.n)
    return sizes | {"near": robot.opened.n} if robot.constrained else sizes


def closing(robot: Robot, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of (q, qd, qdd, ...) from one that takes `near` too: loops are closed before, wherever they can be."""
    if not robot.constrained:
        return function
    closed = compiled(robot).closed
    return lambda q, qd, qdd, *more: function(q, qd, qdd, closed(q), *more)


def base_regressor(base: BaseParameters) -> Callable[[Array, Array, Array], Array]:
    """The compiled base regressor: q, qd, qdd, (m, n) each -> (m, n, p)."""
    entries = _entries(base)
    return lambda q, qd, qdd: entries.placed(entries.kernel(q, qd, qdd))


__all__ = ["Observation", "Rows", "base_regressor", "condensed", "distinct_parameters", "observe", "rows_of"]
