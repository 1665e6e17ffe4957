"""Items run one after the other, their verdicts collected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module

from armdyn.errors import ArmdynError, UnknownName
from armdyn.reproduce.item import Chapter, Check, Item, Outcome, Verdict

PACKAGE = "armdyn.reproduce"
Progress = Callable[[str, int], object]
"""Told what is being done and how many items are behind us."""


@dataclass(frozen=True)
class Result:
    """An item and what came of it."""

    item: Item
    outcome: Outcome

    @property
    def verdict(self) -> Verdict:
        return self.outcome.verdict


@dataclass(frozen=True)
class Reproduction:
    """What came of all items that were run, and the evidence for the errata of their sources by tag."""

    results: tuple[Result, ...]
    evidence: Mapping[str, Check]

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(result.item.source for result in self.results))

    @property
    def ok(self) -> bool:
        """Nothing is unexplained, and every erratum that claims a wrong print is shown."""
        return not self.unexplained and all(check.holds for check in self.evidence.values())

    @property
    def unexplained(self) -> tuple[Result, ...]:
        return tuple(result for result in self.results if result.verdict == "unexplained")

    @property
    def counts(self) -> Mapping[Verdict, int]:
        return Counter(result.verdict for result in self.results)


MODULES = {
    "000": ("elbaji", ("items", "section_5")),
    "001": ("milicevic", ("items",)),
    "002": (
        "khalil",
        ("chapter_7_3", "chapter_7_4", "chapter_7_5", "chapter_7_6", "chapter_8", "chapter_8_4", "chapter_9", "rx90"),
    ),
    "003": ("truc", ("items",)),
    "004": (
        "siciliano",
        (
            "any_arm", "lagrange_arms", "two_link_torques", "parallelogram", "newton_euler_items", "tool", "problems",
            "problems_tool",
        ),
    ),
}  # fmt: skip
"""The modules of every source, in the order of the text."""


def names() -> tuple[str, ...]:
    """The sources that have items."""
    return tuple(MODULES)


def chapter_of(source: str) -> Chapter:
    """The items of one source, in the order of the text."""
    folder, modules = MODULES[source]
    parts: list[Chapter] = [import_module(f"{PACKAGE}.{folder}.{name}").chapter for name in modules]
    order = [f"{PACKAGE}.{folder}.{name}" for name in modules]
    parts[0].items.sort(key=lambda item: order.index(item.run.__module__))
    return parts[0]


def chapters() -> dict[str, Chapter]:
    """All chapters by source."""
    return {source: chapter_of(source) for source in names()}


def chosen(source: str = "all") -> list[Chapter]:
    """The chapter of a source, or all of them; nothing else is imported."""
    if source == "all":
        return list(chapters().values())
    if source not in names():
        raise UnknownName(f"no source {source!r}", where="reproduce", expected=", ".join((*names(), "all")))
    return [chapter_of(source)]


def run(source: str = "all", progress: Progress | None = None) -> Reproduction:
    """Run the items of one source, or of all.

    Args:    source: 000 to 004, or "all". progress: told (item, how many are done) before each.
    """
    parts = chosen(source)
    items = [item for chapter in parts for item in chapter.items]
    results: list[Result] = []
    for item in items:
        if progress is not None:
            progress(item.key, len(results))
        results.append(Result(item, _outcome(item)))
    evidence = {slip.tag: slip.fails for result in results for slip in result.outcome.slips}
    for chapter in parts:
        evidence |= {tag: show() for tag, show in chapter.evidences.items() if tag not in evidence}
    return Reproduction(tuple(results), evidence)


def _outcome(item: Item) -> Outcome:
    """What the item gives; an error of ours is a difference that nobody has explained."""
    try:
        return item.run()
    except ArmdynError as error:
        return Outcome("The item could not be run.", (Check("runs", False, error.message),))
