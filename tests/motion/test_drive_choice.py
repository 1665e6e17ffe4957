"""Motors and gears for a motion: recomputed by hand, read from files, and refused with a reason."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.mechanics import lagrange
from armdyn.motion.drive_choice import CLASSES, peak_of_lag, read_drives, size

MOVE = armdyn.point_to_point([0.0, 0.4, 0.1], [1.0, -0.3, 0.6], "quintic", duration=0.8)


def test_the_choice_is_the_lightest_that_fits_by_the_equations_in_the_text() -> None:
    """Torques by another formulation, limits and lightest drive by a plain loop over the catalog."""
    robot = armdyn.load("planar3r").with_parameters(ml1=3.0, ml2=2.0, ml3=1.0)
    found = size(robot, MOVE)
    motors, gears = read_drives(CLASSES)
    t = np.linspace(0, 0.8, 2001)
    q, qd, qdd = (MOVE(t, order) for order in range(3))
    bare = robot.without("rotors", "motors")
    tau = lagrange.inverse_dynamics(bare, q, qd, qdd)
    inertia = np.array([np.diag(lagrange.mass_matrix(bare, x)) for x in q[::20]]).max(axis=0)
    for j, drive in enumerate(found.chosen):
        assert drive is not None
        fitting = []
        for motor in motors:
            for gear in (each for each in gears if each.kind == "revolute"):
                for r in gear.ratios:
                    J = motor.inertia + gear.inertia
                    power = np.where(np.abs(qd[:, j]) > 1e-12, tau[:, j] * qd[:, j], 0.0)
                    load = tau[:, j] * np.select([power > 0, power < 0], [1 / gear.efficiency, gear.efficiency], 1.0)
                    m, w = J * r * qdd[:, j] + load / r, abs(r * qd[:, j])
                    share = np.clip((motor.speed - w) / (motor.speed - motor.corner), 0, 1)
                    cool = np.trapezoid(m**2, t) / 0.8 <= motor.continuous**2  # its lag is far longer than the cycle
                    strong = (abs(m) <= motor.torque * share).all() and abs(tau[:, j]).max() <= gear.torque
                    if cool and strong and w.max() <= min(motor.speed, gear.speed) and inertia[j] <= 10 * r**2 * J:
                        fitting.append(motor.mass + gear.mass)
        assert drive.mass == pytest.approx(min(fitting))
    assert bool(found.verdict) and found.fine


def test_why_lighter_motors_fail() -> None:
    found = size(armdyn.load("planar3r").with_payload(4.0), MOVE)
    assert any(found.lighter)
    for drive, lighter in zip(found.chosen, found.lighter, strict=True):
        for each in lighter:
            assert not each.fits and "times its limit" in each.why
            assert drive is None or each.motor.mass < drive.motor.mass


def test_the_temperature_is_that_of_the_periodic_steady_state() -> None:
    """Against many cycles of the lag, one after the other, and its two limits."""
    t = np.linspace(0.0, 2.0, 401)
    x = 1 + np.sin(np.pi * t) ** 3
    y = 0.0
    peak = 0.0
    for _ in range(60):
        for k in range(400):
            y += (0.5 * (x[k] + x[k + 1]) - y) * (1 - np.exp(-0.005 / 3.0))
            peak = max(peak, y)
    assert peak_of_lag(t, x, 3.0) == pytest.approx(peak, rel=1e-6)
    assert peak_of_lag(t, x, 1e5) == pytest.approx(np.trapezoid(x, t) / 2, rel=1e-4)
    assert peak_of_lag(t, x, 1e-3) == pytest.approx(x.max(), rel=1e-2)


def test_a_robot_with_its_drives_is_written(tmp_path: Path) -> None:
    found = size(armdyn.load("planar3r"), MOVE)
    read = armdyn.load(found.save(tmp_path / "driven.toml"))
    for joint, drive in zip(read.joints, found.chosen, strict=True):
        assert drive is not None and joint.rotor is not None and joint.motor is not None
        assert float(joint.rotor.ratio) == drive.ratio
        assert float(joint.rotor.inertia) == pytest.approx(drive.motor.inertia + drive.gear.inertia)
        assert float(joint.motor.continuous) == pytest.approx(drive.motor.continuous)


def test_prismatic_joints_get_screws() -> None:
    robot = armdyn.load("scara5")
    ends = np.zeros(5), np.array([0.1, 1.0, 0.5, -0.3, 0.1])
    found = size(robot, armdyn.point_to_point(*ends, "quintic", duration=1.5))
    for joint, drive in zip(robot.joints, found.chosen, strict=True):
        assert drive is None or drive.gear.kind == joint.kind


def test_what_no_drive_of_the_catalog_moves(tmp_path: Path) -> None:
    found = size(armdyn.load("planar2r"), armdyn.point_to_point([0, 0], [2, 2], duration=0.2))
    assert None in found.chosen and not found.fine and "no drive of the catalog fits" in str(found)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('torque = "0.5 N m"', 'torque = "0.5 kg"', "'kg' does not fit"),
        ('torque = "0.5 N m"', "torque = -1", "not a positive number"),
        ('torque = "0.5 N m"', 'torqe = "0.5 N m"', "unknown key 'torqe'"),
        ('corner = "3500 rpm"', 'corner = "9000 rpm"', "corner below speed"),
        ("ratios = [50, 80, 100]", "", "one of ratios and leads"),
        ('mass = "0.35 kg"', "", "'mass' is missing"),
        ("[[motor]]", "[motor", "not a TOML file"),
    ],
)
def test_wrong_catalogs_name_their_entry(tmp_path: Path, old: str, new: str, words: str) -> None:
    text = CLASSES.read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "mine.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ArmdynError, match=words):
        read_drives(tmp_path / "mine.toml")
