"""armdyn template: an empty table for a robot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.parse import check_extension
from armdyn.cli.verb import verb

if TYPE_CHECKING:
    from armdyn.result import Result


@verb()
def template(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="Write an empty table to fill in here: .csv, .tsv or .xlsx."),
    ] = None,
) -> Result:
    """List the columns of a robot in a table, and write an empty table for a spreadsheet.

    Every verb takes such a table, with one row per joint, as ROBOT.
    """
    from armdyn import template

    check_extension(file, (".csv", ".tsv", ".xlsx"), "FILE")
    return template(file)
