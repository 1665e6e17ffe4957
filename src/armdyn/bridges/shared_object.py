"""Shared objects for libraries that load functions from files, as CasADi does; written here, without a compiler.

A file holds nothing but names: each is a jump to machine code that is in this process already. It is of no use in any
other process, and is deleted when this one ends. ELF as on Linux, for x86-64 and 64-bit ARM.
"""

from __future__ import annotations

import platform
import struct
import sys
from collections.abc import Mapping

MACHINES = {"x86_64": 62, "AMD64": 62, "aarch64": 183}
"""Numbers of processors in ELF."""
HEADER, SEGMENT, SYMBOL = 64, 56, 24
"""Bytes of the file's header, and of the entry of a segment and of a symbol."""
PAGE = 0x1000
LOAD, DYNAMIC, STACK = 1, 2, 0x6474E551
"""Kinds of segments."""
HASH, STRINGS, SYMBOLS, SIZE, ENTRY = 4, 5, 6, 10, 11
"""Entries of the dynamic section."""
FUNCTION = 0x12
"""A global symbol that is a function."""


def can_be_written() -> bool:
    """Whether this system loads such files."""
    return sys.platform == "linux" and platform.machine() in MACHINES


def shared_object(addresses: Mapping[str, int]) -> bytes:
    """A file with functions of these names that jump to these addresses."""
    names = list(addresses)
    code, places = b"", []
    for address in addresses.values():
        places.append(len(code))
        code += _jump(address)
    strings, offsets = b"\0", []
    for name in names:
        offsets.append(len(strings))
        strings += name.encode("ascii") + b"\0"
    count = len(names) + 1
    chain = [0, *range(2, count), 0]  # one bucket: every name after the other
    table = struct.pack(f"<{3 + count}I", 1, count, 1, *chain)
    hash_at = HEADER + 4 * SEGMENT
    symbols_at = _rounded(hash_at + len(table), 8)
    strings_at = symbols_at + SYMBOL * count
    dynamic_at = _rounded(strings_at + len(strings), 8)
    entries = ((HASH, hash_at), (STRINGS, strings_at), (SYMBOLS, symbols_at), (SIZE, len(strings)), (ENTRY, SYMBOL))
    dynamic = b"".join(struct.pack("<QQ", *entry) for entry in (*entries, (0, 0)))
    code_at = _rounded(dynamic_at + len(dynamic), PAGE)
    symbols = bytes(SYMBOL)
    for offset, place in zip(offsets, places, strict=True):
        symbols += struct.pack("<IBBHQQ", offset, FUNCTION, 0, 1, code_at + place, len(_jump(0)))
    data_size = dynamic_at + len(dynamic)
    segments = (
        (LOAD, 6, 0, data_size, PAGE),  # read and write: the loader writes into the dynamic section
        (LOAD, 5, code_at, len(code), PAGE),
        (DYNAMIC, 6, dynamic_at, len(dynamic), 8),
        (STACK, 6, 0, 0, 16),  # the stack need not be executable
    )
    head = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    machine = MACHINES[platform.machine()]
    head += struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, HEADER, 0, 0, HEADER, SEGMENT, len(segments), 64, 0, 0)
    for kind, flags, at, size, align in segments:
        head += struct.pack("<IIQQQQQQ", kind, flags, at, at, at, size, size, align)
    text = bytearray(code_at)
    for at, part in ((0, head), (hash_at, table), (symbols_at, symbols), (strings_at, strings), (dynamic_at, dynamic)):
        text[at : at + len(part)] = part
    return bytes(text) + code


def _jump(address: int) -> bytes:
    if platform.machine() == "aarch64":
        return struct.pack("<IIQ", 0x58000050, 0xD61F0200, address)  # ldr x16, next; br x16
    return b"\x48\xb8" + struct.pack("<Q", address) + b"\xff\xe0" + bytes(4)  # mov rax, address; jmp rax


def _rounded(value: int, to: int) -> int:
    return -(-value // to) * to


__all__ = ["can_be_written", "shared_object"]
