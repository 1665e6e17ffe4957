"""armdyn certify: exact agreement of all formulations. Exit status 0 holds, 1 fails, 2 error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.cli import parse
from armdyn.cli.console import console, mark, print_json, working
from armdyn.cli.verb import takes

if TYPE_CHECKING:
    from rich.console import Console

    from armdyn.equations import Certificate
    from armdyn.robot.robot import Robot

HOLDS, FAILS = 0, 1
HEADS = {
    "same torques, tip wrench included": "tau",
    "same mass matrix": "M",
    "same Coriolis and centrifugal torques": "C qd",
    "same gravity torques": "g",
    "M symmetric": "sym",
    "M positive definite, with the robot's own inertias": "M>0",
    "Mdot - 2C skew-symmetric, C qd right": "skew",
    "kinetic energy is qd . M qd / 2": "T",
    "power: qd . tau = dE/dt": "power",
    "forward dynamics inverts inverse dynamics": "qdd",
    "torques linear in the inertial parameters": "lin",
}
"""Statement -> head of its column. Any other statement gets a number."""


@takes("closed", "tree", "free_joints")
def certify(
    robot: Robot,
    points: Annotated[int, typer.Option(min=1, metavar="N", help="Number of random states to check.")] = 3,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the random states.")] = 0,
    json: parse.JsonOption = False,
) -> None:
    """Certify, in exact arithmetic, that all formulations agree and obey the laws of mechanics.

    The certificate covers the robot's geometry with any inertias. Exit status: 0 it holds, 1 it fails, 2 error.
    """
    with working("exact numbers") as say:
        from armdyn.equations import certify as run

        result = run(robot, points=points, seed=seed, progress=say)
    if json:
        print_json(_record(result, seed))
    else:
        _print(console(), result)
    raise typer.Exit(HOLDS if result.holds else FAILS)


def _record(result: Certificate, seed: int) -> dict[str, Any]:
    return {
        "robot": result.robot,
        "holds": result.holds,
        "points": result.points,
        "seed": seed,
        "degree": result.degree,
        "error_probability": result.error_probability,
        "checks": [{"statement": c.statement, "formulation": c.formulation, "holds": c.holds} for c in result.checks],
        "left_out": list(result.left_out),
    }


def _print(out: Console, result: Certificate) -> None:
    """The matrix of formulations and statements, a legend, and the verdict."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from armdyn.equations.certificate import REFERENCE

    loaded = {(check.formulation, check.statement): check.holds for check in result.checks}
    statements = _in_order({check.statement for check in result.checks})
    names = list(dict.fromkeys(check.formulation for check in result.checks))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0), title_justify="left",
                  title=Text(f"Certificate of {result.robot}", style="bold"))  # fmt: skip
    table.add_column("formulation", no_wrap=True)
    for head in statements.values():
        table.add_column(head, justify="center", no_wrap=True, min_width=3)
    for name in names:
        cells = [Text("ref" if name == REFERENCE and statement.startswith("same") else "", style="dim")
                 if (name, statement) not in loaded else mark(out, loaded[name, statement])
                 for statement in statements]  # fmt: skip
        table.add_row(name, *cells)
    out.print(table)
    meanings = Table.grid(padding=(0, 2))
    for statement, head in statements.items():
        meanings.add_row(Text(head, style="bold"), Text(statement, style="dim"))
    out.print(meanings)
    for reason in result.left_out:
        out.print(Text(f"Left out: {reason}.", style="yellow"))
    for check in result.checks:
        if not check.holds:
            out.print(Text.assemble(("Fails: ", "bold red"), f"{check.statement} ({check.formulation})"))
    out.print(_verdict(result))


def _in_order(statements: set[str]) -> dict[str, str]:
    """Statement -> head, in the order of HEADS, then all others."""
    heads = {statement: head for statement, head in HEADS.items() if statement in statements}
    return heads | {statement: f"({i})" for i, statement in enumerate(sorted(statements - set(heads)), 1)}


def _verdict(result: Certificate) -> Any:
    from rich.text import Text

    count, failed = len(result.checks), sum(not check.holds for check in result.checks)
    at = f"at {result.points} random point{'s' if result.points > 1 else ''}"
    if failed:
        return Text.assemble("\n", (f"{failed} of {count} checks fail", "bold red"), f", in exact arithmetic {at}. "
                             "With exact numbers, a single difference is a disproof.")  # fmt: skip
    return Text.assemble(
        "\n", (f"All {count} checks hold", "bold green"), f", in exact arithmetic {at}. The formulas are "
        f"polynomials of degree {result.degree} at most; the probability that a difference went unnoticed is below "
        f"{_rounded_up(result.error_probability)}.")  # fmt: skip


def _rounded_up(probability: float) -> str:
    """The next power of ten above the probability: 2e-49 -> 1e-48."""
    from math import floor, log10

    return f"1e{floor(log10(probability)) + 1}" if 0 < probability < 1 else f"{probability:.0e}"
