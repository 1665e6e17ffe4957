"""armdyn identify: parameters of a robot from a log of its motion. Exit status 0 clean, 1 doubts, 2 unreadable."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from armdyn.cli.check import print_findings
from armdyn.cli.console import (
    BaseOption,
    LockOption,
    RobotArgument,
    TipOption,
    console,
    load_moving_robot,
    tables,
    working,
)
from armdyn.cli.plan import numbers

if TYPE_CHECKING:
    from rich.console import Console

    from armdyn.identification.fit import Fit, Method
    from armdyn.identification.log_format import Effort, Side
    from armdyn.identification.processing import Derivative

CLEAN, DOUBTS = 0, 1
REPORTS = (".html", ".htm")


def identify(
    robot: RobotArgument,
    log: Annotated[
        list[str],
        typer.Argument(
            metavar="LOG...",
            help="A file (.csv, .npz, .parquet, a ROS 2 bag), or one per quantity: q=pos.csv tau=currents.csv.",
        ),
    ],
    validation: Annotated[
        str | None, typer.Option(metavar="LOG", help="A log of another motion, or a share of this one (0.3).")
    ] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a report: .html.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the robot (.toml, .urdf) or the fit (.json).")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="Q=NAMES", help="Columns: q=a,b,c or tau=load_{joint} or q=1,2,3 (from 0); repeatable."),
    ] = None,
    unit: Annotated[
        list[str] | None, typer.Option(metavar="Q=UNIT", help="Unit of a quantity: q=deg, t=ms; repeatable.")
    ] = None,
    side: Annotated[str, typer.Option(help="Where it was measured: joint or motor.")] = "joint",
    coupling: Annotated[
        str | None, typer.Option(metavar="R", help="Motors from joints, q_m = R q: a diagonal, or rows split by ';'.")
    ] = None,
    offsets: Annotated[str | None, typer.Option(metavar="Q", help="Added to positions, rad or m.")] = None,
    effort: Annotated[str, typer.Option(help="What efforts are: torque, current, gravity_compensated.")] = "torque",
    gains: Annotated[str | None, typer.Option(metavar="K", help="N m or N per unit of effort.")] = None,
    rate: Annotated[
        float | None, typer.Option(metavar="HZ", help="Samples per second, if there are no stamps.")
    ] = None,
    topic: Annotated[str | None, typer.Option(metavar="NAME", help="Topic of the joint states in a bag.")] = None,
    method: Annotated[
        str, typer.Option(help="ordinary, weighted, robust, sequential, damped or total least squares.")
    ] = "weighted",
    include: Annotated[
        str, typer.Option(metavar="FAMILIES", help="Parameters sought: inertial, rotor, friction, offset, motor.")
    ] = "inertial,rotor,friction,offset,motor",
    essential: Annotated[bool, typer.Option("--essential", help="Leave out what the torques do not need.")] = False,
    physical: Annotated[bool, typer.Option("--physical", help="Give the nearest robot of possible bodies.")] = False,
    cutoff: Annotated[
        float | None, typer.Option(metavar="HZ", help="Low-pass of positions; else from the log.")
    ] = None,
    decimation: Annotated[int | None, typer.Option(metavar="N", help="Thinning; else from the log.")] = None,
    derivative: Annotated[str, typer.Option(help="central, spline or savgol.")] = "central",
    tip: TipOption = None,
    base: BaseOption = None,
    lock: LockOption = None,
) -> None:
    """Identify a robot's parameters from a log: checked, processed, estimated with error bars, validated.

    Exit status: 0 clean (notes do no harm), 1 something is suspicious, 2 unreadable or not identifiable.
    """
    if report is not None and report.suffix.lower() not in REPORTS:
        raise typer.BadParameter(f"{report.name!r}: a report is an .html file", param_hint="--report")
    made = load_moving_robot(robot, tip, base, lock)
    families = tuple(word.strip() for word in include.split(","))
    with working("reading the log") as say:
        from armdyn.identification import LogFormat, Processing
        from armdyn.identification import identify as estimated

        log_format = LogFormat(
            columns=_columns(column),
            units=dict(_pair(entry, "--unit") for entry in unit or ()) or None,
            side=cast("Side", side),
            coupling=_matrix(coupling, made.n),
            offsets=None if offsets is None else numbers(offsets, made.n, "--offsets"),
            effort=cast("Effort", effort),
            gains=None if gains is None else numbers(gains, made.n, "--gains", single=True),
            rate=rate,
            topic=topic,
        )
        fit = estimated(
            made,
            _source(log),
            validation=_validation(validation),
            include=families,
            method=cast("Method", method),
            essential=essential,
            physical=physical,
            log_format=log_format,
            processing=Processing(cutoff=cutoff, decimation=decimation, derivative=cast("Derivative", derivative)),
            progress=say,
        )
    _print(fit)
    screen = console()
    if out is not None:
        fit.save(out)
        screen.print(f"Written: [bold green]{out}[/]", soft_wrap=True)
        _print_possible(screen, fit)
    if report is not None:
        from armdyn.report.pages.fit_page import write_report

        write_report(fit, report)
        screen.print(f"Report: [bold green]{report}[/]", soft_wrap=True)
    raise typer.Exit(CLEAN if all(finding.severity == "note" for finding in fit.findings) else DOUBTS)


def _print_possible(screen: Console, fit: Fit) -> None:
    """Whether the robot written is one of possible bodies: forward dynamics and other programs may need it."""
    from armdyn.parameters.consistency import physical_consistency

    if not physical_consistency(fit.robot).possible:
        screen.print(
            "Some of its bodies are impossible, although its torques are those identified: --physical gives the "
            "nearest robot of possible ones.",
            style="yellow",
        )


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
    return dict(_pair(entry, "LOG") for entry in entries)


def _pair(text: str, hint: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (name and sign and value):
        raise typer.BadParameter(f"{text!r}: give a quantity and a value, as in q=deg", param_hint=hint)
    return name.strip(), value.strip()


def _columns(entries: list[str] | None) -> dict[str, Any] | None:
    """`q=a,b` -> names, `q=1,2` -> places, `q=pos_{i}` -> a pattern."""
    found: dict[str, Any] = {}
    for entry in entries or ():
        name, value = _pair(entry, "--column")
        cells = [cell.strip() for cell in value.split(",")]
        found[name] = value if "{" in value else [int(cell) if cell.isdigit() else cell for cell in cells]
    return found or None


def _matrix(text: str | None, n: int) -> Any:
    if text is None:
        return None
    rows = [numbers(row, n, "--coupling") for row in text.split(";")]
    return rows[0] if len(rows) == 1 else rows


def _print(fit: Fit) -> None:
    from armdyn.findings import Checkup
    from armdyn.tables import Column, Section

    screen = console()
    steps = Section("Processing of the log", (Column("step"), Column("what was done", folds=True)),
                    tuple(fit.steps.items()))  # fmt: skip
    for section in (steps, *fit.sections()):
        for table in tables(section, screen.width):
            screen.print(table)
    checkup = Checkup(fit.robot.name, fit.findings)
    screen.print(f"Findings: {checkup.summary}")
    print_findings(screen, checkup)
