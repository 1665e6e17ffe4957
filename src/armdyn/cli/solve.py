"""armdyn solve: the joint positions that put the tool at a pose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.verb import Writes, figure, verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.kinematics import Solutions


@verb(
    out=Writes("Write one row per solution, in SI units (.csv).", (".csv",)),
    plot=figure("the arm at each solution"),
)
def solve(
    robot: Robot,
    pose: Annotated[
        str,
        typer.Option(
            metavar="X,Y,Z[,R,P,Y]",
            help="Where the tool shall be, m, in the world: a position with any rotation, or with roll, pitch and yaw "
            "as in 0,90deg,0, or the 16 numbers of a matrix row by row.",
        ),
    ],
    near: Annotated[
        str | None,
        typer.Option(
            metavar="Q",
            help="Configuration near which solutions are wanted; free joints stay there (default: middle of ranges).",
        ),
    ] = None,
) -> Solutions:
    """Solve the inverse kinematics: all joint positions of the closed form, or one by iteration.

    The table gives the condition number of the Jacobian and the distance to the nearest limit. Exit status: 0 there is
    a solution within the limits, 1 there is none.
    """
    from armdyn import solve

    return solve(robot, parse.vector(pose, "--pose"), parse.position(near, robot, "--near"))
