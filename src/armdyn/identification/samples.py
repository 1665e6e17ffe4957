"""Samples: a processed log, ready for the regressor."""

from __future__ import annotations

from dataclasses import dataclass, field

from armdyn.findings import Finding
from armdyn.typing import Array


@dataclass(frozen=True, eq=False)
class Samples:
    """Filtered motion and torques at the rate of the log, what to keep of them, and how it was decided.

    t: (N,) s. q, qd, qdd: (N, n). tau: (N, n). keep: (N, n) bool, rows of the regressor that count (a joint that is
    slower than its dead band is left out there). decimation: torque and every column of the regressor are low-passed
    and thinned by this factor, alike (Khalil sec. 7.3.3 f, "parallel filtering"); 1: not at all. steps: what was done,
    by name, in words and figures. findings: what was noticed.
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

    def __len__(self) -> int:
        return len(self.t)
