"""Sine, cosine, exponential, sign and choice in C, without branches: the same bits on every IEEE processor.

Numbers are chosen by masks of bits. The sine takes off quarter turns in parts whose products are exact (Cody and
Waite), then evaluates two minimax polynomials; those of doubles are the ones of the compiled kernels.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from armdyn.graph.node import COS, EXP, SELECT, SIGN, SIN
from armdyn.kernels.straight import sincos

USES = {SIN: "turned", COS: "turned", EXP: "exp", SELECT: "select", SIGN: "sign"}
"""What an operation needs of this file."""


@dataclass(frozen=True)
class Format:
    """A floating-point format, and the numbers of the functions in it.

    round: added to a number it leaves the nearest integer in the last bits.
    parts: of pi/2, largest first, whose products with the number of quarter turns are exact; limit: of angles.
    sine, cosine: coefficients, sin(r) = r + r^3 S(r^2), cos(r) = 1 - r^2/2 + r^4 C(r^2).
    logarithms: ln 2 in two parts; terms: of the exponential's series; largest: exponent before infinity.
    """

    real: str
    bits: int
    mantissa: int
    round: float
    parts: tuple[float, ...]
    limit: float
    sine: tuple[float, ...]
    cosine: tuple[float, ...]
    logarithms: tuple[float, float]
    terms: int
    largest: float

    def number(self, value: float) -> str:
        return f"{value!r}{'f' if self.real == 'float' else ''}"

    def pattern(self, value: float) -> str:
        """The bits of a number."""
        kinds = ("<f", "<I") if self.bits == 32 else ("<d", "<Q")
        return f"0x{struct.unpack(kinds[1], struct.pack(kinds[0], value))[0]:x}u{'ll' if self.bits == 64 else ''}"


def _hex(*numbers: str) -> tuple[float, ...]:
    return tuple(map(float.fromhex, numbers))


DOUBLE = Format(
    "double", 64, 52, sincos.ROUND, sincos.PLAIN.parts, sincos.PLAIN.limit, sincos.SIN, sincos.COS,
    (float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")), 14, 708.0,
)  # fmt: skip
FLOAT = Format(
    "float", 32, 23, 1.5 * 2.0**23,
    _hex("0x1.92p+0", "0x1.fb4p-12", "0x1.444p-24", "0x1.68c234p-39"), 8192.0,  # 11 bits each, k up to 2^13
    _hex("-0x1.555546p-3", "0x1.11075cp-7", "-0x1.994cfap-13"),  # by weighted least squares: error 4e-9
    _hex("0x1.55554ap-5", "-0x1.6c0c86p-10", "0x1.9a00cep-16"),  # error 1e-10
    (float.fromhex("0x1.62cp-1"), float.fromhex("0x1.217f7e0000000p-12")), 8, 87.0,
)  # fmt: skip


def functions(prefix: str, real: str, ops: Iterable[str]) -> list[str]:
    """The text of what these operations need, each a function of the prefix."""
    form = FLOAT if real == "float" else DOUBLE
    wanted = {USES[op] for op in ops if op in USES}
    wanted |= {"select"} if "exp" in wanted else set()
    wanted |= {"of_bits", "bits"} if wanted else set()
    wanted |= {op for op in ops if op in (SIN, COS)}
    texts = [name for name in TEXTS if name in wanted]
    one, half = form.number(1.0), form.number(0.5)
    values = {
        "R": form.real, "B": f"uint{form.bits}_t", "P": prefix, "TOP": str(form.bits - 1), "ONE": one,
        "ONE_BITS": form.pattern(1.0), "SIGN_BITS": form.pattern(-0.0), "ROUND": form.number(form.round),
        "TURNS": form.number(_nearest(2 / math.pi, form)), "SIGN_SHIFT": str(form.bits - 2),
        "REDUCED": _reduced("x", form.parts, form), "LIMIT": form.pattern(form.limit),
        "S": _horner("z", form.sine, form), "C": _horner("z", form.cosine, form), "HALF": half,
        "LARGEST": form.number(form.largest), "LOG": form.number(_nearest(1 / math.log(2), form)),
        "REST": _reduced("y", form.logarithms, form), "ROUND_BITS": form.pattern(form.round),
        "E": _horner("r", [_nearest(1 / math.factorial(i), form) for i in range(form.terms)], form),
        "BIAS": str(2 ** (form.bits - form.mantissa - 2) - 1), "MANTISSA": str(form.mantissa), "ZERO": form.number(0.0),
    }  # fmt: skip
    lines: list[str] = []
    for name in texts:
        text = TEXTS[name]
        for key, value in values.items():
            text = text.replace(f"@{key}@", value)
        lines += [*text.splitlines(), ""]
    return lines


def _nearest(value: float, form: Format) -> float:
    return struct.unpack("<f", struct.pack("<f", value))[0] if form.bits == 32 else value


def _horner(variable: str, terms: Iterable[float], form: Format) -> str:
    first, *others = reversed(tuple(terms))
    text = form.number(first)
    for term in others:
        text = f"({text}*{variable} {'-' if term < 0 else '+'} {form.number(abs(term))})"
    return text


def _reduced(variable: str, parts: Iterable[float], form: Format) -> str:
    text = variable
    for part in parts:
        text = f"({text} - k*{form.number(part)})"
    return text


TEXTS = {
    "bits": """\
