"""Checks of control laws and their gains."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import eigh

import armdyn
from armdyn import control
from armdyn.control.base import Desired
from armdyn.parameters.standard import INERTIAL, with_standard_parameters
from armdyn.robot.parts import Limits
from support.cells.case import KD, KP, TAU_MAX, Case, cell, close, refusal
from support.energy_model import EnergyModel


def _torque(law: Any, c: Case, desired: Desired, q: Any = None, qd: Any = None) -> Any:
    q, qd = c.q if q is None else q, c.qd if qd is None else qd
    memory = law.start(q, qd)
    return law(0.0, q, qd, desired, memory)


def _wanted(c: Case) -> Desired:
    return Desired(c.q + 0.1, c.qd - 0.2, c.qdd)


@cell("control.ComputedTorque")
def _computed_torque(c: Case) -> None:
    want = _wanted(c)
    w = want.qdd + KD * (want.qd - c.qd) + KP * (want.q - c.q)
    lossy = "load_friction" in c.robot.features
    ways: tuple[Any, ...] = ("newton_euler",) if lossy else ("newton_euler", "matrices")
    for through in ways:
        found = _torque(control.ComputedTorque(c.dyn, KP, KD, through=through), c, want)
        close(found, c.model.inverse_dynamics(c.x, c.xd, w) if lossy else c.M @ w + c.bias)


@cell("control.Feedforward")
def _feedforward(c: Case) -> None:
    close(_torque(control.Feedforward(c.dyn), c, Desired(c.q, c.qd, c.qdd)), c.tau)


@cell("control.Formulated")
def _formulated(c: Case) -> None:
    model = control.Formulated(c.robot)
    parts = model.mass_matrix(c.q) @ c.qdd + model.gravity(c.q) + model.springs(c.q) + model.friction(c.qd)
    close(model.inverse_dynamics(c.q, c.qd, c.qdd), c.tau)
    close(parts, c.tau - c.model.coriolis_matrix(c.x, c.xd) @ c.xd)


@cell("control.SlidingMode")
def _sliding(c: Case) -> None:
    want = Desired(c.q, c.qd, c.qdd)
    close(_torque(control.SlidingMode(c.dyn, 5, 3), c, want), c.tau)


@cell("control.SlotineLi")
def _slotine_li(c: Case) -> None:
    law, want = control.SlotineLi(c.dyn, 5, KD), _wanted(c)
    v, vd = want.qd + 5 * (want.q - c.q), want.qdd + 5 * (want.qd - c.qd)
    expected = c.M @ vd + c.model.coriolis_matrix(c.x, c.xd) @ v + c.held + c.model.friction(c.xd) + KD * (v - c.qd)
    close(_torque(law, c, want), expected)


@cell("control.RobustPassivity")
def _robust(c: Case) -> None:
    """With exact parameters the torques of the passivity-based law; with errors of them, more in the direction of s."""
    law, want = control.RobustPassivity(c.dyn, 5, KD), _wanted(c)
    v, vd = want.qd + 5 * (want.q - c.q), want.qdd + 5 * (want.qd - c.qd)
    expected = c.M @ vd + c.model.coriolis_matrix(c.x, c.xd) @ v + c.held + c.model.friction(c.xd) + KD * (v - c.qd)
    plain = _torque(replace(law, errors=0 * law.errors), c, want)
    close(plain, expected)
    assert ((_torque(law, c, want) - plain) * np.sign(v - c.qd) > 0).all()


@cell("control.parameter_errors")
def _parameter_errors(c: Case) -> None:
    """All ten parameters of all bodies times 1.1: the torques of a robot that has these."""
    E = control.parameter_errors(c.dyn, mass=0.1, com=0.0, inertia=0.0, rotor=0.0, friction=0.0)
    pairs = zip(c.dyn.parameter_names, map(float, c.dyn.parameters), strict=True)
    more = {name: 1.1 * x for name, x in pairs if name.rstrip("0123456789") in INERTIAL}
    heavier = armdyn.compile(with_standard_parameters(c.robot, more))
    close(c.dyn.regressor(c.q, c.qd, c.qdd) @ E.sum(axis=1), heavier.inverse_dynamics(c.q, c.qd, c.qdd) - c.tau)


@cell("control.PDGravity")
def _pd_gravity(c: Case) -> None:
    close(_torque(control.PDGravity(c.dyn, KP, KD), c, _wanted(c)), KP * 0.1 - KD * c.qd + c.held)


@cell("control.MomentumObserver")
def _observer(c: Case) -> None:
    """The observed momentum changes as that of the arm does under the law's torques."""
    law = control.MomentumObserver(control.Feedforward(c.dyn), c.dyn, 50)
    want = Desired(c.q, c.qd, c.qdd)
    memory = law.start(c.q, c.qd)
    M_dot = np.imag(c.model.mass_matrix(c.x + 1e-30j * c.xd)) / 1e-30
    close(law.change(0.0, c.q, c.qd, want, memory)[-c.n :], M_dot @ c.xd + c.M @ c.xdd)


@cell("control.VelocityObserver")
def _velocity_observer(c: Case) -> None:
    """The estimate accelerates as the arm does under the law's torques, at the estimated velocity."""
    law = control.VelocityObserver(control.Feedforward(c.dyn), c.dyn, 50)
    memory = np.concatenate([c.q, c.qd])
    close(law.change(0.0, c.q, 0 * c.qd, Desired(c.q, c.qd, c.qdd), memory), np.concatenate([c.qd, c.qdd]))


