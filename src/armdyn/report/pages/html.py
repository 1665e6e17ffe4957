"""HTML pages in one file: nothing is loaded, all text is escaped, for light, dark and print.

A page is made of blocks of HTML; each function here returns one.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files

from armdyn import __version__
from armdyn.findings import Checkup
from armdyn.markup import html_text
from armdyn.tables import Section, is_numeric

_WORDS = re.compile(r"[^\W\d_]{3,}\W+.*[^\W\d_]{2,}")
"""Two words or more: prose, which may wrap."""
_TAG = re.compile(r"<(/?)(\w+)[^>]*>")
_DECIMALS = re.compile(r"(\.\d\d)\d+")
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:s|ms|m|rad|deg|kg|N|J|W|Hz)\b)")
_UNBROKEN = "\u00a0"
MANY = 9
"""Columns of a table beyond which they are set closer together."""
LONG = 14
"""Rows from which a table is folded; on paper it is open."""
LINE = 36
"""Letters and signs of a product from which it may break within a bracket: about the width of a phone."""
_LETTER = re.compile(r"<m[ino]\b(?!>&#x206)")
_OPEN, _CLOSE = "<mrow><mo>(</mo>", "<mo>)</mo></mrow>"
_SIZES = {"<mfrac": "2.6em", "<msup": "1.4em"}
"""Heights of a broken bracket around fractions and around powers."""
_LEADING = re.compile(r"(^|<mo>=</mo>)<mo>(?=&#x2212;)")
_SIGNS = ("<mo>+</mo>", "<mo>&#x2212;</mo>")

# The page ---------------------------------------------------------------------------------------------------------


def page(
    title: str, subtitle: str, blocks: Iterable[str], *, contents: Sequence[str] = (), footer: str = "", made: str = ""
) -> str:
    """The whole document around its blocks.

    contents: titles of the chapters, for a table of contents.
    made: when and from what the page was made; see `provenance`.
    footer: text of the last line, after version and units.
    """
    body = "\n".join(filter(None, blocks))
    css = (files("armdyn.report.pages") / "report.css").read_text(encoding="utf-8")
    last = f" {escape(footer)}" if footer else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}: armdyn report</title>
<style>{css}</style>
</head>
<body><div class="sheet{" wide" if contents else ""}">
<header>
<h1>{escape(title)}</h1>
<p class="source">{html_text(subtitle)}</p>
{f'<p class="made">{escape(made)}</p>' if made else ""}
</header>
{_contents(contents)}<main>
{body}
</main>
<footer>armdyn {escape(__version__)}. SI units; angles in radians unless a column says deg.{last}</footer>
</div></body>
</html>
"""


