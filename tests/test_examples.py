"""Every script of examples/ runs, writes what it says, and stays short."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

from support.pictures import colors_in

FOLDER = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(FOLDER.glob("[0-9]*.py"))
LONGEST = 60


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example_runs(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in re.findall(r"Needs (\w+)\.", script.read_text(encoding="utf-8")):
        pytest.importorskip(module)
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    out = capsys.readouterr().out
    assert out.strip(), "an example shows something"
    for name in re.findall(r"^picture: (.+)$", out, re.M):
        assert len(colors_in(Path(name))) >= 3, f"{name} is empty"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example_is_short_and_says_what_it_is(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST
    assert text.startswith('"""')


def test_the_index_lists_every_example() -> None:
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"\]\((\d+_\w+\.py)\)", index))
    assert listed == {script.name for script in SCRIPTS}
