"""armdyn cite: every method and every robot with its references."""

from __future__ import annotations

import re

import pytest

import armdyn
from armdyn import references
from armdyn.cli.cite import known_topics
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


def test_the_tab_key_offers_topics() -> None:
    assert known_topics("ka") == ["kane"]
    assert known_topics("pum") == ["puma560"]
