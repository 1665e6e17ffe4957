"""Every law on seven robots: exported law and exported plant move as `simulate` says; the table of the docs.

`ARMDYN_FULL=1` runs all of them for 10 s; else one law of each kind runs for a second.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from platform import machine

import numpy as np
import pytest

import armdyn
from armdyn.control.base import Law
from armdyn.control.computed_torque import ComputedTorque
from armdyn.control.named_laws import LAWS
from armdyn.controllers.controller import JOINT_SPACE, TASK_SPACE
from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError
from armdyn.robot import Robot
from armdyn.simulation import Actuation, Plant, Solver
from armdyn.simulation.course import Course
from armdyn.simulation.experiment import LawChoice, ReferenceMotion
from armdyn.simulation.run import Run
from support.closed_loops import NEEDS, ClosedLoop

ROOT = Path(__file__).parents[2]
FULL = os.environ.get("ARMDYN_FULL") == "1"
DURATION = 10.0 if FULL else 1.0
PERIOD = 1e-3
NEAR = 1e-12
"""rad or m: rounding of two orders of the same operations, in loops that damp it."""
ROBOTS = ("planar2r", "scara5", "puma560", "ur5", "panda", "parallelogram", "elastic_arm")
GAINS: dict[str, dict[str, float]] = {
    "resolved_acceleration": {"damping": 0.05},  # without it these laws test a rank
    "operational_space": {"damping": 0.05},
    "feedforward": {"kp": 50.0, "kd": 10.0},  # without feedback every rounding error grows as the arm falls
}
NOT_EXPORTED = ("torques", "admittance")
FOUR = ("computed_torque", "pid", "adaptive", "task_pid")
CASES = [(robot, law) for robot in ROBOTS for law in LAWS if law not in (*NOT_EXPORTED, "none")]
SHORT = [
    ("planar2r", "resolved_acceleration"),
    ("scara5", "adaptive"),
    ("panda", "computed_torque"),
    ("panda", "operational_space"),
    ("parallelogram", "pid"),
    ("elastic_arm", "elastic_pd"),
]
NO_LAW = {
    ("parallelogram", "robust"): "not a tree",
    ("parallelogram", "adaptive"): "not a tree",
    ("parallelogram", "elastic_pd"): "kinematic loops",
    ("ur5", "elastic_pd"): "no design",
    ("panda", "elastic_pd"): "no design",
}
"""Laws that do not exist for a robot, and what the error says."""
FALLING = {("ur5", "impedance"), ("elastic_arm", "impedance"), ("panda", "feedforward"), ("ur5", "feedforward")}
"""Laws whose loop `simulate` finds unstable with the unknown payload at this period."""
REFUSED = {("ur5", "robust"), ("elastic_arm", "sliding_mode")}
"""Laws whose designed gains `export` refuses at this period."""


def loaded(name: str) -> Robot:
    """Without friction: a joint that sticks does so in the simulation alone, which has a rule for it."""
    robot = armdyn.load(ROOT / "examples" / "elastic_arm.toml" if name == "elastic_arm" else name)
    return robot.without("friction")


def built(robot: Robot, name: str) -> tuple[Law, Dynamics]:
    return LawChoice(name=name, gains=GAINS.get(name, {})).on(robot, Plant(), period=PERIOD)


def simulated(robot: Robot, law: Law, model: Dynamics) -> tuple[Run, ClosedLoop]:
    """The run of `simulate` with a payload that the law does not know, and the loop to be run elsewhere."""
    plant = robot.with_payload(0.5, com=(0.0, 0.0, 0.05))
    motion = ReferenceMotion(duration=0.8 * DURATION).on(robot, law, model)
    run = armdyn.simulate(
        plant,
        law,
        motion["reference"],
        duration=DURATION,
        q0=motion["q0"],
        solver=Solver(dt=PERIOD, integrator="rk4"),
        actuation=Actuation(control_period=PERIOD),
    )
    table = Course(motion["reference"], None if law.in_task_space else robot.n).table(run.t)
    names = TASK_SPACE if law.in_task_space else JOINT_SPACE
    reference = {name: np.reshape(part, (len(run.t), -1)) for name, part in zip(names, table, strict=True)}
    where = armdyn.compile(plant).coordinates
    q0 = run.q[0] if run.motors is None else np.array(where.joined(run.q[0], run.motors[0][0]))
    return run, ClosedLoop(robot, law, plant, q0, list(where.motors), reference, PERIOD)


def languages(robot: str, law: str) -> list[str]:
    more = ["cpp", "matlab"] if law in FOUR and robot in ("planar2r", "scara5", "panda") else []
    if more and find_spec("fmpy") and (sys.platform, machine()) == ("linux", "x86_64"):
        more.append("fmu")
    return [name for name in ("c", "wasm", *more) if shutil.which(NEEDS[name])]


@pytest.mark.parametrize(("robot", "name"), CASES if FULL else SHORT)
def test_moves_as_simulated(robot: str, name: str, tmp_path: Path) -> None:
    arm = loaded(robot)
    if (robot, name) in NO_LAW:
        with pytest.raises(ArmdynError, match=NO_LAW[robot, name]):
            built(arm, name)
        return
    law, model = built(arm, name)
    if (robot, name) in REFUSED:
        with pytest.raises(ArmdynError, match="unstable when it is sampled"):
            armdyn.export(arm, law=law, period=PERIOD)
        return
    run, loop = simulated(arm, law, model)
    if (robot, name) in FALLING:
        assert not run.ok
        return
    assert run.ok, run.status
    seen = run.q if run.motors is None else run.motors[0]
    assert np.abs(run.error).max() > 1e-6  # the payload is felt
    for language in languages(robot, name):
        folder = tmp_path / language
        folder.mkdir()
        assert np.abs(loop.run(language, folder) - seen).max() < NEAR, language


def test_a_changed_gain_is_seen(tmp_path: Path) -> None:
    """The comparison notices a gain that is wrong by a millionth."""
    if not shutil.which(NEEDS["c"]):
        pytest.skip("no C compiler")
    arm = loaded("planar2r")
    law, model = built(arm, "computed_torque")
    run, loop = simulated(arm, law, model)
    assert isinstance(law, ComputedTorque)
    other = replace(law, kp=law.kp * (1 + 1e-6))
    changed = ClosedLoop(arm, other, loop.plant, loop.q0, loop.measured, loop.reference, PERIOD)
    assert np.abs(changed.run("c", tmp_path) - run.q).max() > 10 * NEAR


def test_elastic_arms_are_refused_where_they_shake() -> None:
    """The motors of an elastic arm are what a sampled law sees: the verdict agrees with the simulation."""
    arm = loaded("elastic_arm")
    law, model = LawChoice(name="pid").on(arm, Plant())
    motion = ReferenceMotion(duration=2.0).on(arm, law, model)["reference"]
    verdicts = {}
    for period in (1e-3, 4e-3):
        run = armdyn.simulate(
            arm, law, motion, duration=3.0, solver=Solver(dt=1e-3), actuation=Actuation(control_period=period)
        )
        verdicts[period] = run.ok and float(np.abs(run.error[-500:]).max()) < 0.1
    assert verdicts == {1e-3: True, 4e-3: False}
    armdyn.export(arm, law=law, period=1e-3)
    with pytest.raises(ArmdynError, match="unstable when it is sampled"):
        armdyn.export(arm, law=law, period=4e-3)
