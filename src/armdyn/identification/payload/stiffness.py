"""Stiffness and damping of elastic joints, from a log with the encoders of motors and links.

Khalil (7.35b) has neither masses nor inertias of links, and its unknowns are linear. For every elastic joint,

    tau = k (theta - q) + d (thetad - qd) + I_a thetadd + F_v thetad + F_c sign(thetad) + offset                   [E-1]

theta: motor, seen at the joint; q: link; tau: torque of the motor, seen at the joint. The offset takes up the torque
offset and what the zeros of the two encoders differ by. With k and d known, the spring tells what it exerts on the
link, and the links' own parameters follow by `identify` from the rigid robot and `links_log`.

Two errors are not in the standard deviations. Noise of the encoders makes k too small, by the square of the share of
the spring's deflection that is noise (`noise_share`). A delay between torques and encoders counts as damping, k times
the delay: a torque that is held for a sample acts half a sample later than its stamp.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.errors import ShapeError
from armdyn.identification.log.filters import decimated, decimated_keep
from armdyn.identification.log.log import Log
from armdyn.identification.log.log_format import LogFormat
from armdyn.identification.log.logger_file import declared
from armdyn.identification.log.processing import Processing, process
from armdyn.identification.log.readers import read_log
from armdyn.identification.written import Written, written
from armdyn.mechanics.elastic import elastic_coordinates
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot import Robot
from armdyn.robot.features import BODIES, takes
from armdyn.robot.parts import Elastic, Rotor
from armdyn.tables import Column, Section
from armdyn.typing import Array

LAGS = 10
"""Samples after which errors of the fit count as independent (Newey and West, weights falling linearly)."""
SMALLEST = 20
"""Samples that count, at least."""
PARTS = ("stiffness", "damping", "inertia", "viscous", "coulomb", "offset")


@dataclass(frozen=True)
class ElasticJoint:
    """What was found for one joint, all at the joint's side, each value with its standard deviation in `std`.

    stiffness: N m/rad or N/m. damping: of the spring, N m s/rad or N s/m. inertia: of the rotor. viscous, coulomb:
    friction of the motor's side. offset: N m or N. residual: rms of the torques' error, relative to their rms.
    noise_share: share of the spring's deflection that is noise of the encoders (rms, what the low-pass took away).
    """

    name: str
    stiffness: float
    damping: float
    inertia: float
    viscous: float
    coulomb: float
    offset: float
    std: Mapping[str, float]
    residual: float
    noise_share: float


@dataclass(frozen=True, eq=False)
class ElasticFit(Result):
    """Elastic joints as identified. robot: with their values. links_log: motion of the links and torques on them."""

    joints: tuple[ElasticJoint, ...]
    robot: Robot
    links_log: Log

    def _view(self) -> View:
        columns = (Column("joint"), *(Column(part) for part in PARTS), Column("residual"))
        rows = tuple(
            (
                each.name,
                *(f"{getattr(each, part):.5g} +- {each.std[part]:.2g}" for part in PARTS),
                f"{100 * each.residual:.2g} %",
            )
            for each in self.joints
        )
        share = max(each.noise_share for each in self.joints) ** 2
        note = (
            f"At the joints' side; +-: standard deviation. Noise of the encoders lowers the stiffness by {share:.1e}."
        )
        title = f"Elastic joints of {self.robot.name}"
        return View(title, None, (), (), [Section("Stiffness, damping, motors", columns, rows, note)])

    def record(self) -> dict[str, Any]:
        """What was found, joint by joint."""
        return {"robot": self.robot.name, "joints": {each.name: asdict(each) for each in self.joints}}

    def save(self, path: str | Path) -> Written:
        """Write the robot with what was identified, and check the file."""
        return written(self.robot, path)


@takes("elastic", *(name for name in BODIES if name != "coupling"))
def stiffness(
    robot: Robot,
    log: Any,
    *,
    link: str = "q{i}",
    motor: str = "theta{i}",
    delay: float = 0.0,
    log_format: LogFormat | str | Path | None = None,
    processing: Processing | None = None,
) -> ElasticFit:
    """Stiffness, damping, rotor inertia and motor friction of elastic joints. [E-1]

    robot: says which joints are elastic; the values it has for them are not used.
    log: a file as `read_log` takes it, or a mapping with t, q, theta and tau: (N,), (N, n).
    link, motor: columns of the links' and motors' positions in a file; {i} counts from 1, {joint} is the name.
    delay: time by which torques act later than their stamps say, s (half a sample for torques that are held).
    log_format: units and further columns (default: SI, joint side).
    processing: filter and decimation (default: chosen from the log).

    Raises RobotError if no joint is elastic, ShapeError if too few samples count.
    """
    elastic_coordinates(robot)
    log_format, processing = declared(log_format, processing)
    both = _delayed(_both_sides(robot, log, link, motor, log_format), delay)
    n = robot.n
    samples = process(both, None, processing)
    raw = np.interp(samples.t, both.t, np.arange(len(both.t))).round().astype(int)
    found = {}
    for j, joint in enumerate(robot.joints):
        if joint.elastic is not None:
            stretch = samples.q[:, n + j] - samples.q[:, j]
            noise = both.q[raw, n + j] - both.q[raw, j] - stretch
            found[j] = _fitted(
                joint.name,
                _regressor(samples, j, n),
                samples.tau[:, j],
                samples.keep[:, n + j],
                samples.decimation,
                float(noise.std() / max(stretch.std(), 1e-300)),
            )
    return ElasticFit(tuple(found.values()), _with(robot, found), _links_log(robot, samples, found))


def _both_sides(robot: Robot, log: Any, link: str, motor: str, log_format: LogFormat) -> Log:
    """One log with the positions of links, then of motors, and the motors' torques for both."""
    rigid = robot.without("elastic")
    sides = []
    for name, columns in (("q", link), ("theta", motor)):
        if isinstance(log, Mapping):
            sides.append(read_log({"t": log["t"], "q": log[name], "tau": log["tau"]}, rigid, log_format))
        else:
            chosen = {**(log_format.columns or {}), "q": columns}
            sides.append(read_log(log, rigid, replace(log_format, columns=chosen)))
    links, motors = sides
    if links.t.shape != motors.t.shape or (links.t != motors.t).any():
        raise ShapeError(
            "samples of links and motors differ in number",
            where=f"log {links.source}",
            expected="the same time stamps for both encoders",
            advice="Leave out samples in which one of them is missing.",
        )
    names = (*links.joints, *(f"motor of {name}" for name in motors.joints))
    return Log(
        links.t,
        np.hstack([links.q, motors.q]),
        np.hstack([links.tau, links.tau]),
        joints=names,
        source=links.source,
        findings=links.findings,
    )


