"""Robot files of the wheel example-robot-data, which has no Python module of its own."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

MISSING = "the wheel example-robot-data is not installed"


def wheel_files(name: str = "*.urdf") -> list[Path]:
    """The files of the wheel whose name fits the pattern, sorted; none if the wheel is not installed."""
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    return sorted(Path(str(file.locate())) for file in files if file.match(name))
