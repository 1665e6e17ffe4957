"""Robots of the source texts and well-known arms, as data: one TOML file each, with its provenance."""

from __future__ import annotations

from armdyn.catalog.listing import FOLDER, names, path

__all__ = ["FOLDER", "names", "path"]
