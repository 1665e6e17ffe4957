"""armdyn bench: speed of the compiled functions compared with other engines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.parse import robot_names
from armdyn.cli.verb import Writes, verb

if TYPE_CHECKING:
    from armdyn.result import Result
    from armdyn.typing import Progress


@verb(out=Writes("Write the figures as Markdown.", (".md",)))
def bench(
    progress: Progress,
    robots: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ROBOT",
            help="Names or files, chainN for a chain of N joints, talos, quadruped (default: arms, chains, trees).",
            autocompletion=robot_names,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer repetitions: rough figures in a fraction of the time.")
    ] = False,
) -> Result:
    """Measure latency, batch speed, operation counts and compile times, and compare them with other engines.

    Pinocchio, MuJoCo, CasADi and Robotics Toolbox are included if they are installed. All run on one core in turns;
    results must agree before they are timed. Exit status: 0 all agree, 1 an engine disagrees.
    """
    from armdyn import bench

    return bench(robots or (), quick=quick, progress=progress)
