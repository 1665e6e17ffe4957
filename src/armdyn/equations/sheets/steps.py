"""A derivation line by line, in the notation of its text: `equations.steps()`, `armdyn derive --steps`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from armdyn.equations.sheets import energies, markup, recursion, siciliano
from armdyn.equations.sheets.arm import must_be_serial
from armdyn.equations.sheets.sheet import Check, Line, Notation, Sheet
from armdyn.errors import ArmdynError, FileError, unknown_name
from armdyn.files import write_text
from armdyn.formula_lines import wrapped
from armdyn.graph import Node, constant, text
from armdyn.graph.expression_writer import infix
from armdyn.graph.latex_lines import PaperStyle, width
from armdyn.graph.latex_lines import lines as broken
from armdyn.graph.render import LatexStyle, name_parts, rendered
from armdyn.markup import latex_text
from armdyn.notebook_view import Formula, View
from armdyn.result import Source
from armdyn.robot.parts import ModifiedDH
from armdyn.tables import WIDTH

if TYPE_CHECKING:
    from armdyn.equations.derivation import Equations

FORMATS = ("text", "latex", "markdown", "html", "notebook", "json")
SUFFIXES = {".txt": "text", ".tex": "latex", ".md": "markdown", ".html": "html", ".ipynb": "notebook", ".json": "json"}
"""Extension of a file -> its format."""
PAGE_WIDTH = 430.0
"""Width of a formula on A4 paper, pt."""
FOLDED = "too long to be written out"
LONGEST = 15_000
"""Letters of LaTeX from which on a value is left out on paper: it would fill pages."""
LONG = 700
"""Letters of LaTeX from which on a value is folded on a page."""


class Derivation(NamedTuple):
    """How a text derives the equations: its notation, and the function that writes the sheet."""

    notation: Notation
    write: Callable[[Sheet, Equations], None]


_LAGRANGE = {
    "siciliano": Derivation(siciliano.NOTATION, siciliano.lagrange),
    "khalil": Derivation(energies.KHALIL, energies.khalil),
}
DERIVATIONS: Mapping[str, Mapping[str, Derivation]] = {
    "gim_christoffel": _LAGRANGE,
    "lagrange": dict(reversed(_LAGRANGE.items())),
    "newton_euler": {
        "siciliano": Derivation(recursion.SICILIANO, recursion.siciliano),
        "khalil": Derivation(recursion.KHALIL, recursion.khalil),
    },
    "newton_euler_base": {"milicevic": Derivation(recursion.MILICEVIC, recursion.milicevic)},
    "lagrange_euler": {"milicevic": Derivation(energies.MILICEVIC, energies.lagrange_euler)},
    "dalembert": {"milicevic": Derivation(energies.MILICEVIC, energies.dalembert)},
    "kronecker": {"truc": Derivation(energies.TRUC, energies.truc)},
    "bertrand_bruneau": {"elbaji": Derivation(energies.EL_BAJI, energies.el_baji)},
    "kane": {"kane": Derivation(recursion.KANE, recursion.kane)},
    "gibbs_appell": {"appell": Derivation(recursion.APPELL, recursion.gibbs_appell)},
}
"""Formulation -> text -> its derivation. The first is the usual one, Khalil's where frames are modified DH."""


def written(equations: Equations, text: str | None = None, changes: Mapping[int, Any] | None = None) -> Sheet:
    """The sheet of a robot; changes: see `Sheet`."""
    known = DERIVATIONS.get(equations.formulation)
    if known is None:
        raise ArmdynError(
            f"there is no derivation step by step by {equations.formulation}",
            where="equations.steps",
            expected=f"one of {', '.join(DERIVATIONS)}",
        )
    modified = all(isinstance(joint.geometry, ModifiedDH) for joint in equations.robot.movable)
    usual = "khalil" if modified and "khalil" in known else next(iter(known))
    name = text or usual
    if name not in known:
        raise unknown_name("text", name, known, where="equations.steps")
    must_be_serial(equations.robot)
    sheet = Sheet(known[name].notation, changes or {})
    known[name].write(sheet, equations)
    return sheet


