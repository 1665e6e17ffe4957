"""armdyn.judge: are these the equations of motion of this robot, and if not, what is wrong with them?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from armdyn.equations.derivation import Equations, derive
from armdyn.equations.judging import naming
from armdyn.equations.judging.causes import explained, missing_term
from armdyn.equations.judging.edits import MARK, Edit, marked, short_form, smallest_edits
from armdyn.equations.judging.given_steps import given_steps
from armdyn.equations.judging.lumped import lumped
from armdyn.equations.judging.reader import MOST_LETTERS, ReadError, Statement, bounded, is_latex, read
from armdyn.equations.judging.vocabulary import RUN, Vocabulary
from armdyn.equations.sheets.markup import mathml
from armdyn.equations.sheets.steps import page, plain_name
from armdyn.errors import ArmdynError, NotApplicable
from armdyn.files import reading, regular_size, write_text
from armdyn.graph import Node, closed_form, constant, evaluate, identical, latex, substitute, symbol, text
from armdyn.graph.structure import ordered
from armdyn.notebook_view import Formula, View
from armdyn.result import Result
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section

MASS, CORIOLIS, GRAVITY, TORQUE, VELOCITY = "M", "C", "g", "tau", "Cqd"
LETTERS = {
    **{(2, letter): MASS for letter in "MBDAHbmda"},
    **{(2, letter): CORIOLIS for letter in "Cc"},
    **{(1, letter): GRAVITY for letter in "gGQ"},
    **{(1, letter): TORQUE for letter in ("tau", "T", "Gamma")},
    **{(1, letter): VELOCITY for letter in "Vh"},
}
"""(number of indices, letter) -> quantity, as the texts write them."""
MOST_REFERENCES = 5
"""Definitions may use later ones so many times in a row; earlier ones any number of times."""

PAGE_STYLE = """
table { border-collapse: collapse; }
td, th { border-top: 1px solid #ddd; padding: .5em .7em; text-align: left; vertical-align: top; }
.differs { background: #fdeeee; }
.wrong { color: #c62828; background: #ffd5d5; }
.bad { color: #c62828; } .good { color: #1a7f37; } td math { font-size: .95em; }
body { max-width: 90em; }
"""


@dataclass(frozen=True)
class Entry:
    """One entry of somebody's equations beside ours.

    same: exactly equal. causes: what is likely wrong, most likely first. correction: what to write instead.
    """

    name: str
    same: bool
    given: Node
    ours: Node
    causes: tuple[str, ...] = ()
    kind: str = ""
    correction: str = ""
    place: tuple[int, ...] | None = None
    """The way to what the correction changes in `given`."""

    @property
    def given_marked(self) -> str:
        r"""What was given in LaTeX, with \wrong{...} around what the correction changes."""
        if self.place is None:
            return str(latex(self.given))
        whole, part = marked(self.given, self.place)
        inside = str(latex(part))
        inside = rf"\left({inside}\right)" if part.op in ("add", "sub", "neg") and self.place else inside
        return str(latex(whole)).replace(str(latex(MARK)), rf"\wrong{{{inside}}}")

    @property
    def difference(self) -> str:
        """given - ours in closed form."""
        return "0" if self.same else short_form(self.given - self.ours)


@dataclass(frozen=True)
class Judgement(Result):
    """The verdict: entries that were compared, how symbols were understood, and notes on conventions."""

    robot: str
    entries: tuple[Entry, ...]
    symbols: Mapping[str, str]
    notes: tuple[str, ...] = ()
    cause: str = ""
    """One thing that explains every wrong entry."""

    @property
    def same(self) -> bool:
        """Whether all entries are those of the robot."""
        return all(entry.same for entry in self.entries)

    @property
    def wrong(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if not entry.same)

    def _view(self) -> View:
        count = len(self.entries)
        renamed = ", with symbols renamed as listed" if self.symbols else ""
        if self.same:
            verdict = (f"the same in all {count} entries{renamed}", True)
        else:
            verdict = (
                f"{len(self.wrong)} of {count} entries differ: {', '.join(entry.name for entry in self.wrong)}",
                False,
            )
        facts = [("compared", ", ".join(entry.name for entry in self.entries))]
        facts += [("symbols", ", ".join(f"{a} is {b}" for a, b in self.symbols.items()))] if self.symbols else []
        facts += [("cause", self.cause)] if self.cause else []
        columns = (Column("entry"), Column("likely cause"), Column("correction"), Column("yours - ours"))
        rows = tuple((e.name, e.causes[0] if e.causes else "", e.correction, e.difference) for e in self.wrong)
        sections = [Section("What differs", columns, rows)] if rows else []
        others = tuple((e.name, cause) for e in self.wrong for cause in e.causes[1:3])
        sections += [Section("Other explanations", (Column("entry"), Column("cause")), others)] if others else []
        formulas = [
            (
                f"{e.name}: yours, then ours",
                [Formula(latex(x), mathml(str(latex(x))), f"{e.name} = {text(x)}") for x in (e.given, e.ours)],
            )
            for e in self.wrong
        ]
        return View(f"Equations judged for {self.robot}", verdict, facts, formulas, sections, notes=self.notes)

    def report(self, path: str | Path) -> Path:
        """Write a page with their equations beside ours, the wrong ones marked."""
        rows = "".join(
            f'<tr class="{"same" if e.same else "differs"}"><td><math>{mathml(_latex_name(e.name))}</math></td>'
            f"<td><math>{mathml(e.given_marked)}</math></td><td><math>{mathml(str(latex(e.ours)))}</math></td>"
            f"<td>{escape('; '.join(e.causes[:2]))}"
            f"{f'<br><b>{escape(e.correction)}</b>' if e.correction else ''}</td></tr>"
            for e in self.entries
        )
        view = self._view()
        assert view.verdict is not None
        facts = "".join(f"<p>{escape(label)}: {escape(fact)}</p>" for label, fact in view.facts[1:])
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        head = "<tr><th></th><th>yours</th><th>ours</th><th>likely cause and correction</th></tr>"
        mark = "good" if self.same else "bad"
        body = f'<h1>{escape(view.title)}</h1><p class="{mark}">{escape(view.verdict[0])}</p>{facts}{notes}'
        body += f"<table>{head}{rows}</table>"
        return write_text(path, page(view.title, body, PAGE_STYLE))

    def record(self) -> dict[str, Any]:
        return {
            "robot": self.robot,
            "same": self.same,
            "symbols": dict(self.symbols),
            "cause": self.cause,
            "notes": list(self.notes),
            "entries": [
                {
                    "name": e.name,
                    "same": e.same,
                    "given": text(e.given),
                    "ours": text(e.ours),
                    "difference": e.difference,
                    "causes": list(e.causes),
                    "kind": e.kind,
                    "correction": e.correction,
                }
                for e in self.entries
            ],
        }


@takes(*CLOSED, *TREE)
def judge(robot: Robot, equations: str | Path, symbols: Mapping[str, str] | None = None) -> Judgement:
    """Compare somebody's equations of motion with those of a robot, exactly.

    equations: M, C, g, tau or entries of them, in LaTeX, SymPy, MATLAB, Maple or plain text; a text or a file. Lines of
    a derivation by the names of `steps` are compared too, and the first wrong one is named.
    symbols: what they call things -> what the robot calls them, such as {"m_1": "ml1"} (default: found by stem).

    >>> import armdyn
    >>> armdyn.judge(armdyn.load("cartesian2"), r"g_1 = (m_{l1} + m_{l2}) g").wrong[0].causes[0]
    'missing: g*mm2, the mass of the rotor of joint 2'
    """
    text = _source(equations)
    run_together = is_latex(text) and re.search(rf"(?<![\\A-Za-z]){RUN}", text)
    judgement, refusal = None, None
    for joined in (False, True) if run_together else (False,):
        try:
            again = _read_and_judged(robot, text, _vocabulary(robot, symbols, joined))
        except ArmdynError as error:
            refusal = refusal or error
            continue
        if judgement is None or len(again.wrong) < len(judgement.wrong):
            judgement = again
        if judgement.same:
            break
    if judgement is None:
        assert refusal is not None
        raise refusal
    return judgement


def _read_and_judged(robot: Robot, text: str, vocabulary: Vocabulary) -> Judgement:
    statements = read(text, vocabulary)
    ours = derive(robot)
    given = _entries(statements, ours, vocabulary)
    right = {name: _collected(_ours(ours, name)) for name in given}
    steps = given_steps([each for each in statements if not any(_places(each, robot.n))], robot)
    given |= {name: theirs for name, (theirs, _) in steps.items()}
    right |= {name: own for name, (_, own) in steps.items()}
    if not given:
        seen = ", ".join(dict.fromkeys(statement.name or statement.text[:20] for statement in statements)) or "nothing"
        raise ReadError(
            f"no entry of M, C, g or tau among {seen}",
            where="equations",
            expected="equations such as M_{11} = ..., C = [...], g_2 = ..., tau_1 = ...",
        )
    parameters = list(ours.tree.parameters)
    unknown = naming.unknown_symbols(given.values(), parameters)
    lumps = lumped([(given[name], right[name]) for name in given], unknown, parameters) if unknown else {}
    lumps = {name: value for name, value in lumps.items() if value.args}  # a single parameter is another name
    given = {name: substitute(value, lumps) for name, value in given.items()}
    names = naming.renaming([(given[name], right[name]) for name in given], parameters)
    given = {name: naming.applied(value, names) for name, value in given.items()}
    _must_be_known(given, parameters, names)
    shown = names | {name: short_form(value) for name, value in lumps.items()}
    return _judged(ours, given, right, shown, list(steps))


def _vocabulary(robot: Robot, symbols: Mapping[str, str] | None, joined: bool = False) -> Vocabulary:
    sliding = [place + 1 for place, joint in enumerate(robot.joints) if joint.kind == "prismatic"]
    return Vocabulary(robot.symbolic.parameters, robot.n, sliding, symbols, joined)


def _source(equations: str | Path) -> str:
    """The text itself, or what is in the file of that name."""
    if isinstance(equations, Path) or ("\n" not in equations and "=" not in equations and len(equations) < 300):
        path = Path(equations)
        if path.is_file() or isinstance(equations, Path) or path.suffix:
            with reading(path, "a text of equations"):
                regular_size(path, MOST_LETTERS)
                return path.read_text(encoding="utf-8")
    return str(equations)


# What was given -------------------------------------------------------------------------------------------------------


def _entries(statements: Sequence[Statement], ours: Equations, vocabulary: Vocabulary) -> dict[str, Node]:
    """Name of an entry -> expression, with definitions such as h = ... put in."""
    found: dict[str, Node] = {}
    definitions: dict[Node, Node] = {}
    for statement in statements:
        places = list(_places(statement, ours.robot.n))
        for name, value in places:
            lone = value.op == "symbol" and not value.online and value.value not in vocabulary.names.values()
            if lone and name in found and value not in definitions:
                definitions[value] = found[name]  # c_112 = -m a l s = h
            else:
                found[name] = value
        if not places and statement.name and isinstance(statement.value, Node):
            key = vocabulary.symbol(_letters(statement.name))
            if key.op == "symbol":
                definitions[key] = _defined(statement.value, definitions)
    for _ in range(MOST_REFERENCES):
        before = found
        found = {name: _defined(value, definitions) for name, value in found.items()}
        if found == before:
            break
    return found


def _defined(value: Node, definitions: Mapping[Node, Node]) -> Node:
    """With definitions put in; they are many times used, so that the size must be checked again."""
    made: Node = substitute(value, definitions) if definitions else value
    if made is not value:
        bounded(made)
    return made


def _latex_name(name: str) -> str:
    """M_{12} of M12; names of lines stay as they are."""
    return re.sub(r"^([A-Za-z]+)(\d+)$", r"\1_{\2}", name).replace("tau", r"\tau")


def _letters(name: str) -> str:
    return re.sub(r"[{}\\\s]", "", name).replace("ell", "l")


def _places(statement: Statement, n: int) -> Iterator[tuple[str, Node]]:
    """The entries that a statement gives: M_12, or all of a matrix."""
    name = plain_name(re.sub(r"\((?:[^()]*)\)\s*$", "", statement.name))
    match = re.fullmatch(r"([A-Za-z]+?)_?(\d+)?(?:,(\d+))?", name)
    value = statement.value
    if not name and isinstance(value, Node):
        yield from _residual(value, n)
    if match is None:
        return
    letter, indices = match[1], [match[2], match[3]] if match[3] else list(match[2] or "")
    if match[2] and isinstance(value, Node):
        kind = LETTERS.get((len(indices), letter))
        if kind and all(1 <= int(k) <= n for k in indices):
            yield f"{kind}{''.join(indices)}", value
    elif not match[2] and not isinstance(value, Node):
        rows = value if len(value) > 1 or n == 1 else tuple(zip(*value, strict=True))
        columns = len(rows[0])
        kind = LETTERS.get((2 if (columns == n and n > 1) or letter in ("M", "B", "C", "D", "A", "H") else 1, letter))
        if kind is None or len(rows) != n:
            return
        for i, row in enumerate(rows):
            for j, x in enumerate(row):
                yield (f"{kind}{i + 1}{j + 1}" if kind in (MASS, CORIOLIS) else f"{kind}{i + 1}"), x


def _residual(value: Node, n: int) -> Iterator[tuple[str, Node]]:
    """... + T_2: an expression that vanishes, with the torque in it."""
    for node in ordered(value):
        match = re.fullmatch(r"(?:T|F|tau)(\d)", str(node.value)) if node.op == "symbol" else None
        if match and 1 <= int(match[1]) <= n:
            yield f"tau{match[1]}", node - value


def _ours(ours: Equations, name: str) -> Node:
    match = re.fullmatch(r"([A-Za-z]+?)(\d+)", name)
    assert match is not None
    kind, indices = match[1], [int(k) - 1 for k in match[2]]
    if kind == VELOCITY:
        C = ours.raw["C"]
        rates = [symbol(f"qd{j + 1}") for j in range(ours.robot.n)]
        return sum((x * rate for x, rate in zip(C[indices[0]], rates, strict=True)), constant(0))
    found: Any = ours.raw[kind]
    for k in indices:
        found = found[k]
    return found  # type: ignore[no-any-return]


def _collected(node: Node) -> Node:
    try:
        return closed_form(node)  # type: ignore[no-any-return]
    except NotApplicable:
        return node


def _must_be_known(given: Mapping[str, Node], parameters: Sequence[str], names: Mapping[str, str]) -> None:
    rest = naming.unknown_symbols(given.values(), parameters)
    if rest and len(rest) > 3:
        raise ArmdynError(
            f"the robot has no {', '.join(rest)}",
            where="equations",
            expected=f"its parameters: {', '.join(parameters)}",
            advice="Name them: symbols={'m_1': 'ml1'}, on the command line --rename m_1=ml1.",
        )


# The verdict ----------------------------------------------------------------------------------------------------------


def _judged(
    ours: Equations,
    given: Mapping[str, Node],
    right: Mapping[str, Node],
    names: Mapping[str, str],
    steps: Sequence[str],
) -> Judgement:
    """steps: the entries that are lines of a derivation, in its order."""
    notes: list[str] = []
    same = {name: _identical(given[name], right[name]) for name in given}
    n = ours.robot.n
    rows = [f"C{i + 1}{j + 1}" for i in range(n) for j in range(n)]
    if any(name in same and not same[name] for name in rows) and all(name in same for name in rows):
        rates = [symbol(f"qd{j + 1}") for j in range(n)]
        for i in range(n):
            row = [f"C{i + 1}{j + 1}" for j in range(n)]
            theirs, own = (
                sum((x[name] * rate for name, rate in zip(row, rates, strict=True)), constant(0))
                for x in (given, right)
            )
            if not all(same[name] for name in row) and _identical(theirs, own):
                same |= dict.fromkeys(row, True)
                notes.append(
                    f"Row {i + 1} of C gives the right torques C qd, but is not the one of Christoffel symbols: "
                    "Mdot - 2 C is not skew-symmetric."
                )
    results = [name for name in given if name not in steps]
    wrong = [name for name in results if not same[name]]
    causes = explained(ours, {name: (given[name], right[name]) for name in results}, wrong) if wrong else []
    conventions = [each.words for each in causes if each.convention]
    if conventions:
        same |= dict.fromkeys(wrong, True)
        notes += conventions
    cause = "; ".join(each.words for each in causes if not each.convention)
    entries = [
        Entry(name, True, given[name], right[name])
        if same[name]
        else _explained(
            ours,
            name,
            given[name],
            right[name],
            cause if len(causes) == 1 and name in wrong else "",
            len(wrong) == 1 or name in steps,
        )
        for name in (*steps, *results)
    ]
    first = next((entry for entry in entries if entry.name in steps and not entry.same), None)
    if first is not None:
        cause = f"the first wrong line is {first.name}: {first.causes[0] if first.causes else 'it differs'}"
    return Judgement(ours.robot.name, tuple(entries), dict(names), tuple(notes), cause)


def _identical(a: Node, b: Node) -> bool:
    try:
        return identical(a, b)
    except NotApplicable:
        values = [
            {str(x.value): 0.31 + 0.17 * k + 0.05 * s for k, x in enumerate(ordered((a, b))) if x.op == "symbol"}
            for s in (1, 2, 3)
        ]
        pairs = [evaluate((a, b), point) for point in values]
        return all(abs(x - y) <= 1e-12 * (1 + abs(x)) for x, y in pairs)


def _explained(ours: Equations, name: str, given: Node, right: Node, model: str, alone: bool) -> Entry:
    """The entry with what is wrong with it: the model's mistake, unless it is alone wrong and a small edit mends it."""
    parameters = [symbol(each, kind="parameter") for each in ours.tree.parameters]
    edits: list[Edit] = smallest_edits(given, right, parameters, ours.robot.n)
    single = bool(edits) and edits[0].path is not None
    causes = [(edit.words, edit.kind) for edit in edits]
    left = missing_term(ours, right, given)
    if left is not None:
        whole = not edits or edits[0].kind in ("missing term", "superfluous term")
        causes = [(left.words, left.kind)] if whole and not single else [*causes, (left.words, left.kind)]
    if model:
        causes.insert(1 if alone and single else 0, (model, "model"))
    correction = short_form(edits[0].result if edits else right)
    kind = causes[0][1] if causes else ""
    words = tuple(each for each, _ in causes)
    return Entry(name, False, given, right, words, kind, f"{name} = {correction}", edits[0].path if single else None)
