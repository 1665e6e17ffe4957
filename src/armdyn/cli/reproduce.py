"""armdyn reproduce: the source texts, regenerated and compared with the print."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.cli.verb import Writes, completing, verb

if TYPE_CHECKING:
    from armdyn.result import Result
    from armdyn.typing import Progress

AUTHORS = ("elbaji", "milicevic", "khalil", "truc", "siciliano", "all")


def default_page(options: Mapping[str, Any]) -> Path:
    """Where the page goes when the user does not say: the index of a full run is kept by the run of one text."""
    author = options["source"]
    return Path("out") / "reproduce" / ("index.html" if author == "all" else f"{author}.html")


@verb(out=Writes("Page to write (default: out/reproduce/AUTHOR.html).", (".html",), default=default_page))
def reproduce(
    progress: Progress,
    source: Annotated[
        str, typer.Argument(metavar="AUTHOR", help=f"{', '.join(AUTHORS)}.", autocompletion=completing(AUTHORS))
    ] = "all",
    mutate: Annotated[
        bool, typer.Option("--mutate", help="Break what the items vouch for, and count what they notice (minutes).")
    ] = False,
) -> Result:
    """Reproduce the tables, figures and worked examples of the source texts, and compare them with the print.

    elbaji: Online trajectory tracking control based on the explicit form of the equations of motion for serial
    manipulator using the new formulation (2022).

    milicevic: Transformation matrix approach to dynamics of manipulative robots.

    khalil: Modeling and control of manipulators, part II: dynamics and control (2019).

    truc: Dynamic model with a new formulation of Coriolis/centrifugal matrix for robot manipulators (2020).

    siciliano: Robotics: Modelling, Planning and Control (2009), chapter 7.

    Verdicts: same; formula same, data chosen (the text does not give all data); corrected (an erratum explains the
    difference), or both; formula restored (it is missing or illegible); counts differ (operations of programs, ours and
    the text's); not confirmed (a claim of the text did not hold here); no print to compare; unexplained.
    Exit status: 0 nothing is unexplained, 1 something is. What takes minutes (El Baji table 3 simplified by SymPy) is
    shown as it was recorded; armdyn.reproduce(full=True) measures it anew.
    """
    from armdyn import reproduce

    return reproduce(source, mutate=mutate, progress=progress)
