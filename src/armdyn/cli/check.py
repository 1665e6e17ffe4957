"""armdyn check: what is invalid or suspicious in a robot's description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.verb import verb

if TYPE_CHECKING:
    from armdyn.findings import Checkup


@verb()
def check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="ROBOT", help="Robot file, or a name from `armdyn robots`.", autocompletion=parse.robot_names
        ),
    ],
) -> Checkup:
    """Report what is invalid or suspicious in a robot's description.

    Units, columns and frames are judged together, by sizes, masses and densities of real robots. `armdyn fix` proposes
    repairs. Exit status: 0 fine (notes do not count), 1 findings.
    """
    from armdyn import check

    return check(file)
