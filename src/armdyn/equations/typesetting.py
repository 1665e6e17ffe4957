"""Equations on paper: plain text, LaTeX, Markdown, JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from armdyn.equations.entries import TORQUES, entries
from armdyn.equations.projection import symbols_of
from armdyn.formula_lines import wrapped
from armdyn.graph import Node, constant, normal_form, text
from armdyn.graph.expression_writer import infix
from armdyn.graph.latex_lines import lines, paper_latex
from armdyn.graph.mathml import mathml
from armdyn.mechanics.registry import formulation
from armdyn.notebook_view import Formula, View
from armdyn.robot.features import model_line
from armdyn.tables import WIDTH, Column, Section

if TYPE_CHECKING:
    from armdyn.equations.derivation import Equations

Render = Callable[[Any], Any]
"""Text of an expression; for plain text also of several, which then share what is written."""
MOTION = "tau = M(q) qdd + C(q, qd) qd + g(q)"
FREE_MOTION = "free motion: a wrench h that the robot exerts at the tool adds J(q)^T h"
QUANTITIES = {name: title for name, title in TORQUES.items() if name != "tau"}
ADDED = {"k": "k(q)", "friction": "friction(qd)", "external": "J(q)^T h"}
"""Terms that only some robots have, as they stand in the equation of motion."""
TERMS = {
    "inertia": "Inertia",
    "centrifugal": "Centrifugal",
    "coriolis": "Coriolis",
    "gravity": "Gravity",
    "springs": "Springs and counterbalances",
    "friction": "Friction",
    "external": "External wrench at the tool",
}
SHORT = "Abbreviations: c2 = cos(q2), s23 = sin(q2 + q3), and so on."
UNWRITTEN = "M is symmetric; entries not shown are zero."
ROUNDING = 1e-12
"""Shift of an angle, rad, that moves no torque by more than the rounding of a program."""
SCREEN = 560.0
"""Width of a formula on a Markdown page, pt."""


class Block(NamedTuple):
    """Entries that stand together below a title: M11, M12, ... or the torques of one cause."""

    title: str
    symbol: str
    entries: tuple[tuple[str, Node], ...]
    """Indices and expression of what is not zero."""
    sign: str = "="
    """Between symbol and expression: "=", or ":" for what is only a part of the symbol."""

    @property
    def heading(self) -> str:
        """The title where it stands alone: `Torques, inertia`."""
        return self.title if self.sign == "=" else f"Torques, {self.title[0].lower()}{self.title[1:]}"


# What there is to write -----------------------------------------------------------------------------------------


def motion(equations: Equations) -> str:
    """What the terms add up to."""
    return " + ".join([MOTION, *(term for name, term in ADDED.items() if name in equations.quantities)])


def statement(equations: Equations) -> list[str]:
    """Lines that say what the equations include and what they leave out."""
    contact = [] if equations.wrench else [FREE_MOTION]
    moved = equations.angle_shift
    angles = (
        [f"angles are multiples of pi where their digits say so, by up to {moved:.1g} rad"] if moved > ROUNDING else []
    )
    reduced = [equations.reduced] if equations.reduced else []
    return [motion(equations), model_line(equations.robot), *contact, *angles, *reduced]


def coordinates(equations: Equations) -> str:
    """The coordinates of a robot with elastic joints, in the order of the rows."""
    names = ", ".join(str(node.value) for node in symbols_of(equations.robot, "q"))
    return f"{names}: joints, then motors of elastic joints seen at their joints"


def matrices(equations: Equations, names: Sequence[str] | None = None) -> list[Block]:
    """The terms of tau; of a symmetric M the entries above the diagonal only."""
    n, whole = range(equations.size_of_x), ("C",) if equations.symmetric else ("C", "M")
    found = []
    for name in equations.quantities if names is None else names:
        nodes = equations.nodes(name)
        if name not in ("M", "C"):
            pairs = [(index(equations, i), nodes[i]) for i in n]
        else:
            pairs = [(index(equations, i, j), nodes[i][j]) for i in n for j in n if name in whole or j >= i]
        found.append(Block(QUANTITIES[name], name, _nonzero(pairs)))
    return found


def one_entry(equations: Equations, name: str) -> Block:
    """A single entry, such as M12, or an intermediate result, such as c112 or T2: see `armdyn.equations.entries`."""
    found = entries(equations, name)
    return Block(found.title, found.letter, found.expressions)


def causes(equations: Equations) -> list[Block]:
    """The torques term by term: inertia, centrifugal, Coriolis, gravity, springs, friction, external."""
    return [_torques(equations, TERMS[name], torques) for name, torques in equations.terms().items()]


def bodies(equations: Equations) -> list[Block]:
    """The torques body by body: what each asks of each joint."""
    return [_torques(equations, f"Body {name}", torques) for name, torques in equations.bodies().items()]


def crossed(equations: Equations) -> list[Block]:
    """The torques body by body and term by term, mass and inertia apart. El Baji sec. 3.4"""
    return [
        _torques(equations, f"Body {body}, {cause}", torques)
        for body, causes in equations.contributions(apart=True).items()
        for cause, torques in causes.items()
    ]


def _torques(equations: Equations, title: str, torques: Sequence[Node]) -> Block:
    return Block(title, "tau", _nonzero([(index(equations, i), x) for i, x in enumerate(torques)]), ":")


def _nonzero(pairs: Sequence[tuple[str, Node]]) -> tuple[tuple[str, Node], ...]:
    return tuple((indices, x) for indices, x in pairs if x is not constant(0))


def index(equations: Equations, *places: int) -> str:
    """Indices from 1, as they are printed: 23, or 2,13 where one figure is not enough."""
    return ("," if equations.size_of_x > 9 else "").join(str(place + 1) for place in places)


# Plain text -----------------------------------------------------------------------------------------------------


def plain_lines(block: Block, text: Render, width: int = WIDTH) -> list[str]:
    """The entries of a block, each wrapped to the width."""
    gap = "" if block.sign == ":" else " "
    heads = [f"{block.symbol}{indices}{gap}{block.sign} " for indices, _ in block.entries]
    words = text(tuple(x for _, x in block.entries))
    return [wrapped(head + word, width) for head, word in zip(heads, words, strict=True)]


# LaTeX and Markdown ---------------------------------------------------------------------------------------------


def markdown(equations: Equations, blocks: Sequence[Block] | None = None) -> str:
    """A page: the entries, then the torques term by term."""
    shown = [*matrices(equations), *causes(equations)] if blocks is None else blocks
    parts = [f"# Equations of motion of {equations.robot.name}", f"Formulation: {equations.by}. {SHORT}"]
    _, *facts = statement(equations)
    parts += [" ".join(f"{fact[0].upper()}{fact[1:]}." for fact in facts)]
    parts += [f"$${motion_latex(equations)}$$"]
    for level, title, group in _grouped(shown):
        parts += [f"## {title}"] if title else []
        for block in group:
            formulas = [displayed(left_side(block, indices), block.sign, x) for indices, x in block.entries]
            parts += [f"{level} {block.title}", *(f"$$ {formula} $$" for formula in formulas or ())]
            parts += [] if formulas else ["All zero."]
    return "\n\n".join(parts) + "\n"


def _grouped(blocks: Sequence[Block]) -> list[tuple[str, str, list[Block]]]:
    """(level of the titles, title above them, blocks): parts of the torques stand together."""
    whole = [block for block in blocks if block.sign == "="]
    by_body = [block for block in blocks if block.sign != "=" and block.title not in TERMS.values()]
    by_cause = [block for block in blocks if block.title in TERMS.values()]
    groups = [("##", "", whole), ("###", "Torques by cause", by_cause), ("###", "Torques by body", by_body)]
    return [group for group in groups if group[2]]


def motion_latex(equations: Equations) -> str:
    """What the terms add up to, in LaTeX."""
    added = {"k": "k(q)", "friction": rf"{TORQUE['friction']}(\dot q)", "external": r"J(q)^\top h"}
    terms = (f" + {term}" for name, term in added.items() if name in equations.quantities)
    return rf"\tau = M(q)\,\ddot q + C(q, \dot q)\,\dot q + g(q){''.join(terms)}"


TORQUE = {"tau": r"\tau", "friction": r"\tau_{\mathrm{f}}", "external": r"\tau_{\mathrm{h}}"}
"""Symbols of torques in LaTeX."""
LETTERS = {
    "Gamma": r"\Gamma",
    "omega": r"\omega",
    "kinetic": r"\mathcal{T}",
    "potential": r"\mathcal{U}",
}
"""Symbols of intermediate results in LaTeX."""


def left_side(block: Block, indices: str) -> str:
    """The symbol of an entry in LaTeX."""
    if block.symbol in ("friction", "external"):
        return f"{TORQUE[block.symbol][:-1]},{indices}}}"
    letter, number = _letter(block.symbol)
    letter = LETTERS.get(letter, TORQUE.get(letter, letter))
    places = ",".join(filter(None, (number, indices)))
    return f"{letter}_{{{places}}}" if places else letter


def _letter(symbol: str) -> tuple[str, str]:
    """T2_ -> (T, 2): the letter of a body's quantity, and the number of the body."""
    split = re.fullmatch(r"(\w+?)(\d+)_", symbol)
    return (split[1], split[2]) if split else (symbol, "")


