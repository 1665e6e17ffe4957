"""002 (Khalil): every item comes out as the text has it, or as its erratum says; and the comparisons can fail."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.graph import identical
from armdyn.mechanics import lagrange, newton_euler
from armdyn.reproduce import ERRATA
from armdyn.reproduce.khalil import chapter_7_3 as lagrangian
from armdyn.reproduce.khalil import chapter_7_4 as recursion
from armdyn.reproduce.khalil import rx90 as appendix
from armdyn.reproduce.running import chapters

CHAPTER = chapters()["002"]


# "same" where the text has formulas and all data; "corrected" where its print is wrong; "chosen" where it has letters
# without numbers, or pictures.
EXPECTED = {
    "[7.4]-[7.25]": "chosen",
    "sec. 7.3.3.3": "chosen",
    "fig. 7.2": "chosen",
    "[7.29]-[7.33]": "chosen",
    "fig. 7.3": "chosen",
    "Example 7.1": "same",
    "[7.36]-[7.61]": "corrected",
    "table 7.5": "corrected",
    "Example 7.4": "corrected",
    "sec. 7.5.3": "chosen",
    "table 7.6": "chosen",
    "sec. 7.6": "corrected",
    "fig. 8.1, 8.2": "chosen",
    **{f"fig. 8.{k}": "chosen" for k in (3, 4)},
    "table 8.1": "same",
    **{f"fig. 8.{k}": "chosen" for k in (5, 6, 7, 8, 9)},
    "sec. 8.4": "corrected",
    "[9.1]-[9.4]": "chosen",
    "fig. 9.1": "chosen",
    "sec. 9.3.2": "chosen",
    "fig. 9.2": "chosen",
    "fig. 9.3": "chosen",
    "fig. 9.4": "chosen",
    "sec. 9.4.2.4": "chosen",
    "sec. 9.4.2.5": "chosen",
    "fig. 9.5": "chosen",
    "sec. 9.7": "chosen",
    "appendix": "corrected",
}
ITEMS = {item.place: item for item in CHAPTER.items}


def test_items_stand_in_the_order_of_the_text() -> None:
    assert [item.place for item in CHAPTER.items] == list(EXPECTED)


@pytest.mark.parametrize("place", EXPECTED)
def test_item(place: str) -> None:
    outcome = ITEMS[place].run()
    failed = [check for check in (*outcome.checks, *(slip.fails for slip in outcome.slips)) if not check.holds]
    assert not failed
    assert outcome.verdict == EXPECTED[place]
    drawn = (
        place.startswith("fig.") and place != "fig. 7.3"
    ) or place == "sec. 9.3.2"  # fig. 7.3 is a sketch of a spring
    assert bool(outcome.figures) == drawn


def test_every_wrong_print_has_evidence() -> None:
    """Of 002 and 004; the items cite all of it."""
    for source in ("002", "004"):
        chapter = chapters()[source]
        wrong = {erratum.tag for erratum in ERRATA if erratum.source == source and erratum.kind == "wrong"}
        assert wrong <= set(chapter.evidences) <= {erratum.tag for erratum in ERRATA}


# Against an engine, and that the comparisons can fail ---------------------------------------------------------------


def test_what_the_evidence_calls_true_is_true() -> None:
    """E002-1, E002-2: torques of the random arms, rotors and friction added by hand to those of the engine."""
    pinocchio_model = pytest.importorskip("support.pinocchio_model", reason="Pinocchio is not installed")
    for robot in recursion.arms():
        q, qd, qdd = lagrangian.state(5, 4)
        rotors = np.array([float(joint.rotor.ratio**2 * joint.rotor.inertia) for joint in robot.joints])
        truth = pinocchio_model.inverse_dynamics(robot, q, qd, qdd) + rotors * qdd + 0.7 * qd + 1.1 * np.sign(qd)
        found = recursion.printed_recursion(robot, q, qd, qdd, newton_euler.rate_matrix)
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
    wrong = appendix.PROGRAM.replace("WI24 = -C4*W33 - S4*WI13", "WI24 = -C4*W33 - S4*WI12")
    assert wrong != appendix.PROGRAM
    monkeypatch.setattr(appendix, "PROGRAM", wrong)
    failed = {check.what.split(":")[0] for check in appendix.appendix().checks if not check.holds}
    assert {"WI", "torques against Lagrange with standard parameters"} <= failed


def test_operations_of_the_appendix_by_hand() -> None:
    """Counting the signs in its text, powers as products, gives the same as counting its tree."""
    lines = [line for row in appendix.PROGRAM.splitlines() for line in row.split("; ") if not line.startswith("PIS")]
    right = [line.split(" = ")[1] for line in lines]
    times = sum(text.replace("**2", "^").count("*") + text.count("**2") for text in right)
    plus = sum(text.count(" + ") + text.count(" - ") for text in right)
    assert appendix.operations(appendix.OFFLINE) == (times, plus) == (160, 113)


def test_the_evidence_of_7_57_needs_the_misprint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recursion, "printed_rate_matrix", newton_euler.rate_matrix)
    assert not recursion.rate_matrix_slip().holds
