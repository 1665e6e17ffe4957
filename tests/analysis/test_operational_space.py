"""The model of operational space: against Pinocchio, against joint space, and problems 7.9 and 7.10 of Siciliano."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from analysis.arms import TASKS, Array, compiled, foreign, states
from armdyn.algebra import Vec3
from armdyn.analysis import coriolis_matrix, operational_space
from armdyn.analysis.operational_space import OperationalSpaceStatus
from armdyn.control.base import SingularTask
from armdyn.kinematics.task_rows import ANGULAR, drift, jacobian, jacobian_rate, make_task
from armdyn.mechanics.kinematics import analytic_jacobian

ARMS = pytest.mark.parametrize("name", TASKS)
ANGLES = pytest.mark.parametrize("angles", [None, "zyz", "rpy"])


def rows_with(name: str, angles: str | None) -> str:
    """The rows of an arm's task, rotations named as Euler angles where these are asked for."""
    names = dict(zip(ANGULAR[None], ANGULAR[angles], strict=True))
    return " ".join(names.get(row, row) for row in TASKS[name].split())


def close(found: Array, expected: Array, tolerance: float = 1e-9) -> None:
    """Relative to the scale of the quantity; 1e-9 for what goes through the inverse of a Jacobian."""
    assert np.abs(found - expected).max() <= tolerance * max(np.abs(expected).max(), 1e-3)


# The task -----------------------------------------------------------------------------------------------------------


@ARMS
@ANGLES
def test_drift_is_the_rate_of_the_jacobian_times_the_velocity(name: str, angles: str | None) -> None:
    dyn = compiled(name)
    q, qd = states(name)
    task = make_task(dyn, rows_with(name, angles), angles)  # type: ignore[arg-type]
    rate = jacobian_rate(dyn, task, q, qd)
    close(drift(dyn, task, q, qd), (rate @ qd[..., None])[..., 0])
    h = 1e-6  # central differences are good to about h^2 of the third derivative, and 1e-10 of rounding
    close(rate, (jacobian(dyn, task, q + h * qd) - jacobian(dyn, task, q - h * qd)) / (2 * h), 1e-6)


@pytest.mark.parametrize("angles", ["zyz", "rpy"])
def test_analytic_jacobian_is_that_of_mechanics(angles: str) -> None:
    dyn = compiled("panda")
    q, _ = states("panda")
    task = make_task(dyn, " ".join(("x", "y", "z", *ANGULAR[angles])), angles)  # type: ignore[arg-type]
    close(jacobian(dyn, task, q), np.asarray(analytic_jacobian(dyn.robot, q, angles=angles)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "rows"),
    [("planar2r", "x y"), ("planar3r", "x y rz"), ("panda", "x y z rx ry rz"), ("three_link", "x y z")],
)
def test_rows_an_arm_can_move(name: str, rows: str) -> None:
    assert " ".join(make_task(compiled(name)).names) == rows


# The model ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["planar3r", "puma560", "panda", "random 5", "random 6", "random 8"])
def test_model_of_matrices_by_pinocchio(name: str) -> None:
    """(7.130)-(7.132) written out with M, C qd, g, J and Jdot qd of an engine that shares no code with us."""
    dyn = compiled(name)
    rigid = armdyn.compile(dyn.robot.without("rotors", "friction"))
    rows = make_task(dyn, TASKS[name]).index
    for q, qd in zip(*states(name), strict=True):
        here = operational_space(rigid, q, qd, rows=TASKS[name])
        M, c, g, J6, bias6 = foreign(name, q, qd)
        J, bias, Mi = J6[rows], bias6[rows], np.linalg.inv(M)
        B = np.linalg.inv(J @ Mi @ J.T)
        close(here.mass, B)
        close(here.coriolis, B @ (J @ Mi @ c - bias))
        close(here.gravity, B @ J @ Mi @ g)
        close(here.inverse, Mi @ J.T @ B)
        assert here.status is OperationalSpaceStatus.REGULAR


@pytest.mark.parametrize("name", ["planar2r", "puma560", "random 6"])
@ANGLES
def test_square_tasks_simplify(name: str, angles: str | None) -> None:
    """(7.134)-(7.136): another formulation, for arms that are not redundant."""
    dyn = compiled(name)
    rows = rows_with(name, angles)
    for q, qd in zip(*states(name), strict=True):
        here = operational_space(dyn, q, qd, rows=rows, angles=angles)  # type: ignore[arg-type]
        Ji = np.linalg.inv(here.J)
        close(here.mass, Ji.T @ dyn.mass_matrix(q) @ Ji, 1e-8)  # condition numbers of J up to some hundreds, squared
        close(here.coriolis, Ji.T @ dyn.coriolis(q, qd) - here.mass @ here.drift, 1e-8)
        close(here.gravity, Ji.T @ dyn.gravity(q), 1e-8)


