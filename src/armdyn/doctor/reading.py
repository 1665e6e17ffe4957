"""Readings: how numbers may have been meant, judged by evidence.

A case is a subject (a robot, or a log and its robot) before its evidence: the physics of its bodies, another model, or
measured torques. A hypothesis proposes readings for a case: a unit, a sign, an order, a frame, a value. The search
applies them round by round and keeps the set with the shortest description: what the evidence still contradicts, plus
the cost of the readings. A reading that makes everything agree gains far more than one that only brings numbers nearer,
so chance improvements are not named.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Literal, Protocol, Self, TypeVar

from armdyn.typing import Progress, quiet

Evidence = Literal["physics", "model", "torques", "log"]
"""Where evidence comes from: the robot's own numbers, those of another model, its torques only, a measured log."""


@dataclass(frozen=True, eq=False)
class Reading:
    """One way in which numbers may have been meant; once confirmed, the cause of a difference.

    kind: short name. where: joints, bodies or columns concerned. what: a sentence.
    apply: gives the subject as it is under this reading.
    reals: numbers that were fitted. options: alternatives of the same kind; one among many is weaker evidence.
    share: part of the difference that it explains, 0 to 1; None before it is computed.
    """

    kind: str
    where: tuple[str, ...]
    what: str
    apply: Callable[[Any], Any] = field(repr=False)
    reals: int = 0
    options: int = 1
    share: float | None = None

    @property
    def words(self) -> str:
        """The kind in words."""
        return self.kind.replace("_", " ")


class Case(Protocol):
    """A subject before its evidence.

    misfit: what the evidence contradicts, in digits (decimal logarithm of a likelihood ratio).
    settled: nothing is left to explain. beam: sets of readings that are followed at the same time. rounds: readings
    that are combined at most. eager: evaluation takes time, so that the first hypothesis that settles a case ends its
    round.
    """

    @property
    def beam(self) -> int: ...

    @property
    def rounds(self) -> int: ...

    @property
    def eager(self) -> bool: ...

    @property
    def misfit(self) -> float: ...

    @property
    def settled(self) -> bool: ...

    def after(self, readings: Sequence[Reading]) -> Self: ...

    def hypotheses(self) -> Sequence[Hypothesis]: ...

    def cost(self, reading: Reading) -> float:
        """Digits that a reading must gain to be named."""
        ...


C = TypeVar("C", bound=Case)
Hypothesis = Callable[[Any], Iterator[Reading | tuple[Reading, ...]]]
"""Proposes readings for a case; those of one tuple are applied together."""


class _Entry:
    def __init__(self, propose: Hypothesis, evidence: Sequence[Evidence], effort: int, fits: bool) -> None:
        self.propose, self.evidence, self.effort, self.fits = propose, evidence, effort, fits


_REGISTRY: list[_Entry] = []


def hypothesis(*evidence: Evidence, effort: int = 0, fits: bool = False) -> Callable[[Hypothesis], Hypothesis]:
    """Register a hypothesis for these kinds of evidence.

    effort: cheap ones (0) are tried before those that fit numbers (1) and those that try everything (2).
    fits: it is about numbers of the robot, and not only about how arrays are read.
    """

    def register(propose: Hypothesis) -> Hypothesis:
        _REGISTRY.append(_Entry(propose, evidence, effort, fits))
        return propose

    return register


def registered(evidence: Evidence, *, fits: bool = True) -> list[Hypothesis]:
    """The hypotheses for one kind of evidence, the cheap ones first; without those about numbers of the robot if
    `fits` is False.
    """
    found = [entry for entry in _REGISTRY if evidence in entry.evidence and (fits or not entry.fits)]
    return [entry.propose for entry in sorted(found, key=lambda entry: entry.effort)]


# The search ----------------------------------------------------------------------------------------------------------

SLACK = (1.0, 3.0)
"""Digits by which one more reading, and a whole round, may lengthen the description and still be followed."""


@dataclass(frozen=True, eq=False)
class Found(Generic[C]):
    """The readings found so far, and the case that they leave."""

    case: C
    readings: tuple[Reading, ...] = ()

    @cached_property
    def length(self) -> float:
        """Length of the description: what is contradicted and what the readings cost, in digits."""
        return self.case.misfit + sum(map(self.case.cost, self.readings))


def search(case: C, progress: Progress = quiet) -> Found[C]:
    """The readings with the shortest description of a case."""
    best = Found(case)
    if case.settled:
        return best
    beam = [best]
    for depth in range(case.rounds):
        progress("searching causes", depth / case.rounds)
        wider = sorted((found for state in beam for found in _extended(state)), key=lambda found: found.length)
        beam = list(_distinct(wider))[: case.beam]
        if not beam or beam[0].length > best.length + SLACK[1]:
            break
        if beam[0].length < best.length:
            best = beam[0]
        if best.case.settled:
            break
    return best


def _extended(state: Found[C]) -> Iterator[Found[C]]:
    for propose in state.case.hypotheses():
        done = False
        for proposed in propose(state.case):
            readings = (proposed,) if isinstance(proposed, Reading) else proposed
            after = Found(state.case.after(readings), (*state.readings, *readings))
            if after.length < state.length + SLACK[0] and math.isfinite(after.length):
                yield after
                done = done or after.case.settled
        if done and state.case.eager:
            return


def _distinct(found: Sequence[Found[C]]) -> Iterator[Found[C]]:
    """One of each set of readings: the order in which they were found does not matter."""
    seen: set[frozenset[tuple[str, tuple[str, ...]]]] = set()
    for state in found:
        key = frozenset((reading.kind, reading.where) for reading in state.readings)
        if key not in seen:
            seen.add(key)
            yield state
