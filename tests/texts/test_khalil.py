"""Khalil: what the items call true agrees with an independent engine, and their comparisons can fail."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.graph import identical
from armdyn.mechanics import lagrange
from armdyn.mechanics.steps.newton_euler import rate_matrix
from armdyn.texts.khalil import chapter_7_3 as lagrangian
from armdyn.texts.khalil import chapter_7_4 as recursion
from armdyn.texts.khalil import rx90 as appendix
from armdyn.texts.khalil import rx90_program


def test_what_the_evidence_calls_true_is_true() -> None:
    """Khalil-1, Khalil-2: torques of the random arms, rotors and friction added by hand to those of the engine."""
    pinocchio_model = pytest.importorskip("support.pinocchio_model", reason="Pinocchio is not installed")
    for robot in recursion.arms():
        q, qd, qdd = lagrangian.state(5, 4)
        rotors = np.array([float(joint.rotor.ratio**2 * joint.rotor.inertia) for joint in robot.joints])
        truth = pinocchio_model.inverse_dynamics(robot, q, qd, qdd) + rotors * qdd + 0.7 * qd + 1.1 * np.sign(qd)
        found = recursion.printed_recursion(robot, q, qd, qdd, rate_matrix)
        assert np.abs(found.torques - truth).max() < 1e-11 * np.abs(truth).max()


def test_the_program_of_the_appendix_is_right() -> None:
    pinocchio_model = pytest.importorskip("support.pinocchio_model", reason="Pinocchio is not installed")
    robot = armdyn.load("rx90")
    (q, qd, qdd), tip = lagrangian.state(6, 31), lagrangian.state(6, 32, 1)[0]
    R = pinocchio_model.tool_pose(robot, q)[:3, :3]
    wrench = np.concatenate([R @ tip[:3], R @ tip[3:]])
    rotors = np.array([float(joint.rotor.inertia) for joint in robot.joints])
    truth = pinocchio_model.inverse_dynamics(robot, q, qd, qdd, wrench) + rotors * qdd
    program = appendix.executed(robot, q, qd, qdd, tip)
    assert [program[f"GAM{j}"] for j in range(1, 7)] == pytest.approx(truth, rel=1e-12)


def test_example_7_1_depends_on_every_term() -> None:
    """A sign turned in A12 is noticed."""
    A = lagrangian.printed_inertia()
    p = lagrangian.p
    A[0][1] = A[0][1] + 2 * lagrangian.S2 * p.D3 * p.MZ3
    assert not identical(lagrange.mass_matrix(lagrangian.ROBOT, lagrangian.q), A)


def test_a_line_of_the_appendix_put_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The row of Example 7.4 as it is misprinted there, put into the program."""
    wrong = rx90_program.PROGRAM.replace("WI24 = -C4*W33 - S4*WI13", "WI24 = -C4*W33 - S4*WI12")
    assert wrong != rx90_program.PROGRAM
    monkeypatch.setattr(rx90_program, "PROGRAM", wrong)
    failed = {check.what.split(":")[0] for check in appendix.appendix().checks if not check.holds}
    assert {"WI", "torques against Lagrange with standard parameters"} <= failed


def test_operations_of_the_appendix_by_hand() -> None:
    """Counting the signs in its text, powers as products, gives the same as counting its tree."""
    lines = [
        line for row in rx90_program.PROGRAM.splitlines() for line in row.split("; ") if not line.startswith("PIS")
    ]
    right = [line.split(" = ")[1] for line in lines]
    times = sum(text.replace("**2", "^").count("*") + text.count("**2") for text in right)
    plus = sum(text.count(" + ") + text.count(" - ") for text in right)
    assert rx90_program.operations(rx90_program.OFFLINE) == (times, plus) == (160, 113)


def test_the_evidence_of_7_57_needs_the_misprint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recursion, "printed_rate_matrix", rate_matrix)
    assert not recursion.rate_matrix_slip().holds
