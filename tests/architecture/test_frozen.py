"""Values do not change after they are made: dataclasses are frozen."""

from __future__ import annotations

import dataclasses
import importlib
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "armdyn"
WORKING = {"_Made", "Chapter", "Carried", "Loads", "Tag", "Equalities", "AccessControl", "LiveSimulation"}
"""Filled or moved on step by step by the code that made them."""


def test_dataclasses_are_frozen() -> None:
    changing = []
    for path in sorted(SOURCE.glob("*/[!_]*.py")):
        try:
            module = importlib.import_module(f"armdyn.{path.parent.name}.{path.stem}")
        except ImportError:  # of an extra that is not installed
            continue
        own = [each for each in vars(module).values() if getattr(each, "__module__", "") == module.__name__]
        classes = [each for each in own if isinstance(each, type) and dataclasses.is_dataclass(each)]
        changing += [each.__name__ for each in classes if not each.__dataclass_params__.frozen]  # type: ignore[attr-defined]
    assert set(changing) <= WORKING
