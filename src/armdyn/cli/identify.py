"""armdyn identify: parameters of a robot from a log of its motion. Exit status 0 clean, 1 findings, 2 error."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from armdyn.cli import parse
from armdyn.cli.console import (
    console,
    first_warning,
    save_robot,
    show,
    show_changes,
    show_findings,
    show_path,
    working,
)
from armdyn.cli.verb import takes

if TYPE_CHECKING:
    from rich.console import Console

    from armdyn.identification.fit.identify import Fit, FrictionChoice
    from armdyn.identification.log.log_format import Effort, Side
    from armdyn.identification.log.processing import Derivative
    from armdyn.identification.methods import Method
    from armdyn.robot.robot import Robot

CLEAN, FINDINGS = 0, 1
REPORTS = (".html", ".htm")


PANELS = {
    "Log": ("column", "unit", "rename", "topic", "rate", "side", "coupling", "offsets", "effort", "gains"),
    "Parameters": ("include", "only", "friction", "zeros", "gravity", "essential", "physical"),
    "Estimation": ("method", "cutoff", "decimation", "derivative", "validation"),
}


@takes("closed", "frictionless", panels=PANELS)
def identify(
    robot: Robot,
    log: Annotated[
        list[str],
        typer.Argument(
            metavar="LOG...",
            help="A file (.csv, .npz, .parquet, a ROS 2 bag), or one per quantity: q=pos.csv tau=currents.csv.",
        ),
    ],
    validation: Annotated[
        str | None,
        typer.Option(metavar="LOG", help="Log of another motion, or the share of this log to hold out (0.3)."),
    ] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a report (.html).")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the identified robot (.toml, .urdf) or the fit (.json).")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="Q=NAMES",
            help="Columns of a quantity: q=a,b,c or tau=load_{joint} or q=1,2,3 (counted from 0); repeatable.",
        ),
    ] = None,
    unit: Annotated[
        list[str] | None, typer.Option(metavar="Q=UNIT", help="Unit of a quantity, as in q=deg or t=ms; repeatable.")
    ] = None,
    side: Annotated[
        str, typer.Option(help="Side of the gears on which the log was measured: joint or motor.")
    ] = "joint",
    coupling: Annotated[
        str | None, typer.Option(metavar="R", help="Matrix R of q_motor = R q: its diagonal, or rows separated by ';'.")
    ] = None,
    offsets: Annotated[
        str | None, typer.Option(metavar="Q", help="Offsets added to the measured positions, rad or m.")
    ] = None,
    effort: Annotated[
        str, typer.Option(help="Meaning of the effort columns: torque, current or gravity_compensated.")
    ] = "torque",
    gains: Annotated[
        str | None, typer.Option(metavar="K", help="Torque per unit of effort, one for all joints or one each.")
    ] = None,
    rate: Annotated[
        float | None, typer.Option(metavar="HZ", help="Sampling rate, if the log has no time stamps.")
    ] = None,
    topic: Annotated[str | None, typer.Option(metavar="NAME", help="Topic of the joint states in a ROS 2 bag.")] = None,
    rename: Annotated[
        list[str] | None,
        typer.Option(metavar="OLD=NEW", help="Replace OLD in names of the log by NEW (fer_=panda_); repeatable."),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="friction", help="Refit friction and offsets alone, as for a robot that is warm now."),
    ] = None,
    method: Annotated[
        str, typer.Option(help="ordinary, weighted, robust, sequential, damped or total (least squares).")
    ] = "weighted",
    include: Annotated[
        str,
        typer.Option(
            metavar="FAMILIES", help="Parameters to identify: inertial, rotor, friction, offset, motor, spring."
        ),
    ] = "inertial,rotor,friction,offset,motor",
    friction: Annotated[
        str, typer.Option(help="auto: find friction terms beyond viscous and Coulomb friction; plain: do not.")
    ] = "auto",
    zeros: Annotated[
        str | None,
        typer.Option(metavar="JOINTS", help="Joints whose zero is estimated too, as in elbow,wrist; or all."),
    ] = None,
    gravity: Annotated[bool, typer.Option("--gravity", help="Estimate the direction of gravity too.")] = False,
    essential: Annotated[
        bool, typer.Option("--essential", help="Drop parameters that do not improve the fit.")
    ] = False,
    physical: Annotated[bool, typer.Option("--physical", help="Require physically consistent inertias.")] = False,
    cutoff: Annotated[
        float | None,
        typer.Option(metavar="HZ", help="Cut-off frequency of the low-pass filter (default: chosen from the log)."),
    ] = None,
    decimation: Annotated[
        int | None, typer.Option(metavar="N", help="Decimation factor (default: chosen from the log).")
    ] = None,
    derivative: Annotated[
        str, typer.Option(help="How positions are differentiated: central, spline or savgol.")
    ] = "central",
) -> None:
    """Identify a robot's parameters from a log: check and process the log, estimate with error bars, validate.

    Exit status: 0 clean (notes do not count), 1 something is suspicious, 2 unreadable or not identifiable.
    """
    parse.check_extension(report, REPORTS, "--report")
    families = parse.words(include) if only is None else _alone(only)
    with working("reading the log") as say:
        from armdyn.identification import Calibration, LogFormat, Processing
        from armdyn.identification import identify as estimated

        log_format = LogFormat(
            columns=_columns(column),
            units=dict(parse.pair(entry, "--unit", "q=deg") for entry in unit or ()) or None,
            side=cast("Side", side),
            coupling=_matrix(coupling, robot.n),
            offsets=None if offsets is None else parse.numbers(offsets, robot.n, "--offsets"),
            effort=cast("Effort", effort),
            gains=None if gains is None else parse.numbers(gains, robot.n, "--gains", single=True),
            rate=rate,
            topic=topic,
            rename=dict(parse.pair(entry, "--rename", "fer_=panda_") for entry in rename or ()) or None,
        )
        fit = estimated(
            robot,
            _source(log),
            validation=_validation(validation),
            include=families,
            method=cast("Method", method),
            friction=cast("FrictionChoice", friction),
            essential=essential,
            physical=physical,
            calibration=Calibration(zeros=_zeros(zeros), gravity=gravity) if zeros or gravity else None,
            log_format=log_format,
            processing=Processing(cutoff=cutoff, decimation=decimation, derivative=cast("Derivative", derivative)),
            progress=say,
        )
    _print(fit)
    screen = console()
    if out is not None:
        with first_warning(str(out)):
            if out.suffix.lower() == ".json":
                fit.save(out)
                show_path(screen, "Written", out)
            else:
                robot_out = fit.robot if out.suffix.lower() == ".toml" else fit.plain
                if robot_out is not fit.robot:
                    screen.print("This format has viscous and Coulomb friction only: the robot of that law is written. "
                                 "A .toml file holds all friction terms.", style="yellow")  # fmt: skip
                save_robot(screen, robot_out, out)
        show_changes(screen, robot, out)
        _print_consistency(screen, fit)
    if report is not None:
        from armdyn.report.pages.fit_page import write_report

        write_report(fit, report)
        show_path(screen, "Report", report)
    raise typer.Exit(CLEAN if all(finding.severity == "note" for finding in fit.findings) else FINDINGS)


def _print_consistency(screen: Console, fit: Fit) -> None:
    """Warn about bodies that are not physically consistent: forward dynamics and other programs may need them to be."""
    from armdyn.parameters.consistency import physical_consistency

    if not physical_consistency(fit.robot).consistent:
        screen.print(
            "Some bodies are not physically consistent, although the torques are those identified. --physical gives "
            "the nearest robot that is.",
            style="yellow",
        )


def _alone(family: str) -> tuple[str, ...]:
    """The families of `--only friction`."""
    if family != "friction":
        from armdyn.errors import unknown_name

        raise unknown_name("--only", family, ("friction",), where="command line")
    return ("friction", "offset")


def _zeros(text: str | None) -> tuple[str, ...] | str:
    """Names of joints, or all."""
    return "all" if text == "all" else parse.words(text or "")


def _validation(text: str | None) -> Any:
    """A share of the log, a file, or nothing."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _source(entries: list[str]) -> Any:
    """One file, or {quantity: file}."""
    if len(entries) == 1 and "=" not in entries[0]:
        return entries[0]
    return dict(parse.pair(entry, "LOG", "q=positions.csv") for entry in entries)


def _columns(entries: list[str] | None) -> dict[str, Any] | None:
    """`q=a,b` are names, `q=1,2` are column numbers, `q=pos_{i}` is a pattern."""
    found: dict[str, Any] = {}
    for entry in entries or ():
        name, value = parse.pair(entry, "--column", "q=a,b,c")
        cells = [cell.strip() for cell in value.split(",")]
        found[name] = value if "{" in value else [int(cell) if cell.isdigit() else cell for cell in cells]
    return found or None


def _matrix(text: str | None, n: int) -> Any:
    if text is None:
        return None
    rows = [parse.numbers(row, n, "--coupling") for row in text.split(";")]
    return rows[0] if len(rows) == 1 else rows


def _print(fit: Fit) -> None:
    from armdyn.findings import Checkup
    from armdyn.tables import Column, Section

    screen = console()
    steps = Section("Processing of the log", (Column("step"), Column("what was done", folds=True)),
                    tuple(fit.steps.items()))  # fmt: skip
    show(screen, steps, *fit.sections())
    checkup = Checkup(fit.robot.name, fit.findings)
    screen.print(f"Findings: {checkup.summary}")
    show_findings(screen, checkup)
