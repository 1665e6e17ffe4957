"""Long formulas in lines: where to break them, and plain formulas broken."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

_INDENT, _DEEPEST, _NARROWEST = 2, 6, 24
_HEAD = re.compile(r"\S+(?: =|:) ")


def breaks(
    marks: Sequence[float], depths: Sequence[int], indents: Sequence[float], total: float, room: float
) -> list[int]:
    """Which places to break at, so that every line fits the room where that is possible.

    marks: how far from the start each place is.
    depths: how bad a break is there; of the places in the last two thirds of a line the best, then the last is taken.
    indents: what the line that follows is indented by.
    total: length of the whole.
    room: length of a line.
    """
    chosen: list[int] = []
    start, left = 0.0, room
    while total - start > left:
        first, last = bisect_right(marks, start), bisect_right(marks, start + left)
        if first == len(marks):
            break
        late = bisect_right(marks, start + left / 3)
        within = range(late if late < last else first, max(last, first + 1))
        best = min(within, key=lambda k: (depths[k], -marks[k]))
        chosen.append(best)
        start, left = marks[best], room - indents[best]
    return chosen


def wrapped(formula: str, width: int) -> str:
    """A formula behind its head, broken before plus and minus signs, outside of brackets where that is possible.

    >>> print(wrapped("M11 = m2*(2*a1*l2*c2 + a1^2 + l2^2) + I1 + I2 + l1^2*m1", 36))
    M11 = m2*(2*a1*l2*c2 + a1^2 + l2^2)
          + I1 + I2 + l1^2*m1
    """
    begin = _HEAD.match(formula)
    head = begin[0] if begin else ""
    expression = formula.removeprefix(head)
    places, depths = _signs(expression)
    indents = [_INDENT * min(depth, _DEEPEST) for depth in depths]
    chosen = breaks(places, depths, indents, len(expression), max(width - len(head), _NARROWEST))
    ends = [places[k] for k in chosen]
    parts = [expression[start:end].lstrip() for start, end in zip([0, *ends], [*ends, None], strict=True)]
    rest = (" " * (len(head) + indents[k]) + part for k, part in zip(chosen, parts[1:], strict=True))
    return "\n".join([head + parts[0], *rest])


def _signs(expression: str) -> tuple[list[int], list[int]]:
    """Places of the blanks before plus and minus signs, and the depth of brackets there."""
    places, depths, depth = [], [], 0
    for match in re.finditer(r"[({]|[)}]| [+-] ", expression):
        if match[0] in "({":
            depth += 1
        elif match[0] in ")}":
            depth -= 1
        else:
            places.append(match.start())
            depths.append(depth)
    return places, depths
