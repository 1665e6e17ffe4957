"""armdyn cite: every method and every robot with its references; and the help, grouped; and the TAB key."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import armdyn
from armdyn import references
from armdyn.cli import VERBS
from armdyn.cli.cite import _known as known_topics
from armdyn.cli.console import robot_names
from armdyn.errors import UnknownName
from support.command import Run


def test_every_formulation_has_a_reference() -> None:
    for entry in armdyn.formulations():
        assert references.about(entry.name), entry.name


def test_keys_are_unique_and_robots_exist() -> None:
    keys = [reference.key for reference in references.REFERENCES]
    assert len(set(keys)) == len(keys)
    named = {robot for reference in references.REFERENCES for robot in reference.robots}
    assert named <= set(armdyn.catalog.names())


def test_the_five_texts_are_found_by_author() -> None:
    names = {reference.text: reference.cited_as for reference in references.TEXTS}
    assert list(names.values()) == ["El Baji", "Milićević", "Khalil", "Truc", "Siciliano"]
    assert list(names) == list(references.NUMBERS.values())
    (text,) = references.about("Truc")
    assert text.key == "truc2020"


def test_help_of_reproduce_lists_the_texts(run: Run) -> None:
    """The titles stand in the help as well, so that it needs no file; they are those of the references."""
    status, out, _ = run("reproduce", "--help")
    assert status == 0
    words = " ".join(out.split())
    for reference in references.TEXTS:
        assert f"{reference.text}: {reference.title}" in words


def test_plain_text_and_bibtex(run: Run) -> None:
    status, out, _ = run("cite", "articulated_body")
    assert status == 0
    assert "articulated-body inertias" in out
    assert "kane1985" not in out
    status, out, _ = run("cite", "--bibtex")
    assert status == 0
    assert len(re.findall(r"^@\w+\{\w+,$", out, re.M)) == len(references.REFERENCES)
    assert out.count("{") == out.count("}")
    assert out.isascii()


def test_a_robot_says_where_its_figures_come_from(run: Run) -> None:
    status, out, _ = run("cite", "panda")
    assert status == 0
    assert "franka_description" in out
    assert "gaz2019" in out
    status, out, _ = run("cite", "ur5")  # published by a manufacturer, in no paper
    assert status == 0
    assert "Universal Robots" in out


def test_an_unknown_topic_is_said(run: Run) -> None:
    with pytest.raises(UnknownName, match="'kane'"):
        references.about("kan")
    status, _, err = run("cite", "kan")
    assert status == 2
    assert "Did you mean 'kane'?" in err


def test_help_has_panels_and_every_verb_once(run: Run) -> None:
    status, out, _ = run("--help")
    assert status == 0
    names = [verb.__name__ for verbs in VERBS.values() for verb in verbs]
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


def test_the_tab_key_offers_topics() -> None:
    assert known_topics("ka") == ["kane"]
    assert known_topics("pum") == ["puma560"]


def test_the_shell_gets_its_completions() -> None:
    asked = {"_ARMDYN_COMPLETE": "complete_bash", "COMP_WORDS": "armdyn show pum", "COMP_CWORD": "2"}
    code = "from armdyn.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True)
    assert done.stdout.split() == ["puma560"]


def test_options_mean_the_same_in_every_verb() -> None:
    """One name, one kind of value: what a user learns at one verb holds for the others."""
    from typer.main import get_command

    from armdyn.cli import app

    kinds: dict[str, set[str | None]] = {}
    for name, verb in get_command(app).commands.items():  # type: ignore[attr-defined]
        for option in verb.params:
            if option.param_type_name == "option":
                assert option.help, f"armdyn {name} {option.opts[0]} is not explained"
                kinds.setdefault(option.opts[0], set()).add(option.metavar)
    assert kinds.pop("--out") <= {"FILE", "DIR"}
    assert kinds.pop("--to") == {"Q", "LANGUAGE"}  # where to move; what to translate to
    assert {name: kind for name, kind in kinds.items() if len(kind) > 1} == {}
