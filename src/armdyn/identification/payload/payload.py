"""The payload: mass, centre and inertia of what an arm carries, with error bars. Siciliano sec. 7.4, last paragraph.

From two logs. A payload changes the last link: its ten parameters phi change the base parameters by B_P phi,
with B_P the columns of that link in the map from standard to base parameters. Two estimates, with and without it, give

    beta_loaded - beta_unloaded = B_P phi + error,    covariance S = S_loaded + S_unloaded                        [PL-1]

and phi follows by generalised least squares. Estimates and covariances hold all that least squares of both logs
together would use, so no information is lost. Friction may change with the load: rows of other families are left out.

From a sensor at the wrist. Force and moment that the robot exerts on the payload are linear in phi with coefficients
of the measured motion (`Inertia.wrench`); constant errors of the sensor are estimated with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.algebra import Inertia, Mat3, Vec3, cross
from armdyn.errors import ArmdynError, PhysicsError, ShapeError
from armdyn.findings import Finding
from armdyn.identification.fit.estimation import Estimate, Estimator, Weighted
from armdyn.identification.fit.identify import Fit, identify
from armdyn.identification.log.log_format import LogFormat
from armdyn.identification.log.processing import Processing
from armdyn.identification.written import Written, written
from armdyn.mechanics.kane import seen_by_links
from armdyn.mechanics.kinematics import Motion
from armdyn.notebook_view import View
from armdyn.parameters import BaseParameters, physical_consistency
from armdyn.parameters.barrier import Barrier, minimised, prior_bodies
from armdyn.parameters.regressor import UNITS
from armdyn.parameters.standard import FAMILIES, INERTIAL
from armdyn.result import Result
from armdyn.robot import Robot
from armdyn.robot.features import TREE, takes
from armdyn.robot.links import WORLD
from armdyn.tables import Column, Section
from armdyn.typing import Array, Progress, quiet

LABELS = ("mass", "cx", "cy", "cz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
UNIT_OF = dict(zip(LABELS, ("kg", *["m"] * 3, *["kg m^2"] * 6), strict=True))
DETERMINED = 1e-6
"""Smallest singular value that counts, relative to the largest, each parameter in its own size."""


@dataclass(frozen=True, eq=False)
class Payload(Result):
    """An identified payload, in the axes and at the origin of `frame`.

    parameters: (10,) XX XY XZ YY YZ ZZ MX MY MZ M about the frame's origin, in which everything is linear
    covariance: (10, 10) of these
    frame: name of the frame
    undetermined: labels of what the data do not determine, given as zero
    residual: weighted misfit over its degrees of freedom, near 1 if the noise is as assumed
    findings: what is suspicious about the logs
    gain: measured torques over true ones and its standard deviation, if it was estimated and taken into account
    known_mass: kg, if it is known; the gain of the torques is shown then
    constrained: the parameters are those of the most probable body, because no body has the estimate
    robot: that carries it, if it is known
    """

    parameters: Array
    covariance: Array
    frame: str
    undetermined: tuple[str, ...] = ()
    residual: float = 1.0
    findings: tuple[Finding, ...] = ()
    gain: tuple[float, float] | None = None
    known_mass: float | None = None
    robot: Robot | None = None
    constrained: bool = False

    @cached_property
    def values(self) -> dict[str, float]:
        """Mass, centre of mass and tensor about it, by label."""
        return dict(zip(LABELS, central(self.parameters).tolist(), strict=True))

    @cached_property
    def std(self) -> dict[str, float]:
        """Standard deviations of the values, to first order; infinite where the data do not determine them."""
        J = np.array([_slope(self.parameters, k) for k in range(10)]).T
        deviations = np.sqrt(np.maximum(np.diag(J @ self.covariance @ J.T), 0.0))
        return {
            label: float("inf") if label in self.undetermined else float(s)
            for label, s in zip(LABELS, deviations, strict=True)
        }

    @property
    def mass(self) -> float:
        """Mass, kg."""
        return self.values["mass"]

    @property
    def com(self) -> Array:
        """(3,) centre of mass, m."""
        return np.array([self.values[x] for x in LABELS[1:4]])

    @property
    def inertia(self) -> Array:
        """(6,) xx xy xz yy yz zz about the centre of mass, kg m^2."""
        return np.array([self.values[x] for x in LABELS[4:]])

    @property
    def physically_consistent(self) -> bool:
        """Whether a body can have these parameters."""
        names = [f"{kind}1" for kind in INERTIAL]
        return physical_consistency(dict(zip(names, self.parameters.tolist(), strict=True))).consistent

    def made_consistent(self) -> Payload:
        """The most probable physically consistent payload: the estimate, with the barrier of `barrier`."""
        if self.undetermined:
            raise PhysicsError(
                f"the data do not determine {', '.join(self.undetermined)}",
                where="payload",
                advice="Measure a motion that turns the payload about all its axes.",
            )
        scale = 1 / np.sqrt(np.diag(self.covariance))
        H = np.outer(scale, scale) * np.linalg.inv(self.covariance * np.outer(scale, scale))
        none = np.zeros(0, dtype=int)
        barrier = Barrier(np.arange(10)[None], prior_bodies(self.parameters[None]), none, np.zeros(0))
        found = minimised(H, H @ self.parameters, barrier, barrier.start(10))[0]
        return replace(self, parameters=found, constrained=True)

    def torque_gain(self, mass: float) -> tuple[float, float]:
        """(gain, its standard deviation): measured torques over true ones, if the payload's mass is known, kg."""
        if not mass > 0:
            raise ArmdynError(f"mass = {mass}", where="payload", expected="a positive mass, kg")
        return self.mass / mass, self.std["mass"] / mass

    def with_gain(self, gain: float, std: float) -> Payload:
        """The payload if the torques that gave it were `gain` times the true ones; `std`: of the gain."""
        phi = self.parameters / gain
        covariance = self.covariance / gain**2 + (std / gain) ** 2 * np.outer(phi, phi)
        return replace(self, parameters=phi, covariance=covariance, gain=(gain, std))

    def added_to(self, robot: Robot) -> Robot:
        """The robot with this payload."""
        on = None if self.frame == "tool" else self.frame
        return robot.with_payload(self.mass, tuple(self.com.tolist()), tuple(self.inertia.tolist()), on=on)

    def _view(self) -> View:
        rows = []
        for label, value in self.values.items():
            known = label not in self.undetermined
            rows.append(
                (label, f"{value:.5g}" if known else "-", f"{self.std[label]:.2g}" if known else "-", UNIT_OF[label])
            )
        section = Section(
            "", tuple(map(Column, ("payload", "value", "std", "unit"))), tuple(rows), "Tensor at the centre of mass."
        )
        notes = [f"Suspicious log, {finding.where}: {finding.what}. {finding.advice}" for finding in self.findings]
        if self.constrained:
            notes.append("No body has the unconstrained estimate; this is the most probable one that is a body.")
        if self.gain is not None:
            notes.append(
                f"The measured torques are {self.gain[0]:.4g} +- {self.gain[1]:.2g} times those that the "
                "robot's masses need; the payload accounts for it."
            )
        if self.known_mass is not None:
            gain, std = self.torque_gain(self.known_mass)
            notes.append(
                f"Torques are {gain:.4g} +- {std:.2g} times the true ones: gains = {1 / gain:.4g} in the "
                "section [log] of the logger's file."
            )
        words = f"{len(self.findings)} findings on the logs" if self.findings else "no issues found"
        return View(f"Payload in frame {self.frame!r}", (words, not self.findings), (), (), [section], (), notes)

    def record(self) -> dict[str, Any]:
        """Values with standard deviations (None: not determined), gain of the torques, findings."""
        values = {
            label: {
                "value": None if label in self.undetermined else x,
                "std": None if label in self.undetermined else self.std[label],
                "unit": UNIT_OF[label],
            }
            for label, x in self.values.items()
        }
        gain = self.gain if self.known_mass is None else self.torque_gain(self.known_mass)
        return {
            "frame": self.frame,
            "payload": values,
            "residual": self.residual,
            "constrained": self.constrained,
            "gain": None if gain is None else {"value": gain[0], "std": gain[1]},
            "findings": [finding.record() for finding in self.findings],
        }

    def save(self, path: str | Path) -> Written:
        """Write the robot with this payload, and check the file."""
        if self.robot is None:
            raise ArmdynError("a payload without its robot", where="payload", advice="Use added_to(robot).save(path).")
        return written(self.added_to(self.robot), path)


