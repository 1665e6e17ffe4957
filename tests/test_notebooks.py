"""Tutorial notebooks run from top to bottom, and what users print has a page of its own in a notebook."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.control import ComputedTorque
from armdyn.notebook_view import MOST_ROWS, Formula, View, html, latex, markdown

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore")
def test_notebooks_run(path: Path, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="pip install armdyn[notebook]")
    nbclient = pytest.importorskip("nbclient", reason="pip install armdyn[notebook]")
    pytest.importorskip("ipykernel", reason="pip install armdyn[notebook]")
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "notebooks are kept without their output"
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [out.get("data", {}) for cell in notebook.cells for out in cell.get("outputs", [])]
    assert sum("text/html" in data for data in shown) >= 2
    for data in shown:
        assert "text/html" in data or "image/png" in data or len(data.get("text/plain", "")) < 1500


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["log_to_model", "textbook_arm", "urdf_to_code"]


@pytest.fixture(scope="module")
def arm() -> armdyn.Robot:
    return armdyn.load("planar2r")


NOUNS: dict[str, Callable[[armdyn.Robot, Any, Any], Any]] = {
    "robot": lambda robot, dyn, motion: robot,
    "checkup": lambda robot, dyn, motion: armdyn.check(robot),
    "equations": lambda robot, dyn, motion: armdyn.derive(robot),
    "large equations": lambda robot, dyn, motion: armdyn.derive(armdyn.load("puma560")),
    "certificate": lambda robot, dyn, motion: armdyn.certify(robot, points=1),
    "comparison": lambda robot, dyn, motion: armdyn.compare(robot),
    "dynamics": lambda robot, dyn, motion: dyn,
    "trajectory": lambda robot, dyn, motion: motion,
    "torques": lambda robot, dyn, motion: armdyn.torque_breakdown(dyn, motion),
    "feasibility": lambda robot, dyn, motion: armdyn.feasibility(dyn, motion),
    "run": lambda robot, dyn, motion: armdyn.simulate(
        dyn, ComputedTorque(dyn, kp=100, kd=20), motion, solver=armdyn.Solver(dt=1e-2)
    ),
    "sweep": lambda robot, dyn, motion: armdyn.sweep(robot, {"a1": [0.9, 1.0, 1.1]}, measures=("reach",)),
}


@pytest.mark.parametrize("name", NOUNS)
def test_nouns_have_a_compact_page(name: str, arm: armdyn.Robot) -> None:
    motion = armdyn.point_to_point([0.0, 0.0], [1.0, 0.5], "quintic", duration=1.0)
    noun = NOUNS[name](arm, armdyn.compile(arm), motion)
    page = noun._repr_html_()
    visible = re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL)
    assert visible.count("<tr>") <= MOST_ROWS + 8, "about one screen: long tables are folded"
    assert "<script" not in page and "style=" in page
    assert noun._repr_markdown_().startswith("**")
    assert noun._repr_latex_().startswith(r"\textbf{")


def test_figures_appear_once_and_without_pyplot() -> None:
    figure = armdyn.point_to_point([0.0], [1.0], "quintic", duration=1.0).plot()
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert figure._repr_html_() is None  # only with the backend of a notebook, which then shows no PNG


def test_texts_of_a_file_are_escaped() -> None:
    hostile = "<img src=x onerror=alert(1)> | $x$ \\input{y}"
    view = View(hostile, (hostile, False), [(hostile, hostile)], [("f", [Formula("a", "<mi>a</mi>")])], notes=[hostile])
    assert "<img" not in html(view) and r"\<img" in markdown(view) and "$x$" not in markdown(view)
    assert r"\input" not in latex(view) and "<img" not in latex(view)


def test_a_view_says_what_fails() -> None:
    page = html(View("x", ("2 checks fail", False)))
    assert "✗ 2 checks fail" in page and "✓" not in page


def test_progress_is_silent_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    bar = armdyn.ProgressBar()
    for done in np.linspace(0, 1, 5):
        bar("working", float(done))
    assert capsys.readouterr() == ("", "")
