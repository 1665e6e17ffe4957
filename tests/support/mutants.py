"""Mutated files: bytes changed at random, and what must come of every one of them."""

from __future__ import annotations

import random
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable

from support.limits import memory_growth, waiting_is_a_failure

LARGEST = 1.0
"""GB that a file may take."""

NASTY = [
    b"", b"\x00", b"\xff" * 8, b"\x00" * 8, b"\xff\xff\xff\x7f", struct.pack("<q", 2**62), struct.pack("<q", -1),
    b"nan", b"inf", b"-1e999", b"1e308", b"1" * 400, b"9" * 5000, b",", b",,,,", b"\n", b"\r", b"\t", b";", b'"', b"#",
    b"\xef\xbb\xbf", b"\xff\xfe", "٣".encode(), b"a" * 10000, b"__import__('os')", b"{'descr': '<f8'}", b"(1" * 200,
    b"O", b"|O", b">f16", b"<U9999999999", b"-", b"1,5", b"q1", b"tau1", b"t", b"\x1b[31m", b"PK\x03\x04", b"PAR1",
]  # fmt: skip


def flip(dice: random.Random, data: bytearray) -> None:
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def overwrite(dice: random.Random, data: bytearray) -> None:
    at, new = dice.randrange(len(data)), dice.choice(NASTY)
    data[at : at + len(new)] = new


def insert(dice: random.Random, data: bytearray) -> None:
    at = dice.randrange(len(data))
    data[at:at] = dice.choice(NASTY)


def cut(dice: random.Random, data: bytearray) -> None:
    at = dice.randrange(len(data))
    del data[at : at + dice.choice((1, 2, 4, 8, 40, 400))]


def truncate(dice: random.Random, data: bytearray) -> None:
    del data[dice.randrange(len(data)) :]


def repeat(dice: random.Random, data: bytearray) -> None:
    at = dice.randrange(len(data))
    part = data[at : at + dice.randrange(1, 100)]
    data[at:at] = part * dice.choice((1, 2, 10))


def number(dice: random.Random, data: bytearray) -> None:
    """A length or offset by another one."""
    at, size = dice.randrange(len(data)), dice.choice((1, 2, 4, 8))
    value = dice.choice((0, 1, 2**7, 2**15 - 1, 2**31 - 1, 2**31, 2**63 - 1, 2**64 - 1)) % 2 ** (8 * size)
    data[at : at + size] = value.to_bytes(size, dice.choice(("little", "big")))


MUTATIONS: list[Callable[[random.Random, bytearray], None]] = [
    flip, flip, overwrite, insert, cut, truncate, repeat, number, number,
]  # fmt: skip


def mutated(seed: str, original: bytes) -> bytes:
    """The bytes of a file after a few random mutations, the same ones for the same seed."""
    dice = random.Random(seed)
    data = bytearray(original)
    for _ in range(dice.choice((1, 1, 2, 4, 16))):
        dice.choice(MUTATIONS)(dice, data)
        data = data or bytearray(b" ")
    return bytes(data)


def all_end_well(kind: str, count: int, outcome: Callable[[int], str]) -> Counter[str]:
    """Outcomes of mutants 0, 1, ...; an assertion names those that end in an exception, or take too long or too much.

    outcome: what came of mutant i, in a word.
    """
    seen: Counter[str] = Counter()
    failures, slowest, slowest_one = [], 0.0, 0
    growth = memory_growth()
    for i in range(count):
        begin = time.process_time()
        try:
            with waiting_is_a_failure():
                seen[outcome(i)] += 1
        except Exception as error:
            failures.append(f"{i}: {type(error).__name__}: {str(error)[:200]}")
        if (taken := time.process_time() - begin) > slowest:
            slowest, slowest_one = taken, i
    words = ", ".join(f"{number} {word}" for word, number in sorted(seen.items()))
    sys.stdout.write(f"{kind}: {count} mutants: {words}; slowest {slowest:.2f} s ({slowest_one}), "
                     f"{growth():.2f} GB more\n")  # fmt: skip
    assert not failures, f"{len(failures)} mutants of {kind}:\n" + "\n".join(failures[:40])
    assert growth() < LARGEST
    return seen
