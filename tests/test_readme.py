"""The README does what it says: its Python is executed, its commands exist."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCES = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.S | re.M)
BLOCKS = [text for language, text in FENCES if language == "python"]
SHELL = "\n".join(text for language, text in FENCES if not language)
COMMANDS = sorted(set(re.findall(r"^armdyn (\w+)", SHELL, re.M)))


def test_the_tour_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for block in BLOCKS:
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, names, "README", "README.md", 0)
            runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
            assert runner.run(test, clear_globs=False).failed == 0, capsys.readouterr().out
            names |= test.globs
        else:
            exec(compile(block, "README.md", "exec"), names)
    assert len(BLOCKS) >= 5
    assert "planar2r" in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_exist(command: str) -> None:
    from typer.main import get_command

    from armdyn.cli import app

    assert command in get_command(app).commands  # type: ignore[attr-defined]


def test_the_make_targets_exist() -> None:
    assert len(COMMANDS) >= 10
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", README, re.M):
        assert re.search(rf"^{target}:", makefile, re.M), target


def test_linked_files_exist() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / link).exists(), link
