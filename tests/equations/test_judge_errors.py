"""Errors planted in the text of equations, equivalent rewritings, and damaged texts.

The planter works on the text, token by token, and shares nothing with the hypotheses of `judge`.
By default a part of the sweep is run; ARMDYN_FULL runs all of it.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator
from functools import cache

import pytest
import sympy

import armdyn
from armdyn.errors import ArmdynError
from armdyn.graph.expression_writer import infix

FULL = bool(os.environ.get("ARMDYN_FULL"))
ROBOTS = ("planar2r", "three_link", "cartesian2", "scara5", "pendulum", "planar3r")
Tokens = list[str]
SIGNS = ("+", "-")


@cache
def printed(name: str) -> tuple[armdyn.Robot, dict[str, str]]:
    """A robot and the entries of its equations that do not vanish, as text."""
    robot = armdyn.load(name).without("friction")
    equations = armdyn.derive(robot)
    entries = {}
    for i in range(robot.n):
        entries[f"g_{i + 1}"] = infix(equations.nodes("g")[i])
        for j in range(robot.n):
            for letter in "MC":
                entries[f"{letter}_{i + 1}{j + 1}"] = infix(equations.nodes(letter)[i][j])
    return robot, {key: text for key, text in entries.items() if text != "0"}


# The planter ----------------------------------------------------------------------------------------------------------


def in_function(tokens: Tokens, place: int) -> bool:
    """Whether a place is inside of sin(...) or cos(...)."""
    depth = 0
    for k in range(place, 0, -1):
        depth += (tokens[k] == ")") - (tokens[k] == "(")
        if depth < 0 and tokens[k - 1] in ("sin", "cos"):
            return True
    return False


def stem(name: str) -> str:
    return re.sub(r"\d", "#", name)


def sign(tokens: Tokens, source: random.Random, names: list[str]) -> Tokens | None:
    places = [
        k for k, t in enumerate(tokens) if t in SIGNS and k and tokens[k - 1] != "(" and not in_function(tokens, k)
    ]
    return _changed(tokens, places, source, lambda t: "-" if t == "+" else "+")


def factor(tokens: Tokens, source: random.Random, names: list[str]) -> Tokens | None:
    return _changed(tokens, [k for k, t in enumerate(tokens) if t in names], source, lambda t: f"2*{t}")


def function(tokens: Tokens, source: random.Random, names: list[str]) -> Tokens | None:
    places = [k for k, t in enumerate(tokens) if t in ("sin", "cos")]
    return _changed(tokens, places, source, lambda t: "cos" if t == "sin" else "sin")


def index(tokens: Tokens, source: random.Random, names: list[str]) -> Tokens | None:
    others = {name: [x for x in names if x != name and stem(x) == stem(name)] for name in names}
    places = [k for k, t in enumerate(tokens) if others.get(t)]
    return _changed(tokens, places, source, lambda t: source.choice(others[t]))


def another(tokens: Tokens, source: random.Random, names: list[str]) -> Tokens | None:
    others = {name: [x for x in names if stem(x) != stem(name)] for name in names}
    places = [k for k, t in enumerate(tokens) if others.get(t)]
    return _changed(tokens, places, source, lambda t: source.choice(others[t]))


def exponent(tokens: Tokens, source: random.Random, names: list[str]) -> Tokens | None:
    places = [
        k for k in range(len(tokens) - 2) if tokens[k] in names and tokens[k : k + 3] == [tokens[k], "*", tokens[k]]
    ]
    if not places:
        return None
    k = source.choice(places)
    return tokens[:k] + tokens[k + 2 :]


def added(tokens: Tokens, source: random.Random, names: list[str]) -> Tokens | None:
    return [*tokens, " + ", source.choice(names), "*", source.choice(names), "*", source.choice(names)]


def dropped(tokens: Tokens, source: random.Random, names: list[str]) -> Tokens | None:
    terms: list[Tokens] = [[]]
    depth = 0
    for token in tokens:
        if depth == 0 and token in SIGNS and any(t.strip() for t in terms[-1]):
            terms.append([])
        terms[-1].append(token)
        depth += (token == "(") - (token == ")")
    if len(terms) < 2:
        return None
    terms.pop(source.randrange(1, len(terms)))
    return [token for term in terms for token in term]


def rate(tokens: Tokens, source: random.Random, names: list[str]) -> Tokens | None:
    """Another joint's velocity or acceleration."""
    found = sorted({t for t in tokens if re.fullmatch(r"qdd?\d", t)})
    others = {t: [x for x in found if x != t and stem(x) == stem(t)] for t in found}
    return _changed(
        tokens, [k for k, t in enumerate(tokens) if others.get(t)], source, lambda t: source.choice(others[t])
    )


