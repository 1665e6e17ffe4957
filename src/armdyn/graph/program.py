"""A graph as a straight-line program: assignments to named intermediates in the manner of SYMORO, in any language."""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from armdyn.errors import unknown_name
from armdyn.graph.expression_writer import Dialect, ExpressionWriter, Python, infix
from armdyn.graph.node import ADD, COS, NEG, SIN, SUB, SYMBOL, Node
from armdyn.graph.structure import is_scalar, leaves

if TYPE_CHECKING:
    from armdyn.graph.trace import Graph

STYLES = ("text", "python")
LONGEST = 20
"""Names and numbers in one assignment of generated code; what would be longer is cut into several."""


@dataclass(frozen=True)
class StraightLine:
    """Assignments in order of execution.

    names: of every symbol and every node with a line of its own.
    lines: those nodes, operands before users.
    """

    names: Mapping[Node, str]
    lines: tuple[Node, ...]

    def written(self, dialect: Dialect) -> Iterator[tuple[str, str]]:
        """(name, expression) of each line."""
        writer = ExpressionWriter(self.names, dialect)
        return ((self.names[node], writer.definition(node)) for node in self.lines)


def straight_line(
    graph: Graph,
    labels: Mapping[Node, str],
    spelled: Callable[[str], str],
    taken: Iterable[str] = (),
    longest: int | None = LONGEST,
) -> StraightLine:
    """The straight-line program of a graph: what is used more than once, named or too long gets a line of its own.

    labels: names for nodes.
    spelled: turns a name of the robot's into an identifier.
    taken: names that no variable may have.
    longest: names and numbers in one assignment, or None for no limit.
    """
    used = set(taken)
    names: dict[Node, str] = {}
    symbols = [node for node in graph.nodes if node.op == SYMBOL]
    for node in sorted(symbols, key=lambda node: not node.online):  # variables keep their names, parameters give way
        names[node] = fresh(spelled(node.value), used)
    uses = Counter(arg for node in graph.nodes for arg in node.args)
    uses.update(leaves(dict(graph.outputs)))
    turned = {node.args[0] for node in graph.nodes if node.op == NEG and node.args[0].op == SUB}
    count, lines = 0, []
    length: dict[Node, int] = {}
    for node in graph.nodes:
        length[node] = sum(length[arg] for arg in node.args) or 1
        wanted = node in labels or (longest is not None and length[node] > longest)
        if not node.args or not (uses[node] > 1 or (wanted and node not in turned)):
            continue
        length[node] = 1
        wish = labels.get(node) or _trig_name(node)
        if wish is None:
            count += 1
            while f"t{count}" in used:
                count += 1
        names[node] = fresh(spelled(wish) if wish else f"t{count}", used)
        lines.append(node)
    return StraightLine(names, tuple(lines))


def fresh(wish: str, taken: set[str]) -> str:
    """The name, or the name with a number if it is taken; the answer is taken from now on.

    >>> taken = {"m"}
    >>> fresh("m", taken), fresh("m", taken), fresh("l", taken)
    ('m_2', 'm_3', 'l')
    """
    name, count = wish, 2
    while name in taken:
        name, count = f"{wish}_{count}", count + 1
    taken.add(name)
    return name


def _trig_name(node: Node) -> str | None:
    """S23 for sin(q2 + q3); None for other nodes and other angles."""
    # Only sums of symbols are written out: an angle of a closed chain may be a whole program, with shared parts that
    # text would repeat without end.
    if node.op not in (SIN, COS) or not _is_sum_of_symbols(node.args[0]):
        return None
    match = re.fullmatch(r"([A-Za-z_]+)(\d+)( \+ \1(\d+))*", infix(node.args[0]))
    return ("S" if node.op == SIN else "C") + "".join(re.findall(r"\d+", match[0])) if match else None


def _is_sum_of_symbols(node: Node) -> bool:
    return node.op == SYMBOL or (node.op == ADD and all(map(_is_sum_of_symbols, node.args)))


