"""Finished work of an optimisation in a file, so that an interrupted one can be resumed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.errors import FileError
from armdyn.files import regular_size, write_text
from armdyn.typing import Array

LARGEST = 64 * 2**20
"""Bytes of a progress file."""


class ProgressFile:
    """Results of finished starts, and the stage that the current one has reached; without a path nothing is kept."""

    def __init__(self, path: Path | None, settings: dict[str, Any]) -> None:
        self.path, self.settings = path, settings
        self.done: list[Array] = []
        self.current: Array | None = None
        self.stage = 0

    @classmethod
    def opened(cls, path: str | Path | None, settings: dict[str, Any]) -> ProgressFile:
        """The file of that problem; a file of another one is an error."""
        record = cls(None if path is None else Path(path), settings)
        if record.path is not None and record.path.exists():
            record._read(record.path)
        return record

    def _read(self, path: Path) -> None:
        try:
            regular_size(path, LARGEST)
            record = json.loads(path.read_text(encoding="utf-8"))
            if record["sha256"] != checksum(record["content"]):
                raise ValueError("damaged: its checksum differs")
            content = json.loads(record["content"])
            known, done = dict(content["settings"]), [_coefficients(x) for x in content["done"]]
            current = None if content["current"] is None else _coefficients(content["current"])
            stage = int(content["stage"])
            if stage < 0 or len({x.shape for x in (*done, *([] if current is None else [current]))}) > 1:
                raise ValueError("its numbers do not fit together")
        except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise FileError(
                f"not a progress file of `excite`: {error}", where=str(path), advice="Give the name of a new file."
            ) from None
        differing = [key for key in self.settings if known.get(key) != self.settings[key]]
        if differing:
            raise FileError(
                f"it belongs to a search with another {', '.join(differing)}",
                where=str(path),
                advice="Give the options of that search, or the name of a new file.",
            )
        self.done, self.current, self.stage = done, current, stage

    def reached(self, stage: int, x: Array) -> None:
        """The current start is about to begin this stage from x."""
        self.stage, self.current = stage, x
        self._write()

    def finished(self, x: Array) -> None:
        """The current start is done."""
        self.done.append(x)
        self.stage, self.current = 0, None
        self._write()

    def _write(self) -> None:
        if self.path is None:
            return
        content = {
            "settings": self.settings,
            "done": [x.tolist() for x in self.done],
            "stage": self.stage,
            "current": None if self.current is None else self.current.tolist(),
        }
        text = json.dumps(content)
        write_text(self.path, json.dumps({"sha256": checksum(text), "content": text}), own=True)


def checksum(text: str) -> str:
    """Hash of the content of a progress file."""
    return hashlib.sha256(text.encode()).hexdigest()


def _coefficients(numbers: Any) -> Array:
    """Finite coefficients of a motion, (joints, coefficients each)."""
    table = np.array(numbers, dtype=float)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise ValueError("a motion that does not hold finite numbers")
    return table


__all__ = ["ProgressFile", "checksum"]
