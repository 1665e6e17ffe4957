"""The verbs derive, compare, certify, formulations as a user sees them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import armdyn
from armdyn.mechanics.registry import FORMULATIONS
from support.command import Run


def fits(text: str, columns: int) -> bool:
    return max(map(len, text.splitlines())) <= columns and "…" not in text


# All verbs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["derive", "compare", "certify", "formulations"])
def test_help(run: Run, verb: str) -> None:
    status, out, _ = run(verb, "--help", columns=80)
    assert status == 0
    assert f"armdyn {verb}" in out
    assert "…" not in out


def test_verbs_start_at_once() -> None:
    """No verb needs NumPy or SymPy to say what it does."""
    code = """if True:
        import sys
        from armdyn.cli import main
        for verb in ("derive", "compare", "certify"):
            try:
                main([verb, "--help"])
            except SystemExit:
                pass
        print([name for name in ("numpy", "sympy", "flint", "scipy", "matplotlib") if name in sys.modules])
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("verb", ["derive", "compare", "certify"])
def test_an_unknown_robot_ends_with_status_2(run: Run, verb: str) -> None:
    status, out, err = run(verb, "scara6")
    assert (status, out) == (2, "")
    assert "Did you mean 'scara5'?" in err


@pytest.mark.parametrize("verb", ["derive", "compare", "certify"])
def test_a_robot_that_cannot_move_ends_with_status_2(run: Run, verb: str) -> None:
    status, out, err = run(verb, "pendulum,lock=pivot=0.3")
    assert (status, out) == (2, "")
    assert "movable joint" in err


def test_formulations(run: Run) -> None:
    for columns in (80, 120):
        status, out, _ = run("formulations", columns=columns)
        assert status == 0
        assert fits(out, columns)
        for entry in FORMULATIONS:
            assert entry.name in out
        assert "Khalil" in out


# derive ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [80, 120])
def test_derive_prints_the_equations(run: Run, columns: int) -> None:
    status, out, _ = run("derive", "scara5", "--by", "bertrand_bruneau", columns=columns)
    assert status == 0
    assert fits(out, columns)
    for words in ("Equations of motion of scara5", "tau = M(q) qdd", "New formulation", "C33 = -l3*(l4*m5 + lc4*m4)",
                  "g1 = g*(m1 + m2 + m3 + m4 + m5)", "M55 = m5"):  # fmt: skip
        assert words in out
    assert "Torques" not in out


def test_derive_breaks_lines_outside_of_brackets(run: Run) -> None:
    _, out, _ = run("derive", "scara5", columns=80)
    (line,) = (line for line in out.splitlines() if "M22 =" in line)
    assert line == "  M22 = m3*(2*l2*lc3*c3 + l2^2 + lc3^2)"


def test_derive_terms_and_bodies(run: Run) -> None:
    status, out, _ = run("derive", "planar2r", "--split", "causes", "--split", "bodies")
    assert status == 0
    flat = " ".join(out.split())
    assert "Torques, centrifugal tau1: -a1*l2*ml2*s2*qd2^2" in flat
    assert "Torques, gravity" in flat and "Torques, external wrench at the tool" in flat
    assert "Torques, body link1 tau1: (Il1 + l1^2*ml1)*qdd1 + g*l1*ml1*c1" in flat


def test_derive_inertial_symbols(run: Run) -> None:
    status, out, _ = run("derive", "pendulum", "--symbols", "inertial")
    assert status == 0
    assert "ZZ1" in out


