"""Many runs: controllers with imperfect models, and arms with uncertain parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.algebra import CentralInertia, Inertia, ops
from armdyn.control.computed_torque import PARTS, ComputedTorque
from armdyn.control.law import Desired, Law
from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled_dynamics
from armdyn.errors import ArmdynError, NotApplicable
from armdyn.graph import Graph, trace
from armdyn.kernels import build
from armdyn.mechanics import composite_body
from armdyn.parameters.standard import with_exact_links
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.simulation.compiled_loop import TracedDynamics, stage_rows, traced_law
from armdyn.simulation.course import Course
from armdyn.simulation.integrators import METHODS, Method, method
from armdyn.simulation.problem import HUGE
from armdyn.simulation.run import Run
from armdyn.simulation.settings import Actuation, Plant, Solver
from armdyn.simulation.simulator import simulate, step_count
from armdyn.typing import Array, Progress


def scaled_masses(robot: Robot, factor: float) -> Robot:
    """The robot with the masses and inertias of all bodies multiplied by a factor; centres of mass stay."""
    if not factor > 0:
        raise ArmdynError(f"masses times {factor}", where="scaled_masses", expected="a positive factor")

    def heavier(inertia: CentralInertia | Inertia) -> CentralInertia | Inertia:
        if isinstance(inertia, Inertia):
            return Inertia.from_parameters(*(ops.mul(x, factor) for x in inertia.parameters()))
        return CentralInertia(ops.mul(inertia.mass, factor), inertia.com, inertia.tensor * factor)

    numeric = robot.bound()
    tree = tuple(replace(j, body=replace(j.body, inertia=heavier(j.body.inertia))) for j in numeric.tree)
    return replace(numeric, tree=tree, expressions=None, parameters={})


@takes(*CLOSED, *TREE)
def imperfect_models(
    plant: Dynamics | Robot | Plant,
    law: ComputedTorque,
    reference: Any,
    duration: float | None = None,
    dt: float | None = None,
    *,
    leave_out: Iterable[str] = PARTS,
    masses: float | None = 1.2,
    q0: Any = None,
    qd0: Any = None,
    integrator: str | None = None,
    solver: Solver = Solver(),  # noqa: B008 (frozen)
    actuation: Actuation = Actuation(),  # noqa: B008
) -> dict[str, Run]:
    """Computed torque with the full model, without each of its terms, and with wrong masses. El Baji fig. 10

    Args:
        plant:     the true arm, as in `simulate`; joints at rest do not stick by default: the full model is exact.
        law:       computed torque with the full model.
        reference: the desired motion, as in `simulate`.
        duration:  s (default: that of the reference).
        dt:        time step, s (default: 1e-3).
        leave_out: terms left out of the controller's model, one at a time: coriolis, gravity, friction (default: all
                   that the arm has).
        masses:    factor on the masses of the controller's model (default: 1.2; None: not tried).
        q0:        (n,) initial configuration, rad or m (default: on the reference).
        qd0:       (n,) initial velocity, rad/s or m/s (default: on the reference).
        integrator: name of the integrator (default: that of the solver).
        solver:    as in `simulate`.
        actuation: as in `simulate`.

    Returns: runs by name, "full model" first.
    """
    body = plant if isinstance(plant, Plant) else Plant(plant)
    if body.stiction is None:  # the full model shall cancel friction
        body = replace(body, stiction=False)
    if isinstance(body.model, Robot):
        body = replace(body, model=compiled_dynamics(body.model))
    laws: dict[str, ComputedTorque] = {"full model": law}
    for part in leave_out:
        if part != "friction" or any(joint.friction is not None for joint in law.dyn.robot.joints):
            name = {"coriolis": "Coriolis"}.get(part, part)
            laws[f"without {name}"] = replace(law, leave_out=(*law.leave_out, part))
    if masses is not None:
        wrong = compiled_dynamics(scaled_masses(law.dyn.robot, masses))
        laws[f"masses times {masses:g}"] = replace(law, dyn=wrong)
    return {
        name: simulate(
            body, each, reference, duration, dt, q0=q0, qd0=qd0, integrator=integrator, solver=solver,
            actuation=actuation,
        )
        for name, each in laws.items()
    }  # fmt: skip


# Monte Carlo --------------------------------------------------------------------------------------------------------

QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True, eq=False)
class MonteCarlo:
    """Statistics of many simulated arms whose parameters were drawn around the model's.

    joints:         names.
    controller:     the law in one line.
    after:          time from which on errors count, s.
    largest_error:  (samples, n) largest magnitude of the error, rad or m.
    rms_error:      (samples, n) root mean square of the error, rad or m.
    largest_torque: (samples, n) N m or N.
    lost:           (samples,) whether the motion became unstable; its numbers are then infinite.
    masses:         (samples, n) factors on the masses that were drawn.
    """

    joints: tuple[str, ...]
    controller: str
    after: float
    largest_error: Array
    rms_error: Array
    largest_torque: Array
    lost: Array
    masses: Array

    @property
    def samples(self) -> int:
        return len(self.lost)

    def quantiles(self, of: str = "largest_error", at: Iterable[float] = QUANTILES) -> Array:
        """(len(at), n) quantiles of one of the statistics over the stable samples."""
        return np.asarray(np.quantile(getattr(self, of)[~self.lost], list(at), axis=0))

    def __str__(self) -> str:
        heads = "".join(f"{f'{100 * q:g} %':>11}" for q in QUANTILES)
        lines = [f"{self.samples} arms under {self.controller}; {int(self.lost.sum())} unstable"]
        kept = int((~self.lost).sum())
        if kept:
            for title, name in (("largest error", "largest_error"), ("rms error", "rms_error"),
                                ("largest torque", "largest_torque")):  # fmt: skip
                when = f" after {self.after:g} s" if "error" in name and self.after else ""
                lines.append(f"{title + when:<28}{heads}")
                table = self.quantiles(name)
                for joint, column in zip(self.joints, table.T, strict=True):
                    lines.append(f"  {joint:<26}" + "".join(f"{x:>11.3g}" for x in column))
        return "\n".join(lines)


@takes(*TREE)
def monte_carlo(
    robot: Robot,
    law: Law,
    reference: Any,
    duration: float | None = None,
    dt: float = 1e-3,
    *,
    samples: int = 200,
    mass: float = 0.1,
    com: float = 0.02,
    friction: float = 0.3,
    after: float = 0.0,
    q0: Any = None,
    qd0: Any = None,
    integrator: str = "rk4",
    seed: int = 0,
    progress: Progress | None = None,
) -> MonteCarlo:
    """Simulate arms whose links differ from the model's, all side by side in one kernel.

    Each sample draws, link by link, a factor on mass and inertia (log-normal), a shift of the centre of mass (normal)
    and a factor on friction (log-normal); the law keeps its model.

    Args:
        robot:      nominal robot.
        law:        control law in the joint space that can be compiled.
        reference:  the desired motion, as in `simulate`.
        duration:   s (default: that of the reference).
        dt:         time step, s (default: 1e-3).
        samples:    number of arms (default: 200).
        mass:       standard deviation of the logarithm of the mass factor (default: 0.1).
        com:        standard deviation of the shift of the centre of mass, m (default: 0.02).
        friction:   standard deviation of the logarithm of the friction factor (default: 0.3).
        after:      time from which on errors count, s (default: 0).
        q0:         (n,) initial configuration, rad or m (default: on the reference).
        qd0:        (n,) initial velocity, rad/s or m/s (default: on the reference).
        integrator: rk4 (default), semi_implicit or euler_taylor.
        seed:       of the random numbers (default: 0).
        progress:   called with the step and the fraction done.
    """
    how = method(integrator)
    if not how.compiles or how.limit == np.inf:
        known = ", ".join(name for name, entry in METHODS.items() if entry.compiles and entry.limit < np.inf)
        raise NotApplicable(f"integrator {integrator!r}", where="monte_carlo", expected=f"one of: {known}")
    if not law.compilable or law.in_task_space:
        raise NotApplicable(
            f"the law {type(law).__name__}", where="monte_carlo", expected="a law in the joint space that compiles"
        )
    if samples < 1 or min(mass, com, friction) < 0:
        raise ArmdynError(
            f"samples = {samples}, mass = {mass}, com = {com}, friction = {friction}", where="monte_carlo",
            expected="at least one sample, and standard deviations >= 0",
        )  # fmt: skip
    numeric = robot.bound()
    n = numeric.n
    course = Course(reference, n)
    steps = step_count(course, duration, dt)
    start = np.concatenate([course.start.q if q0 is None else np.asarray(q0, dtype=float),
                            course.start.qd if qd0 is None else np.asarray(qd0, dtype=float)])  # fmt: skip
    z = law.start(start[:n], start[n:])
    parameters, masses = _drawn(numeric, samples, mass, com, friction, np.random.default_rng(seed))
    stride = how.grid
    times = dt / stride * np.arange(stride * (steps + 1) + 1)
    table = course.table(times)
    rows = np.column_stack([times, table.q, table.qd, table.qdd])
    kernel = build(_parametric_step(numeric, law, how, dt, len(z)), "parametric_step")
    state = np.tile(np.concatenate([start, z]), (samples, 1))
    tau = np.zeros((samples, n))
    largest, squares, torque = np.zeros((samples, n)), np.zeros((samples, n)), np.zeros((samples, n))
    lost = np.zeros(samples, dtype=bool)
    counted = 0
    window = stage_rows(how)
    with np.errstate(all="ignore"):
        for k in range(steps + 1):
            t = k * dt
            if t >= after - 1e-12:
                error = np.abs(table.q[stride * k] - state[:, :n])
                np.maximum(largest, error, out=largest)
                squares += error**2
                counted += 1
            state, tau = kernel(state, rows[stride * k : stride * k + window], parameters)
            np.maximum(torque, np.abs(tau), out=torque)
            lost |= ~(np.abs(state[:, : 2 * n]) < HUGE).all(axis=1)
            if progress is not None and k % 256 == 0:
                progress("simulating", k / steps)
    rms = np.sqrt(squares / max(counted, 1))
    for numbers in (largest, rms, torque):
        numbers[lost] = np.inf
    names = tuple(joint.name for joint in numeric.joints)
    return MonteCarlo(names, law.summary, after, largest, rms, torque, lost, masses)


def _drawn(
    robot: Robot, samples: int, mass: float, com: float, friction: float, random: np.random.Generator
) -> tuple[Array, Array]:
    """(samples, n, 11): ten inertial parameters of each link and a factor on its friction; and the mass factors."""
    n = robot.n
    nominal = [[float(x) for x in link.inertia.parameters()] for link in robot.links]
    factors = np.exp(mass * random.standard_normal((samples, n)))
    shifts = com * random.standard_normal((samples, n, 3))
    rough = np.exp(friction * random.standard_normal((samples, n)))
    drawn = np.empty((samples, n, 11))
    for j, numbers in enumerate(nominal):
        XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = numbers
        tensor = np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])
        c = np.array([MX, MY, MZ]) / M if M else np.zeros(3)
        central = tensor - M * (c @ c * np.eye(3) - np.outer(c, c))
        for s in range(samples):
            m, at = M * factors[s, j], c + (shifts[s, j] if M else 0.0)
            moved = central * factors[s, j] + m * (at @ at * np.eye(3) - np.outer(at, at))
            drawn[s, j, :10] = (*moved[0], *moved[1, 1:], moved[2, 2], *(m * at), m)
            drawn[s, j, 10] = rough[s, j]
    return drawn, factors


def _parametric_step(robot: Robot, law: Law, method: Method, dt: float, memory: int) -> Graph:
    """One step of the closed loop with the plant's parameters as inputs."""
    n = robot.n
    traced = traced_law(law)
    smooth = robot.without("friction")
    rub = TracedDynamics(compiled_dynamics(robot))
    forward = composite_body.forward_dynamics.formula

    def step(state: Any, reference: Any, parameters: Any) -> dict[str, Any]:
        x: Array = np.array(state, dtype=object)
        table: Array = np.array(reference, dtype=object)
        plant = with_exact_links(smooth, [Inertia.from_parameters(*row[:10]) for row in parameters], smooth.spins)
        rough = np.array([row[10] for row in parameters], dtype=object)

        def rates(c: float, q: Array, qd: Array, z: Array) -> tuple[Array, Array, Array]:
            row = table[round(method.grid * c)]
            desired = Desired(*(row[1 + k * n : 1 + (k + 1) * n] for k in range(3)))
            tau = np.asarray(traced(row[0], q, qd, desired, z), dtype=object)
            left = tau - rough * rub.friction(qd)
            qdd = np.array(forward(plant, list(q), list(qd), list(left)), dtype=object)
            return qdd, np.asarray(traced.change(row[0], q, qd, desired, z), dtype=object), tau

        assert method.step is not None
        q, qd, z = np.split(x, [n, 2 * n])
        dq, dqd, dz, tau = method.step(rates, dt, q, qd, z)
        return {"next": [*(q + dq), *(qd + dqd), *(z + dz)], "tau": list(tau)}

    rows = stage_rows(method)
    shapes = {"state": 2 * n + memory, "reference": (rows, 1 + 3 * n), "parameters": (n, 11)}
    return trace(step, shapes, fold_angles=False)


def comparison(runs: Mapping[str, Run], after: float = 0.0) -> str:
    """A table of the largest errors of several runs, joint by joint."""
    first = next(iter(runs.values()))
    width = max(map(len, runs)) + 2
    lines = [f"{'largest error' + (f' after {after:g} s' if after else ''):<{width}}"
             + "".join(f"{name:>12}" for name in first.joints)]  # fmt: skip
    for name, run in runs.items():
        numbers = run.largest_error(after) if run.duration >= after else np.full(len(first.joints), np.nan)
        end = "" if run.ok else f"   {run.status.name.lower()} {run.detail}"
        lines.append(f"{name:<{width}}" + "".join(f"{x:>12.3g}" for x in numbers) + end)
    return "\n".join(lines)
