"""armdyn evaluate: torques, accelerations, matrices and reactions at a state or along a motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.verb import Writes, verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.motion import Evaluation

FORM = "one number per joint as in 0,30deg,-1.2"


@verb(out=Writes("Write everything, one row per state, in SI units (.csv)."))
def evaluate(
    robot: Robot,
    motion: Annotated[
        Path | None,
        typer.Argument(
            metavar="[MOTION]", help="Samples t, q1.., qd1.., qdd1.. (.csv): evaluate these instead of one state."
        ),
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="Q", help=f"Configuration: {FORM} (rad, m), or its name in the file.")
    ] = None,
    qd: Annotated[str | None, typer.Option(metavar="V", help="Velocities, in the same form (default: 0).")] = None,
    qdd: Annotated[str | None, typer.Option(metavar="A", help="Accelerations, in the same form (default: 0).")] = None,
    tau: Annotated[
        str | None, typer.Option(metavar="T", help="Torques, N m or N: asks for the accelerations that they cause.")
    ] = None,
    wrench: Annotated[
        str | None,
        typer.Option(
            metavar="FX,FY,FZ,MX,MY,MZ",
            help="Force and moment that the robot exerts at its tool, N and N m, world axes (default: none).",
        ),
    ] = None,
) -> Evaluation:
    """Evaluate the dynamics: torques or accelerations, M, C, torques by cause and by body, joint reactions."""
    from armdyn import evaluate

    return evaluate(
        robot,
        parse.position(at, robot),
        parse.vector(qd, "--qd"),
        parse.vector(qdd, "--qdd"),
        tau=parse.vector(tau, "--tau"),
        wrench=parse.vector(wrench, "--wrench"),
        motion=motion,
    )
