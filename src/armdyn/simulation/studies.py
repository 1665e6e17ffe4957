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
from armdyn.notebook_view import View
from armdyn.parameters import standard_parameters
from armdyn.parameters.standard import FAMILIES, INERTIAL
from armdyn.result import Result
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.simulation.arguments import true_arm
from armdyn.simulation.experiment import Experiment
from armdyn.simulation.run import Run, Status
from armdyn.simulation.runs import Runs
from armdyn.simulation.settings import Plant
from armdyn.simulation.simulator import simulate
from armdyn.tables import Column, Section
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


def run_experiment(experiment: Experiment, robot: Robot, progress: Progress | None = None) -> Run:
    """The run of an experiment, with the runs that its study asks for."""
    study, given = experiment.study, experiment.arguments(robot)
    run = simulate(**given)
    others: dict[str, Run] = {}
    if study.imperfect:
        others = imperfect_models(**given)
        del others["full model"]
    drawn = None
    if study.monte_carlo:
        spread: dict[str, Any] = {"mass": study.mass, "com": study.com, "friction": study.friction, "seed": study.seed}
        drawn = monte_carlo(**given, samples=study.monte_carlo, progress=progress, **spread)
    return replace(run, comparisons=others, monte_carlo=drawn)


@takes(*CLOSED, *TREE)
def imperfect_models(
    plant: Dynamics | Robot | Plant,
    law: Law,
    reference: Any,
    duration: float | None = None,
    *,
    leave_out: Iterable[str] = PARTS,
    masses: float | None = 1.2,
    **settings: Any,
) -> dict[str, Run]:
    """Computed torque with the full model, without each of its terms, and with wrong masses. El Baji fig. 10

    Args:
        plant:     the true arm, as in `simulate`; joints at rest do not stick by default: the full model is exact.
        law:       computed torque with the full model.
        reference: the desired motion, as in `simulate`.
        duration:  s (default: that of the reference).
        leave_out: terms left out of the controller's model, one at a time: coupling (a diagonal mass matrix), coriolis,
                   gravity, friction (default: all that the arm has).
        masses:    factor on the masses of the controller's model (default: 1.2; None: not tried).
        settings:  further arguments of `simulate`: q0, qd0, solver, actuation, sensors.

    Returns: runs by name, "full model" first.
    """
    if not isinstance(law, ComputedTorque):
        raise NotApplicable(
            f"the law {type(law).__name__}",
            where="imperfect_models",
            expected="computed torque: only its model has terms to leave out",
        )
    body = plant if isinstance(plant, Plant) else Plant(plant)
    if body.stiction is None:  # the full model shall cancel friction
        body = replace(body, stiction=False)
    if isinstance(body.model, Robot):
        body = replace(body, model=compiled_dynamics(body.model))
    laws: dict[str, ComputedTorque] = {"full model": law}
    has = {"coupling": law.dyn.n > 1, "friction": any(joint.friction is not None for joint in law.dyn.robot.joints)}
    names = {"coriolis": "without Coriolis", "coupling": "coupling ignored"}
    for part in leave_out:
        if has.get(part, True):
            laws[names.get(part, f"without {part}")] = replace(law, leave_out=(*law.leave_out, part))
    if masses is not None:
        wrong = compiled_dynamics(scaled_masses(law.dyn.robot, masses))
        laws[f"masses times {masses:g}"] = replace(law, dyn=wrong)
    return {name: simulate(body, each, reference, duration, **settings) for name, each in laws.items()}


# Monte Carlo --------------------------------------------------------------------------------------------------------

QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True, eq=False)
class MonteCarlo(Result):
    """Statistics of many simulated arms whose parameters were drawn around the model's.

    joints:         names.
    controller:     the law in one line.
    after:          time from which on errors count, s.
    spread:         standard deviations from which the arms were drawn: mass, com, friction; see `monte_carlo`.
    largest_error:  (samples, n) largest magnitude of the error, rad or m.
    rms_error:      (samples, n) root mean square of the error, rad or m.
    largest_torque: (samples, n) N m or N.
    lost:           (samples,) whether the motion was not completed; its numbers are then infinite.
    masses:         (samples, n) factors on the masses that were drawn.
    """

    joints: tuple[str, ...]
    controller: str
    after: float
    spread: Mapping[str, float]
    largest_error: Array
    rms_error: Array
    largest_torque: Array
    lost: Array
    masses: Array

    @property
    def samples(self) -> int:
        return len(self.lost)

    def quantiles(self, of: str = "largest_error", at: Iterable[float] = QUANTILES) -> Array:
        """(len(at), n) quantiles of one of the statistics over the completed motions."""
        return np.asarray(np.quantile(getattr(self, of)[~self.lost], list(at), axis=0))

    @property
    def sections(self) -> tuple[Section, ...]:
        """The quantiles as a table, with the sizes of the random errors."""
        rows = []
        for name in STATISTICS if not self.lost.all() else ():
            for joint, numbers in zip(self.joints, self.quantiles(name).T, strict=True):
                rows.append((name.replace("_", " "), joint, *(f"{x:.3g}" for x in numbers)))
        heads = ("statistic", "joint", *(f"{100 * q:g} %" for q in QUANTILES))
        note = (
            f"Random errors of each link, standard deviations: factor on mass and inertia {self.spread['mass']:g} "
            f"(log-normal), centre of mass {self.spread['com']:g} m in each direction, factor on friction "
            f"{self.spread['friction']:g} (log-normal)." + (f" Errors count after {self.after:g} s." * (self.after > 0))
        )
        title = f"{self.samples} arms with random errors, {int(self.lost.sum())} not completed"
        return (Section(title, tuple(map(Column, heads)), tuple(rows), note),)

    def record(self) -> dict[str, Any]:
        known = {} if self.lost.all() else {name: self.quantiles(name).tolist() for name in STATISTICS}
        return {
            "law": self.controller,
            "samples": self.samples,
            "lost": int(self.lost.sum()),
            "joints": self.joints,
            "spread": dict(self.spread),
            "quantiles": QUANTILES,
            **known,
        }

    def _view(self) -> View:
        lost = int(self.lost.sum())
        verdict = (f"{lost} not completed" if lost else "all completed", not lost)
        return View(f"{self.samples} arms under {self.controller}", verdict, sections=self.sections)