@ARMS
@ANGLES
def test_acceleration_of_the_tool_is_that_of_joint_space(name: str, angles: str | None) -> None:
    """Any torques and tool forces: (7.133) and J qdd + Jdot qd of forward dynamics agree; friction and rotors too."""
    dyn = compiled(name)
    random = np.random.default_rng(1)
    q, qd = states(name)
    here = operational_space(dyn, q, qd, rows=rows_with(name, angles), angles=angles)  # type: ignore[arg-type]
    tau = random.normal(0, 30, q.shape)
    h: Any = random.normal(0, 5, here.velocity.shape)
    qdd = dyn.forward_dynamics(q, qd, tau - (here.J.swapaxes(-1, -2) @ h[..., None])[..., 0])
    xdd = (here.J @ qdd[..., None])[..., 0] + here.drift
    close(here.acceleration(tau, h), xdd)
    close(here.force(xdd, h), here.tool_force(tau), 1e-8)  # (7.133) with (7.140); B_A multiplies the error of xdd


@ARMS
def test_batches_are_single_calls(name: str) -> None:
    dyn = compiled(name)
    q, qd = states(name, 6)
    many = operational_space(dyn, q.reshape(2, 3, -1), qd.reshape(2, 3, -1), rows=TASKS[name])
    one = operational_space(dyn, q[4], qd[4], rows=TASKS[name])
    for field in ("mass", "coriolis", "gravity", "friction", "inverse", "null", "conditioning"):
        close(getattr(many, field)[1, 1], getattr(one, field))


@ARMS
def test_torques_of_the_null_space_leave_the_tool_alone(name: str) -> None:
    """(7.141), problem 7.10: all solutions of Jbar^T tau = gamma, and only they."""
    dyn = compiled(name)
    random = np.random.default_rng(2)
    for q, qd in zip(*states(name), strict=True):
        here = operational_space(dyn, q, qd, rows=TASKS[name])
        m, n = here.J.shape
        gamma, tau0 = random.normal(0, 10, m), random.normal(0, 10, n)
        tau = here.torques(gamma, tau0)
        close(here.tool_force(tau), gamma)
        close(here.J @ dyn.forward_dynamics(q, qd, tau), here.J @ dyn.forward_dynamics(q, qd, here.torques(gamma)))
        # What (7.141) reaches is the whole set of solutions: rank of the projector = dimension of the null space.
        assert np.linalg.matrix_rank(here.null, tol=1e-8) == n - m
        other = tau + here.null @ random.normal(0, 1, n)
        close(here.torques(here.tool_force(other), other), other)
        # J^T is the right inverse of Jbar^T weighted by M^-1: least tau^T M^-1 tau among all solutions.
        Mi = np.linalg.inv(here.M)
        least = here.torques(gamma)
        assert least @ Mi @ least <= tau @ Mi @ tau * (1 + 1e-12)
        close(here.inverse.T @ here.J.T, np.eye(m))


@ARMS
@ANGLES
def test_problem_7_9_skew_symmetry(name: str, angles: str | None) -> None:
    """Bdot_A - 2 C_A is skew-symmetric, with Bdot_A along qd by differences; redundant arms included."""
    dyn = compiled(name)
    rows = rows_with(name, angles)
    h = 1e-4
    for q, qd in zip(*states(name), strict=True):
        C = coriolis_matrix(dyn, q, qd, rows=rows, angles=angles)  # type: ignore[arg-type]
        along = q + h * np.arange(-2, 3)[:, None] * qd
        B = operational_space(dyn, along, rows=rows, angles=angles).mass  # type: ignore[arg-type]
        rate = (B[0] - 8 * B[1] + 8 * B[3] - B[4]) / (12 * h)
        N = rate - 2 * C
        # Rounding of B_A over h: 1e-12 of it, times what the inverse of J makes of it near singular positions.
        assert np.abs(N + N.T).max() <= 1e-8 * max(np.abs(B).max(), np.abs(N).max())
        assert np.abs(rate).max() > 1e-3 * np.abs(B).max()  # there is something to be skew about


@ARMS
def test_coriolis_matrix_gives_the_forces_where_the_arm_does_not_move_within_itself(name: str) -> None:
    dyn = compiled(name)
    for q, qd in zip(*states(name), strict=True):
        first = operational_space(dyn, q, qd, rows=TASKS[name])
        outer = first.inverse @ first.velocity  # the joint velocity without internal motion
        here = operational_space(dyn, q, outer, rows=TASKS[name])
        close(coriolis_matrix(dyn, q, outer, rows=TASKS[name]) @ here.velocity, here.coriolis, 1e-8)


