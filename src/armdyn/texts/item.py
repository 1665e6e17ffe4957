"""Items: tables, figures and worked examples of a source text that can be run and judged.

An item is a function that regenerates what the text prints and compares the two. Its verdict and the sentence that
explains it follow from the comparisons; they are not written down anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from armdyn.references import TEXTS
from armdyn.tables import Section
from armdyn.typing import Array

Verdict = Literal[
    "same",
    "formula same, data chosen",
    "formula restored",
    "corrected",
    "corrected, data chosen",
    "counts differ",
    "not confirmed",
    "no print to compare",
    "unexplained",
]
MEANING: dict[Verdict, str] = {
    "same": "the result agrees with the text",
    "formula same, data chosen": "the result agrees with the text's formulas and statements; data that the text "
    "does not give were chosen, and are stated",
    "formula restored": "the text's formula is missing or illegible in part; what stands in its place is stated, and "
    "the result is checked in other ways",
    "corrected": "the printed form is wrong; see the erratum",
    "corrected, data chosen": "both: a printed form is wrong, and data were chosen",
    "counts differ": "the text and we count different programs, so that the numbers differ; both are stated",
    "not confirmed": "a claim of the text did not hold here; what was printed and what was found are stated",
    "no print to compare": "the text prints no result; ours is checked in other ways",
    "unexplained": "the result differs from the text for an unknown reason",
}
FULL: ContextVar[bool] = ContextVar("full", default=False)
"""Whether items measure anew what takes minutes, instead of showing recorded figures."""
SOURCES = {reference.text: reference for reference in TEXTS}
"""The five texts by the names of their authors, as `armdyn reproduce` takes them."""


@dataclass(frozen=True)
class Check:
    """One comparison: what was compared, whether it holds, and the error or the numbers compared.

    printed: whether the text prints what ours is compared with; False: a check by other means.
    """

    what: str
    holds: bool
    figure: str = ""
    printed: bool = True


@dataclass(frozen=True)
class Slip:
    """A misprint: the erratum's tag, and the evidence that the printed form fails.

    fails: result of the printed form and of the right one; `Check.holds` is True if the failure is shown.
    """

    tag: str
    fails: Check


@dataclass(frozen=True)
class Claim:
    """A statement of the text that may fail without a misprint, such as a ranking or a cost.

    printed: the statement. found: what was found here, with its figures. holds: whether they agree.
    """

    printed: str
    found: str
    holds: bool


@dataclass(frozen=True)
class Count:
    """Operations of a program of ours beside those that the text counts for its own: nothing that could agree.

    ours, printed: multiplications and additions. functions: sines and cosines of ours and, if known, of the text's.
    """

    what: str
    ours: tuple[int, int]
    printed: tuple[int, int]
    functions: tuple[int, int | None] | None = None

    @property
    def holds(self) -> bool:
        """Whether ours needs no more in total; a program that does is a defect of ours."""
        return sum(self.ours) <= sum(self.printed)

    @property
    def figure(self) -> str:
        """`103 / 99 (printed 130 / 98), 12 sines and cosines (10)`"""
        text = f"{self.ours[0]} / {self.ours[1]} (printed {self.printed[0]} / {self.printed[1]})"
        if self.functions is not None:
            ours, theirs = self.functions
            text += f", {ours} sines and cosines" + ("" if theirs is None else f" (printed {theirs})")
        return text


@dataclass(frozen=True)
class Outcome:
    """Outcome of an item: comparisons with the print, misprints, claims, chosen data, tables and figures."""

    says: str
    """A sentence or two that say what was regenerated, and how."""
    checks: tuple[Check, ...] = ()
    slips: tuple[Slip, ...] = ()
    chosen: str = ""
    """Data that the text does not give, and our choice; empty if it gives all."""
    tables: tuple[Section, ...] = ()
    figures: tuple[tuple[str, str], ...] = ()
    """(svg, caption) pairs."""
    texts: tuple[str, ...] = field(default=())
    """Equations and programs, preformatted."""
    claims: tuple[Claim, ...] = ()
    unprinted: str = ""
    """The number that the text does not print, without which nothing can be compared; empty if it prints all."""
    restored: str = ""
    """What stands in the place of formulas that are missing or illegible; empty if there are none."""
    counts: tuple[Count, ...] = ()
    """Operations of programs, ours and the text's."""

    @property
    def verdict(self) -> Verdict:
        if self.failed or not (self.checks or self.slips):  # an item that compares nothing has not been reproduced
            return "unexplained"
        if self.unconfirmed:
            return "not confirmed"
        if self.counts:
            return "counts differ"
        if self.slips:
            return "corrected, data chosen" if self.chosen else "corrected"
        if self.restored:
            return "formula restored"
        if not self.compared and not self.claims:
            return "no print to compare"
        return "formula same, data chosen" if self.chosen else "same"

    @property
    def compared(self) -> int:
        """The number of comparisons with what the text prints."""
        return 0 if self.unprinted else sum(check.printed for check in self.checks)

    @property
    def failed(self) -> tuple[Check | Count, ...]:
        """The comparisons that do not hold, and the programs that need more operations than the text's."""
        made: tuple[Check | Count, ...] = (*self.checks, *(slip.fails for slip in self.slips), *self.counts)
        return tuple(check for check in made if not check.holds)

    @property
    def unconfirmed(self) -> tuple[Claim, ...]:
        """The claims of the text that do not hold here."""
        return tuple(claim for claim in self.claims if not claim.holds)

    @property
    def agreement(self) -> str:
        """How many comparisons and claims hold, as in "3 of 4"."""
        held = [bool(check.holds) for check in self.checks] + [bool(claim.holds) for claim in self.claims]
        return f"{sum(held)} of {len(held)}"

    @property
    def sentence(self) -> str:
        """The verdict in a sentence, from the comparisons."""
        count = self.compared + sum(claim.holds for claim in self.claims)
        held, s = (f"{count} comparisons", "") if count != 1 else ("1 comparison", "s")
        aside = len(self.checks) - self.compared
        more = f" Checks by other means that hold: {aside}." if aside else ""
        tags = ", ".join(dict.fromkeys(slip.tag for slip in self.slips))
        agrees = f"{held} with the text agree{s}{f' after correction of {tags}' if tags else ''}.{more}"
        match self.verdict:
            case "unexplained":
                failed = "; ".join(": ".join(filter(None, (check.what, check.figure))) for check in self.failed)
                return f"Differs: {failed}." if failed else "Nothing was compared."
            case "not confirmed":
                return " ".join(
                    f"The text says: {each.printed}. Found here: {each.found}." for each in self.unconfirmed
                )
            case "counts differ":
                differing = "; ".join(f"{each.what} {each.figure}" for each in self.counts)
                return f"{agrees} Multiplications and additions: {differing}."
            case "formula restored":
                return f"{self.restored} Checks that hold: {len(self.checks)}."
            case "no print to compare":
                return f"{self.unprinted}{more}".strip()
            case _:
                return agrees


