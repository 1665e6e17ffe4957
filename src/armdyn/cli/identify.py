"""armdyn identify: parameters of a robot from a log of its motion."""

from __future__ import annotations

from enum import StrEnum
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
    "Estimation": ("include", "plain", "estimate", "calibrate"),
}


class Estimate(StrEnum):
    """Which estimate of the inertial parameters is made."""

    consistent = "consistent"
    free = "free"
    essential = "essential"


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
    estimate: Annotated[
        Estimate,
        typer.Option(
            metavar="WHICH",
            help="consistent: bodies that can exist. free: least squares of the base parameters. essential: of those "
            "that have an effect.",
        ),
    ] = Estimate.consistent,
    calibrate: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Estimate too: zeros of joints, as in elbow,wrist or all, and gravity, its direction.",
        ),
    ] = None,
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

    names = parse.words(calibrate or "")
    fit = identify(
        robot,
        source(log),
        validation=_validation(validation),
        include=parse.words(include),
        friction="plain" if plain else "auto",
        free=None if estimate is Estimate.consistent else Weighted(),
        essential=estimate is Estimate.essential,
        calibration=None if calibrate is None else Calibration(zeros=_zeros(names), gravity="gravity" in names),
        log_format=logger,
        progress=progress,
    )
    return replace(fit, verbose=verbose)


def source(entries: list[str]) -> Any:
    """One file, or {quantity: file}."""
    if len(entries) == 1 and "=" not in entries[0]:
        return entries[0]
    return dict(parse.pair(entry, "LOG", "q=positions.csv") for entry in entries)


def _zeros(names: tuple[str, ...]) -> tuple[str, ...] | str:
    """Names of joints, or all."""
    return "all" if "all" in names else tuple(name for name in names if name != "gravity")


def _validation(text: str | None) -> Any:
    """A share of the log, a file, or nothing."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
