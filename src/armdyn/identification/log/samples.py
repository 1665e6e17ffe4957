"""Samples: a processed log, ready for the regressor."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from armdyn.findings import Finding
from armdyn.typing import Array


@dataclass(frozen=True, eq=False)
class Samples:
    """Filtered motion and torques at an even rate, which of them count, and how they were processed.

    t: (N,) s
    q, qd, qdd: (N, n) rad or m, per s, per s^2
    tau: (N, n) N m or N
    keep: (N, n) bool, samples that count (a joint slower than its dead band does not)
    decimation: factor by which torque and every column of the regressor are low-passed and decimated, alike (Khalil
                sec. 7.3.3 f, "parallel filtering"); 1: none
    steps: what was done, by name
    findings: what was noticed
    cutoff: cut-off frequency of the low-pass of positions, Hz; 0: unknown
    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    keep: Array
    decimation: int = 1
    steps: dict[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    cutoff: float = 0.0

    def __len__(self) -> int:
        return len(self.t)


def excerpts(samples: Samples, count: int, length: int, edge: int) -> Samples:
    """So many excerpts of a long log, evenly spread in time, one after the other; a log that is not longer as it is.

    length: samples of one excerpt
    edge: samples at both ends of an excerpt that do not count: filters and presliding states settle there
    """
    if len(samples) <= count * length:
        return samples
    starts = np.linspace(0, len(samples) - length, count).astype(int)
    index = (starts[:, None] + np.arange(length)).ravel()
    place = np.arange(length)
    inside = np.tile((place >= edge) & (place < length - edge), count)
    arrays = {name: getattr(samples, name)[index] for name in ("t", "q", "qd", "qdd", "tau")}
    return replace(samples, **arrays, keep=samples.keep[index] & inside[:, None])


__all__ = ["Samples", "excerpts"]
