"""The same IR for other processors and systems: LLVM makes object code of it that needs nothing unknown from outside.

Code for vectors of four and of eight, and for other numbers of registers, is executed in `test_straight`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import armdyn
from armdyn.dynamics.looped.tables import looped
from armdyn.graph import Graph, trace
from armdyn.kernels import jit
from armdyn.kernels.call.arrays import EXTERNALS
from armdyn.kernels.kernel import ONE
from armdyn.kernels.machine import Machine
from armdyn.kernels.straight import emit
from armdyn.kernels.straight.emit import program
from armdyn.robot.random import random_robot

llvm = pytest.importorskip("llvmlite.binding")

INTEL = Machine(16, 4, fused=True, broadcasts=False, short_addresses=True)
ARM = Machine(32, 2, fused=True, broadcasts=False, short_addresses=False)
TARGETS: dict[str, tuple[str, Machine]] = {
    "aarch64-unknown-linux-gnu": ("neoverse-n1", ARM),
    "arm64-apple-darwin": ("apple-m1", ARM),
    "x86_64-pc-windows-msvc": ("haswell", INTEL),
    "x86_64-apple-darwin": ("haswell", INTEL),
    "x86_64-unknown-linux-gnu": ("x86-64", replace(INTEL, doubles=2, fused=False)),
}
OURS = {*ONE, "rows", "block", "loop", "many", "dense", "copy", "total", "sines", "all_sines", "exact",
        "scatter_results", "exact_lanes", "put_lines", "put_rows", "extents"}  # fmt: skip
SYSTEM = {"__chkstk", "exp"}
"""Windows looks at large stack frames page by page; the exponential is that of the C library."""


def target(triple: str) -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        found = llvm.Target.from_triple(triple)
    except RuntimeError:
        pytest.skip("this LLVM has no such target")
    return found.create_target_machine(cpu=TARGETS[triple][0], opt=1, reloc="pic", codemodel="small")


def check(texts: list[str], triple: str, known: set[str]) -> None:
    machine = target(triple)
    called: set[str] = set()
    for text in texts:
        with llvm.create_context() as context, llvm.parse_assembly(text, context) as module:
            module.triple = triple
            module.verify()
            assert len(machine.emit_object(module)) > 200
            called |= {
                *re.findall(r"^\s(?:bl|b|call|callq|jmp)\s+(?:\*)?([A-Za-z_]\w*)", machine.emit_assembly(module), re.M)
            }
    named = {name for name in called if not re.fullmatch(r"LBB\d+_\d+", name)}
    names = {name.removeprefix("_") if "darwin" in triple else name for name in named}
    assert names - known - OURS - SYSTEM - set(EXTERNALS) == set()
    assert "single" in names


@cache
def graphs() -> dict[str, Graph]:
    """Short and long ones, with angles of angles, exponentials and results that are scattered."""
    dynamics = armdyn.compile(armdyn.load("ur5"), cache=False)
    found = {name: dynamics.graph(name) for name in ("inverse_dynamics", "inverse_dynamics_derivatives", "regressor")}
    return found | {"stages": trace(lambda q: [(q[0].sin() + q[1]).cos().exp(), q[1].sign()], {"q": 2})}


@pytest.mark.parametrize("triple", TARGETS)
@pytest.mark.parametrize("name", graphs())
def test_straight_line_code(name: str, triple: str) -> None:
    ports, plan = program(graphs()[name])
    machine = TARGETS[triple][1]
    texts = [text for batches in (False, True)
             for text in emit.modules(ports, plan, 4, batches=batches, machine=machine)]  # fmt: skip
    assert ('asm ""' in "\n".join(texts)) == (machine.short_addresses and name != "stages")
    check(texts, triple, set())


@pytest.mark.skipif(not jit.available(), reason="no machine code")
@pytest.mark.parametrize("triple", TARGETS)
@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "inverse_dynamics_derivatives"])
def test_looped_code(name: str, triple: str) -> None:
    kernel = looped(random_robot(3, 6, branching=0.3), name)
    assert kernel is not None
    text = kernel.source()
    check([text], triple, set(re.findall(r"^define [^@]*@(\w+)", text, re.M)))