def central(parameters: Array) -> Array:
    """(10,) mass, centre of mass, tensor about it, of parameters about the origin; of zeros without mass."""
    body = Inertia.from_parameters(*(float(x) for x in parameters)).about_com()
    return np.array([body.mass, *body.com, *body.tensor.upper()], dtype=float)


def _slope(parameters: Array, k: int) -> Array:
    """Derivative of `central` by parameter k, by a complex step of the formulas m, s/m, I - s s^T/m."""
    step = 1e-30
    x = parameters.astype(complex)
    x[k] += 1j * step
    tensor = Mat3.symmetric(*x[:6])
    mass, com = x[9], Vec3(*(x[6:9] / x[9]))
    body = Inertia(mass, Vec3(*x[6:9]), tensor)
    steiner = body.mass * (Mat3.identity() * com.dot(com)) - body.mass * Mat3([[a * b for b in com] for a in com])
    values = [mass, *com, *(body.tensor - steiner).upper()]
    return np.imag(np.array(values)) / step


# From two logs ------------------------------------------------------------------------------------------------------


@takes(*TREE)
def payload(
    robot: Robot,
    loaded: Any,
    unloaded: Any,
    *,
    frame: str = "tool",
    friction_changes: bool = True,
    calibrated: bool = False,
    known_mass: float | None = None,
    include: tuple[str, ...] = tuple(FAMILIES),
    estimator: Estimator | None = None,
    log_format: LogFormat | str | Path | None = None,
    processing: Processing | None = None,
    progress: Progress = quiet,
) -> Payload:
    """Identify the payload from a log with it and one without it, by two identifications of the robot.

    Where no body has the estimate and the data determine all of it, the result is the most probable body.

    Args:    robot: without the payload
             loaded, unloaded: logs as for `identify`; the motions may differ
             frame: in which the payload is given: the tool, or the body that carries it
             friction_changes: let friction, rotors and offsets differ between the logs
             calibrated: trust the robot's inertial parameters: what the log without the payload finds of them is the
                         gain of the torques, whose uncertainty enters that of the payload (default: gains are right)
             known_mass: of the payload, kg: the gain of the torques follows from it (default: unknown)
             estimator: of the base parameters (default: Weighted(), without the model's bodies as a prior)
             include, log_format, processing, progress: as in `identify`
    """

    def fitted(log: Any, start: float) -> Fit:
        said: Progress = lambda step, done: progress(step, start + done / 2)  # noqa: E731
        return identify(
            robot,
            log,
            include=include,
            free=estimator or Weighted(),
            log_format=log_format,
            processing=processing,
            progress=said,
        )

    before, after = fitted(unloaded, 0.0), fitted(loaded, 0.5)
    found = payload_from_estimates(before, after, frame=frame, friction_changes=friction_changes)
    suspicious = [f for f in (*before.training.findings, *after.training.findings) if f.severity != "note"]
    found = replace(found, findings=tuple(dict.fromkeys(suspicious)), known_mass=known_mass, robot=robot)
    found = found.with_gain(*torque_gain(before.base, before.estimate)) if calibrated else found
    return found if found.undetermined or found.physically_consistent else found.made_consistent()


