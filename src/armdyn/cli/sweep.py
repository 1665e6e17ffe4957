"""armdyn sweep: compare and optimise design variants of a robot."""

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


@verb(
    out=Writes("Write the table of all variants (.csv), or the optimum as a robot (.toml).", (".csv", ".toml")),
    plot=figure("the trade-offs between the measures, or one measure over what varies"),
)
def sweep(
    robot: Robot,
    progress: Progress,
    vary: Annotated[
        list[str],
        typer.Option(metavar="NAME=A:B:N", help="A parameter and its N values from A to B, or NAME=1,2,5; repeatable."),
    ],
    motion: Annotated[
        Path | None,
        typer.Argument(metavar="[MOTION]", help="Samples of t, q1, ... (.csv), as `plan --out` writes."),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="What to measure, or a limit to keep, as in motor_heat<=1; repeatable. `--measure list` lists all.",
        ),
    ] = None,
    optimise: Annotated[
        str | None, typer.Option(metavar="NAME", help="Find the best variant within the ranges and limits by this.")
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
    """Compare design variants: vary lengths, masses, gears or payload; measure cycle time, heat, torques, reach.

    NAME is a parameter of the robot file, JOINT.KEY in it (elbow.a, elbow.rotor.ratio), a standard parameter (M3,
    MX2, ZZ1, Fv4, ...) or payload (kg). Measured are MOTION, or 2 s over the middle half of all joint ranges, and the
    fastest timing of its path. What no other variant beats in all measures is the Pareto front.
    """
    from armdyn import sweep
    from armdyn.sweeps import MEASURES
    from armdyn.trajectory import read_trajectory

    if measure == ["list"]:
        return "\n".join(
            f"{name:<16} {known.title}{f', {known.unit}' if known.unit else ''}" for name, known in MEASURES.items()
        )
    where: Any = int(scheduler) if scheduler is not None and scheduler.isdigit() else scheduler
    names, limits = _measures(measure or [])
    return sweep(
        robot,
        dict(_values(text) for text in vary),
        measures=names,
        limits=limits,
        optimise=optimise,
        samples=samples,
        motion=None if motion is None else read_trajectory(motion),
        folder=folder,
        scheduler=where,
        progress=progress,
    )


def _measures(texts: list[str]) -> tuple[list[str], dict[str, float]]:
    """`["reach", "motor_heat<=1"]` -> (["reach"], {"motor_heat": 1.0}); the sign must be that of the measure."""
    from armdyn.sweeps import MEASURES

    names, limits = [], {}
    for text in texts:
        name, sign, value = text.partition("<=") if "<=" in text else text.partition(">=")
        name = name.strip()
        if not sign:
            names.append(name)
            continue
        known = MEASURES.get(name)
        kept = "" if known is None else ">=" if known.larger else "<="
        try:
            limits[name] = float(value)
        except ValueError:
            kept = kept or sign
            raise typer.BadParameter(f"{text!r} is not of the form {name}{kept}1", param_hint="--measure") from None
        if known is not None and sign != kept:
            better = "larger" if known.larger else "smaller"
            raise typer.BadParameter(
                f"{text!r}: {better} is better of {name}, so a limit is {name}{kept}{value}", param_hint="--measure"
            )
    return names, limits


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
