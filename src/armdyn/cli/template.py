"""armdyn template: an empty table for a robot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armdyn.cli.verb import Writes, verb

if TYPE_CHECKING:
    from armdyn.result import Result


@verb(out=Writes("Write an empty table to fill in: .csv, .tsv or .xlsx.", (".csv", ".tsv", ".xlsx")))
def template() -> Result:
    """List the columns of a robot in a table, or write an empty table for a spreadsheet with --out.

    Every verb takes such a table, with one row per joint, as ROBOT.
    """
    from armdyn import template

    return template()
