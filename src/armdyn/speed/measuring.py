"""The run: robot by robot, function by function, with the engines timed in turns."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from armdyn.dynamics import Dynamics, compile
from armdyn.dynamics.looped.choice import worth_looping
from armdyn.dynamics.looped.robots import can_be_looped
from armdyn.dynamics.quantities import QUANTITIES, RARE
from armdyn.errors import MissingExtra, NotApplicable
from armdyn.graph.node import COS, SIN
from armdyn.kernels.cache import VARIABLE
from armdyn.robot import Robot
from armdyn.speed import sample_robots
from armdyn.speed.agreement import TOLERANCE, difference
from armdyn.speed.calls import FUNCTIONS, Call, Inputs
from armdyn.speed.compiling import BATCHES, compile_seconds
from armdyn.speed.engines import OTHERS, Engine, Maker
from armdyn.speed.engines.own import OwnEngine, result_shapes
from armdyn.speed.machine import facts
from armdyn.speed.peak import bandwidth, peak
from armdyn.speed.result import OWN, CallTiming, FunctionResult, Report, RobotResult
from armdyn.speed.stopwatch import interleaved, one_core, seconds_once
from armdyn.typing import Array, Progress, quiet

LARGEST_RESULT = 2**27
"""Limit in bytes for the results of a batch; where it is exceeded, the batch has fewer samples."""
FEW_JOINTS = 10
"""Up to this many joints, the time to compile all functions of Dynamics is measured."""

Key = tuple[str, str, int]
"""Engine, kind of call, samples."""


@dataclass(frozen=True)
class Settings:
    """Extent of a run.

    sizes: samples of the batches
    rounds: turns of each call
    turn: seconds of one turn
    most: seconds spent on one slow call
    warm: number of interpreters started with a filled cache
    longest: functions whose straight-line code has more operations are skipped (default: none)
    compared: samples at which engines must agree
    everything: also compile all functions of Dynamics, of robots with few joints
    whole: names of further robots of which all functions are compiled
    quick: whether the figures are rough
    """

    sizes: tuple[int, ...] = (1_000, 100_000)
    rounds: int = 50
    turn: float = 4e-3
    most: float = 1.5
    warm: int = 3
    longest: int | None = None
    compared: int = 32
    everything: bool = True
    whole: tuple[str, ...] = ()
    quick: bool = False


THOROUGH = Settings()
QUICK = Settings((1_000, 10_000), 5, 1e-3, 0.5, 1, 10_000, 8, everything=False, quick=True)


def bench(
    robots: Sequence[str] = (),
    *,
    quick: bool = False,
    settings: Settings | None = None,
    others: Mapping[str, Maker] = OTHERS,
    progress: Progress = quiet,
) -> Report:
    """Measure robots on one core: catalog names, files, or names of `sample_robots` (default: `sample_robots.default`).

    Results are compared before anything is timed; a call that disagrees is reported and not timed. Machine code is
    kept in a temporary cache.

    Args:
        robots: their names.
        quick: fewer repetitions, rough figures.
        settings: extent of the run instead (default: THOROUGH, or QUICK).
        others: engines to compare with, by name.
        progress: called with the current step and the fraction done.
    """
    extent = settings or (QUICK if quick else THOROUGH)
    chosen = [sample_robots.chosen(name) for name in robots or sample_robots.default()]
    missing: dict[str, str] = {}
    best = 0.0
    found = []
    with one_core(), _temporary_cache():
        for number, robot in enumerate(chosen):
            work = _Work(robot, extent, others, progress, number, len(chosen))
            found.append(work.result(missing))
            best = max(best, work.peak)
        written = bandwidth()
    return Report(facts(), best, written, tuple(found), missing, extent.quick)


class _Work:
    """The measurement of one robot."""

    def __init__(
        self, robot: Robot, settings: Settings, others: Mapping[str, Maker], progress: Progress, number: int, count: int
    ) -> None:
        self.robot, self.without = sample_robots.comparable(robot)
        self.dynamics = compile(self.robot)
        self.settings, self.others, self.progress = settings, others, progress
        steps = 1 + len(FUNCTIONS)
        self.done, self.steps = number * steps, count * steps
        self.peak = 0.0

    def result(self, missing: dict[str, str]) -> RobotResult:
        self._say("compiling")
        dynamics = self.dynamics
        skipped = self._skipped(dynamics)
        names = [name for name in FUNCTIONS if name not in skipped]
        everything = self.settings.everything and (self.robot.n <= FEW_JOINTS or self.robot.name in self.settings.whole)
        made = [*names, *(name for name in QUANTITIES if name not in (*names, *RARE))] if everything else names
        cold = compile_seconds(self.robot, made)
        again = [compile_seconds(self.robot, made) for _ in range(self.settings.warm)]
        warm = {name: min(times[name] for times in again) for name in cold}
        engines, absent = self._engines(missing)
        functions = []
        for name in names:
            functions.append(self._function(name, dynamics, engines, cold[name], warm[name]))
        totals: tuple[float | None, ...] = (None, None, None)
        if everything:
            totals = sum(cold.values()), cold[BATCHES], min(sum(times.values()) for times in again)
        return RobotResult(self.robot.name, self.robot.n, self.without, tuple(functions), absent, skipped, *totals)

    def _skipped(self, dynamics: Dynamics) -> dict[str, str]:
        longest = self.settings.longest
        floating = {"regressor": "there is no looped code of it on a free base"} if self.robot.compounds else {}
        if longest is None:
            return floating
        straight = [name for name in FUNCTIONS if name not in floating and not self._looped(name)]
        counts = {name: dynamics.program(name).operations.total for name in straight}
        return floating | {name: f"{count} operations" for name, count in counts.items() if count > longest}

    def _engines(self, missing: dict[str, str]) -> tuple[dict[str, Engine], dict[str, str]]:
        engines: dict[str, Engine] = {}
        absent: dict[str, str] = {}
        for name, maker in self.others.items():
            if name in missing:
                continue
            try:
                engines[name] = maker(self.robot)
            except MissingExtra as error:
                missing[name] = error.what
            except NotApplicable as error:
                absent[name] = error.what
        return engines, absent

    def _function(
        self, name: str, dynamics: Dynamics, others: Mapping[str, Engine], cold: float, warm: float
    ) -> FunctionResult:
        self._say(f"{name}: comparing")
        engines: dict[str, Engine] = {OWN: OwnEngine(dynamics), **others}
        apart, failed = self._compared(name, engines)
        good = {call for call, value in apart.items() if value <= TOLERANCE and call not in failed}
        self._say(f"{name}: timing")
        calls = {
            (engine, *key): call for engine, offers in engines.items() for key, call in self._calls(name, offers, good)
        }
        self._measure_peak()
        seconds = interleaved(calls, self.settings.rounds, self.settings.turn, self.settings.most)
        self._measure_peak()
        self.done += 1
        timings = tuple(CallTiming(key[0], calls[key].label, key[1], key[2], value) for key, value in seconds.items())
        made = dynamics.program(name)
        angles = self._angles(name)
        lanes = getattr(made, "lanes", None)
        return FunctionResult(
            name, made.operations, angles, lanes, cold, warm, timings, apart, failed, self._bytes(name)
        )

    def _angles(self, name: str) -> int:
        """Different angles whose sines and cosines are computed; looped code computes those of all joints."""
        if self._looped(name):
            return sum(link.revolute for link in self.robot.links)
        nodes = self.dynamics.graph(name).nodes
        return len({node.args[0] for node in nodes if node.op in (SIN, COS)})

    def _looped(self, name: str) -> bool:
        return can_be_looped(self.robot, name) and worth_looping(
            name, self.robot, lambda: self.dynamics.operations("inverse_dynamics").total
        )

    def _compared(self, name: str, engines: Mapping[str, Engine]) -> tuple[dict[str, float], dict[str, str]]:
        """The largest difference of every call, and the errors of those that failed, by label."""
        inputs = self._inputs(name, self.settings.compared)
        rows: list[Inputs] = list(zip(*inputs, strict=True))
        own = engines[OWN]
        expected: Array = np.stack([own.single(name, row)["call"].result() for row in rows])
        apart: dict[str, float] = {}
        failed: dict[str, str] = {}
        for title, engine in engines.items():
            listed = [engine.single(name, row) for row in rows]
            work = [[calls[kind] for calls in listed] for kind in listed[0]]
            work += [[call] for call in engine.batch(name, inputs).values()]
            for calls in work:
                label = calls[0].label
                try:
                    results = [call.result() for call in calls]
                except Exception as error:
                    if title == OWN:
                        raise
                    failed[label] = f"{type(error).__name__}: {error}"
                    continue
                found = np.stack(results) if calls[0].samples == 1 and len(rows) > 1 else results[0]
                apart[label] = max(apart.get(label, 0.0), difference(expected, found))
        return apart, failed

    def _calls(self, name: str, engine: Engine, good: Set[str]) -> Iterator[tuple[tuple[str, int], Call]]:
        """The calls of an engine that are timed. A batch that would take too long is replaced by a smaller one."""
        expected = 0.0
        for kind, call in engine.single(name, tuple(values[0] for values in self._inputs(name, 1))).items():
            if call.label in good:
                yield (kind, 1), call
                expected = seconds_once(call)
        for size in self._sizes(name):
            if expected * size > self.settings.most:
                return
            for kind, call in engine.batch(name, self._inputs(name, size)).items():
                if call.label in good:
                    yield (kind, size), call
                    expected = seconds_once(call)

    def _inputs(self, name: str, samples: int) -> Inputs:
        return sample_robots.states(self.robot, samples)[: FUNCTIONS[name]]

    def _sizes(self, name: str) -> tuple[int, ...]:
        """Batch sizes, limited so that the results fit into memory."""
        most = max(LARGEST_RESULT // self._bytes(name), 1)
        most = int(f"{most:.0e}"[0]) * 10 ** int(f"{most:.0e}"[2:])
        return tuple(sorted({min(size, most) for size in self.settings.sizes}))

    def _bytes(self, name: str) -> int:
        """Bytes that the results of one sample take."""
        return 8 * sum(math.prod(shape) for shape in result_shapes(self.dynamics, name))

    def _measure_peak(self) -> None:
        self.peak = max(self.peak, *(peak(2 * self.settings.turn) for _ in range(5)))

    def _say(self, what: str) -> None:
        self.progress(f"{self.robot.name}: {what.replace('_', ' ')}", self.done / self.steps)


@contextmanager
def _temporary_cache() -> Iterator[None]:
    """A cache for this run only: machine code is compiled anew and removed afterwards."""
    before = os.environ.get(VARIABLE)
    with tempfile.TemporaryDirectory(prefix="armdyn-bench-") as folder:
        os.environ[VARIABLE] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ[VARIABLE]
            else:
                os.environ[VARIABLE] = before
