"""armdyn excite: an exciting motion for identification, and the error bars to expect from it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.verb import Writes, figure, verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.result import Result
    from armdyn.typing import Progress


class Criterion(StrEnum):
    """What is made small: the condition number of the observation matrix, or the volume of the error ellipsoid."""

    condition = "condition"
    determinant = "D"


def print_template(asked: bool) -> None:
    """Print a design's file with all keys, and end."""
    if asked:
        from armdyn.identification import ExcitationDesign

        print(ExcitationDesign.template())
        raise typer.Exit


@verb(
    out=Writes("Write the motion as samples of t, q, qd, qdd (.csv).", (".csv",)),
    plot=figure("the motion and the limits"),
)
def excite(
    robot: Robot,
    progress: Progress,
    design: Annotated[
        Path | None,
        typer.Argument(metavar="[DESIGN.toml]", help="Motion, search, limits, surroundings, log: --print-template."),
    ] = None,
    include: parse.IncludeOption = "inertial,friction",
    criterion: Annotated[Criterion, typer.Option(help="condition (number) or D (determinant).")] = Criterion.condition,
    resume: Annotated[Path | None, typer.Option(metavar="FILE", help="Save progress here, and resume from it.")] = None,
    print_template: Annotated[
        bool,
        typer.Option(
            "--print-template", help="Print a DESIGN.toml with all keys.", callback=print_template, is_eager=True
        ),
    ] = False,
) -> Result:
    """Design an exciting motion for identification within the robot's limits, and predict the error bars."""
    from armdyn import excite
    from armdyn.identification import ExcitationDesign

    wanted = ExcitationDesign() if design is None else ExcitationDesign.read(design)
    return excite(
        robot,
        **wanted.arguments(),
        include=parse.words(include),
        criterion=criterion.value,
        resume=resume,
        progress=progress,
    )