def torque_gain(base: BaseParameters, estimate: Estimate) -> tuple[float, float]:
    """(gain, its standard deviation): measured torques over true ones if the robot's inertial parameters are true.

    The estimate x of the inertial base parameters b is x = gain b + error of covariance C: generalised least squares.
    """
    inertial = [i for i, place in enumerate(base.places) if place.rstrip("0123456789") in INERTIAL]
    b, x = base.values[inertial], estimate.values[inertial]
    if not b.any():
        raise PhysicsError(
            "the robot has no inertial parameters to trust",
            where="payload",
            advice="Calibrate with a robot whose masses are known.",
        )
    C = estimate.covariance[np.ix_(inertial, inertial)]
    scale = np.sqrt(np.maximum(np.diag(C), 1e-300))
    W = np.linalg.pinv(C / np.outer(scale, scale), hermitian=True) / np.outer(scale, scale)
    weight = float(b @ W @ b)
    return float(b @ W @ x) / weight, 1 / math.sqrt(weight)


def payload_from_estimates(
    unloaded: Fit | tuple[BaseParameters, Estimate],
    loaded: Fit | tuple[BaseParameters, Estimate],
    *,
    frame: str = "tool",
    friction_changes: bool = True,
) -> Payload:
    """The payload from two identifications of the same base parameters. [PL-1]"""
    (base, before), (other, after) = (x if isinstance(x, tuple) else (x.base, x.estimate) for x in (unloaded, loaded))
    if base.names != other.names:
        raise ArmdynError(
            "the two identifications are of different base parameters",
            where="payload",
            expected="the same robot and the same families",
        )
    B = _carried(base, frame)
    inertial = [name.rstrip("0123456789") in INERTIAL for name in base.standard]
    rows = base.matrix[:, inertial].any(axis=1) if friction_changes else np.ones(base.count, dtype=bool)
    difference = (after.values - before.values)[rows]
    S = (after.covariance + before.covariance)[np.ix_(rows, rows)]
    return _least_squares(B[rows], difference, S, frame, scaled=False)


