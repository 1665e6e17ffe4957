"""The verb identify and its report, as a commissioning engineer sees them."""

from __future__ import annotations

import json
import math
import re
import warnings
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.algebra import Vec3
from armdyn.doctor.log_case import with_gravity
from armdyn.formats.patch import Page
from armdyn.identification import Log, LogFormat, Processing
from armdyn.identification.fit.calibration import with_zeros
from armdyn.robot import Placement
from support.command import Run, plain
from support.logs import rubbing, simulated

ARM = rubbing("planar3r")
NARROW = 90
"""Columns of a terminal in which findings are stacked, so that their sentences are whole."""


def written(path: Path, log: Log, scale: float = 1.0) -> Path:
    names = ["t", *(f"{kind}{j + 1}" for kind in ("q", "tau") for j in range(log.n))]
    table = np.column_stack([log.t, log.q * scale, log.tau])
    np.savetxt(path, table, delimiter=",", header=",".join(names), comments="", fmt="%.12g")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("identify")
    log = simulated(ARM, 0, torque_noise=0.005)
    ARM.save(folder / "arm.toml")
    for name, column in (("q", log.q), ("tau", log.tau)):
        np.savetxt(folder / f"{name}.csv", column, delimiter=",", fmt="%.12g")
    return {
        "folder": folder,
        "arm": folder / "arm.toml",
        "log": written(folder / "a.csv", log),
        "other": written(folder / "b.csv", simulated(ARM, 1, torque_noise=0.005)),
        "reversed": written(folder / "c.csv", Log(log.t, log.q, -log.tau)),
    }


def test_log_in_robot_and_report_out(files: dict[str, Path], run: Run) -> None:
    page, fitted, data = (files["folder"] / name for name in ("r.html", "fitted.toml", "fit.json"))
    options = ("--validation", files["other"], "--report", page, "--out", fitted)
    status, shown, _ = run("identify", files["arm"], files["log"], *options)
    assert status == 0
    assert "on held-out data" in shown and "as .toml" in shown and "Torque errors by joint" in shown
    assert len(shown.splitlines()) <= 60
    # The robot that was written predicts torques as the one that made the log does.
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-0.5, 0.5, (3, 50, ARM.n))
    exact = armdyn.compile(ARM).inverse_dynamics(q, qd, qdd)
    found = armdyn.compile(armdyn.load(str(fitted))).inverse_dynamics(q, qd, qdd)
    assert np.linalg.norm(found - exact) < 0.02 * np.linalg.norm(exact)
    text = page.read_text(encoding="utf-8")
    for chapter in ("Errors of what is delivered", "What changed", "Findings", "Processing of the log",
                    "Base parameters", "Residuals", "Identifiability", "Measured and predicted torques"):  # fmt: skip
        assert chapter in text
    assert text.count("<svg") >= ARM.n  # torques of every joint, and residuals against what friction depends on
    assert "http" not in text.replace("http://www.w3.org", ""), "the page fetches something"
    # Whether the shorter log leaves findings is not the point here: the status is not asserted.
    run("identify", files["arm"], files["log"], "--validation", "0.3", "--out", data)
    assert json.loads(data.read_text(encoding="utf-8"))["validation"]["held_out"] is True


