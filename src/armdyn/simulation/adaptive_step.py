"""Simulation by Dormand and Prince's method of order 8 with error control, through SciPy, with events."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from armdyn.control.law import Desired, SingularTask
from armdyn.control.pointwise import clipped
from armdyn.simulation.outcome import Outcome, range_detail
from armdyn.simulation.problem import HUGE, Problem, outside
from armdyn.simulation.run import Status
from armdyn.typing import Array


class _Blown(Exception):
    """The state left all bounds between two samples."""


def adaptive_steps(problem: Problem) -> Outcome:
    """Simulate with steps as long as the tolerance allows; samples on the grid are steps or lie between two."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _Adaptive(problem).run()


class _Adaptive:
    def __init__(self, problem: Problem) -> None:
        self.p = problem
        z = problem.law.start(problem.q0, problem.qd0)
        self.state = np.concatenate([problem.q0, problem.qd0, z])
        self.held: Array | None = None

    def run(self) -> Outcome:
        """Stretch by stretch: from change of plant to change of plant, or from control period to control period."""
        p = self.p
        bounds = sorted({0, p.steps, *(start for start, _ in p.plants)})
        if p.hold:
            bounds = sorted({*bounds, *range(0, p.steps, p.hold)})
        samples, torques, times = [self.state], [np.zeros(p.n)], [0.0]
        status, detail = Status.FINISHED, ""
        for first, last in pairwise(bounds):
            if p.hold and first % p.hold == 0:
                self.tick(first)
                torques[-1] = self.torque(times[-1], self.state)
            grid = p.dt * np.arange(first, last + 1)
            try:
                if first == 0 and not p.hold:
                    torques[0] = self.torque(0.0, self.state)
                found = self.stretch(grid, first)
            except SingularTask as error:
                status, detail = Status.SINGULAR, f"{error.what} after t = {times[-1]:.6g} s"
                break
            except _Blown:
                status, detail = Status.UNSTABLE, f"after t = {times[-1]:.6g} s"
                break
            status, detail, t, states = found
            for time, state in zip(t, states, strict=True):
                samples.append(state)
                times.append(time)
                torques.append(self.torque(time, state))
            self.state = samples[-1]
            if status is not Status.FINISHED:
                break
        if p.hold and p.steps % p.hold == 0 and status is Status.FINISHED:
            self.tick(p.steps)
            torques[-1] = self.torque(times[-1], self.state)
        table = np.array(samples)
        n = p.n
        return Outcome(table[:, :n], table[:, n : 2 * n], np.array(torques), table[:, 2 * n :], status, detail,
                       np.array(times))  # fmt: skip

    def stretch(self, grid: Array, first: int) -> tuple[Status, str, Array, Array]:
        """The samples behind the first, up to the end of the stretch or to an event."""
        p, n = self.p, self.p.n
        dyn = p.plant(first)
        watch, labels = self.events()

        def rates(t: float, x: Array) -> Array:
            if outside(x[:n], x[n : 2 * n]):
                raise _Blown
            q, qd, z = x[:n].copy(), x[n : 2 * n].copy(), x[2 * n :].copy()
            tau = self.torque(t, x)
            wrench = None if p.wrench is None else np.asarray(p.wrench(t, q, qd), dtype=float)
            qdd = dyn.forward_dynamics(q, qd, tau) if wrench is None else dyn.forward_dynamics(q, qd, tau, wrench)
            zd = np.zeros(len(z)) if p.hold else p.law.change(t, q, qd, p.course.at(t), z)
            return np.concatenate([qd, qdd, zd])

        span = float(grid[0]), float(grid[-1])
        rtol = max(p.solver.rtol, 100 * np.finfo(float).eps)
        found = solve_ivp(rates, span, self.state, method="DOP853", t_eval=grid[1:], rtol=rtol, atol=p.solver.atol,
                          max_step=p.solver.max_step, events=watch or None)  # fmt: skip
        t, states = found.t, found.y.T
        if found.status == 1:
            which = next(i for i, hits in enumerate(found.t_events) if len(hits))
            at, state = float(found.t_events[which][0]), found.y_events[which][0]
            if not (len(t) and t[-1] == at):
                t, states = np.append(t, at), np.vstack([states.reshape(-1, len(state)), state])
            status, text = labels[which]
            if status is Status.LIMIT:
                low, high = p.ranges if p.ranges is not None else (-HUGE, HUGE)
                hit = np.minimum(state[:n] - low, high - state[:n])
                return status, range_detail(p, at, hit == hit.min()), t, states
            return status, text.format(at), t, states
        if found.status < 0:
            return Status.STALLED, f"after t = {float(t[-1]) if len(t) else span[0]:.6g} s", t, states
        return Status.FINISHED, "", t, states

    def events(self) -> tuple[list[Any], list[tuple[Status, str]]]:
        p, n = self.p, self.p.n
        watch: list[Any] = []
        labels: list[tuple[Status, str]] = []
        if p.ranges is not None:
            low, high = p.ranges

            def room(t: float, x: Array) -> float:
                return float(np.minimum(x[:n] - low, high - x[:n]).min())

            room.terminal = True  # type: ignore[attr-defined]
            room.direction = -1  # type: ignore[attr-defined]
            watch.append(room)
            labels.append((Status.LIMIT, ""))
        if p.stop is not None:
            stop = p.stop

            def condition(t: float, x: Array) -> float:
                return float(stop(t, x[:n], x[n : 2 * n]))

            condition.terminal = True  # type: ignore[attr-defined]
            watch.append(condition)
            labels.append((Status.STOPPED, "at t = {:.6g} s"))
        return watch, labels

    def tick(self, k: int) -> None:
        p, n = self.p, self.p.n
        t, x = k * p.dt, self.state
        q, qd, z = x[:n].copy(), x[n : 2 * n].copy(), x[2 * n :].copy()
        desired = p.course.at(t)
        self.held = self.cut(p.law(t, q, qd, desired, z))
        if len(z):
            z = z + p.hold * p.dt * p.law.change(t, q, qd, desired, z)
            self.state = np.concatenate([q, qd, z])

    def torque(self, t: float, x: Array) -> Array:
        if self.held is not None:
            return self.held
        p, n = self.p, self.p.n
        desired: Desired = p.course.at(t)
        return self.cut(p.law(t, x[:n].copy(), x[n : 2 * n].copy(), desired, x[2 * n :].copy()))

    def cut(self, tau: Array) -> Array:
        return tau if self.p.torque_limits is None else clipped(tau, self.p.torque_limits)
