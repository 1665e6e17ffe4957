"""Trajectories as CSV files: columns t, q1.., qd1.., qdd1.. in SI units."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from armdyn.errors import ArmdynError, FileError
from armdyn.files import MEBI, regular_size, writing
from armdyn.trajectory.piecewise import PiecewisePolynomial
from armdyn.trajectory.trajectory import Trajectory
from armdyn.trajectory.via import from_samples
from armdyn.typing import Array

LARGEST_FILE = 512 * MEBI
QUANTITIES = ("q", "qd", "qdd")


def write(trajectory: Trajectory, path: str | Path, dt: float) -> Path:
    """Write samples every dt, s, with decimals that read back as the same numbers."""
    samples = trajectory.sample(dt)
    names = [f"{name}{j + 1}" for name in QUANTITIES for j in range(trajectory.n)]
    rows = np.column_stack(samples)
    target = Path(path)
    with writing(target) as part, part.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["t", *names])
        out.writerows([[repr(x) for x in row] for row in rows.tolist()])
    return target


def read_trajectory(path: str | Path) -> PiecewisePolynomial:
    """Return the motion of a CSV file with the columns t, q1.. and optionally qd1.., qdd1.. in SI units.

    Other columns are ignored. See `from_samples` for the interpolation; a jump of acceleration is smoothed over one
    time step.
    """
    where = str(path)
    header, table = read_table(Path(path))
    index = {name.strip(): k for k, name in enumerate(header)}
    n = 0
    while f"q{n + 1}" in index:
        n += 1
    if "t" not in index or n == 0:
        raise FileError(
            "the columns of a trajectory are missing",
            where=where,
            expected="t, q1, q2, ...; found: " + ", ".join(header)[:200],
        )
    given: list[Array] = []
    for name in QUANTITIES:
        columns = [f"{name}{j + 1}" for j in range(n)]
        missing = [column for column in columns if column not in index]
        if len(missing) == n:
            break
        if missing:
            raise FileError(f"column {missing[0]!r} is missing", where=where, expected=", ".join(columns))
        given.append(table[:, [index[column] for column in columns]])
    try:
        return from_samples(table[:, index["t"]], *given)
    except ArmdynError as error:
        raise FileError(error.what, where=where, expected=error.expected) from None


def read_table(path: Path) -> tuple[list[str], Array]:
    """Return the header and the numbers, (rows, columns), of a CSV file; empty cells are not-a-number."""
    where = str(path)
    try:
        regular_size(path, LARGEST_FILE)
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"cannot be read: {error}", where=where) from None
    if len(rows) < 3:
        raise FileError(f"{max(len(rows) - 1, 0)} samples", where=where, expected="a header and at least two samples")
    values = np.empty((len(rows) - 1, len(rows[0])))
    for k, row in enumerate(rows[1:]):
        try:
            if len(row) != len(rows[0]):
                raise ValueError
            values[k] = [float(cell) if cell.strip() else np.nan for cell in row]
        except ValueError:
            raise FileError(
                f"{','.join(row)[:80]!r}", where=f"{where}, row {k + 2}", expected=f"{len(rows[0])} numbers"
            ) from None
    return rows[0], values
