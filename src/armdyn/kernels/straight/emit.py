"""From a plan to LLVM IR: the text of one kernel's modules.

The program of a kernel is `@single` (one sample) and, made when the first batch comes, `@rows` (blocks of samples).
They execute the same plan with the same fused operations, so a sample's result does not depend on the batch it came in.
What calls them is in modules of its own, which kernels with arrays of as many axes share: `@fast` for the single call
from Python; `@loop` for NumPy and `@many` for plain batches. No address of the running
process is in the text: what lies outside is an external symbol, bound when the code is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from weakref import WeakKeyDictionary

from armdyn.graph import Graph
from armdyn.graph.structure import Port, leaves
from armdyn.kernels import jit
from armdyn.kernels.call.arrays import EXTERNALS
from armdyn.kernels.call.batch import many, total
from armdyn.kernels.call.loop import copy, dense, loop, sequence
from armdyn.kernels.call.single import fast
from armdyn.kernels.ir_writer import vector
from armdyn.kernels.machine import Machine
from armdyn.kernels.ports import Ports, ports_of
from armdyn.kernels.straight.blocks import rows
from armdyn.kernels.straight.scatter import scatter_results
from armdyn.kernels.straight.schedule import LATENCY, Plan, plan
from armdyn.kernels.straight.sincos import FUSED, PLAIN, Reduction, all_sines, sines
from armdyn.kernels.straight.single import single
from armdyn.kernels.straight.sums import reassociate_by_latency
from armdyn.kernels.streaming import put_lines

FAST, SLOW = 2**20, 1
"""Weights of a usual and a rare branch for the compiler."""

ARGUMENTS = {"fmuladd": 3}
"""Number of arguments of LLVM intrinsics with more than one."""


def images(graph: Graph, lanes: int, *, batches: bool) -> list[bytes]:
    """Object code of the modules for one sample, or of those for batches."""
    own, *common = _texts(graph, lanes, batches=batches)
    return [_compiled(own), *map(_common, common)]


def source(graph: Graph, lanes: int) -> str:
    """The LLVM IR of a kernel."""
    return "\n".join(text for batches in (False, True) for text in _texts(graph, lanes, batches=batches))


def _texts(graph: Graph, lanes: int, *, batches: bool) -> list[str]:
    return modules(*program(graph), lanes, batches=batches, machine=jit.machine())


_programs: WeakKeyDictionary[Graph, tuple[Ports, Plan]] = WeakKeyDictionary()


def program(graph: Graph) -> tuple[Ports, Plan]:
    """Arguments and results, and the order of operations, which the codes for one sample and for batches share."""
    if graph not in _programs:
        arranged = reassociate_by_latency(graph)
        _programs[graph] = ports_of(arranged), plan(arranged.nodes, [*leaves(dict(arranged.outputs))], LATENCY)
    return _programs[graph]


@lru_cache(256)
def _common(text: str) -> bytes:
    """Object code of a module that other kernels have too."""
    return _compiled(text)


def _compiled(text: str) -> bytes:
    """Object code of a module, with LLVM's least effort for `@loop`, where more gains nothing."""
    return jit.compiled(text, effort=0 if "define void @loop(" in text else 1)


def modules(ports: Ports, program: Plan, lanes: int, *, batches: bool, machine: Machine) -> list[str]:
    """The modules of the code for one sample, or of that for batches: the program's own first, then common ones.

    lanes: samples to a block of a batch.
    """
    common = list(_frames(_outline(ports), lanes, batches=batches))
    reduction = FUSED if machine.fused else PLAIN
    if batches:
        own = rows(ports, program, lanes, machine)
        common += [_sines(reduction, batches=True)] if program.angles else []
        common += [_scatter(lanes)] if "@scatter_results(" in own else []
    else:
        own = single(ports, program, machine.budget(1), reduction, short_addresses=machine.short_addresses)
        common += [_sines(reduction, batches=False)] if "@sines(" in own else []
    return [completed([own]), *common]


def _outline(ports: Ports) -> Ports:
    """What the code that calls a program knows of its arrays: how many axes they have."""
    return Ports(*(tuple(Port("", (2,) * len(port.shape)) for port in side) for side in (ports.inputs, ports.outputs)))


@lru_cache(256)
def _frames(ports: Ports, lanes: int, *, batches: bool) -> tuple[str, ...]:
    """Modules of what calls a program."""
    if not batches:
        return (completed([fast(ports, batches=False), sequence(ports), _external(ports)]),)
    used = [
        _external(ports),
        f"declare void @copy(ptr, ptr, {', '.join(['i64'] * 9)})\n",
        "declare void @rows(ptr, i64, i64)\n",
        "declare double @total(ptr, i64)\n",
        "@extents = external global i64\n",
    ]
    return completed([loop(ports), dense(ports, lanes), many(ports), *used]), completed([total(), copy()])


@cache
def _sines(reduction: Reduction, *, batches: bool) -> str:
    """The module of sines and cosines that blocks of samples call, or long programs for one sample."""
    return completed((all_sines if batches else sines)(reduction))


@cache
def _scatter(lanes: int) -> str:
    """The module that brings large results to their places."""
    return completed([scatter_results(lanes), put_lines()])


def _external(ports: Ports) -> str:
    return f"declare void @single({', '.join(['ptr'] * len(ports.all))})\n"


def completed(parts: Sequence[str]) -> str:
    """Functions and globals as a module: with declarations of what they use from outside."""
    text = "\n".join(parts)
    weights = f'!0 = !{{!"branch_weights", i32 {SLOW}, i32 {FAST}}}\n!1 = !{{}}\n!2 = !{{i32 1}}\n'
    return _declared(text) + "\n" + text + "\n" + weights


def _declared(text: str) -> str:
    """Declarations of the intrinsics and outside functions that the text uses."""
    lines = {line for name, line in EXTERNALS.items() if f"@{name}" in text}
    for name, ending in set(re.findall(r"@llvm\.(\w+)\.((?:v\d+)?f64)\(", text)):
        kind = vector(int(ending[1:-3]) if ending.startswith("v") else 1)
        lines.add(f"declare {kind} @llvm.{name}.{ending}({', '.join([kind] * ARGUMENTS.get(name, 1))})")
    for lanes in set(re.findall(r"@llvm\.vector\.reduce\.or\.v(\d+)i1\(", text)):
        lines.add(f"declare i1 @llvm.vector.reduce.or.v{lanes}i1(<{lanes} x i1>)")
    lines |= {f"declare i64 @llvm.{name}.i64(i64, i64)" for name in ("smin", "smax") if f"@llvm.{name}.i64(" in text}
    return "\n".join(sorted(lines))