@pytest.mark.parametrize("name", ["puma560", "panda"])
@pytest.mark.parametrize("angles", ["zyz", "rpy"])
def test_wrenches_in_euler_coordinates(name: str, angles: str) -> None:
    """(7.128): h_A = T_A^T h_e, and both act on the joints alike."""
    dyn = compiled(name)
    wrench = np.array([5.0, -3.0, 8.0, 0.4, 1.2, -0.7])
    for q in states(name)[0]:
        here = operational_space(dyn, q, rows=rows_with(name, angles), angles=angles)  # type: ignore[arg-type]
        J = dyn.jacobian(q)
        T = J @ np.linalg.pinv(here.J)  # J = T_A J_A, both of full rank
        on_joints = J.T @ wrench
        close(here.tool_force(on_joints), T.T @ wrench)
        close(here.J.T @ (T.T @ wrench), on_joints)


# Motion -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "rows", "angles"), [("planar3r", "x y", None), ("panda", "x y z roll pitch yaw", "rpy")]
)
def test_simulations_in_operational_and_in_joint_space_agree(name: str, rows: str, angles: str | None) -> None:
    """The same torques, integrated as tool motion by (7.133) with the internal motion, and as joint motion.

    In operational space x and xd are states of their own; q and qd follow from xdd through Jbar and the null space.
    """
    dyn = armdyn.compile(compiled(name).robot.without("friction"))
    n = dyn.n
    q0 = states(name)[0][0]
    still = dyn.gravity(q0)

    def torques(t: float, qd: Array) -> Array:
        return np.asarray(still + 0.2 * np.sin(3 * t + np.arange(n)) - 0.05 * qd)

    def in_joints(t: float, y: Array) -> Array:
        q, qd = y[:n], y[n:]
        return np.concatenate([qd, dyn.forward_dynamics(q, qd, torques(t, qd))])

    def in_task(t: float, y: Array) -> Array:
        q, qd, xd = y[:n], y[n : 2 * n], y[2 * n + m :]
        here = operational_space(dyn, q, qd, rows=rows, angles=angles)  # type: ignore[arg-type]
        tau = torques(t, qd)
        load = here.tool_force(tau) - here.coriolis - here.gravity
        xdd = np.linalg.solve(here.mass, load)  # (7.133) with h = 0
        inner = np.linalg.solve(here.M, here.null @ (tau - here.bias))
        return np.concatenate([qd, here.inverse @ (xdd - here.drift) + inner, xd, xdd])

    task = make_task(dyn, rows, angles)  # type: ignore[arg-type]
    m = len(task.names)
    start = np.concatenate([q0, np.zeros(n)])
    x0 = coordinates(dyn, rows, q0)
    joint = integrate(in_joints, start, 0.4, 200)
    tool = integrate(in_task, np.concatenate([start, x0, np.zeros(m)]), 0.4, 200)
    moved = np.abs(coordinates(dyn, rows, joint[:n]) - x0).max()
    assert moved > 1e-3
    close(tool[2 * n : 2 * n + m] - x0, coordinates(dyn, rows, joint[:n]) - x0, 1e-6)  # steps of 2 ms: error of RK4
    close(tool[2 * n + m :], jacobian(dyn, task, joint[:n]) @ joint[n:], 1e-6)


def coordinates(dyn: armdyn.Dynamics, rows: str, q: Array) -> Array:
    """x of the task: position, and roll, pitch, yaw where asked for."""
    pose = dyn.pose(q)
    R = pose[:3, :3]
    angles = {
        "roll": np.arctan2(R[2, 1], R[2, 2]),
        "pitch": np.arcsin(-R[2, 0]),
        "yaw": np.arctan2(R[1, 0], R[0, 0]),
    }
    return np.array([angles.get(row, pose["xyz".find(row), 3]) for row in rows.split()])


