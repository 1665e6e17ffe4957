"""Sine and cosine as straight-line code, the same for one angle or a vector of them.

The angle is brought to [-pi/4, pi/4] by taking off k quarter turns in three steps (Cody and Waite), then two minimax
polynomials (found by Remez exchange; relative error 3.5e-18 for the sine, absolute 5e-20 for the cosine) and a choice
by k modulo 4. With fused multiply-adds the first step is exact and the second rounds once up to the limit, so the
error stays near one unit in the last place even beside multiples of pi/2. Angles beyond the limit, where three parts of
pi/2 are not enough, infinity and NaN are set to zero here and left to the caller, who knows them by `beyond`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from armdyn.kernels.ir_writer import NARROW, Constants, Writer, flags, integers, literal, splat, vector, whole
from armdyn.kernels.loop_writer import Carried, LoopWriter

TWO_OVER_PI = float.fromhex("0x1.45f306dc9c883p-1")
ROUND = 1.5 * 2.0**52
"""Added to a number below 2**51 it leaves the nearest integer in the last bits."""

SIN = (
    float.fromhex("-0x1.5555555555549p-3"),
    float.fromhex("0x1.111111110f830p-7"),
    float.fromhex("-0x1.a01a019c07e1ep-13"),
    float.fromhex("0x1.71de356eefb47p-19"),
    float.fromhex("-0x1.ae5e5f1a50b6ap-26"),
    float.fromhex("0x1.5d90de8b95145p-33"),
)
"""sin(r) = r + r^3 S(r^2)"""

COS = (
    float.fromhex("0x1.555555555554cp-5"),
    float.fromhex("-0x1.6c16c16c1512dp-10"),
    float.fromhex("0x1.a01a019ca98a7p-16"),
    float.fromhex("-0x1.27e4f803c31c8p-22"),
    float.fromhex("0x1.1ee9e78cb4a1ep-29"),
    float.fromhex("-0x1.8fac461abc471p-37"),
)
"""cos(r) = 1 - r^2/2 + r^4 C(r^2)"""


PASS = 64
"""Groups of angles that are reduced before any is evaluated."""
GROUP, HALF = 8, 4
"""Angles that are taken at a time, and those of a register of AVX2."""
BOTH = f"{{ {', '.join([vector(HALF)] * 4)} }}"


@dataclass(frozen=True)
class Reduction:
    """How quarter turns are taken off: parts of pi/2, largest first, and the largest angle they are good for."""

    parts: tuple[float, ...]
    limit: float


FUSED = Reduction(
    tuple(map(float.fromhex, ("0x1.921fb54442d18p+0", "0x1.1a62633145c06p-54", "0x1.c1cd129024e09p-107"))), 2.0**30
)
"""All parts are positive, so that -0.0 stays -0.0."""
PLAIN = Reduction(
    tuple(map(float.fromhex, ("0x1.921fb544p+0", "0x1.0b4611a6p-34", "0x1.3198a2ep-69", "0x1.b839a252049c1p-104"))),
    2.0**20,
)
"""Without fused multiply-adds: parts of 33 bits, whose products with k are exact."""


class Reduced(NamedTuple):
    """An angle without its quarter turns.

    r: what is left. z: its square. turns: their number, in the last bits. beyond: lanes whose angle is too large.
    """

    r: str
    z: str
    turns: str
    beyond: str


def sincos(w: Writer, x: str, lanes: int, reduction: Reduction, constants: Constants) -> tuple[str, str, str]:
    """(sine, cosine, beyond) of an angle; `beyond` marks lanes whose angle is too large for this code."""
    reduced = without_turns(w, x, lanes, reduction, constants)
    return (*of_reduced(w, reduced, lanes, constants), reduced.beyond)


def without_turns(w: Writer, x: str, lanes: int, reduction: Reduction, constants: Constants) -> Reduced:
    """An angle in [-pi/4, pi/4]."""
    kind, ints = vector(lanes), integers(lanes)

    def c(value: float) -> str:
        return constants.load(w, value, lanes)

    # Compared as integers: the order is the same, NaN counts as beyond, and no comparison with NaN is reported.
    size = w.put(f"and {ints} {_bits(w, x, lanes)}, {whole(2**63 - 1, lanes)}")
    beyond = w.put(f"icmp sgt {ints} {size}, {whole(int(literal(reduction.limit), 16), lanes)}")
    x = w.put(f"select {flags(lanes)} {beyond}, {kind} {splat(0.0, lanes)}, {kind} {x}")
    turns = w.fma(lanes, x, c(TWO_OVER_PI), c(ROUND))
    k = w.put(f"fsub {kind} {turns}, {c(ROUND)}")
    r = x
    for part in reduction.parts[:-1]:
        r = w.fma(lanes, k, c(-part), r)
    z = w.put(f"fmul {kind} {r}, {r}")  # the last part, at most 1e-23, is nothing in a square that is added to 1
    return Reduced(w.fma(lanes, k, c(-reduction.parts[-1]), r), z, turns, beyond)


def of_reduced(w: Writer, angle: Reduced, lanes: int, constants: Constants) -> tuple[str, str]:
    """(sine, cosine)."""
    kind, ints, r, z = vector(lanes), integers(lanes), angle.r, angle.z
    square = w.put(f"fmul {kind} {z}, {z}")

    def c(value: float) -> str:
        return constants.load(w, value, lanes)

    fma = partial(w.fma, lanes)

    def polynomial(coefficients: tuple[float, ...]) -> str:
        """Pairs of terms side by side, then a polynomial in z^2: as many operations as Horner's, fewer in a row."""
        pairs = [fma(c(odd), z, c(even)) for even, odd in zip(coefficients[::2], coefficients[1::2], strict=True)]
        result = pairs.pop()
        while pairs:
            result = fma(result, square, pairs.pop())
        return result

    minus = whole(-(2**63), lanes)
    odd_part = _bits(w, fma(w.put(f"fmul {kind} {z}, {r}"), polynomial(SIN), r), lanes)
    sign = w.put(f"and {ints} {_bits(w, r, lanes)}, {minus}")  # sin(-0.0) is -0.0
    sine = w.put(f"bitcast {ints} {w.put(f'or {ints} {odd_part}, {sign}')} to {kind}")
    cosine = fma(square, polynomial(COS), fma(z, c(-0.5), c(1.0)))

    # The last two bits of k: odd k swaps the two; bit 1 of k is the sign of the sine, bit 1 of k + 1 of the cosine.
    bits = _bits(w, angle.turns, lanes)
    odd = w.put(f"shl {ints} {bits}, {whole(63, lanes)}")
    swap = w.put(f"icmp slt {ints} {odd}, {whole(0, lanes)}")
    flipped = w.put(f"and {ints} {w.put(f'shl {ints} {bits}, {whole(62, lanes)}')}, {minus}")

    def signed(value: str, sign: str) -> str:
        return w.put(f"bitcast {ints} {w.put(f'xor {ints} {_bits(w, value, lanes)}, {sign}')} to {kind}")

    s = w.put(f"select {flags(lanes)} {swap}, {kind} {cosine}, {kind} {sine}")
    co = w.put(f"select {flags(lanes)} {swap}, {kind} {sine}, {kind} {cosine}")
    return signed(s, flipped), signed(co, w.put(f"xor {ints} {flipped}, {odd}"))


