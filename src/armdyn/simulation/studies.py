"""Many runs: controllers with imperfect models, and arms with uncertain parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.algebra import CentralInertia, Inertia, ops
from armdyn.control.base import Law
from armdyn.control.computed_torque import PARTS, ComputedTorque
from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled_dynamics
from armdyn.errors import ArmdynError, NotApplicable
from armdyn.parameters import standard_parameters
from armdyn.parameters.standard import FAMILIES, INERTIAL
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.simulation.run import Run, Status
from armdyn.simulation.runs import Runs
from armdyn.simulation.settings import Actuation, Plant, Solver
from armdyn.simulation.simulator import simulate
from armdyn.typing import Array, Progress

TOGETHER = 256
"""Arms of which all samples in time are in memory."""


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
    *,
    leave_out: Iterable[str] = PARTS,
    masses: float | None = 1.2,
    q0: Any = None,
    qd0: Any = None,
    solver: Solver = Solver(),  # noqa: B008 (frozen)
    actuation: Actuation = Actuation(),  # noqa: B008
) -> dict[str, Run]:
    """Computed torque with the full model, without each of its terms, and with wrong masses. El Baji fig. 10

    Args:
        plant:     the true arm, as in `simulate`; joints at rest do not stick by default: the full model is exact.
        law:       computed torque with the full model.
        reference: the desired motion, as in `simulate`.
        duration:  s (default: that of the reference).
        leave_out: terms left out of the controller's model, one at a time: coriolis, gravity, friction (default: all
                   that the arm has).
        masses:    factor on the masses of the controller's model (default: 1.2; None: not tried).
        q0:        (n,) initial configuration, rad or m (default: on the reference).
        qd0:       (n,) initial velocity, rad/s or m/s (default: on the reference).
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
            body, each, reference, duration, q0=q0, qd0=qd0, solver=solver, actuation=actuation
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
    *,
    samples: int = 200,
    mass: float = 0.1,
    com: float = 0.02,
    friction: float = 0.3,
    after: float = 0.0,
    q0: Any = None,
    qd0: Any = None,
    solver: Solver = Solver(),  # noqa: B008 (frozen)
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
        samples:    number of arms (default: 200).
        mass:       standard deviation of the logarithm of the mass factor (default: 0.1).
        com:        standard deviation of the shift of the centre of mass, m (default: 0.02).
        friction:   standard deviation of the logarithm of the friction factor (default: 0.3).
        after:      time from which on errors count, s (default: 0).
        q0:         (n,) initial configuration, rad or m (default: on the reference).
        qd0:        (n,) initial velocity, rad/s or m/s (default: on the reference).
        solver:     as in `simulate`, with fixed steps.
        seed:       of the random numbers (default: 0).
        progress:   called with the step and the fraction done.
    """
    if law.in_task_space:
        raise NotApplicable(f"the law {type(law).__name__}", where="monte_carlo", expected="a law in the joint space")
    if samples < 1 or min(mass, com, friction) < 0:
        raise ArmdynError(
            f"samples = {samples}, mass = {mass}, com = {com}, friction = {friction}", where="monte_carlo",
            expected="at least one sample, and standard deviations >= 0",
        )  # fmt: skip
    dyn = compiled_dynamics(robot)
    drawn, masses = _drawn(dyn.robot, samples, mass, com, friction, np.random.default_rng(seed))
    kept = []
    for first in range(0, samples, TOGETHER):
        part = {name: values[first : first + TOGETHER] for name, values in drawn.items()}
        plant = Plant(dyn, stiction=False, parameters=part)
        runs = simulate(plant, law, reference, duration, q0=q0, qd0=qd0, solver=solver)
        assert isinstance(runs, Runs)
        numbers = runs.largest_error(after), runs.rms_error(after), np.abs(runs.tau).max(axis=-2)
        lost = runs.statuses != Status.FINISHED
        kept.append([*(np.where(lost[:, None], np.inf, each) for each in numbers), lost])
        if progress is not None:
            progress("simulating", min(1.0, (first + TOGETHER) / samples))
    names = tuple(joint.name for joint in dyn.robot.joints)
    largest, rms, torque, unstable = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    return MonteCarlo(names, law.summary, after, largest, rms, torque, unstable, masses)


def _drawn(
    robot: Robot, samples: int, mass: float, com: float, friction: float, random: np.random.Generator
) -> tuple[dict[str, Array], Array]:
    """(samples,) standard parameters by name, and (samples, n) the mass factors."""
    n, known = robot.n, standard_parameters(robot).as_dict()
    factors = np.exp(mass * random.standard_normal((samples, n)))
    shifts = com * random.standard_normal((samples, n, 3))
    rough = np.exp(friction * random.standard_normal((samples, n)))
    drawn: dict[str, Array] = {}
    for j, link in enumerate(robot.links):
        M, shift = float(link.inertia.mass) * factors[:, j], shifts[:, j] if float(link.inertia.mass) else 0.0
        XX, XY, XZ, YY, YZ, ZZ, *moment, _ = (factors[:, j] * float(x) for x in link.inertia.parameters())
        c = np.transpose(moment) / np.where(M, M, 1.0)[:, None]
        more = _spread_about(c + shift) - _spread_about(c)  # parallel axes
        tensor = np.array([XX, XY, XZ, YY, YZ, ZZ]) + M * more
        values = (*tensor, *(M[:, None] * (c + shift)).T, M)
        drawn |= {f"{kind}{j + 1}": value for kind, value in zip(INERTIAL, values, strict=True)}
        kinds = (f"{kind}{j + 1}" for kind in ("off", *FAMILIES["friction"]))
        drawn |= {kind: rough[:, j] * float(known[kind]) for kind in kinds if kind in known and float(known[kind])}
    return drawn, factors


def _spread_about(c: Array) -> Array:
    """(6, samples) the inertia tensors of unit masses at c, (samples, 3): XX XY XZ YY YZ ZZ."""
    x, y, z = c.T
    return np.array([y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y])


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