@dataclass(frozen=True)
class Item:
    """An item of a source: `run()` regenerates and judges it.

    vouches: functions, and laws by their classes, whose correctness its verdict shows; see `armdyn.texts.mutation`.
    """

    source: str
    place: str
    title: str
    run: Callable[[], Outcome]
    vouches: tuple[Any, ...] = ()

    @property
    def key(self) -> str:
        """The citation, as in `Siciliano fig. 7.15`."""
        return f"{SOURCES[self.source].cited_as} {self.place}"


@dataclass
class Chapter:
    """The items of one source, in the order of the text, and the evidence for its errata.

    `@chapter.item(place, title, vouches=...)` adds an item; `@chapter.evidence(tag)` adds a check that shows that a
    printed form fails; items cite it with `chapter.slip(tag)`.
    """

    source: str
    items: list[Item] = field(default_factory=list)
    evidences: dict[str, Callable[[], Check]] = field(default_factory=dict)

    def item(
        self, place: str, title: str, vouches: tuple[Any, ...] = ()
    ) -> Callable[[Callable[[], Outcome]], Callable[[], Outcome]]:
        def added(run: Callable[[], Outcome]) -> Callable[[], Outcome]:
            self.items.append(Item(self.source, place, title, run, vouches))
            return run

        return added

    def evidence(self, tag: str) -> Callable[[Callable[[], Check]], Callable[[], Check]]:
        def added(show: Callable[[], Check]) -> Callable[[], Check]:
            self.evidences[tag] = show
            return show

        return added

    def slip(self, tag: str) -> Slip:
        """The evidence for an erratum, run, as a slip of an item."""
        return Slip(tag, self.evidences[tag]())


