"""The chapter of a report about equations: explicit forms, the certificate, the formulations side by side."""

from __future__ import annotations

from pathlib import Path

from armdyn.equations import Certificate, Comparison, Equations
from armdyn.equations.typesetting import SHORT, UNWRITTEN, matrices
from armdyn.graph.mathml import mathml, mathml_name
from armdyn.report.pages import html
from armdyn.tables import Column, Section

NAMES = {"christoffel": "Christoffel symbols"}
MOST_TERMS = 1500
"""Equations with more terms than this are counted, not printed: nobody reads them."""


def equations_block(equations: Equations) -> str:
    """M, C and g, typeset; for large robots their number of terms."""
    size = ", ".join(f"{NAMES.get(name, name)} {count}" for name, count in equations.size.items())
    counted = f"Terms of the expanded forms: {size}. Inverse dynamics as a program: {equations.operations}."
    if is_long(equations):
        return html.paragraph(f"Too long to print. {counted} armdyn derive --out writes all of them.")
    parts = [html.formula("<mi>&#x3C4;</mi><mo>=</mo>" + _EQUATION)]
    parts.append(html.paragraph(f"{SHORT} {UNWRITTEN} Friction is not part of these equations."))
    for block in matrices(equations):
        left = f"<msub><mi>{block.symbol}</mi><mn>{{}}</mn></msub><mo>=</mo>"
        parts.append(html.subheading(block.title))
        parts += [html.formula(left.format(indices) + mathml(x)) for indices, x in block.entries]
        if not block.entries:
            parts.append(html.paragraph("All zero."))
    return "\n".join([*parts, html.paragraph(counted)])


_DOT, _DDOT = mathml_name("qd"), mathml_name("qdd")
_EQUATION = (
    f"<mi>M</mi><mo>(</mo><mi>q</mi><mo>)</mo>{_DDOT}<mo>+</mo><mi>C</mi><mo>(</mo><mi>q</mi><mo>,</mo>{_DOT}"
    f"<mo>)</mo>{_DOT}<mo>+</mo><mi>g</mi><mo>(</mo><mi>q</mi><mo>)</mo>"
)


def is_long(equations: Equations) -> bool:
    return sum(equations.size.values()) > MOST_TERMS


def write_equations(equations: Equations, folder: Path) -> list[Path]:
    """equations.md and equations.tex beside the report, unless nobody could read them."""
    if is_long(equations):
        return []
    files = {"equations.md": equations.markdown(), "equations.tex": equations.latex()}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files]


def certificate_section(certificate: Certificate) -> Section:
    """One row per statement: which formulations it was checked for, and whether it held."""
    statements: dict[str, list[tuple[str, bool]]] = {}
    for check in certificate.checks:
        statements.setdefault(check.statement, []).append((check.formulation, check.holds))
    rows = []
    for statement, checks in statements.items():
        failing = [name for name, holds in checks if not holds]
        verdict = f"fails: {', '.join(failing)}" if failing else "holds exactly"
        rows.append((statement, str(len(checks)), verdict))
    note = (
        f"Exact rational arithmetic at {certificate.points} random states with random inertias: no tolerance. Chance "
        f"that different formulas agree by accident: {certificate.error_probability:.0e}."
    )
    columns = (Column("statement"), Column("formulations"), Column("verdict"))
    return Section("Certificate of agreement", columns, tuple(rows), " ".join([note, *certificate.left_out]))


def comparison_section(comparison: Comparison) -> Section:
    """Inverse dynamics by every formulation."""
    rows = [
        (
            row.formulation.title,
            row.formulation.source,
            f"{row.difference:.0e}",
            f"{row.written[0]} / {row.written[1]}",
            f"{row.operations.multiplications} / {row.operations.additions}",
            f"{1e3 * row.trace_seconds:.1f}",
            f"{1e3 * row.evaluation_seconds:.2f}",
        )
        for row in comparison.rows
    ]
    columns = (Column("formulation"), Column("source", folds=True), Column("difference", "relative"),
               Column("as written", "x / +"), Column("shared", "x / +"), Column("derived in", "ms"),
               Column("in Python", "ms"))  # fmt: skip
    note = (
        "Operations of one inverse dynamics: as the formulation is written, and with common subexpressions shared. In "
        "Python: one evaluation of the formulas as they stand, on plain numbers. Sources: see References."
    )
    return Section("Formulations", columns, tuple(rows), note)
