"""Bearing loads along a motion, against Pinocchio's joint forces; the acceleration constants of Khalil sec. 8.3."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.control import acceleration_constants
from armdyn.motion import bearing_loads
from support import pinocchio_model


def test_loads_are_those_of_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio")
    robot = armdyn.load("puma560").without("friction", "rotors")
    motion = armdyn.point_to_point(np.zeros(6), [0.5, 0.7, -0.6, 0.4, 0.3, 0.2], v_max=2.0, a_max=5.0)
    loads = bearing_loads(robot, motion, dt=motion.duration / 40)
    model = pinocchio_model.build(robot)
    data = model.createData()
    t = np.linspace(0, motion.duration, 41)
    found = []
    for at in t:
        pin.rnea(model, data, *(np.asarray(motion(at, k), dtype=float) for k in range(3)))
        found.append([np.concatenate([data.f[j + 1].linear, data.f[j + 1].angular]) for j in range(6)])
    forces = np.array(found)  # in Pinocchio's joint frames, whose z is the joint's axis as well
    np.testing.assert_allclose(loads.radial_force, np.hypot(*np.moveaxis(forces[..., :2], -1, 0)).max(0), rtol=1e-9)
    np.testing.assert_allclose(loads.axial_force, np.abs(forces[..., 2]).max(0), rtol=1e-9)
    np.testing.assert_allclose(loads.tilting_moment, np.hypot(*np.moveaxis(forces[..., 3:5], -1, 0)).max(0), rtol=1e-9)
    assert np.isnan(loads.twisting_moment).all()
    assert "tilting moment" in str(loads.section())


def test_prismatic_joints_have_a_twisting_moment_and_no_axial_force() -> None:
    robot = armdyn.load("scara5")
    motion = armdyn.point_to_point(np.zeros(5), np.full(5, 0.1), v_max=1.0, a_max=2.0)
    loads = bearing_loads(robot, motion)
    prismatic = np.array([joint.kind == "prismatic" for joint in robot.joints])
    assert prismatic.any()
    assert (np.isnan(loads.axial_force) == prismatic).all() and (np.isnan(loads.twisting_moment) == ~prismatic).all()


def test_bearing_loads_in_a_sweep() -> None:
    robot = armdyn.load("planar2r")
    result = armdyn.sweep(robot, {"ml2": [10.0, 20.0]}, measures=("bearing_force", "bearing_moment"))
    assert "bearing_force" in str(result)


def test_acceleration_constants() -> None:
    """k_a = tau_max / max M_jj, against a dense grid: the inertia of the shoulder depends on the elbow alone."""
    robot = armdyn.load("puma560")
    dyn = armdyn.compile(robot)
    low, high = robot.joints[2].limits.lower, robot.joints[2].limits.upper  # type: ignore[union-attr]
    q = np.zeros((2001, 6))
    q[:, 2] = np.linspace(float(low), float(high), 2001)  # type: ignore[arg-type]
    largest = dyn.mass_matrix(q)[:, 1, 1].max()
    found = acceleration_constants(dyn)
    assert found[1] == pytest.approx(186.4 / largest, rel=2e-3)  # the wrist adds a little
    assert np.isinf(acceleration_constants(armdyn.compile(armdyn.load("planar2r")))).all()


@pytest.mark.parametrize("name", ["planar2r", "three_link", "scara5", "puma560"])
def test_robots_without_gravity_keep_their_other_terms(name: str) -> None:
    """With symbols and with numbers: only g is gone."""
    from armdyn.graph import identical

    robot = armdyn.load(name)
    first = armdyn.derive(robot)
    for other in (robot.without("gravity"), robot.symbolic.without("gravity")):
        second = armdyn.derive(other)
        assert identical(first.raw["M"], second.raw["M"]) and identical(first.raw["C"], second.raw["C"])
        assert all(x == 0 for x in second.g)
