"""armdyn judge: whether somebody's equations are those of a robot, and what is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.verb import Writes, verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.equations.judging.judge import Judgement


@verb(report=Writes("Write a page with both equations side by side.", (".html",)))
def judge(
    robot: Robot,
    equations: Annotated[
        str, typer.Argument(metavar="EQUATIONS", help="A file (.tex, .py, .m, .txt), or the equations themselves.")
    ],
    symbols: Annotated[
        str | None,
        typer.Option(
            "--rename", metavar="A=B,...", help="What the equations call things, and the robot: m_1=ml1,l_1=a1."
        ),
    ] = None,
) -> Judgement:
    """Judge somebody's equations of motion: LaTeX, SymPy, MATLAB, Maple or plain text.

    M, C, g, tau or single entries are compared exactly with those of the robot; what differs is explained. Exit status:
    0 the same, 1 different.
    """
    from armdyn import judge

    named = dict(parse.pair(each, "--rename", "m_1=ml1") for each in parse.words(symbols or ""))
    return judge(robot, equations, named)
