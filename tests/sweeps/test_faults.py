"""Sweeps under faults: damaged files, full disks, killed workers, schedulers and drivers. Results never change."""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, FileError
from armdyn.files import sealed, unsealed
from armdyn.sweeps import sweep
from support.limits import waiting_is_a_failure

VARY: dict[str, Any] = {"l2": np.linspace(0.2, 0.5, 4), "payload": [0.0, 1.0, 2.0]}
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.fixture(scope="module")
def whole() -> Any:
    return sweep(armdyn.load("planar2r"), VARY, chunk=2).results


def test_every_bit_of_a_chunk_counts(tmp_path: Path, whole: Any) -> None:
    robot = armdyn.load("planar2r")
    sweep(robot, VARY, chunk=2, folder=tmp_path)
    file = tmp_path / "chunk_000002.sealed"
    sound = file.read_bytes()
    for place in range(0, len(sound), 37):
        file.write_bytes(sound[:place] + bytes([sound[place] ^ 16]) + sound[place + 1 :])
        again = sweep(robot, VARY, chunk=2, folder=tmp_path)
        assert again.taken == 5, place
        np.testing.assert_array_equal(again.results, whole)
    assert file.read_bytes() == sound


def test_chunks_that_are_not_this_one(tmp_path: Path, whole: Any) -> None:
    """Exchanged chunks, a pipe, a link to a device, and one of another sweep."""
    robot = armdyn.load("planar2r")
    sweep(robot, VARY, chunk=2, folder=tmp_path)
    files = sorted(tmp_path.glob("chunk*"))
    shutil.copy(files[0], files[1])
    again = sweep(robot, VARY, chunk=2, folder=tmp_path)
    assert again.taken == 5
    np.testing.assert_array_equal(again.results, whole)
    if os.name == "posix":
        files[0].unlink()
        os.mkfifo(files[0])
        files[1].unlink()
        files[1].symlink_to("/dev/zero")
        with waiting_is_a_failure():
            np.testing.assert_array_equal(sweep(robot, VARY, chunk=2, folder=tmp_path).results, whole)
    files[3].write_bytes(sealed(b"nonsense", "another sweep", 3))
    assert sweep(robot, VARY, chunk=2, folder=tmp_path).taken == 5


def test_numbers_of_another_type_or_shape_under_the_right_seal(tmp_path: Path, whole: Any) -> None:
    robot = armdyn.load("planar2r")
    sweep(robot, VARY, chunk=2, folder=tmp_path)
    file, fingerprint = (
        tmp_path / "chunk_000003.sealed",
        json.loads((tmp_path / "sweep.json").read_text())["fingerprint"],
    )
    right = np.load(io.BytesIO(unsealed(file.read_bytes(), fingerprint, 3) or b""))
    for wrong in (right.astype(np.float32), right.astype(np.int64), right.astype(complex), right[:1], right[:, 1:]):
        content = io.BytesIO()
        np.save(content, wrong)
        file.write_bytes(sealed(content.getvalue(), fingerprint, 3))
        again = sweep(robot, VARY, chunk=2, folder=tmp_path)
        assert again.taken == 5, wrong.dtype
        np.testing.assert_array_equal(again.results, whole)


@pytest.mark.parametrize("content", [b"[]", b"{}", b"\xff\xfe", b"{" * 60000, b"[" * 60000, b'{"fingerprint": 3}'])
def test_a_folder_with_a_broken_mark_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "sweep.json").write_bytes(content)
    with pytest.raises(FileError):
        sweep(armdyn.load("planar2r"), VARY, folder=tmp_path)
    assert (tmp_path / "sweep.json").read_bytes() == content


