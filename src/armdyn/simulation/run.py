"""The result of a simulation: read-only arrays, how it ended, and advice if it failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn.control.base import Desired, Law
from armdyn.control.computed_torque import ComputedTorque
from armdyn.control.gains import GainAnalysis, analyse_gains
from armdyn.control.pid import PID, PDGravity
from armdyn.control.resonance import Motors, ResonanceRange, resonance_range
from armdyn.dynamics import Dynamics, compile
from armdyn.errors import ArmdynError, NotApplicable
from armdyn.files import writing
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.simulation import run_view
from armdyn.typing import Array

if TYPE_CHECKING:
    from armdyn.simulation.studies import MonteCarlo


class Status(Enum):
    """How a simulation ended, in a sentence, with advice where something can be done."""

    FINISHED = "Simulation completed."
    STOPPED = "The stop condition was met before the end; the last sample is the state at that time."
    LIMIT = (
        "A joint reached its position limit: choose another reference or initial state, reduce the overshoot (more "
        "damping, lower gains), or simulate without stop_at_limits."
    )
    UNSTABLE = (
        "The motion grew without bound and was cut off: lower the gains (analyse_gains shows the poles), shorten dt or "
        "the control period, or use integrator='rk4'; if the gains are modest, check the signs of the model."
    )
    STIFF = (
        "Damping or springs act faster than the time step resolves: the integration is unstable, not the arm. Use "
        "integrator='implicit' (or 'auto', which chooses it), or a shorter dt."
    )
    SINGULAR = (
        "The arm reached a singular configuration, where the task asks for an infinite joint velocity: keep the "
        "reference away from it, control fewer rows of the task, or give the law damping (damping=0.05)."
    )
    STALLED = (
        "The integrator could not meet its tolerance with any step: loosen rtol and atol, or use fixed steps; jumps in "
        "the law or in friction (sign functions) are the usual cause."
    )
    CRAWLING = (
        "The steps that the tolerance asks for are so short that the run was given up: stiff damping, springs, gains, "
        "or dry friction at rest. Use integrator='radau' or 'implicit', which take them in long steps; 'auto' (with "
        "stiction) for dry friction; or looser tolerances."
    )


class SimulationError(ArmdynError):
    """A simulation that did not reach its end, under throw=True."""


@dataclass(frozen=True, eq=False, repr=False)
class Run(Result):
    """A simulated motion of k samples.

    Every array is finite and read-only: a motion that grows without bound is cut off before, and `status` reports it.

    t:          (k,) times, s.
    q:          (k, nq) positions, rad or m; quaternions of free and ball joints have length one.
    qd:         (k, n) velocities, rad/s or m/s.
    tau:        (k, n) torques of the actuators, N m or N, after saturation and holding.
    desired:    the reference: .q, .qd, .qdd, (k, n) each (poses and twists for laws in the task space).
    error:      (k, n) desired minus actual position (for laws in the task space, the error of the task).
    memory:     (k, m) internal state of the law.
    status:     how the run ended, with advice.
    detail:     where and when it ended, if before its end; else empty.
    plants:     (index of the first sample, Dynamics) of each interval of the motion.
    integrator: name of the integrator.
    dt:         time step, s.
    law:        the control law.
    compiled:   whether machine code ran the loop.
    seconds:    computing time, preparation included.
    motors:     positions and velocities of the motors of an elastic arm, (k, n) each, seen at their joints; None for
                rigid joints.
    notes:      what a reader of the figures should know, such as effects that the law's model leaves out.
    comparisons: runs under laws with imperfect models, by name, if the experiment asks for them.
    monte_carlo: statistics of arms with random errors, if the experiment asks for them; else None.
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
    law: Law
    compiled: bool
    seconds: float
    motors: tuple[Array, Array] | None = None
    notes: tuple[str, ...] = ()
    comparisons: Mapping[str, Run] = field(default_factory=dict)
    monte_carlo: MonteCarlo | None = None

    @property
    def controller(self) -> str:
        """The control law in one line."""
        return self.law.summary

    @property
    def ok(self) -> bool:
        """Whether the motion ran to its end or to the stop condition."""
        return self.status in (Status.FINISHED, Status.STOPPED)

    @property
    def dynamics(self) -> Dynamics:
        """Dynamics of the plant at the start."""
        return self.plants[0][1]

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return tuple(joint.name for joint in self.dynamics.robot.joints)

    @property
    def duration(self) -> float:
        """Time of the last sample, s."""
        return float(self.t[-1])

    # Energies -------------------------------------------------------------------------------------------------------

    def _by_plant(self, function: str, *columns: Array) -> Array:
        ends = [*(start for start, _ in self.plants[1:]), len(self.t)]
        parts = []
        for (start, dyn), end in zip(self.plants, ends, strict=True):
            parts.append(getattr(dyn, function)(*(column[start:end] for column in columns)))
        return np.concatenate(parts)

    @cached_property
    def coordinates(self) -> tuple[Array, Array]:
        """Positions and velocities of all coordinates of the plant: q, and the motors of elastic joints."""
        if self.motors is None:
            return self.q, self.qd
        where = self.dynamics.coordinates
        pairs = zip((self.q, self.qd), self.motors, strict=True)
        x, xd = (
            np.moveaxis(np.array(where.joined(np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0))), 0, -1) for a, b in pairs
        )
        return x, xd

    @cached_property
    def kinetic_energy(self) -> Array:
        """(k,) J, rotors included."""
        return self._by_plant("kinetic_energy", *self.coordinates)

    @cached_property
    def potential_energy(self) -> Array:
        """(k,) J, of weights (zero at the world's origin) and springs."""
        return self._by_plant("potential_energy", self.coordinates[0])

    @property
    def energy(self) -> Array:
        """(k,) J, kinetic plus potential."""
        return np.asarray(self.kinetic_energy + self.potential_energy)

    @cached_property
    def power(self) -> Array:
        """(k,) W, mechanical power of the actuators."""
        rates = self.qd if self.motors is None else self.motors[1]
        return np.asarray(np.sum(self.tau * rates, axis=-1))

    # Numbers --------------------------------------------------------------------------------------------------------

    @cached_property
    def tool(self) -> Array:
        """(k, 3) positions of the tool, m, world axes."""
        return self._by_plant("pose", self.coordinates[0])[..., :3, 3]

    def largest_error(self, after: float = 0.0) -> Array:
        """(n,) largest magnitude of the error from a time on."""
        return np.asarray(np.abs(self.error[..., self.t >= after - 1e-12, :]).max(axis=-2))

    def rms_error(self, after: float = 0.0) -> Array:
        """(n,) root mean square of the error from a time on."""
        return np.asarray(np.sqrt(np.mean(self.error[..., self.t >= after - 1e-12, :] ** 2, axis=-2)))

    def crossings(self, function: Callable[[float, Array, Array], float]) -> Array:
        """(m,) times at which a function of (t, q, qd) changes its sign, s.

        Between samples q is the cubic with the velocities at both ends, so that the times are accurate to the fourth
        order of dt for a smooth motion.
        """
        values = np.array([float(function(t, q, qd)) for t, q, qd in zip(self.t, self.q, self.qd, strict=True)])
        before, after = values[:-1], values[1:]
        exact = self.t[values == 0.0]
        found = [self._crossing(function, int(k)) for k in np.flatnonzero(before * after < 0)]
        return np.sort(np.concatenate([exact, found]))

    def _crossing(self, function: Callable[[float, Array, Array], float], k: int) -> float:
        if self.dynamics.robot.compounds:
            raise NotApplicable(
                "free and ball joints", where="Run.crossings", expected="positions that are coordinates"
            )
        from scipy.interpolate import CubicHermiteSpline
        from scipy.optimize import brentq

        between = CubicHermiteSpline(self.t[k : k + 2], self.q[k : k + 2], self.qd[k : k + 2])
        return float(brentq(lambda t: float(function(t, between(t), between(t, 1))), *self.t[k : k + 2], xtol=1e-14))

    def required(self) -> Run:
        """This run; raises SimulationError if it did not reach its end."""
        if self.ok:
            return self
        what, _, advice = self.status.value.partition(": ")
        raise SimulationError(what, where=self.detail or None, advice=advice[:1].upper() + advice[1:])

    # Control ---------------------------------------------------------------------------------------------------------

    @cached_property
    def _rigid(self) -> Dynamics:
        """The plant with rigid joints, as gains are designed."""
        dyn = self.dynamics
        return compile(dyn.robot.without("elastic"), cache=dyn.cache) if dyn.coordinates.doubled else dyn

    @cached_property
    def resonances(self) -> tuple[ResonanceRange, ...]:
        """Resonances of elastic joints over the workspace, with locked and with free motors; empty for rigid arms."""
        motors: tuple[Motors, ...] = ("locked", "free") if self.dynamics.coordinates.doubled else ()
        return tuple(resonance_range(self.dynamics, motors=each) for each in motors)

    @cached_property
    def gain_analysis(self) -> GainAnalysis | None:
        """Poles, damping and bandwidth of a law whose loops are linear, with advice; None for others.

        Loops around elastic joints are held against Khalil's rule: poles at most at half the lowest resonance.
        """
        law = self.law.innermost
        if not isinstance(law, PID | PDGravity | ComputedTorque) or not (law.kp > 0).any():
            return None
        resonance = self.resonances[0].first if self.resonances else None
        return analyse_gains(law, dyn=self._rigid, resonance=resonance)

    # Out ------------------------------------------------------------------------------------------------------------

    def columns(self) -> dict[str, Array]:
        """All samples by column: t, q1.., qd1.., tau1.., e1.., ref1.., refd1.., refdd1.. (joint space),
        theta1.., thetad1.. (motors of elastic arms), z1.. memory.
        """
        found = {"t": self.t}
        groups = {"q": self.q, "qd": self.qd, "tau": self.tau, "e": self.error}
        if self.desired.q.shape == self.q.shape:
            groups |= {"ref": self.desired.q, "refd": self.desired.qd, "refdd": self.desired.qdd}
        if self.motors is not None:
            groups |= {"theta": self.motors[0], "thetad": self.motors[1]}
        groups["z"] = self.memory
        for name, group in groups.items():
            found |= {f"{name}{j + 1}": group[:, j] for j in range(group.shape[1])}
        return found

    def save(self, path: str | Path) -> Path:
        """Write all samples to a .csv, .npz or .parquet file (the last needs pyarrow)."""
        from armdyn.simulation.run_files import write

        return write(self, path)

    def plot(self, path: str | Path | None = None, size: str | None = None) -> Any:
        """Matplotlib figure of the tool's path, torques, errors (of imperfect models too), joints and energy.

        path: .png, .svg or .pdf file to write (default: none).
        size: "column" or "page" of a journal (default: for a screen).
        """
        from armdyn.report.figures.run_figures import run_figure
        from armdyn.report.figures.style import write

        figure = run_figure(self, self.comparisons)
        if path is not None:
            with writing(path) as part:
                write(figure, part, size)
        return figure

    def animate(self, path: str | Path) -> Path:
        """Write a film of the arm: .gif, .html (a page with a player), or .mp4 where ffmpeg is installed."""
        from armdyn.report.figures.animation import write_film

        return write_film(self.plants[0][1].robot, self.t, self.q, path)

    def record(self) -> dict[str, Any]:
        return run_view.record(self)

    def _view(self) -> View:
        how = "machine code" if self.compiled else "Python"
        steps = f"{len(self.t) - 1} steps of {self.integrator} in {self.seconds:.3f} s ({how}, with preparation)"
        facts = [("control law", self.controller), ("simulated", f"{self.duration:.6g} s, {steps}")]
        verdict = (f"{self.status.value} {self.detail}".strip(), self.ok)
        return View(f"Run of {self.dynamics.robot.name}", verdict, facts, (), run_view.sections(self), notes=self.notes)

    def __repr__(self) -> str:
        end = self.status.name.lower() + (f" ({self.detail})" if self.detail else "")
        worst = self.largest_error().max() if self.error.size else 0.0
        return (
            f"<Run of {self.dynamics.robot.name!r}: {self.duration:.6g} s in {len(self.t) - 1} steps by "
            f"{self.integrator}, {end}; largest error {worst:.3g}>"
        )
