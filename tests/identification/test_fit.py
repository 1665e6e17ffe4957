"""`identify`: from a log to a robot, on simulated logs with a known truth."""

import json
from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.identification.fit.estimation import Damped, Ordinary, Weighted
from armdyn.identification.fit.identifiability import identifiability
from armdyn.identification.fit.identify import identify
from armdyn.identification.fit.instrumental import Instrumental
from armdyn.identification.log.log import Log
from armdyn.identification.log.log_format import LogFormat
from armdyn.identification.log.processing import Processing
from armdyn.parameters import base_parameters, standard_parameters
from armdyn.robot.parts import Friction, Rotor

SIGMA = np.array([0.4, 0.2])
FAMILIES = ("inertial", "rotor", "friction", "offset", "motor")


def arm():
    """A planar arm of two joints with friction, offsets and rotors."""
    robot = armdyn.load("planar2r").bound()
    frictions = (Friction(1.5, 2.0, offset=0.5), Friction(0.8, 1.0, offset=-0.3))
    tree = []
    for joint in robot.tree:
        k = [j.name for j in robot.joints].index(joint.name)
        tree.append(replace(joint, friction=frictions[k], rotor=Rotor(inertia=0.3)))
    return replace(robot, tree=tuple(tree), expressions=None)


ROBOT = arm()
DYN = armdyn.compile(ROBOT)


def recorded(seed=0, seconds=20.0, noise=SIGMA):
    """Positions and torques of sums of sines, at 500 Hz; noise of encoders and of torques."""
    rng = np.random.default_rng(seed)
    t = np.arange(0, seconds, 0.002)
    w = 2 * np.pi * 0.1 * np.arange(1, 11)
    a, b = rng.uniform(-1, 1, (2, 10, 2)) / np.arange(1, 11)[:, None] ** 0.7
    angle = np.multiply.outer(t, w)
    q = np.sin(angle) @ a + np.cos(angle) @ b
    qd = (np.cos(angle) * w) @ a - (np.sin(angle) * w) @ b
    qdd = -(np.sin(angle) * w**2) @ a - (np.cos(angle) * w**2) @ b
    tau = DYN.inverse_dynamics(q, qd, qdd)
    q = q + 1e-5 * rng.standard_normal(q.shape)
    return Log(t, q, tau + noise * rng.standard_normal(tau.shape))


@pytest.fixture(scope="module")
def fit():
    start = ROBOT.without("friction", "rotors")
    return identify(start, recorded(), validation=recorded(1))


def truth(fit):
    return fit.base.from_standard(standard_parameters(ROBOT, fit.base.include))


def test_the_truth_is_within_the_error_bars(fit):
    """All parameters, in units of what the fit itself says about them."""
    off = (fit.estimate.values - truth(fit)) / fit.estimate.std
    assert np.abs(off).max() < 3.5 and np.sqrt(np.mean(off**2)) < 1.6
    assert fit.estimate.sigma.shape == (2,) and set(fit.parameters) == set(fit.base.names) == set(fit.std)
    assert fit.relative_std["Fv1"] == pytest.approx(fit.std["Fv1"] / abs(fit.parameters["Fv1"]))


def test_the_robot_has_the_identified_parameters(fit):
    back = fit.base.from_standard(standard_parameters(fit.robot, fit.base.include))
    np.testing.assert_allclose(back, fit.estimate.values, rtol=1e-9, atol=1e-9)
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 50, 2))
    tau, expected = (armdyn.compile(r).inverse_dynamics(q, qd, qdd) for r in (fit.robot, ROBOT))
    assert np.abs(tau - expected).max() < 0.05 * np.abs(expected).max()


def test_what_torques_do_not_tell_stays_near_the_robot_before(fit):
    """Masses are not told alone: they stay within the spread that the prior allows a body."""
    before = standard_parameters(ROBOT.without("friction", "rotors"), ("inertial",))
    after = standard_parameters(fit.robot, ("inertial",))
    for name in ("M1", "M2"):
        assert float(after[name]) == pytest.approx(float(before[name]), rel=0.5)


def test_validation_on_another_motion(fit):
    """The error is the noise of the torque after decimation; the bars hold what they promise."""
    tried = fit.validation
    assert tried.held_out
    assert tried.rms == pytest.approx(fit.estimate.sigma, rel=0.15)
    assert (tried.covered > 0.9).all()
    assert (tried.relative_error_before > 10 * tried.relative_error).all()
    same = identify(ROBOT, recorded())
    assert not same.validation.held_out and "data used for estimation" in str(same.validation)


