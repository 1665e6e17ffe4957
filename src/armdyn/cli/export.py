"""armdyn export: the dynamics of a robot as source code."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.cli import parse
from armdyn.cli.verb import Writes, verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.result import Result


class Language(StrEnum):
    """Target languages."""

    c = "c"
    c_float32 = "c-float32"
    cpp = "cpp"
    matlab = "matlab"
    wasm = "wasm"
    fmu = "fmu"
    python = "python"


PARAMETERS = "parameters"
"""Stands among what is tunable for the named parameters of the robot's file."""


def here(options: Mapping[str, Any]) -> Path:
    """Where the files go when the user does not say: the current folder."""
    return Path()


@verb(out=Writes("Folder for the files, created if necessary (default: this one).", folder=True, default=here))
def export(
    robot: Robot,
    to: Annotated[Language, typer.Option("--to", metavar="LANGUAGE", help=f"{', '.join(Language)}.")] = Language.c,
    functions: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Functions, separated by commas, or `all`.")
    ] = None,
    prefix: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Prefix of file names and functions (default: the robot's name)."),
    ] = None,
    deterministic: Annotated[
        bool, typer.Option("--deterministic", help="C without branches, with the same bits on every processor.")
    ] = False,
    law: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A control law by name, or the experiment of a .toml file, as a controller."),
    ] = None,
    period: Annotated[
        str | None,
        typer.Option(
            metavar="S", help="Control period, as in 0.001 or 1ms (default: that of the experiment, or 1 ms)."
        ),
    ] = None,
    tunable: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="What stays an argument: gains of the law; for dynamics `payload` or `parameters`, the robot file's.",
        ),
    ] = None,
) -> Result:
    """Export a robot's dynamics as code: C, C++, MATLAB and Octave, WebAssembly, FMU, Python.

    All but Python come with a test over reference vectors and a README, which says how to build and call the code. An
    FMU (FMI 2.0 and 3.0, with a binary for Linux) has inverse dynamics and the robot as a plant, with a tunable
    payload. The others have by default: inverse dynamics (feedforward, computed torque), forward dynamics, mass matrix,
    Coriolis torques, gravity torques (gravity compensation), pose and Jacobian of the tool. With --law, a controller:
    its memory at the start, its torques for one period, and the motion of the experiment.

    First steps in each language: docs/start/use_it_from.md. In CasADi, JAX and PyTorch, use armdyn.casadi, armdyn.jax
    and armdyn.torch from Python.
    """
    from armdyn import export
    from armdyn.simulation import Experiment

    names = parse.words(tunable or "")
    return export(
        robot,
        to.value.removesuffix("-float32"),
        None if functions is None else parse.words(functions),
        prefix,
        parameters=PARAMETERS in names,
        real="float" if to is Language.c_float32 else "double",
        deterministic=deterministic,
        law=Experiment.read(law) if law is not None and law.endswith(".toml") else law,
        period=None if period is None else parse.seconds(period, "--period"),
        tunable=tuple(name for name in names if name != PARAMETERS),
    )
