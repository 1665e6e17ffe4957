"""armdyn export."""

from __future__ import annotations

from pathlib import Path

from support.command import Run


def test_says_what_was_written_and_what_it_costs(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("export", "scara5", "--out", tmp_path / "code", "--functions", "mass_matrix, gravity")
    assert status == 0
    assert [line.split()[:4] for line in out.splitlines() if "mass_matrix" in line] == [["mass_matrix", "10", "9", "0"]]
    assert "forward_dynamics" not in out
    assert out.count(str(tmp_path / "code")) == 5
    assert (tmp_path / "code" / "scara5_test.c").exists()


def test_parameters_stay_arguments(run: Run, tmp_path: Path) -> None:
    status, out, _ = run(
        "export",
        "scara5",
        "--to",
        "python",
        "--out",
        tmp_path,
        "--functions",
        "pose",
        "--prefix",
        "arm",
        "--tunable",
        "parameters",
    )
    assert status == 0
    assert "of parameters" in out
    assert [path.name for path in tmp_path.iterdir()] == ["arm.py"]


def test_errors_end_with_status_2(run: Run, tmp_path: Path) -> None:
    for words in (["--functions", "gravty"], ["--prefix", "../x"], ["--to", "fortran"]):
        status, _, err = run("export", "scara5", "--out", tmp_path, *words)
        assert status == 2
        assert "Traceback" not in err
    assert not list(tmp_path.iterdir())
