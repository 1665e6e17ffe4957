"""LaTeX for papers: what pdflatex makes of it, and how lines are broken."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import armdyn
from armdyn.equations import paper, typesetting
from armdyn.errors import ArmdynError
from armdyn.graph.latex_lines import lines, paper_latex, width
from armdyn.markup import latex_tables
from armdyn.robot import describe

PAGES = [("a4", 1), ("a4", 2), ("letter", 1), ("letter", 2)]
PUMA = [("puma560", *page) for page in (PAGES if os.environ.get("ARMDYN_FULL") else PAGES[3:])]
"""Its 60 pages take 10 s; the narrowest column is the hardest."""
needs_tex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")


def typeset(text: str, folder: Path) -> str:
    """The log of pdflatex."""
    (folder / "made.tex").write_text(text)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "made.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120)
    log = (folder / "made.log").read_text(errors="replace")
    assert done.returncode == 0, log[-2000:]
    return log


def overfull(log: str) -> list[str]:
    return re.findall(r"Overfull \\[hv]box.*", log)


@needs_tex
@pytest.mark.parametrize(("name", "on", "columns"), [*(("planar3r", *page) for page in PAGES), *PUMA])
def test_documents_have_no_overfull_boxes(name: str, on: str, columns: int, tmp_path: Path) -> None:
    equations = armdyn.derive(armdyn.load(name))
    text = equations.document(paper=on, columns=columns).source
    log = typeset(text, tmp_path)
    assert not overfull(log)
    entries = sum(len(block.entries) for block in typesetting.matrices(equations))
    assert text.count("\\\\\n") + text.count("\\end{align}") - text.count(r"\notag") >= entries  # one number each
    assert numbers(text) == entries


def numbers(text: str) -> int:
    """Rows of numbered environments that have a number."""
    environments = re.findall(r"\\begin{align}\n(.*?)\n\\end{align}", text, flags=re.DOTALL)
    return sum(not row.endswith(r"\notag") for each in environments for row in each.split(" \\\\\n"))


@needs_tex
def test_the_part_of_panda_that_fits_a_paper(tmp_path: Path) -> None:
    equations = armdyn.derive(armdyn.load("panda"))
    names = ("M11", "M67", "M77", "C77", "g2", "g7")
    blocks = [typesetting.one_entry(equations, name) for name in names]
    log = typeset(paper.document(equations, blocks, paper.layout("a4", 2)), tmp_path)
    assert not overfull(log)


@needs_tex
def test_estimated_widths_are_those_of_tex(tmp_path: Path) -> None:
    """An estimate that is too small would give overfull lines; one much too large, ragged ones."""
    nodes = [x for row in armdyn.derive(armdyn.load("puma560")).nodes("M") for x in row]
    formulas = [line for node in nodes for line in lines(paper_latex(node), 300.0)]
    boxes = "\n".join(rf"\setbox0\hbox{{$\displaystyle {x}$}}\immediate\write16{{W=\the\wd0}}" for x in formulas)
    start = "\\documentclass{article}\\usepackage{amsmath}\\begin{document}\n"
    log = typeset(f"{start}{boxes}\nx\\end{{document}}", tmp_path)
    measured = [float(x) for x in re.findall(r"W=([\d.]+)pt", log)]
    assert len(measured) == len(formulas) > 100
    for formula, true in zip(formulas, measured, strict=True):
        assert true - 1.0 < width(formula) < 1.1 * true + 6.0, formula


def test_lines_keep_every_letter_and_the_room() -> None:
    for row in armdyn.derive(armdyn.load("puma560")).nodes("M"):
        for node in row:
            formula = paper_latex(node)
            broken = lines(formula, 200.0)
            assert max(map(width, broken)) <= 201.0
            joined = re.sub(r"(\\quad)+ \{\}( \\cdot)?", "", " ".join(broken))
            assert joined.replace(" ", "") == formula.replace(" ", "")


def test_a_single_product_is_broken_between_factors() -> None:
    x = " ".join(f"a_{{{k}}}" for k in range(10, 40))
    broken = lines(x, 120.0)
    assert len(broken) > 2 and all(line.startswith(r"\quad {} \cdot") for line in broken[1:])
    assert max(map(width, broken)) <= 121.0


def test_abbreviations_and_parameters_are_listed() -> None:
    text = armdyn.derive(armdyn.load("planar3r")).document(paper="a4").source
    assert r"$c_{23} = \cos(q_{2} + q_{3})$" in text and r"$s_{3} = \sin q_{3}$" in text
    assert "$m_{l1} = 6$" in text and r"\cos q_{1}$" in text
    assert r"c_{3}" in text.split("Abbreviations")[0]


@pytest.mark.parametrize("name", ["M13", "C12", "g2", "tau3"])
def test_an_entry_alone_is_that_of_the_matrix(name: str) -> None:
    robot = armdyn.load("planar3r")
    alone, whole = armdyn.derive(robot).entry(name), armdyn.derive(robot)
    matrix = getattr(whole, name.rstrip("123"))
    *_, last = places = [int(figure) - 1 for figure in re.findall(r"\d", name)]
    expected = matrix[places[0], last] if len(places) == 2 else matrix[places[0]]
    import sympy

    assert sympy.expand_trig(sympy.expand(alone - expected)).equals(0)


@pytest.mark.parametrize("name", ["M14", "M1", "g12", "x11", "M", "", "M1,2,3", "C01"])
def test_entries_that_do_not_exist_are_refused(name: str) -> None:
    with pytest.raises(ArmdynError, match="no entry of the equations"):
        armdyn.derive(armdyn.load("planar3r")).entry(name)


@needs_tex
@pytest.mark.parametrize("name", ["puma560", "palletiser"])
def test_tables_of_a_robot_fit_a_page(name: str, tmp_path: Path) -> None:
    tables = latex_tables(describe.sections(armdyn.load(name)))
    start = "\\documentclass{article}\\usepackage{booktabs}\\usepackage[margin=2cm]{geometry}\\begin{document}\n"
    assert not overfull(typeset(f"{start}{tables}\n\\end{{document}}", tmp_path))
