"""Hostile logs: whatever the bytes, the answer is a Log or an ArmdynError, soon and without much memory.

ARMDYN_FUZZ sets the number of mutated files (default 700, shared equally by the kinds of files); mutation i stays the
same. The past failures below were found in longer runs.

    ARMDYN_FUZZ=10000 pytest tests/identification/test_log_fuzz.py
"""

from __future__ import annotations

import io
import os
import struct
import warnings
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat

import armdyn
from armdyn import files
from armdyn.errors import ArmdynError, FileError
from armdyn.identification import LogFormat, read_log
from armdyn.identification.log.log import Log
from support.limits import memory_growth, waiting_is_a_failure
from support.mutants import LARGEST, all_end_well, mutated

KINDS = ("csv", "tsv", "npz", "npy", "parquet", "mat", "xlsx", "db3", "mcap")
COUNT = max(1, int(os.environ.get("ARMDYN_FUZZ", "700")) // len(KINDS))
ROBOT = armdyn.load("planar2r")


# Files to be mutated --------------------------------------------------------------------------------------------------


def columns(rows: int = 30) -> dict[str, Any]:
    t = np.arange(rows) * 0.01
    names = [f"{name}{j}" for name in ("q", "qd", "tau") for j in (1, 2)]
    return {"t": t, **{name: np.sin(t + k) for k, name in enumerate(names)}}


@cache
def original(kind: str) -> bytes:
    made = columns()
    table = np.column_stack(list(made.values()))
    out = io.BytesIO()
    if kind in ("csv", "tsv"):
        sign = "," if kind == "csv" else "\t"
        np.savetxt(out, table, delimiter=sign, header=sign.join(made), comments="", fmt="%.6g")
    elif kind == "npz":
        np.savez_compressed(out, t=made["t"], q=table[:, 1:3], qd=table[:, 3:5], tau=table[:, 5:7])
    elif kind == "npy":
        np.save(out, table)
    elif kind == "parquet":
        pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        from pyarrow import parquet

        parquet.write_table(pyarrow.table(made), out)
    elif kind == "mat":
        savemat(out, {"t": made["t"], "q": table[:, 1:3], "qd": table[:, 3:5], "tau": table[:, 5:7]})
    elif kind == "xlsx":
        book = pytest.importorskip("openpyxl", reason="openpyxl is not installed").Workbook()
        for row in [list(made), *table.tolist()]:
            book.active.append(row)
        book.save(out)
    else:
        return bag(kind)
    return out.getvalue()


def bag(kind: str) -> bytes:
    """The data file of a bag with one topic."""
    import tempfile

    module = pytest.importorskip("rosbags.rosbag2", reason="rosbags is not installed")
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    State = store.types["sensor_msgs/msg/JointState"]
    Header, Time = store.types["std_msgs/msg/Header"], store.types["builtin_interfaces/msg/Time"]
    plugin = getattr(module.StoragePlugin, "SQLITE3" if kind == "db3" else "MCAP")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bag"
        with module.Writer(path, version=9, storage_plugin=plugin) as writer:
            connection = writer.add_connection("/joint_states", State.__msgtype__, typestore=store)
            for k, row in enumerate(zip(*columns(24).values(), strict=True)):
                header = Header(stamp=Time(sec=1 + k, nanosec=0), frame_id="")
                fields = [np.array(row[i : i + 2]) for i in (1, 3, 5)]
                message = State(header, [joint.name for joint in ROBOT.joints], *fields)
                writer.write(connection, 10**9 * (1 + k), store.serialize_cdr(message, State.__msgtype__))
        (file,) = path.glob(f"*.{kind}")
        return file.read_bytes()


# What must hold -------------------------------------------------------------------------------------------------------


def outcome(path: Path, log_format: LogFormat | None = None) -> str:
    """What came of a file, in a word; any other exception goes through, and so does a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            log = read_log(path, ROBOT, log_format)
        except ArmdynError as error:
            assert str(error).strip() and len(str(error)) < 20_000
            return "error"
    assert isinstance(log, Log)
    assert np.isfinite(log.t).all() and np.isfinite(log.q).all() and np.isfinite(log.tau).all()
    return "log"


@pytest.mark.parametrize("kind", KINDS)
def test_mutants_give_a_log_or_an_error(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"log.{kind}"
    path.write_bytes(original(kind))
    assert outcome(path) == "log"

    def read(i: int) -> str:
        path.write_bytes(mutated(f"{kind}{i}", original(kind)))
        return outcome(path)

    all_end_well(kind, COUNT // 20 if kind in ("parquet", "mat") else COUNT, read)  # each is a process of its own


def test_past_failures(tmp_path: Path) -> None:
    """Parquet 5281: a histogram of the wrong size, at which pyarrow's own look at a column ends the process."""
    path = tmp_path / "log.parquet"
    path.write_bytes(mutated("parquet5281", original("parquet")))
    assert outcome(path) == "error"


def refused(path: Path, match: str) -> None:
    growth = memory_growth()
    with waiting_is_a_failure(), pytest.raises(FileError, match=match):
        read_log(path, ROBOT)
    assert growth() < LARGEST


def header(shape: tuple[int, ...]) -> bytes:
    """The first 128 bytes of an .npy file."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return out.getvalue()


@pytest.mark.parametrize("rows", [10**6, 10**9, 10**18, 10**30])
def test_an_array_that_is_larger_than_its_file(rows: int, tmp_path: Path) -> None:
    path = tmp_path / "log.npy"
    path.write_bytes(header((rows, 7)))
    refused(path, "declares")


def test_an_archive_that_unpacks_to_more_than_is_read(tmp_path: Path) -> None:
    """1.2 MB that unpack to 272 MB."""
    path = tmp_path / "log.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("q.npy", "w", force_zip64=True) as member,
    ):
        member.write(header((17 * 2**20, 2)))
        for _ in range(17):
            member.write(bytes(2**24))
    assert path.stat().st_size < 2 * 2**20
    refused(path, "at most .* numbers")


def test_an_archive_of_arrays_that_are_too_large_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_NUMBERS", 1000)
    path = tmp_path / "log.npz"
    np.savez(path, t=np.zeros(600), q=np.zeros((300, 2)))
    refused(path, "at most 1000 numbers")


def test_an_archive_that_lies_about_its_size(tmp_path: Path) -> None:
    path = tmp_path / "log.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("q.npy", header((10**12, 2)))
    refused(path, "declares")


def test_a_small_parquet_file_of_many_rows(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    path = tmp_path / "log.parquet"
    rows = pyarrow.table({name: pyarrow.array(np.zeros(10**6)) for name in columns()})
    with parquet.ParquetWriter(path, rows.schema) as writer:
        for _ in range(6):
            writer.write_table(rows)
    assert path.stat().st_size < 2**20
    refused(path, "at most .* numbers")


def test_a_small_parquet_file_of_long_lists(tmp_path: Path) -> None:
    """One row, many values in it."""
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    path = tmp_path / "log.parquet"
    long = pyarrow.ListArray.from_arrays([0, 4 * 10**7], pyarrow.repeat(False, 4 * 10**7))
    parquet.write_table(pyarrow.table({"q": long}), path)
    assert path.stat().st_size < 2**20
    refused(path, "at most .* numbers")


def test_a_table_of_many_columns(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(",".join(f"c{i}" for i in range(100_000)) + "\n" + ",".join(["1"] * 100_000) + "\n")
    refused(path, "100000 columns.*at most 10000")
    path.write_text("1" * (3 * 2**20))
    refused(path, "characters")


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices of POSIX")
@pytest.mark.parametrize("kind", KINDS)
def test_pipes_and_devices_are_not_waited_for(kind: str, tmp_path: Path) -> None:
    pipe, link = tmp_path / f"pipe.{kind}", tmp_path / f"link.{kind}"
    os.mkfifo(pipe)
    link.symlink_to("/dev/zero")
    folder = tmp_path / "bag"
    folder.mkdir()
    os.mkfifo(folder / "metadata.yaml")
    with waiting_is_a_failure():
        for path in (pipe, link, folder):
            refused(path, "regular file")


def test_a_chunk_that_unpacks_to_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "log.mcap"
    chunk = struct.pack("<QQQI", 0, 1, 2**40, 0)
    path.write_bytes(b"\x89MCAP0\r\n" + struct.pack("<BQ", 6, len(chunk)) + chunk)
    refused(path, "at most .* numbers")
