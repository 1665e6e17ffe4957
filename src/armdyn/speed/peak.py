"""Peak of the core: independent chains of fused multiply-adds on full vectors, without memory access; bytes written.

12 accumulators hide the latency (4 or 5 cycles, two units) and fit into 16 registers with the two constants.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np

from armdyn.kernels import jit
from armdyn.speed.stopwatch import CLOCK

CHAINS = 12
UNROLLED = 8
WRITTEN = 2**28
"""Bytes, several times the caches."""
LINE = 8
"""Doubles of a line of the caches."""
WRITING = """
; not zeros: some processors write lines of zeros more than twice as fast as others
define void @write(i64 %start, i64 %bytes) {
entry:
  %to = inttoptr i64 %start to ptr
  br label %line
line:
  %at = phi i64 [ 0, %entry ], [ %next, %line ]
  %place = getelementptr i8, ptr %to, i64 %at
  store <8 x double> <double 1.0, double 2.0, double 3.0, double 4.0, double 5.0, double 6.0, double 7.0, double 8.0>, \
ptr %place, align 64, !nontemporal !0
  %next = add i64 %at, 64
  %more = icmp slt i64 %next, %bytes
  br i1 %more, label %line, label %done
done:
  ret void
}
!0 = !{i32 1}
"""
FLOPS = 2
"""A fused multiply-add is two operations."""


def vector_lanes() -> int:
    """Doubles in the widest vector register of this machine."""
    features = jit.machine_description()
    if "+avx512f" in features:
        return 8
    return 4 if "+avx," in features or "+avx2" in features else 2


def peak(seconds: float = 0.02) -> float:
    """Floating-point operations per second of one core, multiplications and additions, measured for about `seconds`."""
    run, flops = _kernel()
    passes = 1000
    while True:
        start = CLOCK()
        run(passes)
        took = CLOCK() - start
        if took >= seconds / 2:
            return passes * flops / took
        passes *= 2


def bandwidth() -> float:
    """Bytes per second that one core writes to memory, past its caches: the best of some passes over a large array."""
    array = np.ones(WRITTEN // 8 + LINE)
    start = array.ctypes.data + -array.ctypes.data % (8 * LINE)
    code = jit.Code([jit.compiled(WRITING)], names=("write",))
    write = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)(code.address("write"))
    best = float("inf")
    for _ in range(10):
        before = CLOCK()
        write(start, WRITTEN)
        best = min(best, CLOCK() - before)
    return WRITTEN / best


@cache
def _kernel() -> tuple[Callable[[int], float], int]:
    lanes = vector_lanes()
    code = jit.Code([jit.compiled(_assembly(lanes))], names=("peak",))
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(code.address("peak"))

    def run(passes: int, _code: jit.Code = code) -> float:
        return float(function(passes))

    return run, FLOPS * lanes * CHAINS * UNROLLED


def _assembly(lanes: int) -> str:
    """x <- x a + b in every chain; the start values depend on the argument, so that nothing is folded."""
    kind = f"<{lanes} x double>"
    chains = range(CHAINS)
    phis = [f"  %x{k} = phi {kind} [ %start, %entry ], [ %y{k}_{UNROLLED - 1}, %again ]" for k in chains]
    steps = []
    for step in range(UNROLLED):
        for k in chains:
            last = f"%x{k}" if step == 0 else f"%y{k}_{step - 1}"
            steps.append(f"  %y{k}_{step} = call {kind} @llvm.fmuladd.v{lanes}f64({kind} {last}, {kind} %a, {kind} %b)")
    sums = [f"  %s{k} = fadd {kind} {f'%s{k - 1}' if k else '%start'}, %y{k}_{UNROLLED - 1}" for k in chains]
    return "\n".join(
        [
            f"declare {kind} @llvm.fmuladd.v{lanes}f64({kind}, {kind}, {kind})",
            "define double @peak(i64 %passes) {",
            "entry:",
            "  %number = sitofp i64 %passes to double",
            "  %small = fdiv double 1.0, %number",
            f"  %start = insertelement {kind} zeroinitializer, double %small, i32 0",
            f"  %one = insertelement {kind} zeroinitializer, double 0.5, i32 0",
            f"  %a = fadd {kind} %one, %start",
            f"  %b = fsub {kind} %one, %start",
            "  br label %again",
            "again:",
            "  %i = phi i64 [ 0, %entry ], [ %next, %again ]",
            *phis,
            *steps,
            "  %next = add i64 %i, 1",
            "  %more = icmp slt i64 %next, %passes",
            "  br i1 %more, label %again, label %done",
            "done:",
            *sums,
            f"  %result = extractelement {kind} %s{CHAINS - 1}, i32 0",
            "  ret double %result",
            "}",
        ]
    )
