"""Runs as CSV, NPZ and Parquet files."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn import text_table
from armdyn.errors import FileError, MissingExtra
from armdyn.files import writing
from armdyn.typing import Array

if TYPE_CHECKING:
    from armdyn.simulation.run import Run

EXTENSIONS = (".csv", ".npz", ".parquet")


def write(run: Run, path: str | Path) -> Path:
    """Write all samples to one file, in the format of its extension."""
    target = Path(path)
    if target.suffix not in EXTENSIONS:
        raise FileError(f"unknown extension {target.suffix!r}", where=str(target), expected=", ".join(EXTENSIONS))
    columns = run.columns()
    if target.suffix == ".csv":
        text_table.write(target, columns)
    elif target.suffix == ".npz":
        about = {
            "status": run.status.name,
            "detail": run.detail,
            "dt": run.dt,
            "robot": run.dynamics.robot.name,
            "integrator": run.integrator,
            "controller": run.controller,
        }
        arrays: dict[str, Any] = columns | {name: np.array(value) for name, value in about.items()}
        with writing(target) as part:
            np.savez_compressed(part, **arrays)
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
    with writing(target) as part:
        parquet.write_table(pyarrow.table(columns), part)