def displayed(left: str, sign: str, node: Node, room: float = SCREEN) -> str:
    r"""LaTeX of one equation for a page or a notebook; a long one in lines."""
    first, *further = lines(paper_latex(node), room)
    if not further:
        return f"{left} {sign} {first}"
    rows = " \\\\\n".join([f"{left} &{sign} {first}", *(f"&{line}" for line in further)])
    return rf"\begin{{aligned}} {rows} \end{{aligned}}"


# Notebook -------------------------------------------------------------------------------------------------------

MOST_TERMS = 1000
"""Quantities with more terms, multiplied out, are too long to show; the terms of their entries are counted instead."""


def terms_of(equations: Equations, name: str) -> int:
    """Number of terms of a quantity, multiplied out."""
    return equations.size.get("christoffel" if name == "C" else name, 0)


def large(equations: Equations) -> tuple[str, ...]:
    """The quantities that are too long to show."""
    return tuple(name for name in equations.quantities if terms_of(equations, name) > MOST_TERMS)


def view(equations: Equations, blocks: Sequence[Block] | None = None, without: Sequence[str] | None = None) -> View:
    """The equations on a terminal and in a notebook.

    blocks: what is shown (default: the quantities that are short enough).
    without: quantities whose terms are only counted (default: the long ones).
    """
    counted = large(equations) if without is None else without
    if blocks is None:
        blocks = matrices(equations, [name for name in equations.quantities if name not in counted])
    entry, size, count = formulation(equations.formulation), equations.size, equations.operations
    offline = count.offline.total if count.offline else 0
    operations = (
        f"{count.multiplications} multiplications, {count.additions} additions, {count.trigonometric} sines and "
        f"cosines, {offline} operations off-line"
    )
    facts = [
        ("equation", motion(equations)),
        ("model", "; ".join(statement(equations)[1:]).removeprefix("model: ")),
        *([("coordinates", coordinates(equations))] if equations.size_of_x > equations.robot.n else []),
        ("formulation", f"{entry.title} ({entry.name}), {entry.source}"),
        ("multiplied out", f"{size['M']} terms in M, {size['christoffel']} in C, {size['g']} in g"),
        ("program for tau", operations),
    ]
    notes = [SHORT, *([UNWRITTEN] if equations.symmetric else [])]
    if counted:
        total = sum(terms_of(equations, name) for name in counted)
        advice = "--format text prints them, save(path) or --out FILE writes them, entry(name) gives single ones"
        program = f"a program for tau has {count.total} operations"
        notes = [f"{total} terms are too long to show: {advice}; {program}.", *notes]
    title = f"Equations of motion of {equations.robot.name}"
    formulas = [(block.heading, list(_formulas(block))) for block in blocks]
    return View(title, None, facts, formulas, [_counts(equations, name) for name in counted], notes=notes)


