"""armdyn analyse: what an arm can do at a position, and over its workspace."""

from __future__ import annotations

import warnings
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
from armdyn.cli.plan import numbers

if TYPE_CHECKING:
    from rich.console import Console

    from armdyn.analysis.summary import Summary
    from armdyn.analysis.workspace_map import WorkspaceMap
    from armdyn.dynamics import Dynamics


def analyse(
    robot: RobotArgument,
    at: Annotated[
        str | None,
        typer.Option(metavar="Q", help="Position: one number per joint, as in 0,30deg,-1.2; else mid-range."),
    ] = None,
    tau_max: Annotated[
        str | None, typer.Option(metavar="T", help="Torque limits, one or one per joint; else the robot's.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the ellipsoids: .png, .svg or .pdf.")] = None,
    map_of: Annotated[
        str | None,
        typer.Option("--map", metavar="WHAT", help="payload, gravity, inertia, acceleration or manipulability."),
    ] = None,
    over: Annotated[
        str | None, typer.Option(metavar="A,B", help="Two joints, or two of x,y,z, that the map runs over.")
    ] = None,
    points: Annotated[int, typer.Option(metavar="N", help="Points of the map along each axis.")] = 61,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Where the map goes; out/ROBOT if not given.")] = None,
    tip: TipOption = None,
    base: BaseOption = None,
    lock: LockOption = None,
) -> None:
    """Analyse an arm: Jacobian, mass at the tool, ellipsoids, payload, acceleration; maps over the workspace."""
    made = load_moving_robot(robot, tip, base, lock)
    q = None if at is None else numbers(at, made.n, "--at")
    strongest = None if tau_max is None else numbers(tau_max, made.n, "--tau-max", single=True)
    check_ending(plot, PICTURES, "--plot")
    if points < 2:
        raise typer.BadParameter("2 or more", param_hint="--points")
    with working("analysing") as say:
        from armdyn.analysis.summary import summary
        from armdyn.dynamics import compile as compiled

        with warnings.catch_warnings(record=True) as doubts:  # loops that are left open
            warnings.simplefilter("always")
            dyn = compiled(made)
        found = summary(dyn, q, tau_max=strongest)
        drawn = None
        if map_of is not None:
            say(f"map of {map_of}")
            drawn = _map(dyn, map_of, over, found, points, strongest)
    screen = console()
    _print(screen, found, [str(doubt.message) for doubt in doubts])
    if plot is not None:
        from armdyn.report.figures.ellipsoid_figures import ellipsoid_figure

        _write(plot, ellipsoid_figure(dyn, found.q, tau_max=strongest))
        screen.print(f"Picture: [bold green]{plot}[/]", soft_wrap=True)
    if drawn is not None:
        _save(screen, drawn, out or Path("out") / Path(robot).stem)


def _map(dyn: Dynamics, quantity: str, over: str | None, found: Summary, points: int, tau_max: Any) -> WorkspaceMap:
    from armdyn.analysis.workspace_map import QUANTITIES, workspace_map
    from armdyn.errors import unknown_name

    if quantity not in QUANTITIES:
        raise unknown_name("map", quantity, QUANTITIES)
    options = {"tau_max": tau_max} if tau_max is not None and "tau_max" in QUANTITIES[quantity].options else {}
    pair = None if over is None else over.replace(",", " ").split()
    return workspace_map(dyn, quantity, pair, at=found.q, counts=(points, points), **options)


def _print(screen: Console, found: Summary, doubts: list[str]) -> None:
    from rich.text import Text

    place = ", ".join(f"{round(x, 4) + 0.0:.4f}" for x in found.position)
    screen.print(Text.assemble((f"{found.robot.name}", "bold"), f": tool at ({place}) m"))
    for section in found.sections():
        for table in tables(section, screen.width):
            screen.print(table)
    if found.payload is not None and found.acceleration is not None:
        held = "none: it cannot hold itself" if found.payload != found.payload else f"{found.payload:.4g} kg"
        screen.print(f"Largest payload held still at the tool: {held}")
        rate, rows = max(round(found.acceleration, 9), 0.0), " ".join(found.ellipsoids[0].rows)
        screen.print(f"Largest acceleration in every direction of {rows}: {rate:.4g} m/s²")
    for warning in (*found.warnings, *doubts):
        screen.print(Text(warning, style="yellow"))


def _save(screen: Console, drawn: WorkspaceMap, folder: Path) -> None:
    from armdyn.errors import FileError
    from armdyn.report.figures.ellipsoid_figures import map_figure

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot be made: {error.strerror}", where=str(folder)) from None
    for k, label in enumerate(drawn.labels):
        (low, *_), (high, *_) = drawn.extreme(largest=False, column=k), drawn.extreme(column=k)
        name = drawn.title if label == drawn.quantity else f"{drawn.title} {label}"
        screen.print(f"{name}: {low:.4g} to {high:.4g} {drawn.label_units[k]}")
    table = drawn.save(folder / f"{drawn.quantity}.csv")
    picture = folder / f"{drawn.quantity}.png"
    _write(picture, map_figure(drawn))
    screen.print(f"Map: [bold green]{table}[/], [bold green]{picture}[/]", soft_wrap=True)


def _write(path: Path, figure: Any) -> None:
    from armdyn.errors import FileError

    try:
        figure.savefig(path, dpi=150, facecolor="white")
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror}", where=str(path)) from None
