r"""Formulas written in a small part of LaTeX, as MathML for a browser and as text for a terminal.

Names and rules of a derivation are written once, in LaTeX; its numbers and expressions come from the graph in LaTeX
too. This module reads what they use: letters with accents, indices and exponents, fractions, sums, brackets and
matrices; and \wrong{...}, which a page shows in another colour.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "varepsilon": "ε", "epsilon": "ε", "zeta": "ζ",
    "eta": "η", "theta": "θ", "vartheta": "ϑ", "lambda": "λ", "mu": "μ", "nu": "ν", "pi": "π", "rho": "ρ",
    "sigma": "σ", "tau": "τ", "phi": "φ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Sigma": "Σ",
    "Omega": "Ω", "ell": "ℓ",
}  # fmt: skip
OPERATORS = {
    "times": "×", "cdot": "·", "partial": "∂", "sum": "∑", "otimes": "⊗", "ldots": "…", "quad": " ", "top": "T",
    "dots": "…", "ge": "≥", "le": "≤", "wedge": "∧",
}  # fmt: skip
FUNCTIONS = ("sin", "cos", "exp", "max", "det", "tr", "sgn")
ACCENTS = {"dot": "\u0307", "ddot": "\u0308", "bar": "\u0304", "hat": "\u0302", "tilde": "\u0303", "widehat": "\u0302"}
FONTS = ("mathbf", "boldsymbol", "mathrm", "text", "operatorname", "bm")
FONT = "'Latin Modern Math','STIX Two Math','Cambria Math',math"
"""Fonts whose brackets stretch around matrices in a browser."""


class Piece(NamedTuple):
    """A part of a formula: its kind, its word, and the parts it consists of."""

    kind: str
    word: str = ""
    parts: tuple[Piece, ...] = ()


def parsed(latex: str) -> Piece:
    """The formula as a tree."""
    return _Parser(latex).row(())


def mathml(latex: str) -> str:
    r"""The content of a `math` element.

    >>> mathml(r"\dot{q}_{1}^{2}")
    '<msubsup><mi>𝑞̇</mi><mn>1</mn><mn>2</mn></msubsup>'
    """
    return _mathml(parsed(latex))


def text(latex: str) -> str:
    r"""The formula on one line.

    >>> text(r"\boldsymbol{J}_P^{(\ell_1)} \dot{q}_{12} + \frac{1}{2} \omega_i")
    'J_P^(ℓ1) q̇12 + 1/2 ωi'
    """
    return re.sub(r" {2,}", " ", _text(parsed(latex))).strip()


class _Parser:
    def __init__(self, latex: str) -> None:
        self.tokens = [token for token in _TOKEN.findall(latex) if not token.isspace()]
        self.place = 0

    def peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self) -> str:
        self.place += 1
        return self.tokens[self.place - 1] if self.place <= len(self.tokens) else ""

    def row(self, stops: Sequence[str]) -> Piece:
        parts: list[Piece] = []
        while self.peek() and self.peek() not in stops:
            parts.append(self.scripted())
        return parts[0] if len(parts) == 1 else Piece("row", "", tuple(parts))

    def group(self) -> Piece:
        """What stands in braces, or one token."""
        if self.peek() != "{":
            return self.atom()
        self.take()
        inside = self.row(("}",))
        self.take()
        return inside

    def scripted(self) -> Piece:
        base = self.atom() if self.peek() not in ("_", "^") else Piece("row")
        scripts: dict[str, Piece] = {}
        while self.peek() in ("_", "^"):
            kind = self.take()
            scripts[kind] = self.group()
        if not scripts:
            return base
        kind = "sub" * ("_" in scripts) + "sup" * ("^" in scripts)
        return Piece(kind, "", (base, *(scripts[each] for each in "_^" if each in scripts)))

    def atom(self) -> Piece:
        token = self.take()
        name = token[1:]
        if token == "{":
            inside = self.row(("}",))
            self.take()
            return inside
        if name in ACCENTS and token[0] == "\\":
            return Piece("accent", ACCENTS[name], (self.group(),))
        if token[0] == "\\" and name in FONTS:
            inside = self.group()
            return Piece("upright" if name in ("mathrm", "text", "operatorname") else "bold", "", (inside,))
        if token in (r"\frac", r"\dfrac", r"\tfrac"):
            return Piece("frac", "", (self.group(), self.group()))
        if token == r"\sqrt":
            return Piece("sqrt", "", (self.group(),))
        if token == r"\wrong":
            return Piece("wrong", "", (self.group(),))
        if token == r"\left":
            return self._fenced()
        if token == r"\begin":
            return self._matrix()
        if token in (r"\,", r"\;", r"\:", r"\!", r"\ "):
            return Piece("op", " ")
        if token[0] == "\\":
            if name in FUNCTIONS:
                return Piece("func", name)
            return Piece("id", GREEK[name]) if name in GREEK else Piece("op", OPERATORS.get(name, name))
        if token[0].isdigit():
            return Piece("num", token)
        return Piece("id", token) if token.isalpha() else Piece("op", token)

    def _fenced(self) -> Piece:
        opening = self.take()
        inside = self.row((r"\right",))
        self.take()
        closing = self.take()
        return Piece("fence", f"{opening} {closing}", (inside,))

    def _matrix(self) -> Piece:
        kind = _letters(self.group())
        rows, cells = [], []
        while True:
            cells.append(self.row(("&", r"\\", r"\end")))
            stop = self.take()
            if stop != "&":
                rows.append(Piece("row", "", tuple(cells)))
                cells = []
            if stop in (r"\end", ""):
                self.group()
                return Piece("matrix", kind, tuple(rows))


def _letters(piece: Piece) -> str:
    return piece.word + "".join(map(_letters, piece.parts))


# MathML -------------------------------------------------------------------------------------------------------------


def _mathml(piece: Piece, bold: bool = False) -> str:
    kind, word, parts = piece
    inner = [_mathml(part, bold) for part in parts]
    if kind == "id":
        return f"<mi>{_bold(word) if bold else escape(word)}</mi>"
    if kind == "func":
        return f"<mi>{word}</mi><mo>&#x2061;</mo>"
    if kind == "num":
        return f"<mn>{word}</mn>"
    if kind == "op":
        return '<mspace width="0.3em"></mspace>' if word == " " else f"<mo>{escape(word.replace('-', '−'))}</mo>"
    if kind == "bold":
        return _mathml(parts[0], True)
    if kind == "upright":
        return f"<mtext>{escape(_text(parts[0]))}</mtext>"
    if kind == "accent":
        letter = _text(parts[0])
        return f"<mi>{(_bold(letter) if bold or parts[0].kind == 'bold' else _italic(letter)) + word}</mi>"
    if kind == "frac":
        return f"<mfrac>{_row(inner[0])}{_row(inner[1])}</mfrac>"
    if kind == "sqrt":
        return f"<msqrt>{inner[0]}</msqrt>"
    if kind in ("sub", "sup", "subsup"):
        wide = parts[0] == Piece("op", OPERATORS["sum"])
        tag = {"sub": "munder", "sup": "mover", "subsup": "munderover"}[kind] if wide else f"m{kind}"
        return f"<{tag}>{''.join(map(_row, inner))}</{tag}>"
    if kind == "wrong":
        return f'<mrow class="wrong">{inner[0]}</mrow>'
    if kind == "fence":
        opening, closing = word.split(" ")
        return f"<mrow>{_fence(opening)}{inner[0]}{_fence(closing)}</mrow>"
    if kind == "matrix":
        rows = "".join(f"<mtr>{''.join(f'<mtd>{_mathml(cell)}</mtd>' for cell in row.parts)}</mtr>" for row in parts)
        table = f"<mtable>{rows}</mtable>"
        if word == "aligned":
            return f'<mtable columnalign="right left">{rows}</mtable>'
        return f"<mrow>{_fence('[')}{table}{_fence(']')}</mrow>"
    return "".join(inner)


def _bold(word: str) -> str:
    """A letter in mathematical bold italics; a browser sets these with the right distances to indices."""
    return _mathematical(word, (0x1D468, 0x1D482, 0x1D71C, 0x1D736))


def _italic(word: str) -> str:
    """A letter in mathematical italics: with an accent behind it, a browser would set a plain one upright."""
    return "ℎ" if word == "h" else _mathematical(word, (0x1D434, 0x1D44E, 0x1D6E2, 0x1D6FC))


def _mathematical(word: str, starts: Sequence[int]) -> str:
    """starts: where the capitals, the small letters and those of Greek begin in Unicode."""
    for (first, last), start in zip((("A", "Z"), ("a", "z"), ("Α", "Ω"), ("α", "ω")), starts, strict=True):
        if len(word) == 1 and first <= word <= last:
            return chr(start + ord(word) - ord(first))
    return escape(word)


def _row(content: str) -> str:
    """One element: several are put into a row."""
    single = re.fullmatch(r"<(m[a-z]+)[^>]*>(?:(?!<\1[ >]).)*</\1>", content)
    return content if single else f"<mrow>{content}</mrow>"


def _fence(mark: str) -> str:
    return "" if mark == "." else f'<mo stretchy="true">{escape(mark.removeprefix(chr(92)))}</mo>'


# Text ---------------------------------------------------------------------------------------------------------------


def _text(piece: Piece) -> str:
    kind, word, parts = piece
    inner = [_text(part) for part in parts]
    if kind in ("id", "num"):
        return word
    if kind == "func":
        return word + " "
    if kind == "op":
        return f" {word} " if word in "+-=×·⊗∧" else word
    if kind == "accent":
        return inner[0] + word
    if kind == "frac":
        return f"{_bracketed(inner[0])}/{_bracketed(inner[1])}"
    if kind == "sqrt":
        return f"sqrt({inner[0]})"
    if kind in ("sub", "sup", "subsup"):
        return inner[0] + _scripts(kind, inner[1:], parts[0])
    if kind == "fence":
        opening, closing = (mark.removeprefix("\\").removeprefix(".") for mark in word.split(" "))
        return f"{opening}{inner[0]}{closing}"
    if kind == "matrix":
        return "[" + "; ".join(", ".join(map(_text, row.parts)) for row in parts) + "]"
    return "".join(_spaced(inner, parts))


def _spaced(words: Sequence[str], parts: Sequence[Piece]) -> list[str]:
    """Factors are kept apart: a letter behind a letter."""
    found: list[str] = []
    for word, part in zip(words, parts, strict=True):
        if found and part.kind != "op" and word and found[-1] and (found[-1][-1].isalnum() or found[-1][-1] in ")]̇̈"):
            found.append(" ")
        found.append(word)
    return found


def _scripts(kind: str, words: list[str], base: Piece) -> str:
    words = [word.replace(" ", "") for word in words]
    lower = words[0] if kind != "sup" else ""
    raised = words[-1] if kind != "sub" else ""
    if base == Piece("op", OPERATORS["sum"]):
        return f"_({lower})^{raised} " if raised else f"_({lower}) "
    # an index such as 1 or 12 follows its letter; a letter as index gets an underscore
    short = lower if lower[:1].isdigit() or (len(lower) == 1 and not lower.isupper()) else f"_{lower}" if lower else ""
    return short + (f"^{raised}" if raised else "")


def _bracketed(word: str) -> str:
    return f"({word})" if re.search(r"[ +\-]", word.strip()) else word.strip()
