"""armdyn excite."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.identification import ExcitationDesign, Surroundings
from support.command import Run

DESIGN = """[{kind}]
count = {count}
period = 6
[search]
starts = 1
seconds = 3
[measurement]
step = 0.01
noise = 0.5
"""


@pytest.mark.parametrize(("kind", "words"), [("harmonics", "3 harmonics"), ("polynomials", "8 quintic polynomials")])
def test_writes_a_motion_within_limits_and_says_what_it_is_worth(
    kind: str, words: str, run: Run, tmp_path: Path
) -> None:
    out, plot, state = tmp_path / "motion.csv", tmp_path / "motion.png", tmp_path / "search.json"
    design = tmp_path / "design.toml"
    design.write_text(DESIGN.format(kind=kind, count=words.split()[0]), encoding="utf-8")
    options = ("--out", str(out), "--plot", str(plot), "--resume", str(state))
    status, shown, _ = run("excite", "planar2r", str(design), *options)
    assert status == 0 and words in shown
    assert "expected standard deviations" in shown and "condition number" in shown
    assert "No velocity limit of shoulder, elbow" in shown  # limits that were assumed are reported
    motion = armdyn.read_trajectory(out)
    assert motion.duration == pytest.approx(6.0)
    assert (np.abs(motion(motion.breaks, 1)) <= 1.0 + 1e-9).all()  # what was taken for the velocity limit
    assert plot.read_bytes().startswith(b"\x89PNG") and state.exists()


def test_refuses_what_it_does_not_know(run: Run) -> None:
    for arguments in (("--plot", "x.doc"), ("--criterion", "A"), ("none.toml",)):
        status, _, err = run("excite", "planar2r", *arguments)
        assert status == 2
        assert "Traceback" not in err


def test_the_template_of_a_design_has_all_keys_and_is_one(run: Run, tmp_path: Path) -> None:
    status, template, _ = run("excite", "--print-template")
    assert status == 0
    found = re.findall(r"^\[(\w+)\]$", template, re.M)
    assert found == ["harmonics", "polynomials", "search", "limits", "surroundings", "measurement"]
    file = tmp_path / "design.toml"
    file.write_text(template.replace("[polynomials]", ""), encoding="utf-8")
    assert ExcitationDesign.read(file) == replace(ExcitationDesign(), surroundings=Surroundings())
