"""Samples for estimation and held-out ones for validation, from logs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from armdyn.doctor.log_checks import check_log
from armdyn.errors import ArmdynError
from armdyn.identification.clock.stamps import rebuilt
from armdyn.identification.log.log_format import LogFormat
from armdyn.identification.log.processing import Processing, process
from armdyn.identification.log.readers import read_log
from armdyn.identification.log.samples import Samples
from armdyn.robot import Robot
from armdyn.typing import Progress


@dataclass(frozen=True)
class Preparation:
    """How logs become samples."""

    log_format: LogFormat
    processing: Processing | None
    check: bool

    def samples(self, robot: Robot, log: Any, progress: Progress) -> tuple[Samples, str]:
        """(samples, source of the log)."""
        if isinstance(log, Samples):
            return log, "samples"
        progress("reading the log", 0.1)
        read = rebuilt(read_log(log, robot, self.log_format))
        progress("processing the log", 0.15)
        samples = process(read, robot, self.processing)
        if self.check:
            progress("checking the log", 0.2)
            samples = replace(samples, findings=check_log(read, robot, samples))
        return samples, read.source


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Samples for estimation, and held-out ones for validation, with the names of their sources."""

    training: Samples
    source: str
    held_out: Samples | None = None
    held_out_source: str = ""


def split_log(robot: Robot, log: Any, validation: Any, prepared: Preparation, progress: Progress) -> TrainingData:
    samples, source = prepared.samples(robot, log, progress)
    if validation is None:
        return TrainingData(samples, source, None, source)
    if isinstance(validation, float):
        if not 0 < validation < 1:
            raise ArmdynError(
                f"validation = {validation}", where="identify", expected="a share between 0 and 1, or a log"
            )
        cut = round(len(samples) * (1 - validation)) // samples.decimation * samples.decimation
        first, last = _part(samples, slice(0, cut)), _part(samples, slice(cut, None))
        name = "the log" if source == "arrays" else source
        return TrainingData(
            first, f"the first {1 - validation:.0%} of {name}", last, f"the last {validation:.0%} of {name}"
        )
    return TrainingData(samples, source, *replace(prepared, check=False).samples(robot, validation, progress))


def _part(samples: Samples, part: slice) -> Samples:
    arrays = {name: getattr(samples, name)[part] for name in ("t", "q", "qd", "qdd", "tau", "keep")}
    return replace(samples, **arrays)


__all__ = ["Preparation", "TrainingData", "split_log"]
