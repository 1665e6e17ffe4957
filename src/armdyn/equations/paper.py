"""Equations for a paper: LaTeX that fits the column, one number per equation, with a table of abbreviations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from armdyn.errors import unknown_name
from armdyn.graph import Node
from armdyn.graph.latex_lines import EM, PaperStyle, lines, paper_latex, width
from armdyn.graph.render import latex_name
from armdyn.markup import latex_text

if TYPE_CHECKING:
    from armdyn.equations.derivation import Equations
    from armdyn.equations.typesetting import Block

NUMBER = 32.0
"""Room for the number of an equation, pt."""
MARGIN = 4.0
"""What the widths of formulas, which are estimated, may be too small, pt."""
MOST_LINES = 40
"""Lines of one align environment; TeX keeps a whole environment in memory, and a page holds about as many."""
_GAP = 20.0
_TRIG = re.compile(r"(?<![A-Za-z\\}])([cs])_\{([\d,]+)\}")


@dataclass(frozen=True)
class Layout:
    """The page of an article: paper, number of columns, and width of a column, pt."""

    paper: str
    columns: int
    column_width: float

    @property
    def room(self) -> float:
        """Width for a formula beside its number, pt."""
        return self.column_width - NUMBER - MARGIN


PAPERS = {"a4": ("a4paper", "2cm", 483.6), "letter": ("letterpaper", "1in", 469.7)}
"""Options of the document class, margins, and width of the text, pt."""
COLUMN_SEPARATION = 20.0
ARTICLE = Layout("", 1, 345.0)
"""A column of LaTeX's article class with its own margins: equations broken for it fit nearly all one-column papers."""
COLUMN = Layout("", 2, 222.0)
"""A column of a paper with two of them."""


def layout(paper: str = "", columns: int = 1) -> Layout:
    """The page of a paper (a4, letter) with one or two columns; without a paper, that of equations to be pasted."""
    if not paper:
        return COLUMN if columns == 2 else ARTICLE
    if paper not in PAPERS:
        raise unknown_name("paper", paper, PAPERS, where="layout of equations")
    whole = PAPERS[paper][2]
    return Layout(paper, columns, whole if columns == 1 else (whole - COLUMN_SEPARATION) / 2)


def fragment(equations: Equations, blocks: Sequence[Block], room: float) -> str:
    """The equations as align environments to be pasted, each with one number; comments say what they include."""
    from armdyn.equations.typesetting import statement

    return "\n".join([*(f"% {line}" for line in statement(equations)), environments(blocks, room)])


def environments(blocks: Sequence[Block], room: float) -> str:
    """The equations as align environments, each with one number."""
    from armdyn.equations.typesetting import left_side

    whole = [(left_side(b, indices), x) for b in blocks if b.sign == "=" for indices, x in b.entries]
    parts = _environments(whole, "=", room)
    for block in (block for block in blocks if block.sign != "="):
        parts += [f"% {block.heading}"]
        parts += _environments([(left_side(block, indices), x) for indices, x in block.entries], ":", room)
    return "\n".join(parts)


def _environments(entries: Sequence[tuple[str, Node]], sign: str, room: float) -> list[str]:
    """Environments of about MOST_LINES lines."""
    left = max((width(f"{name} {sign} ") for name, _ in entries), default=0.0)
    found: list[str] = []
    rows: list[str] = []
    for name, node in entries:
        first, *further = lines(paper_latex(node), room - left)
        rows += _numbered([f"{name} &{sign} {first}", *(f"&{line}" for line in further)])
        while len(rows) > MOST_LINES:
            found.append(_align(rows[:MOST_LINES]))
            rows = rows[MOST_LINES:]
    return [*found, _align(rows)] if rows else found


def _numbered(rows: Sequence[str]) -> list[str]:
    r"""The lines of one equation: the last has its number."""
    return [*(rf"{row} \notag" for row in rows[:-1]), rows[-1]]


def _align(rows: Sequence[str]) -> str:
    return "\\begin{align}\n" + " \\\\\n".join(rows) + "\n\\end{align}"


