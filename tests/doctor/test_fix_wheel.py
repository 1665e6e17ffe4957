"""fix on the files of the wheel: what it repairs is gone in the repaired file, nothing else changes, and the table of
the documentation tells it.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest

from armdyn.doctor import check
from armdyn.formats import read
from support.limits import FULL
from support.wheel import MISSING, wheel_files
from support.wheel_repairs import fixed, row

FILES = wheel_files()
PAGE = Path(__file__).parents[2] / "docs" / "choose" / "repairs.md"
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@pytest.mark.skipif(not FILES, reason=MISSING)
@pytest.mark.parametrize("path", FILES if FULL else FILES[1::50], ids=lambda path: path.stem)
def test_repairs_are_proved(path: Path, tmp_path: Path) -> None:
    found = fixed(path)
    assert row(path, found) in PAGE.read_text(encoding="utf-8").splitlines(), "docs/choose/repairs.md is out of date"
    if found is None:
        return
    for left in found.left:
        assert left.reason
    if not found.repairs:
        return
    copy = tmp_path / path.name
    found.robot.save(copy)
    remaining = {(finding.rule, finding.where) for finding in check(read(copy)).findings}
    assert not {(repair.rule, repair.where) for repair in found.repairs} & remaining
    before, after = (file.read_bytes().decode("utf-8", "replace").split("\n") for file in (path, copy))
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        if old != new:  # numbers alone
            assert NUMBER.sub("0", old) == NUMBER.sub("0", new), "\n".join(difflib.ndiff([old], [new]))
