"""The page of `armdyn reproduce`: a table of verdicts, then every item, then the errata with their evidence."""

from __future__ import annotations

import re
from html import escape

from armdyn.report.pages import html
from armdyn.tables import Column, Section
from armdyn.texts.errata import KINDS, Erratum, of_source
from armdyn.texts.item import MEANING, SOURCES, Check, Count, Item, Outcome, Verdict
from armdyn.texts.mutation import name_of
from armdyn.texts.running import Reproduced, Reproduction
from armdyn.texts.vouching import PACKAGES, vouched

_MARK: dict[Verdict, str] = {
    "same": "good",
    "formula same, data chosen": "good",
    "formula restored": "note",
    "corrected": "note",
    "corrected, data chosen": "note",
    "counts differ": "note",
    "not confirmed": "suspicious",
    "no print to compare": "note",
    "unexplained": "invalid",
}
SUBTITLE = "Tables, figures, equations and worked examples, regenerated and compared with the print"
_CSS = """
<style>
.verdicts td:not(:nth-child(2)) { white-space: nowrap; } .verdicts td:last-child { white-space: normal; }
section.item { border-top: 1px solid var(--line); margin-top: 2rem; padding-top: .25rem; }
section.item h3 { font-size: 1.05rem; margin-top: 1rem; }
section.item figure > svg { max-width: 36rem; }
table.checks { width: 100%; } table.checks td { overflow-wrap: anywhere; }
table.checks td:first-child { width: 1.5rem; }
table.checks td:last-child { width: 45%; }
pre { background: var(--wash); border: 1px solid var(--line); border-radius: .4rem; padding: .7rem .9rem;
      overflow-x: auto; font-size: .8rem; line-height: 1.4; }
.chip { font-size: .8rem; font-weight: 600; border: 1px solid currentColor; border-radius: 1rem; padding: .05rem .6rem;
        margin-left: .5rem; white-space: nowrap; }
a { color: var(--blue); text-decoration: none; } a:hover { text-decoration: underline; }
.erratum { border-top: 1px solid var(--line); padding: .6rem 0; } .erratum dl { margin-top: .35rem; }
.erratum dd { overflow-wrap: anywhere; min-width: 0; }
@media (max-width: 600px) {
  .verdicts thead { display: none; } .verdicts tr { display: grid; grid-template-columns: 1fr auto; padding: .4rem 0;
    border-bottom: 1px solid var(--line); }
  .verdicts td { border: 0; padding: 0; } .verdicts td:nth-child(3) { grid-row: 1; grid-column: 2; }
  .verdicts td:nth-child(2), .verdicts td:last-child { grid-column: 1 / -1; }
  .checks tr { display: grid; grid-template-columns: 1.5rem 1fr; border-bottom: 1px solid var(--line); }
  .checks td { border: 0; padding: .1rem 0; } table.checks td:last-child { grid-column: 2; width: auto;
    color: var(--soft); }
  .erratum dl { grid-template-columns: 1fr; gap: 0; }
}
</style>
"""


def page(made: Reproduction) -> str:
    """The page with all items, as HTML."""
    counts = made.counts
    facts = [(verdict, str(counts.get(verdict, 0))) for verdict in MEANING]
    legend = "".join(
        f'<li><span class="{_MARK[verdict]}">{verdict}</span>: {escape(text)}</li>' for verdict, text in MEANING.items()
    )
    blocks = [
        _CSS,
        html.facts([("items", str(len(made.results))), *facts], not made.unexplained),
        f"<ul>{legend}</ul>",
        _texts(made),
        html.paragraph("Drawings that only define names are left out, since they contain nothing to compute."),
        _overview(made),
    ]
    for source in made.sources:
        blocks.append(html.heading(SOURCES[source].cited_as))
        blocks += [_item(result, made) for result in made.results if result.item.source == source]
    blocks += _vouched(made)
    blocks.append('<h2 id="errata">Errata</h2>')
    blocks.append(f"<ul>{''.join(f'<li>{kind}: {escape(text)}</li>' for kind, text in KINDS.items())}</ul>")
    for source in made.sources:
        blocks.append(html.subheading(SOURCES[source].cited_as))
        blocks += [_erratum(erratum, made) for erratum in of_source(source)]
    return html.page("The source texts, reproduced", SUBTITLE, blocks, made=html.provenance())


def _texts(made: Reproduction) -> str:
    """The texts in full, by the names under which the items cite them."""
    sources = [SOURCES[source] for source in made.sources]
    return html.bullets("The texts", [f"{reference.cited_as}: {reference}" for reference in sources])


