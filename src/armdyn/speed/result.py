"""The result of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armdyn.files import write_text
from armdyn.graph import Operations
from armdyn.notebook_view import View, markdown
from armdyn.result import Result
from armdyn.speed.agreement import TOLERANCE

OWN = "armdyn"
SINCOS = 34
"""Operations of the sine and cosine of one angle, where they are counted: range reduction and two polynomials."""


@dataclass(frozen=True)
class CallTiming:
    """Seconds per sample of one call. kind: call, out (one sample); batch, kernel (many)."""

    engine: str
    label: str
    kind: str
    samples: int
    seconds: float


@dataclass(frozen=True)
class FunctionResult:
    """One function of one robot.

    angles: number of different angles whose sines and cosines are computed. lanes: samples computed at a time. cold,
    warm: seconds to compile the function with an empty and with a filled cache. differences: of each call's results
    from ours. failed: errors of the calls that raised one. bytes: of the results for one sample.
    """

    name: str
    operations: Operations
    angles: int
    lanes: int | None
    cold: float
    warm: float
    timings: tuple[CallTiming, ...]
    differences: Mapping[str, float]
    failed: Mapping[str, str]
    bytes: int

    @property
    def sizes(self) -> tuple[int, ...]:
        """The measured batch sizes, smallest first."""
        return tuple(sorted({timing.samples for timing in self.timings if timing.kind == "kernel"}))

    @property
    def engines(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(timing.engine for timing in self.timings))

    def timing(self, engine: str, kind: str, samples: int = 1) -> CallTiming | None:
        for found in self.timings:
            if (found.engine, found.kind, found.samples) == (engine, kind, samples):
                return found
        return None

    def batch(self, engine: str, samples: int) -> CallTiming | None:
        """The engine's batch of this size or the next smaller one; without any, its fastest single call."""
        sizes = [timing.samples for timing in self.timings if (timing.engine, timing.kind) == (engine, "batch")]
        smaller = [size for size in sizes if size <= samples]
        if smaller:
            return self.timing(engine, "batch", max(smaller))
        singles = [single for kind in ("call", "out") if (single := self.timing(engine, kind))]
        return min(singles, key=lambda single: single.seconds, default=None)

    def ratio(self, engine: str, kind: str, samples: int = 1) -> float | None:
        """Time of the other engine divided by ours."""
        if kind == "batch":
            ours, theirs = self.timing(OWN, "batch", samples), self.batch(engine, samples)
        else:
            ours, theirs = self.timing(OWN, kind, samples), self.timing(engine, kind, samples)
        return None if ours is None or theirs is None else theirs.seconds / ours.seconds

    def flops(self, *, sincos: bool = False) -> int:
        """Multiplications and additions of a sample; with `sincos`, 34 more for each angle."""
        count = self.operations.multiplications + self.operations.additions
        return count + SINCOS * self.angles if sincos else count

    def share(self, peak: float, samples: int, *, sincos: bool = False) -> float | None:
        """Share of the core's peak that the kernel reaches."""
        kernel = self.timing(OWN, "kernel", samples)
        return None if kernel is None else self.flops(sincos=sincos) / kernel.seconds / peak

    def written(self, bandwidth: float, samples: int) -> float | None:
        """Share of the core's bandwidth to memory that the results take."""
        kernel = self.timing(OWN, "kernel", samples)
        return None if kernel is None else self.bytes / kernel.seconds / bandwidth