def _formulas(block: Block) -> Iterator[Formula]:
    """The entries of a block, or one that says that there is none."""
    heads = [f"{block.symbol}{indices}{'' if block.sign == ':' else ' '}{block.sign} " for indices, _ in block.entries]
    words = text(tuple(x for _, x in block.entries))
    for (indices, x), head, word in zip(block.entries, heads, words, strict=True):
        made = formula(left_side(block, indices), block, indices, x)
        yield made._replace(plain=head + word)
    if not block.entries:
        yield Formula("0", "<mn>0</mn>", "all zero")


def _counts(equations: Equations, name: str) -> Section:
    """The number of terms in each entry."""
    entries = normal_form(equations.raw[name]).entries
    rows = entries if name in ("M", "C") else [[entry] for entry in entries]
    heads = (Column(""), *(Column(str(j + 1)) for j in range(len(rows[0]))))
    counts = tuple((f"{name}{i + 1}", *(str(len(x)) for x in row)) for i, row in enumerate(rows))
    return Section(f"{QUANTITIES[name]}: terms of each entry", heads, counts)


def formula(left: str, block: Block, indices: str, node: Node) -> Formula:
    """One entry for a page: LaTeX and MathML."""
    return Formula(displayed(left, "=", node), mathml_head(block, indices) + mathml(node))