def anchor(item: Item) -> str:
    """`siciliano-fig-7-15`"""
    return f"{item.source}-" + re.sub(r"[^0-9a-z]+", "-", item.place.lower()).strip("-")


def _overview(made: Reproduction) -> str:
    rows = "".join(
        f'<tr><td><a href="#{anchor(result.item)}">{escape(result.item.key)}</a></td>'
        f"<td>{escape(result.item.title)}</td>"
        f'<td class="{_MARK[result.verdict]}">{result.verdict}</td><td>{_tags(result.outcome)}</td></tr>\n'
        for result in made.results
    )
    heads = "".join(f"<th>{head}</th>" for head in ("item", "what", "verdict", "errata"))
    return (
        f'<div class="scroll"><table class="verdicts"><thead><tr>{heads}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _tags(outcome: Outcome) -> str:
    tags = dict.fromkeys(slip.tag for slip in outcome.slips)
    return ", ".join(f'<a href="#{escape(tag)}">{escape(tag)}</a>' for tag in tags)


def _item(result: Reproduced, made: Reproduction) -> str:
    item, outcome = result.item, result.outcome
    chip = f'<span class="chip {_MARK[result.verdict]}">{result.verdict}</span>'
    parts = [
        f'<section class="item" id="{anchor(item)}"><h3>{escape(item.key)}: {escape(item.title)}{chip}</h3>',
        html.paragraph(outcome.says),
        f"<p><em>Verdict:</em> {escape(outcome.sentence)}</p>",
        f"<p><em>Chosen:</em> {escape(outcome.chosen)}</p>" if outcome.chosen else "",
        _vouches(result, made),
        _checks(outcome),
        *(html.table(section) for section in outcome.tables),
        *(html.figure(svg, caption) for svg, caption in outcome.figures),
        *(f"<pre>{escape(text)}</pre>" for text in outcome.texts),
        "</section>",
    ]
    return "\n".join(filter(None, parts))


def _vouches(result: Reproduced, made: Reproduction) -> str:
    """What the item vouches for and, if that was tried, how many changes of it were noticed."""
    if not result.item.vouches:
        return ""
    listed = ", ".join(f"<code>{escape(name_of(each))}</code>" for each in result.item.vouches)
    noticed = made.noticed_by(result.item)
    return f"<p><em>Vouches for:</em> {listed}.{f' Changes noticed: {noticed}.' if noticed else ''}</p>"


def _vouched(made: Reproduction) -> list[str]:
    """Which item vouches for which function, and the public functions for which none does."""
    found = vouched([result.item for result in made.results])
    rows = tuple((each.name, ", ".join(each.items)) for each in found if each.items)
    heads = (Column("function or law"), Column("items", folds=True))
    rest = [each.name for each in found if not each.items]
    return [
        html.heading("What vouches for what"),
        html.table(Section("Functions whose correctness the verdicts show", heads, rows)),
        html.paragraph(f"Public functions of {', '.join(PACKAGES)} for which no item vouches: {', '.join(rest)}."),
    ]


def _checks(outcome: Outcome) -> str:
    rows = [_row(check, escape(check.what)) for check in outcome.checks]
    claimed = (Check(f"The text: {claim.printed}", claim.holds, claim.found) for claim in outcome.claims)
    rows += [_row(check, escape(check.what)) for check in claimed]
    for slip in outcome.slips:
        link = f'<a href="#{escape(slip.tag)}">{escape(slip.tag)}</a>'
        rows.append(_row(slip.fails, f"{link}: {escape(slip.fails.what)}"))
    rows += [_row(count, f"multiplications / additions, {escape(count.what)}") for count in outcome.counts]
    if not rows:
        return ""
    return f'<div class="scroll"><table class="checks"><tbody>{"".join(rows)}</tbody></table></div>'


def _row(check: Check | Count, what: str) -> str:
    mark = '<td class="good">✓</td>' if check.holds else '<td class="bad">✗</td>'
    return f"<tr>{mark}<td>{what}</td><td>{escape(check.figure)}</td></tr>\n"


def _erratum(erratum: Erratum, made: Reproduction) -> str:
    pairs = [("printed", erratum.printed), ("right", erratum.right), ("reason", erratum.shown)]
    check = made.evidence.get(erratum.tag)
    if check is not None:
        pairs.append(("evidence", f"{check.what}: {check.figure}"))
    return (
        f'<div class="erratum" id="{erratum.tag}"><strong>{erratum.tag}</strong> {escape(erratum.place)} '
        f'<span class="remark">{erratum.kind}</span>{html.definitions(pairs)}</div>'
    )
