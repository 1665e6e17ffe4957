"""armdyn bench: speed of the compiled functions compared with other engines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.console import console, tables, working
from armdyn.cli.parse import robot_names
from armdyn.files import write_text

if TYPE_CHECKING:
    from armdyn.speed import Report

AGREE, DIFFER = 0, 1


def bench(
    robots: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ROBOT",
            help="Names or files, chainN for a chain of N joints, talos, quadruped (default: arms, chains, trees).",
            autocompletion=robot_names,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer repetitions: rough figures in a fraction of the time.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the figures as Markdown.")] = None,
) -> None:
    """Measure latency, batch speed, operation counts and compile times, and compare them with other engines.

    Pinocchio, MuJoCo, CasADi and Robotics Toolbox are included if they are installed. All run on one core in turns;
    results must agree before they are timed. Exit status: 0 all agree, 1 an engine disagrees, 2 error.
    """
    from armdyn.speed import run
    from armdyn.speed.measuring import QUICK, THOROUGH
    from armdyn.speed.sample_robots import default

    names = robots or default()
    if out is not None:
        _require_writable(out)
    with working("starting") as say:
        report = run(names, QUICK if quick else THOROUGH, progress=say)
    if json:
        from json import dumps

        print(dumps(report.record(), indent=2, ensure_ascii=False))
    else:
        _print(report)
    if out is not None:
        from armdyn.speed.markdown import page

        write_text(out, page(report))
        console(stderr=True).print(f"Wrote {out}.", soft_wrap=True, markup=False)
    raise typer.Exit(DIFFER if report.disagreements else AGREE)


def _require_writable(out: Path) -> None:
    """Raise before measuring, which takes minutes."""
    from armdyn.errors import FileError

    if out.is_dir() or not out.parent.is_dir():
        raise FileError("cannot write to this path", where=str(out), expected="a file in an existing folder")


def _print(report: Report) -> None:
    from rich.text import Text

    from armdyn.speed.result_tables import NOTES, calls, remarks, verdict, work

    screen = console()
    for robot in report.robots:
        for section in (calls(robot), work(robot, report.peak, report.bandwidth)):
            for table in tables(section, screen.width):
                screen.print(table)
        if robot.compiled is not None:
            screen.print(f"{robot.compiled}\n")
    for label, note in NOTES.items():
        screen.print(Text.assemble((f"{label}: ", "bold"), (note, "dim")))
    facts = ", ".join(f"{name} {value}" for name, value in report.machine.items())
    screen.print(Text.assemble(("machine: ", "bold"), (f"{facts}; FMA peak {report.peak / 1e9:.1f} GFLOP/s.", "dim")))
    for remark in remarks(report):
        screen.print(Text(remark, style="yellow"))
    section = verdict(report)
    if section.rows:
        for table in tables(section, screen.width):
            screen.print(table)
