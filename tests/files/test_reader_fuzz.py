"""Hostile files for the readers beside robots and logs: trajectories, progress of a search, metadata of a bag, tables
of `explain`, marks of sweeps, states and meshes of the studio.

ARMDYN_FUZZ sets the number of mutated files (default 1200: a quarter trajectories, an eighth each kind of progress
file, a fortieth of each of the others).
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.algebra import Pose
from armdyn.browser.saved_state import SavedState, read_address, read_state
from armdyn.browser.solids import _meshes
from armdyn.doctor.sides import Side, read_table
from armdyn.errors import ArmdynError
from armdyn.formats.visuals import Visual
from armdyn.identification import read_log
from armdyn.identification.excitation.progress_file import ProgressFile
from armdyn.identification.excitation.progress_file import checksum as checksum_of
from armdyn.trajectory import PiecewisePolynomial, point_to_point, read_trajectory
from support.limits import waiting_is_a_failure
from support.mutants import NASTY, all_end_well, mutated

COUNT = int(os.environ.get("ARMDYN_FUZZ", "1200"))
SETTINGS: dict[str, Any] = {"harmonics": 5, "robot": "planar2r"}


def read(path: Path, reader: Any, kind: type) -> str:
    """What came of a file, in a word; any other exception goes through, and so does a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = reader(path)
        except ArmdynError as error:
            assert str(error).strip() and len(str(error)) < 20_000
            return "errors"
    assert isinstance(found, kind)
    return "read"


