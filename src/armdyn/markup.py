"""Texts and tables for LaTeX, HTML and Markdown: escaped, with nothing of a robot file left to be executed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from html import escape

from armdyn.tables import Section, is_numeric, split

LONGEST_TEXT = 100
LATEX_WIDTH = 76
"""Letters in a row of a LaTeX table: a page of one column holds about as many."""
_LATEX = {letter: f"\\{letter}" for letter in "#$%&_{}"} | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|$#])")
_POWER = re.compile(r"\^(-?\d+|T\b)")
_CODE = re.compile(r"`([^`|$<>\\]+)`")
"""What a text has in backticks: names, options and commands."""


def safe_text(text: str, longest: int = LONGEST_TEXT) -> str:
    r"""The text on one line of printable ASCII without backslash and double quote, shortened.

    >>> print(safe_text('ver"y\n\\bad'))
    ver'y _/bad
    """
    line = "".join(letter if " " <= letter <= "~" else "_" for letter in text.replace("\n", " _"))
    line = " ".join(line.replace("\\", "/").replace('"', "'").split())
    return line if len(line) <= longest else line[: longest - 3] + "..."


def latex_text(text: str, longest: int = LONGEST_TEXT) -> str:
    r"""The text for the running text of a LaTeX document.

    >>> print(latex_text(r"a_b \input{x} 50%"))
    a\_b /input\{x\} 50\%
    >>> print(latex_text("see `columns`"))
    see \texttt{columns}
    """
    plain = safe_text(text, longest).replace("<", "(").replace(">", ")")
    parts = [(is_code, "".join(_LATEX.get(letter, letter) for letter in part)) for is_code, part in _parts(plain)]
    return "".join(rf"\texttt{{{part}}}" if is_code else part for is_code, part in parts)


def html_text(text: str) -> str:
    """The text for an HTML page; powers are raised.

    >>> print(html_text("a < b m/s^2: see `columns`"))
    a &lt; b m/s<sup>2</sup>: see <code>columns</code>
    """
    parts = [(is_code, escape(part)) for is_code, part in _parts(text)]
    return "".join(f"<code>{part}</code>" if code else _POWER.sub(r"<sup>\1</sup>", part) for code, part in parts)


def markdown_text(text: str) -> str:
    r"""The text with its special letters escaped.

    >>> print(markdown_text("a*b | <c>"))
    a\*b \| \<c\>
    >>> print(markdown_text("see `v_max`"))
    see `v_max`
    """
    parts = _parts(" ".join(text.split()))
    return "".join(f"`{part}`" if is_code else _MARKDOWN.sub(r"\\\1", part) for is_code, part in parts)


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """(whether it stands in backticks, part of the text), in order."""
    for k, part in enumerate(_CODE.split(text)):
        yield k % 2 == 1, part


def latex_table(section: Section) -> str:
    r"""The table as a `tabular` with the rules of booktabs; its title and note are the caption.

    >>> from armdyn.tables import Column
    >>> print(latex_table(Section("", (Column("joint"), Column("q", "rad")), (("a_1", "0.5"),))))
    \begin{tabular}{lr}
    \toprule
    joint & q \\
     & rad \\
    \midrule
    a\_1 & 0.5 \\
    \bottomrule
    \end{tabular}
    """
    columns = list(zip(*section.rows, strict=True)) or [()] * len(section.columns)
    kinds = "".join("r" if is_numeric(cells) else "l" for cells in columns)
    heads = [_row(c.head for c in section.columns)]
    if any(c.unit for c in section.columns):
        heads.append(re.sub(r"\\textasciicircum\{\}(-?\d+)", r"$^{\1}$", _row(c.unit for c in section.columns)))
    lines = [rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", *heads, r"\midrule"]
    lines += [*map(_row, section.rows), r"\bottomrule", r"\end{tabular}"]
    words = latex_text(". ".join(filter(None, (section.title, section.note))), 10_000)
    if words:
        return "\n".join([r"\begin{table}", r"\centering", rf"\caption{{{words}}}", *lines, r"\end{table}"])
    return "\n".join(lines)


def latex_tables(sections: Iterable[Section], width: int = LATEX_WIDTH) -> str:
    """Tables for a page of one column: those with more letters in a row than `width` are split into several."""
    tables = []
    for section in sections:
        for k, part in enumerate(split(section, width)):
            tables.append(latex_table(replace(part, title=f"{section.title}, continued") if k else part))
    return "\n\n".join(tables)


def _row(cells: Iterable[str]) -> str:
    return " & ".join(latex_text(cell, 10_000) for cell in cells) + r" \\"


def markdown_table(section: Section) -> str:
    """The table in Markdown, numbers to the right; title above, note below."""
    columns = list(zip(*section.rows, strict=True)) or [()] * len(section.columns)
    heads = [markdown_text(f"{c.head} ({c.unit})" if c.unit else c.head) for c in section.columns]
    rules = ["---:" if is_numeric(cells) else "---" for cells in columns]
    rows = [heads, rules, *([markdown_text(cell) for cell in row] for row in section.rows)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    title = f"**{markdown_text(section.title)}**" if section.title else ""
    return "\n\n".join(filter(None, (title, table, markdown_text(section.note))))


def html_table(section: Section) -> str:
    """The table as HTML without a style of its own; numbers are aligned at the decimal point."""
    section = section.aligned()
    columns = list(zip(*section.rows, strict=True)) or [()] * len(section.columns)
    right, left = (f'style="text-align:{side};padding:1px 8px"' for side in ("right;white-space:pre", "left"))
    sides = [right if is_numeric(cells) else left for cells in columns]
    heads = "".join(
        f"<th {side}>{html_text(c.head)}{f'<br><small>{html_text(c.unit)}</small>' if c.unit else ''}</th>"
        for c, side in zip(section.columns, sides, strict=True)
    )
    rows = "".join(
        "<tr>" + "".join(f"<td {side}>{html_text(x)}</td>" for x, side in zip(row, sides, strict=True)) + "</tr>"
        for row in section.rows
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
