"""armdyn check: the findings on robot files. Exit status 0 clean, 1 findings, 2 unreadable."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.cli.console import STYLE, BaseOption, LockOption, TipOption, console, locked, robot_names, show_error

if TYPE_CHECKING:
    from rich.console import Console

    from armdyn.errors import ArmdynError
    from armdyn.findings import Checkup

CLEAN, FINDINGS, UNREADABLE = 0, 1, 2
NARROW = 100
"""Below this width of the terminal findings are stacked instead of tabled."""


def check(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="ROBOT...", help="Robot files, or names from `armdyn robots`.", autocompletion=robot_names
        ),
    ],
    tip: TipOption = None,
    base: BaseOption = None,
    lock: LockOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Report what is invalid or suspicious in robot files.

    Exit status: 0 clean (notes do no harm), 1 findings, 2 unreadable.
    """
    out = console()
    held = locked(lock)
    results: list[tuple[str, Checkup | ArmdynError]] = [(file, _examined(file, tip, base, held)) for file in files]
    if json:
        from json import dumps

        print(dumps(_record(results), indent=2, ensure_ascii=False))
    else:
        for file, result in results:
            _print(out, file, result, several=len(files) > 1)
    raise typer.Exit(max(_status(result) for _, result in results))


def _examined(file: str, tip: str | None, base: str | None, lock: Any) -> Checkup | ArmdynError:
    """The check-up of one file, or the error that makes it unreadable."""
    from armdyn.errors import ArmdynError, RobotError, UnknownName
    from armdyn.findings import Checkup, Finding
    from armdyn.formats import FORMATS, read

    try:
        robot = read(file)
    except (RobotError, UnknownName) as error:
        if isinstance(error, UnknownName) and Path(file).suffix.lower() not in FORMATS:
            return error
        where = (error.where or "robot").removeprefix(f"{file}, ").removeprefix(file) or "robot"
        finding = Finding("description", "invalid", where, error.what, error.expected or "",
                          cause="No robot can be made of this description",
                          advice=_advice(error))  # fmt: skip
        return Checkup(Path(file).stem, (finding,))
    except ArmdynError as error:
        return error
    try:
        robot = robot.locked(lock) if lock else robot
        return (robot.chain(base=base, tip=tip) if tip or base else robot).checkup()
    except ArmdynError as error:
        return error


def _advice(error: ArmdynError) -> str:
    expected = f"Expected: {error.expected.rstrip('.')}." if error.expected else ""
    return f"{expected} {error.advice or ''}".strip()


def _status(result: Checkup | ArmdynError) -> int:
    if isinstance(result, Exception):
        return UNREADABLE
    return CLEAN if result.ok else FINDINGS


def _record(results: list[tuple[str, Checkup | ArmdynError]]) -> dict[str, Any]:
    files = []
    for file, result in results:
        entry: dict[str, Any] = {"file": file, "status": _status(result)}
        if isinstance(result, Exception):
            entry["error"] = {key: getattr(result, key) for key in ("what", "where", "expected", "advice")}
        else:
            entry |= result.record()
        files.append(entry)
    return {"status": max(entry["status"] for entry in files), "files": files}


def _print(out: Console, file: str, result: Checkup | ArmdynError, several: bool) -> None:
    if isinstance(result, Exception):
        show_error(result)
        return
    from rich.text import Text

    mark = ("clean", "bold green") if result.ok else ("findings", "bold red")
    name = file if several or result.robot == file else f"{result.robot} ({file})"
    out.print(Text.assemble(mark, "  ", (name, "bold"), f": {result.summary}"), soft_wrap=True)
    print_findings(out, result)


def print_findings(out: Console, checkup: Checkup) -> None:
    """The findings as a table, or stacked where the terminal is narrow; then the notes of the file."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    rows = checkup.section().rows
    if rows and out.width >= NARROW:
        table = Table(box=box.SIMPLE_HEAD, show_lines=True, pad_edge=False, header_style="bold", expand=True)
        for head, ratio in (
            ("", 0),
            ("where", 3),
            ("what is wrong", 6),
            ("value", 3),
            ("likely cause, advice", 7),
        ):
            table.add_column(
                head, ratio=ratio or None, no_wrap=not ratio, overflow="fold", min_width=10 if not ratio else None
            )
        for severity, *cells in rows:
            table.add_row(Text(severity, style=STYLE[severity]), *map(Text, cells))
        out.print(table)
    else:
        for severity, where, what, amount, advice in rows:
            out.print(Text.assemble("\n", (severity, STYLE[severity]), "  ", (where, "bold")))
            for text in (what, f"By how much: {amount}" if amount else "", advice):
                if text:
                    out.print(_indented(text))
    for note in checkup.notes:
        out.print(_indented(note, "-"))


def _indented(text: str, mark: str = " ") -> Any:
    from rich.table import Table
    from rich.text import Text

    line = Table.grid(padding=(0, 1))
    line.add_row(Text(mark, style="dim"), Text(text))
    return line