def test_identifiability_of_a_planar_arm():
    found = identifiability(base_parameters(ROBOT, FAMILIES))
    assert found["Fv1"] == found["off2"] == found["MX2"] == "individually identifiable"
    assert found["ZZ1"] == found["M2"] == "identifiable in combination"
    assert found["XX1"] == found["MZ1"] == "not identifiable"


def test_free_estimates_of_base_parameters():
    log = recorded(seconds=10)
    for free in (Ordinary(), Weighted(), Damped()):
        found = identify(ROBOT, log, free=free, processing=Processing(cutoff=20, decimation=5))
        off = (found.estimate.values - truth(found)) / np.maximum(np.abs(truth(found)), 0.5)
        assert np.abs(off).max() < 0.25, free
        back = found.base.from_standard(standard_parameters(found.robot, found.base.include))
        np.testing.assert_allclose(back, found.estimate.values, rtol=1e-9, atol=1e-9)
    with pytest.raises(ArmdynError, match="commanded motion"):
        identify(ROBOT, log, free=Instrumental())


def test_essential_and_a_share_of_the_log():
    found = identify(ROBOT, recorded(), free=Weighted(), essential=True, validation=0.3)
    assert found.validation.held_out and "last 30%" in found.validation.source
    assert found.estimate.left_out and set(found.estimate.left_out) <= set(found.base.names)
    assert not {"Fv1", "Fc1", "Fv2", "Fc2"} & set(found.estimate.left_out)
    with pytest.raises(ArmdynError, match="free estimate"):
        identify(ROBOT, recorded(), essential=True)


def test_a_motion_of_one_joint_is_identified_and_what_it_does_not_tell_is_said():
    log = recorded(seconds=10)
    still = np.array(log.q)
    still[:, 0] = 0.2
    tau = log.tau.copy()
    found = identify(ROBOT, Log(log.t, still, tau), check=False)
    (untold,) = (f for f in found.findings if f.rule == "untold")
    assert "Fv1" in untold.what
    assert {f.where for f in found.findings if f.rule == "no-band"} == {ROBOT.joints[0].name}
    with pytest.raises(ArmdynError, match="Fv1"):
        identify(ROBOT, Log(log.t, still, tau), free=Weighted(), check=False,
                 processing=Processing(cutoff=20, dead_band=0, decimation=5))  # fmt: skip


def test_static_friction_is_left_out_and_said_so():
    sticky = replace(ROBOT.joints[0].friction, static=3.0, stribeck=0.1)
    tree = tuple(replace(j, friction=sticky) if j.name == ROBOT.joints[0].name else j for j in ROBOT.tree)
    found = identify(replace(ROBOT, tree=tree), recorded(seconds=10))
    assert any(f.rule == "stribeck-left-out" for f in found.findings)
    assert found.robot.joints[0].friction.static == 0


def test_printed_and_saved(fit, tmp_path):
    text = str(fit)
    assert "viscous" in text and "held-out data" in text and "Fv1" not in text
    assert "Fv1" in str(replace(fit, verbose=True)) and "N m s/rad" in str(replace(fit, verbose=True))
    assert len(text.splitlines()) <= 60
    fit.save(tmp_path / "fit.json")
    record = json.loads((tmp_path / "fit.json").read_text())
    assert record["parameters"]["Fv1"]["value"] == fit.parameters["Fv1"]
    assert record["validation"]["rms"] == pytest.approx(fit.validation.rms.tolist())
    fit.save(tmp_path / "arm.toml")
    again = armdyn.load(tmp_path / "arm.toml")
    assert again.joints[0].friction.offset == pytest.approx(fit.robot.joints[0].friction.offset)


class Wave:
    """A commanded motion: sums of sines."""

    duration = 12.0
    w = 2 * np.pi * 0.25 * np.arange(1, 7)
    a, b = np.random.default_rng(2).uniform(-0.5, 0.5, (2, 6, 2)) / np.arange(1, 7)[:, None] ** 0.5

    def __call__(self, t, order=0):
        angle = np.multiply.outer(np.asarray(t, float), self.w)
        s, c, k = np.sin(angle), np.cos(angle), self.w**order
        return [s @ self.a + c @ self.b, (c * k) @ self.a - (s * k) @ self.b, -(s * k) @ self.a - (c * k) @ self.b][
            order
        ]


