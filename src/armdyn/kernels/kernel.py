"""Kernel: a graph as a NumPy function in machine code."""

from __future__ import annotations

import ctypes
import keyword
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from armdyn.errors import ArmdynError
from armdyn.graph import Graph, Operations, without_arctangents
from armdyn.kernels import cache as disk
from armdyn.kernels import jit
from armdyn.kernels.call import arrays
from armdyn.kernels.call.arrays import Extents
from armdyn.kernels.call.batches import Batches
from armdyn.kernels.call.functions import builtin, rebound
from armdyn.kernels.call.general import general_call
from armdyn.kernels.call.interpreted import Interpreter
from armdyn.kernels.call.single import SLOTS
from armdyn.kernels.ports import KernelRecord, Ports, digest, ports_of

LANES = (4, 8)
ONE, MANY = ("fast", "sequence", "slots", "batch", "single", "extents"), ("loop", "many")
"""What the code for one sample offers, and that for batches."""
LARGEST = 50_000
"""Operations of straight-line code, which takes two seconds to compile for one call, and two for batches; its machine
code has half a megabyte. Time and size grow linearly with operations."""


@dataclass(frozen=True, eq=False, repr=False)
class Kernel:
    """A compiled graph. Call it like a NumPy function: arrays (..., n) in, arrays out, leading axes broadcast.

    `call` is the fastest way to call it (a builtin function where possible); `kernel(...)` does the same, a little
    slower. Keywords: `out=` (a tuple for several outputs), `threads=` (0: one per processor), and those of
    NumPy's ufuncs. Large batches in a loop are up to twice as fast with `out=`, because the system clears new memory.
    A sample's result is the same to the last bit in every batch. Finiteness of input is not checked.

    `sequence` is for recurrences, where a sample's result is an argument of the next one: called with the addresses of
    two tables, where arrays begin and how many bytes their samples are apart, and the number of samples. None where
    there is no machine code.
    """

    name: str
    signature: str
    operations: Operations
    lanes: int
    compile_seconds: float
    from_cache: bool
    ports: Ports
    call: Callable[..., Any]
    batches: Batches
    fast: Callable[..., Any] | None
    sequence: Callable[[int, int, int], None] | None
    record: KernelRecord
    _source: Callable[[], str] = field()

    @property
    def ufunc(self) -> Any:
        """The kernel as a NumPy ufunc, for batches of any shape."""
        return self.batches.ufunc

    @property
    def code(self) -> jit.Code | None:
        """The machine code for batches; None if there is none."""
        return self.batches.code

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.call(*arguments, **options)

    def before(self, slow: Callable[..., Any], name: str, signature: str, doc: str) -> Callable[..., Any]:
        """The fast path for plain single calls, with `slow` taking all others (`slow` itself if there is none).

        name, signature, doc: what `help` and editors show of it; the signature without annotations.
        """
        return slow if self.fast is None else rebound(self.fast, slow, name, signature, doc)

    def source(self) -> str:
        """The LLVM IR of this kernel; empty where NumPy executes the graph."""
        return self._source()

    def __repr__(self) -> str:
        where = "from the cache" if self.from_cache else "compiled"
        return f"Kernel({self.name} {self.signature}: {self.operations}; {where} in {self.compile_seconds:.3f} s)"


