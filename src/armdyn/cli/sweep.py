"""armdyn sweep: many variants of a robot, measured alike. Exit status 0 done, 2 error."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.cli.console import (
    PICTURES,
    BaseOption,
    LockOption,
    RobotArgument,
    TipOption,
    check_ending,
    console,
    load_moving_robot,
    tables,
    working,
)

if TYPE_CHECKING:
    from armdyn.sweeps import Sweep
    from armdyn.tables import Section


def sweep(
    robot: RobotArgument,
    vary: Annotated[
        list[str],
        typer.Option(metavar="NAME=A:B:N", help="A parameter from A to B in N steps, or NAME=1,2,5; repeatable."),
    ],
    measure: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="What to measure; repeatable. `--measure list` shows all.")
    ] = None,
    samples: Annotated[
        int | None, typer.Option(metavar="N", help="Draw N variants from the ranges, instead of the whole grid.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table: .csv.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: .png, .svg or .pdf.")] = None,
    folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep finished parts here; an interrupted sweep goes on.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="WHERE", help="Address of a Dask scheduler, or a number of processes.")
    ] = None,
    chunk: Annotated[int, typer.Option(metavar="N", help="Variants done at a time.")] = 64,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the variants drawn.")] = 0,
    tip: TipOption = None,
    base: BaseOption = None,
    lock: LockOption = None,
) -> None:
    """Vary masses, lengths, friction or payload of a robot, and measure torques, reach, inertia.

    Names are those of the robot file's parameters, standard parameters (M3, MX2, ZZ1, Fv4, ...) or payload (kg).
    Torques and power are those of a motion over the middle half of all ranges in 2 s (in Python: of any motion).
    """
    from armdyn.sweeps import MEASURES
    from armdyn.sweeps import sweep as run_sweep
    from armdyn.sweeps.measures import DEFAULT

    screen = console()
    if measure == ["list"]:
        for name, known in MEASURES.items():
            screen.print(f"{name:<16} {known.title}{f', {known.unit}' if known.unit else ''}")
        raise typer.Exit
    check_ending(plot, PICTURES, "--plot")
    made = load_moving_robot(robot, tip, base, lock)
    where: Any = int(scheduler) if scheduler is not None and scheduler.isdigit() else scheduler
    with working("sweeping") as say:
        found = run_sweep(
            made,
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
        screen.print(f"{found.taken} parts were finished already and taken from {folder}.")
    for table in tables(_section(found), screen.width):
        screen.print(table)
    if out is not None:
        screen.print(f"Table: [bold green]{found.save(out)}[/]", soft_wrap=True)
    if plot is not None:
        from armdyn.report.figures.sweep_figures import sweep_figure

        sweep_figure(found).savefig(plot, dpi=150)
        screen.print(f"Picture: [bold green]{plot}[/]", soft_wrap=True)


def _values(text: str) -> tuple[str, Any]:
    """`l2=0.2:0.5:7` -> ("l2", seven values)."""
    import numpy as np

    name, _, values = text.partition("=")
    try:
        if ":" in values:
            low, high, *count = values.split(":")
            axis: Any = np.linspace(float(low), float(high), int(count[0]) if count else 11)
        else:
            axis = [float(word) for word in values.split(",")]
    except (ValueError, IndexError):
        raise typer.BadParameter(f"{text!r}: as in l2=0.2:0.5:7 or l2=0.2,0.3", param_hint="--vary") from None
    return name.strip(), axis


def _section(found: Sweep) -> Section:
    """Range of every result, and how each parameter moves it."""
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
    note = "with NAME: rank correlation, +1 if the number only grows with the parameter, -1 if it only falls."
    if failed:
        note += f" {failed} variants could not be evaluated."
    return Section(f"{found.robot}: {len(found.points)} variants", heads, tuple(rows), note)
