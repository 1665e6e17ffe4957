"""The result of a batch of simulations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from armdyn.control.base import Desired
from armdyn.dynamics import compile
from armdyn.errors import NotApplicable
from armdyn.notebook_view import View
from armdyn.parameters import with_standard_parameters
from armdyn.simulation.run import Run, Status
from armdyn.typing import Array


@dataclass(frozen=True, eq=False, repr=False)
class Runs(Run):
    """Motions of a batch of shape (...): a Run whose arrays have leading axes, q (..., k, nq) and energy (..., k).

    `status` is FINISHED if all samples reached their end. A sample that grew without bound is not-a-number from there
    on. `runs[i]` is the Run of one sample, `runs[2:5]` a part of the batch.

    statuses: (...) how each sample ended.
    ends:     (...) number of samples in time before its end.
    parameters: (...) standard parameters of the plants by name, where they differ; energies and places of the tool are
              then those of one sample, `runs[i]`.
    """

    statuses: Array = field(default_factory=lambda: np.empty(0))
    ends: Array = field(default_factory=lambda: np.empty(0))
    parameters: Mapping[str, Array] = field(default_factory=dict)

    def __getitem__(self, index: Any) -> Any:
        where = index if isinstance(index, tuple) else (index,)
        if np.ndim(self.ends[where]):
            return self._part(where)
        k = int(self.ends[where])
        status = cast(Status, self.statuses[where])
        desired = Desired(*(x[where][:k] if x.ndim > 2 else x[:k] for x in self.desired))
        motors = None if self.motors is None else (self.motors[0][where][:k], self.motors[1][where][:k])
        detail = "" if status is Status.FINISHED else f"at t = {self.t[k - 1] + (self.t[1] - self.t[0]):.6g} s"
        q, qd, tau, error, memory = (x[where][:k] for x in (self.q, self.qd, self.tau, self.error, self.memory))
        how = self.integrator, self.dt, self.law, self.compiled, self.seconds
        plants = self.plants
        if self.parameters:
            own = {name: float(x[where]) for name, x in self._spread().items()}
            plants = ((0, compile(with_standard_parameters(self.dynamics.robot, own), cache=self.dynamics.cache)),)
        return Run(self.t[:k], q, qd, tau, desired, error, memory, status, detail, plants, *how, motors)

    def _part(self, where: tuple[Any, ...]) -> Runs:
        """Several samples: those of a slice, or of one index where the batch has several axes."""
        desired = Desired(*(x[where] if x.ndim > 2 else x for x in self.desired))
        motors = None if self.motors is None else (self.motors[0][where], self.motors[1][where])
        arrays = {
            name: getattr(self, name)[where] for name in ("q", "qd", "tau", "error", "memory", "statuses", "ends")
        }
        parameters = {name: x[where] for name, x in self._spread().items()}
        return replace(self, **arrays, desired=desired, motors=motors, parameters=parameters)

    def _spread(self) -> dict[str, Array]:
        """Parameters of every sample."""
        return {name: np.broadcast_to(x, self.ends.shape) for name, x in self.parameters.items()}

    def __len__(self) -> int:
        return len(self.statuses)

    def _by_plant(self, function: str, *columns: Array) -> Array:
        if self.parameters:
            raise _one(function)
        with np.errstate(invalid="ignore"):
            return np.asarray(self.dynamics.program(function)(*columns))

    def columns(self) -> dict[str, Array]:
        raise _one("columns")

    def save(self, path: str | Path) -> Path:
        raise _one("save")

    def plot(self, path: str | Path | None = None, size: str | None = None) -> Any:
        raise _one("plot")

    def crossings(self, function: Any) -> Array:
        raise _one("crossings")

    def record(self) -> dict[str, Any]:
        return {
            "robot": self.dynamics.robot.name,
            "law": self.controller,
            "integrator": self.integrator,
            "dt": self.dt,
            "duration": self.duration,
            "samples": self.statuses.size,
            "status": self.status.name.lower(),
            "detail": self.detail,
        }

    def _view(self) -> View:
        facts = [
            ("control law", self.controller),
            ("simulated", f"{self.duration:.6g} s by {self.integrator}"),
            ("one of them", "runs[i]"),
        ]
        verdict = (f"{self.status.value} {self.detail}".strip(), self.ok)
        return View(f"{self.statuses.size} runs of {self.dynamics.robot.name}", verdict, facts)

    def __repr__(self) -> str:
        lost = int((self.statuses != Status.FINISHED).sum())
        return (
            f"<Runs of {self.dynamics.robot.name!r}: {self.statuses.size} of {self.duration:.6g} s by {self.integrator}"
            f"{f', {lost} unstable' if lost else ''}>"
        )


def _one(name: str) -> NotApplicable:
    return NotApplicable(f"{name} of a batch", where="Runs", expected="one run", advice=f"Use runs[i].{name}(...).")
