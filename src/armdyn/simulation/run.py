"""The result of a simulation: frozen arrays, how it ended, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.control.law import Desired
from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError
from armdyn.typing import Array


class Status(Enum):
    """How a simulation ended: a sentence, with advice where there is something to do."""

    FINISHED = "The motion ran to its end."
    STOPPED = "The stop condition was met before the end; the last sample is the state at which it was."
    LIMIT = (
        "A joint reached the end of its range: choose another reference or start, soften the overshoot (more damping, "
        "lower gains), or simulate without stop_at_limits."
    )
    UNSTABLE = (
        "The motion grew beyond all bounds and was cut off: lower the gains (analyse_gains shows the poles), shorten "
        "dt or the control period, or take integrator='rk4'; check the signs of the model if gains are modest."
    )
    SINGULAR = (
        "The arm reached a singular position, where the task has no finite joint motion: keep the reference away from "
        "it, control fewer rows of the task, or give the law damping (damping=0.05)."
    )
    STALLED = (
        "The integrator could not keep its tolerance with any step: loosen rtol and atol, or take a fixed step; jumps "
        "in the law or in friction (sign functions) are the usual cause."
    )


class SimulationError(ArmdynError):
    """A simulation that did not reach its end, where that was asked to be an error."""


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A simulated motion. Every array is finite: a motion that blows up is cut off before, and `status` says so.

    t: (k,) s. q, qd: (k, n) rad or m and rates. tau: (k, n) N m or N, what the actuators exerted at t (after
    saturation, held ones as held). desired: what the reference asked for: .q, .qd, .qdd. error: (k, n) reference
    minus q (for laws in the task space the error of the task). memory: (k, m) internal state of the law.
    plants: (index, Dynamics) of each stretch of the motion. detail: where and when it ended, if not at its end.
    """

    t: Array
    q: Array
    qd: Array
    tau: Array
    desired: Desired
    error: Array
    memory: Array
    status: Status
    detail: str
    plants: tuple[tuple[int, Dynamics], ...]
    integrator: str
    dt: float
    controller: str
    compiled: bool
    seconds: float
    motors: tuple[Array, Array] | None = None
    """Positions and velocities of the motors of an elastic arm, (k, n) each, seen at their joints."""

    @property
    def ok(self) -> bool:
        """Whether the motion ran to its end, or to the stop condition that was asked for."""
        return self.status in (Status.FINISHED, Status.STOPPED)

    @property
    def dynamics(self) -> Dynamics:
        """The plant at the beginning."""
        return self.plants[0][1]

    @property
    def joints(self) -> tuple[str, ...]:
        return tuple(joint.name for joint in self.dynamics.robot.joints)

    @property
    def duration(self) -> float:
        return float(self.t[-1])

    # Energies -------------------------------------------------------------------------------------------------------

    def _by_plant(self, function: str, *columns: Array) -> Array:
        ends = [*(start for start, _ in self.plants[1:]), len(self.t)]
        parts = []
        for (start, dyn), end in zip(self.plants, ends, strict=True):
            parts.append(getattr(dyn, function)(*(column[start:end] for column in columns)))
        return np.concatenate(parts)

    @cached_property
    def kinetic_energy(self) -> Array:
        """(k,) J, rotors included (of an elastic arm: as if the motors turned with the links)."""
        return self._by_plant("kinetic_energy", self.q, self.qd)

    @cached_property
    def potential_energy(self) -> Array:
        """(k,) J, zero at the world's origin."""
        return self._by_plant("potential_energy", self.q)

    @property
    def energy(self) -> Array:
        """(k,) J: kinetic and potential."""
        return np.asarray(self.kinetic_energy + self.potential_energy)

    @cached_property
    def power(self) -> Array:
        """(k,) W, what the actuators deliver."""
        return np.asarray(np.sum(self.tau * self.qd, axis=1))

    # Numbers --------------------------------------------------------------------------------------------------------

    @cached_property
    def tool(self) -> Array:
        """(k, 3) positions of the tool in the world, m."""
        return self._by_plant("pose", self.q)[:, :3, 3]

    def largest_error(self, after: float = 0.0) -> Array:
        """(n,) largest magnitude of the error from a time on."""
        return np.asarray(np.abs(self.error[self.t >= after - 1e-12]).max(axis=0))

    def rms_error(self, after: float = 0.0) -> Array:
        """(n,) root mean square of the error from a time on."""
        return np.asarray(np.sqrt(np.mean(self.error[self.t >= after - 1e-12] ** 2, axis=0)))

    def required(self) -> Run:
        """This run, or an error that says why it did not reach its end."""
        if self.ok:
            return self
        what, _, advice = self.status.value.partition(": ")
        raise SimulationError(what, where=self.detail or None, advice=advice[:1].upper() + advice[1:])

    # Out ------------------------------------------------------------------------------------------------------------

    def columns(self) -> dict[str, Array]:
        """All samples as named columns: t, q1.., qd1.., tau1.., e1.., and the reference's where it moves joints."""
        found = {"t": self.t}
        groups = {"q": self.q, "qd": self.qd, "tau": self.tau, "e": self.error}
        if self.desired.q.shape == self.q.shape:
            groups |= {"ref": self.desired.q, "refd": self.desired.qd, "refdd": self.desired.qdd}
        groups["z"] = self.memory
        for name, group in groups.items():
            found |= {f"{name}{j + 1}": group[:, j] for j in range(group.shape[1])}
        return found

    def save(self, path: str | Path) -> Path:
        """Write all samples to a .csv, .npz or .parquet file (the last needs pyarrow)."""
        from armdyn.simulation.run_files import write

        return write(self, path)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw path of the tool, torques, errors, joints and energy. Returns the Matplotlib figure.

        path: .png, .svg or .pdf to write.
        """
        from armdyn.report.figures.run_figures import run_figure

        figure = run_figure(self)
        if path is not None:
            figure.savefig(path, dpi=150)
        return figure

    def __repr__(self) -> str:
        end = self.status.name.lower() + (f" ({self.detail})" if self.detail else "")
        worst = self.largest_error().max() if self.error.size else 0.0
        return (
            f"<Run of {self.dynamics.robot.name!r}: {self.duration:.6g} s in {len(self.t) - 1} steps by "
            f"{self.integrator}, {end}; largest error {worst:.3g}>"
        )


def joined(parts: Sequence[Array]) -> Array:
    """Arrays end to end."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
