"""Readers: the same log from every source, and what is declared about it."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat

import armdyn
from armdyn.errors import ArmdynError, FileError, MissingExtra, ShapeError, UnknownName
from armdyn.identification.log.columns import factors
from armdyn.identification.log.log import Log
from armdyn.identification.log.log_format import LogFormat
from armdyn.identification.log.readers import own_process, read_log
from armdyn.mechanics.coupling import joint_positions, joint_torques, torques_from_currents
from armdyn.robot.parts import Motor

ROBOT = armdyn.random_robot(11, 3, prismatic=0.0)
NAMES = [joint.name for joint in ROBOT.joints]
N = 60
TX40 = Path(__file__).parents[3] / "shared" / "data" / "tx40"


def values(seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    q, qd, tau = rng.standard_normal((3, N, 3))
    return {"t": np.arange(N) / 100, "q": q, "qd": qd, "tau": tau}


def same(log: Log, data: dict[str, Any], *, rates: bool = True) -> None:
    for name in ("t", "q", "tau") + (("qd",) if rates else ()):
        np.testing.assert_allclose(getattr(log, name), data[name], rtol=1e-12, atol=1e-12, err_msg=name)
    assert log.joints == tuple(NAMES)


def csv(path: Path, header: list[str], table: Any, delimiter: str = ",", decimal: str = ".") -> Path:
    rows = [delimiter.join(repr(float(x)).replace(".", decimal) for x in row) for row in table]
    path.write_text("\n".join([delimiter.join(header)] * bool(header) + rows) + "\n", encoding="utf-8")
    return path


def table(data: dict[str, Any], *quantities: str) -> Any:
    return np.column_stack([data[name] for name in quantities])


def numbered(*quantities: str) -> list[str]:
    return [f"{name}{j}" for name in quantities for j in (1, 2, 3)]


# Text files ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        ["t", *numbered("q", "qd", "tau")],
        ["time", *(f"{kind}_{name}" for kind in ("q", "velocity", "tau") for name in NAMES)],
        ["Time", *(f"{name}_{kind}" for kind in ("position", "velocity", "effort") for name in NAMES)],
        [
            "timestamp",
            *(f"{kind}[{j}]".replace("[", "_").rstrip("]") for kind in ("pos", "vel", "torque") for j in range(3)),
        ],
    ],
    ids=["numbers", "names behind", "names in front", "numbers from 0"],
)
def test_names_of_columns(tmp_path: Path, header: list[str]) -> None:
    data = values()
    same(read_log(csv(tmp_path / "log.csv", header, table(data, "t", "q", "qd", "tau")), ROBOT), data)


def test_columns_in_any_order(tmp_path: Path) -> None:
    data = values()
    header = ["t", *numbered("q", "qd", "tau")]
    order = np.random.default_rng(3).permutation(10)
    path = csv(tmp_path / "log.csv", [header[k] for k in order], table(data, "t", "q", "qd", "tau")[:, order])
    same(read_log(path, ROBOT), data)


@pytest.mark.parametrize(("delimiter", "decimal"), [(";", ","), (";", "."), ("\t", "."), (" ", "."), ("\t", ",")])
def test_delimiters_and_decimal_commas(tmp_path: Path, delimiter: str, decimal: str) -> None:
    data = values()
    path = csv(
        tmp_path / "log.txt", ["t", *numbered("q", "qd", "tau")], table(data, "t", "q", "qd", "tau"), delimiter, decimal
    )
    same(read_log(path, ROBOT), data)


def test_comments_above_and_a_header_in_a_comment(tmp_path: Path) -> None:
    data = values()
    plain = csv(tmp_path / "plain.csv", [], table(data, "t", "q", "tau")).read_text()
    path = tmp_path / "log.csv"
    path.write_text("# cell 7, 2 kHz\n# t," + ",".join(numbered("q", "tau")) + "\n" + plain)
    log = read_log(path, ROBOT)
    same(log, data, rates=False)
    assert not log.findings


def test_without_header_columns_are_read_by_place_and_that_is_said(tmp_path: Path) -> None:
    data = values()
    log = read_log(csv(tmp_path / "log.csv", [], table(data, "t", "q", "qd", "tau")), ROBOT)
    same(log, data)
    assert [f.rule for f in log.findings] == ["columns by place"]
    assert "t, q1..q3, qd1..qd3, tau1..tau3" in log.findings[0].what


def test_columns_by_name_by_place_and_by_pattern(tmp_path: Path) -> None:
    data = values()
    header = ["clock", "a", "b", "c", *(f"drive {j} load" for j in (1, 2, 3))]
    path = csv(tmp_path / "log.csv", header, table(data, "t", "q", "tau"))
    columns = {"t": "clock", "q": [1, "b", 3], "tau": "drive {i} load"}
    same(read_log(path, ROBOT, LogFormat(columns=columns)), data, rates=False)
    with pytest.raises(UnknownName, match="Did you mean 'clock'"):
        read_log(path, ROBOT, LogFormat(columns=columns | {"t": "clok"}))
    with pytest.raises(ShapeError, match="q has 2 columns.*Found: clock, a, b.*columns = {q = ...}"):
        read_log(path, ROBOT, LogFormat(columns=columns | {"q": [1, 2]}))


def test_units_in_the_header_and_declared(tmp_path: Path) -> None:
    data = values()
    scaled = np.column_stack([data["t"] * 1e3, np.degrees(data["q"]), data["qd"] / (2 * np.pi) * 60, data["tau"] * 1e3])
    heads = ["t [ms]", *(f"q{j} [deg]" for j in (1, 2, 3)), *(f"qd{j} (rpm)" for j in (1, 2, 3))]
    heads += [f"tau{j} [mN m]" for j in (1, 2, 3)]
    same(read_log(csv(tmp_path / "a.csv", heads, scaled), ROBOT), data)
    plain = csv(tmp_path / "b.csv", ["t", *numbered("q", "qd", "tau")], scaled)
    same(read_log(plain, ROBOT, LogFormat(units={"t": "ms", "position": "deg", "qd": "rpm", "effort": "mN m"})), data)
    same(
        read_log(
            plain, ROBOT, LogFormat(units={"t": "ms", "q": [np.pi / 180, "deg", "deg"], "qd": "rpm", "tau": 1e-3})
        ),
        data,
    )
    with pytest.raises(UnknownName, match="unknown unit of q 'degrees'"):
        read_log(plain, ROBOT, LogFormat(units={"q": "degrees"}))


def german(data: dict[str, Any]) -> tuple[list[str], Any]:
    """Headings and rows as an office program in German writes them, angles in degrees."""
    heads = [
        "Zeit [ms]",
        *(f"Winkel Achse {j} [°]" for j in (1, 2, 3)),
        *(f"Moment für Achse {j} [Nm]" for j in (1, 2, 3)),
    ]
    return heads, np.column_stack([data["t"] * 1e3, np.degrees(data["q"]), data["tau"]])


@pytest.mark.parametrize(
    "columns",
    [
        {"t": 0, "q": [1, 2, 3], "tau": [4, 5, 6]},
        {"t": 0, "q": "1-3", "tau": "4 - 6"},
        {"t": "Zeit", "q": "Winkel Achse {i}", "tau": "Moment für Achse {i} [Nm]"},
    ],
    ids=["places", "ranges", "names"],
)
def test_units_in_headings_count_however_the_columns_are_chosen(tmp_path: Path, columns: dict[str, Any]) -> None:
    data = values()
    path = csv(tmp_path / "log.csv", *german(data), ";", ",")
    same(read_log(path, ROBOT, LogFormat(columns=columns)), data, rates=False)
    declared = {"t": "ms", "q": "deg", "tau": "mNm"}  # what is declared goes before the headings
    same(
        read_log(path, ROBOT, LogFormat(columns=columns, units=declared)),
        data | {"tau": data["tau"] / 1e3},
        rates=False,
    )
    for wrong in ("1-7", "3-1"):
        with pytest.raises(UnknownName, match=r"column .-.*a range such as 1-6.*The columns are: Zeit \[ms\]"):
            read_log(path, ROBOT, LogFormat(columns=columns | {"q": wrong}))


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig"])
def test_encodings_of_the_office(tmp_path: Path, encoding: str) -> None:
    data = values()
    path = csv(tmp_path / "log.csv", *german(data), ";", ",")
    text = path.read_text(encoding="utf-8")
    path.write_text(text, encoding=encoding)
    log_format = LogFormat(columns={"t": "Zeit", "q": "Winkel Achse {i}", "tau": "Moment für Achse {i}"})
    same(read_log(path, ROBOT, log_format), data, rates=False)
    lines = text.splitlines()
    lines[7] = lines[7].replace(";", ";ü", 1)
    path.write_text("\n".join(lines), encoding=encoding)
    with pytest.raises(FileError, match=r"log.csv, line 8.*7 numbers"):
        read_log(path, ROBOT, log_format)
    path.write_bytes(text.encode("utf-16-le"))
    with pytest.raises(FileError, match=r"not a text.*UTF-16 with a mark.*Save it as .csv in UTF-8"):
        read_log(path, ROBOT, log_format)


def test_headings_with_different_units(tmp_path: Path) -> None:
    data = values()
    table_ = np.column_stack([data["t"], data["q"] * [180 / np.pi, 1, 1e3], data["tau"]])
    heads = ["t", "q1 [°]", "q2 [rad]", "q3 [mrad]", *numbered("tau")]
    same(read_log(csv(tmp_path / "log.csv", heads, table_), ROBOT), data, rates=False)
    heads[2] = "q2"
    path = csv(tmp_path / "some.csv", heads, table_)
    with pytest.raises(FileError, match="some columns of q have a unit.*a unit in each heading.*units = {q = ...}"):
        read_log(path, ROBOT)
    same(read_log(path, ROBOT, LogFormat(units={"q": ["deg", "rad", "mrad"]})), data, rates=False)


def test_units_fit_the_kind_of_joint() -> None:
    assert factors("q", "mm", ["prismatic", "revolute"]).tolist() == [1e-3, 1.0]
    assert factors("q", "deg, mm", ["prismatic", "revolute"]).tolist() == pytest.approx([1e-3, np.pi / 180])
    assert factors("tau", "kN, N m", ["prismatic", "revolute"]).tolist() == [1e3, 1.0]


def test_empty_cells_and_a_cut_last_line(tmp_path: Path) -> None:
    data = values()
    path = csv(tmp_path / "log.csv", ["t", *numbered("q", "qd", "tau")], table(data, "t", "q", "qd", "tau"))
    lines = path.read_text().splitlines()
    cells = lines[10].split(",")
    lines[10] = ",".join([cells[0], "", *cells[2:]])
    lines[-1] = lines[-1][:20]
    path.write_text("\n".join(lines))
    log = read_log(path, ROBOT)
    kept = np.delete(np.arange(N), [9, N - 1])
    np.testing.assert_array_equal(log.q, data["q"][kept])
    assert [f.rule for f in log.findings] == ["broken samples"]


def test_broken_text_names_its_line(tmp_path: Path) -> None:
    path = csv(tmp_path / "log.csv", ["t", *numbered("q", "tau")], table(values(), "t", "q", "tau"))
    text = path.read_text().splitlines()
    text[7] = "0.1,x,0,0,0,0,0"
    path.write_text("\n".join(text))
    with pytest.raises(FileError, match="line 8"):
        read_log(path, ROBOT)


# Workbooks ----------------------------------------------------------------------------------------------------------


def workbook(path: Path, rows: list[list[Any]]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.create_sheet("notes").append(["not read"])
    book.save(path)
    return path


def test_workbooks(tmp_path: Path) -> None:
    data = values()
    heads = ["t", *numbered("q", "qd", "tau")]
    rows = table(data, "t", "q", "qd", "tau").tolist()
    path = workbook(tmp_path / "log.xlsx", [heads, *rows])
    same(read_log(path, ROBOT), data)
    plain = read_log(csv(tmp_path / "log.csv", heads, rows), ROBOT)
    np.testing.assert_allclose(read_log(path, ROBOT).q, plain.q, rtol=1e-15)  # workbooks hold 16 digits
    heads, german_rows = german(data)
    rows = [[None, *(str(x).replace(".", ",") for x in row)] for row in german_rows.tolist()]
    heads[1] = heads[1].replace(" [", "\n[")
    shifted = [["Messung 7"], [], [None, *heads], *rows[:30], [], *rows[30:]]
    log_format = LogFormat(columns={"t": "Zeit", "q": "1-3", "tau": "Moment für Achse {i}"})
    same(read_log(workbook(tmp_path / "x.xlsx", shifted), ROBOT, log_format), data, rates=False)


def test_workbooks_that_cannot_serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import datetime

    rows: list[list[Any]] = [["t", *numbered("q", "tau")], *table(values(), "t", "q", "tau").tolist()]
    for wrong, words in (
        (datetime.date(2024, 5, 1), r"cell C9: 2024-05-01 00:00:00 is not a number.*as a number"),
        ("#DIV/0!", r"cell C9: #DIV/0! is not a number"),
        ("fast", r"line 9: .*fast.*7 numbers"),
    ):
        broken = [row.copy() for row in rows]
        broken[8][2] = wrong
        with pytest.raises(FileError, match=r"(?s)log.xlsx, " + words):
            read_log(workbook(tmp_path / "log.xlsx", broken), ROBOT)
    whole = (tmp_path / "log.xlsx").read_bytes()
    for part in (whole[: len(whole) // 2], b"", b"t,q1"):
        (tmp_path / "log.xlsx").write_bytes(part)
        with pytest.raises(FileError, match=r"log.xlsx: not an .xlsx workbook.*or as .csv"):
            read_log(tmp_path / "log.xlsx", ROBOT)
    with pytest.raises(FileError, match="no line of numbers"):
        read_log(workbook(tmp_path / "log.xlsx", []), ROBOT)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtra, match=r"needs openpyxl.*armdyn\[xlsx\].*or save the sheet as .csv"):
        read_log(tmp_path / "log.xlsx", ROBOT)


# Binary files, arrays, several files --------------------------------------------------------------------------------


def test_npz_npy_and_mappings(tmp_path: Path) -> None:
    data = values()
    np.savez(tmp_path / "log.npz", **data, comment=np.array("text"))
    same(read_log(tmp_path / "log.npz", ROBOT), data)
    np.save(tmp_path / "log.npy", table(data, "t", "q", "qd", "tau"))
    same(read_log(tmp_path / "log.npy", ROBOT), data)
    same(read_log(data, ROBOT), data)
    same(read_log({"time": data["t"], "Position": data["q"], "effort": data["tau"]}, ROBOT), data, rates=False)
    log = read_log(data, ROBOT)
    assert read_log(log, ROBOT) is log
    with pytest.raises(ArmdynError, match="SI units"):
        read_log(log, ROBOT, LogFormat(units={"q": "deg"}))


def test_pickled_objects_are_not_loaded(tmp_path: Path) -> None:
    np.savez(tmp_path / "log.npz", t=np.array([{"run": "me"}], dtype=object))
    with pytest.raises(FileError, match="pickled objects are not loaded"):
        read_log(tmp_path / "log.npz", ROBOT)


def test_parquet_with_columns_and_with_lists(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    data = values()
    flat = {"t": data["t"], **{f"q{j + 1}": data["q"][:, j] for j in range(3)}}
    flat |= {f"tau{j + 1}": data["tau"][:, j] for j in range(3)} | {"note": ["text"] * N}
    parquet.write_table(pyarrow.table(flat), tmp_path / "flat.parquet")
    same(read_log(tmp_path / "flat.parquet", ROBOT), data, rates=False)
    lists = {"t": data["t"], "q": data["q"].tolist(), "tau": data["tau"].tolist()}
    parquet.write_table(pyarrow.table(lists), tmp_path / "lists.parquet")
    same(read_log(tmp_path / "lists.parquet", ROBOT), data, rates=False)
    (tmp_path / "no.parquet").write_text("nothing")
    with pytest.raises(FileError, match="a Parquet file"):
        read_log(tmp_path / "no.parquet", ROBOT)


def test_matlab_files(tmp_path: Path) -> None:
    data = values()
    names = [f"{name}{j}" for name in ("q", "tau") for j in (1, 2, 3)]
    flat = dict(zip(["t", *names], table(data, "t", "q", "tau").T, strict=True))
    cell = np.array([{"note": "text"}, "text"], dtype=object)
    for content in (
        data | {"operator": "text", "cells": cell, "Ts": 0.01},
        {"t": data["t"][:, None], "q": data["q"].T, "qd": data["qd"], "tau": data["tau"].T},  # a sample per column
        {"log": data | {"operator": "text", "cells": cell}, "cells": cell},
        flat,
        {"data": table(data, "t", "q", "qd", "tau")},
    ):
        savemat(tmp_path / "log.mat", content, do_compression="operator" in content, oned_as="row")
        same(read_log(own_process._matlab(tmp_path / "log.mat"), ROBOT), data, rates=content is not flat)
    savemat(tmp_path / "log.mat", {"data": table(data, "t", "q", "tau")}, format="4")
    same(
        read_log(tmp_path / "log.mat", ROBOT, LogFormat(columns={"t": 0, "q": "1-3", "tau": "4-6"})), data, rates=False
    )


def test_matlab_files_that_cannot_serve(tmp_path: Path) -> None:
    path = tmp_path / "log.mat"
    savemat(path, values())
    whole = path.read_bytes()
    for content, words in (
        (b"MATLAB 7.3 MAT-file, Platform: GLNXA64" + bytes(600), "version 7.3, which is HDF5"),
        (b"\x89HDF\r\n\x1a\n" + bytes(600), "version 7.3, which is HDF5"),
        (whole[: len(whole) // 2], "cannot be read: "),
        (b"# Created by Octave\n# name: q\n# type: matrix\n", "cannot be read: "),
    ):
        path.write_bytes(content)
        with pytest.raises(FileError, match=rf"log.mat: .*{words}.*a MATLAB file of version 4 to 7.*'-v7'"):
            read_log(path, ROBOT)
    savemat(path, {"cells": np.array(["a", 1], dtype=object), "word": "text"})
    assert own_process._matlab(path) == {}


def test_one_quantity_per_file_without_time(tmp_path: Path) -> None:
    data = values()
    heads = [f"Joint {j}" for j in (1, 2, 3)]
    source = {name: csv(tmp_path / f"{name}.csv", heads, data[name]) for name in ("q", "tau")}
    log = read_log(source, ROBOT, LogFormat(rate=100))
    same(log, data, rates=False)
    assert log.source == "q.csv, tau.csv"
    by_name = csv(tmp_path / "named.csv", NAMES[::-1], data["q"][:, ::-1])
    same(read_log(source | {"q": by_name}, ROBOT, LogFormat(rate=100)), data, rates=False)
    with pytest.raises(FileError, match="no time stamps"):
        read_log(source, ROBOT)


def test_one_quantity_per_file_with_time_stamps(tmp_path: Path) -> None:
    data = values()
    heads = ["Zeit [ms]", "A [°]", "B [°]", "C [°]"]
    q = csv(tmp_path / "q.csv", heads, np.column_stack([data["t"] * 1e3, np.degrees(data["q"])]))
    tau = csv(tmp_path / "tau.csv", ["t", *"ABC"], np.column_stack([data["t"], data["tau"]]))
    log_format = LogFormat(columns={"t": "Zeit"})
    same(read_log({"q": q, "tau": tau}, ROBOT, log_format), data, rates=False)
    with pytest.raises(ShapeError, match=r"q has 4 columns.*Found: Zeit \[ms\], A.*columns = {q = ...}"):
        read_log({"q": q, "tau": tau}, ROBOT)
    late = csv(tmp_path / "late.csv", ["t", *"ABC"], np.column_stack([data["t"] + 0.005, data["tau"]]))
    with pytest.raises(FileError, match=r"late.csv: its time stamps are others.*q.csv.*t=FILE"):
        read_log({"q": q, "tau": late}, ROBOT, log_format)
    same(read_log({"t": data["t"], "q": q, "tau": late}, ROBOT, log_format), data, rates=False)
    plain = {name: csv(tmp_path / f"{name}0.csv", [], table(data, "t", name)) for name in ("q", "tau")}
    log = read_log(plain, ROBOT)
    same(log, data, rates=False)
    assert {finding.rule for finding in log.findings} == {"columns by place"}


@pytest.mark.skipif(not TX40.is_dir(), reason="the measured log of the TX40 is not on this machine")
def test_a_log_measured_on_a_robot() -> None:
    """Positions of motors at 5 kHz with a coupled wrist: q = R^-1 q_m + offsets, tau = R^T tau_m."""
    robot = armdyn.load(str(TX40 / "tx40.urdf"))
    R = np.diag([32.0, 32, 45, -48, 45, 32])
    R[5, 4] = 32
    zero = [0, -np.pi / 2, np.pi / 2, 0, 0, 0]
    source = {"q": TX40 / "pos_read_data.csv", "tau": TX40 / "curr_data.csv"}
    log = read_log(source, robot, LogFormat(rate=5000, side="motor", coupling=R, offsets=zero))
    q_m, tau_m = (np.loadtxt(path, delimiter=",", skiprows=1) for path in source.values())
    np.testing.assert_allclose((log.q - zero) @ R.T, q_m, atol=1e-9)
    power, rate = np.einsum("ij,ij->i", log.tau, log.q - zero), np.einsum("ij,ij->i", tau_m, q_m)
    np.testing.assert_allclose(power, rate, atol=1e-8)
    assert log.duration == pytest.approx(9, abs=1e-3) and not log.findings


# Bags ---------------------------------------------------------------------------------------------------------------


def bag(
    path: Path, data: dict[str, Any], plugin: str, topics: tuple[str, ...] = ("/joint_states",), **change: Any
) -> Path:
    """Joint states whose names come in a new order every time, with a gripper, and messages of the gripper alone."""
    writer_module = pytest.importorskip("rosbags.rosbag2")
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    State = store.types["sensor_msgs/msg/JointState"]
    Header, Time = store.types["std_msgs/msg/Header"], store.types["builtin_interfaces/msg/Time"]
    rng = np.random.default_rng(0)
    start = 1_700_000_000 * 10**9
    with writer_module.Writer(path, version=9, storage_plugin=getattr(writer_module.StoragePlugin, plugin)) as writer:
        connections = [writer.add_connection(topic, State.__msgtype__, typestore=store) for topic in topics]
        for k in range(N):
            ns = start + 10_000_000 * k
            header = Header(stamp=Time(sec=ns // 10**9, nanosec=ns % 10**9), frame_id="")
            order = rng.permutation(4)
            names = [[*NAMES, "gripper"][i] for i in order]
            fields = [np.append(data[name][k], 0.0)[order] for name in ("q", "qd", "tau")]
            if change.get("no_effort"):
                fields[2] = np.zeros(0)
            message = State(header=header, name=names, position=fields[0], velocity=fields[1], effort=fields[2])
            alone = State(header=header, name=["gripper"], position=np.ones(1), velocity=np.ones(1), effort=np.ones(1))
            for connection in connections:
                for each in (message, alone):
                    writer.write(connection, ns + 5_000_000, store.serialize_cdr(each, State.__msgtype__))
    return path


@pytest.mark.parametrize("plugin", ["SQLITE3", "MCAP"])
def test_bags(tmp_path: Path, plugin: str) -> None:
    data = values()
    path = bag(tmp_path / "bag", data, plugin)
    same(read_log(path, ROBOT), data)
    (single,) = [file for file in path.iterdir() if file.suffix in (".mcap", ".db3")]
    same(read_log(single, ROBOT), data)


def test_bags_that_cannot_serve(tmp_path: Path) -> None:
    data = values()
    with pytest.raises(FileError, match="Choose one by `topic`: /a, /b"):
        read_log(bag(tmp_path / "two", data, "SQLITE3", ("/a", "/b")), ROBOT)
    same(read_log(tmp_path / "two", ROBOT, LogFormat(topic="/b")), data)
    with pytest.raises(UnknownName, match="unknown topic"):
        read_log(tmp_path / "two", ROBOT, LogFormat(topic="/c"))
    with pytest.raises(FileError, match="no columns of tau"):
        read_log(bag(tmp_path / "blind", data, "MCAP", no_effort=True), ROBOT)
    with pytest.raises(FileError, match="no message has all joints.*gripper"):
        read_log(tmp_path / "two", armdyn.load("puma560"), LogFormat(topic="/a"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="a ROS 2 bag"):
        read_log(tmp_path / "empty", ROBOT)


# Motors, currents, gravity ------------------------------------------------------------------------------------------


def test_motor_side_by_the_robot_and_by_a_matrix() -> None:
    rng = np.random.default_rng(1)
    R = np.diag([50.0, -80.0, 30.0]) + np.triu(rng.uniform(-5, 5, (3, 3)), 1)
    coupled = dataclasses.replace(ROBOT, coupling=tuple(map(tuple, np.linalg.inv(R).tolist())))
    data = values()
    zero = [0.1, 0.2, -0.3]
    by_robot = read_log(data, coupled, LogFormat(side="motor", offsets=zero))
    by_matrix = read_log(data, ROBOT, LogFormat(side="motor", coupling=R, offsets=zero))
    np.testing.assert_allclose(by_robot.q - zero, joint_positions(coupled, data["q"]), atol=1e-12)
    np.testing.assert_allclose(by_robot.tau, joint_torques(coupled, data["tau"]), atol=1e-12)
    for name in ("q", "qd", "tau"):
        np.testing.assert_allclose(getattr(by_robot, name), getattr(by_matrix, name), atol=1e-9, err_msg=name)
    # virtual work: power is the same on both sides
    power = (by_robot.qd * by_robot.tau).sum(axis=1)
    np.testing.assert_allclose(power, (data["qd"] * data["tau"]).sum(axis=1), atol=1e-12)
    with pytest.raises(ShapeError, match="invertible"):
        read_log(data, ROBOT, LogFormat(side="motor", coupling=np.zeros((3, 3))))


def test_currents_by_motors_and_by_gains() -> None:
    tree = tuple(
        dataclasses.replace(joint, motor=Motor(torque_constant=0.1 * (k + 1))) for k, joint in enumerate(ROBOT.tree)
    )
    motors = dataclasses.replace(ROBOT, tree=tree)
    data = values()
    log = read_log(data, motors, LogFormat(effort="current"))
    np.testing.assert_allclose(log.tau, torques_from_currents(motors, data["tau"]), atol=1e-12)
    gains = [10.0, -20.0, 30.0]
    np.testing.assert_allclose(read_log(data, ROBOT, LogFormat(effort="current", gains=gains)).tau, gains * data["tau"])
    np.testing.assert_allclose(
        read_log(data, ROBOT, LogFormat(effort="current", gains=gains, units={"tau": "mA"})).tau,
        gains * data["tau"] / 1e3,
    )
    with pytest.raises(ArmdynError, match="has no motor"):
        read_log(data, ROBOT, LogFormat(effort="current"))


def test_efforts_without_gravity() -> None:
    data = values()
    log = read_log(data, ROBOT, LogFormat(effort="gravity_compensated"))
    np.testing.assert_allclose(log.tau, data["tau"] + armdyn.compile(ROBOT).gravity(data["q"]), atol=1e-12)
    assert [f.rule for f in log.findings] == ["gravity added"]


# Stamps and rows ----------------------------------------------------------------------------------------------------


def test_stamps_of_the_day_keep_their_nanoseconds() -> None:
    data = values()
    stamps = 1_700_000_000_000_000_000 + np.arange(N) * 10_000_001
    log = read_log(data | {"t": stamps}, ROBOT, LogFormat(units={"t": "ns"}))
    np.testing.assert_array_equal(log.t, np.arange(N) * 10_000_001 * 1e-9)
    days = stamps.astype("datetime64[ns]")
    np.testing.assert_array_equal(read_log(data | {"t": days}, ROBOT).t, log.t)


def test_broken_rows_and_stamps_are_left_out_and_told() -> None:
    data = values()
    q, t = data["q"].copy(), data["t"].copy()
    q[5, 1], q[6, 0] = np.nan, np.inf
    t[20] = t[19]
    t[30:] -= 0.055
    log = read_log(data | {"q": q, "t": t}, ROBOT)
    assert np.isfinite(log.q).all() and (np.diff(log.t) > 0).all()
    told = {finding.rule: finding.value for finding in log.findings}
    assert told == {"broken samples": 2.0, "repeated stamps": 1.0, "backward stamps": pytest.approx(0.045)}
    assert len(log) == N - 2 - 1 - 5
    with pytest.raises(ShapeError, match="usable samples"):
        read_log(data | {"q": np.full((N, 3), np.nan)}, ROBOT)


def test_numbers_of_damaged_messages_are_left_out_and_told() -> None:
    """As in a public log of a UR10e, whose first samples have bytes in the wrong places."""
    data = values()
    q, t = data["q"].copy(), data["t"].copy()
    q[1], q[2, 0] = 253.0, -1.6e184
    t[4] = 3e259
    log = read_log(data | {"q": q, "t": t}, ROBOT)
    np.testing.assert_array_equal(log.q, np.delete(data["q"], [1, 2, 4], axis=0))
    assert {finding.rule: finding.value for finding in log.findings} == {"broken samples": 3.0}


def test_motion_at_the_end_of_a_log_at_rest_is_not_called_broken() -> None:
    data = values()
    q = np.tile(data["q"][:1], (N, 1))
    q[:, 0] = data["q"][:, 0]
    q[-1, 1:] += 0.5
    assert len(read_log(data | {"q": q}, ROBOT)) == N


def test_what_cannot_be_read(tmp_path: Path) -> None:
    data = values()
    for source, message in (
        (tmp_path / "none.csv", "no such file"),
        (tmp_path / "log.xyz", "unknown file type"),
        ("a\0b", "no such file"),
        ({"q": data["q"], "tau": data["tau"]}, "no time stamps"),
        ({"t": data["t"], "q": data["q"]}, "no columns of tau"),
        (data | {"tau": data["tau"][:5]}, "the same number of each"),
        (data | {"q": data["q"][:, :2]}, "q has 2 columns"),
        (data | {"q": np.array([["a"] * 3] * N)}, "numbers of shape"),
        (42, "cannot read a log from int"),
    ):
        (tmp_path / "log.xyz").write_text("1,2")
        with pytest.raises(ArmdynError, match=message):
            read_log(source, ROBOT)
    with pytest.raises(UnknownName, match="unknown side"):
        read_log(data, ROBOT, LogFormat(side="gear"))  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="unknown quantity"):
        read_log(data, ROBOT, LogFormat(units={"colour": "deg"}))
    with pytest.raises(FileError, match="no column tau for joint"):
        read_log({"t": data["t"], "q": data["q"], "tau1": data["tau"][:, 0]}, ROBOT)
    with pytest.raises(FileError, match="mean the same"):
        one = {f"tau{j + 1}": data["tau"][:, j] for j in range(3)}
        read_log({"t": data["t"], "q": data["q"], **one, "torque1": data["tau"][:, 0]}, ROBOT)