def between_angles(tokens: Tokens) -> list[int]:
    """Places of + between two joint angles."""
    return [
        k
        for k, t in enumerate(tokens[:-2])
        if t == "+" and re.fullmatch(r"q\d", tokens[k - 2]) and re.fullmatch(r"q\d", tokens[k + 2])
    ]


def angle(tokens: Tokens, source: random.Random, names: list[str]) -> Tokens | None:
    """sin(q2 + q3) -> sin(q2)"""
    places = between_angles(tokens)
    if not places:
        return None
    k = source.choice(places)
    return tokens[: k - 1] + tokens[k + 3 :]


def angle_sign(tokens: Tokens, source: random.Random, names: list[str]) -> Tokens | None:
    """sin(q2 + q3) -> sin(q2 - q3)"""
    return _changed(tokens, between_angles(tokens), source, lambda t: "-")


def factor_dropped(tokens: Tokens, source: random.Random, names: list[str]) -> Tokens | None:
    places = [k for k, t in enumerate(tokens) if t in names and tokens[k + 1 : k + 2] == ["*"]]
    if not places:
        return None
    k = source.choice(places)
    return tokens[:k] + tokens[k + 2 :]


def _changed(tokens: Tokens, places: list[int], source: random.Random, change: Callable[[str], str]) -> Tokens | None:
    if not places:
        return None
    k = source.choice(places)
    return [*tokens[:k], change(tokens[k]), *tokens[k + 1 :]]


PLANTERS: dict[Callable[..., Tokens | None], tuple[str, ...]] = {
    sign: ("sign",),
    factor: ("factor",),
    function: ("sin/cos",),
    index: ("index",),
    another: ("symbol",),
    exponent: ("exponent", "missing factor", "index", "symbol"),  # l1*l1 -> l1: several ways back are equally short
    added: ("superfluous term",),
    dropped: ("missing term", "model"),
    rate: ("index",),
    angle: ("angle",),
    angle_sign: ("angle",),
    factor_dropped: ("missing factor", "exponent", "factor"),
}
"""Kind of an error -> the causes that name it."""


def planted(count: int, seed: int, errors: int = 1) -> Iterator[tuple[armdyn.Robot, str, str, tuple[str, ...]]]:
    """(robot, text of all its entries, the entry with the error, causes that name it)."""
    source, made = random.Random(seed), 0
    planters = list(PLANTERS)
    while made < count:
        robot, entries = printed(source.choice(ROBOTS))
        entry = source.choice(list(entries))
        chosen = [planters[made % len(planters)], *source.sample(planters[:5], errors - 1)]
        tokens: Tokens | None = re.findall(r"[A-Za-z_]\w*|\d+|.", entries[entry])
        for planter in chosen:
            tokens = tokens and planter(tokens, source, list(robot.symbolic.parameters))
        if tokens is None:
            continue
        made += 1
        text = "\n".join(f"{key} = {''.join(tokens) if key == entry else right}" for key, right in entries.items())
        yield robot, text, entry.replace("_", ""), PLANTERS[chosen[0]]


def test_single_errors_are_found_and_named() -> None:
    count = 400 if FULL else 60
    named = 0
    for robot, text, entry, causes in planted(count, 3):
        judgement = armdyn.judge(robot, text)
        assert [each.name for each in judgement.wrong] == [entry], text
        named += any(kind in causes for kind in judgement.wrong[0].kind.split(" and "))
    assert named >= 0.93 * count, named


def test_two_errors_in_one_entry() -> None:
    """The entry is always found; a pair of changes, or one that does the same, is found in most cases."""
    count, explained = 120 if FULL else 24, 0
    for robot, text, entry, _ in planted(count, 11, errors=2):
        judgement = armdyn.judge(robot, text)
        if judgement.same:  # the second error undid the first
            count -= 1
            continue
        assert [each.name for each in judgement.wrong] == [entry]
        explained += not judgement.wrong[0].causes[0].startswith("missing") or "and" in judgement.wrong[0].kind
    assert explained >= 0.8 * count, (explained, count)


# Rewritings -----------------------------------------------------------------------------------------------------------


def half_angles(x: sympy.Expr) -> sympy.Expr:
    """sin a = 2 sin(a/2) cos(a/2)"""
    return x.replace(sympy.sin, lambda a: 2 * sympy.sin(a / 2, evaluate=False) * sympy.cos(a / 2, evaluate=False))


REWRITINGS: tuple[Callable[[sympy.Expr], sympy.Expr], ...] = (
    sympy.expand,
    sympy.factor,
    sympy.expand_trig,
    lambda x: sympy.expand(sympy.expand_trig(x)),
    half_angles,
)


def written(entries: dict[str, sympy.Expr], style: str) -> str:
    if style == "latex":
        rows = (f"{key[0]}_{{{key[2:]}}} &= {sympy.latex(x)}" for key, x in entries.items())
        return r"\begin{align}" + " \\\\\n".join(rows) + r"\end{align}"
    if style == "matlab":
        return "".join(f"{k[0]}({','.join(k[2:])}) = {str(x).replace('**', '^')};\n" for k, x in entries.items())
    return "\n".join(f"{key} = {x}" for key, x in entries.items())


