"""armdyn export: the functions of a robot as code."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from armdyn.cli.console import BaseOption, LockOption, RobotArgument, TipOption, console, load_robot, tables, working


class Language(StrEnum):
    """What the functions are written in."""

    c = "c"
    python = "python"
    latex = "latex"
    casadi = "casadi"
    jax = "jax"


def export(
    robot: RobotArgument,
    to: Annotated[
        Language, typer.Option("--to", metavar="LANGUAGE", help="c, python, latex, casadi or jax.")
    ] = Language.c,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the files; made if it is not there.")] = Path(),
    functions: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Functions, separated by commas; `all` for every one.")
    ] = None,
    prefix: Annotated[
        str | None, typer.Option(metavar="NAME", help="Begins the names of files and of C functions.")
    ] = None,
    parameters: Annotated[
        bool, typer.Option("--parameters", help="Keep the file's named parameters as arguments.")
    ] = False,
    tip: TipOption = None,
    base: BaseOption = None,
    lock: LockOption = None,
) -> None:
    """Export a robot's dynamics as code: C for a controller, Python, LaTeX, CasADi, JAX.

    C comes with a header, a test program with reference vectors, and a CMake file. Default functions: inverse and
    forward dynamics, mass matrix, Coriolis torques, gravity torques, pose and Jacobian of the tool.
    """
    with working("reading the robot") as say:
        made = load_robot(robot, tip, base, lock)
        from armdyn.dynamics.quantities import QUANTITIES
        from armdyn.export import DEFAULT, model
        from armdyn.export.export import save, texts
        from armdyn.tables import Column, Section

        names = tuple(name.strip() for name in functions.split(",") if name.strip()) if functions else DEFAULT
        say("tracing the functions")
        built = model(made, QUANTITIES if names == ("all",) else names, prefix, parameters=parameters)
        say("writing")
        written = texts(built, to)
        paths = save(written, out)
    screen = console()
    heads = ("function", "x", "+", "/", "sin, cos", "other", "of parameters")
    rows = []
    for function in built.functions:
        count = function.graph.operations
        offline = count.offline.total if count.offline else 0
        other = count.square_roots + count.others + count.negations
        values = (count.multiplications, count.additions, count.divisions, count.trigonometric, other, offline)
        rows.append((function.name, *map(str, values)))
    note = "Operations of one call; of parameters: those that depend on named parameters only."
    width = len(heads) if parameters else len(heads) - 1
    section = Section(f"Functions of {made.name}", tuple(Column(head) for head in heads[:width]),
                      tuple(row[:width] for row in rows), note if parameters else "")  # fmt: skip
    for table in tables(section, screen.width):
        screen.print(table)
    for path, text in zip(paths, written.values(), strict=True):
        screen.print(f"Wrote {path} ({len(text.splitlines())} lines).", soft_wrap=True, markup=False)
