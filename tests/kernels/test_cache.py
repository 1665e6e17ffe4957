"""Object code on disk: found again, never trusted blindly, never in the way."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from armdyn.dynamics.looped.tables import looped
from armdyn.errors import PerformanceWarning
from armdyn.graph import Graph, trace
from armdyn.kernels import build, cache, jit, restored, sources
from armdyn.kernels.ports import KernelRecord
from armdyn.robot.random import random_robot
from support.limits import waiting_is_a_failure

posix = pytest.mark.skipif(os.name != "posix", reason="owners, modes and pipes of POSIX")


def graph(factor: float = 2.5) -> Graph:
    return trace(lambda q: [q[0].sin() * factor, q[1] + q[0]], {"q": 2})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "deep" / "cache"
    cache._notice.cache_clear()
    monkeypatch.setenv(cache.VARIABLE, str(place))
    return place


def check(kernel: Any, factor: float = 2.5) -> None:
    np.testing.assert_allclose(kernel([0.5, 2.0]), [np.sin(0.5) * factor, 2.5], rtol=1e-15)


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def test_found_again(folder: Path) -> None:
    first, second = build(graph()), build(graph(), "other name")
    assert (first.from_cache, second.from_cache) == (False, True)
    check(first)
    check(second)
    assert len(files(folder)) == 1


@pytest.mark.skipif(not jit.available(), reason="machine code only")
def test_looped_code_is_found_again(folder: Path) -> None:
    """With the counts of its operations, which are kept beside it: one of the two is not enough."""
    robot, q = random_robot(1, 5), np.linspace(-1, 1, 5)

    def made(cache: bool = True) -> Any:
        kernel = looped(robot, "mass_matrix", cache=cache)
        assert kernel is not None
        return kernel

    kernels = [made(cache=False), made(), made()]
    assert [kernel.from_cache for kernel in kernels] == [False, False, True]
    for kept in files(folder):
        kept.unlink()
        kernels += [made(), made()]
        assert [kernel.from_cache for kernel in kernels[-2:]] == [False, True]
    for kernel in kernels[1:]:
        assert kernel.operations == kernels[0].operations
        np.testing.assert_array_equal(kernel(q), kernels[0](q))


def test_each_program_has_its_own(folder: Path) -> None:
    build(graph(2.5))
    build(graph(2.5 + 1e-15))
    build(graph(2.5), lanes=12 - jit.register_lanes())  # 4 where the processor has 8, and 8 where it has 4
    build(trace(lambda q: [q[0].cos() * 2.5, q[1] + q[0]], {"q": 2}))
    build(trace(lambda q: [q[1].sin() * 2.5, q[1] + q[0]], {"q": 2}))
    build(trace(lambda q: [q[0].sin() * 2.5, q[1] + q[0]], {"q": 3}))
    assert len(files(folder)) == 6


def test_the_names_of_symbols_do_not_matter(folder: Path) -> None:
    build(trace(lambda q: [q[0].sin(), abs(q[1])], {"q": 2}))
    assert build(trace(lambda x: [x[0].sin(), abs(x[1])], {"x": 2})).from_cache


def test_other_machines_and_versions_have_their_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(graph())
    with monkeypatch.context() as patch:
        patch.setattr(jit, "machine_description", lambda: "another machine")
        assert not build(graph()).from_cache
    with monkeypatch.context() as patch:
        patch.setattr(cache, "generator_version", lambda: "another version")
        assert not build(graph()).from_cache
    assert build(graph()).from_cache


DAMAGE = {
    "truncated": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "one bit": lambda content: content[:200] + bytes([content[200] ^ 1]) + content[201:],
    "longer": lambda content: content + b"x",
    "other header": lambda content: b"another kernel 1\n" + content[17:],
    "text": lambda content: b"hello",
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_files_are_ignored_and_written_anew(folder: Path, name: str) -> None:
    build(graph())
    (file,) = files(folder)
    sound = file.read_bytes()
    file.write_bytes(DAMAGE[name](sound))
    kernel = build(graph())
    assert not kernel.from_cache
    check(kernel)
    assert len(file.read_bytes()) == len(sound)
    assert build(graph()).from_cache


def test_sound_file_with_useless_code(folder: Path) -> None:
    build(graph())
    (file,) = files(folder)
    cache.save(file.stem, b"no object code at all")
    kernel = build(graph())
    assert not kernel.from_cache
    check(kernel)


def test_without_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(build(graph(), cache=False))
    assert not folder.exists()
    monkeypatch.setenv(cache.VARIABLE, "")
    assert cache.folder() is None
    check(build(graph()))
    assert not build(graph()).from_cache


def test_folder_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    for place in (file, file / "below", "/proc/no/such/place"):
        monkeypatch.setenv(cache.VARIABLE, str(place))
        check(build(graph()))
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(stat.S_IRUSR | stat.S_IXUSR)
    monkeypatch.setenv(cache.VARIABLE, str(closed))
    check(build(graph()))


@posix
def test_files_of_others_are_not_loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(graph())
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.warns(PerformanceWarning, match="belongs to another user"):
        kernel = build(graph())
    assert not kernel.from_cache
    check(kernel)


def test_two_exchanged_files_are_noticed(folder: Path) -> None:
    """Each is sound by itself; under the other's name it would compute the other function, or crash."""
    build(graph(2.5))
    build(trace(lambda q: [q[k] * q[k + 1] for k in range(7)], {"q": 8}))
    one, other = files(folder)
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)
    kernel = build(graph(2.5))
    assert not kernel.from_cache
    check(kernel)


