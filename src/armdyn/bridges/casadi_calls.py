"""Kernels as functions that CasADi loads: with Jacobian, reverse derivative, and the Jacobian of that.

A function `f` of vectors x1, x2, ... gives one vector y. By CasADi's names, each `int f(double** arg, double** res,
...)` on dense matrices, column by column, where an input or a result may be null:

    f(x1, ...)                          y
    jac_f(x1, ..., y)                   dy/dx1, ...
    adj1_f(x1, ..., y, w)               w^T dy/dx1, ...                              as columns
    jac_adj1_f(x1, ..., y, w, ...)      their derivatives by x1, ..., y, w: the second derivatives of w.y among them
    jac_jac_f(x1, ..., y, dy/dx1, ...)  derivatives of dy/dx1, ... by x1, ..., which stiff integrators ask for
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from armdyn.kernels import jit
from armdyn.kernels.kernel import Kernel
from armdyn.kernels.loop_writer import LoopWriter

MOST_STACK = 2**19
"""Bytes of intermediate results that a function may keep on the stack."""
Block = tuple[int, int]


@dataclass(frozen=True)
class Called:
    """A kernel, the places of its inputs (the weights last), and what its results are, in the words of the caller."""

    kernel: Kernel
    takes: tuple[int, ...]
    gives: tuple[Any, ...]


@dataclass(frozen=True)
class Whole:
    """A function with its derivatives. sizes: of the inputs; size: of y. curvature may be missing."""

    name: str
    sizes: tuple[int, ...]
    size: int
    value: Called
    slopes: tuple[Called, ...]
    curvature: Called | None


def compiled(whole: Whole) -> tuple[jit.Code, dict[str, int]]:
    """The machine code, which must be kept, and the addresses by name."""
    module = _Module(whole)
    text = module.text()
    names = tuple(module.names)
    code = jit.Code([jit.compiled(text)], names, outside=module.loops)
    code.kept = whole
    return code, {name: code.address(name) for name in names}


def stack(whole: Whole) -> int:
    """Bytes on the stack at most."""
    parts = [*whole.slopes, *([whole.curvature] if whole.curvature else [])]
    return 8 * sum(port.size for part in parts for port in part.kernel.ports.outputs)


class _Module:
    """The text of one function and its derivatives."""

    def __init__(self, whole: Whole) -> None:
        self.whole = whole
        self.loops: dict[str, int] = {}
        self.names: list[str] = []
        self.count = len(whole.sizes)

    def text(self) -> str:
        whole, n, m = self.whole, self.whole.sizes, self.whole.size
        x, columns = [(size, 1) for size in n], [(size, 1) for size in n]
        y = (m, 1)
        parts = [self.function(whole.name, self.value, x, [y])]
        if whole.slopes:
            parts += [
                self.function(f"jac_{whole.name}", self.jacobian, [*x, y], [(m, size) for size in n]),
                self.function(f"adj1_{whole.name}", self.reverse, [*x, y, y], columns),
            ]
        if whole.curvature is not None:
            reverse: list[Block | None] = []
            slopes: list[Block | None] = []
            for i in range(self.count):
                given = [(i, j) in self.blocks() or (j, i) in self.blocks() for j in range(self.count)]
                reverse += [(n[i], n[j]) if there else None for j, there in enumerate(given)]
                reverse += [None, (n[i], m)]
                slopes += [(m * n[i], n[j]) if there else None for j, there in enumerate(given)]
                slopes.append(None)
            jacobians = [(m, size) for size in n]
            shapes = [(n[i], each) for i in range(self.count) for each in (*n, m, m)]
            name = f"jac_adj1_{whole.name}"
            parts.append(self.function(name, self.second, [*x, y, y, *columns], reverse, shapes))
            shapes = [(m * size, each) for size in n for each in (*n, m)]
            name = f"jac_jac_{whole.name}"
            parts.append(self.function(name, self.slopes_of_slopes, [*x, y, *jacobians], slopes, shapes))
        zeros = f"@zeros = internal constant [{max(*n, m)} x double] zeroinitializer, align 64"
        declared = "\n".join(f"declare void @{name}(ptr, ptr, ptr, ptr)" for name in self.loops)
        return "\n".join([declared, zeros, *parts])

    def blocks(self) -> Mapping[Block, int]:
        """Places of the second derivatives among the results of their kernel, by pair of inputs."""
        assert self.whole.curvature is not None
        return {pair: k for k, pair in enumerate(self.whole.curvature.gives)}

    def function(
        self,
        name: str,
        body: Callable[[LoopWriter], None],
        inputs: Sequence[Block],
        outputs: Sequence[Block | None],
        shapes: Sequence[Block] | None = None,
    ) -> str:
        """A function with what CasADi asks about it. outputs: None for zero, whose shape is in `shapes`."""
        w = LoopWriter()
        body(w)
        w.do("ret i32 0")
        self.names += [name, *(f"{name}_{each}" for each in ("n_in", "n_out", "sparsity_in", "sparsity_out"))]
        known = shapes or [each for each in outputs if each is not None]
        patterns = [_pattern(each, shape) for each, shape in zip(outputs, known, strict=True)]
        return "\n".join(
            [
                w.function(f"i32 @{name}(ptr %arg, ptr %res, ptr %iw, ptr %w, i32 %mem)"),
                f"define i64 @{name}_n_in() {{\n  ret i64 {len(inputs)}\n}}",
                f"define i64 @{name}_n_out() {{\n  ret i64 {len(outputs)}\n}}",
                _sparsity(f"{name}_sparsity_in", [_pattern(each, each) for each in inputs]),
                _sparsity(f"{name}_sparsity_out", patterns),
            ]
        )

    # Bodies -----------------------------------------------------------------------------------------------------------

    def value(self, w: LoopWriter) -> None:
        target = self.result(w, 0)
        with w.when(w.put(f"icmp ne ptr {target}, null"), "wanted"):
            place, targets = 0, []
            for port in self.whole.value.kernel.ports.outputs:
                targets.append(w.offset(target, place))
                place += 8 * port.size
            self.run(w, "value", self.whole.value, self.inputs(w, self.count), targets)

    def jacobian(self, w: LoopWriter) -> None:
        for k, (block, size) in self.slopes(w).items():
            self.deliver(w, k, block, self.whole.size, size, turned=False)

    def reverse(self, w: LoopWriter) -> None:
        blocks = self.slopes(w)
        weights = self.given(w, self.count + 1)
        for k, (block, size) in blocks.items():
            target = self.result(w, k)
            with w.when(w.put(f"icmp ne ptr {target}, null"), f"wanted{k}"), w.counting(f"column{k}", str(size)) as j:
                to = w.offset(target, w.times(j, 8))
                w.store("double", "0.0", to)
                with w.counting(f"row{k}", str(self.whole.size)) as i:
                    place = w.times(w.plus(w.times(i, size), j), 8)
                    factor = w.load("double", w.offset(weights, w.times(i, 8)))
                    entry = w.load("double", w.offset(block, place))
                    product = w.put(f"fmul double {factor}, {entry}")
                    w.store("double", w.put(f"fadd double {w.load('double', to)}, {product}"), to)

    def second(self, w: LoopWriter) -> None:
        curvature, n, width = self.whole.curvature, self.whole.sizes, self.count + 2
        assert curvature is not None
        slopes = self.slopes(w)
        values = [*self.inputs(w, self.count), self.given(w, self.count + 1)]
        targets = [self.scratch(w, port.size) for port in curvature.kernel.ports.outputs]
        self.run(w, "curvature", curvature, values, targets)
        for (i, j), place in self.blocks().items():
            self.deliver(w, i * width + j, targets[place], n[i], n[j], turned=False)
            if i != j:
                self.deliver(w, j * width + i, targets[place], n[i], n[j], turned=True)
        for i, (block, size) in slopes.items():
            self.deliver(w, i * width + self.count + 1, block, self.whole.size, size, turned=True)

    def slopes_of_slopes(self, w: LoopWriter) -> None:
        """Row r of the Jacobian after the other: the second derivatives of y_r are those of w.y with w = e_r."""
        curvature, n, m, width = self.whole.curvature, self.whole.sizes, self.whole.size, self.count + 1
        assert curvature is not None
        weights = self.scratch(w, m)
        targets = [self.scratch(w, port.size) for port in curvature.kernel.ports.outputs]
        call = self.prepared(w, "curvature_of_row", curvature, [*self.inputs(w, self.count), weights], targets)
        with w.counting("weight", str(m)) as k:
            w.store("double", "0.0", w.offset(weights, w.times(k, 8)))
        with w.counting("row", str(m)) as r:
            here = w.offset(weights, w.times(r, 8))
            w.store("double", "1.0", here)
            w.do(call)
            w.store("double", "0.0", here)
            for (i, j), place in self.blocks().items():
                self.deliver_row(w, i * width + j, targets[place], r, (n[i], n[j]), turned=False)
                if i != j:
                    self.deliver_row(w, j * width + i, targets[place], r, (n[i], n[j]), turned=True)

    # Parts of them ----------------------------------------------------------------------------------------------------

    def slopes(self, w: LoopWriter) -> dict[int, tuple[str, int]]:
        """(where, size of the input) of dy/dx, row by row, by input."""
        values = self.inputs(w, self.count)
        found: dict[int, str] = {}
        for number, part in enumerate(self.whole.slopes):
            targets = [self.scratch(w, port.size) for port in part.kernel.ports.outputs]
            self.run(w, f"slopes{number}", part, values, targets)
            found.update(zip(part.gives, targets, strict=True))
        return {k: (found[k], self.whole.sizes[k]) for k in sorted(found)}

    def run(self, w: LoopWriter, name: str, part: Called, values: Sequence[str], targets: Sequence[str]) -> None:
        """A kernel on one sample."""
        w.do(self.prepared(w, name, part, values, targets))

    def prepared(self, w: LoopWriter, name: str, part: Called, values: Sequence[str], targets: Sequence[str]) -> str:
        """The call of a kernel on one sample; its arguments are laid out here."""
        kernel = part.kernel
        assert kernel.code is not None
        self.loops[f"loop_{name}"] = kernel.code.address("loop")
        ports = kernel.ports
        pointers = [*(values[k] for k in part.takes), *targets]
        steps = [8 * port.size for port in ports.all]
        for port in ports.all:
            steps += [8 * port.shape[1], 8] if len(port.shape) == 2 else [8] * len(port.shape)
        arrays = {"p": pointers, "s": [str(step) for step in steps], "d": ["1"]}
        for role, entries in arrays.items():
            w.do(f"%{name}.{role} = alloca [{len(entries)} x i64], align 8")
            for k, entry in enumerate(entries):
                w.store("ptr" if role == "p" else "i64", entry, w.offset(f"%{name}.{role}", 8 * k))
        return f"call void @loop_{name}(ptr %{name}.p, ptr %{name}.d, ptr %{name}.s, ptr null)"

    def inputs(self, w: LoopWriter, count: int) -> list[str]:
        return [self.given(w, k) for k in range(count)]

    def given(self, w: LoopWriter, k: int) -> str:
        """An input; zeros if it is null."""
        pointer = w.load("ptr", w.offset("%arg", 8 * k))
        return w.put(f"select i1 {w.put(f'icmp eq ptr {pointer}, null')}, ptr @zeros, ptr {pointer}")

    def result(self, w: LoopWriter, k: int) -> str:
        return w.load("ptr", w.offset("%res", 8 * k))

    def scratch(self, w: LoopWriter, size: int) -> str:
        return w.put(f"alloca [{size} x double], align 64")

    def deliver(self, w: LoopWriter, k: int, block: str, rows: int, columns: int, *, turned: bool) -> None:
        """A matrix, row by row, to a result, column by column; turned: its transpose, which lies there alike."""
        target = self.result(w, k)
        wanted = w.put(f"icmp ne ptr {target}, null")
        loops = w.counting(f"i{k}", str(rows)), w.counting(f"j{k}", str(columns))
        with w.when(wanted, f"block{k}"), loops[0] as i, loops[1] as j:
            place = w.times(w.plus(w.times(i, columns), j), 8)
            to = place if turned else w.times(w.plus(w.times(j, rows), i), 8)
            w.store("double", w.load("double", w.offset(block, place)), w.offset(target, to))

    def deliver_row(self, w: LoopWriter, k: int, block: str, row: str, shape: Block, *, turned: bool) -> None:
        """The derivatives of one row of dy/dx_i: entry (a, b) of the block, or (b, a), to row `row` + m a, column b."""
        m, (rows, columns) = self.whole.size, shape
        target = self.result(w, k)
        wanted = w.put(f"icmp ne ptr {target}, null")
        loops = w.counting(f"i{k}", str(rows)), w.counting(f"j{k}", str(columns))
        with w.when(wanted, f"block{k}"), loops[0] as i, loops[1] as j:
            a, b, height = (j, i, columns) if turned else (i, j, rows)
            to = w.plus(w.plus(row, w.times(a, m)), w.times(b, m * height))
            entry = w.load("double", w.offset(block, w.times(w.plus(w.times(i, columns), j), 8)))
            w.store("double", entry, w.offset(target, w.times(to, 8)))


def _pattern(dense: Block | None, shape: Block) -> list[int]:
    """CasADi's description of a dense matrix, or of one that is zero."""
    rows, columns = shape
    return [rows, columns, 1] if dense is not None else [rows, columns, *[0] * (columns + 1)]


def _sparsity(name: str, patterns: Sequence[Sequence[int]]) -> str:
    lines, entries = [], []
    for k, pattern in enumerate(patterns):
        numbers = ", ".join(f"i64 {number}" for number in pattern)
        lines.append(f"@{name}.{k} = internal constant [{len(pattern)} x i64] [{numbers}]")
        entries.append(f"ptr @{name}.{k}")
    count = len(patterns)
    lines.append(f"@{name}.all = internal constant [{count} x ptr] [{', '.join(entries)}]")
    return (
        "\n".join(lines)
        + f"""
define ptr @{name}(i64 %k) {{
  %known = icmp ult i64 %k, {count}
  br i1 %known, label %found, label %none
found:
  %place = getelementptr [{count} x ptr], ptr @{name}.all, i64 0, i64 %k
  %pattern = load ptr, ptr %place, align 8
  ret ptr %pattern
none:
  ret ptr null
}}"""
    )


__all__ = ["MOST_STACK", "Called", "Whole", "compiled", "stack"]
