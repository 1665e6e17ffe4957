"""armdyn check: the findings on robot files. Exit status 0 clean, 1 findings, 2 unreadable."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.cli import parse
from armdyn.cli.console import console, print_json, show_error, show_findings, show_repairs
from armdyn.cli.verb import takes

if TYPE_CHECKING:
    from rich.console import Console

    from armdyn.errors import ArmdynError
    from armdyn.findings import Checkup

CLEAN, FINDINGS, UNREADABLE = 0, 1, 2


@takes("closed", "elastic", "frictionless", "free_joints")
def check(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="ROBOT...", help="Robot files, or names from `armdyn robots`.", autocompletion=parse.robot_names
        ),
    ],
    tip: parse.TipOption = None,
    base: parse.BaseOption = None,
    lock: parse.LockOption = None,
    without: parse.WithoutOption = None,
    json: parse.JsonOption = False,
    fix: Annotated[bool, typer.Option("--fix", help="Also propose repairs, as `armdyn fix` does.")] = False,
) -> None:
    """Report what is invalid or suspicious in robot files.

    Exit status: 0 clean (notes do not count), 1 findings, 2 unreadable.
    """
    out = console()
    held = parse.locked(lock)
    results: list[tuple[str, Checkup | ArmdynError]] = [
        (file, _examined(file, tip, base, held, without or [])) for file in files
    ]
    if json:
        print_json(_record(results))
    else:
        for file, result in results:
            _print(out, file, result, several=len(files) > 1)
            if fix and not isinstance(result, Exception):
                _propose(out, file)
            elif Path(file).is_file() and not isinstance(result, Exception) and result.findings:
                out.print(f"Repairs, where there is only one: armdyn fix {file}", soft_wrap=True, markup=False)
    raise typer.Exit(max(_status(result) for _, result in results))


def _examined(file: str, tip: str | None, base: str | None, lock: Any, without: list[str]) -> Checkup | ArmdynError:
    """The check-up of one file, or the error that makes it unreadable."""
    import armdyn.cli.declarations  # noqa: F401 (enters what the verbs declare)
    from armdyn.doctor import check as run
    from armdyn.errors import ArmdynError, RobotError, UnknownName
    from armdyn.findings import Checkup, Finding
    from armdyn.formats import FORMATS, read
    from armdyn.robot.features import SUPPORT, require

    try:
        robot = read(file)
    except (RobotError, UnknownName) as error:
        if isinstance(error, UnknownName) and Path(file).suffix.lower() not in FORMATS:
            return error
        where = (error.where or "robot").removeprefix(f"{file}, ").removeprefix(file) or "robot"
        finding = Finding("description", "invalid", where, error.what, error.expected or "",
                          cause="The description contradicts itself",
                          advice=_advice(error))  # fmt: skip
        return Checkup(Path(file).stem, (finding,))
    except ArmdynError as error:
        return error
    try:
        robot = (robot.locked(lock) if lock else robot).without(*without)
        require(robot, "armdyn check", SUPPORT["cli.check"])
        return run(robot.chain(base=base, tip=tip) if tip or base else robot)
    except ArmdynError as error:
        return error


def _propose(out: Console, file: str) -> None:
    from armdyn.doctor import fix
    from armdyn.errors import ArmdynError
    from armdyn.formats import read

    try:
        show_repairs(out, fix(read(file)))
    except ArmdynError as error:  # a description that contradicts itself is a finding above
        show_error(error)


def _advice(error: ArmdynError) -> str:
    expected = f"Expected: {error.expected.rstrip('.')}." if error.expected else ""
    return f"{expected} {error.advice or ''}".strip()


def _status(result: Checkup | ArmdynError) -> int:
    if isinstance(result, Exception):
        return UNREADABLE
    return CLEAN if result.fine else FINDINGS


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

    verdict = ("clean", "bold green") if result.fine else ("findings", "bold red")
    name = file if several or result.robot == file else f"{result.robot} ({file})"
    out.print(Text.assemble(verdict, "  ", (name, "bold"), f": {result.summary}"), soft_wrap=True)
    show_findings(out, result)