def test_code_of_another_processor_is_not_loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even under the right name, as in a home folder that several machines share."""
    build(graph())
    (file,) = files(folder)
    image = cache.load(file.stem)
    assert image
    with monkeypatch.context() as patch:
        patch.setattr(jit, "machine_description", lambda: "another machine")
        cache.save(file.stem, image)
    kernel = build(graph())
    assert not kernel.from_cache
    check(kernel)
    with monkeypatch.context() as patch:
        patch.setattr(cache, "generator_version", lambda: "another version")
        cache.save(file.stem, image)
    assert not build(graph()).from_cache
    assert build(graph()).from_cache


@posix
def test_a_folder_that_others_can_write_to_is_not_used(folder: Path) -> None:
    build(graph())
    for mode in (0o777, 0o770, 0o702):
        folder.chmod(mode)
        cache._notice.cache_clear()
        with pytest.warns(PerformanceWarning, match="can be written to by other users"):
            kernel = build(graph())
        assert not kernel.from_cache
        check(kernel)
        check(build(graph()))  # one notice is enough: a second one would fail this test
    folder.chmod(0o755)
    assert build(graph()).from_cache


@posix
def test_a_file_that_others_can_write_to_is_not_loaded(folder: Path) -> None:
    build(graph())
    (file,) = files(folder)
    file.chmod(0o666)
    with pytest.warns(PerformanceWarning, match="can be written to by other users"):
        assert not build(graph()).from_cache
    assert stat.S_IMODE(files(folder)[0].stat().st_mode) == 0o600
    assert build(graph()).from_cache


@posix
def test_symbolic_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    build(graph())
    (file,) = files(folder)
    elsewhere = tmp_path / "elsewhere.o"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    assert not build(graph()).from_cache
    assert not file.is_symlink() and elsewhere.read_bytes() == before
    assert build(graph()).from_cache


@posix
def test_pipes_devices_and_folders_in_place_of_a_file(folder: Path) -> None:
    """None of them is waited for."""
    build(graph())
    (file,) = files(folder)
    file.unlink()
    os.mkfifo(file, 0o600)
    with waiting_is_a_failure():
        assert not build(graph()).from_cache
        assert build(graph()).from_cache
        file.unlink()
        file.mkdir(mode=0o700)
        check(build(graph()))
        file.rmdir()
        file.symlink_to("/dev/zero")
        check(build(graph()))
        assert build(graph()).from_cache


@posix
def test_the_folder_is_private(folder: Path) -> None:
    before = os.umask(0o002)
    try:
        build(graph())
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(files(folder)[0].stat().st_mode) == 0o600


def test_where_folders_have_no_descriptors(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows: files by their paths; owners and modes are not looked at."""
    monkeypatch.setattr(cache, "POSIX", False)
    build(graph())
    (file,) = files(folder)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 or os.name != "posix"
    file.chmod(0o666)
    again = build(graph())
    assert again.from_cache
    check(again)
    monkeypatch.setattr(cache, "MOST_FILES", 1)
    monkeypatch.setattr(cache, "LOOKED", 1)
    build(graph(3.5))
    assert len(files(folder)) == 1


