"""One deliberately broken file per error, with its exact message: the error texts are a reviewed document.

`broken/messages.txt` holds, for each file of the folder, a line `file | class of the error | message`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import armdyn
from armdyn.errors import ArmdynError, FileError
from armdyn.formats import mjcf, toml, urdf

FOLDER = Path(__file__).parent / "broken"
MESSAGES = [line.split(" | ") for line in (FOLDER / "messages.txt").read_text(encoding="utf-8").splitlines()]
FORMATS: dict[str, Any] = {".toml": toml, ".urdf": urdf, ".xml": mjcf}


@pytest.mark.parametrize(("name", "kind", "message"), MESSAGES, ids=[name for name, _, _ in MESSAGES])
def test_message(name: str, kind: str, message: str) -> None:
    path = FOLDER / name
    with pytest.raises(ArmdynError) as caught:
        FORMATS[path.suffix].loads(path.read_text(encoding="utf-8"), name)
    assert (type(caught.value).__name__, str(caught.value)) == (kind, message)


def test_every_broken_file_has_its_message() -> None:
    assert sorted(name for name, _, _ in MESSAGES) == sorted(p.name for p in FOLDER.iterdir() if p.suffix in FORMATS)


def test_every_message_says_where() -> None:
    for name, _, message in MESSAGES:
        assert message.startswith(name)


@pytest.mark.parametrize("ending", FORMATS)
def test_files_that_are_not_texts(ending: str, tmp_path: Path) -> None:
    missing, folder, bytes_, huge = (tmp_path / f"{kind}{ending}" for kind in ("missing", "folder", "bytes", "huge"))
    folder.mkdir()
    bytes_.write_bytes(b"\xff\xfe\x00name")
    with huge.open("wb") as file:
        file.truncate(17 * 2**20)
    expected = {
        missing: "cannot be read: No such file or directory.",
        folder: "cannot be read: a folder. Expected: a regular file.",
        bytes_: "the file is not UTF-8 text.",
        huge: "the file has 17 MiB. Expected: at most 16 MiB.",
    }
    for path, message in expected.items():
        with pytest.raises(FileError) as caught:
            armdyn.load(path)
        assert str(caught.value) == f"{path}: {message}"
