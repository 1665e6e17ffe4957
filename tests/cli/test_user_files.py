"""Files of the user are replaced with --force only, and nothing ends in a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import Run, plain

PLAN = ("plan", "planar2r", "--from", "0,0", "--to", "1,1")
WRITES: dict[str, tuple[tuple[str, ...], str]] = {
    "plan": ((*PLAN, "--out"), "motion.csv"),
    "derive": (("derive", "pendulum", "--out"), "equations.txt"),
    "sweep": (("sweep", "planar2r", "--vary", "l2=0.2,0.3", "--measure", "mass", "--out"), "table.csv"),
    "simulate": (("simulate", "pendulum", "--out"), "run.csv"),
    "plot": ((*PLAN, "--plot"), "motion.png"),
}


@pytest.mark.parametrize("verb", WRITES)
def test_an_existing_file_stays(verb: str, run: Run, tmp_path: Path) -> None:
    arguments, name = WRITES[verb]
    file = tmp_path / name
    file.write_text("precious")
    status, out, err = run(*arguments, file)
    assert status == 2 and "exists already" in plain(err).lower() and "--force" in err
    assert out == "", "refused before the work"
    assert file.read_text() == "precious"
    status, _, err = run(*arguments, file, "--force")
    assert status in (0, 1), err
    assert file.read_bytes() != b"precious"


def test_export_keeps_all_files_if_one_exists(run: Run, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text("precious")
    status, _, err = run("export", "pendulum", "--out", tmp_path)
    assert status == 2 and "CMakeLists.txt" in plain(err)
    assert [path.name for path in tmp_path.iterdir()] == ["CMakeLists.txt"]
    assert (tmp_path / "CMakeLists.txt").read_text() == "precious"
    assert run("export", "pendulum", "--out", tmp_path, "--force").status == 0
    assert (tmp_path / "CMakeLists.txt").read_text() != "precious"


def test_study_does_not_write_through_a_link(run: Run, tmp_path: Path) -> None:
    precious = tmp_path / "precious.html"
    precious.write_text("precious")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "report.html").symlink_to(precious)
    assert run("study", "pendulum", "--out", folder).status == 2
    assert run("study", "pendulum", "--out", folder, "--force").status == 0
    assert precious.read_text() == "precious" and not (folder / "report.html").is_symlink()


def test_a_sweep_resumes_in_its_own_folder(run: Run, tmp_path: Path) -> None:
    arguments = ("sweep", "planar2r", "--vary", "l2=0.2,0.3", "--measure", "mass", "--folder", tmp_path / "chunks")
    assert run(*arguments).status == 0
    status, out, _ = run(*arguments)
    assert status == 0 and "finished chunks were read" in out


ABSURD = {
    "samples": ("sweep", "planar2r", "--vary", "l2=0.2:0.3", "--samples", str(10**18)),
    "values": ("sweep", "planar2r", "--vary", f"l2=0.2:0.3:{10**15}"),
    "points": ("certify", "planar2r", "--points", str(10**12)),
    "no points": ("certify", "planar2r", "--points", "0"),
    "time step": ("simulate", "pendulum", "--set", "solver.dt=1e-12"),
    "far": ("plan", "planar2r", "--from", "1e308,0", "--to", "1,1"),
}


@pytest.mark.parametrize("case", ABSURD)
def test_absurd_numbers_are_refused(case: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(*ABSURD[case])
    assert status == 2, (out, err)
    assert "Traceback" not in err and "defect" not in err


def armdyn(*arguments: str, output: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from armdyn.cli import main; main()", *arguments]
    with open(output, "w") as out:
        return subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, env={**os.environ}, timeout=120)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk(tmp_path: Path) -> None:
    """Of the output, and of a file."""
    done = armdyn("robots", output="/dev/full")
    assert done.returncode == 2 and "No space left" in done.stderr and "Traceback" not in done.stderr
    done = armdyn("share", "planar2r", "--out", "/dev/full", output=os.devnull)
    assert done.returncode == 2 and "No space left" in done.stderr and "Traceback" not in done.stderr


def test_a_defect_is_called_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise KeyError("inside")

    monkeypatch.setattr("armdyn.load", broken)
    status, _, err = run("show", "planar2r")
    assert status == 70 and "KeyError" in err and "defect of armdyn" in plain(err)
