"""The equations of motion as HTML: M, C, g and what else the robot has, typeset."""

from __future__ import annotations

from armdyn.equations import Equations
from armdyn.equations.typesetting import MOST_TERMS, SHORT, UNWRITTEN, mathml_head, matrices, statement
from armdyn.graph.mathml import mathml, mathml_name
from armdyn.report.pages import html

NAMES = {"christoffel": "Christoffel symbols", "k": "springs"}


def is_long(equations: Equations) -> bool:
    """Return True if the equations have too many terms to print."""
    return sum(equations.size.values()) > MOST_TERMS


def equations_block(equations: Equations) -> str:
    """All terms of the torques, typeset; for large robots only their number."""
    size = ", ".join(f"{NAMES.get(name, name)} {count}" for name, count in equations.size.items() if count)
    counted = f"Number of terms when expanded: {size}. Inverse dynamics as a program: {equations.operations}."
    if is_long(equations):
        return html.paragraph(
            f"The equations are too long to print. {counted} The command `armdyn derive --out` writes them to a file."
        )
    parts = [
        html.formula("<mi>&#x3C4;</mi><mo>=</mo>" + "<mo>+</mo>".join(_TERMS[name] for name in equations.quantities))
    ]
    parts += [html.paragraph(each) for each in (f"{SHORT} {UNWRITTEN}", "; ".join(statement(equations)[1:]))]
    for block in matrices(equations):
        parts.append(html.subheading(block.title))
        parts += [html.formula(mathml_head(block, indices) + mathml(x)) for indices, x in block.entries]
        if not block.entries:
            parts.append(html.paragraph("All entries are zero."))
    return "\n".join([*parts, html.paragraph(counted)])


def _of(*arguments: str) -> str:
    return f"<mo>(</mo>{'<mo>,</mo>'.join(arguments)}<mo>)</mo>"


_Q, _DOT, _DDOT = "<mi>q</mi>", mathml_name("qd"), mathml_name("qdd")
_TERMS = {
    "M": f"<mi>M</mi>{_of(_Q)}{_DDOT}",
    "C": f"<mi>C</mi>{_of(_Q, _DOT)}{_DOT}",
    "g": f"<mi>g</mi>{_of(_Q)}",
    "k": f"<mi>k</mi>{_of(_Q)}",
    "friction": f"<mi>friction</mi>{_of(_DOT)}",
    "external": f"<msup><mi>J</mi><mi>T</mi></msup>{_of(_Q)}<mi>h</mi>",
}