# The document -------------------------------------------------------------------------------------------------------


def document(equations: Equations, blocks: Sequence[Block], page: Layout) -> str:
    """An article that pdflatex takes as it is: equations, abbreviations, values of the parameters."""
    from armdyn.equations.typesetting import UNWRITTEN, motion_latex, statement

    paper, margin, _ = PAPERS[page.paper]
    options = f"{paper},10pt" + (",twocolumn" if page.columns == 2 else "")
    name = latex_text(equations.robot.name)
    head = [
        rf"\documentclass[{options}]{{article}}",
        r"\usepackage{amsmath}",
        rf"\usepackage[margin={margin},columnsep={COLUMN_SEPARATION:g}pt]{{geometry}}",
        r"\allowdisplaybreaks",
        r"\setlength{\parindent}{0pt}",
        r"\raggedbottom",
        r"\begin{document}",
        rf"\section*{{Equations of motion of {name}}}",
        "\\begin{align*}\n" + motion_latex(equations) + "\n\\end{align*}",
        f"Formulation: {latex_text(equations.by)}. {UNWRITTEN if equations.symmetric else ''} "
        f"{latex_text('; '.join(statement(equations)[1:]).capitalize())}. "
        "Numbers are rounded to six digits.",
    ]
    body: list[str] = []
    for block in blocks:
        body += [rf"\subsection*{{{latex_text(block.heading)}}}", environments([block], page.room) or "All zero."]
    text = "\n".join(body)
    tables = [*_grid("Abbreviations", abbreviations(text), page), *_grid("Parameters", _values(equations, text), page)]
    return "\n".join([*head, *body, *tables, r"\end{document}", ""])


def abbreviations(latex: str) -> list[str]:
    r"""The sines and cosines that a text abbreviates, spelled out.

    >>> print(*abbreviations(r"a c_{2} + s_{23}^{2} c_{2}"))
    c_{2} = \cos q_{2} s_{23} = \sin(q_{2} + q_{3})
    """
    found = {(match[1], match[2]) for match in _TRIG.finditer(latex)}
    return [_spelled(*each) for each in sorted(found, key=lambda each: (each[0], _indices(each[1])))]


def _indices(index: str) -> tuple[int, tuple[int, ...]]:
    parts = tuple(int(part) for part in (index.split(",") if "," in index else index))
    return len(parts), parts


def _spelled(letter: str, index: str) -> str:
    angles = [f"q_{{{k}}}" for k in _indices(index)[1]]
    function = {"c": r"\cos", "s": r"\sin"}[letter]
    angle = f" {angles[0]}" if len(angles) == 1 else f"({' + '.join(angles)})"
    return f"{letter}_{{{index}}} = {function}{angle}"


def _values(equations: Equations, text: str) -> list[str]:
    """The parameters that appear in the text, with their values."""
    values = {latex_name(str(symbol), dots=False): value for symbol, value in equations.parameters.items()}
    style = PaperStyle()
    return [f"{name} = {style.number(float(value))}" for name, value in values.items() if name in text]


def _grid(title: str, formulas: Sequence[str], page: Layout) -> Iterable[str]:
    """Short formulas in as many columns as fit."""
    if not formulas:
        return
    wide = max(map(width, formulas)) + 1.6 * EM
    count = max(1, min(int((page.column_width - _GAP) // wide), len(formulas)))
    height = -(-len(formulas) // count)
    yield rf"\subsection*{{{title}}}"
    for start in range(0, height, MOST_LINES):  # down, then across, as an index is read
        rows = range(start, min(start + MOST_LINES, height))
        cells = ([formulas[k] for k in range(row, len(formulas), height)] for row in rows)
        lines_of = " \\\\\n".join(" & ".join(f"${cell}$" for cell in each) for each in cells)
        yield f"\\begin{{tabular}}{{@{{}}{'l' * count}@{{}}}}\n{lines_of}\n\\end{{tabular}}\n"
