"""How items are judged; the page and the verb. The verdicts of all items are in test_verdicts.py."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from armdyn.errors import UnknownName
from armdyn.texts import (
    ERRATA,
    Chapter,
    Check,
    Claim,
    Count,
    Item,
    Outcome,
    Reproduced,
    Reproduction,
    Slip,
    errata_markdown,
)
from armdyn.texts.item import aside, below, close, equal, misses, near
from armdyn.texts.page import anchor, page
from armdyn.texts.running import chapter_of, chapters, chosen, reproduce

DOCS = Path(__file__).parents[2] / "docs"


def test_errata_page_is_current() -> None:
    """Written by `python -c "from armdyn.texts import *; print(errata_markdown(), end='')" > docs/errata.md`."""
    assert (DOCS / "errata.md").read_text(encoding="utf-8") == errata_markdown()


# Judging ----------------------------------------------------------------------------------------------------------

GOOD, BAD = Check("agrees", True), Check("differs", False, "1 and 2")
HELD, DENIED = Claim("A is fast", "1 s", True), Claim("B is slow", "0.1 s", False)


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (Outcome("", (GOOD,)), "same"),
        (Outcome("", (GOOD, BAD)), "unexplained"),
        (Outcome("", (GOOD,), (Slip("ElBaji-1", GOOD),)), "corrected"),
        (Outcome("", (GOOD,), (Slip("ElBaji-1", GOOD),), chosen="g"), "corrected, data chosen"),
        (Outcome("", (GOOD,), restored="(1)"), "formula restored"),
        (Outcome("", (aside(GOOD),)), "no print to compare"),
        (Outcome("", (GOOD,), counts=(Count("arm", (7, 5), (8, 4)),)), "counts differ"),
        (Outcome("", (GOOD,), counts=(Count("arm", (9, 5), (8, 4)),)), "unexplained"),  # ours needs more
        (Outcome("", (GOOD,), (Slip("ElBaji-1", BAD),)), "unexplained"),  # a slip that is claimed but not shown
        (Outcome("", (BAD,), (Slip("ElBaji-1", GOOD),)), "unexplained"),  # a slip excuses nothing else
        (Outcome("", (GOOD,), chosen="g"), "formula same, data chosen"),
        (Outcome("", (GOOD,), chosen="g", unprinted="No numbers."), "no print to compare"),
        (Outcome("", (GOOD,), claims=(HELD,)), "same"),
        (Outcome("", (GOOD,), claims=(HELD, DENIED)), "not confirmed"),
        (Outcome("", (GOOD,), (Slip("ElBaji-1", GOOD),), claims=(DENIED,)), "not confirmed"),
        (Outcome("", (BAD,), claims=(DENIED,)), "unexplained"),
        (Outcome("", claims=(HELD,)), "unexplained"),
        (Outcome("", (BAD,), chosen="g"), "unexplained"),
        (Outcome(""), "unexplained"),
    ],
)
def test_verdict_follows_from_the_comparisons(outcome: Outcome, verdict: str) -> None:
    assert outcome.verdict == verdict


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        (Outcome("", (GOOD, GOOD)), "2 comparisons with the text agree."),
        (Outcome("", (GOOD, BAD)), "Differs: differs: 1 and 2."),
        (
            Outcome("", (GOOD,), (Slip("ElBaji-1", GOOD),)),
            "1 comparison with the text agrees after correction of ElBaji-1.",
        ),
        (
            Outcome("", (GOOD, aside(GOOD))),
            "1 comparison with the text agrees. Checks by other means that hold: 1.",
        ),
        (
            Outcome("", (GOOD,), counts=(Count("arm", (7, 5), (8, 4), (12, 10)),)),
            "1 comparison with the text agrees. Multiplications and additions: "
            "arm 7 / 5 (printed 8 / 4), 12 sines and cosines (printed 10).",
        ),
        (Outcome("", (GOOD,), claims=(HELD, DENIED)), "The text says: B is slow. Found here: 0.1 s."),
        (Outcome("", (GOOD,), unprinted="No numbers."), "No numbers. Checks by other means that hold: 1."),
        (Outcome(""), "Nothing was compared."),
    ],
)
def test_sentence_follows_from_the_comparisons(outcome: Outcome, sentence: str) -> None:
    assert outcome.sentence == sentence


@pytest.mark.parametrize(
    ("check", "holds"),
    [
        (close("", 1.2344, 1.234, 1e-3), True),
        (close("", 1.2346, 1.234, 1e-3), False),
        (equal("", 3, 3), True),
        (equal("", 3, 4), False),
        (below("", 1e-13, 1e-12), True),
        (below("", 2e-12, 1e-12), False),
        (near("", 1.0, 1.1, 0.05), False),
        (misses("", 0.5, 1e-15), True),
        (misses("", 1e-6, 1e-15), False),  # the printed form is not seen to fail
        (misses("", 0.5, 0.4), False),  # nor is the corrected one right
    ],
)
def test_comparisons_can_fail(check: Check, holds: bool) -> None:
    assert check.holds is holds


def test_a_wrong_number_in_an_item_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Table 4 with one digit changed."""
    from armdyn.texts.elbaji import printed as text

    monkeypatch.setitem(text.TABLE_4, "m3", 1.032)
    item = next(item for item in chapter_of("elbaji").items if item.place == "table 4")
    assert item.run().verdict == "unexplained"


