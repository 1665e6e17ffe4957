"""The page for users of other toolboxes: every armdyn expression in its tables exists and can be evaluated."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from support.fences import fences

PAGE = (Path(__file__).parents[1] / "docs" / "start" / "coming_from.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in PAGE.splitlines() if line.startswith("| ")]
EXPRESSIONS = sorted({code for row in ROWS if row[1] != "armdyn" for code in re.findall(r"`([^`]+)`", row[1])})


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the lines at the top of the page define."""
    found: dict[str, Any] = {}
    for block in fences(PAGE, "python"):
        exec(block, found)
    return found


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_expression_can_be_evaluated(names: dict[str, Any], expression: str) -> None:
    eval(expression, dict(names))


def test_every_row_has_an_expression() -> None:
    assert len(ROWS) > 70
    for row in ROWS:
        assert row[1] == "armdyn" or "`" in row[1], row


@pytest.mark.parametrize(
    "word", ["rnea", "crba", "aba", "computeJointJacobian", "fkine", "jacob0", "gravload", "inertia", "coriolis", "Jm",
             "Tc", "inverseDynamics", "massMatrix", "gravityTorque", "velocityProduct", "geometricJacobian",
             "mj_inverse", "qfrc_bias", "gravity compensation", "feedforward", "computed torque"]
)  # fmt: skip
def test_the_words_of_other_toolboxes_are_found(word: str) -> None:
    assert any(word in row[0] for row in ROWS)
