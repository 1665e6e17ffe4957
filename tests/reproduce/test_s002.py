"""002 (Khalil): every item comes out as the text has it, or as its erratum says; and the comparisons can fail."""

from __future__ import annotations

import pytest

from armdyn.graph import identical
from armdyn.mechanics import lagrange, newton_euler
from armdyn.reproduce import s002_ch7_3 as lagrangian
from armdyn.reproduce import s002_ch7_4 as recursion
from armdyn.reproduce import s002_rx90 as appendix
from armdyn.reproduce.running import chapters

CHAPTER = chapters()["002"]


# "same" where the text has formulas and all data; "corrected" where its print is wrong; "chosen" where it has letters
# without numbers, or pictures.
EXPECTED = {
    "Example 7.1": "same",
    "sec. 7.3.3.3": "chosen",
    "fig. 7.2": "chosen",
    "[7.29]-[7.33]": "chosen",
    "fig. 7.3": "chosen",
    "[7.36]-[7.61]": "corrected",
    "table 7.5": "corrected",
    "Example 7.4": "corrected",
    "sec. 7.5.3": "chosen",
    "table 7.6": "chosen",
    "sec. 7.6": "corrected",
    "fig. 8.1, 8.2": "chosen",
    **{f"fig. 8.{k}": "chosen" for k in (3, 4, 5)},
    "table 8.1": "chosen",
    **{f"fig. 8.{k}": "chosen" for k in (6, 7, 8, 9)},
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
