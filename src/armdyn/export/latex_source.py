"""LaTeX: the straight-line program as aligned equations, one intermediate result a row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from armdyn.export.functions import Function, Model
from armdyn.export.labels import LEGEND
from armdyn.export.naming import latex_text
from armdyn.graph.expression_writer import Writer
from armdyn.graph.node import Number
from armdyn.graph.render import LatexStyle, latex_name

LONGEST = 7
"""Terms of a sum on one row."""


class Latex(LatexStyle):
    """The spelling of LaTeX."""

    exact = False
    quotient_needs_brackets = False

    def __init__(self, labels: frozenset[str] = frozenset()) -> None:
        self.labels = labels

    def number(self, value: Number) -> str:
        return super().number(f"{float(value):.6g}")

    def name(self, name: str) -> str:
        if name not in self.labels:
            return latex_name(name)
        base = name.removesuffix("_neg")
        stem, index = base[0], base[1:]
        if base.startswith("wd"):
            stem, index = r"\dot{w}", base[2:]
        elif base.startswith(("mass", "Dinv")):
            stem, index = {"m": "m", "D": "D^{-1}"}[stem], base[4:]
        stem = rf"\overline{{{stem}}}" if name.endswith("_neg") else stem
        return rf"{stem}_{{{index.replace('_', ',')}}}"

    def product(self, factors: list[str]) -> str:
        return r" \, ".join(factors)

    def quotient(self, top: str, bottom: str) -> str:
        return self.fraction(top, [bottom])

    def bracket(self, text: str) -> str:
        return f"({text})"  # rows are broken within brackets, which \left and \right do not allow


def files(model: Model) -> dict[PurePath, str]:
    """The text by file name."""
    return {PurePath(f"{model.prefix}.tex"): document(model)}


def document(model: Model) -> str:
    """A document that pdflatex takes as it is."""
    name = latex_text(model.robot.name)
    lines = [r"\documentclass[a4paper,10pt]{article}", r"\usepackage{amsmath}", r"\usepackage[margin=2cm]{geometry}",
             r"\allowdisplaybreaks", r"\setlength{\parindent}{0pt}", r"\begin{document}",
             rf"\section*{{Dynamics of {name}}}", "", "Joints: " + _joints(model) + ".", ""]  # fmt: skip
    legend = LEGEND.replace("_neg: with", "a bar: with").replace("Dinv", "$D^{-1}$")
    lines += [f"Numbers are rounded to six digits. {legend}", ""]
    for function in model.functions:
        lines += _section(function)
    return "\n".join([*lines, r"\end{document}", ""])


def _joints(model: Model) -> str:
    return "; ".join(f"{i}~{latex_text(name)} ({kind})" for i, (name, kind) in enumerate(model.axes, 1))


def _section(function: Function) -> list[str]:
    title = function.name.replace("_", " ")
    values = (*function.graph.inputs, *function.graph.outputs)
    words = [function.definition.what, *(f"{name}: {function.words(name)}." for name in values)]
    rows = list(_rows(function))
    return [
        rf"\subsection*{{{title[0].upper()}{title[1:]}}}",
        " ".join(_plain(word) for word in words),
        rf"{_plain(str(function.graph.operations))}.",
        r"\begin{align*}",
        " \\\\\n".join(rows),
        r"\end{align*}",
        "",
    ]


def _plain(text: str) -> str:
    """Running text of ours: no letter of it is special but these."""
    return text.replace("_", r"\_").replace("^", r"\textasciicircum{}")


def _rows(function: Function) -> Iterator[str]:
    program, dialect = function.program(), Latex(frozenset(function.labels.values()))
    for name, expression in program.written(dialect):
        yield from _row(dialect.name(name), expression)
    writer = Writer(program.names, dialect)
    for port in function.outputs:
        for indices, node in port.places():
            between = "," if any(index > 8 for index in indices) else ""
            index = between.join(str(i + 1) for i in indices)
            name = dialect.name(port.name)
            yield from _row(f"{name}_{{{index}}}" if index else name, writer.write(node))


def _row(left: str, right: str) -> Iterator[str]:
    """One equation; a long sum goes on below."""
    terms = _terms(right)
    yield f"{left} &= {''.join(terms[:LONGEST])}"
    for start in range(LONGEST, len(terms), LONGEST):
        yield rf"&\quad {''.join(terms[start : start + LONGEST]).strip()}"


def _terms(text: str) -> list[str]:
    """The text cut before every sign of the outermost sum."""
    terms, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += letter in "({"
        depth -= letter in ")}"
        if depth == 0 and text[at : at + 3] in (" + ", " - ") and at > start:
            terms.append(text[start:at])
            start = at
    return [*terms, text[start:]]
