"""Object code on disk, so that a kernel is compiled once per machine; and notes that lead to it.

One file per kernel (.o) or note (.note), named by a hash of everything its content depends on. A file starts with a
hash of its content, so a truncated or damaged one is noticed, ignored and written anew. Writers make a private file and
move it into place, so readers never see half of one and two processes may write the same kernel at the same time. Only
files of the user's own are loaded. A folder that cannot be written to is no error: kernels are then compiled each time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import sys
import tempfile
from functools import cache as once
from pathlib import Path

from armdyn.kernels import sources

VARIABLE = "ARMDYN_CACHE"
"""Environment variable with the folder to use; empty for none."""
MAGIC = b"armdyn kernel 1\n"
MOST_FILES = 4000
"""Beyond this number the oldest half goes."""


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
    """The object code (or note, "note") of that name, if there is a sound file."""
    place = folder()
    if place is None:
        return None
    try:
        with open(place / f"{name}.{kind}", "rb") as file:
            if hasattr(os, "getuid") and os.fstat(file.fileno()).st_uid != os.getuid():
                return None
            content = file.read()
    except OSError:
        return None
    start = len(MAGIC) + 32
    image = content[start:]
    sound = content[: len(MAGIC)] == MAGIC and content[len(MAGIC) : start] == hashlib.sha256(image).digest()
    return image if sound else None


def save(name: str, image: bytes, kind: str = "o") -> None:
    """Keep object code (or a note, "note") for the next time, if possible."""
    place = folder()
    if place is None:
        return
    with contextlib.suppress(OSError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + hashlib.sha256(image).digest() + image)
            os.replace(temporary, place / f"{name}.{kind}")
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _thin_out(place)


def _thin_out(place: Path) -> None:
    files = [entry for entry in os.scandir(place) if entry.name.endswith((".o", ".note", ".tmp"))]
    if len(files) > MOST_FILES:
        files.sort(key=lambda entry: entry.stat().st_mtime)
        for entry in files[: len(files) // 2]:
            with contextlib.suppress(OSError):
                os.unlink(entry.path)
