"""armdyn compare: all formulations on one robot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armdyn.cli.verb import verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.result import Result
    from armdyn.typing import Progress


@verb()
def compare(
    robot: Robot,
    progress: Progress,
) -> Result:
    """Compare all formulations of a robot: agreement, operation counts, computing times, Coriolis matrices.

    Exit status: 0 they agree, 1 they do not.
    """
    from armdyn import compare

    return compare(robot, progress=progress)
