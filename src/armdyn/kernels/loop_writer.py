"""Text of functions with loops, on vectors of four links and of as many samples as a register holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from armdyn.kernels.ir_writer import Writer, vector

LANES = 4
"""Links of a vector."""
WIDE = 8 * LANES
"""Bytes of a vector of links."""
V4 = vector(LANES)


@dataclass
class Carried:
    """A value that one turn of a loop hands to the next: what it is in this turn, at the start, and in the next one."""

    kind: str
    value: str
    start: str
    following: str = ""


class LoopWriter(Writer):
    """Text of one function with loops."""

    @contextmanager
    def counting(
        self, name: str, count: str, start: str = "0", step: int = 1, carried: Sequence[Carried] = ()
    ) -> Iterator[str]:
        """The body runs for `%name` from start on in steps up to, but without, count."""
        self.do(f"br label %{name}.head")
        before = next(line[:-1] for line in reversed(self.lines) if line.endswith(":"))
        self.label(f"{name}.head")
        self.do(f"%{name} = phi i64 [ {start}, %{before} ], [ %{name}.next, %{name}.latch ]")
        place = len(self.lines)
        more = self.put(f"icmp slt i64 %{name}, {count}")
        self.do(f"br i1 {more}, label %{name}.body, label %{name}.done")
        self.label(f"{name}.body")
        yield f"%{name}"
        self.do(f"br label %{name}.latch")
        self.label(f"{name}.latch")
        self.do(f"%{name}.next = add i64 %{name}, {step}")
        self.do(f"br label %{name}.head")
        self.label(f"{name}.done")
        self.lines[place:place] = [
            f"  {each.value} = phi {each.kind} [ {each.start}, %{before} ], [ {each.following}, %{name}.latch ]"
            for each in carried
        ]

    @contextmanager
    def when(self, condition: str, name: str, rare: bool = False) -> Iterator[None]:
        self.do(f"br i1 {condition}, label %{name}, label %{name}.after" + ", !prof !0" * rare)
        self.label(name)
        yield
        self.do(f"br label %{name}.after")
        self.label(f"{name}.after")

    def times(self, value: str, factor: int | str) -> str:
        return self.put(f"mul i64 {value}, {factor}")

    def plus(self, value: str, other: int | str) -> str:
        return self.put(f"add i64 {value}, {other}")

    def fixed(self, name: str) -> str:
        """A number of GLOBALS."""
        return self.put(f"load i64, ptr @{name}, align 8, !invariant.load !1")

    def table(self, name: str) -> str:
        """An address of GLOBALS."""
        return self.put(f"load ptr, ptr @{name}, align 8, !invariant.load !1")


def transposed(w: Writer, rows: Sequence[str], lanes: int = LANES) -> list[str]:
    """Columns of four vectors, each a vector of four; lanes: of the rows, a multiple of four, turned four by four."""

    def picked(pair: Sequence[str], places: Sequence[int]) -> str:
        pick = [first + k % LANES + lanes * (k // LANES) for first in firsts for k in places]
        return w.shuffle(lanes, pair[0], pair[1], pick)

    firsts = range(0, lanes, LANES)
    low, high = ([picked(pair, places) for pair in (rows[:2], rows[2:])] for places in ((0, 4, 2, 6), (1, 5, 3, 7)))
    turned = [picked(pair, places) for places in ((0, 1, 4, 5), (2, 3, 6, 7)) for pair in (low, high)]
    if lanes == LANES:
        return turned
    return [w.shuffle(lanes, four, four, range(first, first + LANES)) for first in firsts for four in turned]
