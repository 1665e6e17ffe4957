"""explain names the cause of a seeded fault, and names none where two models agree.

The seeds are drawn anew in every run and printed. The thresholds of the search were chosen on the catalog robots panda,
rx90 and puma560 and on random robots of seeds 0 to 99; the robots here are others: ur5, scara5 and random robots of
seeds from 10,000 on. By default a sample of the faults is drawn; ARMDYN_FULL=1 runs every kind on twenty robots.
"""

from __future__ import annotations

import os
import secrets
import sys
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.diagnosis import Explanation, explain
from armdyn.robot import Robot
from support.faults import FAULTS, Fault

FULL = bool(os.environ.get("ARMDYN_FULL"))
SUFFIX = {"urdf": ".urdf", "mjcf": ".xml"}
VISIBLE = 1e-4
"""A fault below this part of the torques is drawn again."""


def drawn_seed() -> int:
    seed = int(os.environ.get("ARMDYN_SEED", 0)) or secrets.randbelow(2**31)
    sys.stdout.write(f"ARMDYN_SEED={seed}\n")
    return seed


def test_robot(rng: np.random.Generator) -> Robot:
    """A catalog or random robot that was not used to choose the thresholds."""
    if rng.random() < 0.15:
        return armdyn.load(str(rng.choice(["ur5", "scara5"])))
    seed, n = int(rng.integers(10_000, 2**31)), int(rng.integers(3, 8))
    return armdyn.random_robot(seed, n, fixed=0.5, branching=0.3 * float(rng.integers(2)))


test_robot.__test__ = False  # type: ignore[attr-defined]


def written(robot: Robot, folder: Path, format: str) -> Path:
    path = folder / f"{robot.name}{SUFFIX[format]}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot.without("friction").save(path)
    return path


def faulty(fault: Fault, source: Path, rng: np.random.Generator) -> Path | None:
    """The file with the fault, or None if it has no place for it."""
    root = ET.parse(source).getroot()
    if not fault.edit(rng, root):
        return None
    path = source.with_name(f"{source.stem}_{fault.kind}{source.suffix}")
    ET.ElementTree(root).write(path)
    return path


def explained(fault: Fault, robot: Robot, folder: Path, rng: np.random.Generator) -> Explanation | None:
    """The explanation of a visible fault of one kind in a robot's file; None if the robot has none."""
    source = written(robot, folder, fault.format)
    for _ in range(10):
        other = faulty(fault, source, rng)
        if other is None:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = explain(source, other)
        held = fault.kind in ("locked_joint", "mimic_joint")  # the other joints may well have the same torques
        if found.status != "equal" and (held or found.difference > VISIBLE):
            return found
    return None


def test_seeded_faults_are_named_first(tmp_path: Path) -> None:
    seed = drawn_seed()
    rng = np.random.default_rng(seed)
    wanted = 20 * len(FAULTS) if FULL else 10
    misses: list[Any] = []
    count = 0
    chosen = list(rng.permutation(len(FAULTS)))
    while count < wanted:
        fault = FAULTS[chosen[count % len(chosen)]]
        found = explained(fault, test_robot(rng), tmp_path, rng)
        if found is None:
            continue
        count += 1
        if not found.causes or found.causes[0].kind != fault.kind:
            misses.append((fault.kind, [cause.kind for cause in found.causes]))
    allowed = 0.05 * wanted if FULL else 2  # of 10 with a rate of 95 %, three or more are missed in 1 run of 90
    assert len(misses) <= allowed, (seed, misses)


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
    assert found.record()["status"] == "explained" and found.exit_status == 1
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
