"""A sweep as plain data that can be sent to workers: variants, measures, chunks."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from armdyn.formats import toml
from armdyn.robot import Robot
from armdyn.sweeps.design_space import PAYLOAD, Family
from armdyn.sweeps.measures import Bench, Variant, labels_of, measured
from armdyn.typing import Array


@dataclass(frozen=True, eq=False)
class SweepJob:
    """The variants of a sweep and their measures.

    text: the robot's file
    names: (k,) what varies: see `design_space.parametrised`
    points: (N, k), one variant per row
    measures: names
    bench: where variants are measured
    chunk: variants per chunk
    """

    text: str
    names: tuple[str, ...]
    points: Array
    measures: tuple[str, ...]
    bench: Bench
    chunk: int

    @cached_property
    def robot(self) -> Robot:
        return toml.loads(self.text)

    @property
    def family(self) -> Family:
        """The dynamics of all variants; with a payload, if it is looked for."""
        extra = (PAYLOAD,) if "largest_payload" in self.measures and PAYLOAD not in self.names else ()
        return _family(self.text, (*self.names, *extra))

    def variant(self, point: Array) -> Variant:
        """The variant with these values of what varies."""
        return Variant(self.family, np.append(point, np.zeros(len(self.family.names) - len(point))), self.bench)

    @property
    def chunks(self) -> int:
        return -(-len(self.points) // self.chunk)

    def rows(self, number: int) -> Array:
        """The points of one chunk."""
        return self.points[number * self.chunk : (number + 1) * self.chunk]

    def part(self, number: int) -> SweepJob:
        """A plan of that chunk alone."""
        return replace(self, points=self.rows(number))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Names of the results: a measure, or measure and joint."""
        return tuple(label for label, _ in labels_of(self.robot, self.measures))

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the sweep: results of another one are never mistaken for this one's."""
        digest = hashlib.sha256(json.dumps([self.text, self.names, self.measures, self.chunk]).encode())
        for array in (self.points, self.bench.rest, self.bench.t, self.bench.q, self.bench.qd, self.bench.qdd):
            digest.update(np.ascontiguousarray(array, dtype=float).tobytes())
        return digest.hexdigest()


@lru_cache(maxsize=8)
def _family(text: str, names: tuple[str, ...]) -> Family:
    """One for all chunks of a sweep that a process works on."""
    return Family(toml.loads(text), names)


def evaluate(plan: SweepJob, number: int) -> Array:
    """(rows, results) of one chunk, NaN where a variant cannot be evaluated."""
    results = np.full((len(plan.rows(number)), len(plan.labels)), np.nan)
    for row, point in zip(results, plan.rows(number), strict=True):
        row[:] = measured(partial(plan.variant, point), plan.measures, len(row))
    return results


def state(plan: SweepJob) -> dict[str, Any]:
    """The plan as plain values, for a worker in another process."""
    return {name: getattr(plan, name) for name in ("text", "names", "points", "measures", "bench", "chunk")}


def evaluate_state(values: dict[str, Any]) -> Array:
    """Results of a plan of one chunk that came as plain values."""
    return evaluate(SweepJob(**values), 0)