@dataclass(frozen=True)
class RobotResult:
    """One robot. without: omitted parts that not all engines support. absent: engines that cannot model it, and why.

    all_cold, all_warm: seconds of all functions of Dynamics but second derivatives, from the robot; None where they
        were not measured.
    for_batches: the part of all_cold that is spent on code for batches, when the first batch of each function comes.
    """

    name: str
    joints: int
    without: tuple[str, ...]
    functions: tuple[FunctionResult, ...]
    absent: Mapping[str, str]
    skipped: Mapping[str, str]
    all_cold: float | None
    for_batches: float | None
    all_warm: float | None

    def function(self, name: str) -> FunctionResult | None:
        return next((function for function in self.functions if function.name == name), None)

    @property
    def compiled(self) -> str | None:
        """How long all functions took, in words."""
        if self.all_cold is None or self.for_batches is None or self.all_warm is None:
            return None
        one = self.all_cold - self.for_batches
        return (
            f"All functions of Dynamics but second derivatives: {self.all_cold:.2f} s cold ({one:.2f} s until each "
            f"can be called, {self.for_batches:.2f} s when a batch comes), {self.all_warm:.3f} s warm."
        )


@dataclass(frozen=True)
class Disagreement:
    """A call whose result differs from ours; it is not timed."""

    robot: str
    function: str
    call: str
    difference: float


@dataclass(frozen=True)
class Report(Result):
    """Results of one run.

    peak: operations per second of the core. bandwidth: bytes per second that it writes. missing: engines not installed.
    """

    machine: Mapping[str, str]
    peak: float
    bandwidth: float
    robots: tuple[RobotResult, ...]
    missing: Mapping[str, str]
    quick: bool

    @property
    def disagreements(self) -> tuple[Disagreement, ...]:
        return tuple(
            Disagreement(robot.name, function.name, call, apart)
            for robot in self.robots
            for function in robot.functions
            for call, apart in function.differences.items()
            if not apart <= TOLERANCE
        )

    def robot(self, name: str) -> RobotResult | None:
        return next((robot for robot in self.robots if robot.name == name), None)

    def _view(self) -> View:
        from armdyn.speed.result_tables import view

        return view(self)

    def save(self, path: str | Path) -> Path:
        """Write the figures as a Markdown page."""
        return write_text(path, markdown(self._view()) + "\n")

    def record(self) -> dict[str, Any]:
        """For JSON. Times in seconds per sample, ratios to our time of the same kind and size."""
        return {
            "machine": dict(self.machine),
            "quick": self.quick,
            "peak_flops": self.peak,
            "bandwidth": self.bandwidth,
            "tolerance": TOLERANCE,
            "missing": dict(self.missing),
            "robots": [self._robot_record(robot) for robot in self.robots],
            "disagreements": [
                {"robot": d.robot, "function": d.function, "call": d.call, "difference": _number(d.difference)}
                for d in self.disagreements
            ],
        }

    def _robot_record(self, robot: RobotResult) -> dict[str, Any]:
        return {
            "name": robot.name,
            "joints": robot.joints,
            "without": list(robot.without),
            "absent": dict(robot.absent),
            "skipped": dict(robot.skipped),
            "all_functions": {"cold": robot.all_cold, "for_batches": robot.for_batches, "warm": robot.all_warm},
            "functions": [self._function_record(function) for function in robot.functions],
        }

    def _function_record(self, function: FunctionResult) -> dict[str, Any]:
        count = function.operations
        return {
            "name": function.name,
            "multiplications": count.multiplications,
            "additions": count.additions,
            "divisions": count.divisions,
            "angles": function.angles,
            "lanes": function.lanes,
            "compile": {"cold": function.cold, "warm": function.warm},
            "share": [
                {
                    "samples": samples,
                    "traced": function.share(self.peak, samples),
                    "with_sincos": function.share(self.peak, samples, sincos=True),
                    "bandwidth": function.written(self.bandwidth, samples),
                }
                for samples in function.sizes
            ],
            "differences": {call: _number(apart) for call, apart in function.differences.items()},
            "failed": dict(function.failed),
            "timings": [
                {
                    "engine": timing.engine,
                    "call": timing.label,
                    "kind": timing.kind,
                    "samples": timing.samples,
                    "seconds": timing.seconds,
                    "ratio": None
                    if timing.engine == OWN
                    else function.ratio(timing.engine, timing.kind, timing.samples),
                }
                for timing in function.timings
            ],
        }


def _number(value: float) -> float | None:
    """The number, or None for infinity, which JSON does not have."""
    return value if value < float("inf") else None
