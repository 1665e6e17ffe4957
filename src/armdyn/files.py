"""Files: only regular ones are read, they are written completely or not at all, and records are sealed against damage.

A writer fills a private file beside its target and moves it into place. A reader therefore never sees half a file, and
a full disk or a killed process leaves the old one as it was. The move replaces a symbolic link, not what it points to.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path

from armdyn.errors import ArmdynError, FileError

MEBI = 2**20
LARGEST_FILE = 1024 * MEBI
MOST_NUMBERS = 2**25
"""In one file: 256 MiB as float64, or 20 minutes of 28 columns at 1 kHz."""
MOST_COLUMNS = 10_000
ADVICE = "Shorten or decimate it, or load it yourself and pass arrays."
_WRITTEN: ContextVar[set[Path] | None] = ContextVar("_WRITTEN", default=None)
"""Files written since existing ones are protected; None: they are not protected."""


# Reading ------------------------------------------------------------------------------------------------------------


def regular_size(path: Path, largest: int | None = None) -> int:
    """Size of a regular file in bytes; FileError for anything else (a device or a pipe may never end).

    path: symbolic links are followed.
    largest: bytes that are accepted (default: any number).
    """
    try:
        found = path.stat()
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", where=str(path)) from None
    except ValueError as error:
        raise FileError(f"cannot be a file name: {error}", where=repr(str(path))) from None
    if not stat.S_ISREG(found.st_mode):
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "a device or a pipe"
        raise FileError(f"cannot be read: {what}", where=str(path), expected="a regular file")
    if largest is not None and found.st_size > largest:
        raise FileError(
            f"the file has {found.st_size / MEBI:.0f} MiB",
            where=str(path),
            expected=f"at most {largest / MEBI:.0f} MiB",
        )
    return found.st_size


def require_size(path: Path) -> int:
    """Size of a file, or of those in a folder, in bytes; FileError if it is not a regular file, or too large."""
    if path.is_dir():
        return sum(require_size(entry) for entry in sorted(path.iterdir()) if not entry.is_dir())
    return regular_size(path, LARGEST_FILE)


def require_numbers(path: Path, numbers: int, columns: int = 1) -> None:
    """Raise FileError if a file holds, or says that it holds, more numbers or columns than are read."""
    if columns > MOST_COLUMNS:
        raise FileError(f"{columns} columns", where=str(path), expected=f"at most {MOST_COLUMNS}", advice=ADVICE)
    if numbers > MOST_NUMBERS:
        raise FileError(
            f"{numbers} numbers, {numbers * 8 / MEBI:.0f} MiB",
            where=str(path),
            expected=f"at most {MOST_NUMBERS} numbers",
            advice=ADVICE,
        )


@contextlib.contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Whatever a reader, ours or a library's, makes of a damaged file becomes a FileError that names the file.

    kind: what the file should be, as in "a Parquet file".
    """
    try:
        require_size(path)
        yield
    except ArmdynError:
        raise
    except MemoryError:
        raise FileError("needs more memory than there is", where=str(path), advice=ADVICE) from None
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise FileError(
            f"cannot be read: {reason or 'no reason given'} ({type(error).__name__})",
            where=str(path),
            expected=f"{kind}, undamaged",
            advice="Write it again, or convert it to .csv.",
        ) from None


# Writing ------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def protecting_existing() -> Iterator[None]:
    """Within this block, writing over a file that existed before is a FileError."""
    token = _WRITTEN.set(set())
    try:
        yield
    finally:
        _WRITTEN.reset(token)


def require_free(paths: Iterable[Path]) -> None:
    """Raise FileError if existing files are protected and one of the paths exists; ask before long work."""
    written = _WRITTEN.get()
    taken = [] if written is None else [path for path in paths if os.path.lexists(path) and path not in written]
    taken = [path for path in taken if _replaceable(path)]
    if taken:
        listed = ", ".join(map(str, taken[:5])) + (f" and {len(taken) - 5} more" if len(taken) > 5 else "")
        raise FileError(
            "exists already" if len(taken) == 1 else "exist already",
            where=listed,
            advice="Choose another name, or replace with --force.",
        )


@contextlib.contextmanager
def writing(path: str | Path, *, own: bool = False) -> Iterator[Path]:
    """Give the path of a private file to be filled, and move it to `path` when the block ends without an error.

    path: its folder is created; a device or pipe is written to directly.
    own: the file is kept by armdyn itself (a cache, progress), so that an older one may be replaced at any time.

    Raises FileError if it cannot be written.
    """
    target = Path(path)
    if os.path.isdir(target):
        raise FileError("cannot be written: it is a folder", where=str(target), expected="the name of a file")
    if not own:
        require_free([target])
    part = target.with_name(f".{secrets.token_hex(8)}.part{target.suffix}") if own or _replaceable(target) else target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            if part is not target:
                os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            yield part
            if part is not target:
                os.replace(part, target)
        except BaseException:
            if part is not target:
                with contextlib.suppress(OSError):
                    part.unlink()
            raise
    except OSError as error:
        raise FileError(
            f"cannot be written: {error.strerror or error}", where=str(target), advice="Choose another place."
        ) from None
    except ValueError as error:
        if "null byte" not in str(error):
            raise
        raise FileError(f"cannot be a file name: {error}", where=repr(str(target))) from None
    written = _WRITTEN.get()
    if written is not None:
        written.add(target)


def write_bytes(path: str | Path, content: bytes, *, own: bool = False) -> Path:
    """Write a file and return its path; see `writing`."""
    with writing(path, own=own) as part:
        part.write_bytes(content)
    return Path(path)


def write_text(path: str | Path, text: str, *, own: bool = False) -> Path:
    """Write a text in UTF-8, with the line ends it has, and return the path; see `writing`."""
    return write_bytes(path, text.encode("utf-8"), own=own)


def create_folder(folder: Path) -> Path:
    """Return the folder, created if necessary."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot be created: {error.strerror}", where=str(folder)) from None
    return folder


def _replaceable(path: Path) -> bool:
    """Whether a file can be moved to this place: devices and pipes are never replaced."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return True
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


# Sealed records -----------------------------------------------------------------------------------------------------

_SEAL = b"armdyn sealed 1\n"


def sealed(content: bytes, *bound: object) -> bytes:
    """The content behind a hash of itself and of all that it is bound to: another file's content is never accepted."""
    return _SEAL + _digest(content, bound) + content


def unsealed(record: bytes, *bound: object) -> bytes | None:
    """The content of a sealed record; None if it is damaged or bound to something else."""
    start = len(_SEAL) + 32
    content = record[start:]
    return content if record[:start] == _SEAL + _digest(content, bound) else None


def _digest(content: bytes, bound: tuple[object, ...]) -> bytes:
    digest = hashlib.sha256()
    for part in (*(str(value).encode() for value in bound), content):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()
