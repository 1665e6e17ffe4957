"""Simulation with error control and events, by SciPy: DOP853 for smooth motion, Radau for stiff arms."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.integrate import solve_ivp

from armdyn.control.base import NOTHING, Desired, SingularTask
from armdyn.dynamics import Dynamics
from armdyn.simulation.outcome import RunSamples, range_detail
from armdyn.simulation.problem import HUGE, SimulationProblem
from armdyn.simulation.run import Status
from armdyn.simulation.stiffness import law_slopes
from armdyn.typing import Array

SCIPY = {"dop853": "DOP853", "radau": "Radau"}
"""Our names of SciPy's methods."""
MOST, EACH = 100_000, 50
"""Evaluations of the closed loop after which a run counts as crawling: this many, and more for every time step dt."""


RUNAWAY = 1e5
"""Velocities beyond this, rad/s or m/s, end the run as unstable: steps that follow them would not end."""
BEYOND = 1e150
"""In place of rates that are not numbers: no step with them meets a tolerance."""


class _Crawling(Exception):
    """The steps have become so short that the run would not end."""


class _Event:
    """A function of (t, state) whose zero ends the integration, as SciPy wants it."""

    terminal = True

    def __init__(self, function: Callable[[float, Array], float], status: Status, direction: int = 0) -> None:
        self.function, self.status, self.direction = function, status, direction

    def __call__(self, t: float, x: Array) -> float:
        return float(self.function(t, x))


