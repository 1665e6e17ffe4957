"""Where terms of the equations of motion vanish: their zero lines over two joints."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.analysis.significance import Significance, Term
from armdyn.errors import NotApplicable
from armdyn.report.figures.style import INK, color, new_figure
from armdyn.robot.limits import working_range

MOST, POINTS = 6, 121


def zero_lines_figure(found: Significance, *, over: tuple[int, int] | None = None) -> Any:
    """Return the lines on which the most important of the terms that change sign are zero (Milićević sec. 2, reason 3).

    over: the two joints of the axes, from 0 (default: those that move the terms most); others at mid-range.
    """
    changing = [term for term in found.terms if term.vanishes == "at some configurations"]
    terms = [term for term in changing if len(term.factors) != 1 or term.row <= term.factors[0]][:MOST]  # D_ij = D_ji
    low, high = working_range(found.robot, one_turn=True)
    if not terms or found.robot.n < 2:
        raise NotApplicable(
            "no term of the equations changes sign",
            where=f"robot {found.robot.name!r}",
            expected="terms that vanish at some configurations",
        )
    a, b = over or _axes(found, terms, low, high)
    grid = np.meshgrid(np.linspace(low[a], high[a], POINTS), np.linspace(low[b], high[b], POINTS), indexing="ij")
    q = np.broadcast_to((low + high) / 2, (POINTS, POINTS, len(low))).copy()
    q[..., a], q[..., b] = grid
    figure = new_figure(figsize=(6.4, 5.2), layout="constrained")
    axes: Any = figure.add_subplot()
    for k, term in enumerate(terms):
        values = _values(found, term, q)
        if values.min() < 0 < values.max():
            axes.contour(*grid, values, levels=[0.0], colors=[color(k)])
            axes.plot([], [], color=color(k), label=f"{term.name}, {100 * term.share:.3g} % of joint {term.row + 1}")
    names = [joint.name for joint in found.robot.joints]
    axes.set_xlabel(f"{names[a]}, rad" if found.robot.joints[a].kind == "revolute" else f"{names[a]}, m", color=INK)
    axes.set_ylabel(f"{names[b]}, rad" if found.robot.joints[b].kind == "revolute" else f"{names[b]}, m", color=INK)
    axes.set_title(f"{found.robot.name}: where terms vanish", loc="left", color=INK)
    axes.legend(fontsize=8, loc="upper right")
    return figure


def _values(found: Significance, term: Term, q: Any) -> Any:
    kind = {0: 2, 1: 0, 2: 1}[len(term.factors)]
    values: Any = found.coefficients(q)[kind]
    return values[(..., term.row, *term.factors)]


def _axes(found: Significance, terms: list[Term], low: Any, high: Any) -> tuple[int, int]:
    """The two joints along which the terms change most."""
    rng = np.random.default_rng(0)
    q = rng.uniform(low, high, (200, len(low)))
    changes = []
    for j in range(len(low)):
        moved = q.copy()
        moved[:, j] = rng.uniform(low[j], high[j], 200)
        changes.append(
            sum(term.share * np.ptp(_values(found, term, moved) - _values(found, term, q)) for term in terms)
        )
    first, second = sorted(np.argsort(changes)[-2:].tolist())
    return first, second
