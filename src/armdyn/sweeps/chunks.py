"""Finished chunks of a sweep in a folder, so that an interrupted one can be resumed.

A chunk is a sealed record, bound to the sweep and to its number, and written completely or not at all. One that is
damaged, or belongs elsewhere, is computed again. Several processes or machines may work on one folder: each chunk is
the same whoever computes it.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from armdyn.errors import FileError
from armdyn.files import create_folder, regular_size, sealed, unsealed, write_bytes, write_text
from armdyn.sweeps.variants import SweepJob
from armdyn.typing import Array

MARK = "sweep.json"
LARGEST_MARK = 2**16


@dataclass(frozen=True)
class Store:
    """A folder that belongs to one plan; results of another plan are refused."""

    folder: Path
    plan: SweepJob

    def __post_init__(self) -> None:
        mark = create_folder(self.folder) / MARK
        if not mark.exists():
            content = {"fingerprint": self.plan.fingerprint, "chunks": self.plan.chunks}
            write_text(mark, json.dumps(content), own=True)
        regular_size(mark, LARGEST_MARK)
        try:
            known = json.loads(mark.read_text(encoding="utf-8"))["fingerprint"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            raise FileError("not written by a sweep", where=str(mark), advice="Give another folder.") from None
        if known != self.plan.fingerprint:
            raise FileError(
                "holds the results of another sweep",
                where=str(self.folder),
                advice="Give another folder, or delete this one.",
            )

    def file(self, number: int) -> Path:
        return self.folder / f"chunk_{number:06d}.sealed"

    def finished(self) -> Iterator[tuple[int, Array]]:
        """(number, results) of the complete chunks."""
        for number in range(self.plan.chunks):
            results = self._read(number)
            if results is not None:
                yield number, results

    def _read(self, number: int) -> Array | None:
        shape = len(self.plan.rows(number)), len(self.plan.labels)
        content: bytes | None = None
        with contextlib.suppress(OSError, FileError):
            path = self.file(number)
            regular_size(path, 8 * shape[0] * shape[1] + 2**12)
            content = unsealed(path.read_bytes(), self.plan.fingerprint, number)
        if content is None:
            return None
        results = np.load(io.BytesIO(content), allow_pickle=False)
        return results if results.shape == shape and results.dtype == np.float64 else None

    def keep(self, number: int, results: Array) -> None:
        """Write a chunk."""
        content = io.BytesIO()
        np.save(content, results)
        write_bytes(self.file(number), sealed(content.getvalue(), self.plan.fingerprint, number), own=True)