def integrate(rate, y: Array, t1: float, steps: int) -> Array:  # type: ignore[no-untyped-def]
    """Classical Runge-Kutta steps."""
    h = t1 / steps
    for i in range(steps):
        t = i * h
        k1 = rate(t, y)
        k2 = rate(t + h / 2, y + h / 2 * k1)
        k3 = rate(t + h / 2, y + h / 2 * k2)
        k4 = rate(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


# Singular positions -------------------------------------------------------------------------------------------------


def test_singular_positions_are_never_silent() -> None:
    dyn = compiled("planar2r")
    stretched = np.array([0.3, 0.0])
    with pytest.raises(SingularTask, match="lost rank"):
        operational_space(dyn, stretched)
    here = operational_space(dyn, [stretched, [0.3, 1.0]], throw=False)
    assert here.status is OperationalSpaceStatus.SINGULAR
    assert here.singular.tolist() == [True, False]
    assert np.isnan(here.mass[0]).all() and np.isfinite(here.mass[1]).all()
    with pytest.raises(SingularTask, match="No joint moves z: leave it out"):
        operational_space(dyn, [0.3, 1.0], rows="x z")


def test_damping_acts_below_its_threshold_only_and_says_so() -> None:
    dyn = compiled("planar2r")
    q = np.stack([np.full(50, 0.3), np.linspace(0, 1, 50)], axis=-1)
    here = operational_space(dyn, q, damping=0.05)
    free = operational_space(dyn, q, throw=False)
    assert here.status is OperationalSpaceStatus.DAMPED
    assert 0 < here.damped.sum() < 50
    assert (here.damped == (free.conditioning < 0.05)).all()
    close(here.mass[~here.damped], free.mass[~here.damped])
    # No direction of the tool is heavier than where damping begins, times what the arm's mobility itself changes.
    heaviest = np.linalg.norm(here.mass, ord=2, axis=(-2, -1))
    assert heaviest[here.damped].max() <= 1.1 * heaviest[~here.damped].max()
    assert np.diff(heaviest)[:10].max() < 0.1 * heaviest.max()  # continuous through the singular position


def test_null_torques_leave_the_tool_alone_at_singular_positions() -> None:
    dyn = compiled("planar3r")
    q = np.array([0.4, 0.0, 0.0])
    here = operational_space(dyn, q, rows="x y", damping=0.1)
    assert here.damped and here.singular
    tau0 = np.array([3.0, -5.0, 2.0])
    effect = here.acceleration(here.torques(np.zeros(2), tau0)) - here.acceleration(np.zeros(3))
    assert np.abs(here.null @ tau0).max() > 0.1
    assert np.abs(effect).max() < 1e-10 * np.abs(here.acceleration(tau0)).max()


def test_undefined_euler_angles_are_singular() -> None:
    dyn = compiled("planar3r")  # its tool's z axis is the world's: zyz angles are not defined anywhere
    with pytest.raises(SingularTask, match="zyz angles"):
        operational_space(dyn, [0.3, 0.5, 0.7], rows="x y psi", angles="zyz")
    here = operational_space(dyn, [0.3, 0.5, 0.7], rows="x y psi", angles="zyz", throw=False, damping=0.1)
    assert here.status is OperationalSpaceStatus.SINGULAR and np.isnan(here.null).all()


def test_conditioning_does_not_depend_on_world_axes() -> None:
    """A robot turned as a whole is as close to its singular positions."""
    from dataclasses import replace

    robot = armdyn.load("puma560")
    q = states("puma560")[0]
    turned = replace(robot, base=replace(robot.base, rpy=Vec3(0.4, -0.3, 1.0)))
    here, there = (operational_space(r, q) for r in (robot, turned))
    close(here.conditioning, there.conditioning)


def test_conditioning_does_not_depend_on_the_size_of_the_arm() -> None:
    """Ten times the lengths at the same masses: other units of linear and angular rows, the same arm."""
    small = armdyn.load("planar3r")
    sizes = {name: 10 * value for name, value in small.parameters.items() if name[0] in "al"}
    sizes |= {name: 100 * value for name, value in small.parameters.items() if name[0] == "I"}
    q = states("planar3r")[0]
    here, there = (operational_space(r, q, rows="x y rz") for r in (small, small.with_parameters(**sizes)))
    assert len(sizes) == 9
    close(there.conditioning, here.conditioning)
    close(there.mass[:, :2, :2], here.mass[:, :2, :2])  # kg
    close(there.mass[:, 2, 2], 100 * here.mass[:, 2, 2])  # kg m^2


def test_wrong_input() -> None:
    dyn = compiled("planar2r")
    with pytest.raises(armdyn.ArmdynError, match="unknown row 'phi'"):
        operational_space(dyn, [0, 1], rows="x phi")
    with pytest.raises(armdyn.ArmdynError, match="each once"):
        operational_space(dyn, [0, 1], rows="x x")
    with pytest.raises(armdyn.ArmdynError, match="one entry per joint"):
        operational_space(dyn, [0, 1, 2])
    with pytest.raises(armdyn.ArmdynError, match="unknown Euler angles"):
        operational_space(dyn, [0, 1], angles="xyz")  # type: ignore[arg-type]
    with pytest.raises(armdyn.ArmdynError, match="damping"):
        operational_space(dyn, [0, 1], damping=-1)