def clean(name: str) -> str:
    """The name as an identifier of Python.

    >>> clean("tau[1]"), clean("2x"), clean("lambda")
    ('tau_1', '_2x', 'lambda_')
    """
    text = re.sub(r"\W+", "_", name).rstrip("_") or "_"
    text = f"_{text}" if text[0].isdigit() else text
    return f"{text}_" if keyword.iskeyword(text) else text


# What a graph prints of itself ---------------------------------------------------------------------------------------


def program(graph: Graph, style: str = "text") -> str:
    """The graph as assignments with exact numbers; style "python" gives a function definition that needs only NumPy."""
    if style not in STYLES:
        raise unknown_name("program style", style, STYLES)
    text = style == "text"
    made, outputs = _assignments(graph, None if text else LONGEST), dict(_named_outputs(graph.outputs))
    dialect = Dialect() if text else Python()
    writer = ExpressionWriter(made.names, dialect)
    lines = [f"{name} = {expression}" for name, expression in made.written(dialect)]
    lines += [f"{name} = {writer.write(node)}" for name, node in outputs.items()]
    return "\n".join(lines) if text else _python(graph, made.names, lines)


def _assignments(graph: Graph, longest: int | None) -> StraightLine:
    """Variables beside the arguments and results, which keep their names."""
    vectors = (clean(name) for name, structure in graph.inputs.items() if not isinstance(structure, Node))
    taken = {"np", *vectors, *dict(_named_outputs(graph.outputs))}
    return straight_line(graph, graph.names, clean, taken, longest)


def arguments(graph: Graph) -> dict[str, str]:
    """Parameter -> its argument in the function of style "python", another name where its own is taken.

    >>> from armdyn.graph import symbol, trace
    >>> h = symbol("h", "parameter")
    >>> arguments(trace(lambda x: x[0] * h, {"h": 2}))
    {'h': 'h_2'}
    """
    names = _assignments(graph, LONGEST).names
    return {str(node.value): names[node] for node in graph.parameters}


def _named_outputs(structure: Any, name: str = "") -> Iterable[tuple[str, Node]]:
    """(name, node) of each output; components are numbered from 1 like the symbols of inputs."""
    if is_scalar(structure):
        yield clean(name), structure
        return
    parts = structure.items() if isinstance(structure, Mapping) else enumerate(structure, 1)
    crowded = not isinstance(structure, Mapping) and len(structure) > 9
    for label, part in parts:
        yield from _named_outputs(part, f"{name}_{label}" if name and crowded else f"{name}{label}")


def _python(graph: Graph, names: Mapping[Node, str], lines: list[str]) -> str:
    arguments = [*map(clean, graph.inputs), *(names[node] for node in graph.parameters)]
    unpacking = [
        f"{_targets(structure, names)} = {clean(name)}"
        for name, structure in graph.inputs.items()
        if not (isinstance(structure, Node) and names.get(structure, clean(name)) == clean(name))
    ]
    body = ["import numpy as np", *unpacking, *lines, f"return {_returned(graph)}"]
    return f"def function({', '.join(arguments)}):\n" + "\n".join(f"    {line}" for line in body) + "\n"


def _targets(structure: Any, names: Mapping[Node, str]) -> str:
    """What an input is unpacked into; entries that nothing needs have no name."""
    if isinstance(structure, Node):
        return names.get(structure, "_")
    return "(" + ", ".join(_targets(part, names) for part in structure) + ",)"


def _returned(graph: Graph) -> str:
    words = iter(name for name, _ in _named_outputs(graph.outputs))

    def shape(structure: Any) -> str:
        if is_scalar(structure):
            return next(words)
        if isinstance(structure, Mapping):
            return "{" + ", ".join(f"{label!r}: {shape(part)}" for label, part in structure.items()) + "}"
        return "(" + "".join(f"{shape(part)}, " for part in structure) + ")"

    return shape(graph.outputs["out"] if list(graph.outputs) == ["out"] else dict(graph.outputs))
