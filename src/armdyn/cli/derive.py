"""armdyn derive: the equations of motion in explicit form, on the screen or in a file."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.parse import OptionError
from armdyn.cli.verb import Writes, verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.result import Result
    from armdyn.typing import Progress


class EquationFormat(StrEnum):
    """Output formats."""

    text = "text"
    latex = "latex"
    a4 = "latex-a4"
    a4_columns = "latex-a4-two-columns"
    letter = "latex-letter"
    letter_columns = "latex-letter-two-columns"
    markdown = "markdown"
    program = "program"
    python = "python"


class Symbols(StrEnum):
    """Symbols for the inertial parameters."""

    named = "named"
    inertial = "inertial"
    base = "base"


class Split(StrEnum):
    """What torques are split by."""

    causes = "causes"
    bodies = "bodies"


@verb(
    out=Writes("Write to a file: .txt, .tex, .md, .py, .json (steps also .html, .ipynb), or any with --format."),
    panels={
        "Output": ("format", "entry", "split"),
        "Step by step": ("steps", "start", "quiz", "inverse_kinematics"),
    },
)
def derive(
    robot: Robot,
    progress: Progress,
    by: Annotated[
        str, typer.Option("--by", metavar="NAME", help="Formulation; `armdyn formulations` lists them.")
    ] = "newton_euler",
    symbols: Annotated[
        Symbols,
        typer.Option(
            help="The robot file's named parameters, ten standard inertial parameters per link, or base parameters."
        ),
    ] = Symbols.named,
    format: Annotated[
        EquationFormat | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="text, latex, markdown, program, python (default: text, or by FILE's extension); latex-a4 and "
            "latex-letter are complete documents, also with -two-columns.",
        ),
    ] = None,
    entry: Annotated[
        list[str] | None,
        typer.Option(
            "--entry",
            metavar="ENTRY",
            help="Only this: M12, C31, g2, tau1, c112, h112, Gamma12, T2, J2, p_C2, omega2, kinetic; repeatable.",
        ),
    ] = None,
    split: Annotated[
        list[Split] | None, typer.Option(help="Also give the torques by physical cause or by body; repeatable.")
    ] = None,
    steps: Annotated[
        bool, typer.Option("--steps", help="Derive line by line, in the notation of the formulation's text.")
    ] = False,
    start: Annotated[
        str | None, typer.Option("--from", metavar="LINE", help="With --steps: begin with this line, such as M or C.")
    ] = None,
    quiz: Annotated[bool, typer.Option("--quiz", help="With --steps: leave out the results, for a student.")] = False,
    require: Annotated[
        str | None,
        typer.Option(
            metavar="PROPERTY",
            help='Instead: conditions on the parameters for "M diagonal", "M constant" or "g zero".',
        ),
    ] = None,
    external: Annotated[
        bool, typer.Option("--external", help="Include the torques of a wrench that the robot exerts at the tool.")
    ] = False,
    inverse_kinematics: Annotated[
        bool,
        typer.Option(
            "--inverse-kinematics", help="Instead: the closed form of the inverse kinematics, angle by angle."
        ),
    ] = False,
) -> Result:
    """Derive the equations of motion in explicit form: M, C, g and, where the robot has them, springs and friction.

    FORMAT program is a list of assignments for the torques, python a module with a function. Without a format, terms of
    long equations are counted; with one, everything is printed.
    """
    from armdyn import derive, design_conditions, inverse_equations

    kind, _, paper = (None, "", "") if format is None else format.value.partition("-")
    if require is not None:
        if steps or external or entry or split or format is not None:
            raise OptionError("--require stands alone, with --symbols at most")
        return design_conditions(robot, require, symbols=symbols.value, progress=progress)
    if inverse_kinematics:
        return inverse_equations(robot, format=kind, start=start, quiz=quiz)
    equations = derive(robot, by, symbols=symbols.value, wrench=external, progress=progress)
    if steps:
        return equations.steps(format=kind, start=start, quiz=quiz)
    if start is not None or quiz:
        raise OptionError("--from and --quiz belong to --steps")
    return equations.document(
        kind,
        entries=tuple(entry or ()),
        split=tuple(each.value for each in split or ()),
        paper=paper.partition("-")[0] or None,
        columns=2 if paper.endswith("two-columns") else 1,
    )
