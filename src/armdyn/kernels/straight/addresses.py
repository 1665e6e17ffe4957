"""Short addresses: what is used most lies side by side, where registers point to.

x86-64 processors keep instructions decoded, and more of them if they are short: with one byte of displacement in place
of four. A function of thousands of instructions, each of which runs once, is as fast as they are decoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

POINTERS = 13
"""General registers of x86-64 that hold addresses; one more is LLVM's, two are those of the stack."""
BYTE = 256
"""Bytes that a displacement of one byte reaches; with AVX-512 it counts in units of the operand in memory."""
WORTH = 16
"""Uses of a window from which a pointer to it saves more than loading it costs."""


@dataclass(frozen=True)
class Area:
    """Memory of a function. base: its address. pointers: names of the addresses of its values, in their order.

    step: bytes of a value. reach: bytes around an address that instructions reach with a displacement of one byte.
    """

    base: str
    pointers: Sequence[str]
    step: int
    reach: int


def defined_addresses(areas: Sequence[Area], uses: Mapping[str, int], windows: int) -> list[str]:
    """Lines that define all pointers.

    windows: areas are divided into windows that a short displacement reaches, and so many get a pointer of their own,
    those that are used most. LLVM cannot see through empty inline assembly: it keeps the pointer in a register and does
    not replace it by a longer displacement.
    """
    pieces = [
        (area, start, area.pointers[start : start + area.reach // area.step])
        for area in areas
        for start in range(0, len(area.pointers), area.reach // area.step)
    ]
    count = [sum(uses.get(pointer, 0) for pointer in piece[2]) for piece in pieces]
    worth = [k for k in range(len(pieces)) if count[k] >= WORTH]
    chosen = {*sorted(worth, key=lambda k: -count[k])[: max(windows, 0)]}
    lines = []
    for k, (area, start, pointers) in enumerate(pieces):
        base, first = area.base, area.step * start
        if k in chosen:
            lines += [
                f"  %middle{k} = getelementptr i8, ptr {base}, i64 {first + area.reach // 2}",
                f'  %window{k} = call ptr asm "", "=r,0"(ptr %middle{k})',
            ]
            base, first = f"%window{k}", -area.reach // 2
        lines += [
            f"  {each} = getelementptr i8, ptr {base}, i64 {first + area.step * j}" for j, each in enumerate(pointers)
        ]
    return lines