def test_instruments_from_the_simulated_closed_loop():
    """An arm under PD control with a noisy encoder: the model, commanded alike, gives the instruments.

    Accelerations are mostly noise here, so least squares is biased by many standard deviations.
    """
    wave, law = Wave(), armdyn.PID(kp=[6e4, 1.5e4], kd=[2e3, 5e2])

    def performed(dyn, t):
        run = armdyn.simulate(
            dyn, law, wave, duration=12.0, q0=wave(0.0), qd0=wave(0.0, 1), solver=armdyn.Solver(dt=1e-3)
        )
        pick = np.rint(t / 1e-3).astype(int)
        q, qd, tau = run.q[pick], run.qd[pick], run.tau[pick]
        return q, qd, dyn.forward_dynamics(q, qd, tau), tau

    t = np.arange(0, 11.9, 1e-3)
    q, _, _, tau = performed(DYN, t)
    rng = np.random.default_rng(0)
    log = Log(t, q + 1e-3 * rng.standard_normal(q.shape), tau + [4.0, 2.0] * rng.standard_normal(tau.shape))
    settings = Processing(cutoff=40, decimation=10)
    plain = identify(ROBOT, log, processing=settings, free=Weighted())
    times = plain.training.t
    by_simulation = Instrumental(reference=lambda model: performed(armdyn.compile(model), times)[:3])
    better = identify(ROBOT, log, processing=settings, free=by_simulation)
    off_plain, off_better = (np.abs(f.estimate.values - truth(f)) / f.estimate.std for f in (plain, better))
    assert off_plain.max() > 3.5
    assert off_better.max() < 3.5
    assert np.sqrt(np.mean(off_better**2)) < 0.5 * np.sqrt(np.mean(off_plain**2))
    errors = [np.linalg.norm((f.estimate.values - truth(f)) / better.estimate.std) for f in (plain, better)]
    assert errors[1] < 0.5 * errors[0]


def test_what_is_left_out_keeps_its_torques():
    """Inertial parameters alone, of a robot whose rotors and friction are known: without bias."""
    found = identify(ROBOT, recorded(), include=("inertial",))
    assert any(standard_parameters(ROBOT, ("rotor",)).values) and any(standard_parameters(ROBOT, ("friction",)).values)
    off = (found.estimate.values - truth(found)) / found.estimate.std
    assert np.abs(off).max() < 4
    assert "rotor" in found.steps["known torques"]
    wrong = identify(ROBOT.without("rotors"), recorded(), include=("inertial",))  # what the robot has not is missed
    assert np.abs((wrong.estimate.values - truth(wrong)) / wrong.estimate.std).max() > 10


def test_a_coupling_that_is_declared_becomes_the_robots():
    log = recorded()
    R = np.array([[50.0, 0.0], [30.0, 40.0]])
    motors = {"t": log.t, "q": log.q @ R.T, "tau": log.tau @ np.linalg.inv(R)}
    found = identify(ROBOT, motors, log_format=LogFormat(side="motor", coupling=R.tolist()))
    assert np.allclose(np.array(found.robot.coupling, dtype=float), np.linalg.inv(R))
    assert {"Fvm2", "Fcm2"} <= set(found.base.standard)


def test_a_bad_log_is_told_by_identify_itself():
    log = recorded()
    doubts = [
        {finding.rule for finding in identify(ROBOT, each).findings if finding.severity != "note"}
        for each in (log, Log(log.t, log.q, log.tau[:, ::-1]))
    ]
    assert not doubts[0] and any("order" in rule or "column" in rule for rule in doubts[1]), doubts


def test_each_log_is_processed_once(monkeypatch):
    """Checks and estimation share the samples of a log: every joint's spectrum is computed once per log."""
    from armdyn.identification.log import processing

    spectrum, seen = processing.Spectrum.of, []
    monkeypatch.setattr(processing.Spectrum, "of", staticmethod(lambda x, rate: (seen.append(x), spectrum(x, rate))[1]))
    identify(ROBOT, recorded(), validation=recorded(seed=1))
    assert len(seen) == 2 * ROBOT.n


def test_measured_velocities_are_checked_against_the_positions():
    """Also when the samples take their velocities from the log."""
    log = recorded()
    wrong = replace(log, qd=2 * np.gradient(log.q, log.t, axis=0))
    found = identify(ROBOT, wrong, processing=Processing(measured=True)).findings
    assert "velocity against position" in {finding.rule for finding in found}
