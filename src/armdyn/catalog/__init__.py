"""Robots of the sources and well-known arms, as data: one TOML file each, with its provenance."""

from __future__ import annotations

from pathlib import Path

from armdyn.errors import unknown_name

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Names that `armdyn.load` knows."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def path(name: str) -> Path:
    """The file of a catalog robot."""
    if name not in names():
        raise unknown_name("robot", name, names(), where="catalog")
    return FOLDER / f"{name}.toml"
