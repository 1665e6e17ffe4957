"""How the verbs write: consoles, tables that fit the terminal, findings, errors, files, marks, progress."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, Group
from rich.markup import escape
from rich.panel import Panel
from rich.table import Column, Table
from rich.text import Text

from armdyn.formula_lines import wrapped

if TYPE_CHECKING:
    from armdyn.errors import ArmdynError
    from armdyn.notebook_view import View
    from armdyn.result import Result
    from armdyn.tables import Section

PIPE_WIDTH = 120
"""Columns of a text that goes into a file or a pipe."""
MARKS = {"✓": ("green", "ok"), "✗": ("bold red", "NO")}
"""Cell of a table -> its style, and the word for terminals that cannot show the sign."""
STYLE = {"invalid": "bold red", "suspicious": "yellow", "note": "cyan"}
NARROW = 100
"""Width of the terminal below which findings are stacked instead of tabled."""
_GAP = 3  # columns between two cells of a rich table
_EDGES = 2  # columns before the first cell and after the last


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


# Results -------------------------------------------------------------------------------------------------------------


def show_result(result: Result, *, json: bool = False, stderr: bool = False) -> None:
    """Print a result: what its view holds, or its record as JSON."""
    print_json(result.record()) if json else show_view(console(stderr=stderr), result._view())


def show_view(screen: Console, view: View) -> None:
    """Title and facts, formulas, tables and notes of a view; the verdict comes last, where the eye is."""
    if view.facts:
        show_facts(screen, view.title, view.facts)
    else:
        screen.print(Text(view.title, style="bold"), soft_wrap=True)
    for title, formulas in view.formulas:
        screen.print(Text(f"\n{title}", style="bold"))
        for formula in formulas:
            lines = wrapped(formula.plain, screen.width - 2) if formula.plain else formula.latex
            screen.print(Text("  " + lines.replace("\n", "\n  ")), soft_wrap=True)
    show(screen, *view.sections, *view.details)
    for note in view.notes:
        screen.print(bullet(note))
    if view.verdict is not None:
        words, good = view.verdict
        style = "bold green" if good else "bold red"
        screen.print(Text.assemble(mark(screen, good), " ", (_sentence(words), style)), soft_wrap=True)


# Robots -----------------------------------------------------------------------------------------------------------


@contextmanager
def first_warning(name: str) -> Iterator[None]:
    from armdyn import ModelWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        yield
    if caught:
        more = f" {len(caught) - 1} more: armdyn check {name}" if len(caught) > 1 else ""
        console(stderr=True).print(Text(f"Warning: {str(caught[0].message).rstrip('.')}.{more}", style="yellow"))


# Files ---------------------------------------------------------------------------------------------------------------


def show_path(screen: Console, label: str, *paths: object) -> None:
    """`Report: out/report.html`; never broken into lines, so that it can be copied."""
    shown = Text(", ").join(Text(str(path), style="bold green") for path in paths)
    screen.print(Text.assemble(f"{label}: ", shown), soft_wrap=True)


def print_json(record: object) -> None:
    """The record as indented JSON on stdout; what is not a finite number is null, as JSON has no other word for it."""
    from json import dumps

    print(dumps(_finite(record), indent=2, ensure_ascii=False, allow_nan=False))


def _finite(record: Any) -> Any:
    if isinstance(record, float):
        return record if isfinite(record) else None
    if isinstance(record, dict):
        return {key: _finite(value) for key, value in record.items()}
    return [_finite(value) for value in record] if isinstance(record, list | tuple) else record


# Tables -----------------------------------------------------------------------------------------------------------


def tables(section: Section, width: int) -> Iterator[Table]:
    """The section as one table, or as several that fit the width, each with the names in front."""
    from armdyn.tables import split

    for part in split(section, width - _EDGES, _GAP):
        yield _table(part)


def show(screen: Console, *sections: Section) -> None:
    """Print sections as tables that fit the screen."""
    for section in sections:
        for table in tables(section, screen.width):
            screen.print(table)


def _cell(text: str) -> Text:
    """A cell; marks and severities have their colours."""
    style, word = MARKS.get(text, (STYLE.get(text, ""), text))
    return Text(text if sys.stdout.encoding.lower().startswith("utf") else word, style=style)


def _table(section: Section) -> Table:
    from armdyn.tables import is_numeric

    table = Table(
        title=escape(section.title) or None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        header_style="bold",
        pad_edge=False,
        caption=escape(section.note) or None,
        caption_justify="left",
    )
    units = any(column.unit for column in section.columns)
    columns = []
    for column, cells in zip(section.columns, section.cells, strict=True):
        head, unit, *padded = _padded([column.head, column.unit, *cells], is_numeric(cells))
        title_of = Text(head).append(f"\n{unit}", style="dim not bold") if units else Text(head)
        table.add_column(title_of, no_wrap=not column.folds, overflow="fold")
        columns.append([_cell(cell) for cell in padded])
    for row in zip(*columns, strict=True):
        table.add_row(*row)
    return table


def _padded(cells: list[str], numeric: bool) -> list[str]:
    """Cells of one width with numbers to the right (rich would strip the blanks that align decimal points)."""
    width = max(map(len, cells))
    return [cell.rjust(width) for cell in cells] if numeric else cells


# Findings ------------------------------------------------------------------------------------------------------------


# Facts, notes, marks and progress ------------------------------------------------------------------------------------


def show_facts(out: Console, title: str, facts: Iterable[tuple[str, str]]) -> None:
    """A panel of labelled facts, one per line."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    for label, fact in facts:
        grid.add_row(label, Text(fact))
    out.print(Panel(grid, title=Text(title, style="bold"), title_align="left", border_style="blue"))


def bullet(text: str, sign: str = "-") -> Table:
    """The text behind a sign or a label; further lines are indented."""
    line = Table.grid(padding=(0, 1))
    line.add_row(Text(sign, style="dim"), Text(text))
    return line


def mark(out: Console, holds: bool) -> Text:
    """A green tick or a red cross; words where the terminal cannot show these characters."""
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
    bar = Progress(
        TextColumn("{task.description:<48}", table_column=Column(no_wrap=True)),
        BarColumn(bar_width=16),
        TimeElapsedColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with bar:
        task = bar.add_task(first, total=None)

        def say(step: str, done: float | None = None) -> None:
            bar.update(task, description=step, completed=done, total=None if done is None else 1.0)

        yield say
