"""armdyn certify: exact agreement of all formulations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.verb import verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.equations import Certificate
    from armdyn.typing import Progress


@verb()
def certify(
    robot: Robot,
    progress: Progress,
    points: Annotated[int, typer.Option(min=1, metavar="N", help="Number of random states to check.")] = 3,
) -> Certificate:
    """Certify, in exact arithmetic, that all formulations agree and obey the laws of mechanics.

    The certificate covers the robot's geometry with any inertias. Exit status: 0 it holds, 1 it fails.
    """
    from armdyn import certify

    return certify(robot, points=points, progress=progress)
