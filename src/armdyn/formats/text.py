"""Reading files that may be missing, huge, or not text at all; the notes that readers leave."""

from __future__ import annotations

from pathlib import Path

from armdyn.errors import FileError
from armdyn.files import regular_size

LARGEST_FILE = 16 * 2**20
MIMIC = "mimics "
"""Start of a reader's note on a joint that should follow another one and is read as independent."""
NOT_READ = "not read: "
"""Start of a reader's note on something in the file that a Robot cannot represent."""


def read_text(path: Path) -> str:
    """Return the text of a file: UTF-8, at most 16 MiB, with the line ends it has."""
    try:
        regular_size(path, LARGEST_FILE)
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise FileError("the file is not UTF-8 text", where=str(path)) from None
    except ValueError as error:
        raise FileError(f"cannot be a file name: {error}", where=repr(str(path))) from None
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", where=str(path)) from None
