"""armdyn excite."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import armdyn
from armdyn.cli import app
from armdyn.errors import UnknownName

QUICK = ("--harmonics", "3", "--period", "6", "--starts", "1")


def test_writes_a_motion_within_limits_and_says_what_it_is_worth(tmp_path: Path) -> None:
    out, plot, state = tmp_path / "motion.csv", tmp_path / "motion.png", tmp_path / "search.json"
    options = ("--out", str(out), "--plot", str(plot), "--resume", str(state), "--dt", "0.01", "--noise", "0.5")
    result = CliRunner().invoke(app, ["excite", "planar2r", *QUICK, *options])
    assert result.exit_code == 0, result.output
    assert "error bars to expect" in result.output and "condition number" in result.output
    assert "No velocity limit known" in result.output  # limits that were chosen are told
    motion = armdyn.read_trajectory(out)
    assert motion.duration == pytest.approx(6.0)
    assert (np.abs(motion(motion.breaks, 1)) <= 1.0 + 1e-9).all()  # what was taken for the velocity limit
    assert plot.read_bytes().startswith(b"\x89PNG") and state.exists()


def test_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    run = CliRunner().invoke
    assert run(app, ["excite", "planar2r", "--plot", "x.doc"]).exit_code == 2
    assert isinstance(run(app, ["excite", "planar2r", "--criterion", "A"]).exception, UnknownName)
    assert run(app, ["excite", "planar2r", "--v-max", "1,2,3"]).exit_code == 2
