"""Expressions as MathML, which browsers typeset without any library."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from armdyn.graph.node import ABS, SIGN, SQRT, Node
from armdyn.graph.render import GREEK, TextStyle, name_parts, rendered

_DOTS = {1: "&#x307;", 2: "&#x308;"}
"""Combining dots: browsers set them well, while accents by `mover` land on the letter or vanish in some fonts."""
_TAG = re.compile(r"<[^>]*>|&[^;]*;")


class _MathML(TextStyle):
    """Presentation MathML: rows of mi, mn, mo."""

    times, plus, minus, negative = "<mo>&#x2062;</mo>", "<mo>+</mo>", "<mo>&#x2212;</mo>", "<mo>&#x2212;</mo>"

    def letters(self, word: str) -> str:
        return _TAG.sub("", word)

    def symbol(self, node: Node) -> str:
        return mathml_name(str(node.value), dots=node.online)

    def power(self, base: str, exponent: int) -> str:
        return f"<msup><mrow>{base}</mrow><mn>{exponent}</mn></msup>"

    def fraction(self, top: str, bottom: list[str]) -> str:
        return f"<mfrac><mrow>{top}</mrow><mrow>{self.times.join(bottom)}</mrow></mfrac>"

    def bracket(self, text: str) -> str:
        return f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>"

    def function(self, op: str, arguments: list[str]) -> str:
        if op == SQRT:
            return f"<msqrt>{arguments[0]}</msqrt>"
        if op == ABS:
            return f"<mrow><mo>|</mo>{arguments[0]}<mo>|</mo></mrow>"
        word = "sgn" if op == SIGN else escape(op)
        return f"<mi>{word}</mi><mo>&#x2061;</mo>{self.bracket('<mo>,</mo>'.join(arguments))}"

    def short_trig(self, letter: str, indices: list[str]) -> str:
        between = "," if any(len(index) > 1 for index in indices) else ""
        return f"<msub><mi>{letter}</mi><mn>{between.join(indices)}</mn></msub>"

    def number(self, value: Any) -> str:
        return f"<mn>{super().number(value)}</mn>"

    def pi(self) -> str:
        return "<mi>&#x3C0;</mi>"


def mathml_name(name: str, *, dots: bool = True) -> str:
    """A symbol name in MathML: Greek letters, indices, and dots for rates.

    >>> mathml_name("qd1")
    '<msub><mi>&#x1D45E;&#x307;</mi><mn>1</mn></msub>'
    """
    stem, rate, index = name_parts(name, dots=dots)
    text = f"<mi>&{stem};</mi>" if stem in GREEK else f"<mi>{escape(stem)}</mi>"
    if rate:
        text = f"<mi>{_italic(stem)}{_DOTS[rate]}</mi>"
    kind = "mn" if index.isdigit() else "mi"
    return f"<msub>{text}<{kind}>{escape(index)}</{kind}></msub>" if index else text


def _italic(stem: str) -> str:
    """The letter in mathematical italics: `mi` slants a letter by itself only if it stands alone."""
    if stem in GREEK:
        return f"&{stem};"
    return f"&#x{0x1D44E + ord(stem) - ord('a'):X};" if stem.islower() and stem != "h" else escape(stem)


def mathml(expression: Any) -> Any:
    """The inside of a `math` element; nested expressions give nested texts.

    >>> from armdyn.graph import symbol
    >>> mathml(symbol("q1").cos() - 2)
    '<msub><mi>c</mi><mn>1</mn></msub><mo>&#x2212;</mo><mn>2</mn>'
    """
    return rendered(expression, _MathML())
