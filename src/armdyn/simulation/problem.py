"""A simulation whose arguments have been checked: what the loops take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from armdyn.control.base import Law
from armdyn.dynamics import Dynamics
from armdyn.dynamics.presliding import Presliding
from armdyn.errors import ShapeError
from armdyn.robot import compounds
from armdyn.simulation.course import Course
from armdyn.simulation.integrators import Along, Integrator, itself
from armdyn.simulation.plant_coordinates import Measure, PlantCoordinates, initial
from armdyn.simulation.saturation import Saturation
from armdyn.simulation.settings import Sensors, Solver, Stop, Wrench, numbers
from armdyn.simulation.stops import StopForces
from armdyn.typing import Array

HUGE = 1e8
"""Positions and velocities beyond this, rad or m and per s, end the run as unstable."""


@dataclass(frozen=True, eq=False)
class SimulationProblem:
    """A closed loop and its initial state.

    plants:        (index of the first sample, dynamics) of each interval of time.
    hold:          time steps per control period; 0: the law acts continuously.
    saturation:    limits of the actuators; None: unlimited.
    stops:         at the joint limits; None: the joints move on.
    measure:       side of elastic joints that the law sees.
    ranges:        (2, n) lower and upper joint limits at which the motion ends; None: it does not.
    presliding:    friction with a state; the plants are without it.
    """

    plants: tuple[tuple[int, Dynamics], ...]
    law: Law
    course: Course
    solver: Solver
    steps: int
    q0: Array
    qd0: Array
    hold: int
    sensors: Sensors | None
    saturation: Saturation | None
    wrench: Wrench | None
    stiction: bool
    stops: StopForces | None
    measure: Measure
    stop: Stop | None
    ranges: Array | None
    presliding: Presliding

    @property
    def method(self) -> Integrator:
        return self.solver.method

    @property
    def dt(self) -> float:
        return self.solver.dt

    @property
    def n(self) -> int:
        """Number of joints: what the control law sees."""
        return self.plants[0][1].robot.n

    @property
    def nq(self) -> int:
        """Number of entries of the joints' positions."""
        return self.plants[0][1].robot.nq

    @cached_property
    def along(self) -> Along:
        """The rate of positions at given velocities."""
        spans = self.plants[0][1].robot.compounds
        return (lambda q, v: compounds.rates(spans, q, v)) if spans else itself

    def limited(self, tau: Array, xd: Array) -> Array:
        """(n,) torques that the actuators give, of those demanded, at velocities xd of all coordinates."""
        return tau if self.saturation is None else self.saturation(tau, xd[self.coordinates.motors])

    def acting(self, tau: Array, x: Array, xd: Array) -> Array:
        """(size,) torques of actuators and stops on all coordinates."""
        driven = self.coordinates.driven(tau)
        return driven if self.stops is None else driven + self.stops(x, xd)

    def exerted(self, t: float, x: Array, xd: Array) -> Any:
        """The wrench that the robot exerts, at its tool or at frames by name; None if there is none."""
        if self.wrench is None:
            return None
        found = self.wrench(t, x[: self.nq], xd[: self.n])
        if isinstance(found, Mapping):
            return {frame: _wrench(part, t) for frame, part in found.items()}
        return _wrench(found, t)

    def kept(self, q: Array) -> Array:
        """The positions with quaternions of length one."""
        return compounds.kept(self.plants[0][1].robot.compounds, q)

    @cached_property
    def coordinates(self) -> PlantCoordinates:
        """Coordinates of the plant, which are more than the joints if some are elastic."""
        return PlantCoordinates.of(self.plants[0][1], self.measure)

    @property
    def start(self) -> tuple[Array, Array]:
        """Initial positions and velocities of all coordinates."""
        return initial(self.plants[0][1], self.q0, self.qd0)

    @property
    def times(self) -> Array:
        return self.dt * np.arange(self.steps + 1)

    def plant(self, k: int) -> Dynamics:
        """Dynamics from sample k on."""
        return next(dyn for start, dyn in reversed(self.plants) if start <= k)


def _wrench(value: Any, t: float) -> Array:
    array = numbers(f"the wrench at t = {t:.6g} s", value, "Plant, wrench")
    if array.shape != (6,):
        raise ShapeError(
            f"a wrench of shape {array.shape} at t = {t:.6g} s",
            where="Plant, wrench",
            expected="(6,): force, N, and moment, N m",
        )
    return array


def outside(q: Array, qd: Array) -> bool:
    """Whether a state is unbounded or not a number."""
    worst = float(abs(q).max()), float(abs(qd).max())  # NaN compares as false
    return not (worst[0] < HUGE and worst[1] < HUGE)