static @B@ @P@_bits(@R@ x)
{
    @B@ bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}""",
    "of_bits": """\
static @R@ @P@_of_bits(@B@ bits)
{
    @R@ x;
    memcpy(&x, &bits, sizeof x);
    return x;
}""",
    "select": """\
/* yes if x >= 0, no if x < 0; for a NaN by its sign. */
static @R@ @P@_select(@R@ x, @R@ yes, @R@ no)
{
    const @B@ below = 0u - (@P@_bits(x + @ZERO@) >> @TOP@);
    return @P@_of_bits((@P@_bits(yes) & ~below) | (@P@_bits(no) & below));
}""",
    "sign": """\
/* -1, 0 or 1; NaN for NaN and for infinity. */
static @R@ @P@_sign(@R@ x)
{
    const @B@ bits = @P@_bits(x), size = bits << 1, some = 0u - ((size | (0u - size)) >> @TOP@);
    return @P@_of_bits(((bits & @SIGN_BITS@) | @ONE_BITS@) & some) + (x - x);
}""",
    "turned": """\
/* sin(x), a quarter turn ahead with quarter = 1; NaN beyond the largest angle. */
static @R@ @P@_turned(@R@ x, @B@ quarter)
{
    const @R@ turns = x*@TURNS@ + @ROUND@, k = turns - @ROUND@;
    const @R@ r = @REDUCED@, z = r*r;
    const @R@ s = r + r*z*@S@;
    const @R@ c = (@ONE@ - @HALF@*z) + z*z*@C@;
    const @B@ n = @P@_bits(turns) + quarter, odd = 0u - (n & 1u);
    const @B@ beyond = 0u - ((@LIMIT@ - (@P@_bits(x) & ~@SIGN_BITS@)) >> @TOP@);
    const @B@ value = (@P@_bits(s) & ~odd) | (@P@_bits(c) & odd);
    return @P@_of_bits((value ^ ((n & 2u) << @SIGN_SHIFT@)) | beyond);
}""",
    "exp": """\
/* exp(x), with x held within the exponents of a number. */
static @R@ @P@_exp(@R@ x)
{
    const @R@ low = @P@_select(x + @LARGEST@, x, -@LARGEST@);
    const @R@ y = @P@_select(@LARGEST@ - low, low, @LARGEST@);
    const @R@ turns = y*@LOG@ + @ROUND@, k = turns - @ROUND@;
    const @R@ r = @REST@;
    return @E@*@P@_of_bits((@P@_bits(turns) - @ROUND_BITS@ + @BIAS@u) << @MANTISSA@);
}""",
    "sin": """\
static @R@ @P@_sin(@R@ x) { return @P@_turned(x, 0); }""",
    "cos": """\
static @R@ @P@_cos(@R@ x) { return @P@_turned(x, 1); }""",
}
