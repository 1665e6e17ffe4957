"""Finished chunks of a sweep in a folder, so that an interrupted one can be resumed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from armdyn.errors import FileError
from armdyn.sweeps.variants import Plan
from armdyn.typing import Array


@dataclass(frozen=True)
class Store:
    """A folder that belongs to one plan; results of another plan are refused."""

    folder: Path
    plan: Plan

    def __post_init__(self) -> None:
        mark = self.folder / "sweep.json"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if mark.exists() and json.loads(mark.read_text()).get("fingerprint") != self.plan.fingerprint:
                raise FileError("holds the results of another sweep", where=str(self.folder),
                                advice="Give another folder, or delete this one.")  # fmt: skip
            mark.write_text(json.dumps({"fingerprint": self.plan.fingerprint, "chunks": self.plan.chunks}))
        except OSError as error:
            raise FileError(f"cannot be used: {error.strerror}", where=str(self.folder)) from None
        except (ValueError, AttributeError):
            raise FileError("not written by a sweep", where=str(mark), advice="Give another folder.") from None

    def file(self, number: int) -> Path:
        return self.folder / f"chunk_{number:06d}.npy"

    def finished(self) -> Iterator[tuple[int, Array]]:
        """(number, results) of the complete chunks."""
        for number in range(self.plan.chunks):
            try:
                results = np.load(self.file(number), allow_pickle=False)
            except (OSError, ValueError, EOFError):
                continue
            if results.shape == (len(self.plan.rows(number)), len(self.plan.labels)):
                yield number, results

    def keep(self, number: int, results: Array) -> None:
        """Write a chunk; it is renamed when complete, so that it is never half written."""
        part = self.file(number).with_suffix(".part")
        with part.open("wb") as file:
            np.save(file, results)
        part.replace(self.file(number))
