"""Simulation in Python, step by step: supports every option; the compiled loop is tested against it.

Long runs whose step is too long to be compiled whole take its parts from machine code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from scipy.linalg.lapack import dgesv

from armdyn.control.base import Desired, SingularTask
from armdyn.dynamics import Dynamics
from armdyn.simulation.compiled_loop import Stages, loops, obstacle, rows_of, stages_of
from armdyn.simulation.integrators import Linear, Rates, plus
from armdyn.simulation.outcome import RunSamples, end_of_motion
from armdyn.simulation.problem import SimulationProblem, outside
from armdyn.simulation.run import Status
from armdyn.simulation.sensing import MeasuredState
from armdyn.simulation.stiction import Grip, Stiction
from armdyn.simulation.stiffness import law_slopes, linear_part
from armdyn.typing import Array

LONG = 20_000
"""Evaluations of the closed loop from which on its parts are compiled, if the whole step is too long for that."""


def fixed_steps(problem: SimulationProblem) -> RunSamples:
    """Simulate with fixed steps."""
    with np.errstate(over="ignore", invalid="ignore"):
        loop = _Loop(problem)
        on_grid = Desired(*(column[:: loop.stride] for column in loop.table))
        return loop.run()._replace(table=on_grid)


class _Loop:
    """State of a running simulation."""

    def __init__(self, problem: SimulationProblem) -> None:
        self.p = problem
        self.table = problem.course.table(_grid(problem))
        self.stride = problem.method.grid
        self.measure = MeasuredState(problem) if problem.sensors is not None else None
        self.coordinates = problem.coordinates
        self.stages = _stages(problem)
        self.dry = {start: Stiction.of(dyn) for start, dyn in problem.plants} if problem.stiction else {}

    def run(self) -> RunSamples:
        p = self.p
        (q, qd), z = p.start, p.law.start(p.q0, p.qd0)
        n, size, count = p.n, len(qd), p.steps + 1
        qs, qds, taus = np.empty((count, len(q))), np.empty((count, size)), np.empty((count, n))
        zs = np.empty((count, len(z)))
        held, lost_q, lost_qd = np.zeros(n), np.zeros(len(q)), np.zeros(size)
        last, slid = -1.0, np.zeros(len(p.presliding))
        for k in range(count):
            t = k * p.dt
            qs[k], qds[k], zs[k] = q, qd, z
            ended = end_of_motion(p, t, q[: p.nq], qd[:n], last if k else None)
            last = ended[2]
            dyn = p.plant(k) if len(p.plants) > 1 else p.plants[0][1]
            try:
                if p.hold and k % p.hold == 0:
                    held, z = self._tick(k, t, q, qd, z)
                rates, grip, dry = self._rates(k, t, q, qd, z, dyn, held, slid)
                if k == p.steps or ended[0] is not None:
                    taus[k] = rates(0, q, qd, z)[2]
                    return RunSamples(
                        qs[: k + 1], qds[: k + 1], taus[: k + 1], zs[: k + 1], ended[0] or Status.FINISHED, ended[1]
                    )
                extra: tuple[Any, ...] = (p.along,)
                if p.method.name == "variational":
                    extra = (dyn,)
                elif p.method.name == "implicit":
                    linear = (
                        self._linear(k, t, z, dyn, dry, grip)
                        if self.stages is None
                        else self._staged_linear(self.stages, k, z, grip)
                    )
                    extra = (linear, _solve, p.along)
                assert p.method.step is not None
                dq, dqd, dz, taus[k] = p.method.step(rates, p.dt, q, qd, z, *extra)
            except SingularTask as error:
                taus[k] = taus[k - 1] if k else 0.0
                return self._cut(k + 1, qs, qds, taus, zs, Status.SINGULAR, f"{error.what} at t = {t:.6g} s")
            if len(slid):
                slid = p.presliding.moved(slid, dq)
            q, lost_q = plus(q, dq, lost_q)
            q = p.kept(q)
            qd, lost_qd = plus(qd, dqd, lost_qd)
            z = z + dz if len(z) else z
            if dry is not None and grip is not None:
                qd, lost_qd = (dry.settled(x, qd, grip) for x in (qd, lost_qd))
            if outside(q, qd):
                return self._cut(k + 1, qs, qds, taus, zs, Status.UNSTABLE, f"at t = {t + p.dt:.6g} s")
        raise AssertionError("the loop ends by itself")

    def _cut(self, k: int, qs: Array, qds: Array, taus: Array, zs: Array, status: Status, detail: str) -> RunSamples:
        """The first k samples, without trailing ones that are not finite."""
        while k > 1 and not (np.isfinite(taus[k - 1]).all() and np.isfinite(zs[k - 1]).all()):
            k -= 1
        return RunSamples(qs[:k], qds[:k], np.nan_to_num(taus[:k]), zs[:k], status, detail)

    def _desired(self, k: int, c: float = 0) -> Desired:
        index = self.stride * k + round(self.stride * c)
        table = self.table
        return Desired(table.q[index], table.qd[index], table.qdd[index])

    def _tick(self, k: int, t: float, q: Array, qd: Array, z: Array) -> tuple[Array, Array]:
        """A control period begins: torques to hold, and the internal state of the law after the period."""
        p = self.p
        seen_q, seen_qd = self.coordinates.measured(q), self.coordinates.measured(qd)
        if self.measure is not None:
            seen_q, seen_qd = self.measure(k, seen_q, seen_qd)
        desired = self._desired(k)
        tau = p.law(t, seen_q, seen_qd, desired, z)
        if len(z):
            z = z + p.hold * p.dt * p.law.change(t, seen_q, seen_qd, desired, z)
        return p.limited(tau, qd), z

    def _rates(
        self, k: int, t: float, q: Array, qd: Array, z: Array, dyn: Dynamics, held: Array, slid: Array
    ) -> tuple[Rates, Grip | None, Stiction | None]:
        p = self.p
        if self.stages is not None:
            return self._staged(self.stages, k, q, qd, z)
        torque: Callable[[float, Array, Array, Array], tuple[Array, Array]]
        if p.hold:
            nothing = np.zeros(len(z))

            def torque(c: float, q: Array, qd: Array, z: Array) -> tuple[Array, Array]:
                return held, nothing
        else:

            def torque(c: float, q: Array, qd: Array, z: Array) -> tuple[Array, Array]:
                desired, time = self._desired(k, c), t + c * p.dt
                seen = self.coordinates.measured(q), self.coordinates.measured(qd)
                tau = p.limited(p.law(time, *seen, desired, z), qd)
                return tau, p.law.change(time, *seen, desired, z)

        began = q

        def acting(tau: Array, q: Array, qd: Array) -> Array:
            """Torques on the plant; presliding friction follows the position, from where the step began."""
            forces = p.acting(tau, q, qd)
            return forces - p.presliding.torques(p.presliding.moved(slid, q - began)) if len(slid) else forces

        dry, grip = None, None
        if self.dry:
            dry = self.dry[max(start for start in self.dry if start <= k)]
            grip = dry.grip(q, qd, acting(torque(0, q, qd, z)[0], q, qd), self._wrench(t, q, qd))
        forward: Callable[..., Array] = dyn.forward_dynamics

        def rates(c: float, q: Array, qd: Array, z: Array) -> tuple[Array, Array, Array]:
            seen = qd if dry is None or grip is None else dry.directed(qd, grip.way)
            tau, zd = torque(c, q, seen, z)
            forces = acting(tau, q, qd)
            if dry is not None and grip is not None:
                return dry.acceleration(q, qd, forces, self._wrench(t + c * p.dt, q, qd), grip), zd, tau
            if p.wrench is None:
                return forward(q, qd, forces), zd, tau
            return forward(q, qd, forces, self._wrench(t + c * p.dt, q, qd)), zd, tau

        return rates, grip, dry

    def _staged(
        self, stages: Stages, k: int, q: Array, qd: Array, z: Array
    ) -> tuple[Rates, Grip | None, Stiction | None]:
        """The same in machine code."""
        dry = self.dry[0] if self.dry else None
        hold = np.zeros(2 * len(qd)) if dry is None else stages.grip(self._row(k), np.concatenate([q, qd, z]))

        def rates(c: float, q: Array, qd: Array, z: Array) -> tuple[Array, Array, Array]:
            return stages.rates(self._row(k, c), np.concatenate([q, qd, z]), hold)

        return rates, Grip(*np.split(hold, 2)), dry

    def _staged_linear(self, stages: Stages, k: int, z: Array, grip: Grip | None) -> Linear:
        assert grip is not None
        hold = np.concatenate(grip)
        return lambda q, qd: stages.linear(self._row(k), np.concatenate([q, qd, z]), hold)

    @cached_property
    def _rows(self) -> Array:
        """(t, reference) at all stages of all steps."""
        return rows_of(_grid(self.p), self.table)

    def _row(self, k: int, c: float = 0) -> Array:
        return np.asarray(self._rows[self.stride * k + round(self.stride * c)])

    def _linear(self, k: int, t: float, z: Array, dyn: Dynamics, dry: Stiction | None, grip: Grip | None) -> Linear:
        """M, D, K of the plant with its stops, and of the law where it acts continuously; stuck joints do not move."""
        p, plant, desired = self.p, linear_part(dyn, self.p.stops, self.p.presliding), self._desired(k)

        def driving(q: Array, qd: Array) -> Array:
            tau = p.law(t, self.coordinates.measured(q), self.coordinates.measured(qd), desired, z)
            return self.coordinates.driven(p.limited(tau, qd))

        def linear(q: Array, qd: Array) -> tuple[Array, Array, Array]:
            M, D, K = plant(q, qd)
            damping, stiffness = law_slopes(driving, q, qd, dyn.robot)
            return M, D + damping, K + stiffness

        whole = plant if p.hold else linear
        return whole if dry is None or grip is None else dry.linear(whole, grip)

    def _wrench(self, t: float, q: Array, qd: Array) -> Any:
        return self.p.exerted(t, q, qd)


def _solve(A: Array, b: Array) -> Array:
    """x of A x = b by LAPACK, without the checks of NumPy that take longer than the solution."""
    return cast(Array, dgesv(A, b)[2])


def _stages(p: SimulationProblem) -> Stages | None:
    """The parts of the closed loop as machine code; None where they do not pay or cannot be compiled."""
    if p.solver.compiled is False or p.hold or len(p.plants) > 1 or p.steps * p.method.stages < LONG:
        return None
    return stages_of(loops(p)[0]) if obstacle(replace(p, stop=None)) is None else None


def _grid(problem: SimulationProblem) -> Array:
    stride = problem.method.grid
    return problem.dt / stride * np.arange(stride * problem.steps + 1)
