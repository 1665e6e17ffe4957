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
    wrong: Annotated[
        str,
        typer.Argument(
            metavar="NAME=RANGE,...",
            help="What may be wrong: shares of the masses of links and of friction, and the least and largest payload "
            "that the model does not know of, kg, as in mass=10%,payload=0:5,friction=20%.",
        ),
    ] = "mass=10%",
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

    return bound(robot, **parse.model_errors(wrong), progress=progress, **parse.joint_limits(limits, "v", "a"))
