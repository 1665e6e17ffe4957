"""Run the items of the source texts and collect their verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from armdyn.errors import ArmdynError, unknown_name
from armdyn.files import write_text
from armdyn.notebook_view import View
from armdyn.references import NUMBERS
from armdyn.result import Result
from armdyn.tables import Column, Section
from armdyn.texts.item import FULL, SOURCES, Chapter, Check, Item, Outcome, Verdict
from armdyn.texts.mutation import Trial, name_of, trials
from armdyn.typing import Progress


@dataclass(frozen=True)
class Reproduced:
    """An item and its outcome."""

    item: Item
    outcome: Outcome

    @property
    def verdict(self) -> Verdict:
        return self.outcome.verdict


@dataclass(frozen=True)
class Reproduction(Result):
    """The results of the items that were run, and the evidence for the errata of their texts, by tag."""

    results: tuple[Reproduced, ...]
    evidence: Mapping[str, Check]
    trials: tuple[Trial, ...] = ()
    """The items run again with a function changed that they vouch for, if that was asked."""

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(result.item.source for result in self.results))

    @property
    def ok(self) -> bool:
        """Whether nothing is unexplained, and the evidence for every wrong print holds."""
        return not self.unexplained and all(check.holds for check in self.evidence.values())

    @property
    def unexplained(self) -> tuple[Reproduced, ...]:
        return tuple(result for result in self.results if result.verdict == "unexplained")

    @property
    def counts(self) -> Mapping[Verdict, int]:
        return Counter(result.verdict for result in self.results)

    @property
    def noticed(self) -> str:
        """How many changes of functions were noticed by the items that vouch for them, as in "95 of 100"."""
        return _noticed(self.trials)

    def noticed_by(self, item: Item) -> str:
        """The same of one item; empty if it was not tried."""
        return _noticed([trial for trial in self.trials if trial.item == item.key])

    def _view(self) -> View:
        rows: tuple[tuple[str, ...], ...] = tuple(
            (
                each.item.key,
                each.item.title,
                each.verdict,
                each.outcome.agreement,
                " ".join(dict.fromkeys(slip.tag for slip in each.outcome.slips)),
            )
            for each in self.results
        )
        columns: tuple[Column, ...] = (
            Column("item"),
            Column("what", folds=True),
            Column("verdict"),
            Column("agree"),
            Column("errata", folds=True),
        )
        if self.trials:
            columns = (*columns, Column("changes noticed"))
            rows = tuple((*row, self.noticed_by(each.item)) for row, each in zip(rows, self.results, strict=True))
        notes = [f"{each.item.key}: {each.outcome.sentence}" for each in self.unexplained]
        notes += [
            f"{trial.item} did not notice {trial.function}, {trial.what} ({trial.effect})"
            for trial in self.trials
            if trial.counts and not trial.noticed
        ]
        notes += [
            f"{each.item.key}, not confirmed: {each.outcome.sentence}"
            for each in self.results
            if each.verdict == "not confirmed"
        ]
        notes += [
            f"No evidence for {tag}: {check.what}: {check.figure}"
            for tag, check in self.evidence.items()
            if not check.holds
        ]
        counts = "; ".join(f"{count} {verdict}" for verdict, count in sorted(self.counts.items()))
        title = f"Source texts reproduced: {', '.join(self.sources)}"
        changed = f"; {self.noticed} changes of functions noticed" if self.trials else ""
        verdict = (f"{len(self.results)} items: {counts}{changed}", self.ok)
        return View(title, verdict, sections=(Section("", columns, rows),), notes=notes)

    def record(self) -> dict[str, Any]:
        """Verdict, sentence and errata of every item, and the evidence for the errata."""
        items = [
            {
                "item": each.item.key,
                "title": each.item.title,
                "verdict": each.verdict,
                "agree": each.outcome.agreement,
                "sentence": each.outcome.sentence,
                "errata": list(dict.fromkeys(slip.tag for slip in each.outcome.slips)),
                "vouches": list(map(name_of, each.item.vouches)),
                "noticed": self.noticed_by(each.item),
            }
            for each in self.results
        ]
        evidence = {
            tag: {"what": c.what, "holds": bool(c.holds), "figure": c.figure} for tag, c in self.evidence.items()
        }
        return {
            "sources": list(self.sources),
            "ok": self.ok,
            "counts": dict(self.counts),
            "items": items,
            "evidence": evidence,
            "noticed": self.noticed,
            "unnoticed": [asdict(trial) for trial in self.trials if trial.counts and not trial.noticed],
        }

    def save(self, path: str | Path) -> Path:
        """Write the page: every item with its verdict, table and figure."""
        from armdyn.texts.page import page

        return write_text(path, page(self))


def _noticed(trials: Sequence[Trial]) -> str:
    counted = [trial for trial in trials if trial.counts]
    return f"{sum(trial.noticed for trial in counted)} of {len(counted)}" if counted else ""


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


def reproduce(
    source: str = "all", *, full: bool = False, mutate: bool = False, progress: Progress | None = None
) -> Reproduction:
    """Reproduce the tables, figures and worked examples of one source text, or of all, and compare with the print.

    source: "elbaji", "milicevic", "khalil", "truc", "siciliano" or "all".
    full: measure anew what takes minutes, instead of showing recorded figures.
    mutate: break each function that an item vouches for, in several ways, and count what the item notices (minutes).
    progress: called before each item with its key and the share done.
    """
    before = FULL.set(full)
    try:
        made = _run(source, progress)
        if not mutate:
            return made
        return replace(made, trials=trials([(each.item, each.verdict) for each in made.results], progress=progress))
    finally:
        FULL.reset(before)


def _run(source: str, progress: Progress | None) -> Reproduction:
    parts = chosen(source)
    items = [item for chapter in parts for item in chapter.items]
    results: list[Reproduced] = []
    for item in items:
        if progress is not None:
            progress(item.key, len(results) / len(items))
        results.append(Reproduced(item, _outcome(item)))
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
