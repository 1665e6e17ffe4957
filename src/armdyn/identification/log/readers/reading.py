"""`read_log`: any source of a log to a `Log`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from armdyn import text_table
from armdyn.errors import ArmdynError, FileError, ShapeError
from armdyn.files import reading
from armdyn.findings import Finding
from armdyn.identification.clock.stamps import cleaned
from armdyn.identification.log.columns import (
    Raw,
    blocks,
    columns_of,
    columns_of_one,
    header_units,
    instants_of,
    nameless,
    seconds,
)
from armdyn.identification.log.joint_side import on_joint_side
from armdyn.identification.log.log import Log
from armdyn.identification.log.log_format import LogFormat, quantity_named
from armdyn.identification.log.readers import numpy_files, own_process, rosbag, workbook
from armdyn.robot import Robot
from armdyn.typing import Array

TEXTS = (".csv", ".txt", ".tsv", ".dat")


def read_log(source: Any, robot: Robot, log_format: LogFormat | None = None) -> Log:
    """A log of the robot's motion: joint side, SI units, joints in the robot's order, without broken samples.

    Args:    source: a file (.csv, .txt, .tsv, .dat, .xlsx, .mat, .npz, .npy, .parquet; a ROS 2 bag: folder, .mcap or
                     .db3), a mapping of quantities (t, q, tau, and optionally qd, qdd) to arrays or to files of one
                     quantity each, or a Log
             robot: whose joints were logged
             log_format: columns, units, side of the gears, kind of effort (default: SI, joint side, torques)
    Returns: a Log with findings on what was left out or assumed.
    Raises:  FileError, UnknownName, ShapeError, MissingExtra (openpyxl, pyarrow, rosbags).
    """
    wanted = log_format or LogFormat()
    if isinstance(source, Log):
        return _known(source, robot, wanted)
    given = _given(source, robot, wanted)
    found = given.found
    _complete(given, wanted)
    units = given.units | {quantity_named(name): unit for name, unit in (wanted.units or {}).items()}
    wanted = replace(wanted, units=units)
    joints, findings = on_joint_side(found, robot, wanted)
    t = _times(found, wanted, given.label)
    names = tuple(joint.name for joint in robot.joints)
    log = Log(
        t,
        joints["q"],
        joints["tau"],
        joints.get("qd"),
        joints.get("qdd"),
        names,
        given.label,
        given.findings + findings,
    )
    return cleaned(log)


def _known(log: Log, robot: Robot, log_format: LogFormat) -> Log:
    """A log that is read already: there is nothing left to declare."""
    if log_format.declared:
        raise ArmdynError(
            f"LogFormat({', '.join(log_format.declared)}) beside a Log",
            where=f"log {log.source}",
            expected="no LogFormat: a Log is on the joint side and in SI units",
        )
    if log.n != robot.n:
        raise ShapeError(f"{log.n} joints", where=f"log {log.source}", expected=f"{robot.n}, those of {robot.name!r}")
    return log


# Sources ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Given:
    """{quantity: array}, a name for the source, the units that it states, what was assumed, its columns."""

    found: Raw
    label: str
    units: dict[str, Any]
    findings: tuple[Finding, ...] = ()
    columns: tuple[str, ...] = ()


def _given(source: Any, robot: Robot, wanted: LogFormat) -> _Given:
    if isinstance(source, str | Path):
        raw, units = _file(Path(source), robot, wanted)
        named = columns_of(raw, robot, wanted.columns, str(source))
        found = blocks(raw, named, robot, str(source))
        notes = (_by_place(found, robot),) if not wanted.columns and nameless(raw) else ()
        return _Given(found, Path(source).name, units | header_units(named), notes, tuple(raw))
    if not isinstance(source, Mapping):
        raise ArmdynError(
            f"cannot read a log from {type(source).__name__}",
            where="log",
            expected="a path, a mapping of quantities to arrays or paths, or a Log",
        )
    if any(isinstance(value, str | Path) for value in source.values()):
        return _several(source, robot, wanted)
    raw = {str(name): np.asarray(value) for name, value in source.items() if value is not None}
    for name, array in raw.items():
        if array.dtype.kind not in "biufM" or array.ndim not in (1, 2):
            raise ShapeError(
                f"{name}: {array.dtype} of shape {array.shape}", where="log", expected="numbers of shape (N,) or (N, n)"
            )
    named = columns_of(raw, robot, wanted.columns, "arrays")
    return _Given(blocks(raw, named, robot, "arrays"), "arrays", header_units(named), columns=tuple(raw))


def _by_place(found: Raw, robot: Robot) -> Finding:
    order = ", ".join(name if name == "t" else f"{name}1..{name}{robot.n}" for name in found)
    return Finding(
        "columns by place",
        "note",
        "columns",
        f"the file has no column names; it was read as {order}",
        advice="If that is wrong, name the columns in LogFormat(columns=...).",
    )


def _several(source: Mapping[str, Any], robot: Robot, wanted: LogFormat) -> _Given:
    """A log that is spread over files (or arrays), one quantity each, perhaps with its own time stamps."""
    found: Raw = {}
    units: dict[str, Any] = {}
    notes: list[Finding] = []
    clocks: list[tuple[str, Array, Any]] = []
    for name, value in source.items():
        quantity = quantity_named(name)
        if not isinstance(value, str | Path):
            found[quantity] = np.asarray(value)
            continue
        raw, kind = _file(Path(value), robot, wanted)
        named = columns_of_one(raw, quantity, robot, wanted.columns, str(value))
        inside, stated = blocks(raw, named, robot, str(value)), kind | header_units(named)
        if nameless(raw) and len(named) == 2 and not wanted.columns:
            notes.append(_by_place(inside, robot))
        if quantity != "t" and "t" in inside:
            clocks.append((str(value), inside.pop("t"), stated.pop("t", None)))
        found |= inside
        units |= stated
    if "t" not in found and clocks and wanted.rate is None:
        _require_one_clock(clocks, wanted)
        _, found["t"], units["t"] = clocks[0]
    label = ", ".join(Path(value).name for value in source.values() if isinstance(value, str | Path))
    return _Given(found, label, units, tuple(notes))


def _require_one_clock(clocks: Sequence[tuple[str, Array, Any]], wanted: LogFormat) -> None:
    """Raise FileError unless the files, with their stamps and their units, were sampled at the same instants."""
    declared = {quantity_named(name): unit for name, unit in (wanted.units or {}).items()}
    instants = [instants_of(stamps, declared.get("t", unit)) for _, stamps, unit in clocks]
    for (file, _, _), other in zip(clocks[1:], instants[1:], strict=True):
        rounding = 0.1 * float(np.nanmedian(np.abs(np.diff(instants[0])))) if len(instants[0]) > 1 else 0.0
        if len(other) != len(instants[0]) or np.nanmax(np.abs(other - instants[0]), initial=0.0) > rounding:
            raise FileError(
                "its time stamps are others",
                where=file,
                expected=f"those of {clocks[0][0]}: samples of all quantities at the same instants",
                advice="Sample or interpolate them at the same instants, or give the one series that holds: t=FILE.",
            )


def _file(path: Path, robot: Robot, wanted: LogFormat) -> tuple[Raw, dict[str, Any]]:
    """What a file holds, names as the model has them, and the units that follow from its kind."""
    raw, units = _contents(path, robot, wanted)
    return {wanted.renamed(name): array for name, array in raw.items()}, units


def _contents(path: Path, robot: Robot, wanted: LogFormat) -> tuple[Raw, dict[str, Any]]:
    kind = path.suffix.lower()
    if not path.exists():
        raise FileError("no such file", where=str(path))
    if path.is_dir() or kind in rosbag.SUFFIXES:
        joints = [joint.name for joint in robot.joints]
        with reading(path, "a ROS 2 bag"):
            return rosbag.read(path, joints, wanted.topic, wanted.renamed), {"t": "ns"}
    for endings, what, read in _TABLES:
        if kind in endings:
            with reading(path, what):
                return read(path), {}
    raise FileError(
        f"unknown file type {kind or '(none)'!r}",
        where=str(path),
        expected=", ".join((*TEXTS, ".xlsx", ".mat", ".npz", ".npy", ".parquet", *rosbag.SUFFIXES)),
    )


_TABLES: tuple[tuple[tuple[str, ...], str, Callable[[Path], Raw]], ...] = (
    ((".npz", ".npy"), "a NumPy file", numpy_files.read_numpy),
    ((".parquet", ".pq"), "a Parquet file", own_process.read_parquet),
    ((".mat",), "a MATLAB file", own_process.read_matlab),
    ((".xlsx",), "an .xlsx workbook", workbook.read_workbook),
    (TEXTS, "a table of numbers as text", partial(text_table.read, interrupted=True)),
)
"""File extensions, what such a file is, its reader."""


# Completeness -------------------------------------------------------------------------------------------------------


def _complete(given: _Given, wanted: LogFormat) -> None:
    found, label = given.found, given.label
    for quantity in ("q", "tau"):
        if quantity not in found:
            have = ", ".join(given.columns or found)[:200] or "nothing"
            single = " A file with one value per line is no table: write one line per sample." * (
                len(given.columns) == 1 and given.columns[0].startswith("column ")
            )
            raise FileError(
                f"no columns of {quantity} ({'positions' if quantity == 'q' else 'efforts'})",
                where=f"log {label}",
                expected=f"t, q1, q2, ..., tau1, tau2, ...; found: {have}",
                advice=f"Name them: columns = {{{quantity} = ['NAME', ...]}} in the section [log] of a "
                f"logger's file (--logger), or LogFormat(columns=...).{single}",
            )
    rows = {name: len(array) for name, array in found.items()}
    if len(set(rows.values())) > 1:
        raise ShapeError(
            ", ".join(f"{name}: {count} samples" for name, count in rows.items()),
            where=f"log {label}",
            expected="the same number of each",
        )
    if "t" not in found and wanted.rate is None:
        raise FileError(
            "no time stamps",
            where=f"log {label}",
            expected="a column t, or the sampling rate",
            advice="Give rate = HZ in the section [log] of a logger's file (--logger), or LogFormat(rate=...).",
        )


def _times(found: Raw, wanted: LogFormat, label: str) -> Array:
    if wanted.rate is not None:
        return np.arange(len(found["q"])) / wanted.rate
    stamps = found["t"]
    if stamps.ndim != 1:
        raise ShapeError(f"t has shape {stamps.shape}", where=f"log {label}", expected="(N,)")
    return seconds(stamps, (wanted.units or {}).get("t"))


__all__ = ["read_log"]