@cell("control.TaskPID")
def _task_pid(c: Case) -> None:
    law = control.TaskPID(c.dyn, KP, KD, rows="x y", gravity=True)
    close(_torque(law, c, law_target(c)), c.J[:2].T @ (-KD * (c.J @ c.qd)[:2]) + c.held)


def law_target(c: Case) -> Any:
    """The tool where it is, at rest."""
    T = np.real(c.model.pose(c.x))
    return Desired(T, np.zeros(6), np.zeros(6))


@cell("control.ResolvedAcceleration")
def _resolved(c: Case) -> None:
    """The tool accelerates as asked."""
    law = control.ResolvedAcceleration(c.dyn, KP, KD, rows="x y")
    qdd = c.model.forward_dynamics(c.x, c.xd, _torque(law, c, law_target(c)))
    close((c.J @ qdd + c.drift(c.x, c.xd))[:2], -KD * (c.J @ c.qd)[:2])


@cell("control.OperationalSpace")
def _operational_space(c: Case) -> None:
    """The tool accelerates as asked."""
    law = control.OperationalSpace(c.dyn, KP, KD, rows="x y")
    qdd = c.model.forward_dynamics(c.x, c.xd, _torque(law, c, law_target(c)))
    close((c.J @ qdd + c.drift(c.x, c.xd))[:2], -KD * (c.J @ c.qd)[:2])


@cell("control.Impedance")
def _impedance(c: Case) -> None:
    """At rest on the reference the arm is held."""
    law = control.Impedance(c.dyn, KP, KD, rows="x y")
    close(_torque(law, c, law_target(c), qd=0 * c.qd), c.held + c.model.friction(0 * c.xd))


@cell("control.Admittance")
def _admittance(c: Case) -> None:
    law = control.Admittance(c.dyn, 2.0, KD, KP, force=lambda t, q, qd: np.zeros(6), rows="x y")
    qdd = c.model.forward_dynamics(c.x, 0 * c.xd, _torque(law, c, law_target(c), qd=0 * c.qd))
    close((c.J @ qdd)[:2], np.zeros(2), 1e-7)  # the inner loop inverts J J^T


@cell("control.ElasticPD")
def _elastic_pd(c: Case) -> None:
    """At the equilibrium of links and motors the torques hold the arm."""
    stiff = EnergyModel(c.robot.without("elastic"))
    held = stiff.gravity(c.q) + stiff.springs(c.q)
    k = np.array([np.inf if joint.elastic is None else joint.elastic.stiffness for joint in c.robot.joints])
    law = control.ElasticPD(c.dyn, KP, KD, check=False)
    close(_torque(law, c, Desired(c.q, 0 * c.qd, 0 * c.qd), c.q + held / k, 0 * c.qd), held)


@cell("control.largest_inertias")
def _largest_inertias(c: Case) -> None:
    found = control.largest_inertias(c.dyn)
    assert (found >= np.diag(c.M) * (1 - 1e-9)).all()
    assert (found <= 100 * np.diag(c.M)).all()


@cell("control.acceleration_constants")
def _acceleration_constants(c: Case) -> None:
    limits = Limits(torque=TAU_MAX)
    tree = tuple(joint if joint.compound else replace(joint, limits=limits) for joint in c.robot.tree)
    limited = replace(c.robot, tree=tree, expressions=None)
    found = control.acceleration_constants(armdyn.compile(limited))
    close(found, TAU_MAX / control.largest_inertias(c.dyn))


@cell("control.largest_gravity_slope")
def _largest_slope(c: Case) -> None:
    torques = lambda x: c.model.gravity(x) + c.model.springs(x)  # noqa: E731
    slope = np.stack([c.difference(torques, c.x, unit) for unit in np.eye(len(c.x))], axis=-1)
    found = control.largest_gravity_slope(c.dyn)
    assert np.linalg.norm(slope, 2) * (1 - 1e-6) <= found < 100 * np.linalg.norm(slope, 2)


@cell("control.analyse_gains")
def _gains(c: Case) -> None:
    loops = control.analyse_gains(control.PID(KP, KD), dyn=c.dyn).loops
    a = control.largest_inertias(c.dyn)
    Fv = np.array([0.0 if joint.friction is None else joint.friction.viscous for joint in c.robot.joints])
    close([max(abs(np.roots([x, KD + v, KP]))) for x, v in zip(a, Fv, strict=True)], [loop.frequency for loop in loops])


def _modes(c: Case) -> Any:
    """Natural frequencies of the links with locked motors: stiffness of elastic and other springs on their side."""
    soft = [j for j, joint in enumerate(c.robot.joints) if joint.elastic is not None]
    bare = replace(c.robot, gravity=0 * c.robot.gravity)
    springs = EnergyModel(bare.without("gravity_compensation")).springs
    K = np.stack([c.difference(springs, c.x, unit) for unit in np.eye(len(c.x))], axis=-1)[np.ix_(soft, soft)]
    return np.sqrt(eigh(K, c.M[np.ix_(soft, soft)], eigvals_only=True))


@cell("control.resonances")
def _resonances(c: Case) -> None:
    if c.dyn.coordinates.doubled:
        close(control.resonances(c.dyn, c.q), _modes(c), 1e-7)  # central differences of linear springs
    else:
        assert "no elastic joint" in str(refusal(lambda: control.resonances(c.dyn, c.q)))


@cell("control.resonance_range")
def _resonance_range(c: Case) -> None:
    if c.dyn.coordinates.doubled:
        found = control.resonance_range(c.dyn)
        assert (found.lowest <= _modes(c) * (1 + 1e-6)).all()
        assert (found.highest >= _modes(c) * (1 - 1e-6)).all()
    else:
        assert "no elastic joint" in str(refusal(lambda: control.resonance_range(c.dyn)))