def _carried(base: BaseParameters, frame: str) -> Array:
    """(p, 10) what parameters given in the frame do to the base parameters."""
    link, pose = base.robot.frame(frame)
    if link == WORLD:
        raise ArmdynError(f"frame {frame!r} does not move", where="payload", expected="the tool or a moving body")
    columns = [base.standard.index(f"{kind}{link + 1}") for kind in INERTIAL if f"{kind}{link + 1}" in base.standard]
    if len(columns) != len(INERTIAL):
        raise ArmdynError(
            "parameters of the last link are left out",
            where="payload",
            expected="base parameters of the family 'inertial' without `absent`",
        )
    # Linear: the unit parameters of the frame, seen from the link.
    T = np.array([Inertia.from_parameters(*row).seen_from(pose).parameters() for row in np.eye(10)], dtype=float).T
    B: Array = base.matrix[:, columns] @ T
    return B


def _least_squares(A: Array, y: Array, S: Array, frame: str, *, scaled: bool) -> Payload:
    """Generalised least squares y = A phi + error of covariance S, where A may leave some of phi undetermined."""
    std = np.sqrt(np.diag(S))
    R = np.linalg.cholesky(np.linalg.inv(S / np.outer(std, std))).T / std
    W, z = R @ A, R @ y
    size = np.linalg.norm(W, axis=0)
    size[size == 0] = 1.0
    U, s, Vt = np.linalg.svd(W / size, full_matrices=False)
    kept = s > DETERMINED * max(float(s[0]), DETERMINED)
    inverse = (Vt[kept].T / s[kept]) @ U[:, kept].T / size[:, None]
    phi = inverse @ z
    determined = (Vt[kept] ** 2).sum(axis=0) > 1 - 1e-6
    freedom = max(len(z) - int(kept.sum()), 1)
    misfit = float(np.sum((z - W @ phi) ** 2)) / freedom
    covariance = inverse @ inverse.T * (misfit if scaled else 1.0)
    return _payload(np.where(determined, phi, 0.0), covariance, determined, frame, misfit)


def _payload(phi: Array, covariance: Array, determined: Array, frame: str, misfit: float) -> Payload:
    """Mark what follows from undetermined parameters: a centre of mass needs its moment, a tensor its centre."""
    if not determined[9]:
        raise PhysicsError(
            "the data do not determine the mass",
            where="payload",
            advice="Measure a motion in which gravity or acceleration acts on the joints.",
        )
    if not phi[9] > 0:
        raise PhysicsError(
            f"the mass comes out as {phi[9]:.4g} kg",
            where="payload",
            advice="Check which log is the loaded one, and the signs of the torques.",
        )
    undetermined = [LABELS[1 + k] for k in range(3) if not determined[6 + k]]
    pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    for k, (i, j) in enumerate(pairs):
        needed = set(range(3)) - {i} if i == j else {i, j}
        if not determined[k] or not all(determined[6 + m] for m in needed):
            undetermined.append(LABELS[4 + k])
    return Payload(phi, covariance, frame, tuple(undetermined), misfit)


# From a sensor at the wrist -----------------------------------------------------------------------------------------


