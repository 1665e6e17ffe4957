"""What the verbs share: consoles, tables that fit the terminal, errors, robots, marks, progress."""

from __future__ import annotations

import glob
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console, Group
from rich.markup import escape
from rich.panel import Panel
from rich.table import Column, Table
from rich.text import Text

if TYPE_CHECKING:
    from pathlib import Path

    from armdyn.errors import ArmdynError
    from armdyn.robot.robot import Robot
    from armdyn.tables import Section

PIPE_WIDTH = 120
"""Columns of a text that goes into a file or a pipe."""
STYLE = {"invalid": "bold red", "suspicious": "yellow", "note": "cyan"}
ROBOT_FILES = (".toml", ".urdf", ".xml")
_GAP = 3  # columns between two cells of a rich table without edges


def robot_names(incomplete: str) -> list[str]:
    """What the TAB key offers for a robot: catalog names, robot files and folders."""
    from pathlib import Path

    from armdyn import catalog

    start = Path(incomplete)
    folder, prefix = (start, "") if incomplete.endswith(os.sep) else (start.parent, start.name)
    found = [path for path in folder.glob(f"{glob.escape(prefix)}*") if path.is_dir() or path.suffix in ROBOT_FILES]
    return [*(name for name in catalog.names() if name.startswith(incomplete)), *sorted(map(str, found))]


RobotArgument = Annotated[
    str,
    typer.Argument(metavar="ROBOT", help="A name from `armdyn robots`, or a file.", autocompletion=robot_names),
]
TipOption = Annotated[str | None, typer.Option(metavar="BODY", help="Body whose frame becomes the tool frame.")]
BaseOption = Annotated[str | None, typer.Option(metavar="BODY", help="Body on which the robot stands.")]
LockOption = Annotated[
    list[str] | None, typer.Option(metavar="JOINT=VALUE", help="Hold a joint at a position (rad or m); repeatable.")
]


def console(stderr: bool = False) -> Console:
    """A console as wide as the terminal; wider than rich's 80 where there is none."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return Console(stderr=stderr, width=width, highlight=False, soft_wrap=False)


def show_error(error: ArmdynError) -> None:
    """The four answers of an error in a panel on stderr."""
    lines: list[Text] = [Text(_sentence(error.what), style="bold")]
    for label, answer in (("where", error.where), ("expected", error.expected)):
        if answer:
            lines.append(Text.assemble((f"{label}: ", "dim"), answer))
    if error.advice:
        lines.append(Text(error.advice, style="green"))
    title = f"[red]{escape(_words(type(error).__name__))}[/]"
    console(stderr=True).print(Panel(Group(*lines), title=title, title_align="left", border_style="red"))


def _words(name: str) -> str:
    """FileError -> File error."""
    return "".join(f" {c.lower()}" if c.isupper() and i else c for i, c in enumerate(name))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


# Robots -----------------------------------------------------------------------------------------------------------


def load_robot(name: str, tip: str | None = None, base: str | None = None, lock: list[str] | None = None) -> Robot:
    """The robot; the first warning of `load` as a line on stderr, the others are for `armdyn check`."""
    from armdyn.formats import ModelWarning, load

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ModelWarning)
        robot = load(name, tip=tip, base=base, lock=locked(lock))
    if said:
        more = f" And {len(said) - 1} more: armdyn check {name}" if len(said) > 1 else ""
        console(stderr=True).print(Text(f"Warning: {str(said[0].message).rstrip('.')}.{more}", style="yellow"))
    return robot


def load_moving_robot(
    name: str, tip: str | None = None, base: str | None = None, lock: list[str] | None = None
) -> Robot:
    """The same for verbs that speak of motion: a robot with at least one joint."""
    from armdyn.errors import RobotError

    robot = load_robot(name, tip, base, lock)
    if not robot.n:
        raise RobotError("no joint is left that moves", where=f"robot {robot.name!r}",
                         expected="a revolute or prismatic joint", advice="Lock fewer joints.")  # fmt: skip
    return robot


def locked(pairs: list[str] | None) -> Mapping[str, float]:
    """`["elbow=0.5"]` -> {"elbow": 0.5}."""
    values: dict[str, float] = {}
    for pair in pairs or ():
        name, _, value = pair.rpartition("=")
        try:
            values[name] = float(value)
        except ValueError:
            name = ""
        if not name:
            raise typer.BadParameter(f"{pair!r}: give a joint and its position, as in elbow=0.5", param_hint="--lock")
    return values


# Files --------------------------------------------------------------------------------------------------------------

PICTURES = (".png", ".svg", ".pdf")


def check_ending(path: Path | None, endings: tuple[str, ...], option: str) -> None:
    """Refuse a file that could not be written in the end, before the work begins."""
    if path is not None and path.suffix.lower() not in endings:
        raise typer.BadParameter(f"{path.name!r}: {', '.join(endings)}", param_hint=option)


# Tables -----------------------------------------------------------------------------------------------------------


def tables(section: Section, width: int) -> Iterator[Table]:
    """The section as one table, or as several that fit the width, each with the names in front."""
    from armdyn.tables import split

    for part in split(section, width, _GAP):
        yield _table(part)


def _table(section: Section) -> Table:
    from armdyn.tables import is_numeric

    table = Table(title=escape(section.title) or None, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD,
                  header_style="bold", pad_edge=False, caption=escape(section.note) or None,
                  caption_justify="left")  # fmt: skip
    units = any(column.unit for column in section.columns)
    columns = []
    for column, cells in zip(section.columns, zip(*section.rows, strict=True), strict=True):
        head, unit, *padded = _padded([column.head, column.unit, *cells], is_numeric(cells))
        title_of = Text(head).append(f"\n{unit}", style="dim not bold") if units else Text(head)
        table.add_column(title_of, no_wrap=not column.folds, overflow="fold")
        columns.append([Text(cell) for cell in padded])
    for row in zip(*columns, strict=True):
        table.add_row(*row)
    return table


def _padded(cells: list[str], numeric: bool) -> list[str]:
    """Cells of one width with numbers to the right (rich would strip the blanks that align decimal points)."""
    width = max(map(len, cells))
    return [cell.rjust(width) for cell in cells] if numeric else cells


# Marks and progress -----------------------------------------------------------------------------------------------


def mark(out: Console, holds: bool) -> Text:
    """A green tick or a red cross; words where the terminal knows no such letters."""
    ascii_only = not out.encoding.startswith("utf")
    if holds:
        return Text("ok" if ascii_only else "✓", style="green")
    return Text("NO" if ascii_only else "✗", style="bold red")


@contextmanager
def working(first: str) -> Iterator[Callable[..., None]]:
    """Show on stderr, while it is a terminal, what is being done; gives `say(step, done=None)`, a `Progress`.

    done: share of the work already done, from 0 to 1; without it the bar only pulses.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    screen = console(stderr=True)
    bar = Progress(TextColumn("{task.description:<48}", table_column=Column(no_wrap=True)), BarColumn(bar_width=16),
                   TimeElapsedColumn(), console=screen, transient=True, disable=not screen.is_terminal,
                   redirect_stdout=False, redirect_stderr=False)  # fmt: skip
    with bar:
        task = bar.add_task(first, total=None)

        def say(step: str, done: float | None = None) -> None:
            bar.update(task, description=step, completed=done, total=None if done is None else 1.0)

        yield say