def provenance(**inputs: str | bytes) -> str:
    """`17 November 2026, armdyn 0.1; SHA-256 of robot 1f2e3d4c5b6a7980`: date, version, and hashes of the inputs.

    inputs: their content, by name. The date is that of SOURCE_DATE_EPOCH where this is set, for pages that can be
    made again byte for byte.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    day = time.gmtime(int(epoch)) if epoch.isdigit() else time.localtime()
    date = f"{day.tm_mday} {time.strftime('%B %Y', day)}"
    contents = {name: text.encode() if isinstance(text, str) else text for name, text in inputs.items()}
    hashes = ", ".join(f"{name} {hashlib.sha256(content).hexdigest()[:16]}" for name, content in contents.items())
    return f"{date}, armdyn {__version__}" + (f"; SHA-256 of {hashes}" if hashes else "")


def _contents(titles: Sequence[str]) -> str:
    if not titles:
        return ""
    rows = "".join(
        f'<li><a href="#{anchor(title)}"><span>{k}</span>{escape(title)}</a></li>' for k, title in enumerate(titles, 1)
    )
    return f'<nav class="contents" aria-label="Contents"><ol>{rows}</ol></nav>\n'


def anchor(title: str) -> str:
    """The anchor of a chapter: `Base parameters` -> base-parameters."""
    return re.sub(r"\W+", "-", title.lower()).strip("-") or "chapter"


def chapter(number: int, title: str, blocks: Iterable[str]) -> str:
    """A numbered chapter with an anchor for the table of contents."""
    place = anchor(title)
    body = "\n".join(filter(None, blocks))
    head = f'<h2><a class="ordinal" href="#{place}">{number}</a>{escape(title)}</h2>'
    return f'<section id="{place}">\n{head}\n{body}\n</section>'


# Text -------------------------------------------------------------------------------------------------------------


def heading(text: str) -> str:
    return f"<h2>{escape(text)}</h2>"


def subheading(text: str) -> str:
    return f"<h3>{escape(text)}</h3>"


def paragraph(text: str) -> str:
    """A paragraph; a number and its unit stay on one line."""
    return f"<p>{html_text(_BEFORE_UNIT.sub(_UNBROKEN, text))}</p>"


def remark(text: str) -> str:
    """A paragraph in small grey type; nothing for an empty text."""
    return f'<p class="remark">{html_text(text)}</p>' if text else ""


def missing(reason: str) -> str:
    """A highlighted paragraph with the reason why something is missing."""
    return f'<p class="missing">{html_text(reason)}</p>'


def code(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"


def definitions(pairs: Sequence[tuple[str, str]]) -> str:
    return f"<dl>{''.join(f'<dt>{escape(label)}</dt><dd>{html_text(text)}</dd>' for label, text in pairs)}</dl>"


def bullets(title: str, texts: Sequence[str]) -> str:
    """A list, with a heading unless the title is empty; nothing for an empty list."""
    if not texts:
        return ""
    head = f"<h3>{escape(title)}</h3>" if title else ""
    return f"{head}<ul>{''.join(f'<li>{html_text(text)}</li>' for text in texts)}</ul>"


def facts(pairs: Sequence[tuple[str, str]], ok: bool) -> str:
    """Key facts as cards; the last one is the verdict."""
    *first, (label, text) = pairs
    return cards([*((label, text, "", None) for label, text in first), (label, text, "", ok)])


def cards(entries: Iterable[tuple[str, str, str, bool | None]]) -> str:
    """Facts as (label, text, remark, verdict): green where the verdict is True, red where it is False."""
    cells = []
    for label, text, small, verdict in entries:
        mark = {True: ' class="good"', False: ' class="bad"', None: ""}[verdict]
        below = f"<small>{html_text(small)}</small>" if small else ""
        cells.append(f"<div><span>{escape(label)}</span><strong{mark}>{escape(text)}</strong>{below}</div>")
    return f'<div class="facts">{"".join(cells)}</div>'


# Formulas ---------------------------------------------------------------------------------------------------------


def formula(mathml: str) -> str:
    """A displayed equation, given as the content of a `math` element; it may wrap before plus and minus signs."""
    parts = " ".join(f'<math displaystyle="true">{part}</math>' for part in terms(mathml))
    return f'<div class="scroll formula">{parts}</div>'


def terms(mathml: str) -> Iterator[str]:
    """The parts of a sum between which it may wrap: its summands, and the summands in the brackets of long ones.

    A part that begins with the sign of a summand has it as an infix; a sign in front of a sum is a prefix.
    """
    mathml = _LEADING.sub(r'\1<mo form="prefix">', mathml)
    depth, start = 0, 0
    for tag in _TAG.finditer(mathml):
        at = tag.start()
        if depth == 0 and at > start and mathml.startswith(_SIGNS, at):
            yield from _broken(_infix(mathml[start:at], start > 0))
            start = at
        depth += -1 if tag[1] else 1
    yield from _broken(_infix(mathml[start:], start > 0))


def _infix(term: str, has_sign: bool) -> str:
    return term.replace("<mo>", '<mo form="infix">', 1) if has_sign else term


def _broken(product: str) -> list[str]:
    """A product, broken within its longest bracket if it is long; the halves of a bracket do not grow by themselves."""
    brackets = list(_brackets(product)) if len(_LETTER.findall(product)) > LINE else []
    if not brackets:
        return [product]
    start, end = max(brackets, key=lambda bracket: bracket[1] - bracket[0])
    inner = product[start + len(_OPEN) : end - len(_CLOSE)]
    size = next((size for tag, size in _SIZES.items() if tag in inner), "1em")
    left, right = (
        f'<mo form="{form}" minsize="{size}" maxsize="{size}">{sign}</mo>'
        for form, sign in (("prefix", "("), ("postfix", ")"))
    )
    *before, head = _broken(product[:start])
    first, *others = terms(inner)
    *between, last = [head + left + first, *others]
    tail, *after = _broken(product[end:])
    return [*before, *between, last + right + tail, *after]


def _brackets(product: str) -> Iterator[tuple[int, int]]:
    """Where the brackets among the factors begin and end."""
    depth, start = 0, 0
    for tag in _TAG.finditer(product):
        if depth == 0:
            start = tag.start()
        depth += -1 if tag[1] else 1
        if depth == 0 and product.startswith(_OPEN, start):
            yield start, tag.end()


# Figures ----------------------------------------------------------------------------------------------------------


def figure(svg: str, caption: str, wide: bool = False) -> str:
    """A figure with its caption. wide: too wide for a phone, where it scrolls horizontally."""
    inside = f'<div class="scroll large">{_inline(svg)}</div>' if wide else _inline(svg)
    return f"<figure>{inside}<figcaption>{html_text(caption)}</figcaption></figure>"


def panels(svgs: Sequence[str], caption: str, key: Sequence[tuple[str, str, bool]] = ()) -> str:
    """Small figures side by side.

    key: the legend of all figures, as (name, colour, dashed).
    """
    inside = "".join(f"<div>{_inline(svg)}</div>" for svg in svgs)
    marks = "".join(
        f'<li><i{" class=dashed" if dashed else ""} style="border-color: {escape(color)}"></i>{escape(name)}</li>'
        for name, color, dashed in key
    )
    legend = f'<ul class="key">{marks}</ul>' if marks else ""
    return f'<figure>{legend}<div class="panels">{inside}</div><figcaption>{html_text(caption)}</figcaption></figure>'


def _inline(svg: str) -> str:
    """The SVG without group names, which figures of one page would share; paths rounded to 0.01 points."""
    nameless = re.sub(r'<g id="[^"]*"', "<g", svg)
    return re.sub(r' d="[^"]*"', lambda path: _DECIMALS.sub(r"\1", path[0]), nameless)


# Tables -----------------------------------------------------------------------------------------------------------


def table(section: Section) -> str:
    """A table with numbers aligned at the decimal point; a wide table scrolls horizontally."""
    section = section.aligned()
    columns = list(zip(*section.rows, strict=True)) or [()] * len(section.columns)
    numeric = [is_numeric(cells) for cells in columns]
    kinds = [
        "cell number" if n else "prose" if c.folds or any(map(_WORDS.search, cells)) else "cell"
        for n, c, cells in zip(numeric, section.columns, columns, strict=True)
    ]
    units = any(column.unit for column in section.columns)
    heads = "".join(
        f"<th{_number(n)}>{escape(c.head)}{f'<small>{html_text(c.unit)}</small>' if units else ''}</th>"
        for c, n in zip(section.columns, numeric, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(f'<td class="{kind}">{html_text(cell)}</td>' for cell, kind in zip(row, kinds, strict=True))
        + "</tr>\n"
        for row in section.rows
    )
    title = subheading(section.title) if section.title else ""
    dense = ' class="dense"' if len(columns) > MANY else ""
    body = f'<div class="scroll"><table{dense}><thead><tr>{heads}</tr></thead>\n<tbody>{rows}</tbody></table></div>'
    if len(section.rows) > LONG:
        body = f"<details><summary>{len(section.rows)} rows</summary>{body}</details>"
    return f"{title}\n{body}{remark(section.note)}"


def _number(is_number: bool) -> str:
    return ' class="number"' if is_number else ""


def links(rows: Sequence[tuple[str, str, str]], head: tuple[str, str]) -> str:
    """A table of files: (address relative to the page, name, content)."""
    body = "".join(
        f'<tr><td class="cell"><a href="{escape(address)}">{escape(text)}</a></td>'
        f'<td class="prose">{html_text(what)}</td></tr>\n'
        for address, text, what in rows
    )
    heads = "".join(f"<th>{escape(text)}</th>" for text in head)
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def findings(checkup: Checkup) -> str:
    """The findings as a table."""
    section = checkup.section()
    if not section.rows:
        return '<p class="good">No issues found.</p>'
    heads = "".join(f"<th>{escape(column.head)}</th>" for column in section.columns)
    rows = "".join(
        f'<tr><td class="{escape(row[0])}">{escape(row[0])}</td>'
        + "".join(f"<td>{html_text(cell)}</td>" for cell in row[1:])
        + "</tr>\n"
        for row in section.rows
    )
    inside = f"<thead><tr>{heads}</tr></thead>\n<tbody>{rows}</tbody>"
    return f'<div class="scroll"><table class="findings">{inside}</table></div>'
