"""armdyn explain."""

from __future__ import annotations

import json
from pathlib import Path

import armdyn
from support.command import Run


def test_explain_names_the_cause_and_sets_the_exit_status(run: Run, tmp_path: Path) -> None:
    file, other = tmp_path / "arm.toml", tmp_path / "loaded.toml"
    robot = armdyn.load("planar2r")
    robot.save(file)
    robot.with_payload(1.0, (0, 0, 0)).save(other)
    assert run("explain", file, file).status == 0
    status, text, _ = run("explain", file, other)
    assert status == 1 and "payload" in text
    status, text, _ = run("explain", file, other, "--json")
    assert status == 1 and json.loads(text)["causes"][0]["kind"] in ("payload", "dropped_link")


def test_explain_refuses_robots_of_other_joints(run: Run) -> None:
    status, _, error = run("explain", "planar2r", "panda")
    assert status == 2 and "movable joints" in error
