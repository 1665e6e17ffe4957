"""ARCHITECTURE.md is true: its tree has every package with its level, its walks name functions that exist."""

from __future__ import annotations

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

from architecture.test_imports import LEVEL, SOURCE

PAGE = (Path(__file__).parents[2] / "ARCHITECTURE.md").read_text(encoding="utf-8")
WALKS = [line for line in PAGE.splitlines() if " → " in line]


def test_the_tree_has_every_package_with_its_level() -> None:
    tree = PAGE.split("```")[1].replace("\n                    ", " ")
    entries = re.findall(r"^  (\w+)(?:/|\.py) .*?(\d+)?$", tree, re.M)
    assert {name: int(level) for name, level in entries if level} == LEVEL


def test_there_are_five_walks() -> None:
    assert len(WALKS) == 5


@pytest.mark.parametrize("name", sorted({name for walk in WALKS for name in re.findall(r"`([\w.]+\.[\w.]+)`", walk)}))
def test_the_steps_of_the_walks_exist(name: str) -> None:
    parts = name.split(".")
    depth = max(k for k in range(1, len(parts)) if SOURCE.joinpath(*parts[:k]).with_suffix(".py").exists())
    module = import_module(".".join(["armdyn", *parts[:depth]]))
    assert reduce(getattr, parts[depth:], module) is not None
