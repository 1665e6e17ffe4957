"""Tables of numbers in NumPy's .npz and .npy files. Nothing in them is ever executed."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from armdyn.errors import FileError
from armdyn.files import require_numbers
from armdyn.identification.log.columns import Raw
from armdyn.typing import Array


def read_numpy(path: Path) -> Raw:
    """The arrays of an .npz file by name, or the columns of an .npy file by place; pickled objects are refused."""
    if zipfile.is_zipfile(path):
        _check_archive(path)
        with np.load(path, allow_pickle=False) as loaded:
            arrays = {name: loaded[name] for name in loaded.files}
        return {name: array for name, array in arrays.items() if array.ndim in (1, 2) and is_numeric(array)}
    with path.open("rb") as file:
        _check_array(file, path.stat().st_size, path, "")
        file.seek(0)
        loaded = np.load(file, allow_pickle=False)
    if loaded.ndim == 0 or not is_numeric(loaded):
        raise FileError(f"one {loaded.dtype} of shape {loaded.shape}", where=str(path), expected="a table of numbers")
    table = loaded.reshape(len(loaded), -1)
    require_numbers(path, table.size, table.shape[1])
    return {f"column {k}": table[:, k] for k in range(table.shape[1])}


def _check_archive(path: Path) -> None:
    """Raise FileError unless the arrays are as large as they say, and not too large together."""
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        require_numbers(path, sum(member.file_size for member in members) // 8, len(members))
        for member in members:
            with archive.open(member) as file:
                _check_array(file, member.file_size, path, f", {member.filename}")


def _check_array(file: IO[bytes], size: int, path: Path, part: str) -> None:
    """Raise FileError unless the array of a NumPy file, `size` bytes long, is there and holds plain values."""
    where = f"{path}{part}"
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise FileError(f"NumPy format {version}", where=where, expected="1.0 or 2.0")
    shape, _, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise FileError("pickled objects", where=where, expected="arrays of numbers: pickled objects are not loaded")
    declared, present = math.prod(shape) * dtype.itemsize, size - file.tell()
    if declared > present:
        raise FileError(
            f"declares {declared} bytes of numbers and has {present}", where=where, expected="a complete file"
        )
    require_numbers(path, declared // 8)


_HEADERS: dict[tuple[int, int], Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def is_numeric(array: Array) -> bool:
    """Whether an array holds numbers or times."""
    return array.dtype.kind in "biufM"
