"""Tables of numbers in binary files: NumPy's .npz and .npy, Parquet. Nothing in them is ever executed."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.errors import FileError, MissingExtra
from armdyn.identification.columns import Raw
from armdyn.typing import Array


def read_numpy(path: Path) -> Raw:
    """The arrays of an .npz file by name, or the columns of an .npy file by place; pickled objects are refused."""
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            table = loaded.reshape(len(loaded), -1)
            return {f"column {k}": table[:, k] for k in range(table.shape[1])}
        with loaded:
            arrays = {name: loaded[name] for name in loaded.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise FileError(f"cannot be read: {error}", where=str(path),
                        expected="arrays of numbers (pickled objects are not loaded)") from None  # fmt: skip
    return {name: array for name, array in arrays.items() if array.ndim in (1, 2) and _numeric(array)}


def read_parquet(path: Path) -> Raw:
    """The columns of a Parquet file; a column of lists of one length is a block."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise MissingExtra("pyarrow is not installed", where=str(path), expected="pyarrow to read Parquet files",
                           advice="pip install 'armdyn[parquet]'") from None  # fmt: skip
    try:
        table = parquet.read_table(path)
    except (ArrowException, OSError) as error:
        raise FileError(f"cannot be read: {error}", where=str(path), expected="a Parquet file") from None
    columns = {name: _arrow(table.column(name)) for name in table.column_names}
    return {name: array for name, array in columns.items() if array is not None}


def _arrow(column: Any) -> Array | None:
    """A column as numbers: (N,), or (N, k) of lists; None if it is something else."""
    values: Array = column.to_numpy()
    if values.dtype == object and len(values) and isinstance(values[0], np.ndarray):
        if len({len(row) for row in values}) != 1:
            return None
        values = np.stack(list(values))
    return values if _numeric(values) else None


def _numeric(array: Array) -> bool:
    return array.dtype.kind in "biufM"
