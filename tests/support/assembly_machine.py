"""A processor for our assembly, in Python: it executes code for AVX2 and AVX-512 on any machine.

It knows the instructions of `kernels.forms`, with registers of eight doubles and a small memory. What code for AVX-512
computes can so be tested without such a processor.
"""

from __future__ import annotations

import operator
import re
from typing import Any

import numpy as np

from armdyn.kernels.forms import NEXT

MEMORY, STACK, CONSTANTS = 1 << 20, 1 << 18, 1 << 19
LANES = {"x": 2, "y": 4, "z": 8}
ARITHMETIC = {"vadd": np.add, "vsub": np.subtract, "vmul": np.multiply, "vdiv": np.divide}
COUNTED = {"and": operator.and_, "sub": operator.sub, "add": operator.add, "imul": operator.mul, "shr": operator.rshift}
COMPARED = {17: np.less, 29: np.greater_equal, 30: np.greater}


class Machine:
    """Registers and memory, in which arrays lie one after the other."""

    def __init__(self, text: str, lanes: int = 1) -> None:
        self.lanes = lanes
        lines = text.removeprefix('module asm "').rstrip().removesuffix('"').split(NEXT)
        start = lines.index(".section .rodata")
        self.code = lines[:start]
        self.memory = np.zeros(MEMORY, dtype=np.uint8)
        self.symbols: dict[str, int] = {}
        place = CONSTANTS
        for line in lines[start + 1 :]:
            if line.endswith(":"):
                place += -place % 64
                self.symbols[line[:-1]] = place
            elif line.startswith((".quad", ".short")):
                kind, _, numbers = line.partition(" ")
                size, view = (8, np.uint64) if kind == ".quad" else (2, np.uint16)
                for number in numbers.split(", "):
                    self.memory[place : place + size].view(view)[0] = int(number, 0) % (1 << 8 * size)
                    place += size
        self.free = 64
        self.whole: dict[str, int] = {"%rsp": STACK, "%rbp": 0}
        self.vectors = np.full((32, 8), np.nan)
        self.mask = np.zeros(8, dtype=bool)
        self.positive = False

    def placed(self, array: Any) -> int:
        """The address of a copy of an array."""
        values = np.ascontiguousarray(array, dtype=float)
        address, self.free = self.free, self.free + values.nbytes + 64
        self.memory[address : address + values.nbytes] = values.view(np.uint8).ravel()
        return address

    def doubles(self, address: int, count: int) -> Any:
        return self.memory[address : address + 8 * count].view(float)

    def call(self, *arguments: int) -> None:
        for register, value in zip(("%rdi", "%rsi", "%rdx", "%rcx", "%r8", "%r9"), arguments, strict=False):
            self.whole[register] = value
        for value in reversed((0, *arguments[6:])):  # the address to return to, which nobody uses
            self._push(value)
        labels = {line[:-1]: k for k, line in enumerate(self.code) if line.endswith(":")}
        k = 0
        while self.code[k] != "ret":
            line = self.code[k]
            k = labels[line.split()[1]] if line.startswith("jg") and self.positive else k + 1
            if line[0] != "." and not line.endswith(":") and not line.startswith("jg"):
                self._step(line)

    def _push(self, value: int) -> None:
        self.whole["%rsp"] -= 8
        self.memory[self.whole["%rsp"] :][:8].view(np.int64)[0] = value

    def _address(self, operand: str) -> int:
        symbol, displacement, base = re.fullmatch(r"(?:(\.L\w+)\+)?(-?\d+)\((%\w+)\)", operand).groups()  # type: ignore[union-attr]
        return int(displacement) + (self.symbols[symbol] if symbol else self.whole[base])

    def _read(self, operand: str, count: int) -> Any:
        """So many doubles of a vector register or of memory."""
        if operand[0] == "%":
            return self.vectors[int(operand[4:]), :count].copy()
        place, _, broadcast = operand.partition("{")
        return self.doubles(self._address(place), 1).repeat(count) if broadcast else self.doubles(
            self._address(place), count).copy()  # fmt: skip

    def _write(self, operand: str, values: Any) -> None:
        """A vector register, whose rest becomes zero, or memory."""
        if operand[0] == "%":
            row = self.vectors[int(operand[4:])]
            row[:] = 0
            row[: len(values)] = values
        else:
            self.doubles(self._address(operand), len(values))[:] = values

    def _step(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        operands = rest.split(", ") if rest else []
        if name[0] == "v":
            self._vector(name, operands)
        elif name == "push":
            self._push(self.whole.get(operands[0], 0))
        elif name == "pop":
            self.whole[operands[0]] = int(self.memory[self.whole["%rsp"] :][:8].view(np.int64)[0])
            self.whole["%rsp"] += 8
        elif name == "lea":
            self.whole[operands[1]] = self._address(operands[0])
        elif name == "mov":
            self._move(*operands)
        elif name in ("addq", "decq") or (name == "sub" and operands[0] == "%rax"):
            place = self.memory[self._address(operands[-1]) :][:8].view(np.int64)
            place += {"addq": lambda: int(operands[0][1:]), "decq": lambda: -1}.get(name, lambda: -self.whole["%rax"])()
            self.positive = bool(place[0] > 0)
        elif name in COUNTED:
            self.whole[operands[-1]] = COUNTED[name](self.whole[operands[-1]], int(operands[0][1:]))
        elif name == "cmp":
            self.positive = self.whole[operands[1]] > self.whole[operands[0]]
        elif name == "cmovg":
            self.whole[operands[1]] = self.whole[operands[0]] if self.positive else self.whole[operands[1]]
        elif name == "call" and operands[0] == "spread@PLT":
            self._spread()
        elif name == "call":
            self._sines(operands[0] == "all_sines@PLT")
        else:
            assert name == "prefetcht0", line

    def _move(self, source: str, target: str) -> None:
        if source[0] == "$":
            self.whole["%rcx"] = int(source[1:])
        elif target[0] == "%":
            memory = source[0] != "%"
            self.whole[target] = (int(self.memory[self._address(source) :][:8].view(np.int64)[0]) if memory
                                  else self.whole[source])  # fmt: skip
        else:
            self.memory[self._address(target) :][:8].view(np.int64)[0] = self.whole[source]

    def _sines(self, many: bool) -> None:
        if many:
            x, s, c = (self.doubles(self.whole[name], 8 * self.whole["%rcx"]) for name in ("%rdi", "%rsi", "%rdx"))
            s[:], c[:] = np.sin(x), np.cos(x)
        else:
            x = np.concatenate((self.vectors[0, :4], self.vectors[1, :4]))
            halves = [*np.sin(x).reshape(2, 4), *np.cos(x).reshape(2, 4)]
            for k, half in enumerate(halves):
                self._write(f"%ymm{k}", half)
        self._called(0 if many else 4)

    def _called(self, kept: int = 0) -> None:
        """After a function, which may change registers for numbers and all vectors but the first ones."""
        for name in ("%rax", "%rcx", "%rdx", "%rsi", "%rdi", *(f"%r{k}" for k in range(8, 12))):
            self.whole[name] = -(1 << 40)
        self.vectors[kept:] = np.nan

    def _spread(self) -> None:
        """Rows of samples by a table, as many samples as the code has lanes; what it says of zeros must be true."""
        to, values, at, count = (self.whole[name] for name in ("%rdi", "%rsi", "%rdx", "%rcx"))
        table = self.memory[at:].view(np.uint16).astype(int)
        rows = self.doubles(to, self.lanes * count).reshape(self.lanes, count)
        for k, place in enumerate(table[:count]):
            rows[:, k] = self.doubles(values + 8 * place, self.lanes)
        zeros = iter(table[count:])
        while (first := next(zeros)) < count:
            assert not rows[:, first : next(zeros)].any()
        self._called()

    def _vector(self, name: str, operands: list[str]) -> None:
        if name == "vzeroupper":
            return
        widest = max((LANES[found] for found in re.findall(r"%([xyz])mm", " ".join(operands))), default=0)
        count = 1 if name.endswith("sd") and name != "vbroadcastsd" else widest
        *sources, target = operands
        if name in ("vmovapd", "vmovupd", "vmovsd"):
            values = self._read(sources[0], count)
            if target.endswith("{%k1}"):
                target = target.split()[0]
                values = np.where(self.mask[:count], values, self._read(target, count))
            if name == "vmovapd" and "(" in "".join(operands):
                assert self._address(next(each for each in operands if "(" in each)) % (8 * count) == 0
            self._write(target, values)
        elif name == "vbroadcastsd":
            self._write(target, self._read(sources[0], 1).repeat(widest))
        elif name == "vmaskmovpd":
            chosen = np.signbit(self._read(sources[1], count))
            self._write(target, np.where(chosen, self._read(sources[0], count), 0.0))
        elif name.startswith(("vunpcklpd", "vunpckhpd")):
            b, a = (self._read(each, count) for each in sources)
            odd = int(name[6] == "h")
            self._write(target, np.stack((a[odd::2], b[odd::2]), axis=1).ravel())
        elif name.startswith("vinsert"):
            values, start = self._read(sources[2], count), 2 * int(sources[0][1:])
            values[start : start + 2] = self._read(sources[1], 2)
            self._write(target, values)
        elif name.startswith("vextract"):
            start = 2 * int(sources[0][1:])
            self._write(target, self._read(sources[1], count)[start : start + 2])
        elif name.startswith("vcmp"):
            found = COMPARED[int(sources[0][1:])](self._read(sources[2], count), self._read(sources[1], count))
            if target == "%k1":
                self.mask[:count] = found
            else:
                self._write(target, np.where(found, -1.0, 0.0))
        elif name == "vblendvpd":
            mask, yes, no = (self._read(each, widest) for each in sources)
            self._write(target, np.where(np.signbit(mask), yes, no))
        elif name.startswith("vsqrt"):
            self._write(target, np.sqrt(self._read(sources[0], count)))
        elif name.startswith("vf"):
            self._fused(name, operands, count)
        else:
            b, a = (self._read(each, count) for each in sources)
            self._write(target, ARITHMETIC[name[:4]](a, b))

    def _fused(self, name: str, operands: list[str], count: int) -> None:
        third, second, first = (self._read(each, count) for each in operands)
        order = name[-5:-2]
        a, b, c = {"132": (first, third, second), "213": (second, first, third), "231": (second, third, first)}[order]
        product = -(a * b) if name.startswith("vfnmadd") else a * b
        self._write(operands[2], product - c if name.startswith("vfmsub") else product + c)
