r"""Read equations of motion as people write them: LaTeX as papers print it, SymPy, MATLAB, Maple or plain text.

Reading is by grammar. Nothing is evaluated; length, depth and powers are bounded. What is read becomes expressions of
the graph over the symbols that the text uses; `symbols.Vocabulary` says which of them are coordinates, velocities,
sines and cosines.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from armdyn.equations.judging.vocabulary import Vocabulary
from armdyn.errors import ArmdynError
from armdyn.graph import Node, constant
from armdyn.graph.angle import linear_form
from armdyn.graph.structure import ordered

MOST_LETTERS = 200_000
"""Length of a text of equations; all equations of a six-joint arm have less."""
DEEPEST = 60
"""Brackets inside of brackets."""
MOST_POWER = 12
"""Exponents of equations of motion are 2, sometimes 3."""
MOST_TERMS = 20_000
"""Terms of one expression, multiplied out: a bound on the time that a comparison takes."""

MOST_MULTIPLE = 24
"""Multiples of an angle's smallest fraction: sin 1000 q would be a polynomial of that degree."""
MOST_DIGITS = 40
"""Digits of a number."""
INDEXED = 3
"""Letters of the longest name whose index may stand in round brackets: MATLAB's q(1) and dq(2); open(1) is a call."""


class ReadError(ArmdynError):
    """Equations that cannot be read."""


@dataclass(frozen=True)
class Statement:
    """left = value, as far as it was understood.

    name: the left side as it is written. value: an expression, or rows of expressions. text: the right side.
    """

    name: str
    value: Any
    text: str


class Token(NamedTuple):
    """A token: num (value), name (canonical name), fn, op, or open/close."""

    kind: str
    value: Any


def read(text: str, vocabulary: Vocabulary) -> list[Statement]:
    """The statements of a text, in order; sides of an equation that say how something is computed are left out."""
    if len(text) > MOST_LETTERS:
        raise ReadError(f"the text has {len(text)} letters", where="equations", expected=f"at most {MOST_LETTERS}")
    if "\x00" in text:
        raise ReadError("the text has binary data", where="equations", expected="LaTeX, or code in plain text")
    return list(_read_latex(text, vocabulary) if is_latex(text) else _read_code(text, vocabulary))


def is_latex(text: str) -> bool:
    r"""Whether a text is LaTeX: it has commands such as \frac, or indices in braces."""
    return bool(re.search(r"\\[A-Za-z]{2,}|[_^]\{|\$", text))


# LaTeX ----------------------------------------------------------------------------------------------------------------

_SIZES = re.compile(r"\\(?:left|right|[bB]ig{1,2}[lrm]?)(?![A-Za-z])\s*\.?")
_NUMBERS = re.compile(
    r"(?:\\q?quad|\\hfill)\s*[(\[]\d+(?:\.\d+)*[a-z]?[)\]]|\\tag\*?\s*\{[^{}]*\}|\\label\s*\{[^{}]*\}"
)
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_FONT = re.compile(
    r"\\(?:boldsymbol|mathbf|bm|mathit|mathcal|bf|it|rm|displaystyle|textstyle|limits|nonumber|notag)(?![A-Za-z])"
)
_ENVIRONMENTS = re.compile(
    r"\\(?:begin|end)\s*\{(?:aligned|align|split|gather|gathered|equation|eqnarray|cases|multline)\*?\}"
)
_BLOCKS = re.compile(r"\$\$(.*?)\$\$|\\\[(.*?)\\\]|\$(.*?)\$|\\\((.*?)\\\)", re.DOTALL)
_DISPLAY = re.compile(r"\\begin\s*\{(equation|align|gather|eqnarray|multline)\*?\}(.*?)\\end\s*\{\1\*?\}", re.DOTALL)
_SEPARATORS = (r"\\", r"\quad", r"\qquad", ",", ";")


