"""A sweep as plain data that can be sent to workers: variants, measures, chunks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError, FeatureError, unknown_name
from armdyn.formats import toml
from armdyn.parameters import parameter_names, with_standard_parameters
from armdyn.robot import Robot
from armdyn.sweeps.measures import MEASURES, Bench
from armdyn.typing import Array

PAYLOAD = "payload"
"""Name of the mass of a load at the tool, kg."""


@dataclass(frozen=True, eq=False)
class SweepJob:
    """The variants of a sweep and their measures.

    text: the robot's file
    names: (k,) what varies: parameters of the file, standard parameters (M3, ZZ2, Fv1, ...), or "payload"
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
        joints = [joint.name for joint in self.robot.joints]
        return tuple(
            f"{name}_{joint}" if joint else name
            for name in self.measures
            for joint in (joints if MEASURES[name].by_joint else [""])
        )

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the sweep: results of another one are never mistaken for this one's."""
        digest = hashlib.sha256(json.dumps([self.text, self.names, self.measures, self.chunk]).encode())
        for array in (self.points, self.bench.rest, self.bench.t, self.bench.q, self.bench.qd, self.bench.qdd):
            digest.update(np.ascontiguousarray(array, dtype=float).tobytes())
        return digest.hexdigest()


def varied(robot: Robot, values: Mapping[str, float]) -> Robot:
    """The robot with other values of parameters or payload."""
    named = {name: value for name, value in values.items() if name in robot.parameters}
    standard = {name: value for name, value in values.items() if name not in robot.parameters and name != PAYLOAD}
    made = robot.with_parameters(**named) if named else robot
    made = with_standard_parameters(made, standard) if standard else made
    return made.with_payload(values[PAYLOAD]) if PAYLOAD in values else made


def checked_names(robot: Robot, names: Sequence[str]) -> tuple[str, ...]:
    """The names, if the robot has them all."""
    known = (*robot.parameters, PAYLOAD, *parameter_names(robot))
    for name in names:
        if name not in known:
            raise unknown_name("parameter", name, known, where=f"sweep of {robot.name!r}")
    return tuple(names)


def evaluate(plan: SweepJob, number: int) -> Array:
    """(rows, results) of one chunk; a variant that cannot be evaluated is a row of NaN."""
    results = np.full((len(plan.rows(number)), len(plan.labels)), np.nan)
    for row, point in zip(results, plan.rows(number), strict=True):
        try:
            robot = varied(plan.robot, dict(zip(plan.names, point.tolist(), strict=True)))
            with np.errstate(all="ignore"):
                row[:] = np.concatenate([MEASURES[name].of(robot, plan.bench) for name in plan.measures])
        except FeatureError:
            raise
        except ArmdynError:
            continue
    return results


def state(plan: SweepJob) -> dict[str, Any]:
    """The plan as plain values, for a worker in another process."""
    return {name: getattr(plan, name) for name in ("text", "names", "points", "measures", "bench", "chunk")}


def evaluate_state(values: dict[str, Any]) -> Array:
    """Results of a plan of one chunk that came as plain values."""
    return evaluate(SweepJob(**values), 0)
