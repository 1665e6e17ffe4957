"""From a graph to LLVM assembly: the text of one kernel's module.

A kernel is two modules. One has `@fast` for the single call from Python. The other, made when the first batch comes,
has `@loop` for NumPy and `@many` for plain batches. They rest on `@single` (one sample) and `@rows` (blocks of
samples), which execute the same plan with the same fused operations, so a sample's result does not depend on the batch
it came in. No address of the running process is in the text: what lies outside is an external symbol, bound when the
code is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from armdyn.graph.node import Node
from armdyn.kernels.batch_call import many
from armdyn.kernels.batch_loop import loop
from armdyn.kernels.block import rows
from armdyn.kernels.fastcall import EXTERNALS, Fixed, fast
from armdyn.kernels.ir_writer import Constants, vector
from armdyn.kernels.ports import Ports
from armdyn.kernels.schedule import plan
from armdyn.kernels.sincos import FUSED, PLAIN, exact_lanes
from armdyn.kernels.single import single

FAST, SLOW = 2**20, 1
"""Weights of the rare branch for the compiler."""

ARGUMENTS = {"fmuladd": 3, "copysign": 2}
"""Of intrinsics that take more than one."""


def module(ports: Ports, nodes: tuple[Node, ...], lanes: int, *, batches: bool, fused: bool = True) -> str:
    """The text of one of the two modules.

    lanes: 1 means no blocks. batches: the module for batches. fused: whether the machine has fused multiply-adds.
    """
    reduction = FUSED if fused else PLAIN
    program = plan(nodes, [node for port in ports.outputs for node in port.nodes])
    constants = Constants()
    parts = [single(ports, program, reduction, constants)]
    if not batches:
        parts.append(fast(ports, batches=False))
    else:
        if lanes > 1:
            parts.append(rows(ports, program, lanes, reduction, constants))
        parts += [loop(ports, lanes), many(ports, Fixed(ports))]
    if program.angles:
        parts.append(exact_lanes(reduction.limit))
    return completed([*parts, constants.text])


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
    if "@llvm.smin.i64(" in text:
        lines.add("declare i64 @llvm.smin.i64(i64, i64)")
    return "\n".join(sorted(lines))
