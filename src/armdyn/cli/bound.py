"""armdyn bound: how wrong torques can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.verb import verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.result import Result
    from armdyn.typing import Progress


@verb()
def bound(
    robot: Robot,
    progress: Progress,
    mass: Annotated[str, typer.Option(metavar="SHARE", help="By how much masses of links may be off.")] = "10%",
    payload: Annotated[
        str,
        typer.Option(metavar="KG:KG", help="Least and largest payload at the tool that the model does not know of."),
    ] = "0:0",
    friction: Annotated[str, typer.Option(metavar="SHARE", help="By how much friction may be off.")] = "0%",
    limits: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=VALUE,...",
            help="Velocities v and accelerations a for which the bound holds, one for all joints or one each, as in "
            "v=1,a=4 (default: the robot's limits).",
        ),
    ] = None,
) -> Result:
    """Bound the torque errors that wrong masses, an unknown payload and wrong friction can cause, with a proof.

    The bound holds for all positions within the joint limits and all velocities and accelerations within the limits.
    Beside it stands the largest error that a search has found, and where.
    """
    from armdyn import bound

    return bound(
        robot,
        mass=parse.share(mass, "--mass"),
        payload=parse.span(payload, "--payload"),
        friction=parse.share(friction, "--friction"),
        progress=progress,
        **parse.joint_limits(limits, "v", "a"),
    )