def test_a_wrong_formula_in_an_item_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """(69) with a sign changed."""
    from armdyn.texts.truc import printed as text

    right = text.gravity()
    monkeypatch.setattr(text, "gravity", lambda: [0, -right[1], right[2]])
    item = next(item for item in chapter_of("truc").items if item.place == "(68)-(69)")
    assert item.run().verdict == "unexplained"


def test_an_item_that_raises_is_unexplained(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Outcome:
        raise UnknownName("no such thing")

    chapter = Chapter("truc", [Item("truc", "(1)", "broken", broken)])
    monkeypatch.setattr("armdyn.texts.running.chapters", lambda: {"truc": chapter})
    monkeypatch.setattr("armdyn.texts.running.chapter_of", lambda source: chapter)
    found = reproduce("truc")
    assert not found.ok
    assert found.results[0].outcome.checks[0].figure == "no such thing."


@pytest.fixture(scope="module")
def whole() -> Reproduction:
    return reproduce("truc")


def test_evidence_that_does_not_hold_is_not_ok(whole: Reproduction) -> None:
    assert not replace(whole, evidence={**whole.evidence, "Truc-1": BAD}).ok


def test_authors_and_their_old_numbers() -> None:
    authors = ["elbaji", "milicevic", "khalil", "truc", "siciliano"]
    assert list(chapters()) == authors
    for number, author in enumerate(authors):
        assert chosen(f"{number:03}") == chosen(author) == [chapter_of(author)]


def test_unknown_source() -> None:
    with pytest.raises(UnknownName, match="unknown source text '005'"):
        reproduce("005")


# The page and the verb --------------------------------------------------------------------------------------------


def test_page_shows_every_item_and_erratum(whole: Reproduction, tmp_path: Path) -> None:
    text = whole.save(tmp_path / "new" / "index.html").read_text(encoding="utf-8")
    for result in whole.results:
        assert f'id="{anchor(result.item)}"' in text
    for erratum in (e for e in ERRATA if e.source == "truc"):
        assert f'id="{erratum.tag}"' in text
    assert "http://" not in text.replace("http://www.w3.org", "")  # nothing is fetched
    assert "https://" not in text


def test_anchors_are_unique() -> None:
    items = [item for chapter in chapters().values() for item in chapter.items]
    assert len({anchor(item) for item in items}) == len(items)


def test_page_escapes_what_items_say() -> None:
    item = Item("truc", "(1)", "<b>", lambda: Outcome("a < b", (Check("<i>", True, "x & y"),), texts=("p < q",)))
    text = page(Reproduction((Reproduced(item, item.run()),), {}))
    for raw in ("<b>", "<i>", "a < b", "x & y", "p < q"):
        assert raw not in text