@posix
def test_a_full_disk(tmp_path: Path, whole: Any) -> None:
    robot = armdyn.load("planar2r")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (150, before[1]))
    try:
        with pytest.raises(FileError, match="cannot be written"):
            sweep(robot, VARY, chunk=2, folder=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not [path for path in tmp_path.iterdir() if ".part" in path.name]
    np.testing.assert_array_equal(sweep(robot, VARY, chunk=2, folder=tmp_path).results, whole)


# Local processes ------------------------------------------------------------------------------------------------------

DRIVER = """
import sys
import numpy as np
import armdyn
if __name__ == "__main__":
    vary = {"l2": np.linspace(0.2, 0.5, 4), "payload": [0.0, 1.0, 2.0]}
    scheduler = sys.argv[2] if len(sys.argv) > 2 else 2
    scheduler = int(scheduler) if str(scheduler).isdigit() else scheduler
    def say(step, done):
        print(step, flush=True)
    found = armdyn.sweep(armdyn.load("planar2r"), vary, chunk=2, folder=sys.argv[1], scheduler=scheduler, progress=say)
    np.save(sys.argv[1] + "/all.npy", found.results)
"""


def driver(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    script = folder.parent / "driver.py"
    script.write_text(DRIVER)
    return subprocess.Popen([sys.executable, str(script), str(folder), *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env={**os.environ})  # fmt: skip


def children(pid: int) -> list[int]:
    """Processes that a process started, from the system."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if int(fields[1]) == pid and b"spawn_main" in command:
                found.append(int(entry.name))
    return found


def ports(pid: int) -> list[str]:
    """TCP addresses at which a process listens, from the system."""
    sockets = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            sockets.add(os.readlink(descriptor).removeprefix("socket:[").removesuffix("]"))
    rows = [line.split() for name in ("tcp", "tcp6") if (table := Path("/proc/net") / name).exists()
            for line in table.read_text().splitlines()[1:]]  # fmt: skip
    return [row[1] for row in rows if row[3] == "0A" and row[9] in sockets]


def wait_for(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen")


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no /proc")
def test_a_killed_worker(tmp_path: Path, whole: Any) -> None:
    """A new one takes its place. Neither driver nor workers open a port that others could reach."""
    folder = tmp_path / "chunks"
    process = driver(folder, "2")
    workers = wait_for(lambda: children(process.pid))
    assert [address for pid in (process.pid, *workers) for address in ports(pid)] == []
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    np.testing.assert_array_equal(np.load(folder / "all.npy"), whole)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no /proc")
def test_a_killed_driver(tmp_path: Path, whole: Any) -> None:
    """Its workers end too, and the next driver takes what is finished."""
    folder = tmp_path / "chunks"
    process = driver(folder, "2")
    assert process.stdout is not None
    process.stdout.readline()  # a chunk is finished
    workers = children(process.pid)
    process.kill()
    process.communicate()
    wait_for(lambda: not [pid for pid in workers if Path(f"/proc/{pid}").exists()])
    found = sweep(armdyn.load("planar2r"), VARY, chunk=2, folder=folder)
    assert found.taken >= 1
    np.testing.assert_array_equal(found.results, whole)


def test_two_drivers_on_one_folder(tmp_path: Path, whole: Any) -> None:
    folder = tmp_path / "chunks"
    both = [driver(folder, "1") for _ in range(2)]
    for process in both:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    np.testing.assert_array_equal(np.load(folder / "all.npy"), whole)
    assert sweep(armdyn.load("planar2r"), VARY, chunk=2, folder=folder).taken == 6


def test_absurd_numbers_of_processes() -> None:
    for count in (0, -1, 10**9):
        with pytest.raises(ArmdynError, match="scheduler = "):
            sweep(armdyn.load("planar2r"), VARY, scheduler=count)


# A cluster on loopback ------------------------------------------------------------------------------------------------


class Cluster:
    """A real Dask scheduler and workers, each a process."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                                    "--scheduler-file", str(self.file))  # fmt: skip
        wait_for(self.file.exists)
        self.workers = [self.worker(), self.worker()]

    def worker(self) -> subprocess.Popen[bytes]:
        return self.start("worker", "--scheduler-file", str(self.file), "--nthreads", "1", "--no-nanny",
                          "--no-dashboard", "--local-directory", str(self.folder))  # fmt: skip

    def start(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli.dask_" + kind, *arguments]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ})
        self.processes.append(process)
        return process

    @property
    def address(self) -> str:
        return str(json.loads(self.file.read_text())["address"])

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    pytest.importorskip("distributed", reason="Dask is not installed")
    made = Cluster(tmp_path)
    yield made
    made.close()


@posix
def test_a_killed_driver_and_a_killed_worker_of_a_cluster(tmp_path: Path, cluster: Cluster, whole: Any) -> None:
    """The next driver takes what the first one finished, on the same cluster, and does without the killed worker."""
    folder = tmp_path / "chunks"
    first = driver(folder, cluster.address)
    assert first.stdout is not None
    first.stdout.readline()  # a chunk is finished
    first.kill()
    first.communicate()
    assert list(folder.glob("chunk*"))
    second = driver(folder, cluster.address)
    assert second.stdout is not None
    second.stdout.readline()
    cluster.workers[0].kill()
    _, err = second.communicate(timeout=120)
    assert second.returncode == 0, err
    np.testing.assert_array_equal(np.load(folder / "all.npy"), whole)


@posix
def test_a_killed_scheduler_of_a_cluster(tmp_path: Path, cluster: Cluster, whole: Any) -> None:
    """An error that says what to do; what was finished is kept."""
    folder = tmp_path / "chunks"
    assert ports(cluster.scheduler.pid)  # that of the cluster is seen

    def stop(step: str, done: float) -> None:
        if step.startswith("1 of"):
            cluster.scheduler.kill()
            cluster.scheduler.wait()

    robot = armdyn.load("planar2r")
    try:
        found = sweep(robot, VARY, chunk=2, folder=folder, scheduler=cluster.address, progress=stop)
    except ArmdynError as error:
        assert "Run the sweep again" in str(error)
        found = sweep(robot, VARY, chunk=2, folder=folder)
        assert found.taken >= 1
    np.testing.assert_array_equal(found.results, whole)


def test_no_scheduler_there() -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    import dask

    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}), pytest.raises(ArmdynError, match="no Dask"):
        sweep(armdyn.load("planar2r"), VARY, scheduler="tcp://127.0.0.1:1")
    del distributed
