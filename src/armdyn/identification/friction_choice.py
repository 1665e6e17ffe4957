"""Selection of the friction law of each joint from its torques.

Every candidate is fitted to the torques of one joint together with the inertial parameters that these torques depend
on, so that no law profits from an inertial model found under another one: both are projected on the complement of the
inertial columns. Velocities and widths, in which laws are not linear, are searched. The law with the smallest

    BIC = N log(RSS / N) + k log N                                                                              [FR-1]

is selected: N the number of samples, divided by the autocorrelation time of the residuals; k the number of parameters.
A difference of 10 is strong evidence (Kass, Raftery 1995).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.optimize import minimize_scalar

from armdyn.errors import ArmdynError, unknown_name
from armdyn.identification.estimation import autocorrelation_time
from armdyn.identification.filters import decimated
from armdyn.identification.fit import known_torques
from armdyn.identification.observation import distinct_parameters, observe
from armdyn.identification.samples import Samples
from armdyn.mechanics.friction import friction_torque
from armdyn.robot import Robot
from armdyn.robot.features import TREE, takes
from armdyn.robot.parts import Friction
from armdyn.tables import Column, Section, render
from armdyn.typing import Array

RATES = np.geomspace(0.002, 0.5, 25)
"""Stribeck velocities and widths of the smooth law that are tried first, as shares of the joint's largest velocity."""


@dataclass(frozen=True)
class Law:
    """A candidate: unit laws, one per linear parameter, for a given velocity; friction is their weighted sum."""

    name: str
    units: Callable[[float], tuple[Friction, ...]]
    searched: bool = False
    """Whether it has a velocity, which is searched."""

    def columns(self, rate: float, qd: Array) -> Array:
        """(N, k) torques of the units."""
        torques = [np.broadcast_to(friction_torque(unit, qd), qd.shape) for unit in self.units(rate)]
        return np.column_stack(torques) if torques else np.zeros((len(qd), 0))

    def friction(self, weights: Sequence[float], rate: float) -> Friction:
        """The sum of the units, weighted: all laws are linear in these four."""
        units = self.units(rate)
        if not units:
            return Friction()
        linear = [f for f in ("viscous", "coulomb", "static", "offset") if any(getattr(unit, f) for unit in units)]
        sums = {f: sum(w * getattr(unit, f) for w, unit in zip(weights, units, strict=True)) for f in linear}
        return replace(units[-1], **sums)


def _stribeck(rate: float) -> tuple[Friction, ...]:
    """Viscous, Coulomb (static being the same), and what static has more."""
    unit = Friction(stribeck=rate)
    return replace(unit, viscous=1), replace(unit, coulomb=1, static=1), replace(unit, static=1)


def _smooth(rate: float) -> tuple[Friction, ...]:
    unit = Friction(law="smooth", width=rate)
    return replace(unit, viscous=1), replace(unit, coulomb=1)


VISCOUS, COULOMB, OFFSET = Friction(viscous=1), Friction(coulomb=1), Friction(offset=1)
LAWS = {
    law.name: law
    for law in (
        Law("none", lambda rate: ()),
        Law("viscous", lambda rate: (VISCOUS,)),
        Law("coulomb", lambda rate: (COULOMB,)),
        Law("coulomb and viscous", lambda rate: (VISCOUS, COULOMB)),
        Law("coulomb, viscous, offset", lambda rate: (VISCOUS, COULOMB, OFFSET)),
        Law("stribeck", _stribeck, searched=True),
        Law("stribeck, offset", lambda rate: (*_stribeck(rate), Friction(stribeck=rate, offset=1)), searched=True),
        Law("smooth", _smooth, searched=True),
    )
}
"""Candidates; see `armdyn.mechanics.friction` for the laws themselves."""


@dataclass(frozen=True)
class Candidate:
    """One law fitted to one joint.

    law: its name
    friction: with the fitted parameters
    count: number of parameters
    sigma: standard deviation of the residuals, N m or N
    bic: Bayesian information criterion
    """

    law: str
    friction: Friction
    count: int
    sigma: float
    bic: float


@dataclass(frozen=True)
class JointFriction:
    """All candidates of one joint, the best first.

    joint: its name
    candidates: the fitted laws
    samples: how many were used
    autocorrelation_time: of the residuals, in samples
    """

    joint: str
    candidates: tuple[Candidate, ...]
    samples: int
    autocorrelation_time: float

    @property
    def best(self) -> Candidate:
        return self.candidates[0]

    @property
    def evidence(self) -> float:
        """Difference of BIC between the second best and the best; above 10 the choice is clear."""
        return self.candidates[1].bic - self.best.bic if len(self.candidates) > 1 else float("inf")


@dataclass(frozen=True, eq=False)
class FrictionStudy:
    """The friction law of every joint."""

    base: Robot
    joints: tuple[JointFriction, ...]

    @cached_property
    def robot(self) -> Robot:
        """The robot with the friction that was found."""
        chosen = {each.joint: each.best.friction for each in self.joints}
        tree = tuple(replace(j, friction=chosen[j.name]) if j.name in chosen else j for j in self.base.tree)
        return replace(self.base, tree=tree, expressions=None)

    def section(self) -> Section:
        """Table of joints and laws: BIC above the best, residual, parameters."""
        heads = ("joint", "law", "BIC - best", "residual", "parameters")
        rows = []
        for each in self.joints:
            for candidate in each.candidates:
                rows.append((each.joint, candidate.law, f"{candidate.bic - each.best.bic:.1f}",
                             f"{candidate.sigma:.4g}", _parameters(candidate.friction)))  # fmt: skip
        note = "A difference of 10 is strong evidence. SI units; residuals in N m or N."
        return Section(f"{self.base.name}: friction", tuple(map(Column, heads)), tuple(rows), note)

    def __str__(self) -> str:
        return render(self.section())