def test_the_users_own_urdf_file_gets_the_identified_values_and_nothing_else(files: dict[str, Path], run: Run) -> None:
    own, new = files["folder"] / "own.urdf", files["folder"] / "new.urdf"
    upright = replace(ARM, gravity=Vec3(0, 0, -9.81), base=Placement(rpy=Vec3(np.pi / 2, 0, 0)), expressions=None)
    upright.save(own)
    shapes = '<!-- mine --><visual><geometry><mesh filename="package://a/b.stl"/></geometry></visual>'
    text = own.read_text(encoding="utf-8").replace("</link>", f"{shapes}</link>")
    own.write_text(text, encoding="utf-8")
    _, shown, _ = run("identify", own, files["log"], "--out", new)
    assert "torque error" in plain(shown)
    pages = [Page(path.read_text(encoding="utf-8")) for path in (own, new)]
    assert pages[1].original.count(shapes) == text.count(shapes) > 2
    identified = ("inertial", "mass", "inertia", "origin", "dynamics")
    before, after = ([(t.name, t.values) for t in page.root.walk() if t.name not in identified] for page in pages)
    assert before == after
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-0.5, 0.5, (3, 50, ARM.n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", armdyn.ModelWarning)  # noise may make a small inertia negative
        found = armdyn.compile(armdyn.load(new)).inverse_dynamics(q, qd, qdd)
    exact = armdyn.compile(ARM).inverse_dynamics(q, qd, qdd)
    assert np.linalg.norm(found - exact) < 0.05 * np.linalg.norm(exact)  # URDF has no offsets of friction


def test_files_of_one_quantity_and_a_loggers_file(files: dict[str, Path], run: Run) -> None:
    folder = files["folder"]
    split = (f"q={folder / 'q.csv'}", f"tau={folder / 'tau.csv'}")
    logger = folder / "logger.toml"
    logger.write_text("[log]\nrate = 250\n", encoding="utf-8")
    assert run("identify", files["arm"], *split, "--logger", logger).status == 0
    logger.write_text("[log]\nrate = 250\ngains = -1\n[processing]\norder = 4\n", encoding="utf-8")
    status, out, _ = run("identify", files["arm"], *split, "--logger", logger, columns=NARROW)
    assert status == 1
    assert "negative gain" in plain(out)


def test_a_loggers_file_is_checked_and_its_template_is_complete(files: dict[str, Path], run: Run) -> None:
    logger = files["folder"] / "wrong.toml"
    for text, words in (("[lgo]\n", "log"), ("[log]\nrates = 3\n", "rate"), ("[log]\nside = 'motr'\n", "motor")):
        logger.write_text(text, encoding="utf-8")
        status, _, err = run("identify", files["arm"], files["log"], "--logger", logger)
        assert status == 2 and words in err
    status, template, _ = run("identify", "--print-template")
    assert status == 0
    known = [each.name for kind in (LogFormat, Processing) for each in fields(kind)]
    assert re.findall(r"^# (\w+) = ", template, re.M) == known
    logger.write_text(re.sub(r"^# (\w+ = [^.]*)$", r"\1", template, flags=re.M), encoding="utf-8")  # all defaults
    assert run("identify", files["arm"], files["log"], "--logger", logger).status == 0


def test_doubts_are_status_1_and_said_in_words(files: dict[str, Path], run: Run) -> None:
    status, out, _ = run("identify", files["arm"], files["reversed"], columns=NARROW)
    assert status == 1
    assert "suspicious" in out and "negative gain" in plain(out)


def test_wrong_calls_are_status_2(files: dict[str, Path], run: Run) -> None:
    log = files["log"]
    calls: tuple[tuple[object, ...], ...] = (
        (files["folder"] / "none.csv",),
        (log, "--report", "r.pdf"),
        (log, "--logger", "none.toml"),
        (log, "--include", "magic"),
        (log, "--validation", "1.5"),
    )
    for arguments in calls:
        status, _, err = run("identify", files["arm"], *arguments)
        assert status == 2
        assert "Traceback" not in err


def test_columns_that_are_not_known_are_listed(files: dict[str, Path], run: Run) -> None:
    log = files["folder"] / "odd_names.csv"
    log.write_text("t,q1,q2,q3,load_a\n" + "\n".join(f"{k / 100},0.1,0.2,0.3,2" for k in range(50)))
    status, _, err = run("identify", files["arm"], log)
    assert status == 2
    assert "load_a" in err
    assert "columns" in plain(err) and "--logger" in plain(err)


def test_zeros_and_gravity_are_estimated_and_then_no_findings(run: Run, tmp_path: Path) -> None:
    """A base tilted by 6 degrees and two zeros off by 2 degrees: within their bars, and no longer suspicious."""
    arm = rubbing("ur5")
    zeros = {"shoulder_lift_joint": 0.035, "wrist_2_joint": -0.03}
    shift = np.array([zeros.get(joint.name, 0.0) for joint in arm.joints])
    angle = math.radians(6)
    tilted = with_gravity(arm, 9.81 * np.array([math.sin(angle), 0.0, -math.cos(angle)]))
    log = written(tmp_path / "log.csv", simulated(with_zeros(tilted, shift), 21))
    arm.save(tmp_path / "arm.toml")
    out = tmp_path / "fit.json"
    options = ("--calibrate", ",".join((*zeros, "gravity")), "--plain", "--out", out)
    status, shown, err = run("identify", tmp_path / "arm.toml", log, *options)
    assert status == 0, shown + err
    found = json.loads(out.read_text(encoding="utf-8"))["calibrated"]
    for name, x in zeros.items():
        assert abs(found["zeros"][name]["value"] - x) < 4 * found["zeros"][name]["std"] < 0.04
    assert abs(found["tilt"]["value"] - angle) < 4 * found["tilt"]["std"] < 0.01
