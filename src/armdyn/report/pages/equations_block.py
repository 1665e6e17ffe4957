"""The equations of motion as HTML: M, C and g, typeset."""

from __future__ import annotations

from armdyn.equations import Equations
from armdyn.equations.typesetting import MOST_TERMS, SHORT, UNWRITTEN, matrices
from armdyn.graph.mathml import mathml, mathml_name
from armdyn.report.pages import html

NAMES = {"christoffel": "Christoffel symbols", "k": "springs"}


def is_long(equations: Equations) -> bool:
    """Return True if the equations have too many terms to print."""
    return sum(equations.size.values()) > MOST_TERMS


def equations_block(equations: Equations) -> str:
    """M, C and g, typeset; for large robots only the number of their terms."""
    size = ", ".join(f"{NAMES.get(name, name)} {count}" for name, count in equations.size.items() if count)
    counted = f"Number of terms when expanded: {size}. Inverse dynamics as a program: {equations.operations}."
    if is_long(equations):
        return html.paragraph(
            f"The equations are too long to print. {counted} The command `armdyn derive --out` writes them to a file."
        )
    parts = [html.formula("<mi>&#x3C4;</mi><mo>=</mo>" + _EQUATION)]
    parts.append(html.paragraph(f"{SHORT} {UNWRITTEN} Friction is not part of these equations."))
    for block in matrices(equations):
        left = f"<msub><mi>{block.symbol}</mi><mn>{{}}</mn></msub><mo>=</mo>"
        parts.append(html.subheading(block.title))
        parts += [html.formula(left.format(indices) + mathml(x)) for indices, x in block.entries]
        if not block.entries:
            parts.append(html.paragraph("All entries are zero."))
    return "\n".join([*parts, html.paragraph(counted)])


_DOT, _DDOT = mathml_name("qd"), mathml_name("qdd")
_EQUATION = (
    f"<mi>M</mi><mo>(</mo><mi>q</mi><mo>)</mo>{_DDOT}<mo>+</mo><mi>C</mi><mo>(</mo><mi>q</mi><mo>,</mo>{_DOT}"
    f"<mo>)</mo>{_DOT}<mo>+</mo><mi>g</mi><mo>(</mo><mi>q</mi><mo>)</mo>"
)
