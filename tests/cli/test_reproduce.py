"""armdyn reproduce."""

from __future__ import annotations

from pathlib import Path

import pytest

from armdyn.texts import Chapter, Check, Item, Outcome
from support.command import Run


def test_the_status_tells_whether_everything_is_explained(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    chapter = Chapter("truc", [Item("truc", "(1)", "one", lambda: Outcome("", (Check("agrees", True),)))])
    monkeypatch.setattr("armdyn.texts.running.chapters", lambda: {"truc": chapter})
    monkeypatch.setattr("armdyn.texts.running.chapter_of", lambda source: chapter)
    monkeypatch.chdir(tmp_path)
    pages = tmp_path / "out" / "reproduce"
    pages.mkdir(parents=True)
    (pages / "index.html").write_text("of all texts")
    status, out, _ = run("reproduce", "truc")
    assert status == 0
    assert "1 same" in out
    assert (pages / "truc.html").exists()
    assert (pages / "index.html").read_text() == "of all texts", "one text has a page of its own"
    chapter.items.append(Item("truc", "(2)", "two", lambda: Outcome("", (Check("three is not four", False),))))
    status, out, _ = run("reproduce", "--force")
    assert status == 1
    assert "Truc (2): Differs: three is not four." in out
