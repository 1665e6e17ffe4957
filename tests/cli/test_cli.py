"""The command line as a user sees it: output, exit status, files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import armdyn
from support.command import Run, plain

BROKEN = """
name = "broken"
gravity = [0, 0, 9.81]
[[joint]]
name = "turn"
a = 0.4
mass = -2.0
inertia = [0.01, 0, 0, 0.01, 0, 0.05]
"""
TWICE = """
[[joint]]
name = "turn"
mass = 1
[[joint]]
name = "turn"
mass = 1
"""
NO_PARENT = """
[[joint]]
name = "turn"
parent = "nobody"
mass = 1
"""


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_version_and_help(run: Run) -> None:
    assert run("--version") == (0, f"armdyn {armdyn.__version__}\n", "")
    status, out, _ = run("--help")
    assert status == 0
    for verb in ("show", "check", "robots", "study"):
        assert verb in out


def test_starts_at_once() -> None:
    """Neither NumPy nor matplotlib is needed to say what armdyn can do."""
    heavy = ("numpy", "matplotlib", "scipy", "sympy", "flint", "llvmlite")
    code = f"import sys, armdyn.cli; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_robots_lists_the_catalog(run: Run) -> None:
    status, out, _ = run("robots")
    assert status == 0
    for name in armdyn.catalog.names():
        assert name in out
    assert "P R R R P" in out


def test_show(run: Run) -> None:
    status, out, _ = run("show", "puma560")
    assert status == 0
    for words in ("6 joints", "R R R R R R", "Geometry (standard DH)", "a2 (0.4318)", "pi/2", "Inertia", "gear ratio"):
        assert words in out


def test_show_fits_a_narrow_terminal(run: Run) -> None:
    status, out, _ = run("show", "panda", columns=80)
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
    for number in ("-0.012805", "0.009117", "-3.0718", "d5 (0.384)"):
        assert number in out


def test_show_json_is_the_robot(run: Run) -> None:
    from armdyn.robot.record import robot_from_record

    status, out, _ = run("show", "scara5", "--json")
    assert status == 0
    assert str(robot_from_record(json.loads(out))) == str(armdyn.load("scara5"))


def test_lock_and_tip(run: Run) -> None:
    status, out, _ = run("show", "scara5,lock=elbow=0.5,tip=hand")
    assert status == 0
    assert "3 joints" in out and "left out, not on the chain from base to hand: quill" in out
    assert "frame of hand" in out
    status, _, err = run("show", "scara5,lock=elbow")
    assert status == 2
    assert "elbow=30deg" in err


def test_a_misspelt_robot_is_suggested(run: Run) -> None:
    status, out, err = run("show", "pumma560")
    assert status == 2
    assert out == ""
    assert "Did you mean 'puma560'?" in err
    assert "Traceback" not in err


def test_check_clean(run: Run) -> None:
    status, out, _ = run("check", "scara5")
    assert status == 0
    assert "Check-up of scara5" in out


def test_check_finds(run: Run, tmp_path: Path) -> None:
    file = written(tmp_path, "broken.toml", BROKEN)
    for columns in (400, 80):
        status, out, _ = run("check", file, columns=columns)
        assert status == 1
        for words in (
            "invalid",
            "suspicious",
            *(("-2 kg", "Gravity points up", "0.03 kg m^2") if columns > 80 else ()),
        ):
            assert words in out, words


def test_long_names_of_joints_stay_whole_in_findings(run: Run, tmp_path: Path) -> None:
    file = written(tmp_path, "broken.toml", BROKEN.replace("turn", "shoulder_lift_joint"))
    assert "'shoulder_lift_joint'" in run("check", file, columns=180)[1]


def test_check_json(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("check", written(tmp_path, "broken.toml", BROKEN), "--json")
    assert status == 1
    report = json.loads(out)
    assert report["robot"] == "broken" and not report["fine"]
    assert {"negative-mass", "gravity-up"} <= {finding["rule"] for finding in report["findings"]}
    status, out, err = run("check", str(tmp_path / "missing.toml"), "--json")
    assert (status, out) == (2, "") and "missing.toml" in err


@pytest.mark.parametrize(("text", "words"), [(TWICE, "two joints are called 'turn'"), (NO_PARENT, "'nobody'")])
def test_a_description_that_contradicts_itself_is_a_finding(run: Run, tmp_path: Path, text: str, words: str) -> None:
    file = written(tmp_path, "robot.toml", text)
    status, out, _ = run("check", file, "--json")
    assert status == 1
    (finding,) = json.loads(out)["findings"]
    assert finding["severity"] == "invalid"
    assert words in finding["what"]


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.toml", "not = = toml"), ("a.urdf", "<robot"), ("a.toml", '[[joint]]\nmass = "2 +"'), ("a.xyz", "")],
)
def test_unreadable(run: Run, tmp_path: Path, name: str, text: str) -> None:
    status, _, err = run("check", written(tmp_path, name, text))
    assert status == 2
    assert "error" in err.lower() or "unknown" in err.lower()
    assert "Traceback" not in err


def test_study_prints_facts_and_writes_a_self_contained_report(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    status, out, _ = run("study", "scara5", "--out", str(folder))
    assert status == 0
    assert str(folder / "report.html") in out
    assert "Tool positions" in out
    assert re.search(r"base parameters +\d+ of \d+", out)
    assert re.search(r"done in +\d+\.\d s(, \d+ MB peak memory)?", out)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "Check-up" in page
    assert "q1 + l1 (0.524)" in page
    plain = re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
    assert "://" not in plain
    assert "<script" not in page
    assert armdyn.load(folder / "robot.toml").n == 5
    assert armdyn.load(folder / "robot.urdf").n == 5


def test_names_are_escaped_in_the_report(run: Run, tmp_path: Path) -> None:
    text = BROKEN.replace('"turn"', '"<b>&turn"').replace('"broken"', '"<script>alert(1)</script>"')
    folder = tmp_path / "out"
    status, _, _ = run("study", written(tmp_path, "evil.toml", text), "--out", str(folder))
    assert status == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<b>" not in page
    assert "&lt;b&gt;&amp;turn" in page


def test_brackets_in_names_are_text_not_markup(run: Run, tmp_path: Path) -> None:
    file = written(tmp_path, "odd.toml", BROKEN.replace('"turn"', '"[red]turn[/]"'))
    _, out, _ = run("show", file)
    assert "[red]turn[/]" in out
    _, out, _ = run("check", file, columns=80)
    assert "[red]turn[/]" in out


def test_study_says_where_it_cannot_write(run: Run, tmp_path: Path) -> None:
    file = written(tmp_path, "taken", "")
    status, _, err = run("study", "pendulum", "--out", os.path.join(file, "below"))
    assert status == 2
    assert "cannot be created" in err.lower()


def test_verbs_say_on_stderr_that_a_robot_is_impossible(run: Run, tmp_path: Path) -> None:
    status, out, err = run("show", written(tmp_path, "broken.toml", BROKEN))
    assert status == 0
    assert err.startswith("Warning: robot 'broken', body 'turn': its mass is -2 kg")
    assert "armdyn check" in err
    assert "Warning" not in out


def test_fix_proposes_repairs(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "rounded.urdf"
    armdyn.load("ur5").save(path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("1.5707963267948966", "1.5707963268"), encoding="utf-8")
    assert run("check", path).status == 0  # a rounded angle is a note
    proposed = run("fix", path)
    assert proposed.status == 1
    assert "exact multiples" in plain(proposed.out)
