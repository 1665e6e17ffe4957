"""armdyn prune: a reduced torque model with a proven bound on its error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.verb import Writes, figure, verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.result import Result
    from armdyn.typing import Progress


@verb(
    out=Writes("Write the reduced model: equations (.txt, .tex) or a program (.py).", (".txt", ".tex", ".py")),
    plot=figure("where terms of the equations vanish"),
)
def prune(
    robot: Robot,
    progress: Progress,
    tolerance: Annotated[
        str,
        typer.Option(
            metavar="T", help="Largest torque error: 1% of the torque limits, or N m, one for all or one each."
        ),
    ] = "1%",
    limits: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=VALUE,...",
            help="Velocities v and accelerations a for which the bound holds, one for all joints or one each, as in "
            "v=1,a=4 (default: the robot's limits).",
        ),
    ] = None,
) -> Result:
    """Simplify the torque equations, with a proven error bound.

    The bound holds for all positions within the joint limits and all velocities and accelerations within the limits.
    Friction is not included.
    """
    from armdyn import prune

    return prune(
        robot,
        tolerance if tolerance.strip().endswith("%") else parse.limits(tolerance, robot.n, "--tolerance"),
        progress=progress,
        **parse.joint_limits(limits, "v", "a"),
    )
