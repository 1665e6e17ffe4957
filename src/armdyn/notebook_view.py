"""How results look: one description per object, written as plain text, HTML, Markdown or LaTeX.

A class that a user prints derives from `Shown` and says in `_view` what there is to see: a title, a verdict, a few
facts, tables and formulas. What would fill the screen is folded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from armdyn.formula_lines import wrapped
from armdyn.markup import html_table, html_text, latex_tables, latex_text, markdown_table, markdown_text
from armdyn.tables import WIDTH, Section, paragraph, render

MOST_ROWS = 14
"""Rows of a table that is shown open."""
MOST_FORMULAS = 6
GOOD, BAD = "#1a7f37", "#c62828"
_FRAME = "max-width:60em;line-height:1.4"
_SCROLL = "overflow-x:auto;overflow-y:hidden;margin:.3em 0"


class Formula(NamedTuple):
    """An equation, as LaTeX, as the content of a `math` element, and as plain text for a terminal."""

    latex: str
    mathml: str
    plain: str = ""


@dataclass(frozen=True)
class View:
    """What there is to see of an object.

    title: one line.
    verdict: a short judgement and whether it is a good one; None if there is nothing to judge.
    facts: (label, text), few and short.
    formulas, sections: shown open where they are short, else folded.
    details: tables that are always folded.
    notes: sentences below everything else, folded.
    """

    title: str
    verdict: tuple[str, bool] | None = None
    facts: Sequence[tuple[str, str]] = ()
    formulas: Sequence[tuple[str, Sequence[Formula]]] = ()
    sections: Sequence[Section] = ()
    details: Sequence[Section] = ()
    notes: Sequence[str] = ()


class Shown:
    """An object that Jupyter shows as a page instead of a line of text."""

    __slots__ = ()

    def _view(self) -> View:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return html(self._view())

    def _repr_markdown_(self) -> str:
        return markdown(self._view())

    def _repr_latex_(self) -> str:
        return latex(self._view())


# Plain text ---------------------------------------------------------------------------------------------------------


def text(view: View, width: int = WIDTH) -> str:
    """The view as plain text: title and verdict, facts, formulas, tables, notes."""
    verdict = "" if view.verdict is None else f": {view.verdict[0]}"
    indent = max((len(label) for label, _ in view.facts), default=0) + 2
    head = [f"{view.title}{verdict}", *(paragraph(label, fact, indent, width) for label, fact in view.facts)]
    parts = ["\n".join(head)]
    for title, formulas in view.formulas:
        lines = (wrapped(formula.plain, width) if formula.plain else formula.latex for formula in formulas)
        parts.append("\n".join([title, *lines]))
    parts += [render(section, width) for section in (*view.sections, *view.details)]
    parts += ["\n".join(paragraph("-", note, 2, width) for note in view.notes)] if view.notes else []
    return "\n\n".join(parts)


# HTML ---------------------------------------------------------------------------------------------------------------


def html(view: View) -> str:
    """The view as a block of HTML without scripts and style sheets."""
    parts = [f"<div><strong>{escape(view.title)}</strong>{_mark(view.verdict)}</div>"]
    if view.facts:
        cells = (
            f'<tr><td style="text-align:left;opacity:.7;vertical-align:top">{escape(label)}</td>'
            f'<td style="text-align:left">{html_text(text)}</td></tr>'
            for label, text in view.facts
        )
        parts.append(f"<table>{''.join(cells)}</table>")
    room = MOST_FORMULAS
    for title, formulas in view.formulas:
        body = "".join(f'<div style="{_SCROLL}"><math>{formula.mathml}</math></div>' for formula in formulas)
        parts.append(_folded(f"{title}: {len(formulas)}", body, len(formulas) <= room))
        room -= len(formulas)
    rows = MOST_ROWS
    for section in view.sections:
        parts.append(_folded(section.title, _table(section), len(section.rows) <= rows))
        rows -= len(section.rows)
    parts += [_folded(f"{section.title} ({len(section.rows)})", _table(section), False) for section in view.details]
    if view.notes:
        parts.append(_folded("Notes", "<ul>" + "".join(f"<li>{html_text(note)}</li>" for note in view.notes) + "</ul>"))
    return f'<div style="{_FRAME}">{"".join(parts)}</div>'


def _mark(verdict: tuple[str, bool] | None) -> str:
    if verdict is None:
        return ""
    text, good = verdict
    return f' <span style="color:{GOOD if good else BAD}">{"✓" if good else "✗"} {escape(text)}</span>'


def _table(section: Section) -> str:
    note = f"<div><small>{html_text(section.note)}</small></div>" if section.note else ""
    return f'<div style="{_SCROLL}">{html_table(section)}</div>{note}'


def _folded(title: str, body: str, is_open: bool = False) -> str:
    return f"<details{' open' if is_open else ''}><summary>{escape(title)}</summary>{body}</details>"


# Markdown and LaTeX -------------------------------------------------------------------------------------------------


def markdown(view: View) -> str:
    """The view in Markdown with formulas in dollar signs."""
    mark = "" if view.verdict is None else f" {'✓' if view.verdict[1] else '✗'} {markdown_text(view.verdict[0])}"
    parts = [f"**{markdown_text(view.title)}**{mark}"]
    parts += (
        ["\n".join(f"- {markdown_text(label)}: {markdown_text(text)}" for label, text in view.facts)]
        if view.facts
        else []
    )
    for title, formulas in view.formulas:
        parts += [f"**{markdown_text(title)}**", *(f"$$ {formula.latex} $$" for formula in formulas)]
    parts += [markdown_table(section) for section in (*view.sections, *view.details)]
    parts += ["\n".join(f"- {markdown_text(note)}" for note in view.notes)] if view.notes else []
    return "\n\n".join(parts)


def latex(view: View) -> str:
    """The view in LaTeX: text, displayed formulas, tables by booktabs."""
    verdict = () if view.verdict is None else (view.verdict[0],)
    lines = [rf"\textbf{{{latex_text(view.title, 1000)}}}", *(latex_text(text, 1000) for text in verdict)]
    lines += [f"{latex_text(label)}: {latex_text(text, 10_000)}" for label, text in view.facts]
    parts = ["\\\\\n".join(lines)]
    for title, formulas in view.formulas:
        parts += [rf"\paragraph{{{latex_text(title)}}}", *(rf"\[ {formula.latex} \]" for formula in formulas)]
    return "\n\n".join([*parts, latex_tables((*view.sections, *view.details))]).rstrip() + "\n"


def rows_of(cells: Iterable[Iterable[object]]) -> tuple[tuple[str, ...], ...]:
    """Cells of a table as texts."""
    return tuple(tuple(str(cell) for cell in row) for row in cells)