def test_derive_spares_the_screen(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("derive", "puma560", "--split", "causes", columns=80)
    assert status == 0
    assert fits(out, 80)
    assert len(out.splitlines()) < 60
    assert "g4 = g*m6*z6*s23*s4*s5" in out
    assert "M22 =" not in out
    assert "terms of each entry" in out
    assert "--out FILE" in out and "--format text" in out


def test_derive_formats(run: Run) -> None:
    _, latex, _ = run("derive", "planar2r", "--format", "latex")
    _, document, _ = run("derive", "planar2r", "--format", "latex-letter-two-columns", "--entry", "M12")
    assert "letterpaper,10pt,twocolumn" in document and document.count("M_{12}") == 1 and "M_{11}" not in document
    assert latex.startswith("% tau = M(q) qdd + C(q, qd) qd + g(q)\n% model: ")
    assert "\n\\begin{align}\n" in latex and latex.endswith("\\end{align}\n")
    assert r"C_{11} &= -a_{1} l_{2} m_{l2} s_{2} \dot{q}_{2}" in latex
    _, markdown, _ = run("derive", "planar2r", "-f", "markdown", "--split", "causes")
    assert markdown.startswith("# Equations of motion of planar2r")
    assert "### Centrifugal" in markdown
    _, program, _ = run("derive", "planar2r", "-f", "program")
    assert program.splitlines()[-1].startswith("tau2 = ")


def test_derive_python_runs(run: Run) -> None:
    _, source, _ = run("derive", "scara5", "-f", "python", "--by", "kane")
    module: dict[str, Any] = {}
    exec(compile(source, "scara5", "exec"), module)
    q, qd, qdd = (0.1, 0.2, 0.3, 0.4, 0.05), (1.0, 2.0, -1.0, 0.5, 0.1), (0.3, -0.2, 0.1, 1.0, 2.0)
    found = module["function"](q, qd, qdd, **module["PARAMETERS"])["tau"]
    expected = armdyn.mechanics.newton_euler.inverse_dynamics(armdyn.load("scara5"), q, qd, qdd)
    assert found == pytest.approx(expected, rel=1e-12)


def test_derive_json_is_readable_by_sympy(run: Run) -> None:
    import sympy

    status, out, _ = run("derive", "planar2r", "--json", "--split", "causes", "--split", "bodies")
    assert status == 0
    record = json.loads(out)
    assert (record["robot"], record["formulation"], record["joints"]) == (
        "planar2r",
        "newton_euler",
        ["shoulder", "elbow"],
    )
    assert record["terms"] == {"M": 20, "christoffel": 4, "g": 7, "k": 0}
    assert set(record["causes"]) == {"inertia", "centrifugal", "coriolis", "gravity", "external"}
    assert set(record["bodies"]) == {"link1", "link2"}
    c21 = sympy.sympify(record["C"][1][0])
    assert c21 == sympy.sympify("a1*l2*ml2*qd1*sin(q2)")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("eq.tex", "\\begin{align}"),
        ("eq.md", "## Mass matrix"),
        ("eq.py", "def function("),
        ("eq.json", '"robot": "planar2r"'),
        ("eq.txt", "M22 = Il2 + Im2*kr2^2 + l2^2*ml2"),
    ],
)
def test_derive_writes_files(run: Run, tmp_path: Path, name: str, words: str) -> None:
    path = tmp_path / "new" / name
    status, out, _ = run("derive", "planar2r", "--out", str(path))
    assert status == 0
    assert str(path) in out
    assert words in path.read_text(encoding="utf-8")


def test_derive_errors(run: Run, tmp_path: Path) -> None:
    status, out, err = run("derive", "planar2r", "--by", "kanne")
    assert (status, out) == (2, "")
    assert "Did you mean 'kane'?" in err
    status, _, err = run("derive", "planar2r", "--by", "forward")
    assert status == 2
    assert "gives no inverse_dynamics" in err
    status, _, err = run("derive", "planar2r", "--format", "word")
    assert status == 2
    status, _, err = run("derive", "pendulum", "--out", str(tmp_path), "--format", "text")
    assert status == 2
    assert "it is a folder" in err.lower()
    status, _, err = run("derive", "pendulum", "--out", str(tmp_path / "equations.pdf"))
    assert status == 2
    assert ".tex" in err
    assert not (tmp_path / "equations.pdf").exists()


# compare --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [80, 120])
def test_compare(run: Run, columns: int) -> None:
    status, out, _ = run("compare", "planar2r", columns=columns)
    assert status == 0
    assert fits(out, columns)
    flat = " ".join(out.split())
    for words in (
        "All agree",
        "Milićević table 3",
        "counts of other authors",
        "Khalil (7.4), Siciliano (7.1)-(7.3)",
        "off-line",
    ):
        assert words in flat
    assert "264 / 218" in flat  # 132 n and 111 n - 4


