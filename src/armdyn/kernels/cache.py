"""Object code on disk, so that a kernel is compiled once per machine; and notes that lead to it.

One file per kernel (.o) or note (.note), named by a hash of everything its content depends on. A file is a sealed
record: a hash over its name, the generator, the processor and the content. A damaged file, one under another's name and
one of another processor (in a home folder that several machines share) are noticed, ignored and written anew.

Machine code is loaded only from a folder that belongs to the user and that nobody else can write to; in it only from
regular files of the same kind, never through a symbolic link. Otherwise kernels are compiled each time, and a warning
says so once. Writers make a private file and move it into place, so readers never see half of one and two processes may
write the same kernel at the same time. On Windows, where owners and modes are not those of POSIX, the folder's access
control decides who can write to it.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import marshal
import os
import secrets
import stat
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache as once
from pathlib import Path

from armdyn.errors import PerformanceWarning
from armdyn.files import sealed, unsealed
from armdyn.kernels import jit, sources

VARIABLE = "ARMDYN_CACHE"
"""Environment variable with the folder to use; empty for none."""
LARGEST = 64 * 2**20
"""Bytes of a file; the code of a kernel has a few MB at most."""
MOST_FILES = 4000
"""Beyond this number the oldest half goes."""
LOOKED = 64
"""Files that a process writes until it counts them again, which takes milliseconds where there are thousands."""
POSIX = os.name == "posix"
_written = itertools.count()


def folder() -> Path | None:
    """Where kernels are kept: $ARMDYN_CACHE, or the platform's place for such files."""
    chosen = os.environ.get(VARIABLE)
    if chosen is not None:
        return Path(chosen) if chosen else None
    try:
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "armdyn"
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "armdyn" / "Cache"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "armdyn"
    except RuntimeError:  # no home
        return None


@once
def generator_version() -> str:
    """A hash of the code that generates code: kernels of another version are never loaded.

    If the files may not be those that are running, it is valid for this process only.
    """
    return sources.version("kernels") or secrets.token_hex(32)


def key(*parts: object) -> str:
    """The name of a file, by all that its content depends on."""
    return hashlib.sha256("\0".join(map(str, (generator_version(), *parts))).encode()).hexdigest()[:40]


def load(name: str, kind: str = "o") -> bytes | None:
    """The object code (or note, "note") of that name for this machine, if there is a sound file."""
    try:
        with _opened_folder(create=False) as place:
            return None if place is None else unsealed(_content(place, f"{name}.{kind}"), *_bound(name, kind))
    except OSError:
        return None


def save(name: str, image: bytes, kind: str = "o") -> None:
    """Keep object code (or a note, "note") for the next time, if possible."""
    with contextlib.suppress(OSError), _opened_folder(create=True) as place:
        if place is not None:
            _write(place, f"{name}.{kind}", sealed(image, *_bound(name, kind)))
            if next(_written) % LOOKED == 0:
                _thin_out(place)


def obtained(
    name: str, images: Callable[[], list[bytes]], loaded: Callable[[Sequence[bytes]], jit.Code], *, keep: bool = True
) -> tuple[jit.Code, bool]:
    """Machine code, and whether it came from the disk; if not, it is compiled and kept there for the next time.

    images: compiles its modules. loaded: makes code of them; RuntimeError for modules that this process cannot use.
    """
    content = load(name) if keep else None
    if content is not None:
        with contextlib.suppress(RuntimeError, ValueError, EOFError, TypeError):  # sound, but not modules, or not ours
            return loaded(marshal.loads(content)), True
    made = images()
    if keep:
        save(name, marshal.dumps(made))
    return loaded(made), False


def _bound(name: str, kind: str) -> tuple[str, ...]:
    """What a file is bound to besides its content."""
    return name, kind, generator_version(), jit.machine_description()


# The folder ---------------------------------------------------------------------------------------------------------


class _Folder:
    """An open folder. Its files are named relative to its descriptor, so that it cannot be exchanged meanwhile."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY) if POSIX else None

    def open(self, name: str, flags: int) -> int:
        flags |= getattr(os, "O_BINARY", 0)
        if self.descriptor is None:
            return os.open(self.path / name, flags, 0o600)
        return os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600, dir_fd=self.descriptor)

    def replace(self, source: str, target: str) -> None:
        if self.descriptor is None:
            os.replace(self.path / source, self.path / target)
        else:
            os.replace(source, target, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)

    def remove(self, name: str) -> None:
        if self.descriptor is None:
            os.unlink(self.path / name)
        else:
            os.unlink(name, dir_fd=self.descriptor)

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)


@contextlib.contextmanager
def _opened_folder(create: bool) -> Iterator[_Folder | None]:
    """The folder of kernels, if there is one and only the user can write to it."""
    path = folder()
    if path is None:
        yield None
        return
    if create:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = _Folder(path)
    try:
        fault = "" if place.descriptor is None else _fault(os.fstat(place.descriptor))
        if fault:
            _notice(str(path), fault)
        yield None if fault else place
    finally:
        place.close()


def _content(place: _Folder, name: str) -> bytes:
    """The bytes of a file that only the user can write to; none for anything else."""
    with open(place.open(name, os.O_RDONLY), "rb") as file:
        found = os.fstat(file.fileno())
        fault = _fault(found) if POSIX else ""
        if fault:
            _notice(str(place.path / name), fault)
        if fault or not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST:
            return b""
        return file.read(LARGEST)


def _write(place: _Folder, name: str, record: bytes) -> None:
    temporary = f"{secrets.token_hex(8)}.tmp"
    try:
        with open(place.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(record)
        place.replace(temporary, name)
    except BaseException:
        with contextlib.suppress(OSError):
            place.remove(temporary)
        raise


def _fault(found: os.stat_result) -> str:
    """Why a file or folder of this owner and mode is not trusted."""
    if found.st_uid != os.geteuid():
        return "belongs to another user"
    return "can be written to by other users" if found.st_mode & 0o022 else ""


@once
def _notice(place: str, fault: str) -> None:
    """Warn once of a place that is not used."""
    warnings.warn(
        f"{place} {fault}: machine code is not loaded from there, and kernels are compiled each time. "
        f"Change its owner or mode (chmod 700), or name another folder by {VARIABLE}.",
        PerformanceWarning,
        stacklevel=2,
    )


def _thin_out(place: _Folder) -> None:
    files = [entry for entry in os.scandir(place.path) if entry.name.endswith((".o", ".note", ".tmp"))]
    if len(files) > MOST_FILES:
        files.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime)
        for entry in files[: len(files) // 2]:
            with contextlib.suppress(OSError):
                place.remove(entry.name)
