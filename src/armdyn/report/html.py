"""The report as one HTML file: nothing is fetched, everything is escaped, it reads in light, dark and print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from armdyn import __version__
from armdyn.robot.findings import Checkup
from armdyn.robot.table import Section, is_numeric

_CSS = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #667085; --line: #d9dee7; --paper: #ffffff; --wash: #f5f7fa;
        --good: #14804a; --bad: #b42318; --warn: #a15c07; --blue: #2456a6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --soft: #98a2b3; --line: #333b49; --paper: #12161d;
        --wash: #1a202a; --good: #4cc38a; --bad: #ff7a6e; --warn: #f0b429; --blue: #8db4f5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 2.5rem 1.5rem 3rem; }
h1 { font-size: 2rem; margin: 0; letter-spacing: -.02em; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: 1rem; margin: 1.75rem 0 .5rem; }
p.source { color: var(--soft); margin: .25rem 0 1.5rem; }
.facts { display: flex; flex-wrap: wrap; gap: .75rem; }
.facts div { background: var(--wash); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem 1rem; }
.facts span { display: block; color: var(--soft); font-size: .8rem; }
.facts strong { font-weight: 600; }
.good { color: var(--good); } .bad { color: var(--bad); }
.impossible { color: var(--bad); font-weight: 600; } .doubtful { color: var(--warn); font-weight: 600; }
.note { color: var(--blue); }
figure { margin: 1.5rem 0; } figure svg { width: 100%; height: auto; display: block; }
figcaption, .remark { color: var(--soft); font-size: .88rem; }
.scroll { overflow-x: auto; }
.formula { padding: .3rem 0 .3rem 1.5rem; overflow-y: hidden; white-space: nowrap; }
.formula math { font-size: 1.1rem; }
table { border-collapse: collapse; font-size: .88rem; }
th, td { padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid var(--line); font-weight: 600; white-space: nowrap; vertical-align: bottom; }
thead small { display: block; font-weight: 400; color: var(--soft); min-height: 1.2em; }
tbody td { border-bottom: 1px solid var(--line); }
td.cell { font-family: ui-monospace, "Cascadia Mono", Menlo, monospace; white-space: pre; font-size: .82rem; }
th.number, td.number { text-align: right; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.5rem; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; }
ul { padding-left: 1.2rem; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft);
         font-size: .85rem; }
@media print { main { max-width: none; padding: 0; } body { font-size: 10.5pt; } .scroll { overflow: visible; }
  h2, h3 { break-after: avoid; } figure, tr { break-inside: avoid; }
  table { font-size: 8pt; } td.cell { font-size: 7.5pt; } }
"""


def page(title: str, subtitle: str, blocks: Iterable[str]) -> str:
    """The whole document around its blocks."""
    body = "\n".join(filter(None, blocks))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}: armdyn report</title>
<style>{_CSS}</style>
</head>
<body><main>
<h1>{escape(title)}</h1>
<p class="source">{escape(subtitle)}</p>
{body}
<footer>armdyn {escape(__version__)}. SI units; angles in radians unless a column says deg.</footer>
</main></body>
</html>
"""


def heading(text: str) -> str:
    return f"<h2>{escape(text)}</h2>"


def subheading(text: str) -> str:
    return f"<h3>{escape(text)}</h3>"


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def formula(mathml: str) -> str:
    """A displayed equation, given as the inside of a `math` element; wide ones scroll."""
    return f'<div class="scroll formula"><math displaystyle="true">{mathml}</math></div>'


def facts(pairs: Sequence[tuple[str, str]], ok: bool) -> str:
    """The numbers one looks for first; the last one is the verdict."""
    cells = [f"<div><span>{escape(label)}</span><strong>{escape(text)}</strong></div>" for label, text in pairs[:-1]]
    label, text = pairs[-1]
    mark = "good" if ok else "bad"
    cells.append(f'<div><span>{escape(label)}</span><strong class="{mark}">{escape(text)}</strong></div>')
    return f'<div class="facts">{"".join(cells)}</div>'


def figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def table(section: Section) -> str:
    """A table of the report, numbers aligned at the decimal point."""
    section = section.aligned()
    numeric = [is_numeric(cells) for cells in zip(*section.rows, strict=True)]
    units = any(column.unit for column in section.columns)
    heads = "".join(
        f"<th{_number(n)}>{escape(c.head)}{f'<small>{escape(c.unit)}</small>' if units else ''}</th>"
        for c, n in zip(section.columns, numeric, strict=True)
    )
    rows = "".join(
        "<tr>" + "".join(f'<td class="cell{" number" if n else ""}">{escape(cell)}</td>'
                         for cell, n in zip(row, numeric, strict=True)) + "</tr>\n"
        for row in section.rows
    )  # fmt: skip
    note = f'<p class="remark">{escape(section.note)}</p>' if section.note else ""
    return (f'<h3>{escape(section.title)}</h3>\n<div class="scroll"><table><thead><tr>{heads}</tr></thead>\n'
            f"<tbody>{rows}</tbody></table></div>{note}")  # fmt: skip


def _number(is_number: bool) -> str:
    return ' class="number"' if is_number else ""


def findings(checkup: Checkup) -> str:
    """The check-up as a table of texts."""
    section = checkup.section()
    if not section.rows:
        return '<p class="good">Nothing to remark.</p>'
    heads = "".join(f"<th>{escape(column.head)}</th>" for column in section.columns)
    rows = "".join(
        f'<tr><td class="{escape(row[0])}">{escape(row[0])}</td>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:]) + "</tr>\n"
        for row in section.rows
    )  # fmt: skip
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead>\n<tbody>{rows}</tbody></table></div>'


def definitions(pairs: Sequence[tuple[str, str]]) -> str:
    return f"<dl>{''.join(f'<dt>{escape(label)}</dt><dd>{escape(text)}</dd>' for label, text in pairs)}</dl>"


def bullets(title: str, texts: Sequence[str]) -> str:
    """A titled list; nothing if there is nothing to say."""
    if not texts:
        return ""
    return f"<h3>{escape(title)}</h3><ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ul>"
