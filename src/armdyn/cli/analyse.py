"""armdyn analyse: the abilities of an arm at a configuration and over its workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.verb import Writes, figure, verb
from armdyn.errors import unknown_name

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.result import Result
    from armdyn.typing import Progress


MAPS = ("payload", "gravity", "inertia", "acceleration", "manipulability")
"""What can be mapped over the workspace."""


@verb(
    out=Writes("Write the map as a table (.csv) or as arrays (.npz).", (".csv", ".npz")),
    plot=figure("the ellipsoids of the tool, or the map"),
)
def analyse(
    robot: Robot,
    progress: Progress,
    at: Annotated[
        str | None,
        typer.Option(metavar="Q", help="Configuration, one number per joint as in 0,30deg,-1.2 (default: mid-range)."),
    ] = None,
    limits: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=VALUE,...",
            help="Torque limits, N m or N, one for all joints or one each, as in tau=120,60,20 (default: the robot's).",
        ),
    ] = None,
    map_of: Annotated[
        str | None,
        typer.Option(
            "--map",
            metavar="QUANTITY[:A,B]",
            help=f"Also map a quantity over the workspace: {', '.join(MAPS)}. A,B are the axes of the map: two joints, "
            "or two of x, y, z.",
        ),
    ] = None,
) -> Result:
    """Analyse an arm: Jacobian, effective mass, ellipsoids, payload, acceleration; maps over the workspace."""
    from armdyn import analyse

    quantity, _, over = (map_of or "").partition(":")
    if quantity and quantity not in MAPS:
        raise unknown_name("map of", quantity, MAPS, where="--map")
    return analyse(
        robot,
        None if at is None else parse.configuration(at, robot, "--at"),
        map_of=quantity or None,
        over=over.replace(",", " ").split() or None,
        progress=progress,
        **parse.joint_limits(limits, "tau"),
    )
