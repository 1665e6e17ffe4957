"""armdyn analyse: the abilities of an arm at a configuration and over its workspace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.cli import parse
from armdyn.cli.console import compiled, console, show, show_path, working, write_figure
from armdyn.cli.verb import default_folder, takes

if TYPE_CHECKING:
    from rich.console import Console

    from armdyn.analysis.summary import Summary
    from armdyn.analysis.workspace_map import WorkspaceMap
    from armdyn.dynamics import Dynamics
    from armdyn.robot.robot import Robot


@takes("closed", "tree")
def analyse(
    robot: Robot,
    at: Annotated[
        str | None,
        typer.Option(metavar="Q", help="Configuration, one number per joint as in 0,30deg,-1.2 (default: mid-range)."),
    ] = None,
    tau_max: parse.TorqueOption = None,
    bounds: Annotated[
        bool, typer.Option("--bounds", help="Also bound the norms of M, C and g for all configurations.")
    ] = False,
    plot: parse.PlotOption = None,
    size: parse.SizeOption = None,
    map_of: Annotated[
        str | None,
        typer.Option("--map", metavar="WHAT", help="Map of payload, gravity, inertia, acceleration or manipulability."),
    ] = None,
    over: Annotated[
        str | None, typer.Option(metavar="A,B", help="Axes of the map: two joints, or two of x, y, z.")
    ] = None,
    points: Annotated[int, typer.Option(metavar="N", help="Points of the map along each axis.")] = 61,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for the map (default: out/ROBOT).")] = None,
) -> None:
    """Analyse an arm: Jacobian, effective mass, ellipsoids, payload, acceleration; maps over the workspace."""
    q = None if at is None else parse.configuration(at, robot, "--at")
    strongest = None if tau_max is None else parse.numbers(tau_max, robot.n, "--tau-max", single=True)
    parse.check_extension(plot, parse.PICTURES, "--plot")
    if points < 2:
        raise typer.BadParameter("a map needs 2 points or more along each axis", param_hint="--points")
    with working("analysing") as say:
        from armdyn.analysis.summary import summary

        dyn = compiled(robot)
        found = summary(dyn, q, tau_max=strongest)
        drawn = None
        if map_of is not None:
            say(f"map of {map_of}")
            drawn = _map(dyn, map_of, over, found, points, strongest)
    screen = console()
    _print(screen, found)
    if bounds:
        from armdyn.analysis import model_bounds

        show(screen, model_bounds(robot).section())
    if plot is not None:
        from armdyn.report.figures.ellipsoid_figures import ellipsoid_figure

        write_figure(screen, plot, ellipsoid_figure(dyn, found.q, tau_max=strongest), size)
    if drawn is not None:
        _save(screen, drawn, out or default_folder())


def _map(dyn: Dynamics, quantity: str, over: str | None, found: Summary, points: int, tau_max: Any) -> WorkspaceMap:
    from armdyn.analysis.workspace_map import QUANTITIES, workspace_map
    from armdyn.errors import unknown_name

    if quantity not in QUANTITIES:
        raise unknown_name("map", quantity, QUANTITIES)
    options = {"tau_max": tau_max} if tau_max is not None and "tau_max" in QUANTITIES[quantity].options else {}
    pair = None if over is None else over.replace(",", " ").split()
    return workspace_map(dyn, quantity, pair, at=found.q, counts=(points, points), **options)


def _print(screen: Console, found: Summary) -> None:
    from rich.text import Text

    place = ", ".join(f"{x:z.4f}" for x in found.position)
    screen.print(Text.assemble((f"{found.robot.name}", "bold"), f": tool at ({place}) m"))
    screen.print(f"Reach of the tool from the base: {found.reach:.4g} m")
    show(screen, *found.sections())
    if found.payload is not None and found.acceleration is not None:
        held = (
            "none, the arm cannot hold its own weight" if found.payload != found.payload else f"{found.payload:.4g} kg"
        )
        screen.print(f"Largest payload held at rest: {held}")
        rate, rows = max(round(found.acceleration, 9), 0.0), " ".join(found.ellipsoids[0].rows)
        screen.print(f"Acceleration available in every direction of {rows}: {rate:.4g} m/s²")
    for warning in found.warnings:
        screen.print(Text(warning, style="yellow"))


def _save(screen: Console, drawn: WorkspaceMap, folder: Path) -> None:
    from armdyn.report.figures.ellipsoid_figures import map_figure

    for k, label in enumerate(drawn.labels):
        (low, *_), (high, *_) = drawn.extreme(largest=False, column=k), drawn.extreme(column=k)
        name = drawn.title if label == drawn.quantity else f"{drawn.title} {label}"
        screen.print(f"{name}: {low:.4g} to {high:.4g} {drawn.label_units[k]}")
    show_path(screen, "Map", drawn.save(folder / f"{drawn.quantity}.csv"))
    write_figure(screen, folder / f"{drawn.quantity}.png", map_figure(drawn))
