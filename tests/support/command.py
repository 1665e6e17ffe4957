"""The command line as a user sees it: exit status and what is printed."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import pytest

from armdyn.cli import main


class Outcome(NamedTuple):
    status: int
    out: str
    err: str


class Run(Protocol):
    def __call__(self, *arguments: object, columns: int | None = None) -> Outcome:
        """Run armdyn with these arguments; columns: width of the terminal (default: output goes to a pipe)."""


def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """A function that runs `armdyn` in this process."""

    def run(*arguments: object, columns: int | None = None) -> Outcome:
        if columns is None:
            monkeypatch.delenv("COLUMNS", raising=False)
        else:
            monkeypatch.setenv("COLUMNS", str(columns))
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        return Outcome(int(stop.value.code or 0), *capsys.readouterr())

    return run


def plain(text: str) -> str:
    """The text of a panel or table as one line, without its frame."""
    return " ".join(text.replace("│", " ").split())
