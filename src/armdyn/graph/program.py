"""Expressions as text: one line of infix, or a program of short assignments in the manner of SYMORO."""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from armdyn.errors import unknown_name
from armdyn.graph.angle import natural_key
from armdyn.graph.node import ADD, CONST, COS, DIV, MUL, NEG, PI_OP, SELECT, SIGN, SIN, SUB, SYMBOL, Node
from armdyn.graph.structure import is_scalar, leaves, ordered

if TYPE_CHECKING:
    from armdyn.graph.trace import Graph

STYLES = ("text", "python")
_SUM, _PRODUCT, _ATOM = 1, 2, 3


class _Writer:
    """Infix text of nodes; nodes that have a name are written as that name."""

    def __init__(self, names: Mapping[Node, str], style: str = "text") -> None:
        self.names, self.style = names, style

    def write(self, node: Node, level: int = 0, *, own: bool = False) -> str:
        """Text of a node as operand of the given binding strength; `own` spells it out even if it has a name."""
        if not own and node in self.names:
            return self.names[node]
        text, strength = self._plain(node)
        return f"({text})" if strength < level else text

    def _plain(self, node: Node) -> tuple[str, int]:
        if node.op == SYMBOL:
            return node.value, _ATOM
        if node.op == PI_OP:
            return "pi", _ATOM
        if node.op == CONST:
            return _number(node.value)
        if node.op in (ADD, SUB, NEG):
            return self._sum(node)
        if node.op == MUL:
            return self._product(node), _PRODUCT
        if node.op == DIV:
            return f"{self.write(node.args[0], _PRODUCT)}/{self.write(node.args[1], _ATOM)}", _PRODUCT
        return self._function(node)

    def _function(self, node: Node) -> tuple[str, int]:
        inner = [self.write(arg) for arg in node.args]
        if self.style == "python" and node.op == SIGN:
            return f"(({inner[0]} > 0) - ({inner[0]} < 0))", _ATOM
        if self.style == "python" and node.op == SELECT:
            return f"({inner[1]} if {inner[0]} >= 0 else {inner[2]})", _ATOM
        return f"{node.op}({', '.join(inner)})", _ATOM

    def _sum(self, node: Node, factor: int = 1) -> tuple[str, int]:
        signed = [self._signed(factor * sign, term) for sign, term in self._terms(node)]
        signed.sort(key=lambda each: (each[0] < 0, each[2].op == CONST, _order(each[1])))
        text = "".join(f"{' + ' if sign > 0 else ' - '}{word}" for sign, word, _ in signed)
        return (text[3:] if text.startswith(" + ") else "-" + text[3:]), _SUM

    def _signed(self, sign: int, term: Node) -> tuple[int, str, Node]:
        """A term with its sign; -(a - b)*c is turned to +(b - a)*c, since either orientation costs the same."""
        if sign < 0 and term.op == MUL and term not in self.names:
            text = self._product(term, flip=True)
            if text:
                return 1, text, term
        return sign, self.write(term, _PRODUCT), term

    def _terms(self, node: Node) -> list[tuple[int, Node]]:
        terms, stack = [], [(1, node)]
        while stack:
            sign, part = stack.pop()
            if part.op == NEG and (part is node or part not in self.names):
                stack.append((-sign, part.args[0]))
            elif part.op in (ADD, SUB) and (part is node or part not in self.names):
                stack += [(sign, part.args[0]), (sign if part.op == ADD else -sign, part.args[1])]
            else:
                terms.append((sign, part))
        return terms

    def _product(self, node: Node, flip: bool = False) -> str:
        """Text of a product; with `flip`, of its negative, or "" if no difference can be turned round."""
        factors, stack, divisor = [], list(node.args), ""
        while stack:
            part = stack.pop()
            if part.op == MUL and part not in self.names:
                stack += part.args
            elif part.op == CONST and isinstance(part.value, Fraction) and not divisor:
                divisor = f"/{part.value.denominator}"  # x/3 reads better than 1/3*x
                if part.value.numerator != 1:
                    factors.append((False, False, str(part.value.numerator)))
            elif flip and part.op == SUB and part not in self.names:
                flip = False
                factors.append((True, part.online, f"({self._sum(part, -1)[0]})"))
            else:
                factors.append((part.op != CONST, part.online, self.write(part, _ATOM)))
        if flip:
            return ""
        factors.sort(key=lambda each: (*each[:2], _order(each[2])))
        return "*".join(word for *_, word in factors) + divisor


def _order(word: str) -> tuple[int, list[str | int]]:
    """Names first, then functions, then brackets."""
    return 2 if word.startswith("(") else 1 if "(" in word else 0, natural_key(word)


def _number(value: Any) -> tuple[str, int]:
    text = str(value)
    return text, _SUM if value < 0 else _PRODUCT if isinstance(value, Fraction) else _ATOM


