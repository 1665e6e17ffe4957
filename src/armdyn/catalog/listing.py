"""The names and files of the catalog."""

from __future__ import annotations

from pathlib import Path

from armdyn.errors import unknown_name

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Names of the catalog robots, as `armdyn.load` takes them."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def path(name: str) -> Path:
    """The file of a catalog robot."""
    if name not in names():
        raise unknown_name("robot", name, names(), where="catalog")
    return FOLDER / f"{name}.toml"