def _read_latex(text: str, vocabulary: Vocabulary) -> Iterator[Statement]:
    text = _COMMENT.sub("", text)
    blocks = ["".join(part or "" for part in match) for match in _BLOCKS.findall(text)]
    blocks += [match[1] for match in _DISPLAY.findall(_BLOCKS.sub("", text))]
    for block in blocks or [text]:
        yield from _read_block(block, vocabulary)


def _read_block(block: str, vocabulary: Vocabulary) -> Iterator[Statement]:
    block = _FONT.sub(" ", _ENVIRONMENTS.sub(" ", _SIZES.sub("", _NUMBERS.sub("", block))))
    block = re.sub(r"(?<!\\)\\(?:[,;:!> ]|thinspace)", " ", block)
    for chunk in _joined(_split(block, _SEPARATORS)):
        sides = [side.strip().strip("&").strip() for side in _split(chunk, ("=",))]
        yield from _statements(
            [re.sub(r"(?<!\\)&(?![^{]*\\end)", " ", side) if r"\begin" not in side else side for side in sides],
            vocabulary,
            _Latex,
        )


def _split(text: str, marks: tuple[str, ...]) -> list[str]:
    """The parts between marks outside of brackets, braces and matrices; the mark stays in front of what follows."""
    parts, start, depth, place = [], 0, 0, 0
    while place < len(text):
        if text.startswith((r"\begin", r"\end"), place):
            depth += 1 if text.startswith(r"\begin", place) else -1
            place += 6 if text.startswith(r"\begin", place) else 4
        elif text.startswith((r"\{", r"\}"), place):
            depth += 1 if text[place + 1] == "{" else -1
            place += 2
        elif text[place] in "([{":
            depth += 1
            place += 1
        elif text[place] in ")]}":
            depth -= 1
            place += 1
        else:
            mark = next((m for m in marks if text.startswith(m, place)), None) if depth <= 0 else None
            if mark and not (mark[-1].isalpha() and text[place + len(mark) : place + len(mark) + 1].isalpha()):
                parts.append(text[start:place])
                place += len(mark)
                start = place
            else:
                place += 2 if text[place] == "\\" else 1
        if depth > DEEPEST:
            raise ReadError(f"more than {DEEPEST} brackets inside of each other", where="equations")
    return [*parts, text[start:]]


def _joined(chunks: list[str]) -> list[str]:
    """Lines that begin with a sign or an equality sign continue what is above."""
    found: list[str] = []
    for chunk in chunks:
        bare = chunk.replace("&", " ").strip().strip(".")
        if not bare or re.fullmatch(r"[(\[]\d+\.\d+[a-z]?[)\]]", bare):
            continue
        if (found and bare[0] in "+-=") or (found and bare.startswith((r"\cdot", r"\times"))):
            found[-1] += " " + chunk.replace("&", " ") if r"\begin" not in chunk else " " + chunk
        else:
            found.append(chunk.strip().rstrip("."))
    return found


def _statements(sides: list[str], vocabulary: Vocabulary, parser: Any) -> Iterator[Statement]:
    """name = value of one equation with any number of equality signs."""
    if len(sides) == 1:
        if sides[0].strip():
            yield Statement("", parser(sides[0], vocabulary).value(), sides[0])
        return
    simple = [bool(re.fullmatch(vocabulary.name_pattern, _bare(side))) for side in sides]
    if not simple[0] and simple[-1]:  # expression = tau_1
        sides, simple = [sides[-1], *sides[:-1]], [True, *simple[:-1]]
    names: list[str] = []
    for side, is_name in zip(sides, simple, strict=True):
        if not is_name or (names and side is sides[-1]):
            break
        names.append(side)
    names = names or [sides[0]]
    for side in sides[len(names) :]:
        try:
            value = parser(side, vocabulary).value()
        except ReadError:
            if side is sides[-1]:
                raise
            continue  # a rule between the name and its result, such as a sum over bodies
        for name in names:
            yield Statement(name, value, side)


