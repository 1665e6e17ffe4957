"""Checks of identification."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn import identification, parameters
from armdyn.identification.excitation.excite import ExcitationLimits, Search
from armdyn.identification.excitation.harmonics import Harmonics
from support.cells.case import Case, cell, close, refusal
from support.cells.equations import check_base


@cell("identification.identify")
def _identify(c: Case) -> None:
    """Torques of the second model, reproduced on another motion; static friction is left out and reported."""
    rounded = any(joint.friction is not None and joint.friction.law == "rounded" for joint in c.robot.tree)
    truth = Case(c.robot.without("static_friction", *(("friction_law",) if rounded else ())))
    found = identification.identify(c.robot, truth.samples, free=identification.Weighted())
    close(found.predict([0.0], c.q[None], c.qd[None], c.qdd[None])[0], truth.tau, 1e-6)  # of least squares
    assert ("static_friction" in c.robot.features) == ("static_friction" in found.robot.left_out)


@cell("identification.observe")
def _observe(c: Case) -> None:
    base = parameters.base_parameters(c.robot, tuple(parameters.standard.FAMILIES))
    found = identification.observe(c.robot, c.samples, base)
    Y = np.concatenate([rows.Y for rows in found.rows()])
    close(Y @ base.values, c.samples.tau)


@cell("identification.predicted_std", "identification.excite")
def _excite(c: Case) -> None:
    """The regressor along the motion found has the condition that it reports, and tells all parameters."""
    found = identification.excite(
        c.robot,
        harmonics=Harmonics(count=2, period=3.0),
        search=Search(starts=1, iterations=2),
        limits=ExcitationLimits(v_max=3.0, a_max=20.0),
    )
    base = parameters.base_parameters(c.robot, ("inertial", "friction"))
    predicted = identification.predicted_std(base, found.motion, 1.0, rate=20.0)
    t = np.arange(round(20.0 * found.motion.duration)) / 20.0
    qd = found.motion(t, 1)
    qd[np.abs(qd) < 1e-9] = 0  # at rest, not in the direction of a rounding
    W = np.vstack(list(base.regressor(found.motion(t), qd, found.motion(t, 2))))
    close(predicted.std, np.sqrt(np.diag(np.linalg.inv(W.T @ W))), 1e-5)  # of an ill-conditioned inverse
    check_base(c)


@cell("identification.payload")
def _identify_payload(c: Case) -> None:
    bare = c if "static_friction" not in c.robot.features else Case(c.robot.without("static_friction"))
    heavy = Case(bare.robot.with_payload(2.0, (0.03, 0.02, 0.05)))
    found = identification.payload(c.robot, heavy.samples, bare.samples)
    assert abs(found.mass - 2.0) < 1e-3


@cell("identification.identifiable")
def _identifiable(c: Case) -> None:
    """Its base parameters give the torques of the second model, and its null space changes none of them."""
    found = identification.identifiable(c.robot, include=tuple(parameters.standard.FAMILIES))
    base = found.base
    close(base.regressor(c.q, c.qd, c.qdd) @ base.values, c.tau)
    for change in found.null_space.values():
        whole = np.array([change.get(name, 0.0) for name in base.standard])
        close(base.matrix @ whole, np.zeros(base.count), 1e-9)


@cell("identification.stiffness")
def _stiffness(c: Case) -> None:
    """Motor torques of the second model along any motion of links and motors: links do not enter them."""
    if not c.dyn.coordinates.doubled:
        assert "elastic" in str(refusal(lambda: identification.stiffness(c.robot, {})))
        return
    t = np.arange(0, 8, 0.01)
    random = np.random.default_rng(2)
    w, a, phase = random.uniform(2, 9, (c.model.size, 3)), random.uniform(0.1, 0.3), random.uniform(0, 6, (3,))
    angle = t[:, None, None] * w + phase
    x, xd, xdd = (np.sum(y, axis=2) for y in (a * np.sin(angle), a * w * np.cos(angle), -a * w**2 * np.sin(angle)))
    motors = list(c.dyn.coordinates.motors)
    tau = np.array([c.model.inverse_dynamics(*state)[motors] for state in zip(x, xd, xdd, strict=True)])
    log = {"t": t, "q": x[:, : c.n], "theta": x[:, motors], "tau": tau}
    for found in identification.stiffness(c.robot, log).joints:
        joint = next(joint for joint in c.robot.joints if joint.name == found.name)
        close(found.stiffness / joint.elastic.stiffness, 1, 1e-3)  # of the low-pass


@cell("identification.payload_from_sensor")
def _sensor(c: Case) -> None:
    """Weight and inertia of 2 kg at the tool, in its axes."""
    s, com, m = c.samples, np.array([0.03, 0.02, 0.05]), 2.0
    wrenches = []
    for q, qd, qdd in zip(s.q[:60], s.qd[:60], s.qdd[:60], strict=True):
        x, xd, xdd = (_pad(c, v) for v in (q, qd, qdd))
        T, J = np.real(c.model.pose(x)), c.model.jacobian(x).real
        a = J @ xdd + c.drift(x, xd)
        w, R, p = (J @ xd)[3:], T[:3, :3], T[:3, :3] @ com
        force = m * (a[:3] + np.cross(a[3:], p) + np.cross(w, np.cross(w, p)) - c.model.gravity_vector)
        wrenches.append(np.concatenate([R.T @ force, R.T @ np.cross(p, force)]))
    found = identification.payload_from_sensor(c.robot, s.q[:60], s.qd[:60], s.qdd[:60], np.array(wrenches))
    close(np.append(found.mass, found.com), np.append(m, com), 1e-6)


def _pad(c: Case, v: Any) -> Any:
    return np.append(v, np.zeros(c.model.size - c.n))