@takes("elastic", *TREE)
def payload_from_sensor(
    robot: Robot,
    q: Any,
    qd: Any,
    qdd: Any,
    wrench: Any,
    *,
    frame: str = "tool",
    noise: Mapping[str, float] | None = None,
    bias: bool = True,
) -> Payload:
    """The payload beyond a force and moment sensor at the wrist.

    Args:    robot: that moves the payload
             q, qd, qdd: (N, n) motion
             wrench: (N, 6) force and moment that the robot exerts on the payload, in the axes of `frame` and about
                     its origin, N, N m
             frame: in which the payload is given
             noise: standard deviations of "force" and "moment", N, N m (default: estimated from the residuals)
             bias: estimate the sensor's constant errors too
    """
    states = [np.asarray(x, dtype=float) for x in (q, qd, qdd)]
    measured = np.asarray(wrench, dtype=float)
    count = len(states[0])
    if any(x.shape != (count, robot.n) for x in states) or measured.shape != (count, 6):
        raise ShapeError(f"q {states[0].shape}, wrench {measured.shape}", expected=f"(N, {robot.n}), (N, 6)")
    A = wrench_regressor(robot, *states, frame=frame)
    if bias:
        A = np.concatenate([A, np.broadcast_to(np.eye(6), (count, 6, 6))], axis=2)
    sigma = np.ones(6) if noise is None else np.repeat([noise["force"], noise["moment"]], 3)
    if noise is None:
        sigma = _residual_noise(A, measured)
    W = (A / sigma[:, None]).reshape(count * 6, -1)
    z = (measured / sigma).ravel()
    if bias:  # the constants are eliminated: what is left of the rows orthogonal to them
        Q = np.linalg.qr(W[:, 10:])[0]
        lengths = np.linalg.norm(W[:, :10], axis=0)
        W, z = W[:, :10] - Q @ (Q.T @ W[:, :10]), z - Q @ (Q.T @ z)
        W[:, np.linalg.norm(W, axis=0) < 1e-9 * lengths] = 0.0  # a constant column: only rounding is left of it
    # A triangle of the same products stands for the rows: eleven rows instead of 6 N.
    F = np.asarray(np.linalg.qr(np.column_stack([W, z]), mode="r"))
    rest = float(F[-1, -1] ** 2) / max(len(z) - A.shape[2], 1)
    found = _least_squares(F[:-1, :-1], F[:-1, -1], np.eye(10), frame, scaled=False)
    return Payload(
        found.parameters, found.covariance * (rest if noise is None else 1.0), frame, found.undetermined, rest
    )


def _residual_noise(A: Array, measured: Array) -> Array:
    """(6,) deviations of force and moment, the three axes alike, from the residuals of least squares, done twice."""
    W, sigma = A.reshape(-1, A.shape[2]), np.ones(6)
    for _ in range(2):
        weights = np.tile(1 / sigma, len(A))
        fit = np.linalg.lstsq(W * weights[:, None], measured.ravel() * weights, rcond=DETERMINED)[0]
        residual = (measured - A @ fit).reshape(len(A), 2, 3)
        sigma = np.repeat(np.sqrt(np.maximum((residual**2).mean(axis=(0, 2)), 1e-24)), 3)
    return sigma


def wrench_regressor(robot: Robot, q: Array, qd: Array, qdd: Array, *, frame: str = "tool") -> Array:
    """(N, 6, 10): force and moment of unit parameters, in the axes of a frame fixed in a link, about its origin."""
    link, pose = robot.frame(frame)
    if link == WORLD:
        raise ArmdynError(f"frame {frame!r} does not move", where="payload", expected="the tool or a moving body")
    columns = [[x[:, i] for i in range(robot.n)] for x in (q, qd, qdd)]
    motion = Motion(robot, columns[0], columns[1], columns[2])
    g = seen_by_links(robot, columns[0], robot.gravity)[link]
    w, wd, p = motion.w[link], motion.wd[link], pose.p
    a = motion.a[link] + cross(wd, p) + cross(w, cross(w, p)) - g
    w, wd, a = (pose.R.T @ x for x in (w, wd, a))
    Y = np.zeros((len(q), 6, 10))
    for k, unit in enumerate(UNITS):
        force, moment = unit.wrench(w, wd, a)
        for i, entry in enumerate((*force, *moment)):
            Y[:, i, k] = entry
    return Y


__all__ = [
    "Payload",
    "payload",
    "payload_from_estimates",
    "payload_from_sensor",
    "wrench_regressor",
]
