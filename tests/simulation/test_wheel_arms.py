"""Arms of the wheel example-robot-data with their own damping, friction and limits; motions compared with MuJoCo."""

from __future__ import annotations

import importlib.metadata
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.control import PID, ComputedTorque, Law, NoControl, PDGravity, largest_inertias
from armdyn.parameters import standard_parameters, with_standard_parameters
from armdyn.robot.limits import working_range
from armdyn.simulation import Plant, Solver, Status, Stops, simulate

FULL = bool(os.environ.get("ARMDYN_FULL"))
QUICK = ("kinova", "z1", "ur5_robot", "double_pendulum")
ARMS = (*QUICK, "talos_left_arm", "xarm7", "panda", "panda_collision", "so100", "so101", "ur3_robot", "ur3_gripper",
        "ur3_joint_limited_robot", "ur5_gripper", "ur5_joint_limited_robot", "ur10_robot", "ur10_joint_limited_robot",
        "hextilt_flying_arm_5", "borinot_flying_arm_2", "TwoDofs", "double_pendulum_continuous",
        "double_pendulum_simple", "finger_edu", "tiago_no_hand", "baxter")  # fmt: skip


def loaded(name: str) -> armdyn.Robot:
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    found = [Path(str(file.locate())) for file in files if file.name == f"{name}.urdf"]
    if not found:
        pytest.skip(f"{name}: the wheel example-robot-data is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", armdyn.ModelWarning)
        return armdyn.load(found[0])


def gains(dyn: armdyn.Dynamics) -> tuple[np.ndarray, np.ndarray]:
    """PD gains: 10 rad/s on the largest inertia, and at most 0.1 rad against dry friction."""
    inertia, friction = largest_inertias(dyn), np.abs(dyn.friction(np.full(dyn.n, 1e-6)))
    kp = np.maximum(100 * inertia, 10 * friction)
    return kp, 2 * np.sqrt(kp * inertia)


@pytest.mark.parametrize("kind", ["pd", "computed torque"])
@pytest.mark.parametrize("name", ARMS if FULL else QUICK)
def test_ten_seconds_from_a_random_posture(name: str, kind: str) -> None:
    """The arm settles; what dry friction holds is named."""
    if kind == "computed torque" and name == "z1" and not FULL:
        pytest.skip("half a minute in Python")
    robot = loaded(name)
    dyn, random = armdyn.compile(robot), np.random.default_rng(7)
    low, high = working_range(robot, one_turn=True)
    q0 = low + (high - low) * random.random(robot.n)
    goal = low + (high - low) * (0.2 + 0.6 * random.random(robot.n))
    law: Law = PDGravity(dyn, *gains(dyn)) if kind == "pd" else ComputedTorque(dyn, 100.0, 20.0)
    run = simulate(Plant(dyn, stops=True), law, goal, 10.0, q0=q0, solver=Solver(dt=1e-3))
    assert run.status is Status.FINISHED
    assert np.abs(run.qd[-1]).max() < 1e-3
    if np.abs(run.error[-1]).max() > 1e-2:
        assert kind == "pd"
        assert "dry friction holds" in run.detail
        assert np.abs(run.error[-1]).max() < 0.101


# MuJoCo ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "law"),
    [(name, law) for name in ("ur5_robot", "kinova", "xarm7", "so100", "z1") for law in ("free", "pd")
     if FULL or law == "pd" or name in ("kinova", "so100")],
)  # fmt: skip
def test_motions_agree_with_mujoco(name: str, law: str, tmp_path: Path) -> None:
    """implicitfast, with the same damping, armature and stops: the difference is the error of its first order."""
    mujoco = pytest.importorskip("mujoco")
    robot = loaded(name)
    dry = {key: 0.0 for key in standard_parameters(robot).as_dict() if key.startswith("Fc")}
    robot = with_standard_parameters(robot, dry)
    dyn, n = armdyn.compile(robot), robot.n
    low, high = working_range(robot, one_turn=True)
    q0, goal = low + 0.45 * (high - low), high + 0.05  # some joints reach their stops
    inertia = largest_inertias(dyn)
    kp, kd = (25 * inertia, 10 * inertia) if law == "pd" else (np.zeros(n), np.zeros(n))
    stiffness, damping = 2e3 * inertia, 60 * inertia
    plant = Plant(dyn, stops=Stops(stiffness=stiffness, damping=damping))
    controller: Law = PID(kp, kd) if law == "pd" else NoControl(n)
    ours = simulate(plant, controller, goal, 0.4, q0=q0, solver=Solver(dt=1e-4, integrator="implicit"))
    assert ours.ok
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", armdyn.ModelWarning)
        armdyn.save(robot, tmp_path / "arm.xml")
    ends = []
    for dt in (1e-4, 5e-5):
        model = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
        model.opt.timestep, model.opt.integrator = dt, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        # A stop of stiffness k is a limit with reference -k times MuJoCo's weight, in the limit of small impedance.
        model.jnt_solref[:] = -np.column_stack([stiffness, damping]) * model.dof_invweight0[:, None]
        model.jnt_solimp[:] = (1e-4, 1e-4, 1e-3, 0.5, 2)
        data = mujoco.MjData(model)
        data.qpos[:] = q0
        for _ in range(round(0.4 / dt)):
            data.qfrc_applied[:] = kp * (goal - data.qpos) - kd * data.qvel
            mujoco.mj_step(model, data)
        ends.append(data.qpos.copy())
    moved = np.abs(ours.q[-1] - q0).max()
    assert moved > 0.1
    step = np.abs(ends[1] - ends[0]).max()
    better = 2 * ends[1] - ends[0]  # Richardson, first order
    assert np.abs(ours.q[-1] - better).max() < 2 * step + 2e-4 * moved  # impedance of the limits: 1e-4
