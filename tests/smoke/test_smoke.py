"""The main jobs of every kind of user, with what is installed: oldest and newest versions, a wheel, no LLVM.

make smoke-min, make smoke-new, make smoke-wheel
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import armdyn

URDF = """<robot name="two">
  <link name="base"/><link name="upper"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
  <inertia ixx="0.01" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
  <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="a" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
  <limit lower="-2" upper="2" velocity="2" effort="50"/></joint>
  <joint name="b" type="revolute"><origin xyz="0.4 0 0"/><parent link="upper"/><child link="lower"/><axis xyz="0 1 0"/>
  <limit lower="-2" upper="2" velocity="2" effort="50"/></joint>
</robot>"""


def test_torques_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "two.urdf"
    path.write_text(URDF)
    robot = armdyn.load(path)
    dyn = armdyn.compile(robot)
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 50, 2))
    tau = dyn.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(tau[7], armdyn.mechanics.lagrange.inverse_dynamics(robot, q[7], qd[7], qdd[7]))
    np.testing.assert_allclose(dyn.forward_dynamics(q, qd, tau), qdd, atol=1e-9)
    np.testing.assert_allclose(dyn.inverse_dynamics(q[3], qd[3], qdd[3]), tau[3], rtol=1e-12)
    np.testing.assert_allclose(dyn.regressor(q, qd, qdd) @ dyn.parameters, tau, atol=1e-9)
    out = np.empty_like(tau)
    assert dyn.inverse_dynamics(q, qd, qdd, out=out) is out
    np.testing.assert_array_equal(out, tau)
    assert armdyn.load(robot.save(tmp_path / "two.toml")).n == 2


def test_equations() -> None:
    eq = armdyn.derive(armdyn.load("planar2r"))
    assert "cos" in str(eq.M)
    assert armdyn.certify(armdyn.load("planar2r"), points=1).holds


def test_motion() -> None:
    robot = armdyn.load("scara5")
    dyn = armdyn.compile(robot)
    motion = armdyn.point_to_point(np.zeros(robot.n), np.full(robot.n, 0.1), duration=0.5)
    run = armdyn.simulate(dyn, armdyn.control.ComputedTorque(dyn, 100.0, 20.0), motion, solver=armdyn.Solver(dt=1e-3))
    assert run.status.name == "FINISHED" and run.largest_error().max() < 1e-3


def test_identification() -> None:
    robot = armdyn.load("planar2r")
    t = np.arange(0, 10, 0.01)
    course = armdyn.trajectory.fourier([0.3, 0.5], [[0.5, 0.2], [0.3, 0.4]], [[0.1, 0.3], [0.4, 0.2]], 10.0)
    q, qd, qdd = (course(t, order) for order in range(3))
    tau = armdyn.compile(robot).inverse_dynamics(q, qd, qdd)
    noise = np.random.default_rng(0).standard_normal(tau.shape) * 0.01 * tau.std(axis=0)
    fit = armdyn.identify(robot, {"t": t, "q": q, "qd": qd, "tau": tau + noise}, include=("inertial",))
    assert np.abs(fit.predict(t, q, qd, qdd) - tau).max() < 0.05 * np.abs(tau).max()


VERBS = [
    ("--version",),
    ("robots",),
    ("show", "ur5"),
    ("check", "planar2r"),
    ("derive", "planar2r"),
    ("plan", "planar2r", "--from", "0,0", "--to", "1,1", "--out", "motion.csv", "--plot", "motion.svg"),
    ("sweep", "planar2r", "--vary", "l2=0.2:0.4:3", "--measure", "mass", "--scheduler", "2"),
    ("export", "planar2r", "--to", "python", "--out", "code"),
    ("study", "--help"),
]


@pytest.mark.parametrize("arguments", VERBS, ids=lambda arguments: " ".join(arguments[:2]))
def test_verbs(arguments: tuple[str, ...], tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error::DeprecationWarning:armdyn", "-c", "from armdyn.cli import main; main()"]
    done = subprocess.run([*command, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_without_llvm(tmp_path: Path) -> None:
    """NumPy computes the same, a warning says so once, and nothing needs machine code."""
    script = """
import warnings, sys
sys.modules["llvmlite"] = None
import numpy as np
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import armdyn
    robot = armdyn.load("ur5")
    dyn = armdyn.compile(robot)
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 20, 6))
    np.savez("results.npz", tau=dyn.inverse_dynamics(q, qd, qdd), one=dyn.inverse_dynamics(q[3], qd[3], qdd[3]),
             M=dyn.mass_matrix(q), qdd=dyn.forward_dynamics(q, qd, qdd), J=dyn.jacobian(q), g=dyn.gravity(q[0]),
             d=dyn.inverse_dynamics_derivatives(q, qd, qdd)[0])
    arm = armdyn.compile(armdyn.load("planar2r"))
    motion = armdyn.point_to_point([0, 0], [0.1, 0.1], duration=0.2)
    run = armdyn.simulate(arm, armdyn.control.ComputedTorque(arm, 100.0, 20.0), motion, solver=armdyn.Solver(dt=1e-3))
    assert run.status.name == "FINISHED"
    try:
        dyn.inverse_dynamics(q[:, :5], qd, qdd)
    except armdyn.ArmdynError as error:
        print(error)
print([str(each.message) for each in caught if "LLVM" in str(each.message)])
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("No machine code") == 1 and "input 'q'" in done.stdout
    robot = armdyn.load("ur5")
    dyn = armdyn.compile(robot)
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 20, 6))
    with np.load(tmp_path / "results.npz") as found:
        tau = dyn.inverse_dynamics(q, qd, qdd)
        np.testing.assert_allclose(found["tau"], tau, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(found["one"], tau[3], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(found["M"], dyn.mass_matrix(q), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(found["qdd"], dyn.forward_dynamics(q, qd, qdd), rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(found["J"], dyn.jacobian(q), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(found["g"], dyn.gravity(q[0]), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(found["d"], dyn.inverse_dynamics_derivatives(q, qd, qdd)[0], rtol=1e-9, atol=1e-9)