def _bare(side: str) -> str:
    """A left side without its arguments: B of B(q)."""
    return re.sub(r"\s+", "", re.sub(r"\((?:[^()]*)\)\s*$", "", side))


class _Expression:
    """A value from tokens: sums, products (also by juxtaposition), quotients, powers, functions, matrices."""

    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        self.text, self.vocabulary = text, vocabulary
        self.tokens = list(self.lexed(text))
        self.place, self.depth = 0, 0

    def lexed(self, text: str) -> Iterator[Token]:
        raise NotImplementedError

    def error(self, what: str) -> ReadError:
        shown = self.text.strip()
        return ReadError(what, where=f"in {shown[:80]!r}{' ...' if len(shown) > 80 else ''}")

    def peek(self) -> Token:
        return self.tokens[self.place] if self.place < len(self.tokens) else Token("end", "")

    def take(self) -> Token:
        token = self.peek()
        self.place += 1
        return token

    def value(self) -> Any:
        found = self.sum()
        if self.peek().kind != "end":
            raise self.error(f"{self.peek().value!r} was not expected")
        if isinstance(found, Node):
            bounded(found)
        return found

    def sum(self) -> Any:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ReadError(f"more than {DEEPEST} brackets inside of each other", where="equations")
        sign = 1
        while self.peek() in (("op", "+"), ("op", "-")):
            sign *= -1 if self.take().value == "-" else 1
        total = self.product()
        total = negative(total) if sign < 0 else total
        while self.peek() in (("op", "+"), ("op", "-")):
            sign = 1
            while self.peek() in (("op", "+"), ("op", "-")):
                sign *= -1 if self.take().value == "-" else 1
            term = self.product()
            total = self.added(total, negative(term) if sign < 0 else term)
        self.depth -= 1
        return total

    def product(self) -> Any:
        found = self.factor()
        while True:
            token = self.peek()
            if token == ("op", "*"):
                self.take()
                found = self.times(found, self.factor())
            elif token == ("op", "/"):
                self.take()
                found = self.divided(found, self.factor())
            elif self.juxtaposed and token.kind in ("num", "name", "fn", "open", "value"):
                found = self.times(found, self.factor())
            else:
                return found

    juxtaposed = False

    def factor(self) -> Any:
        token = self.peek()
        if token.kind == "op" and token.value in ("-", "+"):
            self.take()
            inner = self.factor()
            return negative(inner) if token.value == "-" else inner
        return self.powers(self.atom())

    def powers(self, found: Any) -> Any:
        while self.peek() == ("op", "^"):
            self.take()
            found = self.raised(found, self.exponent())
        return found

    def exponent(self) -> Any:
        token = self.take()
        if token.kind == "open":
            inner = self.sum()
            self.closed(token.value)
            return inner
        if token == ("op", "-"):
            return negative(self.exponent())
        if token.kind == "num":
            return constant(token.value)
        if token.kind == "name" and token.value in ("T", "top"):
            return "T"
        if token.kind == "value":
            return token.value
        raise self.error("an exponent that is no whole number")

    def closed(self, opening: str) -> None:
        token = self.take()
        if token.kind != "close":
            raise self.error(f"the bracket {opening!r} is not closed")

    def atom(self) -> Any:
        token = self.take()
        if token.kind == "num":
            return constant(token.value)
        if token.kind == "value":
            return token.value
        if token.kind == "name":
            return self.symbol(token.value)
        if token.kind == "fn":
            return self.function(token.value)
        if token.kind == "open":
            inner = self.sum()
            self.closed(token.value)
            return inner
        raise self.error(
            "something is missing at the end" if token.kind == "end" else f"{token.value!r} was not expected"
        )

    def symbol(self, name: str) -> Any:
        return self.vocabulary.symbol(name)

    def function(self, name: str) -> Any:
        raised = None
        if self.peek() == ("op", "^"):
            self.take()
            raised = self.exponent()
        opened = self.peek().kind == "open"
        argument = self.atom() if opened else self._plain_argument()
        if not isinstance(argument, Node):
            raise self.error(f"{name} of a matrix")
        found = {"sin": argument.sin, "cos": argument.cos, "sqrt": argument.sqrt, "sign": argument.sign}[name]()
        return found if raised is None else self.raised(found, raised)

    def _plain_argument(self) -> Any:
        r"""What \sin without brackets belongs to: 2 q_1, or one symbol."""
        found = self.atom()
        if isinstance(found, Node) and found.op == "const" and self.peek().kind == "name":
            found = self.times(found, self.atom())
        return found

    # Arithmetic -------------------------------------------------------------------------------------------------------

    def added(self, a: Any, b: Any) -> Any:
        if isinstance(a, Node) and isinstance(b, Node):
            return a + b
        if isinstance(a, Node) or isinstance(b, Node) or len(a) != len(b) or len(a[0]) != len(b[0]):
            raise self.error("a sum of things of different size")
        return tuple(tuple(x + y for x, y in zip(*rows, strict=True)) for rows in zip(a, b, strict=True))

    def times(self, a: Any, b: Any) -> Any:
        if isinstance(a, Node) and isinstance(b, Node):
            return a * b
        if isinstance(a, Node):
            return tuple(tuple(a * x for x in row) for row in b)
        if isinstance(b, Node):
            return tuple(tuple(x * b for x in row) for row in a)
        if len(a[0]) != len(b):
            raise self.error("a product of matrices whose sizes do not match")
        columns = list(zip(*b, strict=True))
        return tuple(
            tuple(sum((x * y for x, y in zip(row, column, strict=True)), constant(0)) for column in columns)
            for row in a
        )

    def divided(self, a: Any, b: Any) -> Any:
        if not isinstance(b, Node) or b is constant(0):
            raise self.error("a division by a matrix or by zero")
        if isinstance(a, Node):
            return a / b
        return tuple(tuple(x / b for x in row) for row in a)

    def raised(self, base: Any, exponent: Any) -> Any:
        if exponent == "T":
            return base if isinstance(base, Node) else tuple(zip(*base, strict=True))
        if not isinstance(exponent, Node) or exponent.op != "const" or exponent.value != int(exponent.value):
            raise self.error("an exponent that is no whole number")
        power = int(exponent.value)
        if abs(power) > MOST_POWER:
            raise self.error(f"the exponent {power}; at most {MOST_POWER} is read")
        if not isinstance(base, Node):
            raise self.error("a power of a matrix")
        if power < 0:
            return self.divided(constant(1), base ** (-power))
        return base**power


