"""armdyn sweep: compare design variants of a robot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.cli import parse
from armdyn.cli.verb import Writes, figure, verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.sweeps import Sweep
    from armdyn.typing import Progress

MOST = 10_000_000
"""Largest number of values of a parameter, so that a typing error does not fill the memory."""


@verb(out=Writes("Write the table (.csv).", (".csv",)), plot=figure("the results over what varies"))
def sweep(
    robot: Robot,
    progress: Progress,
    vary: Annotated[
        list[str],
        typer.Option(metavar="NAME=A:B:N", help="A parameter and its N values from A to B, or NAME=1,2,5; repeatable."),
    ],
    measure: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="What to measure; repeatable. `--measure list` lists all.")
    ] = None,
    samples: Annotated[
        int | None, typer.Option(metavar="N", help="Draw N random variants from the ranges instead of the full grid.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep finished chunks here, so that an interrupted sweep resumes."),
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="WHERE", help="Address of a Dask scheduler, or a number of processes.")
    ] = None,
) -> Sweep | str:
    """Compare design variants: vary masses, lengths, friction or payload; measure torques, reach, inertia.

    NAME is a parameter of the robot file, a standard parameter (M3, MX2, ZZ1, Fv4, ...) or payload (kg).
    Torques and power are those of a 2 s motion over the middle half of all joint ranges (in Python: of any motion).
    """
    from armdyn import sweep
    from armdyn.sweeps import MEASURES

    if measure == ["list"]:
        return "\n".join(
            f"{name:<16} {known.title}{f', {known.unit}' if known.unit else ''}" for name, known in MEASURES.items()
        )
    where: Any = int(scheduler) if scheduler is not None and scheduler.isdigit() else scheduler
    return sweep(
        robot,
        dict(_values(text) for text in vary),
        measures=measure,
        samples=samples,
        folder=folder,
        scheduler=where,
        progress=progress,
    )


def _values(text: str) -> tuple[str, Any]:
    """`l2=0.2:0.5:7` -> ("l2", seven values)."""
    import numpy as np

    form = "l2=0.2:0.5:7 or l2=0.2,0.3"
    name, values = parse.pair(text, "--vary", form)
    try:
        if ":" in values:
            low, high, *count = values.split(":")
            number = int(count[0]) if count else 11
            if not 1 <= number <= MOST:
                raise typer.BadParameter(f"{number} values; expected 1 to {MOST}", param_hint="--vary")
            axis: Any = np.linspace(float(low), float(high), number)
        else:
            axis = [float(word) for word in values.split(",")]
    except (ValueError, IndexError):
        raise typer.BadParameter(f"{text!r} is not of the form {form}", param_hint="--vary") from None
    return name, axis
