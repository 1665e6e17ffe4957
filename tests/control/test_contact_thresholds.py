"""Thresholds of the momentum observer from errors of the parameters; MuJoCo's robots, sampled at 1 kHz, are the plant.

Each robot differs from the model in all of its parameters, dry friction included, and is at rest for a part of the
motion, where friction is whatever holds the joints.
"""

from __future__ import annotations

import os
import warnings
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.control import (
    ComputedTorque,
    Desired,
    MomentumObserver,
    first_contact,
    identified_errors,
    parameter_errors,
)
from armdyn.errors import ArmdynError
from armdyn.parameters import base_parameters, with_standard_parameters
from simulation.arms import Wave

mujoco = pytest.importorskip("mujoco")
FULL = bool(os.environ.get("ARMDYN_FULL"))
N, DT = 3, 1e-3
FRICTION = {"Fv1": 0.8, "Fv2": 0.5, "Fv3": 0.3, "Fc1": 1.0, "Fc2": 0.6, "Fc3": 0.3}
START, WAY = np.array([0.2, -0.3, 0.4]), np.array([0.6, 0.8, -0.7])


@cache
def model() -> armdyn.Dynamics:
    return armdyn.compile(with_standard_parameters(armdyn.random_robot(3, N, rotors=True, prismatic=0.0), FRICTION))


@cache
def errors() -> np.ndarray:
    return parameter_errors(model(), mass=0.05, com=0.005, inertia=0.03, rotor=0.05, friction=0.1)


def observer(**more: Any) -> MomentumObserver:
    return MomentumObserver(ComputedTorque(model(), 100, 20), model(), 40.0, errors=errors(), **more)


def there(t: float, order: int = 0) -> np.ndarray:
    """At rest for 0.3 s, to another place within 0.6 s, at rest."""
    u = min(max((t - 0.3) / 0.6, 0.0), 1.0)
    s = (u**3 * (10 + u * (6 * u - 15)), 30 * u**2 * (1 - u) ** 2 / 0.6, 60 * u * (1 - u) * (1 - 2 * u) / 0.36)[order]
    return s * WAY + (START if order == 0 else 0)


