"""armdyn identify: parameters of a robot from a log of its motion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.cli import parse
from armdyn.cli.verb import Writes, verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.result import Result
    from armdyn.typing import Progress

PANELS = {
    "Log": ("logger", "print_template", "validation"),
    "Estimation": ("include", "plain", "free", "essential", "zeros", "gravity"),
}
OUT = (".toml", ".urdf", ".xml", ".json")


@verb(
    out=Writes(
        "Write the identified robot (.toml, .urdf, .xml) or the fit (.json).", (".toml", ".urdf", ".xml", ".json")
    ),
    report=Writes("Write a report (.html).", (".html", ".htm")),
    panels=PANELS,
)
def identify(
    robot: Robot,
    progress: Progress,
    log: Annotated[
        list[str],
        typer.Argument(metavar="LOG...", help=f"The log, {parse.LOG_FILES}, or one per quantity: q=a.csv tau=b.csv."),
    ],
    logger: parse.LoggerOption = None,
    validation: Annotated[
        str | None,
        typer.Option(metavar="LOG", help="Log of another motion, or the share of this log to hold out (0.3)."),
    ] = None,
    include: Annotated[
        str,
        typer.Option(
            metavar="FAMILIES", help="Parameters to identify: inertial, rotor, friction, offset, motor, spring."
        ),
    ] = "inertial,rotor,friction,offset,motor",
    plain: Annotated[bool, typer.Option("--plain", help="Viscous and Coulomb friction only.")] = False,
    free: Annotated[
        bool, typer.Option("--free", help="Least squares of the base parameters: bodies may be impossible.")
    ] = False,
    essential: Annotated[bool, typer.Option("--essential", help="With --free: drop parameters of no effect.")] = False,
    zeros: Annotated[
        str | None,
        typer.Option(metavar="JOINTS", help="Joints whose zero is estimated too, as in elbow,wrist; or all."),
    ] = None,
    gravity: Annotated[bool, typer.Option("--gravity", help="Estimate the direction of gravity too.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print also base parameters, terms, processing.")] = False,
    print_template: parse.LoggerTemplateOption = False,
) -> Result:
    """Identify a robot's parameters from a log: check and process the log, estimate with error bars, validate.

    The first figures are the torque errors of the files that are written, read back. The identified robot is physically
    consistent. Exit status: 0 fine (notes do not count), 1 something is suspicious or invalid.
    """
    from dataclasses import replace

    from armdyn import identify
    from armdyn.identification import Calibration, Weighted

    fit = identify(
        robot,
        source(log),
        validation=_validation(validation),
        include=parse.words(include),
        friction="plain" if plain else "auto",
        free=Weighted() if free or essential else None,
        essential=essential,
        calibration=Calibration(zeros=_zeros(zeros), gravity=gravity) if zeros or gravity else None,
        log_format=logger,
        progress=progress,
    )
    return replace(fit, verbose=verbose)


def source(entries: list[str]) -> Any:
    """One file, or {quantity: file}."""
    if len(entries) == 1 and "=" not in entries[0]:
        return entries[0]
    return dict(parse.pair(entry, "LOG", "q=positions.csv") for entry in entries)


def _zeros(text: str | None) -> tuple[str, ...] | str:
    """Names of joints, or all."""
    return "all" if text == "all" else parse.words(text or "")


def _validation(text: str | None) -> Any:
    """A share of the log, a file, or nothing."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
