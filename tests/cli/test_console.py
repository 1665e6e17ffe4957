"""Tables of the terminal: every width shows every cell."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from armdyn.cli.console import show
from armdyn.tables import Column, Section

HEADS = ("joint", "unit", "peak velocity", "peak torque", "torque limit", "used, %")
ROWS = (("shoulder_lift_joint", "rad", "3.1500", "-139.9", "150", "93.2"), ("wrist", "m", "0", "1.9", "28", "7.1"))


@pytest.mark.parametrize("width", range(40, 90))
def test_a_table_is_split_before_it_is_cut(width: int) -> None:
    screen = Console(file=StringIO(), width=width)
    show(screen, Section("", tuple(map(Column, HEADS)), ROWS))
    printed = screen.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
    assert all(text in printed for text in (*HEADS, *ROWS[0], *ROWS[1]))
