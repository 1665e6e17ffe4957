"""A WebAssembly module, encoded from graphs: functions over numbers in memory, with no imports.

Each function takes the addresses of its arguments and results, arrays of 64-bit floats in the module's own memory.
Source: WebAssembly Core Specification 1.0, sec. 5 (binary format).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from armdyn.graph.node import ABS, ADD, CONST, COS, DIV, EXP, MUL, NEG, PI_OP, SELECT, SIGN, SIN, SQRT, SUB, Node
from armdyn.graph.program import StraightLine
from armdyn.graph.structure import Port
from armdyn.kernels.straight.sincos import COS as COS_TERMS
from armdyn.kernels.straight.sincos import PLAIN, TWO_OVER_PI
from armdyn.kernels.straight.sincos import SIN as SIN_TERMS

I32, I64, F64 = b"\x7f", b"\x7e", b"\x7c"
END = b"\x0b"
SELECT_CODE = b"\x1b"
BINARY = {ADD: b"\xa0", SUB: b"\xa1", MUL: b"\xa2", DIV: b"\xa3"}
UNARY = {ABS: b"\x99", NEG: b"\x9a", SQRT: b"\x9f"}
NEAREST, LESS, GREATER, AT_LEAST = b"\x9e", b"\x63", b"\x64", b"\x66"
CALLED = {SIN: 0, COS: 1, EXP: 2}
"""Functions of the module by number; those of the robot follow."""
PAGE = 65536


@dataclass(frozen=True)
class WasmCode:
    """One function to encode: its name, its program, and where arguments and results are."""

    name: str
    program: StraightLine
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


def module(codes: Iterable[WasmCode]) -> bytes:
    """The bytes of the module; it exports `memory` and every function by its name."""
    codes = list(codes)
    arities = sorted({len(code.inputs) + len(code.outputs) for code in codes})
    types = [b"\x60\x01" + F64 + b"\x01" + F64]
    types += [b"\x60" + unsigned(n) + I32 * n + b"\x00" for n in arities]
    kinds = [0, 0, 0] + [1 + arities.index(len(code.inputs) + len(code.outputs)) for code in codes]
    exports = [_text("memory") + b"\x02\x00"]
    exports += [_text(code.name) + b"\x00" + unsigned(len(CALLED) + i) for i, code in enumerate(codes)]
    bodies = [_sine(0), _sine(1), _exponential(), *map(_body, codes)]
    sections = {
        1: _vector(types),
        3: _vector(map(unsigned, kinds)),
        5: _vector([b"\x00" + unsigned(1)]),
        7: _vector(exports),
        10: _vector(unsigned(len(body)) + body for body in bodies),
    }
    parts = (bytes([number]) + unsigned(len(content)) + content for number, content in sections.items())
    return b"\x00asm\x01\x00\x00\x00" + b"".join(parts)


def unsigned(value: int) -> bytes:
    """A whole number in LEB128, the variable-length encoding of WebAssembly.

    >>> unsigned(624485).hex()
    'e58e26'
    """
    made = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        made.append(low | (0x80 if value else 0))
        if not value:
            return bytes(made)


def signed(value: int) -> bytes:
    """LEB128 of a signed number.

    >>> signed(-123456).hex()
    'c0bb78'
    """
    made = bytearray()
    while True:
        low, value = value & 0x7F, value >> 7
        last = (value == 0 and not low & 0x40) or (value == -1 and low & 0x40)
        made.append(low | (0 if last else 0x80))
        if last:
            return bytes(made)


def _vector(parts: Iterable[bytes]) -> bytes:
    parts = list(parts)
    return unsigned(len(parts)) + b"".join(parts)


def _text(name: str) -> bytes:
    raw = name.encode()
    return unsigned(len(raw)) + raw


def number(value: float) -> bytes:
    return b"\x44" + struct.pack("<d", value)


def get(local: int) -> bytes:
    return b"\x20" + unsigned(local)


def put(local: int) -> bytes:
    return b"\x21" + unsigned(local)


def keep(local: int) -> bytes:
    """Store and leave on the stack."""
    return b"\x22" + unsigned(local)


def call(function: int) -> bytes:
    return b"\x10" + unsigned(function)


def _function(locals_: bytes, code: bytes) -> bytes:
    return locals_ + code + END


# The functions of a robot -----------------------------------------------------------------------------------------


def _body(code: WasmCode) -> bytes:
    """Load the arguments, compute line by line, store the results."""
    ports = [*code.inputs, *code.outputs]
    local: dict[Node, int] = {}
    made = bytearray()
    for address, port in enumerate(code.inputs):
        for place, node in enumerate(port.nodes):
            if node in code.program.names:
                local[node] = len(ports) + len(local)
                made += get(address) + b"\x2b\x03" + unsigned(8 * place) + put(local[node])  # f64.load
    for node in code.program.lines:
        made += _plain(node, local)
        local[node] = len(ports) + len(local)
        made += put(local[node])
    for address, port in enumerate(code.outputs, len(code.inputs)):
        for place, node in enumerate(port.nodes):
            made += get(address) + _value(node, local) + b"\x39\x03" + unsigned(8 * place)  # f64.store
    return _function(_vector([unsigned(len(local)) + F64]), bytes(made))


def _value(node: Node, local: Mapping[Node, int]) -> bytes:
    return get(local[node]) if node in local else _plain(node, local)


def _plain(node: Node, local: Mapping[Node, int]) -> bytes:
    """The operation of a node on the values of its operands."""
    if node.op == CONST:
        return number(float(node.value))
    if node.op == PI_OP:
        return number(math.pi)
    values = [_value(arg, local) for arg in node.args]
    if node.op in BINARY:
        return values[0] + values[1] + BINARY[node.op]
    if node.op in UNARY:
        return values[0] + UNARY[node.op]
    if node.op in CALLED:
        return values[0] + call(CALLED[node.op])
    if node.op == SELECT:
        return values[1] + values[2] + values[0] + number(0.0) + AT_LEAST + SELECT_CODE
    assert node.op == SIGN
    inner = number(-1.0) + values[0] + values[0] + number(0.0) + LESS + SELECT_CODE
    return number(1.0) + inner + values[0] + number(0.0) + GREATER + SELECT_CODE


# Sine, cosine, exponential ----------------------------------------------------------------------------------------


def _horner(terms: Iterable[float], variable: int) -> bytes:
    first, *others = reversed(tuple(terms))
    return number(first) + b"".join(get(variable) + BINARY[MUL] + number(x) + BINARY[ADD] for x in others)


def _sine(quarter: int) -> bytes:
    """sin (quarter 0) or cos (quarter 1) of local 0, as in `kernels.sincos`; NaN beyond its limit.

    Locals: 1 k, 2 r, 3 z = r^2, 4 sine of r, 5 cosine of r, 6 (integer) k + quarter.
    """
    k, r, z, sine, cosine, turn = range(1, 7)
    mul, add, sub = BINARY[MUL], BINARY[ADD], BINARY[SUB]
    made = get(0) + number(TWO_OVER_PI) + mul + NEAREST + put(k) + get(0) + put(r)
    for part in PLAIN.parts:
        made += get(r) + get(k) + number(part) + mul + sub + put(r)
    made += get(r) + get(r) + mul + put(z)
    made += get(r) + get(z) + get(r) + mul + _horner(SIN_TERMS, z) + mul + add + put(sine)
    made += number(1.0) + get(z) + number(0.5) + mul + sub + get(z) + get(z) + mul + _horner(COS_TERMS, z) + mul + add
    made += put(cosine)
    made += get(k) + b"\xfc\x06" + b"\x42" + signed(quarter) + b"\x7c" + put(turn)  # i64.trunc_sat_f64_s, add
    odd = get(turn) + b"\x42\x01\x83\xa7"  # and 1, wrap to i32
    made += get(cosine) + get(sine) + odd + SELECT_CODE + keep(sine) + UNARY[NEG] + get(sine)
    made += get(turn) + b"\x42\x02\x83" + b"\x50\x45" + SELECT_CODE  # bit 1 is set: the sign is negative
    made += put(sine) + get(sine) + number(math.nan)
    made += get(0) + UNARY[ABS] + number(PLAIN.limit) + b"\x65" + SELECT_CODE  # |x| <= limit
    return _function(_vector([unsigned(5) + F64, unsigned(1) + I64]), made)


LOG2_HIGH, LOG2_LOW = map(float.fromhex, ("0x1.62e42fee00000p-1", "0x1.a39ef35793c76p-33"))
"""ln 2 in two parts; products of the first with integers below 2^20 are exact."""
EXP_TERMS = tuple(1 / math.factorial(i) for i in range(14))
"""Taylor series: |r| <= ln 2 / 2, the first term left out is below 5e-18."""


def _exponential() -> bytes:
    """exp of local 0: 2^k exp(r), with k held within the exponents of a double. Locals: 1 k, 2 r."""
    k, r = 1, 2
    mul, sub = BINARY[MUL], BINARY[SUB]
    made = get(0) + number(-708.0) + b"\xa5" + number(709.0) + b"\xa4"  # max, min: NaN stays NaN
    made += keep(r) + number(1 / math.log(2)) + mul + NEAREST + put(k)
    made += get(r) + get(k) + number(LOG2_HIGH) + mul + sub + get(k) + number(LOG2_LOW) + mul + sub + put(r)
    made += _horner(EXP_TERMS, r)
    made += get(k) + b"\xfc\x06" + b"\x42" + signed(1023) + b"\x7c" + b"\x42" + signed(52) + b"\x86" + b"\xbf" + mul
    return _function(_vector([unsigned(2) + F64]), made)
