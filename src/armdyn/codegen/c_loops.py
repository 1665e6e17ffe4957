"""Loops over the links in C: the steps of a recursion once, the numbers of the links in a table.

The statements do not depend on the number of joints; table and memory grow with it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from armdyn.codegen.functions import ExportedFunction
from armdyn.codegen.naming import identifier
from armdyn.graph import Graph, Node, symbol
from armdyn.graph.expression_writer import Dialect, ExpressionWriter, folded
from armdyn.graph.node import SIGN
from armdyn.graph.program import StraightLine, straight_line
from armdyn.kernels.looped.recursion import ANGLE, FREE, SIZES, Part, Place, Recipe, entries
from armdyn.typing import Array

WIDTH = 100
INDENT = "    "
LANES = 4
"""Columns of a strip that are made together."""
BESIDE = 16
"""Room for the addresses and counters of a loop, in numbers."""
BASE_OPERATIONS = 60
"""Variables at most in the rotation of a free base."""


class CLoopWriter:
    """The statements of one looped function.

    real: the type of numbers. reserved: names that no variable may have. flat: matrices are rows one after another.
    """

    def __init__(
        self, function: ExportedFunction, dialect: Dialect, real: str, reserved: frozenset[str], flat: bool
    ) -> None:
        assert function.loops is not None
        self.function, self.dialect, self.real, self.reserved, self.flat = function, dialect, real, reserved, flat
        self.recipe, self.tables = function.loops.recipe, function.loops.tables
        self.n = len(self.tables.parents)
        self.results = [f"{name}_" for name in self.recipe.results]

    def lines(self) -> Iterator[str]:
        """The body of the function."""
        statements = list(self._executed())
        text = "\n".join(statements)
        if "parents[" in text:
            yield f"{INDENT}static const int parents[{self.n}] = {{"
            yield from _wrapped([str(parent) for parent in self.tables.parents])
            yield f"{INDENT}}};"
        yield from _comment(self.recipe.numbers)
        yield from self._table(self.tables.links)
        if "robot[" in text:
            numbers = ", ".join(self._number(x) for x in self.tables.robot)
            line = f"{INDENT}static const {self.real} robot[{len(self.tables.robot)}] = {{{numbers}}};"
            yield from folded(line, WIDTH, INDENT)
        yield from self._memory()
        yield f"{INDENT}int i{', j' if self.recipe.products or self.recipe.strip else ''};"
        yield ""
        yield from statements

    def _memory(self) -> Iterator[str]:
        """The arrays of one call."""
        n, recipe = self.n, self.recipe
        yield f"{INDENT}{self.real} state[{n + 1}][{recipe.own_size}]; /* of the world, then of the links */"
        for name, size in (("pairs", recipe.pair_size), ("strips", recipe.strip_size)):
            if size:
                yield f"{INDENT}{self.real} {name}[{n}][{size}];"
        yield from (f"{INDENT}{self.real} {name}[{n}];" for name in self.results)
        yield from (f"{INDENT}{self.real} {name}_joint[{n}];" for name in recipe.base)

    def _executed(self) -> Iterator[str]:
        n, recipe = self.n, self.recipe
        for name, size in recipe.base.items():
            yield f"{INDENT}for (i = 0; i < {n}; i++) {{"
            yield f"{INDENT * 2}{name}_joint[i] = i < {FREE} ? 0.0{self.suffix} : {name}[i + {size - FREE}];"
            yield f"{INDENT}}}"
        yield from self._beginning()
        yield from self._angles()
        for loop in recipe.loops(fused=True):
            inward = loop.way == "inward"
            yield f"{INDENT}for (i = {n - 1}; i >= 0; i--) {{" if inward else f"{INDENT}for (i = 0; i < {n}; i++) {{"
            yield from self._addresses(loop.body)
            yield from self._part(loop.body, INDENT * 2)
            yield f"{INDENT}}}"
        yield from self._outputs()

    @property
    def suffix(self) -> str:
        return "f" if self.real == "float" else ""

    def _number(self, value: float) -> str:
        text = self.dialect.number(abs(float(value)))
        return f"-{text}" if value < 0 else text

    def _table(self, rows: Array) -> Iterator[str]:
        yield f"{INDENT}static const {self.real} links[{rows.shape[0]}][{rows.shape[1]}] = {{"
        for row in rows:
            yield from _wrapped([self._number(x) for x in row], "{", "},")
        yield f"{INDENT}}};"

    # The parts --------------------------------------------------------------------------------------------------------

    def _beginning(self) -> Iterator[str]:
        """The statements that fill the record of the world, from which the first link starts."""
        recipe = self.recipe
        named = {name: symbol(f"robot_{name}") for name in recipe.robot}
        based = {
            f"{name}{k}": (symbol(f"base_{name}{k}"), f"{name}[{k}]")
            for name, count in recipe.base.items()
            for k in range(count)
        }
        values = recipe.start({**named, **{name: node for name, (node, _) in based.items()}})
        reads = {node: f"robot[{k}]" for k, node in enumerate(named.values())} | dict(based.values())
        writes = [
            (f"state[0][{recipe.places[name] + k}]", node)
            for name, value in values.items()
            for k, node in enumerate(entries(recipe.own[name], value))
        ]
        if writes:
            yield f"{INDENT}{{"
            yield from self._statements(reads, writes, INDENT * 2)
            yield f"{INDENT}}}"

    def _angles(self) -> Iterator[str]:
        recipe, q = self.recipe, self._joint(0)
        if recipe.turning is not None:
            q = f"links[i][{recipe.numbers.index(recipe.turning)}]*{q}"
        yield f"{INDENT}for (i = 0; i < {self.n}; i++) {{"
        for name, op in zip(ANGLE, ("cos", "sin"), strict=True):
            yield f"{INDENT * 2}state[i + 1][{recipe.places[name]}] = {self.dialect.function(op, [q])};"
        yield f"{INDENT}}}"

    def _joint(self, place: int) -> str:
        name = self.recipe.inputs[place]
        return f"{name}_joint[i]" if name in self.recipe.base else f"{name}[i]"

    def _addresses(self, part: Part) -> Iterator[str]:
        used = {place.where for place in part.inputs.values()} | {place.where for place, _ in part.outputs}
        written = {place.where for place, _ in part.outputs}
        if "link" in used:
            yield f"{INDENT * 2}const {self.real} *link = links[i];"
        if "own" in used:
            yield f"{INDENT * 2}{'' if 'own' in written else 'const '}{self.real} *own = state[i + 1];"
        if "parent" in used:
            yield f"{INDENT * 2}{'' if 'parent' in written else 'const '}{self.real} *parent = state[parents[i] + 1];"

    def _address(self, place: Place) -> str:
        where, k = place.where, place.at
        if where == "joint":
            return self._joint(k)
        if where == "result":
            return f"{self.results[k]}[i]"
        if where in ("pair", "strip"):
            return f"{where}s[i][{k}]"
        if where == "world":
            return f"state[0][{k}]"
        return f"{where}[{k}]"

    def _part(self, part: Part, indent: str) -> Iterator[str]:
        reads = {node: self._address(place) for node, place in part.inputs.items()}
        yield from self._statements(reads, [(self._address(place), node) for place, node in part.outputs], indent)

    def _statements(self, reads: Mapping[Node, str], writes: Sequence[tuple[str, Node]], indent: str) -> Iterator[str]:
        program = self.straight(reads, [node for _, node in writes])
        for node, place in reads.items():
            if node in program.names:
                yield f"{indent}const {self.real} {program.names[node]} = {place};"
        for name, expression in program.written(self.dialect):
            yield from folded(f"{indent}const {self.real} {name} = {expression};", WIDTH, indent + INDENT)
        writer = ExpressionWriter(program.names, self.dialect)
        for place, node in writes:
            yield from folded(f"{indent}{place} = {writer.write(node)};", WIDTH, indent + INDENT)

    def straight(self, reads: Iterable[Node], writes: Sequence[Node]) -> StraightLine:
        """A part as assignments."""
        graph = Graph({"reads": tuple(reads)}, {"writes": tuple(writes)})
        return straight_line(graph, {}, lambda name: identifier(name, self.reserved), {*self.reserved, *_OWN_NAMES})

    # Outputs ----------------------------------------------------------------------------------------------------------

    def _entry(self, name: str, row: str, column: str, columns: int) -> str:
        return f"{name}[({row})*{columns} + {column}]" if self.flat else f"{name}[{row}][{column}]"

    def _outputs(self) -> Iterator[str]:
        recipe, n = self.recipe, self.n
        names = iter([port.name for port in self.function.outputs])
        if recipe.outputs:
            yield f"{INDENT}for (i = 0; i < {n}; i++) {{"
            yield from (f"{INDENT * 2}{next(names)}[i] = {self.results[k]}[i];" for k in range(recipe.outputs))
            yield f"{INDENT}}}"
        matrices = [next(names) for _ in recipe.products]
        if matrices:
            yield from self._products(matrices)
        if recipe.strip:
            yield from self._strips(next(names))

    def _products(self, matrices: Sequence[str]) -> Iterator[str]:
        """Zeros, then all pairs: link i and those that carry it, j, from itself to the root."""
        recipe, n = self.recipe, self.n
        yield f"{INDENT}for (i = 0; i < {n}; i++) {{"
        yield f"{INDENT * 2}for (j = 0; j < {n}; j++) {{"
        yield from (f"{INDENT * 3}{self._entry(name, 'i', 'j', n)} = 0.0{self.suffix};" for name in matrices)
        yield f"{INDENT * 2}}}"
        yield f"{INDENT}}}"
        yield f"{INDENT}for (i = 0; i < {n}; i++) {{"
        yield f"{INDENT * 2}const {self.real} *far = pairs[i];"
        yield f"{INDENT * 2}for (j = i; j >= 0; j = parents[j]) {{"
        yield f"{INDENT * 3}const {self.real} *near = pairs[j];"
        for name, product in zip(matrices, recipe.products, strict=True):
            upper, lower = self._entry(name, "j", "i", n), self._entry(name, "i", "j", n)
            value = self._sum(product.upper)
            if not product.lower:
                yield from folded(f"{INDENT * 3}{upper} = {lower} = {value};", WIDTH, INDENT * 4)
            else:
                yield from folded(f"{INDENT * 3}{lower} = {self._sum(product.lower)};", WIDTH, INDENT * 4)
                yield from folded(f"{INDENT * 3}{upper} = {value};", WIDTH, INDENT * 4)
        yield f"{INDENT * 2}}}"
        for name, product in zip(matrices, recipe.products, strict=True):
            if product.diagonal is not None:
                yield f"{INDENT * 2}{self._entry(name, 'i', 'i', n)} += {product.diagonal}_[i];"
        yield f"{INDENT}}}"

    def _sum(self, quantities: Sequence[tuple[str, str]]) -> str:
        places, pairs = self.recipe.pair_places, self.recipe.pairs
        terms = [f"near[{places[a] + k}]*far[{places[b] + k}]" for a, b in quantities for k in range(SIZES[pairs[a]])]
        return " + ".join(terms)

    def _strips(self, name: str) -> Iterator[str]:
        strip, n = self.recipe.strip, self.n
        assert strip is not None
        columns = strip.width * n
        yield f"{INDENT}for (i = 0; i < {n}; i++) {{"
        yield f"{INDENT * 2}for (j = 0; j < {columns}; j++) {{"
        yield f"{INDENT * 3}{self._entry(name, 'i', 'j', columns)} = 0.0{self.suffix};"
        yield f"{INDENT * 2}}}"
        yield f"{INDENT}}}"
        yield f"{INDENT}for (i = 0; i < {n}; i++) {{"
        yield f"{INDENT * 2}const {self.real} *far = strips[i];"
        yield f"{INDENT * 2}for (j = i; j >= 0; j = parents[j]) {{"
        yield f"{INDENT * 3}const {self.real} *near = pairs[j];"
        yield f"{INDENT * 3}int k;"
        yield f"{INDENT * 3}for (k = 0; k < {LANES}; k++) {{"
        start = 0
        for v, vector in enumerate(strip.vectors):
            factors = [self.recipe.pair_places[quantity] + k for quantity in vector for k in range(3)]
            value = " + ".join(f"near[{factor}]*far[{start + LANES * m} + k]" for m, factor in enumerate(factors))
            start += LANES * len(factors)
            column = f"i*{strip.width} + {LANES * v} + k"
            yield from folded(f"{INDENT * 4}{self._entry(name, 'j', column, columns)} = {value};", WIDTH, INDENT * 5)
        yield f"{INDENT * 3}}}"
        yield f"{INDENT * 2}}}"
        first = strip.width - len(strip.diagonal)
        for k, quantity in enumerate(strip.diagonal):
            place = self._entry(name, "i", f"i*{strip.width} + {first + k}", columns)
            yield f"{INDENT * 2}{place} = {quantity}_[i];"
        yield f"{INDENT}}}"

    # What it costs ----------------------------------------------------------------------------------------------------

    def variables(self) -> int:
        """Variables of all parts, which a compiler may keep apart, and of the world's record."""
        parts = [loop.body for loop in self.recipe.loops(fused=True)]
        programs = [self.straight(part.inputs, [node for _, node in part.outputs]) for part in parts if part.outputs]
        first = sum(map(len, (self.recipe.robot, *map(range, self.recipe.base.values()))))
        return (
            sum(len(program.names) + BESIDE for program in programs) + BASE_OPERATIONS * bool(self.recipe.base) + first
        )

    def numbers_in_memory(self) -> int:
        """Numbers in the arrays of one call."""
        recipe = self.recipe
        per_link = recipe.pair_size + recipe.strip_size + len(recipe.results) + len(recipe.base)
        return (self.n + 1) * recipe.own_size + self.n * per_link


_OWN_NAMES = {
    "i",
    "j",
    "k",
    "state",
    "links",
    "parents",
    "robot",
    "pairs",
    "strips",
    "link",
    "own",
    "parent",
    "near",
    "far",
    "world",
}


def needs_sign(recipe: Recipe) -> bool:
    """Whether a part of the loops uses the sign of a number."""
    nodes = [node for loop in recipe.loops(fused=True) for _, node in loop.body.outputs]
    return any(node.op == SIGN for node in Graph({}, {"all": tuple(nodes)}).nodes)


def _comment(words: Sequence[str]) -> Iterator[str]:
    lines = textwrap.wrap(f"Of each link: {', '.join(words)}.", WIDTH - 10)
    yield from (f"{INDENT}{'/*' if k == 0 else ' *'} {line}" for k, line in enumerate(lines[:-1]))
    yield f"{INDENT}{' *' if len(lines) > 1 else '/*'} {lines[-1]} */"


def _wrapped(words: list[str], opening: str = "", closing: str = "") -> list[str]:
    return folded(f"{INDENT * 2}{opening}{', '.join(words)}{closing}", WIDTH, INDENT * 2 + " ")
