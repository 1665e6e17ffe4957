"""Reads a Parquet or MATLAB file in a process of its own: `python -m ... FILE OUT.npz`.

Libraries in C end the whole process, or take all memory, instead of raising an exception, where the description of a
file contradicts itself. In a process of its own, with limits of memory and time, that is an error like any other. The
columns come back as an .npz file, whose sizes are checked when it is read. Nothing in the files is ever executed.
"""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from armdyn.errors import FileError, MissingExtra
from armdyn.files import require_numbers, writing
from armdyn.identification.log.columns import Raw
from armdyn.identification.log.readers.numpy_files import is_numeric, read_numpy
from armdyn.typing import Array

LARGEST = 8 * 2**30
"""Bytes of memory of the process: some times those of the largest table that is read."""
LONGEST = 120.0
"""Time of the process, s."""
MISSING, REFUSED = 3, 4
"""Exit statuses: pyarrow is not there; the file is not a table of numbers, with the reason on stderr."""
HDF5 = (b"MATLAB 7.3", b"\x89HDF")
"""How files begin that MATLAB writes from version 7.3 on if it is asked to."""
AS_VERSION_7 = "In MATLAB or Octave: save('log.mat', '-v7', 't', 'q', 'tau'), or save a table as .csv."
MATLAB_NUMBERS = (
    "double",
    "single",
    "logical",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)


def read_parquet(path: Path) -> Raw:
    """The columns of a Parquet file; a column of lists of one length is a block."""
    return _read(path, "a Parquet file, complete", "Write it again, or convert it to .csv.")


def read_matlab(path: Path) -> Raw:
    """The arrays of a MATLAB file, and those in structures under the names of their fields; time is the longer side."""
    with path.open("rb") as file:
        if file.read(10).startswith(HDF5):
            raise FileError(
                "a MATLAB file of version 7.3, which is HDF5",
                where=str(path),
                expected="a MATLAB file of version 4 to 7",
                advice=AS_VERSION_7,
            )
    return _read(path, "a MATLAB file of version 4 to 7, complete", AS_VERSION_7)


def _read(path: Path, expected: str, advice: str) -> Raw:
    with TemporaryDirectory() as folder:
        out = Path(folder) / "columns.npz"
        words = [sys.executable, "-m", __name__, str(path), str(out)]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            raise FileError(f"not read within {LONGEST:g} s", where=str(path), expected=expected) from None
        if done.returncode == MISSING:
            raise MissingExtra(
                "pyarrow is not installed",
                where=str(path),
                expected="pyarrow to read Parquet files",
                advice="pip install 'armdyn[parquet]'",
            )
        if done.returncode:
            reason = done.stderr.strip().splitlines()[-1:] if done.returncode == REFUSED else []
            raise FileError(
                f"cannot be read{': ' if reason else ''}{''.join(reason)[:200]}",
                where=str(path),
                expected=expected,
                advice=advice,
            )
        return read_numpy(out)


def _convert(path: Path, out: Path) -> int:
    """Write the numeric columns of a file as arrays; return the exit status."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (LARGEST, LARGEST))
    try:
        arrays: dict[str, Any] = _matlab(path) if path.suffix.lower() == ".mat" else _parquet(path)
        with writing(out) as part, part.open("wb") as file:
            np.savez(file, **arrays)
    except ImportError:
        return MISSING
    except Exception as error:
        sys.stderr.write(str(error))
        return REFUSED
    return 0


def _parquet(path: Path) -> Raw:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        about = file.metadata
        groups = [about.row_group(k) for k in range(about.num_row_groups)]
        values = sum(group.column(j).num_values for group in groups for j in range(group.num_columns))
        require_numbers(path, max(values, about.num_rows * about.num_columns), about.num_columns)
        table = file.read()
    columns = {name: _numbers(table.column(name)) for name in table.column_names}
    return {name: array for name, array in columns.items() if array is not None}


def _matlab(path: Path) -> Raw:
    from scipy.io import loadmat, whosmat

    wanted = {name: shape for name, shape, kind in whosmat(str(path)) if kind in (*MATLAB_NUMBERS, "struct")}
    require_numbers(path, sum(math.prod(shape) for shape in wanted.values()))
    found = loadmat(str(path), variable_names=list(wanted))
    arrays: Raw = {}
    for name in wanted:
        value = found[name]
        fields = value.dtype.names if value.size == 1 else None
        for field, array in {each: value[0, 0][each] for each in fields}.items() if fields else ((name, value),):
            if isinstance(array, np.ndarray) and array.ndim == 2 and array.size > 1 and is_numeric(array):
                rows = array if array.shape[0] >= array.shape[1] else array.T  # there are more samples than joints
                arrays[f"{name}.{field}" if field in arrays else field] = rows[:, 0] if rows.shape[1] == 1 else rows
    only = next(iter(arrays.values())) if len(arrays) == 1 else np.empty(0)
    return arrays if only.ndim == 1 else {f"column {k}": column for k, column in enumerate(only.T)}


def _numbers(column: Any) -> Array | None:
    """A column as numbers: (N,), or (N, k) of lists; None if it is something else."""
    values: Array = column.to_numpy()
    if values.dtype == object and len(values) and isinstance(values[0], np.ndarray):
        if len({len(row) for row in values}) != 1:
            return None
        values = np.stack(list(values))
    return values if is_numeric(values) else None


if __name__ == "__main__":
    sys.exit(_convert(Path(sys.argv[1]), Path(sys.argv[2])))

__all__ = ["read_matlab", "read_parquet"]
