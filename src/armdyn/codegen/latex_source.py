"""LaTeX: the straight-line program as aligned equations, one intermediate result a row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from armdyn.codegen.functions import Function, Model
from armdyn.codegen.labels import LEGEND
from armdyn.graph.expression_writer import Writer
from armdyn.graph.latex_lines import PaperStyle, lines, width
from armdyn.graph.node import Number
from armdyn.graph.render import latex_name
from armdyn.markup import latex_text
from armdyn.robot.features import sentence

ROOM = 475.0
"""Width of a row, pt: A4 with margins of 2 cm, a little less than they leave."""
MOST_ROWS = 40
"""Rows of one environment, of which TeX keeps all in memory."""


class Latex(PaperStyle):
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

    def quotient(self, top: str, bottom: str) -> str:
        return self.fraction(top, [bottom])

    def product(self, factors: list[str]) -> str:
        return self.times.join(factors)


def files(model: Model) -> dict[PurePath, str]:
    """The text by file name."""
    return {PurePath(f"{model.prefix}.tex"): document(model)}


def document(model: Model) -> str:
    """A document that pdflatex takes as it is."""
    name = latex_text(model.robot.name)
    lines = [r"\documentclass[a4paper,10pt]{article}", r"\usepackage{amsmath}", r"\usepackage[margin=2cm]{geometry}",
             r"\allowdisplaybreaks", r"\setlength{\parindent}{0pt}", r"\begin{document}",
             rf"\section*{{Dynamics of {name}}}", "", "Joints: " + _joints(model) + ".", "",
             _plain(sentence(model.robot)), ""]  # fmt: skip
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
        rf"{_plain(str(function.operations))}.",
        *(_align(rows[start : start + MOST_ROWS]) for start in range(0, len(rows), MOST_ROWS)),
        "",
    ]


def _align(rows: list[str]) -> str:
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"


def _plain(text: str) -> str:
    """Running text of ours: no letter of it is special but these."""
    return text.replace("_", r"\_").replace("^", r"\textasciicircum{}")


def _rows(function: Function) -> Iterator[str]:
    program, dialect = function.program(), Latex(frozenset(function.labels.values()))
    equations = [(dialect.name(name), expression) for name, expression in program.written(dialect)]
    writer = Writer(program.names, dialect)
    for port in function.outputs:
        for indices, node in port.places():
            between = "," if any(index > 8 for index in indices) else ""
            index = between.join(str(i + 1) for i in indices)
            name = dialect.name(port.name)
            name = f"{{{name}}}" if "_" in name and index else name
            equations.append((f"{name}_{{{index}}}" if index else name, writer.write(node)))
    label = max((width(f"{left} = ") for left, _ in equations), default=0.0)
    for left, right in equations:
        yield from _row(left, right, label)


def _row(left: str, right: str, label: float) -> Iterator[str]:
    """One equation; a long sum goes on below."""
    first, *further = lines(right, ROOM - label)
    yield f"{left} &= {first}"
    for line in further:
        yield f"&{line}"
