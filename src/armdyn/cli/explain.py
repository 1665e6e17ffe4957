"""armdyn explain: why two models disagree. Exit status 0 equal, 1 explained, 2 error, 3 not explained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.console import bullet, console, first_warning, print_json, show, show_path, working
from armdyn.cli.verb import takes

if TYPE_CHECKING:
    from armdyn.doctor import Explanation

ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="Robot file, name from `armdyn robots`, or CSV of states and torques.",
        autocompletion=parse.robot_names,
    ),
]  # fmt: skip


@takes("closed", "tree", "free_joints")
def explain(
    first: ModelArgument,
    second: ModelArgument,
    tolerance: Annotated[
        float, typer.Option(metavar="T", help="Relative difference of torques up to which the models are equal.")
    ] = 1e-7,
    samples: Annotated[int, typer.Option(metavar="N", min=1, help="Number of random states.")] = 40,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the random states.")] = 0,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a report with pictures (.html).")] = None,
    json: parse.JsonOption = False,
) -> None:
    """Name the causes why two models of a robot give different torques.

    A CSV file has columns q_NAME, qd_NAME, qdd_NAME and tau_NAME of every joint.

    Exit status: 0 the models are equal, 1 the causes explain the difference, 2 error, 3 something is not explained.
    """
    parse.check_extension(report, (".html", ".htm"), "--report")
    with working("comparing the models") as say, first_warning(f"{first}, armdyn check {second}"):
        from armdyn.doctor import explain as run

        result = run(first, second, tolerance=tolerance, samples=samples, seed=seed, progress=say)
    if report is not None:
        from armdyn.report.pages.explain_page import write_report

        write_report(result, report)
    if json:
        print_json(result.record())
    else:
        _print(result)
        if report is not None:
            show_path(console(), "Report", report)
    raise typer.Exit(result.exit_status)


def _print(result: Explanation) -> None:
    from rich.text import Text

    from armdyn.findings import sentence

    out = console()
    style = {"equal": "bold green", "explained": "bold", "unexplained": "bold red"}[result.status]
    out.print(Text(sentence(result.summary), style=style), soft_wrap=True)
    if result.status != "equal":
        show(out, *result.sections())
    for line in result.remarks():
        out.print(bullet(line))
