"""Packages whose public names are imported on first use: `armdyn` itself, and those that would load much for little.

The names stand in the package's `__init__.pyi`, one per line, as `from module import name as name`. Type checkers and
editors read that file, and so does this module: there is no second list. `attach(__name__)` in `__init__.py` does it.
"""

from __future__ import annotations

import re
import sys
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any


@cache
def homes(package: str) -> dict[str, str]:
    """Public names of a package, sorted, each with the module that it comes from (its parent if it is a module)."""
    lines = Path(str(sys.modules[package].__file__)).with_suffix(".pyi").read_text(encoding="utf-8")
    return dict(sorted((name, home) for home, name in re.findall(r"^from (\S+) import (\w+) as", lines, re.M)))


def attach(package: str) -> None:
    """Have the public names of a package imported on first use."""
    sys.modules[package].__class__ = LazyPackage


class LazyPackage(ModuleType):
    """A package whose public names are imported on first use, and where functions win over modules.

    A function and the module that defines it may share a name: `armdyn.graph.trace` is defined in the module
    `armdyn.graph.trace`. When a module is imported, Python sets it as an attribute of its package, which would hide
    the function, depending on what else was imported before.
    """

    def __getattr__(self, name: str) -> Any:
        names = homes(self.__name__)
        if name == "__all__":
            return [*names]
        if name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f". Did you mean {near[0]!r}?" if near else ""
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}{hint}", name=name)
        home = names[name]
        value = import_module(f"{home}.{name}") if home == self.__name__ else getattr(import_module(home), name)
        vars(self)[name] = value  # found without this function from now on, which takes longer than many a call
        return value

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and homes(self.__name__).get(name, self.__name__) != self.__name__):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return [*homes(self.__name__), *(["__version__"] if "__version__" in vars(self) else [])]
