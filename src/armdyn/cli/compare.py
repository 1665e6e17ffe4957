"""armdyn compare: all formulations on one robot. Exit status 0 they agree, 1 they do not, 2 error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.cli import parse
from armdyn.cli.console import console, print_json, show, working
from armdyn.cli.verb import takes

if TYPE_CHECKING:
    from armdyn.equations import Comparison
    from armdyn.equations.comparison import Row
    from armdyn.graph import Operations
    from armdyn.robot.robot import Robot
    from armdyn.tables import Section

AGREE, DIFFER = 0, 1


@takes("closed", "tree")
def compare(
    robot: Robot,
    coriolis: Annotated[
        bool, typer.Option("--coriolis", help="Compare Coriolis matrices instead: skew or not, operations.")
    ] = False,
    json: parse.JsonOption = False,
) -> None:
    """Compare all formulations of a robot: agreement, operation counts, computing times.

    Exit status: 0 they agree, 1 they do not, 2 error.
    """
    if coriolis:
        _compare_coriolis(robot, json)
        return
    with working("comparing") as say:
        from armdyn.equations import compare as run

        result = run(robot, progress=say)
    if json:
        print_json(_record(result))
    else:
        _print(result)
    raise typer.Exit(AGREE if result.agrees else DIFFER)


def _compare_coriolis(robot: Robot, json: bool) -> None:
    with working("comparing"):
        from armdyn.equations.coriolis_comparison import coriolis_matrices, coriolis_section

        section = coriolis_section(robot)
    if not json:
        show(console(), section)
        return
    found = coriolis_matrices(robot)
    print_json([{"name": m.name, "source": m.source, "skew": m.skew, "torque_defect": m.torque_defect,
                 "skew_defect": m.skew_defect, "rate_defect": m.rate_defect,
                 "multiplications": m.operations.multiplications, "additions": m.operations.additions}
                for m in found])  # fmt: skip


def _print(result: Comparison) -> None:
    from rich.text import Text

    out = console()
    show(out, _section(result))
    largest = max(row.difference for row in result.rows)
    words = "All agree" if result.agrees else "They do NOT agree"
    style = "bold green" if result.agrees else "bold red"
    out.print(Text.assemble((words, style), f": torques differ by at most {largest:.0e} of the largest (floats). "
                            "For exact agreement use armdyn certify."))  # fmt: skip
    for label, note in NOTES.items():
        out.print(Text.assemble((f"{label}: ", "bold"), (note, "dim")))


NOTES = {
    "as written": "multiplications / additions of one evaluation, without sharing; products with 0 and 1 do not count.",
    "shared": "the same with common subexpressions computed once and parameters folded in; off-line: operations that "
    "depend on parameters only, done once.",
    "span": "operations of the longest chain in which each needs the one before; work divided by span is the largest "
    "speed-up on many processors.",
    "Milićević table 3": "counts of other authors, as polynomials in n for n general revolute joints.",
}


def _section(result: Comparison) -> Section:
    from armdyn.tables import Column, Section

    heads = (("formulation", ""), ("differs by", "of largest"), ("as written", "x / +"), ("shared", "x / +"),
             ("off-line", "x / +"), ("span", ""), ("trace", "ms"), ("one call", "ms"), ("Milićević table 3", "x / +"),
             ("source", ""))  # fmt: skip
    columns = [[row.formulation.name for row in result.rows],
               [f"{row.difference:.0e}" if row.difference else "0" for row in result.rows],
               _pairs([row.written for row in result.rows]),
               _pairs([(row.operations.multiplications, row.operations.additions) for row in result.rows]),
               _pairs([_offline(row.operations) for row in result.rows]),
               [str(row.span) for row in result.rows],
               [f"{1e3 * row.trace_seconds:.1f}" for row in result.rows],
               [f"{1e3 * row.evaluation_seconds:.2f}" for row in result.rows],
               _pairs([_rounded(row) for row in result.rows]),
               [row.formulation.source for row in result.rows]]  # fmt: skip
    rows = tuple(zip(*columns, strict=True))
    return Section(f"Inverse dynamics of {result.robot} by every formulation", tuple(Column(*head) for head in heads),
                   rows)  # fmt: skip


def _pairs(counts: list[tuple[int, int] | None]) -> list[str]:
    """Two counts per cell, with the slashes aligned."""
    left, right = (max((len(str(pair[k])) for pair in counts if pair), default=1) for k in (0, 1))
    return [f"{pair[0]:>{left}} / {pair[1]:>{right}}" if pair else "" for pair in counts]


def _offline(operations: Operations) -> tuple[int, int]:
    offline = operations.offline
    return (offline.multiplications, offline.additions) if offline else (0, 0)


def _rounded(row: Row) -> tuple[int, int] | None:
    return (round(row.published[0]), round(row.published[1])) if row.published else None


def _record(result: Comparison) -> dict[str, Any]:
    return {"robot": result.robot, "joints": result.joints, "agrees": result.agrees,
            "formulations": [_row_record(row) for row in result.rows]}  # fmt: skip


def _row_record(row: Row) -> dict[str, Any]:
    def counts(pair: tuple[int, int] | None) -> dict[str, int] | None:
        return {"multiplications": pair[0], "additions": pair[1]} if pair else None

    shared = (row.operations.multiplications, row.operations.additions)
    return {
        "name": row.formulation.name,
        "title": row.formulation.title,
        "source": row.formulation.source,
        "difference": row.difference,
        "written": counts(row.written),
        "shared": counts(shared),
        "offline": counts(_offline(row.operations)),
        "span": row.span,
        "trace_seconds": row.trace_seconds,
        "evaluation_seconds": row.evaluation_seconds,
        "published_milicevic_table_3": counts(_rounded(row)),
    }
