"""Runs as files: CSV, NPZ, Parquet."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from armdyn.errors import FileError, MissingExtra
from armdyn.typing import Array

if TYPE_CHECKING:
    from armdyn.simulation.run import Run

ENDINGS = (".csv", ".npz", ".parquet")


def write(run: Run, path: str | Path) -> Path:
    """All samples in one file; the ending says in which format."""
    target = Path(path)
    if target.suffix not in ENDINGS:
        raise FileError(f"unknown ending {target.suffix!r}", where=str(target), expected=", ".join(ENDINGS))
    columns = run.columns()
    if target.suffix == ".csv":
        rows = np.column_stack(list(columns.values()))
        np.savetxt(target, rows, delimiter=",", header=",".join(columns), comments="", fmt="%.17g")
    elif target.suffix == ".npz":
        about = {"status": np.array(run.status.name), "detail": np.array(run.detail), "dt": np.array(run.dt),
                 "robot": np.array(run.dynamics.robot.name), "integrator": np.array(run.integrator),
                 "controller": np.array(run.controller)}  # fmt: skip
        np.savez_compressed(target, **columns, **about)  # type: ignore[arg-type]
    else:
        _write_parquet(columns, target)
    return target


def _write_parquet(columns: dict[str, Array], target: Path) -> None:
    try:
        pyarrow = import_module("pyarrow")
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtra(
            "pyarrow is not installed", where=str(target), advice="Install it with pip install pyarrow, or write .npz."
        ) from None
    parquet.write_table(pyarrow.table(columns), target)
