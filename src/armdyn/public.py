"""Finds the public names of `armdyn`, which `__init__.pyi` lists, and imports each on first use.

So `import armdyn` and the command line start at once, and the type checker and the run time read the same list.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any


@cache
def homes() -> dict[str, str]:
    """Public names, sorted, each with the module that it comes from (its parent if it is a module)."""
    lines = Path(__file__).with_name("__init__.pyi").read_text(encoding="utf-8")
    return dict(sorted((name, home) for home, name in re.findall(r"^from (\S+) import (\w+) as", lines, re.M)))


def find(name: str) -> Any:
    """The public object of that name; AttributeError, with the nearest name, if there is none."""
    home = homes().get(name)
    if home is None:
        near = get_close_matches(name, homes(), n=1)
        hint = f". Did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"module 'armdyn' has no attribute {name!r}{hint}", name=name)
    return import_module(f"armdyn.{name}") if home == "armdyn" else getattr(import_module(home), name)


class PublicModule(ModuleType):
    """The class of the module `armdyn`: public names are found on first use, and functions win over packages.

    A verb and the package that does its work may share a name (`armdyn.share` is defined in the package
    `armdyn.share`). Importing a package makes Python set it as an attribute of `armdyn`, which would hide the function.
    """

    def __getattr__(self, name: str) -> Any:
        return [*homes()] if name == "__all__" else find(name)

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and homes().get(name, "armdyn") != "armdyn"):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return [*homes(), "__version__"]
