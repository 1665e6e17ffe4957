"""Which item of which text vouches for which public function of the library, and for which none does.

A function is a text's own if it says so: its docstring or a comment in it cites an equation, section or figure of one
of the texts. Each of these has an item whose verdict changes when the function is broken; see `armdyn.texts.mutation`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

from armdyn.control.base import Law
from armdyn.texts.item import SOURCES, Item
from armdyn.texts.mutation import name_of, plain

PACKAGES = ("mechanics", "parameters", "control", "trajectory", "identification", "analysis")
"""Where the methods of the texts are."""
_AUTHORS = "|".join(source.cited_as for source in SOURCES.values())
_CITED = re.compile(rf"(?:{_AUTHORS})\s+(?:\(\d|\(7\.|sec\.\s|fig\.\s|table\s|problem\s)")
_ELSEWHERE = re.compile(r"Siciliano\s+(?:\((?!7\.)|sec\.\s+(?!7\.))")
"""Other chapters of Siciliano than chapter 7, which alone is one of the texts."""


@dataclass(frozen=True)
class Vouched:
    """A public function, the items that vouch for it, and whether it is a text's own."""

    name: str
    items: tuple[str, ...]
    own: bool


def vouched(items: Sequence[Item]) -> tuple[Vouched, ...]:
    """All public functions of PACKAGES and all that items vouch for, by name."""
    found: dict[str, list[str]] = {}
    for item in items:
        for each in item.vouches:
            found.setdefault(name_of(each), []).append(item.key)
    public = {name_of(each): cites_a_text(each) for package in PACKAGES for each in _public(package)}
    names = sorted(public.keys() | found.keys())
    return tuple(Vouched(name, tuple(found.get(name, ())), public.get(name, False)) for name in names)


def cites_a_text(function: Any) -> bool:
    """Whether a function, or a control law, cites a place of a text as its source."""
    source = _ELSEWHERE.sub("", inspect.getsource(function if isinstance(function, type) else plain(function)))
    return _CITED.search(source) is not None


def _public(package: str) -> Iterator[Any]:
    """The functions and control laws of a package, and the functions of its public modules."""
    root = f"armdyn.{package}"
    module = import_module(root)
    for name in dir(module):
        found = getattr(module, name)
        if isinstance(found, ModuleType) and found.__name__.startswith(f"{root}."):
            listed = getattr(found, "__all__", [each for each in dir(found) if not each.startswith("_")])
            members = (getattr(found, each) for each in listed)
            yield from (each for each in members if _counts(each) and _home(each) == found.__name__)
        elif not name.startswith("_") and _counts(found):
            yield found


def _home(function: Any) -> str:
    """The module that a function belongs to: those that `by_recursion` makes belong to where they are made."""
    return (function if isinstance(function, type) else plain(function)).__module__


def _counts(found: Any) -> bool:
    if isinstance(found, type):
        return issubclass(found, Law) and not inspect.isabstract(found)
    return callable(found) and isinstance(inspect.unwrap(found), FunctionType)