def test_mutated_trajectories(tmp_path: Path) -> None:
    path = tmp_path / "motion.csv"
    point_to_point([0.0, 1.0], [1.0, -1.0], duration=1.0).save(path, dt=0.05)
    original = path.read_bytes()

    def outcome(i: int) -> str:
        path.write_bytes(mutated(f"trajectory{i}", original))
        return read(path, read_trajectory, PiecewisePolynomial)

    seen = all_end_well("trajectory", COUNT // 4, outcome)
    assert min(seen["read"], seen["errors"]) > COUNT // 200


def progress() -> dict[str, Any]:
    return {"settings": SETTINGS, "done": [[0.1, -0.2], [0.3, 0.4]], "stage": 1, "current": [0.5, 0.6]}


def sealed(content: str) -> bytes:
    return json.dumps({"sha256": checksum_of(content), "content": content}).encode()


@pytest.mark.parametrize("inside", [False, True], ids=["as bytes", "under a right checksum"])
def test_mutated_progress_files(tmp_path: Path, inside: bool) -> None:
    path = tmp_path / "search.json"
    content = json.dumps(progress())

    def outcome(i: int) -> str:
        data = mutated(f"progress{i}", content.encode() if inside else sealed(content))
        path.write_bytes(sealed(data.decode("latin-1")) if inside else data)
        return read(path, lambda file: ProgressFile.opened(file, SETTINGS), ProgressFile)

    assert all_end_well("progress", COUNT // 8, outcome)["errors"] > COUNT // 16


@pytest.mark.parametrize("text", [
    "[" * 100_000, '{"sha256": 1, "content": 1}', "[]", "3", '{"sha256": "", "content": null}',
    sealed("[" * 100_000).decode(),
    *(sealed(json.dumps({**progress(), **change})).decode() for change in (
        {"done": [[10**400]]}, {"done": [["a"]]}, {"done": 3}, {"stage": 1e400}, {"stage": None},
        {"stage": -1}, {"current": [float("nan")]}, {"current": [[1.0]]}, {"current": [1.0]})),
], ids=range(15))  # fmt: skip
def test_wrong_progress_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "search.json"
    path.write_text(text)
    with pytest.raises(ArmdynError, match="not a progress file"):
        ProgressFile.opened(path, SETTINGS)


def test_mutated_metadata_of_a_bag(tmp_path: Path) -> None:
    """The folder of a bag: metadata.yaml beside the data."""
    module = pytest.importorskip("rosbags.rosbag2", reason="rosbags is not installed")
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    JointState = store.types["sensor_msgs/msg/JointState"]
    Header, Time = store.types["std_msgs/msg/Header"], store.types["builtin_interfaces/msg/Time"]
    robot = armdyn.load("planar2r")
    folder = tmp_path / "bag"
    with module.Writer(folder, version=9) as writer:
        connection = writer.add_connection("/joint_states", JointState.__msgtype__, typestore=store)
        for k in range(24):
            row = [np.sin([0.1 * k + i, 0.2 * k + i]) for i in range(3)]
            message = JointState(
                Header(stamp=Time(sec=1 + k, nanosec=0), frame_id=""), [j.name for j in robot.joints], *row
            )
            writer.write(connection, 10**9 * (1 + k), store.serialize_cdr(message, JointState.__msgtype__))
    metadata = folder / "metadata.yaml"
    original = metadata.read_bytes()

    def outcome(i: int) -> str:
        metadata.write_bytes(mutated(f"metadata{i}", original))
        return read(folder, lambda path: read_log(path, robot), object)

    seen = all_end_well("metadata", COUNT // 40, outcome)
    assert seen["errors"] > COUNT // 80


def test_mutated_tables_of_explain(tmp_path: Path) -> None:
    path = tmp_path / "states.csv"
    rows = [",".join(f"{np.sin(k + i):.6f}" for i in range(8)) for k in range(10)]
    original = "\n".join(["q_a,q_b,qd_a,qd_b,qdd_a,qdd_b,tau_a,tau_b", *rows]).encode()

    def outcome(i: int) -> str:
        path.write_bytes(mutated(f"table{i}", original))
        return read(path, read_table, Side)

    assert outcome(144) == outcome(385) == "errors", "a head with more columns than the rows"
    seen = all_end_well("table", COUNT // 40, outcome)
    assert min(seen["read"], seen["errors"]) > COUNT // 800


def test_mutated_marks_of_sweeps(tmp_path: Path) -> None:
    """The mark that names this sweep is accepted, whatever stands around it; any other is an error."""
    robot, mark = armdyn.load("planar2r"), tmp_path / "sweep.json"

    def masses(folder: Path) -> Any:
        return armdyn.sweep(robot, {"l2": [0.2, 0.3]}, measures=["mass"], folder=folder)["mass"]

    masses(tmp_path)
    original = mark.read_bytes()

    def outcome(i: int) -> str:
        mark.write_bytes(mutated(f"mark{i}", original))
        return read(tmp_path, masses, np.ndarray)

    assert all_end_well("mark", COUNT // 40, outcome)["errors"] > COUNT // 80


@pytest.mark.parametrize("letters", [False, True], ids=["as text", "as an address"])
def test_mutated_states_of_the_studio(letters: bool) -> None:
    state = SavedState("scara5", (0.1, 0.2, 0.3, 0.4, 0.05), 1.5, False, ((0.0,) * 5,), (("m1", 2.0),))
    original = (state.address() if letters else state.json()).encode()

    def outcome(i: int) -> str:
        data = mutated(f"state{i}", original)
        try:
            found = read_address(data.decode("latin-1")) if letters else read_state(data)
        except ArmdynError:
            return "errors"
        assert np.isfinite([*found.q, found.payload]).all()
        return "read"

    assert all_end_well("state", COUNT // 40, outcome)["errors"] > COUNT // 400


@pytest.mark.parametrize("ending", ["dae", "stl", "obj"])
def test_mutated_meshes_that_are_drawn(tmp_path: Path, ending: str) -> None:
    """A mesh, or nothing is drawn; pipes are not waited for."""
    trimesh = pytest.importorskip("trimesh", reason="pip install armdyn[studio]")
    pytest.importorskip("collada", reason="pip install armdyn[studio]")
    path = tmp_path / f"mesh.{ending}"
    trimesh.creation.box((1.0, 2.0, 3.0)).export(path)
    shape = Visual("body", Pose.identity(), "mesh", (1.0, 1.0, 1.0), mesh=path)
    original = path.read_bytes()
    assert [len(mesh.faces) for mesh in _meshes(shape).values()] == [12]

    def outcome(i: int) -> str:
        path.write_bytes(mutated(f"drawn{i}", original))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of trimesh and NumPy about a file that is not drawn
            return "meshes" if _meshes(shape) else "nothing"

    all_end_well(ending, COUNT // 40, outcome)
    path.unlink()
    os.mkfifo(path)
    with waiting_is_a_failure():
        assert not _meshes(shape)


def test_times_that_differ_by_nothing(tmp_path: Path) -> None:
    """Powers of the time step underflow, and what is divided by them overflows."""
    path = tmp_path / "motion.csv"
    path.write_text("t,q1,qd1,qdd1\n0,0,1,1\n1e-250,5,1,1\n1,3,1,1\n")
    with pytest.raises(ArmdynError, match="overflows"):
        read_trajectory(path)


@pytest.mark.parametrize("token", NASTY, ids=range(len(NASTY)))
def test_nasty_cells_of_a_trajectory(tmp_path: Path, token: bytes) -> None:
    path = tmp_path / "motion.csv"
    for row in (b"0," + token, token + b",0", b"1," + token * 3):
        path.write_bytes(b"t,q1\n0,1\n" + row + b"\n2,3\n")
        read(path, read_trajectory, PiecewisePolynomial)
