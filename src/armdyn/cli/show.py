"""armdyn show: the robot as tables."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.verb import verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.result import Result


class DhConvention(StrEnum):
    """Conventions of DH tables."""

    modified = "modified"
    standard = "standard"


@verb()
def show(
    robot: Robot,
    dh: Annotated[DhConvention | None, typer.Option(help="Show a DH table of this convention.")] = None,
    latex: Annotated[bool, typer.Option("--latex", help="Print the tables in LaTeX (needs booktabs).")] = False,
) -> Result | str:
    """Show a robot: geometry, inertias, limits, actuators, friction, provenance.

    With --json, the keys are those of a robot file.
    """
    from armdyn import show

    shown = show(robot, None if dh is None else dh.value)
    return shown.latex() if latex else shown