def mathml_head(block: Block, indices: str) -> str:
    """What stands before the expression of an entry, in MathML."""
    letter, number = _letter(block.symbol)
    name = "&#x3C4;" if letter in TORQUE else {"Gamma": "&#x393;", "omega": "&#x3C9;"}.get(letter, letter)
    part = f"<mtext>{block.symbol[0]},</mtext>" if letter in ("friction", "external") else ""
    places = ",".join(filter(None, (number, indices)))
    return f"<msub><mi>{name}</mi><mrow>{part}<mn>{places}</mn></mrow></msub><mo>=</mo>"


# JSON -----------------------------------------------------------------------------------------------------------


def record(
    equations: Equations, terms: bool = False, by_body: bool = False, named: Sequence[str] = ()
) -> dict[str, Any]:
    """The terms of tau as nested lists of texts that Python and SymPy can read, and the facts about them.

    named: names of single entries, which are given instead of the matrices.
    """
    quantities: dict[str, Any]
    if named:
        quantities = {name: _named(one_entry(equations, name)) for name in named}
    else:
        quantities = {name: _texts(equations.nodes(name)) for name in equations.quantities}
    facts = {
        "robot": equations.robot.name,
        "formulation": equations.formulation,
        "equation": motion(equations),
        "model": statement(equations)[1:],
        "joints": [joint.name for joint in equations.robot.joints],
        "coordinates": [str(node.value) for node in symbols_of(equations.robot, "q")],
        "seconds": round(equations.seconds, 4),
        "terms": dict(equations.size),
    }
    if terms:
        quantities["causes"] = _texts(equations.terms())
    if by_body:
        quantities["bodies"] = _texts(equations.bodies())
    if terms and by_body:
        quantities["contributions"] = _texts(equations.contributions(apart=True))
    return facts | quantities


def _named(block: Block) -> Any:
    """The text of a single entry; of a matrix or vector the texts by their indices."""
    if block.symbol.endswith("_"):
        return {indices: infix(x) for indices, x in block.entries}
    return infix(block.entries[0][1])


def _texts(nodes: Any) -> Any:
    if isinstance(nodes, dict):
        return {name: _texts(part) for name, part in nodes.items()}
    return [_texts(part) for part in nodes] if isinstance(nodes, list | tuple) else infix(nodes)
