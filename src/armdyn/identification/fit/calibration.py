"""Zeros of joints and the direction of gravity, estimated together with the base parameters.

    tau = Y(q + z, qd, qdd; g) beta                                                                            [CA-1]

is linear in the base parameters beta, but not in the zeros z and the gravity vector g. Gauss-Newton steps: at the z, g
and beta of the step before,

    tau = Y beta + d(Y beta)/dq dz + d(Y beta)/dg dg                                                           [CA-2]

is solved for beta, dz and dg by weighted least squares, until the steps are far below their standard deviations. The
derivatives are those of the regressor's graph. Covariances are of all unknowns together.

What torques do not tell. The magnitude of gravity is never asked for: only its products with masses act. A zero about
an axis along gravity changes no torque, and that of the last joint is imitated by the centre of mass and the inertia of
its link: such columns depend on the others, and the zeros are named instead of estimated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from armdyn.algebra import Vec3
from armdyn.doctor.log_case import likely_gravity, with_gravity
from armdyn.doctor.torque_checks import DIRECTION, ZERO
from armdyn.dynamics.programs import program
from armdyn.errors import ArmdynError, NotApplicable, unknown_name
from armdyn.findings import Finding
from armdyn.graph import derivative, trace
from armdyn.identification.fit.estimation import Estimate, Weighted
from armdyn.identification.fit.observation import Observation, condensed, distinct_parameters, observe, rows_of, stacked
from armdyn.identification.log.samples import Samples
from armdyn.parameters import parameter_names, regressor
from armdyn.robot import Robot
from armdyn.robot.limits import UNITS
from armdyn.robot.parts import FreeTransform, Joint
from armdyn.tables import Column, Section
from armdyn.typing import Array

MOST = 20
"""Gauss-Newton steps at most."""
SETTLED = 0.01
"""Steps, in standard deviations, at which they end."""
LONGEST = 0.3
"""Longest step and largest standard deviation, rad or m: beyond, the derivatives no longer hold."""
DEPENDENT = 1e-6
"""Share of a column that must not depend on the others."""
NO_EFFECT = 1e-9
"""Torque per rad or m, over the size of the torques, below which an unknown has no effect."""
SIGNIFICANT = 3.0
"""Tilt, in standard deviations, below which the declared direction of gravity is kept."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What is to be estimated beside the parameters.

    zeros: names of the joints whose zero is unknown, or "all": those that the torques tell (default: none)
    gravity: whether the direction of gravity is unknown (default False)
    """

    zeros: Sequence[str] | str = ()
    gravity: bool = False

    def joints(self, robot: Robot) -> list[int]:
        """Numbers of the joints whose zero is unknown."""
        names = [joint.name for joint in robot.joints]
        if self.zeros == "all":
            return list(range(robot.n))
        wanted = [self.zeros] if isinstance(self.zeros, str) else list(self.zeros)
        for name in wanted:
            if name not in names:
                raise unknown_name("joint", name, names, where="zeros")
        return [names.index(name) for name in wanted]


@dataclass(frozen=True, eq=False)
class Calibrated:
    """Zeros and gravity with their accuracy.

    robot: with these zeros and this gravity; its parameters are those it had
    zeros: joint -> (position of the model at the zero of the log, standard deviation), rad or m
    tilt: (angle to the declared gravity, standard deviation), rad; None: not asked for
    kept: the tilt is too small to be told from none, so that the declared direction was kept
    not_identifiable: joint -> why the torques do not tell its zero
    root: of the covariance of the base parameters, those of `robot`, then of zeros and gravity
    names: of these
    """

    robot: Robot
    zeros: dict[str, tuple[float, float]]
    tilt: tuple[float, float] | None
    kept: bool
    not_identifiable: dict[str, str]
    names: tuple[str, ...]
    root: Array

    def answers(self, finding: Finding) -> bool:
        """Whether a finding on the log, a zero or the direction of gravity, is estimated here."""
        if finding.rule == DIRECTION:
            return self.tilt is not None and not self.kept
        return finding.rule == ZERO and finding.where in self.zeros

    def passed_on(self, count: int) -> Array:
        """(count, r) root of the covariance that errors of zeros and gravity add to that of the base parameters.

        C_bz C_zz^-1 C_zb, which is R_b Q Q^T R_b^T with the rows of R_z spanned by Q
        """
        return np.asarray(self.root[:count] @ np.linalg.qr(self.root[count:].T)[0])

    def section(self) -> Section:
        """The estimates as a table."""
        unit = {joint.name: UNITS[joint.kind].position for joint in self.robot.joints}
        rows = [(f"zero of {name}", f"{x:+.4g}", f"{std:.2g}", unit[name]) for name, (x, std) in self.zeros.items()]
        if self.tilt is not None:
            rows.append(("tilt of gravity", f"{self.tilt[0]:.4g}", f"{self.tilt[1]:.2g}", "rad"))
            rows += [
                (f"gravity {axis}", f"{float(x):.4f}", "", "m/s^2")
                for axis, x in zip("xyz", self.robot.gravity, strict=True)
            ]
        rows += [(f"zero of {name}", "-", "", "") for name in self.not_identifiable]
        notes = [f"Zero of {name} not identifiable: {why}." for name, why in self.not_identifiable.items()]
        if self.tilt is not None:
            notes.append("The magnitude of gravity is kept: torques tell only its products with masses.")
            notes += ["The tilt cannot be told from none: the declared direction is kept."] if self.kept else []
        notes.append("Zero: position of the declared model at the zero of the log; the identified robot includes it.")
        heads = (Column("unknown"), Column("value"), Column("std"), Column("unit"))
        return Section("Zeros and gravity", heads, tuple(rows), " ".join(notes))

    def record(self) -> dict[str, Any]:
        """The estimates as plain data."""
        return {
            "zeros": {name: {"value": x, "std": std} for name, (x, std) in self.zeros.items()},
            "gravity": [float(x) for x in self.robot.gravity],
            "tilt": None if self.tilt is None else {"value": self.tilt[0], "std": self.tilt[1], "kept": self.kept},
            "not_identifiable": dict(self.not_identifiable),
        }


def calibrate(robot: Robot, samples: Samples, include: tuple[str, ...], wanted: Calibration) -> Calibrated:
    """Estimate zeros and gravity from processed samples.

    Args:    robot: with the declared zeros and gravity
             samples: torques of what is not identified subtracted
             include: families of parameters to identify beside
             wanted: what is unknown
    Raises:  ArmdynError for a zero that was asked for by name and that the torques do not tell.
    """
    if robot.constrained:
        raise NotApplicable(
            "zeros and gravity of a closed chain",
            where=f"robot {robot.name!r}",
            expected="a robot without loops and mimic joints",
        )
    if "inertial" not in include:
        raise ArmdynError(
            "zeros and gravity without bodies",
            where="identify",
            expected="the family 'inertial' among those to identify",
        )
    gravity = np.array([float(x) for x in robot.gravity])
    if wanted.gravity and not gravity.any():
        raise ArmdynError(
            "the direction of gravity of a model without gravity",
            where="identify",
            expected="gravity = (0, 0, -9.81) or its approximate direction in the model",
        )
    start = likely_gravity(robot, samples) if wanted.gravity else gravity
    search = _Search(robot, samples, include, start, np.zeros(robot.n), wanted.joints(robot), wanted.gravity)
    search.run()
    kept = False
    if wanted.gravity:
        tilt = search.tilt(gravity)
        kept = tilt[0] < SIGNIFICANT * tilt[1]
        # Parameters that act under tilted gravity only are estimated, once there is a tilt.
        search = search.again(gravity if kept else search.gravity, not kept)
        search.run()
    missing = search.lost
    if wanted.zeros != "all" and missing:
        raise ArmdynError(
            f"the torques do not tell the zero of {', '.join(missing)}",
            where="identify",
            expected="joints whose zero changes the torques as no other parameter does",
            advice=" ".join(f"{name}: {why}." for name, why in missing.items()),
        )
    estimate = search.estimate
    std, p = estimate.std, search.base.count
    first = p + 2 * search.free_gravity
    names = [joint.name for joint in robot.joints]
    zeros = {names[j]: (float(search.shift[j]), float(std[first + i])) for i, j in enumerate(search.joints)}
    found = with_zeros(with_gravity(robot, search.gravity), search.shift)
    return Calibrated(
        found,
        zeros,
        (tilt if kept else search.tilt(gravity)) if wanted.gravity else None,
        kept,
        missing,
        estimate.names,
        estimate.root,
    )


class _Search:
    """Gauss-Newton steps from zeros and gravity of the step before."""

    def __init__(
        self,
        robot: Robot,
        samples: Samples,
        include: tuple[str, ...],
        gravity: Array,
        shift: Array,
        joints: Sequence[int],
        free_gravity: bool,
    ) -> None:
        self.samples, self.include = samples, include
        self.gravity, self.shift, self.joints, self.free_gravity = gravity, shift.copy(), list(joints), free_gravity
        self.robot = with_gravity(robot, gravity)
        self.base = distinct_parameters(self.robot, include)
        self.lost: dict[str, str] = {}
        self.estimate: Estimate

    def again(self, gravity: Array, free_gravity: bool) -> _Search:
        """A search that starts from what was found."""
        other = _Search(self.robot, self.samples, self.include, gravity, self.shift, self.joints, free_gravity)
        other.lost = self.lost
        return other

    def run(self) -> None:
        values = Weighted()(observe(self.robot, self._moved(), self.base)).values
        for _ in range(MOST):
            observation = self._observed(values)
            if lost := self._dependent(observation):
                self.joints = [j for j in self.joints if j not in lost]
                observation = self._observed(values)
            self.estimate = estimate = Weighted()(observation)
            if self._uncertain(estimate):
                continue
            values, steps = estimate.values[: self.base.count], estimate.values[self.base.count :]
            self._step(steps * min(1.0, LONGEST / max(float(np.abs(steps).max(initial=0.0)), 1e-300)))
            if (np.abs(steps) <= SETTLED * estimate.std[self.base.count :]).all():
                return

    def _uncertain(self, estimate: Estimate) -> bool:
        """Whether there were zeros that the log hardly determines, which are named."""
        std = estimate.std[len(estimate.std) - len(self.joints) :]
        worst = int(np.argmax(std)) if len(std) else 0
        if not len(std) or std[worst] < LONGEST:
            return False
        j = self.joints.pop(worst)
        self.shift[j] = 0.0
        self.lost[self.robot.joints[j].name] = f"this log determines it to +- {std[worst]:.1g} only"
        return True

    def _step(self, steps: Array) -> None:
        if self.free_gravity:
            size = float(np.linalg.norm(self.gravity))
            moved = self.gravity + size * (steps[:2] @ self._across)
            self.gravity = size * moved / np.linalg.norm(moved)
        self.shift[self.joints] += steps[2 * self.free_gravity :]

    def tilt(self, declared: Array) -> tuple[float, float]:
        """Angle to the declared gravity, and its standard deviation, rad."""
        cosine = float(self.gravity @ declared) / float(np.linalg.norm(self.gravity) * np.linalg.norm(declared))
        p = self.base.count
        C = self.estimate.covariance[p : p + 2, p : p + 2]
        along = self._across @ declared
        length = float(np.linalg.norm(along))
        # Near no tilt at all there is no direction in which it would grow: the larger deviation counts.
        variance = along @ C @ along / length**2 if length > 0 else float(np.linalg.eigvalsh(C)[-1])
        return float(np.arccos(np.clip(cosine, -1, 1))), float(np.sqrt(variance))

    # Columns --------------------------------------------------------------------------------------------------------

    @property
    def _across(self) -> Array:
        """(2, 3) unit vectors across gravity."""
        across: Array = np.linalg.svd(self.gravity[None])[2][1:]
        return across

    def _moved(self) -> Samples:
        return replace(self.samples, q=self.samples.q + self.shift)

    @cached_property
    def _kernel(self) -> Any:
        """q, qd, qdd, g, b -> regressor of `base.columns`, and its product with b differentiated by q and by g."""
        names = parameter_names(self.robot, self.include)
        chosen = [names.index(name) for name in self.base.columns]

        def formula(q: Any, qd: Any, qdd: Any, g: Any, b: Any) -> dict[str, Any]:
            placed = replace(self.robot, gravity=Vec3(*g), expressions=None)
            Y = [[row[c] for c in chosen] for row in regressor.formula(placed, q, qd, qdd, self.include)]
            tau = tuple(sum((y * x for y, x in zip(row, b, strict=True)), start=0 * b[0]) for row in Y)
            return {"Y": Y, "by_q": derivative(tau, q), "by_g": derivative(tau, g)}

        sizes = {**dict.fromkeys(("q", "qd", "qdd"), self.robot.n), "g": 3, "b": self.base.count}
        return program(trace(formula, sizes), "calibration", cache=True)

    def _observed(self, values: Array) -> Observation:
        """The observation with the columns of [CA-2] beside those of the base parameters."""
        base, n = self.base, self.robot.n
        b, size = base.from_columns @ values, float(np.linalg.norm(self.gravity))
        labels = [*(("tilt 1", "tilt 2") if self.free_gravity else ()), *(f"zero {j + 1}" for j in self.joints)]

        def columns(q: Array, qd: Array, qdd: Array) -> Array:
            Y, by_q, by_g = self._kernel(q, qd, qdd, self.gravity, b)
            parts = [Y @ base.from_columns, by_q[:, :, self.joints]]
            if self.free_gravity:
                parts.insert(1, size * by_g @ self._across.T)
            return np.concatenate(parts, axis=2).reshape(len(q), -1)

        rows = rows_of(self._moved(), columns, lambda flat: flat.reshape(len(flat), n, -1), n)
        return condensed(replace(base, names=(*base.names, *labels)), self.samples, list(rows))

    def _dependent(self, observation: Observation) -> list[int]:
        """Joints whose zero the torques do not tell, which are named with the reason."""
        p = self.base.count + 2 * self.free_gravity
        rows = stacked(observation, np.ones(self.robot.n))
        A, tau = rows[:, :-1], float(np.linalg.norm(rows[:, -1]))
        lengths = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
        basis = np.linalg.qr(A[:, :p] / lengths[:p])[0]
        lost = []
        for i, j in enumerate(self.joints):
            column, name = A[:, p + i], self.robot.joints[j].name
            left = column / lengths[p + i]
            for _ in range(2):  # the second time for what rounding left
                left = left - basis @ (basis.T @ left)
            if lengths[p + i] < NO_EFFECT * tau:
                self.lost[name] = (
                    "a turn about its axis, along the declared gravity, is a turn of the tilt"
                    if self.free_gravity
                    else "no torque depends on it, because its axis is along gravity"
                )
                lost.append(j)
            elif np.linalg.norm(left) < DEPENDENT:
                self.lost[name] = "centre of mass and inertia of its link, or the tilt of gravity, imitate it"
                lost.append(j)
            else:
                basis = np.column_stack([basis, left / np.linalg.norm(left)])
        return lost


def with_zeros(robot: Robot, shift: Array) -> Robot:
    """The robot whose joints are at q where they were at q + shift: zeros, limits and named configurations move."""
    moved = {joint.name: float(x) for joint, x in zip(robot.joints, shift, strict=True) if x}
    tree = tuple(_with_zero(joint, moved[joint.name]) if joint.name in moved else joint for joint in robot.tree)
    named = {
        name: {entry: x - moved[entry] if entry in moved else x for entry, x in given.items()}
        for name, given in robot.bound().configurations.items()
    }
    return replace(robot, tree=tree, configurations=named, expressions=None) if moved else robot


def _with_zero(joint: Joint, x: float) -> Joint:
    geometry, limits, spring = joint.geometry, joint.limits, joint.spring
    if isinstance(geometry, FreeTransform):
        geometry = replace(geometry, zero=geometry.zero + x)
    elif joint.kind == "revolute":
        geometry = replace(geometry, theta=geometry.theta + x)
    else:
        geometry = replace(geometry, d=geometry.d + x)
    if limits is not None:
        lower, upper = (None if end is None else end - x for end in (limits.lower, limits.upper))
        limits = replace(limits, lower=lower, upper=upper)
    if spring is not None:
        spring = replace(spring, rest=spring.rest - x)
    return replace(joint, geometry=geometry, limits=limits, spring=spring, home=joint.home - x)


__all__ = ["Calibrated", "Calibration", "calibrate", "with_zeros"]