def _bits(w: Writer, value: str, lanes: int) -> str:
    return w.put(f"bitcast {vector(lanes)} {value} to {integers(lanes)}")


def sines(reduction: Reduction) -> list[str]:
    """`@sines` of eight angles, of any size, in registers of four: the sines come back in two, the cosines in two more.

    It is for one sample, so its vectors are narrow.
    """
    w, constants = Writer(), Constants()
    group = vector(GROUP)
    x = w.shuffle(HALF, "%low", "%high", range(GROUP))
    s, c, beyond = sincos(w, x, GROUP, reduction, constants)
    anywhere = w.put(f"call i1 @llvm.vector.reduce.or.v{GROUP}i1({flags(GROUP)} {beyond})")
    w.do(f"br i1 {anywhere}, label %rare, label %known, !prof !0")
    w.label("rare")
    w.do(f"ret {BOTH} {w.put(f'tail call {BOTH} @exact({group} {x}, {group} {s}, {group} {c})')}")
    w.label("known")
    _return_both(w, s, c)
    hot = w.function(f"{BOTH} @sines({vector(HALF)} %low, {vector(HALF)} %high) {NARROW}")
    w = Writer()
    for role in "xsc":
        w.do(f"%p{role} = alloca {group}, align 64")
        w.store(group, f"%{role}", f"%p{role}", 64)
    w.do(f"call void @exact_lanes(ptr %px, ptr %ps, ptr %pc, i64 {GROUP})")
    _return_both(w, w.load(group, "%ps", 64), w.load(group, "%pc", 64))
    rare = w.function(f"internal {BOTH} @exact({group} %x, {group} %s, {group} %c) noinline {NARROW}")
    return [hot, rare, exact_lanes(reduction.limit), constants.text]


