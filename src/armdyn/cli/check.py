"""armdyn check: what is invalid or suspicious in a robot's description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armdyn.cli.parse import RobotArgument
from armdyn.cli.verb import changed_robot, verb

if TYPE_CHECKING:
    from armdyn.findings import Checkup


@verb()
def check(
    model: RobotArgument,
) -> Checkup:
    """Report what is invalid or suspicious in a robot's description.

    Units, columns and frames are judged together, by sizes, masses and densities of real robots. `armdyn fix` proposes
    repairs. Exit status: 0 fine (notes do not count), 1 findings.
    """
    from armdyn import check

    return check(changed_robot(model))