def test_equivalent_equations_are_the_same() -> None:
    """SymPy rewrites the equations and prints them as LaTeX, Python and MATLAB; no alarm is allowed."""
    source = random.Random(2)
    for k in range(200 if FULL else 40):
        robot, entries = printed(ROBOTS[k % len(ROBOTS)])
        keys = source.sample(list(entries), min(3, len(entries)))
        names = {name: sympy.Symbol(name) for name in re.findall(r"[A-Za-z_]\w*", " ".join(entries.values()))}
        names |= {"sin": sympy.sin, "cos": sympy.cos}
        rewrite = REWRITINGS[k % len(REWRITINGS)]
        exprs = {key: rewrite(sympy.sympify(entries[key], locals=names)) for key in keys}
        text = written(exprs, ("latex", "python", "matlab")[k % 3])
        assert armdyn.judge(robot, text).same, text


NAMES: dict[str, Callable[[str, str, str], str]] = {
    "I1x": lambda stem, index, axis: f"{stem[0]}{index}{stem[1:]}{axis[:1]}",
    "m1b": lambda stem, index, axis: f"{stem}{index}{axis or 'b'}",
    "I_1_x": lambda stem, index, axis: f"{stem}_{index}_{axis[:1] or 'b'}",
    "Ixx1": lambda stem, index, axis: f"{stem}{axis}{index}",
}
"""Names with letters behind their index, around it, and before it."""


@pytest.mark.parametrize("style", NAMES)
def test_names_of_letters_and_digits_in_latex(style: str) -> None:
    """SymPy prints I1x as it is, I_1_x as I_{1 x} and Ixx1 as Ixx_{1}; each is one name, and none gets lost."""
    robot, entries = printed("three_link")
    keys = [key for key in entries if key[0] in "Mg"]
    renamed = {
        each: re.sub(r"([A-Za-z]+)(\d)([A-Za-z]*)", lambda parts: NAMES[style](*parts.groups()), each)
        for each in robot.symbolic.parameters
    }
    words = re.findall(r"[A-Za-z]\w*", " ".join(entries.values()))
    symbols = {word: sympy.Symbol(renamed.get(word, word)) for word in words} | {"sin": sympy.sin, "cos": sympy.cos}
    exprs = {key: sympy.sympify(entries[key], locals=symbols) for key in keys}
    assert armdyn.judge(robot, written(exprs, "latex")).same
    # Each name counts: a factor 2 on it, in one entry, is seen.
    angles = {sympy.Symbol(f"q{i + 1}") for i in range(robot.n)}
    entry = keys[-1]
    for symbol in sorted(exprs[entry].free_symbols - angles, key=str):
        doubled = exprs | {entry: exprs[entry].subs(symbol, 2 * symbol)}
        wrong = [each.name for each in armdyn.judge(robot, written(doubled, "latex")).wrong]
        assert wrong == [entry.replace("_", "")], symbol


# Damaged texts --------------------------------------------------------------------------------------------------------

ALPHABET = "()[]{}^_+-*/=\\&,;.0123456789 qcsmlaIgabc'\"$%\n"


def test_damaged_texts_get_clear_errors() -> None:
    """Mutants of LaTeX and code: a judgement or an error of armdyn, nothing else."""
    source = random.Random(7)
    robot, entries = printed("pendulum")
    latex = r"M_{11} = I + \frac{1}{1} I_{m} k_{r}^{2} \\ g_1 = m g l \sin(q_1)"
    code = "\n".join(f"{key} = {text}" for key, text in entries.items())
    for k in range(20_000 if FULL else 150):
        text = list(latex if k % 2 else code)
        for _ in range(source.randint(1, 4)):
            place = source.randrange(len(text))
            kind = source.randrange(3)
            text[place : place + (kind > 0)] = (
                [] if kind == 1 else [source.choice(ALPHABET) * source.choice((1, 1, 1, 40))]
            )
        try:
            armdyn.judge(robot, "".join(text) + "\n")
        except ArmdynError as error:
            assert len(str(error)) > 10


@pytest.mark.parametrize("slips", [60])
def test_index_slips_are_not_renamed_away(slips: int) -> None:
    """A wrong index in one entry alone stays wrong: symbols are renamed by stem."""
    source, made = random.Random(5), 0
    while made < slips:
        robot, entries = printed(source.choice(ROBOTS))
        entry = source.choice(list(entries))
        tokens = index(re.findall(r"[A-Za-z_]\w*|\d+|.", entries[entry]), source, list(robot.symbolic.parameters))
        if tokens is None:
            continue
        made += 1
        assert not armdyn.judge(robot, f"{entry} = {''.join(tokens)}\n").same
