"""Blocks of a page: escaping, breaking of formulas, kinds of columns, anchors."""

from __future__ import annotations

import hashlib
import re
from xml.etree import ElementTree

import pytest

import armdyn
from armdyn.equations import derive
from armdyn.equations.typesetting import mathml_head, matrices
from armdyn.graph.mathml import mathml
from armdyn.report.pages import html
from armdyn.tables import Column, Section

M = "<mi>M</mi><mo>=</mo>"
ATTRIBUTES = re.compile(r"(?<=<mo) [^>]*")
PLUS, MINUS = "<mo>+</mo>", "<mo>&#x2212;</mo>"


@pytest.mark.parametrize(
    ("mathml", "count"),
    [
        (f"{M}<mi>a</mi>{PLUS}<mi>b</mi>{MINUS}<mi>c</mi>", 3),
        (f"{M}{MINUS}<mi>a</mi>", 1),  # the sign of a first term is no place to break
        (f"{M}<mrow><mo>(</mo><mi>a</mi>{PLUS}<mi>b</mi><mo>)</mo></mrow>", 1),  # nor is a bracket
        (f"{MINUS}<mi>a</mi>{PLUS}<mfrac><mrow><mi>b</mi>{PLUS}<mi>c</mi></mrow><mn>2</mn></mfrac>", 2),
    ],
)
def test_formulas_break_before_the_signs_of_the_outermost_sum(mathml: str, count: int) -> None:
    terms = list(html.terms(mathml))
    assert len(terms) == count
    assert ATTRIBUTES.sub("", "".join(terms)) == mathml
    assert all(term.startswith('<mo form="infix">') for term in terms[1:])


def test_long_products_break_within_their_brackets() -> None:
    """Every part is whole MathML about as wide as a phone, and together they are the equation."""
    blocks = matrices(derive(armdyn.load("scara5")))
    entries = [mathml_head(block, indices) + mathml(x) for block in blocks for indices, x in block.entries]
    broken = 0
    for entry in entries:
        parts = list(html.terms(entry))
        for part in parts:
            letters = ElementTree.fromstring(f"<math>{part}</math>").itertext()
            assert len("".join(letters).replace("\u2062", "")) <= 1.3 * html.LINE
        both = (
            ATTRIBUTES.sub("", text).replace("<mrow>", "").replace("</mrow>", "") for text in (entry, "".join(parts))
        )
        assert len(set(both)) == 1
        broken += "minsize" in "".join(parts)
    assert 0 < broken < len(entries)  # short entries keep brackets that grow by themselves


@pytest.mark.parametrize(
    ("term", "size"),
    [
        ("<mi>a</mi>", "1em"),
        ("<msup><mrow><mi>a</mi></mrow><mn>2</mn></msup>", "1.4em"),
        ("<mfrac><mrow><mi>a</mi></mrow><mrow><mn>2</mn></mrow></mfrac>", "2.6em"),
    ],
)
def test_the_halves_of_a_broken_bracket_are_as_tall_as_what_is_between_them(term: str, size: str) -> None:
    inner = PLUS.join([term] * html.LINE)
    first, *between, last = html.terms(f"{M}<mi>b</mi><mrow><mo>(</mo>{inner}<mo>)</mo></mrow><mi>c</mi>")
    assert len(between) == html.LINE - 2
    assert re.findall('minsize="(.*?)"', first + last) == [size, size]
    assert first.startswith(f"{M}<mi>b</mi><mo") and last.endswith("<mi>c</mi>")


def test_names_in_backticks_are_set_as_code() -> None:
    text = "declare `offsets` < `<b>`"
    wanted = "declare <code>offsets</code> &lt; `&lt;b&gt;`"
    table = Section("", (Column("advice"),), ((text,),), text)
    blocks = [html.paragraph(text), html.remark(text), html.missing(text), html.definitions([("", text)]),
              html.bullets("", [text]), html.figure("<svg></svg>", text), html.table(table)]  # fmt: skip
    assert all(wanted in block for block in blocks)


def test_a_number_stays_beside_its_unit() -> None:
    assert html.paragraph("it takes 10.4 s, 3 steps, 2 N m") == "<p>it takes 10.4\u00a0s, 3 steps, 2\u00a0N m</p>"


def test_every_block_escapes_what_it_is_given() -> None:
    evil = '<script>"&'
    table = Section(evil, (Column(evil, evil),), ((evil,),), evil)
    blocks = [
        html.heading(evil), html.subheading(evil), html.paragraph(evil), html.remark(evil), html.missing(evil),
        html.code(evil), html.definitions([(evil, evil)]), html.bullets(evil, [evil]), html.table(table),
        html.facts([(evil, evil), (evil, evil)], ok=True), html.cards([(evil, evil, evil, None)]),
        html.links([(evil, evil, evil)], (evil, evil)), html.panels([], evil, [(evil, evil, True)]),
        html.figure("<svg></svg>", evil), html.chapter(1, evil, []),
        html.page(evil, evil, [], contents=[evil], footer=evil),
    ]  # fmt: skip
    for block in blocks:
        assert "<script" not in block
        assert "&lt;script" in block


def test_columns_of_prose_fold_and_columns_of_figures_do_not() -> None:
    columns = (Column("what"), Column("value"), Column("counts"), Column("source", folds=True))
    block = html.table(Section("", columns, (("two words here", "1.5", "3 / 4", "x"),)))
    assert re.findall(r'<td class="([^"]+)"', block) == ["prose", "cell number", "cell", "prose"]


def test_the_contents_point_to_the_chapters() -> None:
    titles = ["Summary", "What the tool can do", "C & g"]
    blocks = [html.chapter(k, title, []) for k, title in enumerate(titles, 1)]
    page = html.page("arm", "", blocks, contents=titles)
    places = re.findall(r'<li><a href="#([^"]+)"', page)
    assert len(set(places)) == len(titles)
    assert [f'<section id="{place}">' in page for place in places] == [True] * len(titles)


def test_figures_share_no_names_and_keep_their_texts() -> None:
    svg = '<svg><g id="axes_1"><path d="M 1.23456 -7.5"/><text>0.12345</text></g></svg>'
    inside = html.figure(svg, "")
    assert "axes_1" not in inside
    assert 'd="M 1.23 -7.5"' in inside
    assert "0.12345" in inside


def test_pages_say_when_and_from_what_they_were_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    made = html.provenance(robot="abc", log=b"xyz")
    assert made.startswith(f"2 January 1970, armdyn {armdyn.__version__}")
    assert hashlib.sha256(b"abc").hexdigest()[:16] in made and hashlib.sha256(b"xyz").hexdigest()[:16] in made
    assert f'<p class="made">{made}</p>' in html.page("title", "subtitle", [], made=made)


@pytest.mark.parametrize(("rows", "folded"), [(html.LONG, False), (html.LONG + 1, True)])
def test_long_tables_are_folded(rows: int, folded: bool) -> None:
    section = Section("many", (Column("a"),), tuple((str(k),) for k in range(rows)))
    assert ("<details>" in html.table(section)) is folded
