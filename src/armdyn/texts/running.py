"""Run the items of the source texts and collect their verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

from armdyn.errors import ArmdynError, unknown_name
from armdyn.references import NUMBERS
from armdyn.texts.item import FULL, SOURCES, Chapter, Check, Item, Outcome, Verdict
from armdyn.typing import Progress


@dataclass(frozen=True)
class Result:
    """An item and its outcome."""

    item: Item
    outcome: Outcome

    @property
    def verdict(self) -> Verdict:
        return self.outcome.verdict


@dataclass(frozen=True)
class Reproduction:
    """The results of the items that were run, and the evidence for the errata of their texts, by tag."""

    results: tuple[Result, ...]
    evidence: Mapping[str, Check]

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(result.item.source for result in self.results))

    @property
    def ok(self) -> bool:
        """Whether nothing is unexplained, and the evidence for every wrong print holds."""
        return not self.unexplained and all(check.holds for check in self.evidence.values())

    @property
    def unexplained(self) -> tuple[Result, ...]:
        return tuple(result for result in self.results if result.verdict == "unexplained")

    @property
    def counts(self) -> Mapping[Verdict, int]:
        return Counter(result.verdict for result in self.results)


def names() -> tuple[str, ...]:
    """The five texts, by author."""
    return tuple(SOURCES)


def chapter_of(source: str) -> Chapter:
    """The items of one text, in its order."""
    chapter: Chapter = import_module(f"armdyn.texts.{source}.items").chapter
    return chapter


def chapters() -> dict[str, Chapter]:
    """The items of all texts, by author."""
    return {source: chapter_of(source) for source in names()}


def chosen(source: str = "all") -> list[Chapter]:
    """The chapter of one text, or of all; nothing else is imported."""
    if source == "all":
        return list(chapters().values())
    author = NUMBERS.get(source, source.lower())
    if author not in names():
        raise unknown_name("source text", source, [*names(), "all"])
    return [chapter_of(author)]


def run(source: str = "all", progress: Progress | None = None, *, full: bool = False) -> Reproduction:
    """Run the items of one text, or of all.

    Args:
        source: "elbaji", "milicevic", "khalil", "truc", "siciliano" or "all".
        progress: called before each item with its key and the share done.
        full: measure anew what takes minutes, instead of showing recorded figures.
    """
    before = FULL.set(full)
    try:
        return _run(source, progress)
    finally:
        FULL.reset(before)


def _run(source: str, progress: Progress | None) -> Reproduction:
    parts = chosen(source)
    items = [item for chapter in parts for item in chapter.items]
    results: list[Result] = []
    for item in items:
        if progress is not None:
            progress(item.key, len(results) / len(items))
        results.append(Result(item, _outcome(item)))
    evidence = {slip.tag: slip.fails for result in results for slip in result.outcome.slips}
    for chapter in parts:
        evidence |= {tag: show() for tag, show in chapter.evidences.items() if tag not in evidence}
    return Reproduction(tuple(results), evidence)


def _outcome(item: Item) -> Outcome:
    """The item's outcome; an error of ours counts as an unexplained difference."""
    try:
        return item.run()
    except ArmdynError as error:
        return Outcome("The item could not be run.", (Check("runs", False, error.message),))