def joined(*parts: Chapter) -> Chapter:
    """One chapter of several parts, their items in the order of the arguments."""
    evidences = {tag: show for part in parts for tag, show in part.evidences.items()}
    return Chapter(parts[0].source, [item for part in parts for item in part.items], evidences)


def close(what: str, ours: float, printed: float, places: float) -> Check:
    """Agreement of a number with a printed one, to half a unit of the last printed place."""
    return Check(what, abs(ours - printed) <= 0.5 * places * (1 + 1e-9), f"{ours:.6g} (printed {printed:g})")


def near(what: str, ours: float, expected: float, tolerance: float) -> Check:
    """Agreement with a number that follows from the text without being printed in it."""
    return Check(what, abs(ours - expected) <= tolerance, f"{ours:.6g} (expected {expected:.6g})", printed=False)


def equal(what: str, ours: object, printed: object) -> Check:
    """Agreement of counts and texts with printed ones."""
    return Check(what, ours == printed, f"{_words(ours)} (printed {_words(printed)})")


def matches(what: str, ours: object, expected: object) -> Check:
    """Agreement of counts and texts with what follows from the text without being printed in it."""
    return Check(what, ours == expected, f"{_words(ours)} (expected {_words(expected)})", printed=False)


def _words(value: object) -> str:
    """A value as text, without brackets and quotes."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, set | frozenset):
        return ", ".join(sorted(map(str, value)))
    if isinstance(value, tuple | list):
        return ", ".join(map(_words, value))
    return str(value)


def below(what: str, error: float, bound: float) -> Check:
    """An error within its bound."""
    return Check(what, error <= bound, f"{error:.2g}, at most {bound:.2g}")


def identity(what: str, holds: bool) -> Check:
    """Agreement in every symbol, decided exactly."""
    return Check(what, holds, "identical in every symbol" if holds else "not identical")


def misses(what: str, printed: float, right: float, visible: float = 1e-3) -> Check:
    """Evidence that a printed form fails and the corrected one does not.

    printed, right: relative errors of the two forms against the truth. visible: least error of the printed form.
    """
    holds = printed > visible and right < 1e-9
    return Check(what, holds, f"relative error {printed:.2g} as printed, {right:.1g} corrected")


def aside(check: Check) -> Check:
    """The same check, as one by other means: the text prints nothing that it compares with."""
    return replace(check, printed=False)


def floats(values: Any) -> Array:
    """Nested scalars as an array of floats."""
    return np.asarray(values, dtype=float)


def distance(ours: ArrayLike, truth: ArrayLike) -> float:
    """Largest difference of two arrays of one shape, relative to the largest entry of the second (at least 1)."""
    a, b = floats(ours), floats(truth)
    if a.shape != b.shape:
        raise ValueError(f"shapes {a.shape} and {b.shape}")
    return float(np.abs(a - b).max() / max(1.0, np.abs(b).max()))
