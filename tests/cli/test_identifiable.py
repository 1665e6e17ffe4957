"""armdyn identifiable."""

from pathlib import Path

import numpy as np

import armdyn
from armdyn.trajectory import fourier
from support.command import Run


def test_any_motion_and_one_motion(run: Run, tmp_path: Path) -> None:
    status, text, err = run("identifiable", "planar2r", "--include", "inertial")
    assert status == 0, err
    assert "base parameters" in text and "Null space" in text
    still = np.array([[0.5, 0.3], [0.0, 0.0]])
    fourier([0.3, 0.4], still, still, 5.0).save(tmp_path / "motion.csv", 0.01)
    status, text, err = run("identifiable", "planar2r", tmp_path / "motion.csv")
    assert status == 0, err
    assert "Null space of the motion" in " ".join(text.split()) and "Fv2" in text


def test_a_motion_of_another_robot(run: Run, tmp_path: Path) -> None:
    fourier([0, 0], np.ones((2, 2)), np.ones((2, 2)), 1.0).save(tmp_path / "motion.csv", 0.01)
    assert armdyn.load("puma560").n == 6
    status, _, err = run("identifiable", "puma560", tmp_path / "motion.csv")
    assert status == 2 and "2 joints" in err
