"""armdyn fix: repairs of a robot file. Exit status 0 nothing to repair, 1 repairs or findings, 2 error."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.console import console, print_json, show_path, show_repairs, working
from armdyn.cli.verb import takes

CLEAN, FOUND = 0, 1


@takes("closed", "elastic", "frictionless", "free_joints")
def fix(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Robot file.", autocompletion=parse.robot_names)],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the repaired file; the rest of it stays as it is."),
    ] = None,
    json: parse.JsonOption = False,
) -> None:
    """Propose repairs of what the check-up finds, where there is one and only one; --out applies them to a copy.

    Every repair comes with its evidence and its effect on the torques; what has no unique repair is left alone, with
    the reason. The file itself is never changed.

    Exit status: 0 nothing to repair, 1 repairs or findings left, 2 error.
    """
    with working("looking for repairs"):
        from armdyn.doctor import fix as run
        from armdyn.formats import read

        result = run(read(file))
    print_json(result.record()) if json else show_repairs(console(), result)
    if out is not None and result.repairs:
        result.robot.save(out)
        if not json:
            show_path(console(), "repaired", out)
    raise typer.Exit(FOUND if result.repairs or result.left else CLEAN)