@dataclass(frozen=True)
class Steps(Source):
    """A derivation: `lines` in order, `checks` proved; `source` is the text in its format, `save(path)` writes it.

    start: name of the first line that is shown, such as B or C; all lines are computed. quiz: values are left out,
    for a student to fill in; the solution is the same without it.
    """

    robot: str
    formulation: str
    notation: Notation
    lines: tuple[Line, ...]
    checks: tuple[Check, ...]
    format: str | None = None
    start: str | None = None
    quiz: bool = False
    formats: ClassVar[tuple[str, ...]] = FORMATS

    def __post_init__(self) -> None:
        if (self.format or "text") not in self.formats:
            raise unknown_name("format", str(self.format), self.formats, where="steps")

    @property
    def printed(self) -> bool:
        return True

    @property
    def title(self) -> str:
        return f"Equations of motion of {self.robot}, step by step as in {self.notation.text}"

    @cached_property
    def shown(self) -> tuple[Line, ...]:
        """The lines from `start` on."""
        if self.start is None:
            return self.lines
        wanted = {self.start, self.notation.letters.get(self.start, self.start)}
        for place, line in enumerate(self.lines):
            if wanted & {plain_name(line.name), plain_name(line.name).split("_")[0]} or line.section.startswith(
                self.start
            ):
                return self.lines[place:]
        names = dict.fromkeys(plain_name(line.name) for line in self.lines)
        raise unknown_name("line", self.start, names, where="steps")

    def line(self, name: str) -> Line:
        """The line of a name, as plain text or LaTeX: `J_P^(ℓ1)`, `B`, `c_112`."""
        for line in self.lines:
            if name in (line.name, plain_name(line.name), markup.text(line.name)):
                return line
        raise unknown_name("line", name, [plain_name(line.name) for line in self.lines], where="steps")

    # What the shells show ---------------------------------------------------------------------------------------------

    @property
    def source(self) -> str:
        """The derivation in its format."""
        return _WRITERS[self.format or "text"](self)

    def _view(self) -> View:
        formulas = [
            (
                title,
                [
                    Formula(f"{line.name} = {self.latex(line)}", self.mathml(line), plain_line(self, line))
                    for line in group
                ],
            )
            for title, group in self.sections()
        ]
        holds = all(check.holds for check in self.checks)
        weaker = sum(bool(check.compared) for check in self.checks)
        words = f"{len(self.checks) - weaker} results proved by other formulations"
        words += f", {weaker} compared at three points only" if weaker else ""
        verdict = (words, holds) if self.checks else None
        return View(self.title, verdict, self._facts(), formulas)

    def _facts(self) -> list[tuple[str, str]]:
        proved = ", ".join(dict.fromkeys(check.against for check in self.checks))
        return [("notation", self.notation.text), ("lines", str(len(self.lines))), ("checked by", proved)]

    def record(self) -> dict[str, Any]:
        return {
            "robot": self.robot,
            "formulation": self.formulation,
            "text": self.notation.text,
            "lines": [
                {
                    "section": line.section,
                    "name": plain_name(line.name),
                    "rule": line.rule,
                    "value": None if self.quiz else _infix(line.value),
                    "source": line.source,
                }
                for line in self.shown
            ],
            "checks": [asdict(check) for check in self.checks],
        }

    def save(self, path: str | Path) -> Path:
        """Write the derivation: .txt, .md, .tex (a document), .html (one page), .ipynb or .json."""
        kind = Path(path).suffix.lower()
        if self.format is None and kind not in SUFFIXES:
            raise FileError(f"unknown ending {kind!r}", where=str(path), expected=", ".join(SUFFIXES))
        return write_text(path, replace(self, format=self.format or SUFFIXES[kind]).source)

    # Parts ------------------------------------------------------------------------------------------------------------

    def sections(self) -> Iterator[tuple[str, list[Line]]]:
        """Headings and their lines."""
        group: list[Line] = []
        for line in self.shown:
            if group and line.section != group[0].section:
                yield group[0].section, group
                group = []
            group.append(line)
        if group:
            yield group[0].section, group

    def latex(self, line: Line) -> str:
        """The value of a line in LaTeX, in the letters of the text; a gap in a quiz."""
        if line.folded:
            return rf"\text{{{FOLDED}}}"
        return latex_value(line.value, self.notation, self.quiz and bool(line.rule))

    def mathml(self, line: Line) -> str:
        rule = f" = {line.rule}" if line.rule else ""
        return markup.mathml(f"{line.name}{rule} = {self.latex(line)}")