def test_the_oldest_go_when_there_are_too_many(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_FILES", 4)
    monkeypatch.setattr(cache, "LOOKED", 1)
    for i in range(12):
        cache.save(f"{i:02}", b"image")
        os.utime(folder / f"{i:02}.o", (i, i))
    names = [file.stem for file in files(folder)]
    assert "11" in names and len(names) <= 4


def test_files_are_counted_now_and_then(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_FILES", 2 * cache.LOOKED)
    for i in range(4 * cache.LOOKED):
        cache.save(f"{i:03}", b"image")
        assert len(files(folder)) <= cache.MOST_FILES + cache.LOOKED


def test_usual_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(cache.VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache.folder() == Path("/somewhere/armdyn")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert str(cache.folder()).endswith("Library/Caches/armdyn")
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert cache.folder() == Path("/local/armdyn/Cache")
    monkeypatch.delenv("LOCALAPPDATA")
    assert cache.folder() == Path.home() / "AppData/Local/armdyn/Cache"


SCRIPT = """
import armdyn
from armdyn.errors import PerformanceWarning
from armdyn.graph import trace
from armdyn.kernels import build
from armdyn.mechanics import newton_euler
robot = armdyn.load("ur5")
graph = trace(lambda q, qd, qdd: newton_euler.inverse_dynamics(robot, q, qd, qdd), {"q": 6, "qd": 6, "qdd": 6})
kernel = build(graph)
print(kernel.call([0.1] * 6, [0.2] * 6, [0.3] * 6).tolist())
"""


def run(**environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-c", SCRIPT],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def test_two_processes_one_empty_folder_and_no_compiler(folder: Path) -> None:
    """Two at once into one empty folder, then a third; none of them finds any program on its PATH."""
    both = [run(ARMDYN_CACHE=str(folder), PATH="") for _ in range(2)]
    answers = [process.communicate(timeout=120) for process in both]
    third = run(ARMDYN_CACHE=str(folder), PATH="")
    answers.append(third.communicate(timeout=120))
    assert [process.returncode for process in (*both, third)] == [0, 0, 0], answers
    assert len({out for out, _ in answers}) == 1
    assert not any(err for _, err in answers)
    assert [file.suffix for file in files(folder)] == [".o"]


def test_the_version_covers_modules_of_subfolders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At every depth, but not the folder of compiled modules."""
    found = {Path(entry.path).relative_to(sources.HOME).as_posix() for entry in sources.files("kernels")}
    assert {"typing.py", "kernels/jit.py", "kernels/straight/budget.py", "kernels/looped/tiles.py"} <= found
    monkeypatch.setattr(sources, "HOME", tmp_path)
    for name in ("top.py", "a/one.py", "a/b/two.py", "a/b/c/three.py", "a/__pycache__/four.py", "other/five.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    names = sorted(Path(entry.path).stem for entry in sources.files("a"))
    assert names == ["one", "three", "top", "two"]


def test_a_record_and_its_graph_are_enough(folder: Path) -> None:
    """Also where the graph has an arctangent, which machine code does not know."""
    traced = trace(lambda q: [q[0].atan2(q[1]), q[0] * q[1]], {"q": 2})
    first = build(traced)
    again = restored(KernelRecord.of(json.loads(json.dumps(first.record.data()))), "again", lambda: traced)
    cold = restored(first.record, "cold", lambda: traced, cache=False)
    assert again.from_cache and not cold.from_cache
    states = np.random.default_rng(5).uniform(-1, 1, (9, 2))
    expected = np.column_stack([np.arctan2(*states.T), states[:, 0] * states[:, 1]])
    for kernel in (first, again, cold):
        np.testing.assert_allclose(kernel(states), expected, atol=1e-15)  # of angles up to pi: units in the last place
        np.testing.assert_array_equal(kernel(states)[3], kernel(states[3]))
    assert again.source() == first.source()