def test_compare_json(run: Run) -> None:
    status, out, _ = run("compare", "scara5", "--json")
    assert status == 0
    record = json.loads(out)
    assert record["agrees"] and record["joints"] == 5
    rows = {row["name"]: row for row in record["formulations"]}
    assert set(rows) == {entry.name for entry in FORMULATIONS if "inverse_dynamics" in entry.gives}
    newton_euler = rows["newton_euler"]
    assert newton_euler["difference"] == 0
    assert newton_euler["published_milicevic_table_3"] == {"multiplications": 660, "additions": 551}
    assert rows["kane"]["published_milicevic_table_3"] is None
    assert newton_euler["shared"]["multiplications"] <= 46 and newton_euler["shared"]["additions"] <= 36


def test_compare_says_where_formulations_differ(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import armdyn.equations
    from armdyn.equations import comparison

    def off(robot: armdyn.Robot, **options: Any) -> comparison.Comparison:
        right = comparison.compare(robot, **options)
        return replace(right, rows=(*right.rows[:-1], replace(right.rows[-1], difference=0.1)))

    monkeypatch.setattr(armdyn, "compare", off, raising=False)
    status, out, _ = run("compare", "pendulum")
    assert status == 1
    assert "They do NOT agree" in out


# certify --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [80, 120])
def test_certify(run: Run, columns: int) -> None:
    status, out, _ = run("certify", "scara5", "--points", "1", columns=columns)
    assert status == 0
    assert fits(out, columns)
    flat = " ".join(out.split())
    for words in ("Certificate of scara5", "checks hold", "at 1 random point", "chance of error below",
                  "skew Mdot - 2C skew-symmetric", "articulated_body"):  # fmt: skip
        assert words in flat
    assert out.count("✓") >= 60
    assert "✗" not in out
    assert "(1)" not in out  # every statement has a head of its own


def test_certify_json(run: Run) -> None:
    status, out, _ = run("certify", "planar2r", "--points", "2", "--json")
    assert status == 0
    record = json.loads(out)
    assert record["holds"] is True
    assert (record["robot"], record["points"], record["seed"]) == ("planar2r", 2, 0)
    assert 0 < record["error_probability"] < 1e-30
    assert all(check["holds"] for check in record["checks"])
    assert {check["formulation"] for check in record["checks"]} >= {"kane", "kronecker", "dalembert"}


def test_certify_names_what_fails(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import armdyn.equations
    from armdyn.equations import certificate

    def broken(robot: armdyn.Robot, **options: Any) -> certificate.Certificate:
        right = certificate.certify(robot, **options)
        checks = [replace(c, holds=c.holds and c.formulation != "kane") for c in right.checks]
        return replace(right, checks=tuple(checks))

    monkeypatch.setattr(armdyn, "certify", broken, raising=False)
    status, out, _ = run("certify", "pendulum", "--points", "1")
    assert status == 1
    assert "✗" in out
    assert "Fails: same mass matrix (kane)" in out
    assert "checks fail" in out


def test_certify_refuses_no_points(run: Run) -> None:
    status, _, err = run("certify", "pendulum", "--points", "0")
    assert status == 2
    assert "--points" in err


def test_intermediate_results(run: Run) -> None:
    names = ("T2", "J2", "p_C2", "omega2", "c112", "h112", "Gamma12", "kinetic", "potential")
    entries = [word for name in names for word in ("--entry", name)]
    status, out, _ = run("derive", "planar2r", *entries, "--format", "text")
    assert status == 0
    for line in ("T2_14 = a1*c1 + a2*c12", "J2_12 = -l2*s12", "omega2_3 = qd1 + qd2", "h112 = -2*a1*l2*ml2*s2"):
        assert line in out


def test_conditions_of_a_design(run: Run) -> None:
    status, out, _ = run("derive", "parallelogram", "--require", "M diagonal", "--json")
    found = json.loads(out)
    assert (status, found["possible"]) == (0, True)
    assert found["conditions"][0]["factors"] == ["a1p*(a2p*ml3p + l2p*ml2p) - a2p*l3p*ml3p"]
    status, _, err = run("derive", "parallelogram", "--require", "M diagonal", "--steps")
    assert status == 2
    assert "--require stands alone" in err


def test_a_program_in_base_parameters_with_tip_forces(run: Run) -> None:
    status, out, _ = run("derive", "rx90", "--symbols", "base", "--external", "--format", "program")
    assert status == 0
    assert "fx" in out and "tau6 = " in out and "ZZR1" in out