def proved(steps: Steps) -> list[str]:
    """A sentence that names what was proved, and one for what was compared at points only."""
    found: dict[str, list[str]] = {}
    for check in steps.checks:
        verb = f"Not proved, compared in {check.compared} at three points only" if check.compared else "Proved"
        found.setdefault(verb, []).extend([f"{check.name} by {check.against}"] * check.holds)
    return [f"{verb}: {'; '.join(names)}." for verb, names in sorted(found.items(), reverse=True) if names]


def plain_name(latex: str) -> str:
    r"""A name for a terminal and for comparison: letters, indices, exponents.

    >>> plain_name(r"\boldsymbol{J}_{P}^{(\ell_{1})}"), plain_name(r"\dot{\boldsymbol{\omega}}_{1}^{1}")
    ('J_P^(l1)', 'omega_dot_1^1')
    """
    first = re.sub(r"(?<=[{}])\s+|\s+(?=[{}])", "", latex.split(" = ")[0])
    name = re.sub(r"\\(?:boldsymbol|mathbf|bm|mathrm|text)\b", "", first).replace(r"\ell", "l")
    name = re.sub(r"\\(d?dot|bar|hat|tilde)\s*\{+\\?([A-Za-z]+)\}+", r"\2_\1", name)
    name = re.sub(r"\\(d?dot|bar|hat|tilde)\s*\\?([A-Za-z]+)", r"\2_\1", name)
    name = re.sub(r"[{}\\ ]", "", name)
    return re.sub(r"(?<=[a-z])_(?=\d+\))", "", name)


class _Letters(LatexStyle):
    """LaTeX in the letters of a text."""

    def __init__(self, symbols: Mapping[str, str]) -> None:
        super().__init__()
        self.symbols = symbols

    def symbol(self, node: Node) -> str:
        stem, rate, index = name_parts(str(node.value), dots=node.online)
        if node.online and stem in self.symbols:
            letter = self.symbols[stem]
            dotted = rf"\{'d' * rate}ot{{{letter}}}" if rate else letter
            return f"{dotted}_{{{index}}}" if index else dotted
        return super().symbol(node)


class _PaperLetters(PaperStyle, _Letters):
    """The same with brackets of fixed size, between which a line may be broken."""

    symbol = _Letters.symbol


def latex_value(value: Any, notation: Notation, gap: bool = False) -> str:
    """A scalar, a column or a matrix in LaTeX."""
    if isinstance(value, Node):
        return r"\ldots" if gap else str(rendered(value, _Letters(notation.symbols)))
    rows = [[row] if isinstance(row, Node) else row for row in value]
    style = _Letters(notation.symbols)
    cells = [[r"\ldots" if gap else str(rendered(x, style)) for x in row] for row in rows]
    return r"\begin{bmatrix} " + r" \\ ".join(" & ".join(row) for row in cells) + r" \end{bmatrix}"


def _infix(value: Any) -> Any:
    return [_infix(part) for part in value] if isinstance(value, tuple) else infix(value)


# Text -----------------------------------------------------------------------------------------------------------------


