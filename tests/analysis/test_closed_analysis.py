"""Analysis, maps and sweeps of closed chains, at the independent joints."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn import analysis
from armdyn.browser.live_simulation import Setting
from armdyn.browser.playback import track
from armdyn.browser.robot_queries import RobotQueries
from armdyn.errors import PhysicsError
from armdyn.kinematics.closable import CLEAR, clear, closable, pulled_in
from armdyn.kinematics.reach import reach
from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.robot.limits import working_range
from support import pinocchio_model
from support.feature_robots import gripper


def test_summary_against_an_engine() -> None:
    """Mass at the tool of a five-bar linkage: (J G (G^T M G)^-1 G^T J^T)^-1, with M and J of Pinocchio's tree."""
    robot = armdyn.load("five_bar")
    chain, q = dependent_joints(robot), np.array([2.1, 0.9])
    q_all = np.array(chain.continued(q.tolist()))
    G = np.array(chain.projection(q_all.tolist()), dtype=float)
    M = G.T @ np.asarray(pinocchio_model.mass_matrix(robot.opened, q_all)) @ G
    found = analysis.analyse(robot, q)
    J = armdyn.mechanics.kinematics.jacobian(robot.opened, q_all)[:2] @ G
    mobility = J @ np.linalg.inv(M) @ J.T
    assert found.effective_mass[:2] == pytest.approx(1 / np.diag(mobility), rel=1e-10)
    assert found.inertia == pytest.approx(np.diag(M), rel=1e-10)
    assert found.model.mass == pytest.approx(np.linalg.inv(mobility), rel=1e-9)


def test_payload_of_a_palletiser() -> None:
    """The largest payload is the one with which a motor reaches its limit."""
    robot = armdyn.load("palletiser")
    q = np.array([0.1, 1.1, -0.4])
    most = float(analysis.payload_capability(robot, q))
    held = armdyn.compile(robot.with_payload(most)).gravity(q[None])[0]
    limits = [float(joint.limits.torque) for joint in robot.joints]  # type: ignore[union-attr, arg-type]
    assert max(np.abs(held) / limits) == pytest.approx(1, rel=1e-9)


def test_maps_leave_out_what_does_not_close() -> None:
    robot = armdyn.load("five_bar").with_parameters(l2=0.3)
    found = analysis.workspace_map(robot, "gravity", counts=(12, 12))
    assert 0.1 < found.reached.mean() < 1
    assert np.isfinite(found.values[found.reached]).all() and np.isnan(found.values[~found.reached]).all()
    chain = dependent_joints(robot)
    for q in found.q[found.reached][::10]:
        chain.continued(q.tolist())
    corner = np.array([found.axes[0][-1], found.axes[1][0]])
    assert not found.reached[-1, 0]
    with pytest.raises(PhysicsError):
        chain.continued(corner.tolist())
    dyn = armdyn.compile(robot)
    assert closable(dyn, pulled_in(dyn, corner[None])).all()


def test_clear_of_singular_configurations() -> None:
    """Rods of length l at an angle a turn by the motion of the cranks' ends through l (n1, n2): its smallest singular
    value is l sqrt(1 - |cos a|), and the ends' distance is 2 l sin(a / 2).
    """
    robot = armdyn.load("five_bar")
    dyn, chain = armdyn.compile(robot), dependent_joints(robot)
    low, high = working_range(robot)
    home = [chain.assembly[k] for k in chain.independent]
    q = pulled_in(dyn, np.vstack([home, low + (high - low) * np.random.default_rng(0).random((300, 2))]))
    d, l1, l2 = (robot.parameters[name] for name in ("d", "l1", "l2"))
    ends = l1 * np.exp(1j * q) + [-d / 2, d / 2]
    angle = 2 * np.arcsin(np.abs(ends[:, 1] - ends[:, 0]) / (2 * l2))
    smallest = np.sqrt(1 - np.abs(np.cos(angle)))
    expected = smallest >= CLEAR * smallest[0]
    assert (clear(dyn, q) == expected).all() and 0 < expected.mean() < 1
    assert clear(dyn, pulled_in(dyn, q, well=True)).all()


def test_reach() -> None:
    """Against a grid over the ranges of both joints."""
    robot = armdyn.load("five_bar")
    low, high = working_range(robot)
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 80).T), -1)
    dyn = armdyn.compile(robot)
    q = grid.reshape(-1, 2)
    q = q[closable(dyn, q, quick=True)]
    best = np.linalg.norm(dyn.pose(q)[:, :3, 3], axis=1).max()
    assert best <= reach(robot) < best + 0.02
    free = gripper()
    assert reach(free) <= reach(free.opened) + 1e-9


def test_sweep_of_a_closed_chain() -> None:
    robot = armdyn.load("palletiser")
    found = armdyn.sweep(robot, {"l2": [1.0, 1.2]}, measures=("peak_torque", "holding_torque", "mass", "inertia"))
    assert np.isfinite(found.results).all()
    for row, length in zip(found.results, (1.0, 1.2), strict=True):
        variant = robot.with_parameters(l2=length)
        assert row[list(found.labels).index("mass")] == pytest.approx(199)
        assert variant.parameters["l2"] == length
    assert found.results[1, 1] > found.results[0, 1]


def test_studio_answers_for_a_closed_chain() -> None:
    answers = RobotQueries(armdyn.load("five_bar").with_parameters(l2=0.3))
    assert all(np.isfinite(load.torque) for load in answers.loads(answers.start))
    assert track(answers, answers.start, answers.start, Setting(payload=1.0), duration=0.2).fine
    with pytest.raises(PhysicsError, match="loop 'meeting'"):
        answers.kept([3.5, -0.4])
