"""Trajectories as CSV files: columns t, q1.., qd1.., qdd1.. in SI units."""

from __future__ import annotations

from pathlib import Path

from armdyn import text_table
from armdyn.errors import ArmdynError, FileError
from armdyn.trajectory.piecewise import PiecewisePolynomial
from armdyn.trajectory.trajectory import Trajectory, columns_of
from armdyn.trajectory.via import from_samples
from armdyn.typing import Array

QUANTITIES = ("q", "qd", "qdd")


def write(trajectory: Trajectory, path: str | Path, dt: float) -> Path:
    """Write samples every dt, s, with decimals that read back as the same numbers."""
    t, *samples = trajectory.sample(dt)
    return text_table.write(path, {"t": t} | columns_of(dict(zip(QUANTITIES, samples, strict=True))))


def read_trajectory(path: str | Path) -> PiecewisePolynomial:
    """Return the motion of a CSV file with the columns t, q1.. and optionally qd1.., qdd1.. in SI units.

    Other columns are ignored. See `from_samples` for the interpolation; a jump of acceleration is smoothed over one
    time step.
    """
    samples = read_samples(path)
    try:
        return from_samples(*samples)
    except ArmdynError as error:
        raise FileError(error.what, where=str(path), expected=error.expected) from None


def read_samples(path: str | Path, rates: int | None = None) -> list[Array]:
    """Return the samples of such a file: t (N,), q (N, nq) and, where they are given, qd and qdd (N, n).

    rates: how many velocities there are (default: as many as positions).
    """
    where = str(path)
    columns = text_table.read(path)
    n = text_table.numbered(columns, "q").shape[1]
    if "t" not in columns or n == 0:
        raise FileError(
            "the columns of a trajectory are missing",
            where=where,
            expected="t, q1, q2, ...; found: " + ", ".join(columns)[:200],
        )
    given = [columns["t"]]
    for name in QUANTITIES:
        count = n if name == "q" or rates is None else rates
        needed = [f"{name}{j + 1}" for j in range(count)]
        missing = [column for column in needed if column not in columns]
        if len(missing) == count:
            break
        if missing:
            raise FileError(f"column {missing[0]!r} is missing", where=where, expected=", ".join(needed))
        given.append(text_table.numbered(columns, name)[:, :count])
    return given
