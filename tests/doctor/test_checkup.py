"""Each rule fires on a robot broken for it, and is silent on the healthy robot."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn import Robot, catalog
from armdyn.algebra import Mat3, Vec3
from armdyn.doctor import check
from armdyn.findings import Checkup, Finding
from armdyn.formats import urdf
from armdyn.robot import Body, CentralInertia, Rotor
from armdyn.robot.record import robot_from_record
from armdyn.robot.right_angles import snap
from support.limits import calls, memory_growth

Record = dict[str, Any]


def healthy() -> Record:
    """A two-link arm with everything a robot can have, all of it plausible."""
    limits = {"lower": -2.0, "upper": 2.0, "velocity": 3.0, "torque": 50.0}
    drive = {
        "friction": {"viscous": 0.1, "coulomb": 0.5, "static": 0.7, "stribeck": 0.05},
        "rotor": {"inertia": 1e-4, "ratio": 100.0, "mass": 0.5},
    }
    arm = {"a": 0.4, "mass": 4.0, "com": [-0.2, 0, 0], "inertia": [0.005, 0, 0, 0.05, 0, 0.05]}
    hand = {"a": 0.3, "mass": 2.0, "com": [-0.15, 0.0, 0.01], "inertia": [0.002, 0, 0, 0.015, 0, 0.016]}
    return {
        "name": "healthy",
        "joint": [
            {"name": "shoulder", "link": "arm", "alpha": math.pi / 2, "limits": limits} | drive | arm,
            {"name": "elbow", "link": "hand", "limits": dict(limits)} | copy.deepcopy(drive) | hand,
        ],
    }


def findings(record: Record) -> dict[str, Finding]:
    return {finding.rule: finding for finding in check(robot_from_record(record)).findings}


def test_the_healthy_robot_has_no_finding_at_all() -> None:
    checkup = check(robot_from_record(healthy()))
    assert checkup.findings == ()
    assert checkup.fine
    assert checkup.summary == "no issues found"
    assert str(checkup) == "Check-up of healthy: no issues found"


def first(**changes: Any) -> Callable[[Record], None]:
    return lambda record: record["joint"][0].update(changes)


def last(**changes: Any) -> Callable[[Record], None]:
    return lambda record: record["joint"][1].update(changes)


def top(**changes: Any) -> Callable[[Record], None]:
    return lambda record: record.update(changes)


def part(key: str, **changes: Any) -> Callable[[Record], None]:
    return lambda record: record["joint"][0][key].update(changes)


def bare(*keys: str) -> Callable[[Record], None]:
    def change(record: Record) -> None:
        for key in keys:
            record["joint"][1].pop(key)

    return change


def sliding(record: Record) -> None:
    record["joint"][1]["limits"] = {"velocity": 1.0, "torque": 10.0}
    record["joint"][1]["type"] = "prismatic"


BROKEN: list[tuple[str, str, str, Callable[[Record], object]]] = [
    ("negative-mass", "invalid", "body 'arm'", first(mass=-4.0)),
    ("not-positive", "invalid", "body 'arm'", first(inertia=[0.005, 0, 0, -0.05, 0, 0.05])),
    ("not-positive", "invalid", "body 'arm'", first(inertia=[0.01, 0.05, 0, 0.01, 0, 0.02])),
    ("triangle", "invalid", "body 'arm'", first(inertia=[0.005, 0, 0, 0.05, 0, 0.09])),
    ("inertia-without-mass", "suspicious", "body 'hand'", last(mass=0)),
    ("massless-end", "suspicious", "joint 'elbow'", bare("mass", "com", "inertia", "rotor")),
    ("massless-end", "suspicious", "joint 'elbow'", lambda r: (
        bare("rotor")(r), last(com=[-0.3, 0, 0], inertia=[0] * 6)(r)
    )),
    ("point-mass", "suspicious", "body 'hand'", bare("inertia")),
    ("gyration-large", "suspicious", "body 'arm'", first(inertia=[5.0, 0, 0, 50.0, 0, 50.0])),
    ("gyration-small", "suspicious", "body 'arm'", first(mass=4000.0, inertia=[0.0005, 0, 0, 0.005, 0, 0.005])),
    ("tensor-about-origin", "note", "body 'arm'", first(inertia=[0.005, 0, 0, 0.21, 0, 0.21])),
    ("com-far", "suspicious", "body 'arm'", first(com=[-200.0, 0, 0])),
    ("grouped-parameters", "note", "body 'arm'", lambda r: (
        [r["joint"][0].pop(key) for key in ("com", "inertia")],
        first(mass=0, moment=[1.0, 0, 0], inertia_origin=[0, 0.1, 0, 0.3, 0, 0.2])(r),
    )),
    ("gravity-up", "suspicious", "gravity", top(gravity=[0, 0, 9.81])),
    ("gravity-size", "suspicious", "gravity", top(gravity=[0, 0, -981.0])),
    ("zero-gravity", "note", "gravity", top(gravity=[0, 0, 0])),
    ("tool-stands-still", "suspicious", "tool", top(tool={"on": "base"})),
    ("no-joints", "suspicious", "robot", lambda r: [joint.update(type="fixed") for joint in r["joint"]]),
    ("angle-off", "note", "joint 'shoulder'", first(alpha=1.5708)),
    ("angle-off", "note", "joint 'elbow'", last(theta=-3.14)),
    ("angle-off", "note", "base", top(base={"rpy": [0, 1.57, 0]})),
    ("angle-off", "note", "tool", top(tool={"rpy": [0, 0, 3.14159]})),
    ("negative-friction", "suspicious", "joint 'shoulder', friction", part("friction", viscous=-0.1)),
    ("static-below-coulomb", "suspicious", "joint 'shoulder', friction", part("friction", static=0.1)),
    ("stribeck-missing", "suspicious", "joint 'shoulder', friction", part("friction", stribeck=0)),
    ("negative-rotor", "invalid", "joint 'shoulder', rotor", part("rotor", inertia=-1e-4)),
    ("negative-rotor", "invalid", "joint 'shoulder', rotor", part("rotor", mass=-1.0)),
    ("zero-ratio", "suspicious", "joint 'shoulder', rotor", part("rotor", ratio=0)),
    ("range-inverted", "suspicious", "joint 'shoulder', limits", part("limits", lower=2.0, upper=-2.0)),
    ("range-empty", "suspicious", "joint 'shoulder', limits", part("limits", lower=0, upper=0)),
    ("range-in-degrees", "note", "joint 'shoulder', limits", part("limits", lower=-170.0, upper=170.0)),
    ("zero-limit", "suspicious", "joint 'shoulder', limits", part("limits", torque=0)),
    ("negative-limit", "suspicious", "joint 'shoulder', limits", part("limits", velocity=-3.0)),
    ("missing-limits", "note", "limits", bare("limits")),
    ("missing-limits", "note", "limits", sliding),
    ("loop-in-one-link", "suspicious", "loop 'loop1'", top(loop=[{"first": "arm", "second": "arm"}])),
    ("loop-out-of-reach", "suspicious", "loop 'loop1'", top(
        loop=[{"first": "hand", "second": "base", "second_at": {"xyz": [0, 3.0, 0]}}])),
    ("file-note", "note", "robot", top(notes=["a word"])),
    ("file-note", "note", "joint 'elbow'", last(notes=["mimics shoulder"])),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "severity", "where", "breaks"), BROKEN, ids=[case[0] for case in BROKEN])
def test_a_broken_robot_is_found_out(rule: str, severity: str, where: str, breaks: Callable[[Record], None]) -> None:
    record = healthy()
    breaks(record)
    found = findings(record)
    assert rule in found, sorted(found)
    finding = found[rule]
    assert finding.severity == severity
    assert finding.where == where
    assert finding.invalid == (severity == "invalid")
    if rule != "file-note":
        assert finding.what
        assert finding.condition
        assert finding.advice
    checkup = check(robot_from_record(record))
    assert checkup.fine == all(f.severity == "note" for f in checkup.findings)
    assert finding.where in str(checkup).replace("\n", " ") or rule == "file-note" or len(finding.where) > 16


def test_amounts_are_those_of_a_calculation_by_hand() -> None:
    record = healthy()
    first(inertia=[0.005, 0, 0, 0.05, 0, 0.09])(record)
    assert findings(record)["triangle"].value == pytest.approx(0.09 - 0.05 - 0.005)
    first(inertia=[0.01, 0.05, 0, 0.01, 0, 0.02])(record)
    assert findings(record)["not-positive"].value == pytest.approx(-0.04)
    assert findings(record)["not-positive"].amount == "-0.04 kg m^2"


def test_what_snapping_changes_is_a_bound_on_the_true_change() -> None:
    record = healthy()
    first(alpha=1.5708)(record)
    bound = findings(record)["angle-off"].value
    assert bound is not None
    exact = robot_from_record(healthy())
    rounded = robot_from_record(record)
    rng = np.random.default_rng(1)
    for _ in range(50):
        q = rng.uniform(-3, 3, 2)
        moved = _tool(exact, q) - _tool(rounded, q)
        assert np.linalg.norm(moved) <= bound
    assert bound < 1e-5


def _tool(robot: Robot, q: np.ndarray) -> np.ndarray:
    pose: Any = armdyn.mechanics.kinematics.pose(robot, q)
    return np.asarray(pose)[:3, 3]


@pytest.mark.parametrize(
    ("given", "snapped"),
    [(1.5708, math.pi / 2), (1.57, math.pi / 2), (3.14159, math.pi), (-1.5707963, -math.pi / 2), (4.71, 1.5 * math.pi),
     (1e-9, 0.0), (math.pi / 2, None), (-math.pi, None), (0, None), (1.5, None), (1e-3, None), (math.pi / 4, None)],
)  # fmt: skip
def test_snap(given: float, snapped: float | None) -> None:
    assert snap(given) == snapped


def test_rounding_of_a_plate_or_a_rod_is_no_finding() -> None:
    for tensor in ([0.01, 0, 0, 0.04, 0, 0.0500000001], [-1e-10, 0, 0, 0.05, 0, 0.05]):
        record = healthy()
        first(inertia=tensor)(record)
        assert findings(record) == {}


def test_likely_causes() -> None:
    record = healthy()
    first(inertia=[0, 0, 0, 0.01, 0, 0.05])(record)
    assert "Ixx" in findings(record)["triangle"].cause
    first(inertia=[1e-3] * 6)(record)
    assert "all six entries are the same" in findings(record)["triangle"].cause
    first(inertia=[0.005, 0, 0, 0.05, 0, 0.0552])(record)
    assert findings(record)["triangle"].cause == "rounding in the source"


def test_products_of_the_opposite_sign_are_recognised() -> None:
    """The tensor of four masses on skew places, with its products negated."""
    rng = np.random.default_rng(3)
    recognised = 0
    for _ in range(50):
        points = rng.uniform(-0.1, 0.1, (4, 3)) * (1, 0.7, 0.4)
        points -= points.mean(axis=0)
        T = sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)
        record = healthy()
        first(inertia=T[np.triu_indices(3)].tolist())(record)
        assert not any(f.invalid for f in findings(record).values())
        wrong = 2 * np.diag(np.diag(T)) - T
        first(inertia=wrong[np.triu_indices(3)].tolist())(record)
        causes = [f.cause for f in findings(record).values() if f.invalid]
        recognised += any("opposite sign" in cause for cause in causes)
        assert all("opposite sign" in cause or "rounding" in cause for cause in causes)
    assert recognised > 5


def test_grouped_parameters_with_mass_are_told_apart() -> None:
    record = healthy()
    for key in ("com", "inertia"):
        record["joint"][0].pop(key)
    first(moment=[0, 0, 1.0], inertia_origin=[0.01, 0, 0, 0.01, 0, 0.05])(record)
    assert "grouped or identified" in findings(record)["not-positive"].cause


def test_parts_that_only_code_can_make() -> None:
    robot = robot_from_record(healthy())
    joint = robot.tree[0]
    with pytest.raises(armdyn.ArmdynError, match="unknown body 'nowhere'"):
        replace(robot, tree=(replace(joint, rotor=Rotor(on="nowhere")), *robot.tree[1:]))
    skewed = CentralInertia(1.0, Vec3(0, 0, 0), Mat3(((0.01, 0.001, 0), (0, 0.01, 0), (0, 0, 0.01))))
    odd = replace(robot, tree=(replace(joint, body=Body("arm", skewed)), *robot.tree[1:]))
    assert "not-symmetric" in {f.rule for f in check(odd).findings}
    nan = CentralInertia(math.nan, Vec3(0, 0, 0), Mat3.zero())
    empty = replace(robot, tree=(replace(joint, body=Body("arm", nan)), *robot.tree[1:]))
    assert "not-finite" in {f.rule for f in check(empty).findings}


def test_a_massless_body_with_a_fixed_load_is_no_massless_end() -> None:
    record = healthy()
    bare("mass", "com", "inertia", "rotor")(record)
    assert "massless-end" in findings(record)
    loaded = robot_from_record(record).with_payload(1.0, (0, 0, 0.05), (1e-3, 0, 0, 1e-3, 0, 1e-3))
    assert "massless-end" not in {f.rule for f in check(loaded).findings}


@pytest.mark.parametrize("seed", range(20))
def test_random_robots_are_healthy(seed: int) -> None:
    checkup = check(armdyn.random_robot(seed, 1 + seed % 8))
    assert checkup.fine, str(checkup)


@pytest.mark.parametrize("name", catalog.names())
def test_catalog_robots_have_nothing_impossible_or_doubtful(name: str) -> None:
    checkup = check(armdyn.load(name))
    assert checkup.fine, str(checkup)


def test_json() -> None:
    record = healthy()
    first(mass=-4.0)(record)
    read = json.loads(json.dumps(check(robot_from_record(record)).record()))
    assert read["robot"] == "healthy"
    assert read["fine"] is False
    keys = {"rule", "severity", "where", "what", "condition", "value", "unit", "cause", "advice"}
    assert all(set(finding) == keys for finding in read["findings"])
    assert read["findings"][0]["value"] == -4.0


def test_the_worst_comes_first_and_like_findings_share_a_row() -> None:
    record = healthy()
    first(mass=-4.0, alpha=1.5708)(record)
    last(mass=-4.0)(record)
    top(gravity=[0, 0, 9.81])(record)
    checkup = check(robot_from_record(record))
    severities = [finding.severity for finding in checkup.findings]
    assert severities == sorted(severities, key=["invalid", "suspicious", "note"].index)
    assert checkup.summary == "2 invalid, 1 suspicious, 1 note"
    rows = checkup.section().rows
    assert rows[0][1] == "body 'arm', body 'hand'"
    assert len(rows) == len(checkup.findings) - 1


def test_load_warns_and_strict_refuses(tmp_path: Any) -> None:
    record = healthy()
    first(mass=-4.0)(record)
    path = robot_from_record(record).save(tmp_path / "broken.toml")
    with pytest.warns(armdyn.ModelWarning, match="body 'arm': its mass is -4 kg"):
        armdyn.load(path)
    with pytest.raises(armdyn.ArmdynError, match="its mass is -4 kg"):
        armdyn.load(path, strict=True)


def test_findings_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Checkup("x", ()).robot = "y"  # type: ignore[misc]


def test_a_link_of_many_bodies_is_checked_in_linear_time() -> None:
    """Comparing every body with all pairs of frames of its link took minutes and gigabytes for a file of 1 MB."""
    half, whole = wide_robot(200), wide_robot(400)
    growth = memory_growth()
    assert calls(lambda: check(whole)) < 2.2 * calls(lambda: check(half))
    assert growth() < 0.3


def wide_robot(bodies: int) -> armdyn.Robot:
    links = "".join(
        f'<link name="l{i}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
        f'</inertial></link><joint name="j{i}" type="{"fixed" if i else "revolute"}"><origin xyz="{i} 0 1"/>'
        f'<parent link="{"l0" if i else "base"}"/><child link="l{i}"/></joint>'
        for i in range(bodies)
    )
    return urdf.loads(f'<robot name="wide"><link name="base"/>{links}</robot>')


def test_many_findings_of_one_rule_share_a_row() -> None:
    several = [Finding("heavy", "suspicious", f"'b{i}'", f"its mass is {i} kg", value=i, unit="kg") for i in range(9)]
    few, many = (Checkup("robot", tuple(some)).section().rows for some in (several[:3], several))
    assert len(few) == 3
    assert len(many) == 1
    what = "Its mass is 8 kg. There are 9 findings of this kind; this is the largest."
    assert many[0][1:4] == ("'b8', 'b0', 'b1' and 6 more", what, "8 kg")


def test_limits_that_motors_give_are_not_missing() -> None:
    record = healthy()
    for row in record["joint"]:
        row["limits"] = {"lower": -2.0, "upper": 2.0}
        row["motor"] = {"torque": 1.0, "speed": 300.0}
    assert "missing-limits" not in findings(record)


def test_a_joint_may_be_called_base() -> None:
    record = healthy()
    record["joint"][0].update(name="base", link="base")
    assert findings(record) == findings(healthy())


def test_a_tool_frame_with_a_trifling_tensor_is_no_suspicion() -> None:
    record = healthy()
    frame = {
        "name": "tool_frame",
        "type": "fixed",
        "link": "tool",
        "a": 0.05,
        "mass": 0,
        "inertia": [1e-9, 0, 0, 1e-9, 0, 1e-9],
    }
    record["joint"].append(frame)
    assert findings(record)["inertia-without-mass"].severity == "note"


def test_load_warns_in_one_line(tmp_path: Any) -> None:
    record = healthy()
    first(mass=-4.0)(record)
    last(mass=-2.0)(record)
    path = robot_from_record(record).save(tmp_path / "broken.toml")
    with pytest.warns(armdyn.ModelWarning) as caught:
        armdyn.load(path)
    (warning,) = caught
    assert "-4 kg" in str(warning.message) and "-2 kg" in str(warning.message)