def _return_both(w: Writer, *values: str) -> None:
    """Return vectors of eight, in halves."""
    result = "undef"
    for i in range(2 * len(values)):
        value, start = values[i // 2], i % 2 * HALF
        half = w.shuffle(GROUP, value, value, range(start, start + HALF))
        result = w.put(f"insertvalue {BOTH} {result}, {vector(HALF)} {half}, {i}")
    w.do(f"ret {BOTH} {result}")


def all_sines(reduction: Reduction) -> list[str]:
    """`@all_sines(ptr x, ptr s, ptr c, i64 groups)`: groups of eight angles in memory, for blocks of samples.

    In two passes: of operations that wait for each other a processor keeps about a hundred in view, and all those of a
    sine and a cosine in a row take too many of them.
    """
    w, kind, constants, size = LoopWriter(), vector(GROUP), Constants(), 8 * GROUP
    w.do(f"%turns = alloca [{PASS} x {kind}], align 64")
    passes = w.put(f"udiv i64 {w.plus('%groups', PASS - 1)}, {PASS}")
    with w.counting("pass", passes) as number:
        first = w.times(number, PASS)
        count = w.put(f"call i64 @llvm.smin.i64(i64 {PASS}, i64 {w.put(f'sub i64 %groups, {first}')})")
        x, s, c = (w.offset(f"%{role}", w.times(first, size)) for role in "xsc")
        none = Carried(flags(GROUP), "%found", "zeroinitializer")
        with w.counting("reduce", count, carried=[none]) as k:
            place = w.times(k, size)
            angle = without_turns(w, w.load(kind, w.offset(x, place), 64), GROUP, reduction, constants)
            for value, target in ((angle.r, s), (angle.z, c), (angle.turns, "%turns")):
                w.store(kind, value, w.offset(target, place), 64)
            none.following = w.put(f"or {flags(GROUP)} %found, {angle.beyond}")
        with w.counting("evaluate", count) as k:
            place = w.times(k, size)
            r, z, turns = (w.load(kind, w.offset(source, place), 64) for source in (s, c, "%turns"))
            for value, target in zip(of_reduced(w, Reduced(r, z, turns, ""), GROUP, constants), (s, c), strict=True):
                w.store(kind, value, w.offset(target, place), 64)
        anywhere = w.put(f"call i1 @llvm.vector.reduce.or.v{GROUP}i1({flags(GROUP)} %found)")
        with w.when(anywhere, "rare", rare=True):
            w.do(f"call void @exact_lanes(ptr {x}, ptr {s}, ptr {c}, i64 {w.times(count, GROUP)})")
    hot = w.function("void @all_sines(ptr %x, ptr %s, ptr %c, i64 %groups)")
    return [hot, exact_lanes(reduction.limit), constants.text]


def exact_lanes(limit: float) -> str:
    """The function that replaces sines and cosines beyond the limit by the C library's, one by one."""
    return f"""
define internal void @exact_lanes(ptr %x, ptr %s, ptr %c, i64 %count) noinline {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %step ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %look, label %done
look:
  %px = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %px, align 8
  %bits = bitcast double %v to i64
  %size = and i64 %bits, {2**63 - 1}
  %beyond = icmp sgt i64 %size, {int(literal(limit), 16)}
  br i1 %beyond, label %fix, label %step
fix:
  %sine = call double @sin(double %v)
  %cosine = call double @cos(double %v)
  %ps = getelementptr double, ptr %s, i64 %i
  %pc = getelementptr double, ptr %c, i64 %i
  store double %sine, ptr %ps, align 8
  store double %cosine, ptr %pc, align 8
  br label %step
step:
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}}
"""