def build(graph: Graph, name: str = "kernel", *, cache: bool = True, lanes: int | None = None) -> Kernel:
    """Turn a graph into machine code.

    graph: without free parameters; inputs and outputs are scalars, vectors or matrices.
    name: shown in errors and `help`.
    cache: keep the code on disk for the next time.
    lanes: samples computed at a time in a batch, 4 or 8 (default: what fits a register, at least 4).

    Raises ArmdynError for free parameters and for graphs beyond 50,000 operations.

    >>> from armdyn.graph import trace
    >>> kernel = build(trace(lambda q: [q[0].sin() * q[1], q[0] + q[1]], {"q": 2}))
    >>> kernel.signature, kernel([[0.0, 1.0], [0.5, 2.0]]).round(3).tolist()
    ('(2)->(2)', [[0.0, 1.0], [0.959, 2.5]])
    """
    if jit.available():
        graph = without_arctangents(graph)
    ports, operations = ports_of(graph), graph.operations
    if operations.total > LARGEST:
        raise ArmdynError(
            f"{operations.total} operations are too many for straight-line code",
            where=name,
            expected=f"at most {LARGEST}",
            advice="Choose a formulation that grows linearly with the joints, or split the function",
        )
    if lanes not in (None, *LANES):
        raise ArmdynError(f"lanes={lanes}", where=name, expected="4, 8 or None")
    if not jit.available():
        return interpreted(graph, name)
    width = lanes or jit.register_lanes()
    key = disk.key(digest(ports, graph.nodes), jit.machine_description(), width)
    return restored(KernelRecord(key, width, operations, ports.bare), name, lambda: graph, cache=cache)


def restored(record: KernelRecord, name: str, graph: Callable[[], Graph], *, cache: bool = True) -> Kernel:
    """The kernel of a record, its code from the disk if it is there, compiled otherwise.

    graph: called for what must be compiled, and for `source`.
    """
    start = time.perf_counter()

    def images(batches: bool) -> list[bytes]:
        from armdyn.kernels.straight import emit  # not loaded for code that is on the disk

        return emit.images(without_arctangents(graph()), record.lanes, batches=batches)

    def single(images: Sequence[bytes]) -> jit.Code:
        code = jit.Code(images, ONE, slots=SLOTS * len(record.ports.outputs))
        Extents(record.ports).tell(code.address("extents"))
        return code

    def many(images: Sequence[bytes]) -> jit.Code:
        code = jit.Code(images, MANY, outside={name: one.address(name) for name in ("single", "extents")})
        code.kept = one.loaded
        return code

    def code_for_batches() -> jit.Code:
        """Which the code for one sample knows from now on."""
        code, _ = disk.obtained(disk.key("batches", record.image), partial(images, True), many, keep=cache)
        ctypes.c_int64.from_address(one.address("batch")).value = code.address("many")
        one.kept = code
        return code

    def source() -> str:
        from armdyn.kernels.straight import emit

        return emit.source(without_arctangents(graph()), record.lanes)

    one, found = disk.obtained(record.image, partial(images, False), single, keep=cache)
    return bound(name, record, one, code_for_batches, source, start, found)


def bound(
    name: str,
    record: KernelRecord,
    code: jit.Code,
    code_for_batches: Callable[[], jit.Code],
    source: Callable[[], str],
    start: float,
    from_cache: bool,
) -> Kernel:
    """Python functions around machine code."""
    function, ports, batches = _identifier(name), record.ports, Batches(made=code_for_batches)
    doc = f"{function}({', '.join(port.name for port in ports.inputs)}): {ports.signature}"
    general = general_call(function, ports, batches)
    fast = None
    if arrays.layout_holds():
        fast = builtin(code.address("fast"), function, doc, general, code)
    batches.describe(function, doc, ports, fast)
    seconds = time.perf_counter() - start
    facts = name, ports.signature, record.operations, record.lanes, seconds, from_cache, ports
    sequence = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(code.address("sequence"))
    return Kernel(*facts, fast or general, batches, fast, sequence, record, source)


def interpreted(graph: Graph, name: str = "kernel") -> Kernel:
    """A kernel that is no machine code: NumPy executes the graph, operation by operation, many times slower.

    It is what `build` gives where there is no LLVM, and what is left for graphs that are too long.
    """
    start, ports = time.perf_counter(), ports_of(graph)
    record = KernelRecord("", 1, graph.operations, ports.bare)
    function = Interpreter(graph, ports)
    seconds = time.perf_counter() - start
    facts = name, ports.signature, record.operations, 1, seconds, False, ports
    call = general_call(_identifier(name), ports, function)
    return Kernel(*facts, call, Batches(function), None, None, record, lambda: "")


def _identifier(name: str) -> str:
    """The name as an identifier, whatever the robot is called."""
    text = "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in name) or "kernel"
    return f"_{text}" if text[0].isdigit() or keyword.iskeyword(text) else text