def drawn(random: np.random.Generator, folder: Path) -> Any:
    """A robot of MuJoCo with parameters drawn from the errors; draws that no bodies have are drawn again."""
    while True:
        values = np.asarray(model().parameters) + errors() @ random.standard_normal(errors().shape[1])
        robot = with_standard_parameters(model().robot, dict(zip(model().parameter_names, values, strict=True)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", armdyn.ModelWarning)
            armdyn.save(robot, folder / "arm.xml")
        try:
            engine = mujoco.MjModel.from_xml_path(str(folder / "arm.xml"))
        except ValueError:  # inertias of no body
            continue
        engine.opt.timestep, engine.opt.integrator = DT, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        engine.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        return engine


def watched(law: MomentumObserver, engine: Any, reference: Any, duration: float, push: Any = None) -> SimpleNamespace:
    """Times, residuals, thresholds of a controller that samples a robot of MuJoCo."""
    data = mujoco.MjData(engine)
    data.qpos[:], data.qvel[:] = reference(0.0), reference(0.0, 1)
    z = law.start(data.qpos.copy(), data.qvel.copy())
    rows = []
    for time in DT * np.arange(round(duration / DT)):
        now = data.qpos.copy(), data.qvel.copy()
        desired = Desired(*(reference(time, order) for order in range(3)))
        rows.append((time, *now, z))
        data.qfrc_applied[:] = law(time, *now, desired, z) + (0.0 if push is None else push(time))
        z = z + DT * law.change(time, *now, desired, z)
        mujoco.mj_step(engine, data)
    t, q, qd, z = (np.array(column) for column in zip(*rows, strict=True))
    return SimpleNamespace(t=t, q=q, qd=qd, z=z, r=law.residual(q, qd, z), threshold=law.threshold(q, qd, z))


def test_false_alarms_occur_at_their_rate(tmp_path: Path) -> None:
    """A robot's error is constant, so that its alarms come together: the rate is one over robots.

    Under ARMDYN_FULL 60 robots; else 4, whose number of alarms is only bounded. With `always` 5 % of robots may ever
    raise an alarm.
    """
    random, count = np.random.default_rng(1), 60 if FULL else 4
    law, always = observer(false_alarms=0.05), observer(false_alarms=0.05, always=True)
    shares, runs = [], 0
    for k in range(count):
        seen = watched(law, drawn(random, tmp_path), there if k % 2 else Wave(N), 1.2)
        shares.append((np.abs(seen.r) > seen.threshold).mean())
        runs += bool((np.abs(seen.r) > always.threshold(seen.q, seen.qd, seen.z)).any())
    assert np.mean(shares) < (0.08 if FULL else 0.2)  # nominal 0.05, less where the bound of friction at rest counts
    assert np.mean(shares) > 0.005 or not FULL
    assert runs <= 0.05 * count


def test_contact_is_noticed_at_once(tmp_path: Path) -> None:
    """4 N m at the second joint of a robot with wrong parameters: no alarm before, one within 30 ms."""
    law = observer()
    engine = drawn(np.random.default_rng(7), tmp_path)
    for reference, at in ((Wave(N), 0.5), (there, 0.6)):
        seen = watched(law, engine, reference, 0.7, lambda t, at=at: np.array([0.0, 4.0, 0.0]) * (t > at))
        alarm = first_contact(seen.r, seen.t, seen.threshold)
        assert alarm is not None and at < alarm < at + 0.03


def test_friction_at_rest_is_not_a_contact(tmp_path: Path) -> None:
    """Joints that stick carry any torque up to the break-away torque: 0.7 of it, pushed by hand, is no contact."""
    law = observer()
    engine = drawn(np.random.default_rng(3), tmp_path)
    push = 0.7 * np.array([1.0, 0.6, 0.3])  # friction of the model; that of the robot is within some 30 %
    seen = watched(law, engine, lambda t, order=0: START * (order == 0), 0.4, lambda t: push * (t > 0.1))
    assert np.abs(seen.q - START).max() < 1e-3  # held; MuJoCo's dry friction creeps
    assert np.abs(seen.r).max() > 0.1  # it shows in the residual
    assert first_contact(seen.r, seen.t, seen.threshold) is None


def test_filtered_errors_are_those_of_the_regressor() -> None:
    """dW/dt = gain (Y(q, qd, qdd) E - W): in steady circular motion by quadrature of Y with the true acceleration."""
    law, wave, gain = observer(), Wave(N), 40.0
    steps = 400
    z, W = law.start(wave(0.0), wave(0.0, 1)), np.zeros((N, law._root.shape[1]))
    for k in range(steps):  # trapezoidal and midpoint rules: both of second order
        t = k * DT
        state = [wave(t + DT / 2, order) for order in range(3)]
        now, half = (wave(t), wave(t, 1)), (state[0], state[1])
        desired = Desired(*state)
        first = law.change(t, *now, desired, z)
        z = z + DT * law.change(t, *half, desired, z + DT / 2 * first)
        Y = model().regressor(*state) @ law._root
        W = (W * (1 - gain * DT / 2) + DT * gain * Y) / (1 + gain * DT / 2)
    t = steps * DT
    assert law._filtered(wave(t), wave(t, 1), z) == pytest.approx(W, abs=1e-4 * np.abs(W).max())


def test_errors_of_an_identified_robot() -> None:
    """The covariance of base parameters gives the same variance of all torques as that of standard ones."""
    dyn = model()
    base = base_parameters(dyn.robot)
    A = np.random.default_rng(0).standard_normal((base.count, base.count))
    fit = SimpleNamespace(base=base, covariance_root=A)
    E = identified_errors(dyn, fit)
    q, qd, qdd = np.random.default_rng(1).standard_normal((3, N))
    Y = dyn.regressor(q, qd, qdd)
    Y_base = Y[:, [dyn.parameter_names.index(name) for name in base.standard]] @ base.to_standard(np.eye(base.count)).T
    variance = Y @ E @ E.T @ Y.T
    assert variance == pytest.approx(Y_base @ A @ A.T @ Y_base.T)
    law = MomentumObserver(ComputedTorque(dyn, 100, 20), dyn, errors=E)
    assert law._root.shape[1] <= base.count
    with pytest.raises(ArmdynError, match="not finite"):
        identified_errors(dyn, SimpleNamespace(base=base, covariance_root=np.full((base.count, base.count), np.inf)))


def test_thresholds_need_errors() -> None:
    law = MomentumObserver(ComputedTorque(model(), 100, 20), model())
    with pytest.raises(ArmdynError, match="no errors of the parameters"):
        law.threshold(START, 0 * START, law.start(START, 0 * START))
    with pytest.raises(ArmdynError, match="errors of shape"):
        MomentumObserver(law.law, model(), errors=np.zeros(3))
