"""armdyn evaluate: torques, accelerations, matrices and reactions at a state or along a motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.console import console, print_json, show_path
from armdyn.cli.verb import takes

if TYPE_CHECKING:
    from armdyn.robot.robot import Robot

FORM = "one number per joint as in 0,30deg,-1.2"


@takes("closed", "elastic", "lossy", "free_joints")
def evaluate(
    robot: Robot,
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
    motion: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Evaluate a motion at its samples t, q1.., qd1.., qdd1.. (.csv) instead."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write everything, one row per state, in SI units (.csv).")
    ] = None,
    json: parse.JsonOption = False,
) -> None:
    """Evaluate the dynamics: torques or accelerations, M, C, torques by cause and by body, joint reactions.

    Exit status: 0 done, 2 error.
    """
    from armdyn.motion import evaluate as evaluated

    state = {"q": parse.position(at, robot), "qd": parse.vector(qd, "--qd"), "qdd": parse.vector(qdd, "--qdd"),
             "tau": parse.vector(tau, "--tau"), "wrench": parse.vector(wrench, "--wrench")}  # fmt: skip
    found = evaluated(robot, **state, motion=motion)
    print_json(found.record()) if json else print(found)
    if out is not None:
        show_path(console(stderr=json), "Written", found.save(out))
