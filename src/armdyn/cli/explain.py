"""armdyn explain: why two models disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.verb import Writes, changed_robot, verb

if TYPE_CHECKING:
    from armdyn.doctor import Explanation
    from armdyn.typing import Progress

ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="Robot file, name from `armdyn robots`, or CSV of states and torques.",
        autocompletion=parse.robot_names,
    ),
]


@verb(report=Writes("Write a report with pictures (.html).", (".html", ".htm")))
def explain(
    first: ModelArgument,
    second: ModelArgument,
    progress: Progress,
    tolerance: Annotated[
        float, typer.Option(metavar="T", help="Relative difference of torques up to which the models are equal.")
    ] = 1e-7,
) -> Explanation:
    """Explain why two models of a robot give different torques.

    A CSV file has columns q_NAME, qd_NAME, qdd_NAME and tau_NAME of every joint.

    Exit status: 0 the models are equal, 1 they differ, whether the causes explain it or not.
    """
    from armdyn import explain

    return explain(changed_robot(first), changed_robot(second), tolerance=tolerance, progress=progress)