def _parameters(friction: Friction) -> str:
    fields = ("viscous", "coulomb", "static", "stribeck", "width", "offset")
    return ", ".join(f"{name} {getattr(friction, name):.4g}" for name in fields if getattr(friction, name) != 0) or "-"


@takes(*TREE)
def select_friction(
    robot: Robot,
    samples: Samples,
    *,
    laws: Iterable[str] = tuple(LAWS),
    include: tuple[str, ...] = ("inertial", "rotor", "spring"),
    white: bool = False,
) -> FrictionStudy:
    """Select the friction law of every joint by its torques. [FR-1]

    Args:    robot: its friction is ignored
             samples: a processed log
             laws: names of the candidates, keys of `LAWS` (default: all)
             include: families of parameters fitted along with friction; torques of the others are subtracted
             white: assume white residuals (default: measure their autocorrelation)
    Raises:  ArmdynError for a joint with too few samples.
    """
    wanted = tuple(laws)
    for name in wanted:
        if name not in LAWS:
            raise unknown_name("friction law", name, LAWS, where="select_friction")
    bare = robot.bound().without("friction")
    samples = known_torques(bare, (*include, "friction"))(samples)
    observation = observe(bare, samples, distinct_parameters(bare, include))
    parts = list(observation.rows())
    Y, tau, keep = (np.concatenate([getattr(part, name) for part in parts]) for name in ("Y", "tau", "keep"))
    joints = []
    for j, joint in enumerate(bare.joints):
        problem = _Joint(joint.name, Y[:, j], tau[:, j], keep[:, j], samples.qd[:, j], samples.decimation)
        joints.append(problem.judged([LAWS[name] for name in wanted], white))
    return FrictionStudy(robot, tuple(joints))


class _Joint:
    """The samples of one joint, projected on the complement of its inertial columns."""

    def __init__(self, name: str, Y: Array, tau: Array, keep: Array, qd: Array, factor: int) -> None:
        self.name, self.keep, self.qd, self.factor = name, keep, qd, factor
        A = Y[keep]
        lengths = np.linalg.norm(A, axis=0)
        A = A[:, lengths > 0] / lengths[lengths > 0]
        if len(A) < 2 * A.shape[1] + 20:
            raise ArmdynError(f"{len(A)} samples for {A.shape[1]} inertial parameters", where=f"friction of {name!r}",
                              expected="many times more", advice="Use a longer log.")  # fmt: skip
        U, s, _ = np.linalg.svd(A, full_matrices=False)
        self.Q = U[:, s > 1e-9 * s[0]]
        self.y = self._left(tau[keep])

    def _left(self, x: Array) -> Array:
        """The part of columns (or of the torque) that is not a combination of the inertial columns."""
        left: Array = x - self.Q @ (self.Q.T @ x)
        return left

    def _design(self, law: Law, rate: float) -> Array:
        columns = law.columns(rate, self.qd)
        return self._left(decimated(columns, self.factor)[self.keep])

    def fitted(self, law: Law) -> tuple[Array, float, Array]:
        """(linear parameters, best velocity, residuals)."""
        rate = self._best_rate(law) if law.searched else 0.0
        A = self._design(law, rate)
        x = np.linalg.lstsq(A, self.y, rcond=None)[0] if A.shape[1] else np.zeros(0)
        return x, rate, self.y - A @ x

    def _best_rate(self, law: Law) -> float:
        def misfit(log_rate: float) -> float:
            A = self._design(law, float(np.exp(log_rate)))
            return float(np.sum((self.y - A @ np.linalg.lstsq(A, self.y, rcond=None)[0]) ** 2))

        tried = np.log(RATES * np.abs(self.qd).max())
        best = int(np.argmin([misfit(rate) for rate in tried]))
        ends = (tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)])
        return float(np.exp(minimize_scalar(misfit, bounds=ends, method="bounded", options={"xatol": 1e-4}).x))

    def judged(self, laws: Sequence[Law], white: bool) -> JointFriction:
        fits = {law.name: self.fitted(law) for law in laws}
        richest = min(fits.values(), key=lambda fit: float(np.sum(fit[2] ** 2)))
        time = 1.0 if white else float(autocorrelation_time(self._in_time(richest[2]))[0])
        rows = len(self.y) / time
        candidates = []
        for law in laws:
            x, rate, residual = fits[law.name]
            k = len(x) + law.searched
            mean = max(float(np.mean(residual**2)), 1e-300)
            sigma = float(np.sqrt(np.sum(residual**2) / max(len(self.y) - self.Q.shape[1] - k, 1)))
            bic = rows * np.log(mean) + (k + self.Q.shape[1]) * np.log(rows)
            candidates.append(Candidate(law.name, law.friction(x.tolist(), rate), k, sigma, float(bic)))
        candidates.sort(key=lambda candidate: candidate.bic)
        return JointFriction(self.name, tuple(candidates), len(self.y), time)

    def _in_time(self, residual: Array) -> Array:
        """(N, 1) residuals in time, NaN where samples are left out."""
        full = np.full((len(self.keep), 1), np.nan)
        full[self.keep, 0] = residual
        return full


__all__ = ["LAWS", "Candidate", "FrictionStudy", "JointFriction", "Law", "select_friction"]