def adaptive_steps(problem: SimulationProblem) -> RunSamples:
    """Simulate with steps as long as the tolerance allows, sampled every dt."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _Adaptive(problem).run()


class _Adaptive:
    def __init__(self, problem: SimulationProblem) -> None:
        self.p = problem
        z = problem.law.start(problem.q0, problem.qd0)
        self.state = np.concatenate([*problem.start, z])
        self.coordinates, self.size = problem.coordinates, problem.coordinates.size
        self.split = self.size + problem.nq - problem.n
        """Where positions end and velocities begin."""
        self.end = self.split + self.size
        self.held: Array | None = None
        self.left = MOST + EACH * problem.steps

    def run(self) -> RunSamples:
        """Interval by interval: between changes of the plant, or control periods."""
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
                found = self.interval(grid, first)
            except SingularTask as error:
                status, detail = Status.SINGULAR, f"{error.what} after t = {times[-1]:.6g} s"
                break
            except _Crawling as crawl:
                status = Status.CRAWLING
                detail = (
                    f"at t = {crawl.args[0]:.6g} s of {p.dt * p.steps:g} s after {MOST + EACH * p.steps} evaluations"
                )
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
        n, end = self.split, self.end
        return RunSamples(
            p.kept(table[:, :n]), table[:, n:end], np.array(torques), table[:, end:], status, detail, np.array(times)
        )

    def interval(self, grid: Array, first: int) -> tuple[Status, str, Array, Array]:
        """The samples after the first, up to the end of the interval or to an event."""
        p, n, end = self.p, self.split, self.end
        dyn = p.plant(first)
        events = self.events()

        def rates(t: float, x: Array) -> Array:
            self.left -= 1
            if self.left < 0:
                raise _Crawling(t)
            x = np.clip(x, -HUGE, HUGE)  # of a step that will be refused; accepted states end as an event
            q, qd, z = x[:n].copy(), x[n:end].copy(), x[end:].copy()
            tau, wrench = p.acting(self.torque(t, x), q, qd), p.exerted(t, q, qd)
            qdd = dyn.forward_dynamics(q, qd, tau) if wrench is None else dyn.forward_dynamics(q, qd, tau, wrench)
            zd = np.zeros(len(z)) if p.hold else p.law.change(t, *self.measured(x), p.course.at(t), z)
            rate: Array = np.concatenate([p.along(q, qd), qdd, zd])
            return np.nan_to_num(rate, copy=False, nan=BEYOND, posinf=BEYOND, neginf=-BEYOND)

        span = float(grid[0]), float(grid[-1])
        rtol = max(p.solver.rtol, 100 * np.finfo(float).eps)
        more = {"jac": self.slopes(dyn)} if p.method.name == "radau" else {}
        found = solve_ivp(
            rates,
            span,
            self.state,
            method=SCIPY[p.method.name],
            t_eval=grid[1:],
            rtol=rtol,
            atol=p.solver.atol,
            max_step=p.solver.max_step,
            events=events,
            **more,
        )
        t, states = found.t, np.reshape(np.transpose(found.y), (-1, len(self.state)))  # no sample: an empty list
        if found.status == 1:
            which = next(i for i, hits in enumerate(found.t_events) if len(hits))
            at, state = float(found.t_events[which][0]), found.y_events[which][0]
            if not (len(t) and t[-1] == at):
                t, states = np.append(t, at), np.vstack([states.reshape(-1, len(state)), state])
            if events[which].status is Status.LIMIT:
                margin = self.margin(state)
                return Status.LIMIT, range_detail(p, at, margin == margin.min()), t, states
            return events[which].status, f"at t = {at:.6g} s", t, states
        if found.status < 0:
            return Status.STALLED, f"after t = {float(t[-1]) if len(t) else span[0]:.6g} s", t, states
        return Status.FINISHED, "", t, states

    def slopes(self, dyn: Dynamics) -> Callable[[float, Array], Array] | None:
        """d rates / d x of plant, stops and law; None (differences by SciPy) where a part of it is not known."""
        p, n = self.p, self.size
        if p.wrench is not None or dyn.robot.compounds or len(self.state) > self.end:
            return None

        def driving(q: Array, qd: Array, t: float) -> Array:
            tau = p.law(t, self.coordinates.measured(q), self.coordinates.measured(qd), p.course.at(t), NOTHING)
            return self.coordinates.driven(p.limited(tau, qd))

        def jacobian(t: float, x: Array) -> Array:
            q, qd = x[:n].copy(), x[n:].copy()
            by_q, by_qd, by_tau = dyn.forward_dynamics_derivatives(q, qd, p.acting(self.torque(t, x), q, qd))
            damping, stiffness = np.zeros((n, n)), np.zeros((n, n))
            if self.held is None:
                damping, stiffness = law_slopes(lambda q, qd: driving(q, qd, t), q, qd, dyn.robot)
            if p.stops is not None:
                pushing = p.stops.slopes(q, qd)
                damping, stiffness = damping + np.diag(pushing[0]), stiffness + np.diag(pushing[1])
            rows = [by_q - by_tau @ stiffness, by_qd - by_tau @ damping]
            return np.block([[np.zeros((n, n)), np.eye(n)], rows])

        return jacobian

    def margin(self, x: Array) -> Array:
        """(n,) distance from the nearer joint limit, rad or m; negative outside."""
        assert self.p.ranges is not None
        low, high = self.p.ranges
        q = x[: self.p.n]
        return np.asarray(np.minimum(q - low, high - q))

    def events(self) -> list[_Event]:
        p, n, nq, first = self.p, self.p.n, self.p.nq, self.split
        split, end = self.split, self.end
        found = [_Event(lambda t, x: RUNAWAY - np.abs(x[split:end]).max(), Status.UNSTABLE, -1)]
        if p.ranges is not None:
            found.append(_Event(lambda t, x: self.margin(x).min(), Status.LIMIT, -1))
        if (stop := p.stop) is not None:
            found.append(_Event(lambda t, x: stop(t, x[:nq], x[first : first + n]), Status.STOPPED))
        return found

    def tick(self, k: int) -> None:
        """A control period begins: evaluate the law, hold its torques, advance its internal state."""
        p, end = self.p, self.end
        t, x = k * p.dt, self.state
        z, seen = x[end:].copy(), self.measured(x)
        desired = p.course.at(t)
        self.held = p.limited(p.law(t, *seen, desired, z), x[self.split : end])
        if len(z):
            z = z + p.hold * p.dt * p.law.change(t, *seen, desired, z)
            self.state = np.concatenate([x[:end], z])

    def torque(self, t: float, x: Array) -> Array:
        """The actuators' torques: held, or those of the law at this state."""
        if self.held is not None:
            return self.held
        desired: Desired = self.p.course.at(t)
        tau = self.p.law(t, *self.measured(x), desired, x[self.end :].copy())
        return self.p.limited(tau, x[self.split : self.end])

    def measured(self, x: Array) -> tuple[Array, Array]:
        """Positions and velocities that the law gets."""
        n = self.split
        return self.coordinates.measured(x[:n].copy()), self.coordinates.measured(x[n : self.end].copy())