def plain_line(steps: Steps, line: Line, width: int = WIDTH) -> str:
    """name = rule, and below it the value; matrices in rows."""
    name = markup.text(line.name)
    gap = steps.quiz and bool(line.rule)
    if line.folded:
        return f"{name}: {FOLDED}"
    if isinstance(line.value, Node):
        value = "..." if gap else text(line.value)
        return wrapped(f"{name} = {value}", width)
    rows = [[row] if isinstance(row, Node) else row for row in line.value]
    cells = [["..." if gap else text(x) for x in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    if len(name) + sum(widths) + 2 * len(widths) + 6 <= width:
        grid = ["[ " + "  ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)) + " ]" for row in cells]
        return "\n".join((f"{name} = " if k == 0 else " " * (len(name) + 3)) + row for k, row in enumerate(grid))
    tall = len(widths) == 1
    entries = [
        (f"{name}[{i + 1}]" if tall else f"{name}[{i + 1},{j + 1}]", x)
        for i, row in enumerate(cells) for j, x in enumerate(row) if x != "0"
    ]  # fmt: skip
    return "\n".join(wrapped(f"{left} = {x}", width) for left, x in entries) or f"{name} = 0"


def _folded(group: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """(lines with something in them, scalar lines that vanish): the latter are only named."""
    zero = [line for line in group if line.is_zero and isinstance(line.value, Node)]
    return [line for line in group if line not in zero], zero


def _text(steps: Steps) -> str:
    parts = [steps.title, "=" * len(steps.title)]
    for title, group in steps.sections():
        parts += ["", title, "-" * len(title)]
        shown, zero = _folded(group)
        for line in shown:
            rule = markup.text(line.rule)
            label = f"   [{line.source}]" if line.source else ""
            parts += (
                ["", f"{markup.text(line.name)} := {rule}{label}"]
                if rule
                else [""]
                if not label
                else ["", label.strip()]
            )
            parts.append(plain_line(steps, line))
        if zero:
            parts += ["", wrapped("zero: " + ", ".join(markup.text(line.name) for line in zero), WIDTH)]
    return "\n".join([*parts, "", *proved(steps)]) + "\n"


# Markdown and LaTeX ---------------------------------------------------------------------------------------------------


def _display(steps: Steps, line: Line, room: float) -> str:
    r"""One line as an aligned equation: name = rule = value."""
    value = steps.latex(line)
    rows = [rf"{line.name} &= {line.rule}"] if line.rule else []
    gap = line.folded or (steps.quiz and bool(line.rule))
    if gap or (not isinstance(line.value, Node) and width(value) < 2 * room):
        rows.append(rf"{line.name if not rows else ''} &= {value}")
    elif len(value) > LONGEST:
        rows.append(rf"{line.name if not rows else ''} &= \text{{{FOLDED}}}")
    else:
        for name, node in _entries(line):
            first, *further = broken(str(rendered(node, _PaperLetters(steps.notation.symbols))), room)
            rows += [rf"{name} &= {first}", *(rf"&\quad {part}" for part in further)]
    return " \\\\\n".join(rows)


def _entries(line: Line) -> list[tuple[str, Node]]:
    """The entries of a value that do not vanish, each with its name."""
    if isinstance(line.value, Node):
        return [(line.name if not line.rule else "", line.value)]
    rows = [(row,) if isinstance(row, Node) else row for row in line.value]
    places = [
        (f"{i + 1}" if len(row) == 1 else f"{i + 1},{j + 1}", x)
        for i, row in enumerate(rows)
        for j, x in enumerate(row)
    ]
    return [(rf"\left[{line.name}\right]_{{{place}}}", x) for place, x in places if x is not constant(0)]


def _zero_line(zero: Sequence[Line]) -> str:
    return " = ".join([*(line.name for line in zero), "0"])


def _markdown(steps: Steps) -> str:
    parts = [f"# {steps.title}"]
    for title, group in steps.sections():
        parts.append(f"## {title}")
        shown, zero = _folded(group)
        for line in shown:
            label = f" \\qquad \\text{{{line.source}}}" if line.source else ""
            parts.append(f"$$ \\begin{{aligned}} {_display(steps, line, PAGE_WIDTH)}{label} \\end{{aligned}} $$")
        parts += [f"$$ {_zero_line(zero[k : k + 8])} $$" for k in range(0, len(zero), 8)]
    return "\n\n".join([*parts, *proved(steps)]) + "\n"


def _latex(steps: Steps) -> str:
    head = [
        r"\documentclass[a4paper,10pt]{article}",
        r"\usepackage{amsmath}",
        r"\usepackage[margin=2cm]{geometry}",
        r"\allowdisplaybreaks",
        r"\setlength{\parindent}{0pt}",
        r"\begin{document}",
        rf"\section*{{{latex_text(steps.title, 200)}}}",
    ]
    body: list[str] = []
    for title, group in steps.sections():
        body.append(rf"\subsection*{{{latex_text(title)}}}")
        shown, zero = _folded(group)
        for line in shown:
            label = rf" \tag*{{{latex_text(line.source)}}}" if line.source else r" \notag"
            rows = _display(steps, line, PAGE_WIDTH - 60).split(" \\\\\n")
            columns = (
                0 if isinstance(line.value, Node) else len(line.value[0]) if isinstance(line.value[0], tuple) else 1
            )
            small = r"\small" if columns > 4 or len(steps.latex(line)) > LONG else ""
            aligned = " \\\\\n".join([*(rf"{row} \notag" for row in rows[:-1]), rows[-1] + label])
            body.append(f"{{{small}\n\\begin{{align}}\n{aligned}\n\\end{{align}}}}")
        body += [f"\\[ {_zero_line(zero[k : k + 8])} \\]" for k in range(0, len(zero), 8)]
    return "\n".join([*head, *body, *(latex_text(each, 10_000) for each in proved(steps)), r"\end{document}", ""])


# HTML and notebook ----------------------------------------------------------------------------------------------------

STYLE = f"""
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; color: #222; }}
math {{ font-family: {markup.FONT}; font-size: 1.1em; }}
.line {{ display: grid; grid-template-columns: 1fr auto; gap: 1em; align-items: center;
  margin: .5em 0; padding: .2em 0; overflow-x: auto; overflow-y: hidden; }}
.source {{ color: #777; font-size: .85em; white-space: nowrap; }}
h2 {{ border-bottom: 1px solid #ddd; margin-top: 1.6em; }}
summary {{ cursor: pointer; color: #555; }}
"""


def _html(steps: Steps) -> str:
    body = [f"<h1>{escape(steps.title)}</h1>"]
    for title, group in steps.sections():
        body.append(f"<h2>{escape(title)}</h2>")
        shown, zero = _folded(group)
        body += [_html_line(steps, line) for line in shown]
        if zero:
            names = markup.mathml(_zero_line(zero))
            body.append(f"<details><summary>{len(zero)} that vanish</summary><math>{names}</math></details>")
    body += [f"<p>{escape(each)}</p>" for each in proved(steps)]
    return page(steps.title, "".join(body))


def page(title: str, body: str, style: str = "") -> str:
    """A page with formulas in MathML, without scripts."""
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}{style}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _html_line(steps: Steps, line: Line) -> str:
    value = steps.latex(line)
    left = markup.mathml(line.name + (f" = {line.rule}" if line.rule else ""))
    formula = f"<math>{left}</math>" if line.rule else ""
    pieces = broken(value, 560.0) if isinstance(line.value, Node) else [value]
    start = markup.mathml(f"{line.name} =")
    indent = '<mspace width="2em"></mspace>'
    formulas = ((start if k == 0 else indent) + markup.mathml(piece) for k, piece in enumerate(pieces))
    result = "<br>".join(f"<math>{each}</math>" for each in formulas)
    if len(value) > 4 * LONG:
        result = f"<details><summary>{len(value)} letters</summary>{result}</details>"
    parts = "<br>".join(part for part in (formula, result) if part)
    return f'<div class="line"><div>{parts}</div><div class="source">{escape(line.source)}</div></div>'


def _notebook(steps: Steps) -> str:
    """A Jupyter notebook: one cell per section, formulas in Markdown."""
    cells = _markdown(steps).split("\n\n## ")
    sources = [cells[0], *(f"## {cell}" for cell in cells[1:])]
    book = {
        "cells": [
            {"cell_type": "markdown", "id": f"part-{k}", "metadata": {}, "source": each}
            for k, each in enumerate(sources)
        ],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def _json(steps: Steps) -> str:
    return json.dumps(steps.record(), indent=2, ensure_ascii=False) + "\n"


_WRITERS: Mapping[str, Callable[[Steps], str]] = {
    "text": _text, "latex": _latex, "markdown": _markdown, "html": _html, "notebook": _notebook, "json": _json,
}  # fmt: skip