STATISTICS = ("largest_error", "rms_error", "largest_torque")
"""What a Monte Carlo study knows of each arm and joint."""


@takes(*TREE)
def monte_carlo(
    plant: Dynamics | Robot | Plant,
    law: Law,
    reference: Any,
    duration: float | None = None,
    *,
    samples: int = 200,
    mass: float = 0.1,
    com: float = 0.02,
    friction: float = 0.3,
    after: float = 0.0,
    seed: int = 0,
    progress: Progress | None = None,
    **settings: Any,
) -> MonteCarlo:
    """Simulate arms whose links differ from the plant's, all side by side in one kernel where that is possible.

    Each sample draws, link by link, a factor on mass and inertia (log-normal), a shift of the centre of mass (normal)
    and a factor on friction (log-normal); the law keeps its model. A payload belongs to the link that carries it.

    Args:
        plant:     nominal arm, as in `simulate`; joints at rest do not stick by default.
        law:       control law in the joint space.
        reference: the desired motion, as in `simulate`.
        duration:  s (default: that of the reference).
        samples:   number of arms (default: 200).
        mass:      standard deviation of the logarithm of the mass factor (default: 0.1).
        com:       standard deviation of the shift of the centre of mass, m (default: 0.02).
        friction:  standard deviation of the logarithm of the friction factor (default: 0.3).
        after:     time from which on errors count, s (default: 0).
        seed:      of the random numbers (default: 0).
        progress:  called with the step and the fraction done.
        settings:  further arguments of `simulate`: q0, qd0, solver, actuation, sensors.
    """
    if law.in_task_space:
        raise NotApplicable(f"the law {type(law).__name__}", where="monte_carlo", expected="a law in the joint space")
    if samples < 1 or min(mass, com, friction) < 0:
        raise ArmdynError(
            f"samples = {samples}, mass = {mass}, com = {com}, friction = {friction}",
            where="monte_carlo",
            expected="at least one sample, and standard deviations >= 0",
        )
    body = plant if isinstance(plant, Plant) else Plant(plant)
    nominal, varied = true_arm(body)
    if varied:
        raise NotApplicable("a batch of plants", where="monte_carlo", expected="one nominal arm")
    body = replace(body, model=nominal, payload=0.0, parameters={}, stiction=bool(body.stiction))
    drawn, masses = _drawn(body.robot, samples, mass, com, friction, np.random.default_rng(seed))
    together, kept = TOGETHER, []
    first = 0
    while first < samples:
        part = {name: values[first : first + together] for name, values in drawn.items()}
        part = {name: values[0] for name, values in part.items()} if together == 1 else part
        try:
            run = simulate(replace(body, parameters=part), law, reference, duration, **settings)
        except NotApplicable:
            if together == 1:
                raise
            together = 1  # pushes, sensors and laws that cannot be compiled are simulated arm by arm
            continue
        kept.append(_statistics(run, after))
        first += together
        if progress is not None:
            progress("simulating arms with random errors", min(1.0, first / samples))
    largest, rms, torque, lost = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    spread = {"mass": mass, "com": com, "friction": friction}
    names = tuple(joint.name for joint in body.robot.joints)
    return MonteCarlo(names, law.summary, after, spread, largest, rms, torque, lost, masses)


def _statistics(run: Run, after: float) -> list[Array]:
    """(samples, n) of each of STATISTICS, infinite where a motion was not completed, and (samples,) which were not."""
    if not run.ok and not isinstance(run, Runs):
        return [*(np.full((1, run.tau.shape[1]), np.inf) for _ in STATISTICS), np.array([True])]
    numbers = run.largest_error(after), run.rms_error(after), np.abs(run.tau).max(axis=-2)
    lost = run.statuses != Status.FINISHED if isinstance(run, Runs) else np.array([False])
    return [*(np.where(lost[:, None], np.inf, np.atleast_2d(each)) for each in numbers), lost]


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
