"""A log: what was measured while a robot moved, on the joint side and in SI units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armdyn.errors import ShapeError
from armdyn.findings import Finding
from armdyn.typing import Array


@dataclass(frozen=True, eq=False)
class Log:
    """Measured motion and torques of all joints, in `robot.joints` order.

    t: (N,) s, increasing
    q: (N, n) rad or m
    tau: (N, n) N m or N, torques of the actuators acting on +q
    qd, qdd: (N, n), if logged (default: derived from q)
    joints: names
    source: name of the file
    findings: what the reader noticed
    """

    t: Array
    q: Array
    tau: Array
    qd: Array | None = None
    qdd: Array | None = None
    joints: tuple[str, ...] = ()
    source: str = "arrays"
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        samples = len(self.t)
        for name in ("q", "tau", "qd", "qdd"):
            value = getattr(self, name)
            if value is not None and value.shape != (samples, self.q.shape[1]):
                raise ShapeError(
                    f"{name} has shape {value.shape}",
                    where=f"log {self.source}",
                    expected=f"({samples}, {self.q.shape[1]}), a row per time stamp",
                )

    def __len__(self) -> int:
        return len(self.t)

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.q.shape[1])

    @property
    def period(self) -> float:
        """Median time between two samples, s."""
        return float(np.median(np.diff(self.t)))

    @property
    def duration(self) -> float:
        """Time from the first sample to the last, s."""
        return float(self.t[-1] - self.t[0])