def _delayed(log: Log, delay: float) -> Log:
    """The log with the torques that act at its times."""
    if not delay:
        return log
    tau = np.column_stack([np.interp(log.t - delay, log.t, column) for column in log.tau.T])
    return replace(log, tau=tau)


def _regressor(samples: Any, j: int, n: int) -> Array:
    """(N, 6) columns of [E-1]."""
    m = n + j
    qd = samples.qd[:, m]
    return np.column_stack(
        [
            samples.q[:, m] - samples.q[:, j],
            qd - samples.qd[:, j],
            samples.qdd[:, m],
            qd,
            np.sign(qd),
            np.ones(len(samples.t)),
        ]
    )


def _fitted(name: str, X: Array, tau: Array, keep: Array, factor: int, noise_share: float) -> ElasticJoint:
    rows = decimated_keep(keep[:, None], factor)[:, 0]
    X, y = decimated(X, factor)[rows], decimated(tau, factor)[rows]
    if len(y) < SMALLEST:
        raise ShapeError(
            f"{len(y)} samples count",
            where=f"joint {name!r}",
            expected=f"at least {SMALLEST}",
            advice="Log a longer motion, or a faster one.",
        )
    scale = np.sqrt(np.mean(X**2, axis=0))
    A = X / scale
    values = np.linalg.lstsq(A, y, rcond=None)[0]
    error = y - A @ values
    inverse = np.linalg.pinv(A.T @ A)
    scores = A * error[:, None]
    spread = scores.T @ scores
    for lag in range(1, LAGS + 1):
        part = scores[lag:].T @ scores[:-lag]
        spread += (1 - lag / (LAGS + 1)) * (part + part.T)
    degrees = len(y) / max(len(y) - len(values), 1)
    std = np.sqrt(np.maximum(np.diag(inverse @ spread @ inverse), 0) * degrees) / scale
    residual = float(np.sqrt(np.mean(error**2) / np.mean(y**2)))
    parts = dict(zip(PARTS, (values / scale).tolist(), strict=True))
    return ElasticJoint(
        name, **parts, std=dict(zip(PARTS, std.tolist(), strict=True)), residual=residual, noise_share=noise_share
    )


def _with(robot: Robot, found: Mapping[int, ElasticJoint]) -> Robot:
    """The robot with the identified transmissions and rotors; what must not be negative is not."""
    changed = {}
    for j, each in found.items():
        joint = robot.joints[j]
        rotor = joint.rotor or Rotor()
        elastic = Elastic(each.stiffness, max(each.damping, 0.0), max(each.viscous, 0.0), max(each.coulomb, 0.0))
        inertia = max(each.inertia, 0.0) / float(rotor.ratio) ** 2
        changed[joint.name] = replace(joint, elastic=elastic, rotor=replace(rotor, inertia=inertia))
    tree = tuple(changed.get(joint.name, joint) for joint in robot.bound().tree)
    return replace(robot.bound(), tree=tree, expressions=None)


def _links_log(robot: Robot, samples: Any, found: Mapping[int, ElasticJoint]) -> Log:
    """Motion of the links, and the torques on them: those of springs, and of the motors of rigid joints."""
    n = robot.n
    tau = samples.tau[:, :n].copy()
    for j, each in found.items():
        stretch, rate = (x[:, n + j] - x[:, j] for x in (samples.q, samples.qd))
        tau[:, j] = each.stiffness * stretch + each.damping * rate
    names = tuple(joint.name for joint in robot.joints)
    qd, qdd = (x[:, :n] for x in (samples.qd, samples.qdd))
    return Log(samples.t, samples.q[:, :n], tau, qd, qdd, joints=names, source="springs of elastic joints")


__all__ = ["ElasticFit", "ElasticJoint", "stiffness"]
