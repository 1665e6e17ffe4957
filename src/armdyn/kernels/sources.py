"""The version of this package that is running, as a hash of its files: the cache is valid for that version only."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

import armdyn

HOME = Path(armdyn.__file__).parent
SLACK = 2.0
"""Seconds by which a file system's clock may be behind or coarse."""


@cache
def version(*folders: str) -> str | None:
    """A hash of the files in these folders of the package; None if they may not be what this process runs."""
    if not settled(*folders):
        return None
    total = hashlib.sha256()
    for entry in sorted(files(*folders), key=lambda entry: entry.path):
        path = Path(entry.path)
        content = path.read_bytes()
        total.update(f"{path.relative_to(HOME).as_posix()} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def settled(*folders: str) -> bool:
    """Whether no file has changed since the package was imported: only then are the files those that run."""
    try:
        changes = [max(stat.st_mtime, stat.st_ctime) for stat in (entry.stat() for entry in files(*folders))]
    except OSError:
        return False
    return bool(changes) and max(changes) < armdyn.IMPORTED - SLACK


def still_settled(*folders: str) -> bool:
    """`settled` when the last module was imported: files that change later are not those that run.

    It is asked for with every program that is kept, and looking at all files takes a millisecond or two.
    """
    return _settled_with(frozenset(name for name in sys.modules if name.startswith("armdyn.")), folders)


@lru_cache(1)
def _settled_with(modules: frozenset[str], folders: tuple[str, ...]) -> bool:
    return settled(*folders)


def files(*folders: str) -> Iterator[os.DirEntry[str]]:
    """The modules at the top of the package, and those in these folders and below them."""
    yield from _modules(HOME, deep=False)
    for folder in folders:
        yield from _modules(HOME / folder, deep=True)


def _modules(folder: Path, *, deep: bool) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield entry
            elif deep and entry.is_dir() and entry.name != "__pycache__":
                yield from _modules(Path(entry.path), deep=True)
