"""The help of the command line, its options, and the TAB key."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from armdyn.cli import VERBS
from armdyn.cli.parse import robot_names
from support.command import Run


def test_help_has_panels_and_every_verb_once(run: Run) -> None:
    status, out, _ = run("--help")
    assert status == 0
    names = [verb for verbs in VERBS.values() for verb in verbs]
    assert len(set(names)) == len(names)
    for panel, verbs in VERBS.items():
        assert (f"─ {panel} ─" in out) == bool(verbs)
    for name in names:
        assert re.search(rf"^│ {name}\b", out, re.M), name


def test_the_tab_key_offers_robots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("panel.toml", "panda.urdf", "panda.txt"):
        (tmp_path / name).touch()
    assert robot_names("pan") == ["panda", "panda.urdf", "panel.toml"]
    assert robot_names(str(tmp_path / "pane")) == [str(tmp_path / "panel.toml")]


def test_the_shell_gets_its_completions() -> None:
    asked = {"_ARMDYN_COMPLETE": "complete_bash", "COMP_WORDS": "armdyn show pum", "COMP_CWORD": "2"}
    code = "from armdyn.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True)
    assert done.stdout.split() == ["puma560"]


def test_options_mean_the_same_in_every_verb() -> None:
    """One name, one kind of value: what a user learns at one verb holds for the others."""
    from typer.main import get_command

    from armdyn.cli import application

    kinds: dict[str, set[str | None]] = {}
    for name, verb in get_command(application()).commands.items():  # type: ignore[attr-defined]
        for option in verb.params:
            if option.param_type_name == "option":
                assert option.help, f"armdyn {name} {option.opts[0]} is not explained"
                kinds.setdefault(option.opts[0], set()).add(option.metavar)
    assert kinds.pop("--out") <= {"FILE", "DIR"}
    assert kinds.pop("--to") == {"Q", "LANGUAGE"}  # where to move; what to translate to
    assert kinds.pop("--from") == {"Q", "LINE"}  # where to start a motion; where to start a derivation
    assert {name: kind for name, kind in kinds.items() if len(kind) > 1} == {}


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "armdyn", "robots", "--help"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Usage: armdyn robots" in done.stdout


@pytest.mark.parametrize("verb", ["simulate", "plan", "identify", "excite"])
def test_help_of_long_verbs_is_readable_in_80_columns(verb: str) -> None:
    """Options stand in panels, each as wide as its own names: no name is cut, and every option of a panel exists."""
    from importlib import import_module
    from inspect import signature

    from armdyn.cli.verb import PANELS

    done = subprocess.run([sys.executable, "-m", "armdyn", verb, "--help"], env=os.environ | {"COLUMNS": "80"},
                          capture_output=True, text=True)  # fmt: skip
    assert "…" not in done.stdout
    assert all(f"─ {panel} ─" in done.stdout for panel in PANELS[verb])
    function = getattr(import_module(f"armdyn.cli.{verb}"), verb)
    assert {option for options in PANELS[verb].values() for option in options} <= set(signature(function).parameters)
