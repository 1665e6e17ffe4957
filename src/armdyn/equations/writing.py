"""Equations on paper: plain text, LaTeX, Markdown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from armdyn.graph import Node, constant

if TYPE_CHECKING:
    from armdyn.equations.derivation import Equations

Render = Callable[[Node], str]
TERMS = {"inertia": "Inertia", "centrifugal": "Centrifugal", "coriolis": "Coriolis", "gravity": "Gravity",
         "external": "External wrench at the tool"}  # fmt: skip
SHORT = "Abbreviations: c2 = cos(q2), s23 = sin(q2 + q3), and so on."


def entries(equations: Equations) -> list[tuple[str, str, Node]]:
    """(symbol, indices, expression) of what is not zero in M, C, g; M above the diagonal is left to symmetry."""
    found = []
    n = range(equations.robot.n)
    for name in ("M", "C"):
        matrix = equations.nodes(name)
        pairs = [(i, j) for i in n for j in n if name == "C" or j >= i]
        found += [(name, f"{i + 1}{j + 1}", matrix[i][j]) for i, j in pairs if not _zero(matrix[i][j])]
    found += [("g", str(i + 1), x) for i, x in enumerate(equations.nodes("g")) if not _zero(x)]
    return found


def _zero(x: Any) -> bool:
    return x is constant(0)


def plain(equations: Equations, text: Render) -> str:
    """What print(equations) shows."""
    lines = [f"{name}{indices} = {text(x)}" for name, indices, x in entries(equations)]
    title = f"Equations of motion of {equations.robot.name}, by {equations.formulation}"
    unwritten = "M is symmetric; entries not shown are zero."
    return "\n".join([title, "tau = M(q) qdd + C(q, qd) qd + g(q)", SHORT, unwritten, "", *lines])


def latex(equations: Equations, render: Render) -> str:
    """An align environment, one entry a line."""
    lines = [f"{name}_{{{indices}}} &= {render(x)}" for name, indices, x in entries(equations)]
    return "\\begin{align}\n" + " \\\\\n".join(lines) + "\n\\end{align}"


def markdown(equations: Equations, render: Render) -> str:
    """A page: the entries, then the torques term by term."""
    parts = [f"# Equations of motion of {equations.robot.name}", f"Formulation: {equations.formulation}. {SHORT}"]
    parts += ["$$\\tau = M(q)\\,\\ddot q + C(q, \\dot q)\\,\\dot q + g(q)$$"]
    for name, title in (("M", "Inertia matrix"), ("C", "Coriolis matrix"), ("g", "Gravity torques")):
        shown = [(indices, x) for symbol, indices, x in entries(equations) if symbol == name]
        parts += [f"## {title}"] + ([f"$$ {name}_{{{i}}} = {render(x)} $$" for i, x in shown] or ["All zero."])
    parts += ["## Torques by cause"]
    for key, torques in equations.terms().items():
        parts += [f"### {TERMS[key]}"]
        shown_terms = [f"$$ \\tau_{{{i + 1}}}: {render(x)} $$" for i, x in enumerate(torques) if not _zero(x)]
        parts += shown_terms or ["None."]
    return "\n\n".join(parts) + "\n"
