"""armdyn fix: repairs of a robot file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.verb import Writes, verb

if TYPE_CHECKING:
    from armdyn.doctor import Fixed


@verb(out=Writes("Write the repaired file; of a URDF or MJCF file the rest stays as it is."))
def fix(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Robot file.", autocompletion=parse.robot_names)],
) -> Fixed:
    """Propose repairs of what the check-up finds, where there is one and only one; --out applies them to a copy.

    Every repair comes with its evidence and its effect on the torques; what has no unique repair is left alone, with
    the reason. The file itself is never changed.

    Exit status: 0 nothing to repair, 1 repairs or findings left.
    """
    from armdyn import fix

    return fix(file)
