"""explain names the causes of seeded faults, and names none where two models agree.

The seeds are drawn anew in every run; support/fault_runs.py says which robots are drawn, and prints the score kind by
kind as a command of its own. By default a sample of the faults is drawn; ARMDYN_FULL=1 runs all of it.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.doctor import explain
from armdyn.report.pages.explain_page import explanation_page
from support.command import Run
from support.fault_runs import agreeing, drawn_seed, kinds_of_faults, pairs_of_faults, single_faults

FULL = bool(os.environ.get("ARMDYN_FULL"))


def test_seeded_faults_are_named_first(tmp_path: Path) -> None:
    seed = drawn_seed()
    kinds = kinds_of_faults()
    if not FULL:
        kinds = [kinds[k] for k in np.random.default_rng(seed).choice(len(kinds), 8, replace=False)]
    score = single_faults(seed, tmp_path, robots=20 if FULL else 1, kinds=kinds)
    allowed = 0.05 if FULL else 0.25  # of 8 with a rate of 95 %, three or more are missed in 1 run of 170
    assert 1 - score.rate <= allowed, score.table(f"seed {seed}")


def test_pairs_of_faults_are_both_named(tmp_path: Path) -> None:
    seed = drawn_seed()
    score = pairs_of_faults(seed, 200 if FULL else 3, tmp_path)
    assert score.rate >= (0.85 if FULL else 0.3), score.table(f"seed {seed}")  # of 3 at 85 %, all missed: 1 in 300


def test_agreeing_models_have_no_causes(tmp_path: Path) -> None:
    seed = drawn_seed()
    score = agreeing(seed, 200 if FULL else 10, tmp_path)
    assert score.rate == 1, score.table(f"seed {seed}")


def test_the_report_shows_causes_torques_and_models(run: Run, tmp_path: Path) -> None:
    bare = armdyn.load("scara5").without("friction", "limits")
    heavy = bare.with_payload(1.0)
    found = explain(bare, heavy)
    assert found.torques is not None and found.torques.parts[0] is not None
    np.testing.assert_allclose(found.torques.first + found.torques.parts[0], found.torques.second, atol=1e-9)
    page = explanation_page(found)
    assert page.count("<svg") >= 3 and "payload" in page and "The two models" in page
    bare.save(tmp_path / "a.urdf"), heavy.save(tmp_path / "b.urdf")
    status, text, _ = run("explain", tmp_path / "a.urdf", tmp_path / "b.urdf", "--report", tmp_path / "why.html")
    assert status == 1 and "why.html" in text and (tmp_path / "why.html").read_text(encoding="utf-8").count("<svg") >= 3


@pytest.mark.parametrize("name", ["panda", "scara5"])
def test_agreeing_files_have_no_causes(name: str, tmp_path: Path) -> None:
    robot = armdyn.load(name).without("friction")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        urdf, mjcf = robot.save(tmp_path / "a.urdf"), robot.save(tmp_path / "a.xml")
        for other in (tmp_path / "a.urdf", tmp_path / "a.xml"):
            found = explain(robot, other)
            assert found.status == "equal" and not found.causes, found
    assert urdf is None or mjcf is not None


def test_the_result_prints_and_is_json() -> None:
    robot = armdyn.load("panda")
    found = explain(robot, robot.with_payload(1.0, (0, 0, 0.1)), names=("bare", "loaded"))
    assert found.causes[0].kind == "payload" and found.causes[0].share == pytest.approx(1.0)
    assert "Payload" in str(found) or "payload" in str(found)
    assert found.record()["status"] == "explained" and not found.fine
    assert "<table>" in found._repr_html_()


def test_continuous_joints_of_pinocchio(tmp_path: Path) -> None:
    """Pinocchio has the cosine and the sine of a continuous joint in its configuration."""
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is the other engine of this test")
    robot = armdyn.load("ur5").without("friction", "limits")
    model = pin.buildModelFromUrdf(str(robot.save(tmp_path / "ur5.urdf")))
    assert model.nq > model.nv
    assert explain(robot, model).status == "equal"
    heavier = robot.with_payload(1.0)
    assert explain(model, heavier).causes
