"""Equations on paper: plain text, LaTeX, Markdown, JSON."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from armdyn.graph import Node, constant
from armdyn.graph.expression_writer import infix
from armdyn.tables import WIDTH

if TYPE_CHECKING:
    from armdyn.equations.derivation import Equations

Render = Callable[[Node], str]
MOTION = "tau = M(q) qdd + C(q, qd) qd + g(q)"
QUANTITIES = {"M": "Mass matrix", "C": "Coriolis matrix", "g": "Gravity torques", "k": "Spring torques"}
TERMS = {"inertia": "Inertia", "centrifugal": "Centrifugal", "coriolis": "Coriolis", "gravity": "Gravity",
         "springs": "Springs and counterbalances",
         "external": "External wrench at the tool"}  # fmt: skip
SHORT = "Abbreviations: c2 = cos(q2), s23 = sin(q2 + q3), and so on."
UNWRITTEN = "M is symmetric; entries not shown are zero."
TYPESET_WIDTH = 100
"""Letters of a typeset line, roughly, before it is broken."""
_INDENT, _DEEPEST, _NARROWEST = 2, 6, 24


class Block(NamedTuple):
    """Entries that stand together below a title: M11, M12, ... or the torques of one cause."""

    title: str
    symbol: str
    entries: tuple[tuple[str, Node], ...]
    """Indices and expression of what is not zero."""
    sign: str = "="
    """Between symbol and expression: "=", or ":" for what is only a part of the symbol."""

    @property
    def heading(self) -> str:
        """The title where it stands alone: `Torques, inertia`."""
        return self.title if self.sign == "=" else f"Torques, {self.title[0].lower()}{self.title[1:]}"


# What there is to write -----------------------------------------------------------------------------------------


def motion(equations: Equations) -> str:
    """What the terms add up to."""
    return f"{MOTION} + k(q)" if equations.has_springs else MOTION


def matrices(equations: Equations, names: Sequence[str] | None = None) -> list[Block]:
    """M, C, g and, if there are springs, k; of a symmetric M the entries above the diagonal only."""
    n, whole = range(equations.robot.n), ("C",) if equations.symmetric else ("C", "M")
    found = []
    for name in equations.quantities if names is None else names:
        nodes = equations.nodes(name)
        if name in ("g", "k"):
            pairs = [(index(equations, i), nodes[i]) for i in n]
        else:
            pairs = [(index(equations, i, j), nodes[i][j]) for i in n for j in n if name in whole or j >= i]
        found.append(Block(QUANTITIES[name], name, _nonzero(pairs)))
    return found


def causes(equations: Equations) -> list[Block]:
    """The torques term by term: inertia, centrifugal, Coriolis, gravity, springs, external."""
    return [_torques(equations, TERMS[name], torques) for name, torques in equations.terms().items()]


def bodies(equations: Equations) -> list[Block]:
    """The torques body by body: what each asks of each joint."""
    return [_torques(equations, f"Body {name}", torques) for name, torques in equations.bodies().items()]


def crossed(equations: Equations) -> list[Block]:
    """The torques body by body and term by term, mass and inertia apart. El Baji sec. 3.4"""
    return [
        _torques(equations, f"Body {body}, {cause}", torques)
        for body, causes in equations.contributions(apart=True).items()
        for cause, torques in causes.items()
    ]


def _torques(equations: Equations, title: str, torques: Sequence[Node]) -> Block:
    return Block(title, "tau", _nonzero([(index(equations, i), x) for i, x in enumerate(torques)]), ":")


def _nonzero(pairs: Sequence[tuple[str, Node]]) -> tuple[tuple[str, Node], ...]:
    return tuple((indices, x) for indices, x in pairs if x is not constant(0))


def index(equations: Equations, *places: int) -> str:
    """Indices from 1, as they are printed: 23, or 2,13 where one figure is not enough."""
    return ("," if equations.robot.n > 9 else "").join(str(place + 1) for place in places)


# Plain text -----------------------------------------------------------------------------------------------------


def plain(equations: Equations, text: Render) -> str:
    """What print(equations) shows."""
    title = f"Equations of motion of {equations.robot.name}, by {equations.formulation}"
    lines = [line for block in matrices(equations) for line in plain_lines(block, text)]
    unwritten = UNWRITTEN if equations.symmetric else "Entries not shown are zero."
    return "\n".join([title, motion(equations), SHORT, unwritten, "", *lines])


def plain_lines(block: Block, text: Render, width: int = WIDTH) -> list[str]:
    """The entries of a block, each wrapped to the width."""
    gap = "" if block.sign == ":" else " "
    return [wrapped(f"{block.symbol}{indices}{gap}{block.sign} ", text(x), width) for indices, x in block.entries]


def wrapped(head: str, expression: str, width: int = WIDTH) -> str:
    """The expression behind its head, broken before plus and minus signs, outside of brackets where that is possible.

    >>> print(wrapped("M11 = ", "m2*(2*a1*l2*c2 + a1^2 + l2^2) + I1 + I2 + l1^2*m1", 36))
    M11 = m2*(2*a1*l2*c2 + a1^2 + l2^2)
          + I1 + I2 + l1^2*m1
    """
    places, depths = _breaks(expression)
    lines, start, indent = [], 0, 0
    while True:
        room = max(width - len(head) - indent, _NARROWEST)
        first, last = bisect_right(places, start), bisect_right(places, start + room)
        if len(expression) - start <= room or first == len(places):
            break
        late = bisect_right(places, start + room // 3)
        within = range(late if late < last else first, max(last, first + 1))
        best = min(within, key=lambda k: (depths[k], -places[k]))
        lines.append(" " * indent + expression[start : places[best]])
        start, indent = places[best] + 1, _INDENT * min(depths[best], _DEEPEST)
    lines.append(" " * indent + expression[start:])
    return head + ("\n" + " " * len(head)).join(lines)


def _breaks(expression: str) -> tuple[list[int], list[int]]:
    """Places of the blanks before plus and minus signs, and the depth of brackets there."""
    places, depths, depth = [], [], 0
    for match in re.finditer(r"[({]|[)}]| [+-] ", expression):
        if match[0] in "({":
            depth += 1
        elif match[0] in ")}":
            depth -= 1
        else:
            places.append(match.start())
            depths.append(depth)
    return places, depths


# LaTeX and Markdown ---------------------------------------------------------------------------------------------


def latex(equations: Equations, render: Render, blocks: Sequence[Block] | None = None) -> str:
    """An align environment, one entry after the other; parts of torques in environments of their own."""
    shown = matrices(equations) if blocks is None else blocks
    parts = [_align([line for block in shown if block.sign == "=" for line in _typeset(block, render)])]
    for block in shown:
        if block.sign != "=":
            parts.append(f"% {block.heading}\n" + _align(_typeset(block, render)))
    return "\n\n".join(part for part in parts if part)


def markdown(equations: Equations, render: Render, blocks: Sequence[Block] | None = None) -> str:
    """A page: the entries, then the torques term by term."""
    shown = [*matrices(equations), *causes(equations)] if blocks is None else blocks
    parts = [f"# Equations of motion of {equations.robot.name}", f"Formulation: {equations.formulation}. {SHORT}"]
    springs = " + k(q)" if equations.has_springs else ""
    parts += [f"$$\\tau = M(q)\\,\\ddot q + C(q, \\dot q)\\,\\dot q + g(q){springs}$$"]
    for level, title, group in _grouped(shown):
        parts += [f"## {title}"] if title else []
        for block in group:
            lines = _typeset(block, render)
            parts += [f"{level} {block.title}", *(_display(line) for line in lines)]
            parts += [] if lines else ["All zero."]
    return "\n\n".join(parts) + "\n"


def _grouped(blocks: Sequence[Block]) -> list[tuple[str, str, list[Block]]]:
    """(level of the titles, title above them, blocks): parts of the torques stand together."""
    whole = [block for block in blocks if block.sign == "="]
    by_body = [block for block in blocks if block.sign != "=" and block.title not in TERMS.values()]
    by_cause = [block for block in blocks if block.title in TERMS.values()]
    groups = [("##", "", whole), ("###", "Torques by cause", by_cause), ("###", "Torques by body", by_body)]
    return [group for group in groups if group[2]]


def _typeset(block: Block, render: Render) -> list[str]:
    symbol = rf"\{block.symbol}" if block.symbol == "tau" else block.symbol
    sign = "&=" if block.sign == "=" else "&:"
    return [f"{symbol}_{{{indices}}} {sign} {broken(render(x))}" for indices, x in block.entries]


def _align(lines: Sequence[str]) -> str:
    return "\\begin{align}\n" + " \\\\\n".join(lines) + "\n\\end{align}" if lines else ""


def _display(line: str) -> str:
    if r"\\" in line:
        return f"$$ \\begin{{aligned}} {line} \\end{{aligned}} $$"
    return f"$$ {line.replace('&', '', 1)} $$"


def broken(expression: str, width: int = TYPESET_WIDTH) -> str:
    r"""LaTeX of a sum with line breaks, never inside of brackets.

    >>> print(broken(r"a b + c_{2} \left(d - e\right) + f", 8))
    a b \\
    &\quad + c_{2} \left(d - e\right) \\
    &\quad + f
    """
    places, depths = _breaks(expression)
    ends = [place for place, depth in zip(places, depths, strict=True) if depth == 0] + [len(expression)]
    lines, start = [""], 0
    for end in ends:
        term = expression[start:end]
        if lines[-1] and _letters(lines[-1] + term) > width:
            lines.append(term)
        else:
            lines[-1] += term
        start = end
    return " \\\\\n&\\quad".join(lines)


def _letters(latex: str) -> int:
    """About how many letters the formula shows."""
    return len(re.sub(r"\\(left|right|frac|dot|ddot)|[{}_^ ]", "", latex))


# JSON -----------------------------------------------------------------------------------------------------------


def record(equations: Equations, terms: bool = False, by_body: bool = False) -> dict[str, Any]:
    """M, C, g (and k) as nested lists of texts that Python and SymPy can read, and the facts about them."""
    quantities = {name: _texts(equations.nodes(name)) for name in equations.quantities}
    facts = {"robot": equations.robot.name, "formulation": equations.formulation,
             "joints": [joint.name for joint in equations.robot.joints], "seconds": round(equations.seconds, 4),
             "terms": dict(equations.size)}  # fmt: skip
    if terms:
        quantities["causes"] = _texts(equations.terms())
    if by_body:
        quantities["bodies"] = _texts(equations.bodies())
    if terms and by_body:
        quantities["contributions"] = _texts(equations.contributions(apart=True))
    return facts | quantities


def _texts(nodes: Any) -> Any:
    if isinstance(nodes, dict):
        return {name: _texts(part) for name, part in nodes.items()}
    return [_texts(part) for part in nodes] if isinstance(nodes, list | tuple) else infix(nodes)
