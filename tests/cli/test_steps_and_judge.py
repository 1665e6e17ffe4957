"""armdyn derive --steps and armdyn judge."""

from __future__ import annotations

from pathlib import Path

from support.command import Run

GRAVITY = r"g_1 = (m_{\ell_1} \ell_1 + m_{m_2} a_1 + m_{\ell_2} a_1) g c_1 + m_{\ell_2} \ell_2 g c_{12}"


def test_steps(run: Run) -> None:
    arguments = ("derive", "planar2r", "--by", "gim_christoffel", "--steps")
    shown = run(*arguments, "--from", "C").out
    assert "C := " in shown and "Jacobians" not in shown and "b11 =" not in shown and "a1*l2*ml2*s2" in shown
    quiz = run(*arguments, "--quiz").out
    assert "-l2*s12" not in quiz and "..." in quiz
    assert run("derive", "planar2r", "--quiz").status == 2
    assert "Did you mean" in run(*arguments, "--from", "Cc").err


def test_judge(run: Run, tmp_path: Path) -> None:
    assert run("judge", "planar2r", GRAVITY).status == 0
    homework = tmp_path / "homework.tex"
    homework.write_text(GRAVITY.replace("c_1", "s_1", 1))
    page = tmp_path / "judged.html"
    judged = run("judge", "planar2r", homework, "--report", page)
    assert judged.status == 1 and "s1 should be c1" in judged.out
    assert "<math>" in page.read_text() and "s1 should be c1" in page.read_text()
    assert run("judge", "planar2r", "G_1 = 0*a_1", "--rename", "nonsense").status == 2
