"""Files: complete or not there, never through a link, regular ones only."""

from __future__ import annotations

import ast
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from armdyn import files
from armdyn.errors import FileError

SOURCE = Path(__file__).parents[2] / "src" / "armdyn"
posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and devices of POSIX")


def left_behind(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if ".part" in path.name]


def test_a_failing_writer_leaves_the_old_file(tmp_path: Path) -> None:
    target = files.write_text(tmp_path / "deep" / "a.txt", "old\n")
    with pytest.raises(RuntimeError, match="stop"), files.writing(target) as part:
        part.write_text("half")
        raise RuntimeError("stop")
    assert target.read_text() == "old\n" and left_behind(target.parent) == []


@posix
def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    target = files.write_text(tmp_path / "a.txt", "old\n")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(FileError, match="a.txt: cannot be written"):
            files.write_text(target, "new" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert target.read_text() == "old\n" and left_behind(tmp_path) == []
    with pytest.raises(FileError, match="No space left"):
        files.write_text("/dev/full", "text")


@posix
def test_a_killed_writer_leaves_the_old_file(tmp_path: Path) -> None:
    target = files.write_text(tmp_path / "a.txt", "old\n")
    script = f"from armdyn import files\nwhile True: files.write_text({str(target)!r}, 'new' * 10**6)"
    for pause in (0.3, 0.35, 0.4, 0.45):
        process = subprocess.Popen([sys.executable, "-c", script], env={**os.environ})
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert target.read_text() in ("old\n", "new" * 10**6)


@posix
def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    precious = files.write_text(tmp_path / "precious.txt", "keep me")
    link = tmp_path / "link.txt"
    link.symlink_to(precious)
    files.write_text(link, "new")
    assert precious.read_text() == "keep me"
    assert link.read_text() == "new" and not link.is_symlink()


@posix
def test_devices_are_written_to_and_stay(tmp_path: Path) -> None:
    files.write_text("/dev/null", "text")
    assert Path("/dev/null").is_char_device()


def test_existing_files_are_protected(tmp_path: Path) -> None:
    old = files.write_text(tmp_path / "old.txt", "old")
    with files.protecting_existing():
        with pytest.raises(FileError, match="exists already.*--force"):
            files.write_text(old, "new")
        new = files.write_text(tmp_path / "new.txt", "1")
        files.write_text(new, "2")  # its own file
        files.write_text(old, "progress", own=True)
        with pytest.raises(FileError, match="and 1 more: exist already"):
            others = [files.write_text(tmp_path / f"{k}.txt", "", own=True) for k in range(6)]
            with files.protecting_existing():
                files.require_free(others)
    files.write_text(new, "3")


def test_names_that_cannot_be_written(tmp_path: Path) -> None:
    file = files.write_text(tmp_path / "file", "")
    for target in (tmp_path, file / "below", tmp_path / ("x" * 300), f"{tmp_path}/a\0b"):
        with pytest.raises(FileError):
            files.write_text(target, "text")


@posix
def test_only_regular_files_are_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    link = tmp_path / "link"
    link.symlink_to("/dev/zero")
    for path in (pipe, link, tmp_path, Path("/dev/null"), tmp_path / "missing", Path("a\0b")):
        with pytest.raises(FileError):
            files.regular_size(path)
    file = files.write_bytes(tmp_path / "file", b"x" * 11)
    assert files.regular_size(file, 11) == 11
    with pytest.raises(FileError, match="at most"):
        files.regular_size(file, 10)


def test_seals(tmp_path: Path) -> None:
    record = files.sealed(b"content", "sweep", 3)
    assert files.unsealed(record, "sweep", 3) == b"content"
    assert files.unsealed(record, "sweep", 4) is None
    assert files.unsealed(record, "swee", "p3") is None
    assert files.unsealed(b"", "sweep", 3) is None
    for place in range(len(record)):
        damaged = record[:place] + bytes([record[place] ^ 4]) + record[place + 1 :]
        assert files.unsealed(damaged, "sweep", 3) is None


IN_MEMORY = {"report/figures/style.py": "savefig(", "sweeps/chunks.py": "np.save("}
WRITERS = {"write_text", "write_bytes", "savetxt", "save", "savez", "savez_compressed", "savefig", "write_table"}


def test_all_files_are_written_through_this_module() -> None:
    """A call that writes stands in a `with writing(...)`, or it is one of `armdyn.files`."""
    found = []
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if name in ("files.py", "kernels/cache.py"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inside = {
            id(node)
            for block in ast.walk(tree)
            if isinstance(block, ast.With) and "writing(" in ast.unparse(block.items[0])
            for node in ast.walk(block)
        }
        for node in ast.walk(tree):
            in_memory = name in IN_MEMORY and isinstance(node, ast.Call) and IN_MEMORY[name] in ast.unparse(node)
            if isinstance(node, ast.Call) and id(node) not in inside and not in_memory and _writes(node):
                found.append(f"{name}:{node.lineno} {ast.unparse(node)[:80]}")
    assert found == []


def _writes(call: ast.Call) -> bool:
    text = ast.unparse(call)
    if isinstance(call.func, ast.Attribute) and call.func.attr in WRITERS:
        owner = ast.unparse(call.func.value)
        return call.func.attr != "save" or owner == "np"
    return ".open(" in text.partition("(")[0] + "(" and any(mode in text for mode in ("'w", "'a", "'x"))
