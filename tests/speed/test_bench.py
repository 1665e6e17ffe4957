"""The benchmark itself: it runs, compares before it times, and reports what it left out. No times are asserted."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, MissingExtra, NotApplicable, RobotError, UnknownName
from armdyn.notebook_view import markdown
from armdyn.robot import Robot
from armdyn.speed import bench
from armdyn.speed import sample_robots as robots
from armdyn.speed.agreement import difference
from armdyn.speed.calls import FUNCTIONS, Call, Inputs
from armdyn.speed.engines import OTHERS
from armdyn.speed.engines.own import OwnEngine
from armdyn.speed.measuring import QUICK
from armdyn.speed.peak import peak
from armdyn.speed.result import OWN, Report
from armdyn.speed.stopwatch import interleaved, one_core

TINY = replace(QUICK, sizes=(16, 64), rounds=2, turn=1e-5, most=0.01, compared=4)


class Wrong:
    """Ours with one torque spoilt by a millionth; batches are right."""

    def __init__(self, robot: Robot) -> None:
        self.own = OwnEngine(armdyn.compile(robot))

    def single(self, function: str, inputs: Inputs) -> dict[str, Call]:
        right = self.own.single(function, inputs)["call"]
        return {"call": replace(right, label="wrong.call", read=lambda value: right.read(value) * (1 + 1e-6))}

    def batch(self, function: str, inputs: Inputs) -> dict[str, Call]:
        right = self.own.batch(function, inputs)["batch"]
        return {"batch": replace(right, label="wrong.batch")}


class Failing(Wrong):
    def single(self, function: str, inputs: Inputs) -> dict[str, Call]:
        right = super().single(function, inputs)["call"]
        return {"call": replace(right, label="failing.call", function=self.fail)}

    def fail(self, *_: Any) -> None:
        raise ValueError("no such thing")


def absent(robot: Robot) -> Any:
    raise MissingExtra("Such an engine is not installed")


def refusing(robot: Robot) -> Any:
    raise NotApplicable("one joint is too few")


@pytest.fixture(scope="module")
def report() -> Report:
    others = {"Wrong": Wrong, "Failing": Failing, "Absent": absent, "Refusing": refusing}
    return bench(["pendulum"], settings=TINY, others=others)


def test_a_wrong_engine_is_caught_and_not_timed(report: Report) -> None:
    for function in report.robots[0].functions:
        if function.name == "coriolis_matrix":
            continue  # zero for one joint, whatever is done to it
        if function.name == "inverse_dynamics":
            assert function.differences["wrong.call"] == pytest.approx(1e-6, rel=1e-3)
        labels = [timing.label for timing in function.timings]
        assert "wrong.call" not in labels
        assert "wrong.batch" in labels
    assert {found.call for found in report.disagreements} == {"wrong.call"}
    assert "wrong.call differs from armdyn by 1.0e-06" in markdown(report._view())


def test_what_is_left_out_is_named(report: Report) -> None:
    page = markdown(report._view())
    assert "Absent is left out: Such an engine is not installed." in page
    assert "pendulum: Refusing is left out: one joint is too few." in page
    assert "failing.call is left out because it failed: ValueError: no such thing." in page
    assert "pendulum is measured without friction" in page


def test_every_function_of_ours_is_timed(report: Report) -> None:
    [robot] = report.robots
    assert [function.name for function in robot.functions] == list(FUNCTIONS)
    for function in robot.functions:
        kinds = {(timing.kind, timing.samples) for timing in function.timings if timing.engine == OWN}
        assert kinds == {("call", 1), ("out", 1), *((kind, size) for kind in ("batch", "kernel") for size in (16, 64))}
        assert all(timing.seconds > 0 for timing in function.timings)
        assert function.cold > 0
        assert function.warm > 0


def test_operations_and_share(report: Report) -> None:
    function = report.robots[0].functions[0]
    kernel = function.timing(OWN, "kernel", 64)
    assert kernel
    count = function.operations.multiplications + function.operations.additions
    assert function.flops() == count
    assert function.flops(sincos=True) == count + 34  # the pendulum has one angle
    assert function.share(report.peak, 64) == pytest.approx(count / kernel.seconds / report.peak)


def test_record_is_json_with_a_fixed_schema(report: Report) -> None:
    record = json.loads(json.dumps(report.record(), allow_nan=False))
    assert set(record) == {
        "machine",
        "quick",
        "peak_flops",
        "bandwidth",
        "tolerance",
        "missing",
        "robots",
        "disagreements",
    }
    [robot] = record["robots"]
    assert set(robot) == {"name", "joints", "without", "absent", "skipped", "all_functions", "functions"}
    for function in robot["functions"]:
        assert set(function) == {"name", "multiplications", "additions", "divisions", "angles", "lanes", "compile",
                                 "share", "differences", "failed", "timings"}  # fmt: skip
        for timing in function["timings"]:
            assert set(timing) == {"engine", "call", "kind", "samples", "seconds", "ratio"}
            assert timing["seconds"] > 0


def test_the_peak_is_a_positive_number() -> None:
    assert peak(1e-3) > 1e6


def test_difference() -> None:
    ours = np.array([1.0, -4.0])
    assert difference(ours, ours) == 0
    assert difference(ours, np.array([1.0, -2.0])) == 0.5
    assert difference(ours, np.array([np.nan, 0.0])) == np.inf
    assert difference(ours, ours[:1]) == np.inf
    assert difference(np.zeros(2), np.full(2, 1e-3)) == 1e-3


def test_turns_and_the_core() -> None:
    calls: list[str] = []
    pair = {name: Call(name, calls.append, (name,), lambda value: value) for name in "ab"}
    best = interleaved(pair, rounds=3, turn=1e-6, most=1.0)
    assert set(best) == {"a", "b"}
    assert all(0 <= seconds < float("inf") for seconds in best.values())
    assert {"a", "b"} == set(calls)
    with one_core():
        pass


def test_robots_by_name() -> None:
    chain = robots.chosen("chain5")
    assert (chain.name, chain.n) == ("chain5", 5)
    assert robots.chosen("chain5").tree == chain.tree
    with pytest.raises(RobotError, match="chain of 0 joints"):
        robots.chosen("chain0")
    with pytest.raises(UnknownName, match="chainN for a chain of N joints"):
        robots.chosen("chain3x")
    with pytest.raises(ArmdynError):
        robots.chosen("no such robot")
    bare, gone = robots.comparable(robots.chosen("pendulum"))
    assert "friction" in gone
    assert not any(joint.friction for joint in bare.joints)
    rx90, gone = robots.comparable(robots.chosen("rx90"))
    assert gone == ()
    assert (robots.armature(rx90) > 0).all()


SERIAL = armdyn.random_robot(3, 4, prismatic=0.5)
REVOLUTE = armdyn.random_robot(4, 5, prismatic=0.0)
TREE = armdyn.random_robot(5, 6, branching=0.5)
FLOATING = armdyn.random_robot(8, 8, branching=0.4, free_root=True)
RX90 = robots.comparable(robots.chosen("rx90"))[0]


@pytest.mark.parametrize(
    "robot", [SERIAL, REVOLUTE, TREE, FLOATING, RX90], ids=["serial", "revolute", "tree", "floating", "rx90"]
)
@pytest.mark.parametrize("name", list(OTHERS))
def test_engines_describe_the_same_robot(name: str, robot: Robot) -> None:
    """Mixed joints, skew axes, tilted base, branches, rotors: every call of an engine gives our results."""
    try:
        engine = OTHERS[name](robot)
    except (MissingExtra, NotApplicable) as reason:
        pytest.skip(reason.what)
    own = OwnEngine(armdyn.compile(robot))
    states = robots.states(robot, 3)
    for function, count in FUNCTIONS.items():
        inputs = states[:count]
        ours = own.batch(function, inputs)["batch"].result()
        for k, row in enumerate(zip(*inputs, strict=True)):
            for call in engine.single(function, row).values():
                assert difference(ours[k], call.result()) < 1e-9, call.label
        for call in engine.batch(function, inputs).values():
            assert difference(ours, call.result()) < 1e-9, call.label


def test_the_limit_of_quick_runs_is_one_of_straight_line_code() -> None:
    nothing = replace(TINY, longest=-1)
    [short, long] = bench(["pendulum", "chain30"], settings=nothing, others={}).robots
    assert not short.functions
    assert set(short.skipped) == set(FUNCTIONS)
    assert [function.name for function in long.functions] == list(FUNCTIONS)
