"""What a log may cost: sizes are compared with the file and with a limit before anything is read into memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from armdyn.errors import ArmdynError, FileError
from armdyn.files import MEBI, regular_size

LARGEST_FILE = 1024 * MEBI
MOST_NUMBERS = 2**25
"""In one file: 256 MiB as float64, or 20 minutes of 28 columns at 1 kHz."""
MOST_COLUMNS = 10_000
ADVICE = "Cut the log or decimate it, or load it yourself and pass arrays."


def require_size(path: Path) -> int:
    """Size of a log file in bytes; FileError if it is not a regular file, or too large."""
    if path.is_dir():
        return sum(require_size(entry) for entry in sorted(path.iterdir()) if not entry.is_dir())
    return regular_size(path, LARGEST_FILE)


def require_numbers(path: Path, numbers: int, columns: int = 1) -> None:
    """Raise FileError if a file holds, or says that it holds, more numbers or columns than are read."""
    if columns > MOST_COLUMNS:
        raise FileError(f"{columns} columns", where=str(path), expected=f"at most {MOST_COLUMNS}", advice=ADVICE)
    if numbers > MOST_NUMBERS:
        raise FileError(f"{numbers} numbers, {numbers * 8 / MEBI:.0f} MiB", where=str(path),
                        expected=f"at most {MOST_NUMBERS} numbers", advice=ADVICE)  # fmt: skip


@contextmanager
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
        raise FileError(f"cannot be read: {reason or 'no reason given'} ({type(error).__name__})", where=str(path),
                        expected=f"{kind}, undamaged",
                        advice="Write the log again, or convert it to .csv.") from None  # fmt: skip
