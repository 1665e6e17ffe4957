"""armdyn export: the dynamics of a robot as source code."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.console import console, show, working
from armdyn.cli.verb import takes

if TYPE_CHECKING:
    from armdyn.codegen.functions import Real
    from armdyn.robot.robot import Robot


class Language(StrEnum):
    """Target languages."""

    c = "c"
    cpp = "cpp"
    matlab = "matlab"
    wasm = "wasm"
    fmu = "fmu"
    python = "python"
    latex = "latex"
    casadi = "casadi"
    jax = "jax"


@takes("closed", "elastic", "lossy", "free_joints", movable=False)
def export(
    robot: Robot,
    to: Annotated[
        Language,
        typer.Option("--to", metavar="LANGUAGE", help="c, cpp, matlab, wasm, fmu, python, latex, casadi or jax."),
    ] = Language.c,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the files; created if necessary.")] = Path(),
    functions: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Functions, separated by commas, or `all`.")
    ] = None,
    prefix: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Prefix of file names and functions (default: the robot's name)."),
    ] = None,
    parameters: Annotated[
        bool, typer.Option("--parameters", help="Keep the named parameters of the robot file as arguments.")
    ] = False,
    loops: Annotated[
        bool | None,
        typer.Option(
            "--loops/--no-loops",
            help="C and C++: loops over a table of links, of the same size for any number of joints, or straight-line "
            "code (default: loops from 24 joints on).",
            show_default=False,
        ),
    ] = None,
    float32: Annotated[bool, typer.Option("--float32", help="C: numbers of 32 bits.")] = False,
) -> None:
    """Export a robot's dynamics as code: C, C++, MATLAB and Octave, WebAssembly, FMU, Python, LaTeX, CasADi, JAX.

    C, C++, MATLAB, WebAssembly and FMU come with a test over reference vectors and a README, which says how to build
    and call the code. An FMU (FMI 3.0, C sources) has inverse dynamics and the robot as a plant, with a tunable
    payload. The others have by default: inverse dynamics (feedforward, computed torque), forward dynamics, mass matrix,
    Coriolis torques, gravity torques (gravity compensation), pose and Jacobian of the tool.

    First steps in each language: docs/start/use_it_from.md.
    """
    with working("tracing the functions") as say:
        from armdyn.codegen.c_source import stack_bytes
        from armdyn.codegen.export_files import LOOPING, contents, model_for, save
        from armdyn.codegen.functions import applicable
        from armdyn.tables import Column, Section

        names = parse.words(functions) if functions else None
        chosen = applicable(robot) if names == ("all",) else names
        real: Real = "float" if float32 else "double"
        built = model_for(to, robot, chosen, prefix, parameters=parameters, loops=loops, real=real)
        say("writing")
        written = contents(built, to)
        paths = save(written, out)
    screen = console()
    heads = ["function", "x", "+", "/", "sin, cos", "other"]
    notes = ["Operations of one call."]
    if parameters:
        heads.append("of parameters")
        notes.append("Of parameters: operations that depend on named parameters only.")
    if to in LOOPING:
        heads.append("stack, bytes")
        notes.append("Stack: a bound that holds without optimisation too.")
    rows = []
    for function in built.functions:
        count = function.operations
        other = count.square_roots + count.others + count.negations
        values = [count.multiplications, count.additions, count.divisions, count.trigonometric, other]
        if parameters:
            values.append(count.offline.total if count.offline else 0)
        if to in LOOPING:
            values.append(stack_bytes(built, function))
        rows.append((function.name, *map(str, values)))
    columns = tuple(Column(head) for head in heads)
    show(screen, Section(f"Functions of {robot.name}", columns, tuple(rows), " ".join(notes)))
    for path, content in zip(paths, written.values(), strict=True):
        size = f"{len(content.splitlines())} lines" if isinstance(content, str) else f"{len(content)} bytes"
        screen.print(f"Wrote {path} ({size}).", soft_wrap=True, markup=False)
