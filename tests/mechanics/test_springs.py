"""Springs across joints and gravity compensation, against MuJoCo and against their own potential energy."""

from __future__ import annotations

import itertools
from dataclasses import replace

import mujoco
import numpy as np
import pytest

import armdyn
from armdyn.formats import mjcf, toml, urdf
from armdyn.mechanics import articulated_body, composite_body, doubled, doubled_lagrange, springs
from armdyn.mechanics.registry import FORMULATIONS
from armdyn.robot import Robot, Spring
from armdyn.robot.parts import Elastic

MODEL = """
<mujoco model="balanced">
  <compiler angle="degree"/>
  <option gravity="0.3 -1.2 -9.7"/>
  <worldbody>
    <body name="upper" pos="0 0 0.4" euler="10 20 30">
      <joint name="shoulder" axis="0.2 1 0.1" stiffness="14" springref="25" damping="0.4" armature="0.02"/>
      <inertial pos="0.1 0.02 0.15" mass="2.5" fullinertia="0.04 0.05 0.03 0.001 0.002 -0.003"/>
      <body name="fore" pos="0.3 0 0.1" gravcomp="0.6">
        <joint name="elbow" pos="0.02 0 0.01" axis="0 1 0.3" ref="15" stiffness="5" springref="40"/>
        <inertial pos="0.15 0.01 0" mass="1.4" diaginertia="0.02 0.03 0.025"/>
        <body name="slider" pos="0.3 0 0" gravcomp="1.5">
          <joint name="slide" type="slide" axis="1 0.2 0" stiffness="120" springref="0.05"/>
          <inertial pos="0.05 0 0.03" mass="0.8" diaginertia="0.002 0.003 0.004"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def states(n: int, seed: int = 0, count: int = 20) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1.5, 1.5, (3, count, n))


def test_torques_are_those_of_mujoco() -> None:
    robot = mjcf.loads(MODEL)
    assert robot.joints[0].spring == Spring(14, pytest.approx(np.deg2rad(25)))
    assert [joint.body.gravity_compensation for joint in robot.tree if joint.body.name in ("fore", "slider")] == [
        0.6,
        1.5,
    ]
    dyn = armdyn.compile(robot)
    model = mujoco.MjModel.from_xml_string(MODEL)
    data = mujoco.MjData(model)
    for q, qd, qdd in zip(*states(3), strict=True):
        data.qpos, data.qvel, data.qacc = q, qd, qdd
        mujoco.mj_inverse(model, data)
        assert dyn.inverse_dynamics(q, qd, qdd) == pytest.approx(data.qfrc_inverse, rel=1e-9, abs=1e-9)
        tau = data.qfrc_inverse.copy()
        assert dyn.forward_dynamics(q, qd, tau) == pytest.approx(qdd, rel=1e-8, abs=1e-8)
        passive = data.qfrc_spring + data.qfrc_gravcomp
        assert dyn.springs(q) == pytest.approx(-passive, rel=1e-9, abs=1e-9)


def sprung(seed: int) -> Robot:
    """A random tree in which every other joint has a spring and every third body a counterbalance."""
    robot = armdyn.random_robot(seed, 5, branching=0.3, rotors=True)
    tree = [
        replace(
            joint,
            spring=Spring(8.0 + k, 0.3 * k) if k % 2 == 0 and joint.kind != "fixed" else None,
            body=replace(joint.body, gravity_compensation=0.4 if k % 3 == 1 else 0),
        )
        for k, joint in enumerate(robot.bound().tree)
    ]
    return replace(robot.bound(), tree=tuple(tree), expressions=None).without("rotors_on_links")


@pytest.mark.parametrize("seed", range(4))
def test_formulations_and_kernels_agree(seed: int) -> None:
    robot = sprung(seed)
    assert {"springs", "gravity_compensation"} <= robot.features.keys()
    dyn = armdyn.compile(robot)
    for q, qd, qdd in zip(*states(robot.n, seed, 2), strict=True):
        tau = dyn.inverse_dynamics(q, qd, qdd)
        for entry in FORMULATIONS:
            if "inverse_dynamics" in entry.gives:
                assert entry.function("inverse_dynamics")(robot, q, qd, qdd) == pytest.approx(tau, rel=1e-9, abs=1e-9)
        for module in (composite_body, articulated_body):
            assert module.forward_dynamics(robot, q, qd, tau) == pytest.approx(qdd, rel=1e-7, abs=1e-7)
        assert dyn.forward_dynamics(q, qd, tau) == pytest.approx(qdd, rel=1e-7, abs=1e-7)
        parts = dyn.mass_matrix(q) @ qdd + dyn.coriolis(q, qd) + dyn.gravity(q) + dyn.friction(qd) + dyn.springs(q)
        assert parts == pytest.approx(tau, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_torques_are_the_slope_of_the_energy(seed: int) -> None:
    """By central differences of step 1e-6: errors of 1e-9 relative to the curvature, which is below 1e3 here."""
    robot = sprung(seed)
    dyn = armdyn.compile(robot)
    q, qd, qdd = (each[0] for each in states(robot.n, seed, 1))
    steps = 1e-6 * np.eye(robot.n)
    slope = (dyn.potential_energy(q + steps) - dyn.potential_energy(q - steps)) / 2e-6
    assert slope == pytest.approx(dyn.gravity(q) + dyn.springs(q), abs=1e-6)
    dq, _ = dyn.inverse_dynamics_derivatives(q, qd, qdd)
    numeric = (dyn.inverse_dynamics(q + steps, qd, qdd) - dyn.inverse_dynamics(q - steps, qd, qdd)).T / 2e-6
    assert dq == pytest.approx(numeric, abs=1e-5)


def test_energy_is_kept_on_a_spring() -> None:
    robot = armdyn.Robot.from_dh([{"type": "revolute", "a": 0.4, "mass": 1.0, "spring": {"stiffness": 30.0}}])
    run = armdyn.simulate(
        robot, armdyn.control.NoControl(1), np.array([0.8]), 2.0, solver=armdyn.Solver(dt=1e-3, integrator="rk4")
    )
    energy = run.kinetic_energy + run.potential_energy
    assert np.ptp(run.q) > 1.0
    assert np.ptp(energy) < 1e-8 * np.ptp(run.potential_energy)


def test_files_keep_springs_and_counterbalances() -> None:
    robot = mjcf.loads(MODEL)
    for again in (toml.loads(toml.dumps(robot)), mjcf.loads(mjcf.dumps(robot))):
        assert again.features == robot.features
        q = states(3)[0]
        assert springs_of(again, q) == pytest.approx(springs_of(robot, q), rel=1e-12, abs=1e-12)
    with pytest.raises(armdyn.errors.FeatureError, match=r"springs across joints \(shoulder, elbow, slide\)"):
        urdf.dumps(robot)
    assert "rest position" in str(robot)


def springs_of(robot: Robot, q: np.ndarray) -> np.ndarray:
    return np.array([springs.spring_torques(robot, list(each)) for each in q], dtype=float)


def test_elastic_joints_with_springs() -> None:
    """The doubled model, by Newton and Euler and by Lagrange, has the springs and counterbalances of its links."""
    robot = sprung(1).without("friction")
    robot = replace(robot, tree=tuple(replace(j, elastic=Elastic(300.0)) if j.rotor else j for j in robot.tree))
    dyn = armdyn.compile(robot)
    assert dyn.n > robot.n
    x, xd, xdd = (each[0] for each in states(dyn.n, 3, 1))
    tau = dyn.inverse_dynamics(x, xd, xdd)
    assert doubled_lagrange.inverse_dynamics(robot, x, xd, xdd) == pytest.approx(tau, rel=1e-9, abs=1e-9)
    parts = dyn.mass_matrix(x) @ xdd + dyn.coriolis(x, xd) + dyn.gravity(x) + dyn.springs(x)
    assert parts == pytest.approx(tau, rel=1e-9, abs=1e-9)
    assert dyn.forward_dynamics(x, xd, tau) == pytest.approx(xdd, rel=1e-7, abs=1e-7)


def test_derivatives_with_elastic_joints() -> None:
    """Of the accelerations of links and motors, by differences."""
    robot = sprung(1).without("friction")
    robot = replace(robot, tree=tuple(replace(j, elastic=Elastic(300.0)) if j.rotor else j for j in robot.tree))
    size = armdyn.compile(robot).n
    given = [each[0] for each in states(size, 3, 1)]
    found = np.asarray(doubled.forward_dynamics_derivatives(robot, *given))
    h, scale = 1e-5, np.abs(found).max(axis=(1, 2))
    for k, j in itertools.product(range(3), range(size)):
        ends = [[x + sign * h * (np.arange(size) == j) * (i == k) for i, x in enumerate(given)] for sign in (1, -1)]
        up, down = (np.asarray(doubled.forward_dynamics(robot, *each)) for each in ends)
        assert found[k][:, j] == pytest.approx((up - down) / (2 * h), abs=1e-6 * scale[k])  # differences
