"""armdyn excite."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import armdyn
from support.command import Run

QUICK = ("--period", "6", "--starts", "1", "--seconds", "3")


@pytest.mark.parametrize(("kind", "words"), [("--harmonics", "3 harmonics"), ("--pieces", "8 quintic polynomials")])
def test_writes_a_motion_within_limits_and_says_what_it_is_worth(
    kind: str, words: str, run: Run, tmp_path: Path
) -> None:
    out, plot, state = tmp_path / "motion.csv", tmp_path / "motion.png", tmp_path / "search.json"
    options = ("--out", str(out), "--plot", str(plot), "--resume", str(state), "--dt", "0.01", "--noise", "0.5")
    status, shown, _ = run("excite", "planar2r", kind, words.split()[0], *QUICK, *options)
    assert status == 0 and words in shown
    assert "expected standard deviations" in shown and "condition number" in shown
    assert "No velocity limit of shoulder, elbow" in shown  # limits that were assumed are reported
    motion = armdyn.read_trajectory(out)
    assert motion.duration == pytest.approx(6.0)
    assert (np.abs(motion(motion.breaks, 1)) <= 1.0 + 1e-9).all()  # what was taken for the velocity limit
    assert plot.read_bytes().startswith(b"\x89PNG") and state.exists()


def test_refuses_what_it_does_not_know(run: Run) -> None:
    for arguments in (("--plot", "x.doc"), ("--criterion", "A"), ("--v-max", "1,2,3")):
        status, _, err = run("excite", "planar2r", *arguments)
        assert status == 2
        assert "Traceback" not in err
