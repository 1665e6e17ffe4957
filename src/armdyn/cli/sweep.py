"""armdyn sweep: compare design variants of a robot. Exit status 0 done, 2 error."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.cli import parse
from armdyn.cli.console import console, show, show_path, working, write_figure
from armdyn.cli.verb import takes

if TYPE_CHECKING:
    from armdyn.robot.robot import Robot
    from armdyn.sweeps import Sweep
    from armdyn.tables import Section


@takes("closed", "tree")
def sweep(
    robot: Robot,
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
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table (.csv).")] = None,
    plot: parse.PlotOption = None,
    size: parse.SizeOption = None,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep finished chunks here, so that an interrupted sweep resumes."),
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="WHERE", help="Address of a Dask scheduler, or a number of processes.")
    ] = None,
    chunk: Annotated[int, typer.Option(metavar="N", help="Variants per chunk.")] = 64,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the random variants.")] = 0,
) -> None:
    """Compare design variants: vary masses, lengths, friction or payload; measure torques, reach, inertia.

    NAME is a parameter of the robot file, a standard parameter (M3, MX2, ZZ1, Fv4, ...) or payload (kg).
    Torques and power are those of a 2 s motion over the middle half of all joint ranges (in Python: of any motion).
    """
    from armdyn.sweeps import MEASURES
    from armdyn.sweeps import sweep as run_sweep
    from armdyn.sweeps.measures import DEFAULT

    screen = console()
    if measure == ["list"]:
        for name, known in MEASURES.items():
            screen.print(f"{name:<16} {known.title}{f', {known.unit}' if known.unit else ''}")
        raise typer.Exit
    parse.check_extension(plot, parse.PICTURES, "--plot")
    where: Any = int(scheduler) if scheduler is not None and scheduler.isdigit() else scheduler
    with working("sweeping") as say:
        found = run_sweep(
            robot,
            dict(_values(text) for text in vary),
            measures=measure or DEFAULT,
            samples=samples,
            seed=seed,
            chunk=chunk,
            folder=folder,
            scheduler=where,
            progress=say,
        )
    if found.taken:
        screen.print(f"{found.taken} finished chunks were read from {folder}.")
    show(screen, _section(found))
    if out is not None:
        show_path(screen, "Table", found.save(out))
    if plot is not None:
        from armdyn.report.figures.sweep_figures import sweep_figure

        write_figure(screen, plot, sweep_figure(found), size)


def _values(text: str) -> tuple[str, Any]:
    """`l2=0.2:0.5:7` -> ("l2", seven values)."""
    import numpy as np

    from armdyn.errors import required_count
    from armdyn.sweeps.sweep_run import MOST

    form = "l2=0.2:0.5:7 or l2=0.2,0.3"
    name, values = parse.pair(text, "--vary", form)
    try:
        if ":" in values:
            low, high, *count = values.split(":")
            number = required_count("number of values", int(count[0]) if count else 11, "--vary", most=MOST)
            axis: Any = np.linspace(float(low), float(high), number)
        else:
            axis = [float(word) for word in values.split(",")]
    except (ValueError, IndexError):
        raise typer.BadParameter(f"{text!r} is not of the form {form}", param_hint="--vary") from None
    return name, axis


def _section(found: Sweep) -> Section:
    """Range of every measure, and the influence of each parameter."""
    import numpy as np

    from armdyn.tables import Column, Section

    heads = (Column("measured"), Column("smallest"), Column("median"), Column("largest"),
             *(Column(f"with {name}") for name in found.names))  # fmt: skip
    rows = []
    for label, values, marks in zip(found.labels, found.results.T, found.influence().T, strict=True):
        kept = values[np.isfinite(values)]
        low, middle, high = np.quantile(kept, [0, 0.5, 1]) if len(kept) else [np.nan] * 3
        rows.append((label, *(f"{x if abs(x) > found.rounding else 0:.5g}" for x in (low, middle, high)),
                     *("" if np.isnan(mark) else f"{mark:+.2f}" for mark in marks)))  # fmt: skip
    failed = int(np.isnan(found.results).any(axis=1).sum())
    note = "with NAME: rank correlation, +1 if the measure always grows with the parameter, -1 if it always falls."
    if failed:
        note += f" {failed} variants could not be evaluated."
    return Section(f"{found.robot}: {len(found.points)} variants", heads, tuple(rows), note)