def negative(value: Any) -> Any:
    return -value if isinstance(value, Node) else tuple(tuple(-x for x in row) for row in value)


def bounded(node: Node) -> None:
    """Raise if the expression is too large to be compared: terms, multiplied out, and multiples of angles."""
    known: dict[Node, int] = {}
    parts: dict[Node, int] = {}
    angles = [linear_form(part.args[0])[0] for part in ordered((node,)) if part.op in ("sin", "cos")]
    for terms in angles:
        for atom, factor in terms.items():
            parts[atom] = math.lcm(parts.get(atom, 1), factor.denominator)
    for part in ordered((node,)):
        counts = [known[arg] for arg in part.args]
        if part.op in ("add", "sub"):
            known[part] = sum(counts)
        elif part.op in ("mul", "div"):
            known[part] = counts[0] * counts[1]
        elif part.op in ("sin", "cos"):
            multiples = {a: abs(f) * parts[a] for a, f in linear_form(part.args[0])[0].items()}
            if max(multiples.values(), default=0) > MOST_MULTIPLE:
                raise ReadError(
                    "an angle that is a large multiple of another one",
                    where="equations",
                    expected=f"multiples and fractions of joint angles up to {MOST_MULTIPLE}",
                )
            known[part] = math.prod(int(each) // 2 + 1 for each in multiples.values())
        else:
            known[part] = max(counts, default=1)
        if known[part] > MOST_TERMS:
            raise ReadError(f"an expression of more than {MOST_TERMS} terms, multiplied out", where="equations")


def _number(text: str) -> Fraction:
    """A number as it is written; its size is bounded."""
    mantissa, _, exponent = text.lower().rstrip(".").partition("e")
    if len(mantissa) > MOST_DIGITS or len(exponent) > 3:
        raise ReadError(f"the number {text[:20]} ...", where="equations", expected=f"at most {MOST_DIGITS} digits")
    return Fraction(text.rstrip("."))


class _Latex(_Expression):
    juxtaposed = True
    _TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\[^A-Za-z]|\d+(?:\.\d+)?|[A-Za-z]|\s+|.", re.DOTALL)

    def lexed(self, text: str) -> Iterator[Token]:
        scan = _Scan(text)
        while not scan.done:
            yield from self._next(scan)

    def _next(self, scan: _Scan) -> Iterator[Token]:
        before = scan.text[scan.place - 1 : scan.place]
        word = self.vocabulary.word(scan.rest, not before.isalpha() and before != "\\")
        if word is not None:
            scan.place += word.length
            yield Token("name", word.name + scan.index())
            return
        token = scan.take()
        if token.isspace() or token in ("{}", "~", "&", ".", r"\\", r"\quad", r"\qquad"):
            return
        if token[0].isdigit():
            yield Token("num", _number(token))
        elif token in ("+", "-", "/", "^", "*"):
            yield from self._operator(token, scan)
        elif token in ("(", "[", r"\{", r"\lbrack"):
            row = scan.row() if token == "[" else None
            if row is None:
                yield Token("open", token)
            else:
                yield Token("value", (tuple(type(self)(cell, self.vocabulary).value() for cell in row),))
        elif token == "{":
            inside = scan.group(opened=True)
            if inside.strip():
                yield Token("open", "{")
                yield from self.lexed(inside)
                yield Token("close", "}")
        elif token in (")", "]", r"\}", r"\rbrack"):
            yield Token("close", token)
        elif token in (r"\cdot", r"\times", r"\ast"):
            yield Token("op", "*")
        elif token in (r"\frac", r"\dfrac", r"\tfrac", r"\cfrac"):
            top, bottom = (type(self)(scan.group(), self.vocabulary).sum() for _ in range(2))
            yield Token("value", self.divided(top, bottom))
        elif token in (r"\sin", r"\cos", r"\sqrt", r"\sgn", r"\sign"):
            yield Token("fn", {"sgn": "sign"}.get(token[1:], token[1:]))
        elif token in (r"\operatorname", r"\mathrm", r"\text", r"\textrm"):
            upright = scan.group().strip()
            if upright in ("sgn", "sign", "sin", "cos"):
                yield Token("fn", "sign" if upright == "sgn" else upright)
            elif len(upright) == 1 or (
                re.fullmatch(r"[A-Za-z]\w*", upright) and (scan.peek() == "_" or re.search(r"\d", upright))
            ):
                yield Token("name", upright + scan.index())
        elif token == r"\begin":
            yield Token("value", self._matrix(scan))
        elif token[0] == "\\" or token.isalpha():
            yield from self._name(token, scan)
        else:
            raise self.error(f"{token!r} was not expected")

    def _operator(self, token: str, scan: _Scan) -> Iterator[Token]:
        yield Token("op", token)
        if token == "^":
            inside = scan.group().strip()
            if inside in ("T", r"\top", r"\mathrm{T}", r"{\top}"):
                yield Token("name", "T")
            else:
                yield Token("open", "{")
                yield from self.lexed(inside)
                yield Token("close", "}")

    def _name(self, token: str, scan: _Scan) -> Iterator[Token]:
        name = scan.letter(token)
        if name is None:
            raise self.error(f"the command {token} is not known")
        index, exponent = scan.index(), None
        if not index and scan.peek() == "^":  # a^2_1
            mark = scan.place
            scan.take()
            exponent = scan.group()
            index = scan.index()
            if not index:
                scan.place, exponent = mark, None
        yield Token("name", name + index)
        if exponent is not None:
            yield Token("op", "^")
            yield Token("open", "{")
            yield from self.lexed(exponent)
            yield Token("close", "}")

    def _matrix(self, scan: _Scan) -> Any:
        kind = scan.group()
        if kind == "array":
            scan.group()
        end = scan.text.find(rf"\end{{{kind}}}", scan.place)
        inner = scan.text[scan.place : end]
        if (
            end < 0
            or r"\begin" in inner
            or kind not in ("bmatrix", "pmatrix", "matrix", "array", "Bmatrix", "smallmatrix")
        ):
            raise self.error(f"a {kind} environment")
        scan.place = end + len(rf"\end{{{kind}}}")
        rows = [_split(row, ("&",)) for row in _split(inner, (r"\\",)) if row.strip()]
        widths = {len(row) for row in rows}
        if len(widths) != 1:
            raise self.error("a matrix whose rows have different lengths")
        return tuple(tuple(type(self)(cell, self.vocabulary).value() for cell in row) for row in rows)


class _Scan:
    """A place in a LaTeX text."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0

    @property
    def done(self) -> bool:
        return self.place >= len(self.text)

    @property
    def rest(self) -> str:
        return self.text[self.place : self.place + 24]

    def peek(self) -> str:
        place = self.place
        while place < len(self.text) and self.text[place].isspace():
            place += 1
        return self.text[place] if place < len(self.text) else ""

    def take(self) -> str:
        match = _Latex._TOKEN.match(self.text, self.place)
        assert match is not None
        self.place = match.end()
        return match[0]

    def group(self, opened: bool = False) -> str:
        """What stands in braces, or one token."""
        if not opened:
            while not self.done and self.text[self.place].isspace():
                self.place += 1
            if self.done:
                raise ReadError("something is missing at the end", where=f"in {self.text[:80]!r}")
            if self.text[self.place] != "{":
                match = re.compile(r"\\[A-Za-z]+|\d|.", re.DOTALL).match(self.text, self.place)
                assert match is not None
                self.place = match.end()
                return match[0]
            self.place += 1
        depth, start = 1, self.place
        while not self.done:
            letter = self.text[self.place]
            depth += (letter == "{") - (letter == "}") if self.text[self.place - 1 : self.place] != "\\" else 0
            self.place += 1
            if depth == 0:
                return self.text[start : self.place - 1]
        raise ReadError("a brace is not closed", where=f"in {self.text[:80]!r}")

    def row(self) -> list[str] | None:
        r"""The entries of [a \quad b \quad c] behind its opening bracket, or None if this is an ordinary bracket."""
        depth, place = 1, self.place
        while place < len(self.text) and depth:
            depth += (self.text[place] in "([{") - (self.text[place] in ")]}")
            place += 1
        inside = self.text[self.place : place - 1]
        cells = _split(inside, (r"\quad", r"\qquad", "&"))
        if len(cells) < 2:
            return None
        self.place = place
        return [cell for cell in cells if cell.strip()]

    def letter(self, token: str) -> str | None:
        r"""The letter that a token begins: q, \theta, \dot{q}, \bar{I}."""
        if token.isalpha():
            return token
        word = token[1:]
        if word in ("dot", "ddot", "bar", "hat", "tilde", "widehat", "overline"):
            inside = _canonical(self.group())
            return inside + {"dot": "@d", "ddot": "@dd", "overline": "bar"}.get(word, word)
        if word in ("ell",):
            return "l"
        return word if word in _GREEK else None

    def index(self) -> str:
        """The subscript that follows, without braces; 23 of S_23 is taken as people mean it."""
        while not self.done and self.text[self.place].isspace():
            self.place += 1
        if self.done or self.text[self.place] != "_":
            digits = (
                re.match(r"\d+(?![.\d])", self.text[self.place :])
                if not self.done and self.text[self.place - 1].isalpha()
                else None
            )
            if digits:
                self.place += digits.end()
                return digits[0]
            primes = re.match(r"'+", self.text[self.place :])
            if primes:
                self.place += primes.end()
            return "p" * len(primes[0]) if primes else ""
        self.place += 1
        bare = re.match(r"\s*(\d+)", self.text[self.place :])
        if bare:
            self.place += bare.end()
            return bare[1]
        return _canonical(self.group())


_GREEK = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "varepsilon",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "vartheta",
    "lambda",
    "mu",
    "nu",
    "pi",
    "rho",
    "sigma",
    "tau",
    "phi",
    "varphi",
    "psi",
    "omega",
    "Gamma",
    "Delta",
    "Sigma",
    "Omega",
    "Theta",
    "Phi",
]


def _canonical(text: str) -> str:
    r"""An index or a letter without marks: \ell_{1} -> l1, C_1 -> C1."""
    text = re.sub(r"\\(?:boldsymbol|mathbf|mathrm|text|rm|bf)(?![A-Za-z])", "", text).replace(r"\ell", "l")
    return re.sub(r"[\\{}_\s,]", "", text).replace("'", "p")


# Code -----------------------------------------------------------------------------------------------------------------

_CODE_TOKEN = re.compile(
    r"(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(\*\*|\.\*|\./|\.\^|.)", re.DOTALL
)
_CODE_COMMENT = re.compile(r"(?:#|%|//)[^\n]*")


def _read_code(text: str, vocabulary: Vocabulary) -> Iterator[Statement]:
    text = _CODE_COMMENT.sub("", text).replace("...\n", " ").replace("\\\n", " ")
    python = bool(re.search(r"Matrix\(|\*\*|^\s*(?:import|from)\s", text, re.MULTILINE))
    for part in _code_parts(text):
        match = re.match(
            r"\s*([A-Za-z_]\w*(?:\s*[\[(]\s*\d+\s*(?:,\s*\d+\s*)?[\])])?)\s*:?=(?!=)(.*)\Z", part, re.DOTALL
        )
        if match:
            yield Statement(_code_name(match[1], python), _Code(match[2], vocabulary).value(), match[2].strip())
        elif re.match(r"\s*(?:import|from|print|syms|restart|with|clear|function|end|return)\b", part):
            continue
        elif part.strip():
            yield Statement("", _Code(part, vocabulary).value(), part.strip())


def _code_parts(text: str) -> Iterator[str]:
    """Statements: lines, or parts between semicolons, outside of brackets."""
    depth, start = 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth > DEEPEST:
            raise ReadError(f"more than {DEEPEST} brackets inside of each other", where="equations")
        ends = letter in "\n;" or (letter == ":" and text[place + 1 : place + 2] in ("", "\n", " "))  # Maple's colon
        if depth <= 0 and ends:
            follows = text[place:].lstrip()
            if letter == "\n" and follows[:1] in ("+", "-", "*", "/"):
                continue
            yield text[start:place].strip(";:")
            start = place + 1
    yield text[start:].rstrip(":")


def _code_name(left: str, python: bool) -> str:
    """M(1,2), M[1,2] -> M_12; Python counts from 0."""
    match = re.fullmatch(r"(\w+)\s*([\[(])\s*(\d+)\s*(?:,\s*(\d+)\s*)?[\])]", left)
    if match is None:
        return left
    shift = 1 if match[2] == "[" and python else 0
    places = [str(int(k) + shift) for k in match.group(3, 4) if k is not None]
    return f"{match[1]}_{''.join(places)}"


class _Code(_Expression):
    def lexed(self, text: str) -> Iterator[Token]:
        for number, name, mark in _CODE_TOKEN.findall(text):
            if number:
                yield Token("num", _number(number))
            elif name in ("sin", "cos", "sqrt", "sign", "sgn"):
                yield Token("fn", "sign" if name == "sgn" else name)
            elif name:
                yield Token("name", name)
            elif mark in "([":
                yield Token("open", mark)
            elif mark in ")]":
                yield Token("close", mark)
            elif mark in ("**", "^", ".^"):
                yield Token("op", "^")
            elif mark in ("*", ".*"):
                yield Token("op", "*")
            elif mark in ("/", "./"):
                yield Token("op", "/")
            elif mark in "+-,;":
                yield Token("op", mark)
            elif mark == "\n" or mark.isspace() or mark == "'":
                continue
            else:
                raise self.error(f"{mark!r} was not expected")

    def atom(self) -> Any:
        token = self.peek()
        if token.kind == "name" and token.value in ("Matrix", "ImmutableMatrix", "matrix", "array", "transpose"):
            self.take()
            opening = self.take()
            if opening.kind != "open":
                raise self.error(f"{token.value} without brackets")
            found = self.sum()
            self.closed("(")
            return (
                tuple(zip(*found, strict=True)) if token.value == "transpose" and not isinstance(found, Node) else found
            )
        if token.kind == "name" and token.value in ("diff", "Derivative"):
            self.take()
            return self._rate()
        if token == ("open", "["):
            self.take()
            return self._rows()
        return super().atom()

    def symbol(self, name: str) -> Any:
        kinds = [token.kind for token in self.tokens[self.place : self.place + 3]]
        inside = self.tokens[self.place + 1].value if kinds[:1] == ["open"] and kinds[2:] == ["close"] else None
        if inside == "t":  # q1(t)
            self.place += 3
        elif kinds[1:2] == ["num"] and inside is not None and (self.peek().value == "[" or len(name) <= INDEXED):
            name += str(inside)  # q[1] or, in MATLAB, q(1)
            self.place += 3
        elif self.peek().kind == "open":
            raise self.error(f"the function {name} is not known; write {name}[1] for an index")
        return self.vocabulary.symbol(name)

    def _rate(self) -> Any:
        """diff(q1(t), t), diff(q1(t), t, t), Derivative(q1(t), (t, 2))."""
        self.take()
        inner = self.atom()
        times = 0
        while self.peek() == ("op", ","):
            self.take()
            bracket = self.peek().kind == "open"
            if bracket:
                self.take()
            if self.take() != ("name", "t"):
                raise self.error("a derivative by something else than t")
            times += 1
            if bracket:
                self.take()
                times += int(self.take().value) - 1
                self.closed("(")
        self.closed("(")
        if not isinstance(inner, Node) or inner.op != "symbol":
            raise self.error("the derivative of an expression")
        return self.vocabulary.rate(inner, times)

    def _rows(self) -> Any:
        """[[a, b], [c, d]], [a, b; c, d] or [a; b]."""
        rows: list[list[Any]] = [[]]
        while self.peek().kind != "close":
            token = self.peek()
            if token.kind == "end":
                raise self.error("the bracket '[' is not closed")
            if token == ("op", ";"):
                self.take()
                rows.append([])
            elif token == ("op", ","):
                self.take()
            else:
                rows[-1].append(self.sum())
        self.take()
        if len(rows) == 1 and rows[0] and not isinstance(rows[0][0], Node):
            rows = [list(row[0]) for row in rows[0]]
        elif len(rows) == 1:
            return (tuple(rows[0]),)
        if len({len(row) for row in rows}) != 1:
            raise self.error("a matrix whose rows have different lengths")
        return tuple(map(tuple, rows))