def infix(node: Node, limit: int | None = None, names: Mapping[Node, str] | None = None) -> str:
    """One line of text, or a summary if the expression spelled out has more than `limit` nodes.

    >>> from armdyn.graph import symbols
    >>> x, y = symbols("x y")
    >>> infix(2 * x * (y - x) - y / 3)
    '2*x*(y - x) - y/3'
    """
    order = ordered(node)
    size: dict[Node, int] = {}
    for part in order:
        size[part] = 1 + sum(size[arg] for arg in part.args)
    if limit is not None and size[node] > limit:
        return f"<{node.op} of {len(order)} nodes>"
    return _Writer(names or {}).write(node)


def program(graph: Graph, style: str = "text") -> str:
    """Assignments for shared and named intermediates, everything used once written in place.

    Style "python" gives a function definition that needs only `math`.
    """
    if style not in STYLES:
        raise unknown_name("program style", style, STYLES)
    outputs = dict(_named_outputs(graph.outputs))
    names = _assigned(graph, taken=set(outputs))
    writer = _Writer(names, style)
    lines = [f"{names[node]} = {writer.write(node, own=True)}" for node in graph.nodes if node in names]
    lines += [f"{name} = {writer.write(node)}" for name, node in outputs.items()]
    return "\n".join(lines) if style == "text" else _python(graph, lines)


def _named_outputs(structure: Any, name: str = "") -> Iterable[tuple[str, Node]]:
    """(name, node) of each output; components are numbered from 1 like the symbols of inputs."""
    if is_scalar(structure):
        yield clean(name), structure
        return
    parts = structure.items() if isinstance(structure, Mapping) else enumerate(structure, 1)
    crowded = not isinstance(structure, Mapping) and len(structure) > 9
    for label, part in parts:
        yield from _named_outputs(part, f"{name}_{label}" if name and crowded else f"{name}{label}")


def clean(name: str) -> str:
    """The name as an identifier.

    >>> clean("tau[1]"), clean("2x"), clean("lambda")
    ('tau_1', '_2x', 'lambda_')
    """
    text = re.sub(r"\W+", "_", name).rstrip("_") or "_"
    text = f"_{text}" if text[0].isdigit() else text
    return f"{text}_" if keyword.iskeyword(text) else text


def _assigned(graph: Graph, taken: set[str]) -> dict[Node, str]:
    """Names of the nodes that get their own line."""
    uses = Counter(arg for node in graph.nodes for arg in node.args)
    uses.update(leaves(dict(graph.outputs)))
    free = {node.value for node in graph.nodes if node.op == SYMBOL} | taken
    names: dict[Node, str] = {}
    for node in graph.nodes:
        if not node.args or not (node in graph.names or (uses[node] > 1 and not _is_trivial(node))):
            continue
        wish = graph.names.get(node) or _trig_name(node)
        names[node] = _fresh(clean(wish) if wish else "t1", free, numbered=wish is None)
        free.add(names[node])
    return names


def _is_trivial(node: Node) -> bool:
    return node.op == NEG and not node.args[0].args


def _trig_name(node: Node) -> str | None:
    """S23 for sin(q2 + q3); None for other nodes and other angles."""
    if node.op not in (SIN, COS):
        return None
    match = re.fullmatch(r"([A-Za-z_]+)(\d+)( \+ \1(\d+))*", infix(node.args[0]))
    return ("S" if node.op == SIN else "C") + "".join(re.findall(r"\d+", match[0])) if match else None


def _fresh(wish: str, taken: set[str], numbered: bool) -> str:
    if wish not in taken:
        return wish
    stem, count = (wish.rstrip("0123456789"), 1) if numbered else (f"{wish}_", 2)
    while f"{stem}{count}" in taken:
        count += 1
    return f"{stem}{count}"


def _python(graph: Graph, lines: list[str]) -> str:
    arguments = [*map(clean, graph.inputs), *(clean(node.value) for node in graph.parameters)]
    unpacking = [
        f"{_targets(structure)} = {clean(name)}"
        for name, structure in graph.inputs.items()
        if not (isinstance(structure, Node) and structure.value == clean(name))
    ]
    body = ["from math import cos, exp, pi, sin, sqrt", *unpacking, *lines, f"return {_returned(graph)}"]
    return f"def function({', '.join(arguments)}):\n" + "\n".join(f"    {line}" for line in body) + "\n"


def _targets(structure: Any) -> str:
    if isinstance(structure, Node):
        return str(structure.value)
    return "(" + ", ".join(map(_targets, structure)) + ",)"


def _returned(graph: Graph) -> str:
    words = iter(name for name, _ in _named_outputs(graph.outputs))

    def shape(structure: Any) -> str:
        if is_scalar(structure):
            return next(words)
        if isinstance(structure, Mapping):
            return "{" + ", ".join(f"{label!r}: {shape(part)}" for label, part in structure.items()) + "}"
        return "(" + "".join(f"{shape(part)}, " for part in structure) + ")"

    return shape(graph.outputs["out"] if list(graph.outputs) == ["out"] else dict(graph.outputs))
