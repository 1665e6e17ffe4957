"""A model of the torques with friction terms, as `term_selection` finds it: prediction, band, robot, table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from armdyn.identification.estimation import Estimate, narrowed
from armdyn.identification.friction_terms import GROUPS, Bank
from armdyn.identification.observation import base_regressor
from armdyn.parameters import BaseParameters
from armdyn.robot import Robot
from armdyn.robot.features import ROUNDED
from armdyn.robot.parts import Friction, Motor
from armdyn.tables import Column, Section
from armdyn.typing import Array

DECIMATED_RATE = 25.0
"""Rate to which torque and columns are decimated, Hz; they are low-passed at 10 Hz."""
CHUNK = 20_000
"""Samples whose regressor is held at a time."""
METHOD = "evidence, with friction terms"
"""Name of the estimator."""


@dataclass(frozen=True, eq=False)
class TorqueModel:
    """Parameters of a robot with the friction terms of [FT-1], and the standard deviation of its torques.

    base: the base parameters of the plain law
    bank: the friction terms
    values: (p,) of the base parameters; those of `places` are in `own`
    own: (n + s, 2 + k) viscous and Coulomb friction and coefficients of the terms, of joints and shared motors
    root: of the covariance of values and own, one after the other
    sigma: (n, 3) standard deviation of torques about the model of exact parameters, by class of speed
    scale: (n, 3) factor with which 95 % of the held-out torques of a class are within two standard deviations
    autocorrelation_time: (n,) of the residuals, in decimated samples
    samples: (n,) how many were used
    cutoff: of the low-pass of positions, Hz
    errors: (n,) cross-validated relative error; (n,) the same without the terms
    """

    base: BaseParameters
    bank: Bank
    values: Array
    own: Array
    root: Array
    sigma: Array
    scale: Array
    autocorrelation_time: Array
    samples: Array
    cutoff: float
    errors: tuple[Array, Array]

    @property
    def terms(self) -> Array:
        """(n + s, k) coefficients of the bank, zero for joints that do without."""
        return self.own[:, 2:]

    @cached_property
    def used(self) -> Array:
        """(n,) bool: joints with terms beyond viscous and Coulomb friction."""
        n = self.bank.n
        return np.asarray((np.abs(self.bank.rows.T) @ np.abs(self.terms).sum(axis=1)[:, None])[:n, 0] > 0)

    @cached_property
    def estimate(self) -> Estimate:
        """The base parameters of the plain law, with their covariance."""
        p, k = len(self.values), self.own.shape[1]
        pick = np.eye(p, len(self.root))
        for place, (a, i, factor) in replaced(self.base, self.bank).items():
            pick[place] = 0.0
            pick[place, p + a * k + i] = factor
        values = pick @ np.concatenate([self.values, self.own.ravel()])
        within = np.sqrt((self.sigma[:, 1:] ** 2).mean(axis=1))
        return Estimate(self.base.names, values, pick @ self.root, within, self.autocorrelation_time,
                        self.samples, METHOD)  # fmt: skip

    def shifted(self, values: Array) -> TorqueModel:
        """The model for other base parameters, (p,), as of a physically consistent robot; the rest follows them.

        What moves with the base parameters moves by its regression on them.
        """
        found, p, k = self.estimate, len(self.values), self.own.shape[1]
        theta = np.concatenate([self.values, self.own.ravel()])
        taken = replaced(self.base, self.bank)
        index = np.arange(p)
        factors = np.ones(p)
        for place, (a, i, factor) in taken.items():
            index[place], factors[place] = p + a * k + i, factor
        theta = theta + self.root @ np.linalg.pinv(found.root, rcond=1e-6) @ (values - found.values)
        theta[index] = values / factors
        theta[list(taken)] = 0.0
        own = np.where(self.own == 0, 0.0, theta[p:].reshape(self.own.shape))
        return replace(self, values=theta[:p], own=own)

    def robot(self, identified: Robot) -> Robot:
        """A robot of the identified base parameters with the friction of this model."""
        laws = {joint.name: self._friction(j) for j, joint in enumerate(identified.joints)}
        motors = {identified.joints[j].name: self._friction(self.bank.n + k) for k, j in enumerate(self.bank.motors)}
        grouped = set(replaced(self.base, self.bank))
        names = [joint.name for joint in identified.opened.joints]
        tree = []
        for joint in identified.tree:
            if joint.name in laws:
                law, motor = laws[joint.name], joint.motor
                offset = 0 if joint.friction is None else joint.friction.offset
                if joint.name in motors:
                    own = motors[joint.name]
                    motor = replace(motor or Motor(), viscous=own.viscous, coulomb=own.coulomb, width=own.width,
                                    values=own.values)  # fmt: skip
                elif motor is not None:  # its friction is counted with that of the joint
                    motor = replace(motor, viscous=0, coulomb=0)
                joint = replace(joint, friction=replace(law, offset=offset), motor=motor)
            elif joint.friction is not None and joint.name in names and grouped & self._rows(names.index(joint.name)):
                joint = replace(joint, friction=replace(joint.friction, viscous=0, coulomb=0))
            tree.append(joint)
        return replace(identified, tree=tuple(tree), expressions=None)

    def _rows(self, i: int) -> set[int]:
        """The base parameters that contain the friction of joint i of all joints."""
        return {place for kind in ("Fv", "Fc") for place in _places(self.base, f"{kind}{i + 1}")}

    def _friction(self, a: int) -> Friction:
        viscous, coulomb, *terms = self.own[a].tolist()
        return Friction(viscous, coulomb, width=float(self.bank.widths[a, 0]), law=ROUNDED,
                        values=self.bank.values(a, np.array(terms)))  # fmt: skip

    def std(self, q: Array, qd: Array, qdd: Array, every: int = 1) -> Array:
        """(N, n) standard deviation of torques, low-passed at 10 Hz, about the prediction; twice it is a 95 % band.

        every: how many samples are between two for which it is wanted
        """
        Y_of, carries, (N, n) = base_regressor(self.base), carried(self.base), q.shape
        std = np.zeros((-(-N // every), n))
        out = list(replaced(self.base, self.bank))
        p, k = len(self.values), self.own.shape[1]
        surfaces = [np.flatnonzero(self.bank.rows[:, j]) for j in range(n)]
        places = [np.concatenate([np.arange(p), *(p + a * k + np.arange(k) for a in each)]) for each in surfaces]
        roots = [narrowed(self.root[x]) for x in places]
        used = np.asarray(self.root[p:].any(axis=1)).reshape(self.own.shape)
        columns = [self.bank.columns(q, qd, a, every, used[a]) for a in range(len(self.own))]
        step = CHUNK * every
        for start in range(0, N, step):
            fine, part = slice(start, start + step, every), slice(start // every, start // every + CHUNK)
            Y = Y_of(q[fine], qd[fine], qdd[fine])
            load, sign = np.abs(Y[:, :, carries] @ self.values[carries]), self.bank.sign(qd[fine])
            Y[:, :, out] = 0.0
            speed = self.bank.classes(qd[fine])
            for j in range(n):
                X = [self.bank.rows[a, j] * columns[a][part] for a in surfaces[j]]
                X[0][:, -1] = load[:, j] * sign[:, j]
                unsure = ((np.hstack([Y[:, j], *X]) @ roots[j]) ** 2).sum(axis=1)
                std[part, j] = self.scale[j, speed[:, j]] * np.sqrt(unsure + self.sigma[j, speed[:, j]] ** 2)
        return std

    def section(self, joints: Sequence[str]) -> Section:
        """The terms of every joint, and what they bring, as a table."""
        columns = (Column("joint"), Column("without terms", "%"), Column("with terms", "%"), Column("terms"))
        before, after = self.errors[1], self.errors[0]
        rows = [
            (name, f"{100 * before[j]:.3g}", f"{100 * after[j]:.3g}" if self.used[j] else "-", self._text(j))
            for j, name in enumerate(joints)
        ]
        note = (
            "Cross-validated relative errors on blocks of time held out. Widths and presliding, in the unit of the "
            "torque, sum the absolute coefficients of their bank; load is Coulomb friction per torque carried. Fv and "
            "Fc among the parameters are the rest of the same law: where terms take part of the friction, they have "
            "wide bars and are not the friction of a model without terms."
        )
        if (self.used & (after > before)).any():
            note += (
                " Terms that raise the cross-validated error of a joint are kept unless the increase is certain: a "
                "block that is held out of a short log contains reversals that the others need to determine the terms."
            )
        return Section("Friction terms", columns, tuple(rows), note)

    def _text(self, j: int) -> str:
        if not self.used[j]:
            return "none: viscous and Coulomb friction predict as well"
        parts = [self._sums(j)]
        for a in range(self.bank.n, len(self.own)):
            if self.bank.rows[a, j] and (sums := self._sums(a)):
                parts.append(f"{sums} of motor {self.bank.motors[a - self.bank.n] + 1}")
        return ", ".join(filter(None, parts)) or "very small"

    def _sums(self, a: int) -> str:
        groups = np.array(GROUPS)
        sums = {g: float(np.abs(self.terms[a, groups == g]).sum()) for g in dict.fromkeys(GROUPS)}
        largest = 1e-3 * max(float(np.abs(self.own[a, :2]).max()), 1e-300)
        shown = {g: x for g, x in sums.items() if x > (1e-3 if g == "load" else largest)}
        return ", ".join(f"{g} {x:.3g}" for g, x in shown.items())

    def record(self) -> dict[str, Any]:
        """The model as plain data."""
        return {
            "base": dict(zip(self.base.names, self.estimate.values.tolist(), strict=True)),
            "groups": list(GROUPS),
            "viscous": self.own[:, 0].tolist(),
            "coulomb": self.own[:, 1].tolist(),
            "terms": self.terms.tolist(),
            "motors": list(self.bank.motors),
            "cutoff": self.cutoff,
            "cross_validated": self.errors[0].tolist(),
            "cross_validated_without": self.errors[1].tolist(),
        }


def carried(base: BaseParameters) -> Array:
    """(p,) bool: parameters of the torques that a joint carries: all but friction and offsets."""
    return np.array([not place.startswith(("off", "Fv", "Fc")) for place in base.places])


def replaced(base: BaseParameters, bank: Bank) -> dict[int, tuple[int, int, float]]:
    """Base parameters that are plain friction of the bank: (joint or motor, 0 viscous or 1 Coulomb, factor)."""
    robot = base.robot
    all_names = [joint.name for joint in robot.opened.joints]
    numbers = [all_names.index(joint.name) + 1 for joint in robot.joints]
    found = {}
    for a, number in enumerate((*numbers, *(numbers[j] for j in bank.motors))):
        kinds = ("Fv", "Fc") if a < bank.n else ("Fvm", "Fcm")
        ratio = 1.0 if a < bank.n else float(bank.scale[a])  # Fvm and Fcm are seen at the joint
        for i, (kind, factor) in enumerate(zip(kinds, (ratio**2, ratio), strict=True)):
            for place, share in _places(base, f"{kind}{number}").items():
                found[place] = (a, i, factor * share)
    return found


def _places(base: BaseParameters, name: str) -> Mapping[int, float]:
    """The base parameters, with their shares, that contain a standard parameter."""
    if name not in base.standard:
        return {}
    column = base.matrix[:, base.standard.index(name)]
    return {int(place): float(column[place]) for place in np.flatnonzero(np.abs(column) > 1e-9)}


__all__ = ["TorqueModel"]
