"""How functions are broken; that items notice it is shown in test_verdicts.py."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
import pytest

from armdyn.algebra import Vec3
from armdyn.mechanics import kronecker
from armdyn.texts.mutation import RESULTS, Change, Trial, _broken, _edited, changes, name_of, plain


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("times 1.25", [2.5, 5.0, 7.5]),
        ("sign", [-2.0, -4.0, -6.0]),
        ("last entry missing", [2.0, 4.0, 0.0]),
        ("entries reversed", [6.0, 4.0, 2.0]),
        ("off by one joint", [4.0, 6.0, 2.0]),
    ],
)
def test_changes_of_results(kind: str, changed: list[float]) -> None:
    assert RESULTS[kind]([2.0, 4.0, 6.0]) == changed
    assert RESULTS[kind](np.array([2.0, 4.0, 6.0])).tolist() == changed
    assert RESULTS[kind](np.array([[2.0, 4.0, 6.0]])).tolist() == [changed]  # joints on the last axis


def test_changes_reach_vectors_and_mappings() -> None:
    assert RESULTS["sign"]({"a": Vec3(1.0, 2.0, 3.0), "b": "text", "n": 3}) == {
        "a": Vec3(-1.0, -2.0, -3.0),
        "b": "text",
        "n": 3,
    }


def summed(a: float, b: float, *, more: float = 0.0) -> list[float]:
    return [a + _twice(b) + more]


def _twice(x: float) -> float:
    return x + x


def _copy_of(function: Any) -> Any:
    made = FunctionType(function.__code__, dict(globals()), function.__name__, function.__defaults__)
    made.__kwdefaults__, made.__module__ = function.__kwdefaults__, function.__module__
    return made


def test_changes_of_the_text_reach_private_functions() -> None:
    texts = [change for change in changes(summed) if change.kind == "text"]
    assert {change.part for change in texts} == {0, 1}


@pytest.mark.parametrize(("site", "result"), [(0, 1.0 + 9.0), (1, 1.0 - 6.0 + 9.0), (2, 1.0 + 6.0), (3, 7.0 - 9.0)])
def test_changes_of_the_text(site: int, result: float) -> None:
    """a + _twice(b): without its second term, with its other sign; then the sum with `more` likewise."""
    assert _edited(plain(summed), -1)[2] == 4
    code, what, _ = _edited(plain(summed), site)
    assert code is not None and what
    changed = _copy_of(summed)
    changed.__code__ = code
    assert changed(1.0, 3.0, more=9.0) == [result]


def test_a_broken_function_is_broken_for_everybody_who_imported_it() -> None:
    function = _copy_of(summed)
    held = [function]
    what, idle = _broken(function, Change("sign"))
    assert what == "sign" and idle() == "not called"
    assert held[0](1.0, 3.0, more=9.0) == [-16.0]
    assert idle() == ""


def test_a_change_without_effect_is_told_from_one_that_is_not_called() -> None:
    function = _copy_of(summed)
    _, idle = _broken(function, Change("entries reversed"))
    function(1.0, 3.0)
    assert idle() == "same result"


def test_names_and_plain_functions() -> None:
    assert name_of(kronecker.coriolis) == "mechanics.kronecker.coriolis"
    assert plain(kronecker.coriolis).__name__ == "coriolis"
    with pytest.raises(TypeError, match="no function"):
        plain(3)


def test_only_a_changed_verdict_or_an_error_is_noticed() -> None:
    effects = {"unexplained": True, "ShapeError": True, "none": False, "not called": False, "same result": False}
    for effect, noticed in effects.items():
        assert Trial("", "", "", effect).noticed is noticed
    assert not Trial("", "", "", "same result").counts and Trial("", "", "", "not called").counts
