"""The binary of an FMU for Linux on x86-64, made without a compiler: LLVM's object code, linked here.

The code around the model (`fmu/fmi2.c`, `fmu/fmi3.c`) is kept as LLVM IR; the model's own is written from its graphs.
Source of the format: System V ABI, AMD64 supplement (ELF, relocations); the unit needs of its host only the C library.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from armdyn.errors import ArmdynError
from armdyn.graph import Graph, symbol, without_arctangents
from armdyn.graph.derivative import substitute
from armdyn.graph.node import COS, SIN, SYMBOL
from armdyn.graph.structure import rebuilt
from armdyn.kernels import jit
from armdyn.kernels.ir_writer import Constants, Writer, literal
from armdyn.kernels.straight.emit import completed, program
from armdyn.kernels.straight.operations import Body
from armdyn.kernels.straight.sincos import PLAIN, sincos

FOLDER = Path(__file__).parent / "fmu"
TRIPLE = "x86_64-unknown-linux-gnu"
SOURCES = ("instance.h", "model.h")
PAIR = "{ double, double }"


def digest(version: int) -> str:
    """A hash of the C sources of a version: it tells whether the IR beside them is theirs."""
    texts = ((FOLDER / name).read_bytes() for name in (f"fmi{version}.c", *SOURCES))
    return hashlib.sha256(b"".join(texts)).hexdigest()[:16]


def library(version: int, model: str, exported: str) -> bytes:
    """The shared library of a model in IR; exported: what the names of its functions begin with."""
    around = (FOLDER / f"fmi{version}.ll").read_text(encoding="utf-8")
    return linked(jit.portable(TRIPLE, "x86-64", around, model), exported)


# The model in IR ------------------------------------------------------------------------------------------------------


def function(name: str, graph: Graph, at: Mapping[str, int]) -> str:
    """`void @name(ptr v)`: a graph whose arguments and results are among the variables v."""
    # Parameters vary here: expressions of them are computed as others are.
    fixed = [node for node in graph.nodes if node.op == SYMBOL and not node.online]
    varying = {node: symbol(f"{node.value} of the model") for node in fixed}
    inputs = rebuilt(dict(graph.inputs), lambda node: varying.get(node, node))
    graph = replace(graph, inputs=inputs, outputs=substitute(dict(graph.outputs), varying))
    ports, plan = program(without_arctangents(graph))
    w, constants = Writer(), Constants()
    place = {node: at[port.name] + k for port in ports.inputs for k, node in enumerate(port.nodes)}
    body = Body(w, 1, plan, lambda node: w.load("double", w.offset("%v", 8 * place[node])), constants)
    for node in plan.order:
        if node.op in (SIN, COS) and node.args[0] not in body.angles:
            pair = w.put(f"call {PAIR} @sine_and_cosine(double {body.value(node.args[0])})")
            sine, cosine = (w.put(f"extractvalue {PAIR} {pair}, {k}") for k in (0, 1))
            body.angles[node.args[0]] = sine, cosine
        body.write(node)
    for port in ports.outputs:
        for k, node in enumerate(port.nodes):
            w.store("double", body.value(node), w.offset("%v", 8 * (at[port.name] + k)))
    return w.function(f"hidden void @{name}(ptr %v)")


def sine_and_cosine() -> str:
    """`@sine_and_cosine(double)`: NaN beyond the largest angle."""
    w = Writer()
    values = sincos(w, "%x", 1, PLAIN, Constants())
    result = "undef"
    for k, value in enumerate(values[:2]):
        kept = w.put(f"select i1 {values[2]}, double 0x7FF8000000000000, double {value}")
        result = w.put(f"insertvalue {PAIR} {result}, double {kept}, {k}")
    w.do(f"ret {PAIR} {result}")
    return w.function(f"internal {PAIR} @sine_and_cosine(double %x)")


def table(name: str, kind: str, values: Iterable[str]) -> str:
    """A constant array, of at least one entry."""
    entries = [f"{kind} {value}" for value in values] or [f"{kind} zeroinitializer"]
    return f"@{name} = hidden constant [{len(entries)} x {kind}] [{', '.join(entries)}]\n"


def model_text(
    layout: tuple[float | int, ...],
    start: Iterable[float],
    quaternions: Iterable[int],
    token: str,
    functions: Mapping[str, Sequence[tuple[str, Graph, Mapping[str, int]]]],
) -> str:
    """The module of a model: its constants, and its functions, each a sequence of (name, graph, places).

    layout: the entries of `Layout` in fmu/model.h.
    """
    period, *others = layout
    parts = [
        f"@model = hidden constant {{ double, [{len(others)} x i32] }} {{ double {literal(period)}, "
        f"[{len(others)} x i32] [{', '.join(f'i32 {each}' for each in others)}] }}\n",
        table("model_start", "double", map(literal, start)),
        table("model_quaternions", "i32", map(str, quaternions)),
        table("model_token", "i8", map(str, (*token.encode(), 0))),
        sine_and_cosine(),
    ]
    for name, calls in functions.items():
        parts += [function(called, graph, at) for called, graph, at in calls]
        inner = "".join(f"  call void @{called}(ptr %v)\n" for called, *_ in calls)
        parts.append(f"define hidden void @{name}(ptr %v) {{\n{inner}  ret void\n}}\n")
    return completed(parts)


# The linker -----------------------------------------------------------------------------------------------------------

PAGE = 4096
PROGBITS, RELA, NOBITS, ALLOC, WRITE = 1, 4, 8, 2, 1
ABSOLUTE, RELATIVE, GLOBAL_DATA = 1, 8, 6
DIRECT, BY_TABLE = (2, 4), (9, 41, 42)
"""Relocations relative to the instruction: of an address, and of its entry in the table of addresses."""
NEEDED, HASH, STRINGS, SYMBOLS, RELOCATIONS, RELOCATIONS_SIZE, RELOCATION_SIZE, STRINGS_SIZE, SYMBOL_SIZE = (
    1, 4, 5, 6, 7, 8, 9, 10, 11,
)  # fmt: skip
"""Tags of the dynamic section."""
HOST = ("libc.so.6", "libm.so.6")


class _Image:
    """A segment that grows; its address is its place in the file."""

    def __init__(self, address: int, data: bytearray | None = None) -> None:
        self.address, self.data = address, bytearray() if data is None else data

    def put(self, content: bytes, align: int = 16) -> int:
        """Append, and return the address."""
        self.data += bytes(-(self.address + len(self.data)) % align)
        at = self.address + len(self.data)
        self.data += content
        return at


def linked(code: bytes, exported: str) -> bytes:
    """A shared library of one object file for x86-64; exported: what the names of its public functions begin with."""
    sections, symbols = _read(code)
    undefined = [name for name, kind, section, _ in symbols if name and section == 0 and kind != 3]
    public = [i for i, (name, _, section, _) in enumerate(symbols) if section and name.startswith(exported)]
    header = 64 + 4 * 56
    fixed, words = _Image(0, bytearray(header)), bytearray(b"\0")

    def word(text: str) -> int:
        words.extend(text.encode() + b"\0")
        return len(words) - 1 - len(text.encode())

    imported = {name: i for i, name in enumerate(dict.fromkeys(undefined), 1)}
    needed = [word(name) for name in HOST]
    names = [word(name) for name in (*imported, *(symbols[i][0] for i in public))]
    strings = fixed.put(bytes(words))
    count = 1 + len(names)
    table_at = fixed.put(bytes(24 * count))
    chain = (*(0,), *(i + 1 if i + 1 < count else 0 for i in range(1, count)))
    hash_at = fixed.put(struct.pack(f"<{3 + count}I", 1, count, 1, *chain))
    where: dict[int, int] = {}
    for i, section in enumerate(sections):
        if section.loaded and not section.writable:
            where[i] = fixed.put(section.content, section.align)
    stubs = {name: fixed.put(bytes(8), 8) for name in imported}
    variable_relocations = sum(1 for s in sections if s.loaded for r in s.relocations if r[1] == ABSOLUTE)
    by_table = dict.fromkeys(r[2] for s in sections if s.loaded for r in s.relocations if r[1] in BY_TABLE)
    entries = len(imported) + sum(1 for i in by_table if symbols[i][2])
    rela_at = fixed.put(bytes(24 * (variable_relocations + entries)))
    free = _Image(-(-(len(fixed.data)) // PAGE) * PAGE)
    for i, section in enumerate(sections):
        if section.loaded and section.writable:
            where[i] = free.put(section.content, section.align)
    slots = {name: free.put(bytes(8), 8) for name in imported}

    def address(i: int) -> int:
        name, _, section, value = symbols[i]
        return where[section] + value if section else stubs[name]

    relocations = [(slots[name], GLOBAL_DATA, number, 0) for name, number in imported.items()]
    own = {}
    for i in by_table:
        own[i] = free.put(bytes(8), 8) if symbols[i][2] else slots[symbols[i][0]]
        if symbols[i][2]:
            relocations.append((own[i], RELATIVE, 0, address(i)))
    for i, section in enumerate(sections):
        for offset, kind, to, addend in section.relocations if section.loaded else ():
            at = where[i] + offset
            if kind == ABSOLUTE:
                relocations.append((at, RELATIVE, 0, address(to) + addend))
                continue
            if kind not in (*DIRECT, *BY_TABLE):
                raise ArmdynError(f"a relocation of kind {kind}", where="binary of an FMU")
            target = own[to] if kind in BY_TABLE else address(to)
            image = free if section.writable else fixed
            struct.pack_into("<i", image.data, at - image.address, target + addend - at)
    for name, at in stubs.items():
        struct.pack_into("<BBi", fixed.data, at, 0xFF, 0x25, slots[name] - at - 6)  # jmp *slot(%rip)
    for k, (at, kind, number, addend) in enumerate(relocations):
        struct.pack_into("<QQq", fixed.data, rela_at + 24 * k, at, number << 32 | kind, addend)
    for k, text in enumerate(names):
        i = k - len(imported)
        entry = (text, 0x12, 0, 1, address(public[i]), 0) if i >= 0 else (text, 0x12, 0, 0, 0, 0)
        struct.pack_into("<IBBHQQ", fixed.data, table_at + 24 * (k + 1), *entry)
    dynamic = [(NEEDED, each) for each in needed]
    dynamic += [(HASH, hash_at), (STRINGS, strings), (SYMBOLS, table_at), (STRINGS_SIZE, len(words)), (SYMBOL_SIZE, 24)]
    dynamic += [(RELOCATIONS, rela_at), (RELOCATIONS_SIZE, 24 * len(relocations)), (RELOCATION_SIZE, 24), (0, 0)]
    dynamic_at = free.put(b"".join(struct.pack("<QQ", *each) for each in dynamic))
    segments = [
        (1, 5, 0, len(fixed.data), PAGE),
        (1, 6, free.address, len(free.data), PAGE),
        (2, 6, dynamic_at, 16 * len(dynamic), 8),
        (0x6474E551, 6, 0, 0, 16),  # no executable stack
    ]
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 64, 0, 0, 64, 56, len(segments), 64, 0, 0)
    for kind, flags, at, size, align in segments:
        head += struct.pack("<IIQQQQQQ", kind, flags, at, at, at, size, size, align)
    fixed.data[:header] = head
    return bytes(fixed.data).ljust(free.address, b"\0") + bytes(free.data)


@dataclass(frozen=True)
class _Section:
    """A section of an object file; relocations: (offset, kind, symbol, addend)."""

    content: bytes
    align: int
    loaded: bool
    writable: bool
    relocations: list[tuple[int, int, int, int]] = field(default_factory=list)


def _read(code: bytes) -> tuple[list[_Section], list[tuple[str, int, int, int]]]:
    """Sections of an object file, and its symbols: (name, kind, section, value)."""
    (start,) = struct.unpack_from("<Q", code, 40)
    count, names_at = struct.unpack_from("<HH", code, 60)
    heads = [struct.unpack_from("<IIQQQQIIQQ", code, start + 64 * i) for i in range(count)]

    def text(table: int, at: int) -> str:
        begin = heads[table][4] + at
        return code[begin : code.index(b"\0", begin)].decode()

    sections = []
    for name, kind, flags, _, at, size, _, _, align, _ in heads:
        content = bytes(size) if kind == NOBITS else code[at : at + size]
        called = text(names_at, name)
        loaded = bool(flags & ALLOC) and kind in (PROGBITS, NOBITS) and not called.startswith((".eh_frame", ".note"))
        sections.append(_Section(content, max(1, align), loaded, bool(flags & WRITE)))
    symbols: list[tuple[str, int, int, int]] = []
    for _, kind, _, _, at, size, link, info, _, _ in heads:
        if kind == 2:
            rows: list[Any] = [struct.unpack_from("<IBBHQQ", code, at + 24 * k) for k in range(size // 24)]
            symbols = [(text(link, row[0]), row[1] & 15, row[3], row[4]) for row in rows]
        if kind == RELA:
            for k in range(size // 24):
                offset, which, addend = struct.unpack_from("<QQq", code, at + 24 * k)
                sections[info].relocations.append((offset, which & 0xFFFFFFFF, which >> 32, addend))
    return sections, symbols
