"""The README does what it says: its Python is executed, its commands exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.fences import commands, parse, run_python

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = commands(README)


def test_the_tour_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_python(ROOT / "README.md", capsys) >= 5
    assert "planar2r" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_the_commands_parse(arguments: list[str]) -> None:
    parse(arguments)


def test_the_make_targets_exist() -> None:
    assert len(COMMANDS) >= 10
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", README, re.M):
        assert re.search(rf"^{target}:", makefile, re.M), target


def test_linked_files_exist() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / link).exists(), link
