"""armdyn.evaluate against the library and against engines that share no code with it."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn import text_table
from armdyn.errors import ArmdynError, FileError, ShapeError
from armdyn.motion import Evaluation, evaluate
from armdyn.robot.parts import Elastic, Rotor
from armdyn.robot.random import random_robot
from crosscheck.test_closed_chains import Engine
from support import pinocchio_model
from support.elastic_mujoco import ElasticArm
from support.feature_robots import ROBOTS
from support.pinocchio_model import pin

WRENCH = [3.0, -2.0, 5.0, 0.4, 0.7, -0.3]


def close(found: Any, expected: Any, tolerance: float = 1e-10) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(np.abs(expected).max(), 1.0))


def adds_up(found: Evaluation) -> None:
    """Causes add up to the torques; so do bodies, with what acts along the joints."""
    close(sum(found.causes.values()), found.tau)
    along = sum(found.causes[name] for name in ("springs", "friction", "tip"))
    if found.bodies:
        close(sum(found.bodies.values()) + along, found.tau)
    close(found.causes["inertia"], (found.M @ found.qdd[..., None])[..., 0])
    close(found.causes["coriolis"], (found.C @ found.qd[..., None])[..., 0])


@pytest.mark.parametrize("name", ["planar2r", "panda", "puma560"])
def test_open_chains_agree_with_pinocchio(name: str) -> None:
    robot = armdyn.load(name).without("rotors", "friction")
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, robot.n))
    found = evaluate(robot, q, qd, qdd, wrench=WRENCH)
    close(found.tau, pinocchio_model.inverse_dynamics(robot, q, qd, qdd, WRENCH))
    close(found.M, pinocchio_model.mass_matrix(robot, q))
    still = np.zeros(robot.n)
    close(found.causes["gravity"], pinocchio_model.inverse_dynamics(robot, q, still, still))
    close(evaluate(robot, q, qd, tau=found.tau, wrench=WRENCH).qdd, qdd, 1e-9)
    close(found.tool, pinocchio_model.tool_pose(robot, q)[:3, 3])
    adds_up(found)


def test_joint_reactions_of_an_arm_at_rest_carry_its_weight() -> None:
    """At rest the first joint bears the weight of all bodies; each actuator's torque is the moment about its axis."""
    robot = armdyn.load("panda")
    found = evaluate(robot, [0.1, 0.3, -0.2, -1.0, 0.4, 1.0, 0.2])
    mass = sum(float(link.inertia.mass) for link in robot.links)
    first, *_ = found.reactions.values()
    assert np.linalg.norm(first[:3]) == pytest.approx(9.81 * mass, rel=1e-12)
    close([load[5] for load in found.reactions.values()], found.tau)


def test_a_closed_chain_agrees_with_pinocchio() -> None:
    robot = armdyn.load("parallelogram")
    dyn, rng = armdyn.compile(robot), np.random.default_rng(2)
    qd, tau = rng.uniform(-0.4, 0.4, robot.n), rng.uniform(-10, 10, robot.n)
    q = np.array([0.6, 0.3])
    step = 1e-4 * qd  # the joints of a parallelogram depend linearly on one another: no error of the difference
    every, rates = dyn.closed(q), (dyn.closed(q + step) - dyn.closed(q - step)) / 2e-4
    names = [joint.name for joint in robot.opened.joints]
    moved = [names.index(joint.name) for joint in robot.joints]
    torques = np.zeros(len(names))
    torques[moved] = tau
    expected = Engine(robot).accelerations(every, rates, torques)[moved]
    found = evaluate(robot, q, qd, tau=tau)
    close(found.qdd, expected, 1e-8)
    assert list(found.reactions) == [*names, "joint4"]
    adds_up(found)


def test_an_elastic_arm_agrees_with_mujoco() -> None:
    robot = random_robot(5, 3, prismatic=0.0)
    soft = tuple(
        replace(
            joint, rotor=Rotor(inertia=1e-3, ratio=30.0), elastic=Elastic(stiffness=800.0, damping=2.0), friction=None
        )
        if joint.kind != "fixed"
        else joint
        for joint in robot.tree
    )
    robot = replace(robot, tree=soft, expressions=None)
    x, xd, tau = np.random.default_rng(3).uniform(-0.2, 0.2, (3, 2 * robot.n))
    tau[: robot.n] = 0
    found = evaluate(robot, x, xd, tau=tau)
    assert len(found.names) == 2 * robot.n and not found.bodies and not found.reactions
    assert "no torques by body" in " ".join(found.notes)
    close(found.qdd, ElasticArm(robot).accelerations(x, xd, tau[robot.n :]), 1e-8)
    adds_up(found)


def test_a_floating_arm_agrees_with_pinocchio() -> None:
    robot = random_robot(3, 5, free_root=True, any_gravity=True)
    rng = np.random.default_rng(4)
    qd, qdd = rng.uniform(-1, 1, (2, robot.n))
    q = np.concatenate([rng.uniform(-1, 1, 7), rng.uniform(-1, 1, robot.nq - 7)])
    q[3:7] /= np.linalg.norm(q[3:7])
    found = evaluate(robot, q, qd, qdd)
    model = pinocchio_model.build(robot)
    positions, velocities = pinocchio_model.places(model, robot)
    x, v, a = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
    x[positions], v[velocities], a[velocities] = q, qd, qdd
    expected = np.asarray(pin.rnea(model, model.createData(), x, v, a))[velocities]
    close(found.causes["inertia"] + found.causes["coriolis"] + found.causes["gravity"], expected)
    adds_up(found)


def test_friction_that_grows_with_the_load() -> None:
    robot = ROBOTS["load_friction"]()
    found = evaluate(robot, [0.1, 0.2, 0.3], [0.3, -0.2, 0.4], [1.0, 2.0, 3.0])
    adds_up(found)
    assert np.abs(found.causes["friction"][1]) > 0 and not found.bodies


def test_the_file_along_a_motion_feeds_a_spreadsheet(tmp_path: Path) -> None:
    """One row of names, then plain numbers only; the file of `plan` is evaluated at its own samples."""
    robot = armdyn.load("planar2r")
    planned = armdyn.plan(robot, [[0, 0], [1, 0.5]], dt=0.05)
    found = evaluate(robot, motion=planned.save(tmp_path / "move.csv"))
    close(found.tau, planned.torques(found.t))
    with found.save(tmp_path / "all.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    numbers = np.array([[float(cell) for cell in row] for row in rows])
    assert len(set(head)) == len(head) and numbers.shape == (len(np.asarray(found.t)), len(head))
    table = dict(zip(head, numbers.T, strict=True))
    close(table["tau2"], found.tau[:, 1])
    close(table["M1_2"], found.M[:, 0, 1])
    close(table["body1_2"], [*found.bodies.values()][1][:, 0])
    close(table["fy1"], found.reactions["shoulder"][:, 1])
    close(table["inertia1"] + table["coriolis1"] + table["gravity1"] + table["friction1"], table["tau1"])
    bare = {name: table[name] for name in ("t", "q1", "q2")}
    spline = evaluate(robot, motion=text_table.write(tmp_path / "bare.csv", bare))
    assert np.abs(spline.qd[5:-5] - found.qd[5:-5]).max() < 0.1
    close(evaluate(robot, motion=planned.motion, dt=0.05).tau, found.tau)


def test_the_record_is_plain_and_the_text_names_everything() -> None:
    found = evaluate(armdyn.load("puma560"), np.full(6, 0.3), np.full(6, 0.2), wrench=WRENCH)
    record = json.loads(json.dumps(found.record(), allow_nan=False))
    close(record["tau"], found.tau)
    close(record["bodies"]["forearm"], found.bodies["forearm"])
    for words in ("tip force", "friction", "Torques by body", "Mass matrix M", "Joint reactions", "tool at"):
        assert words in str(found)
    assert "Largest magnitudes" in str(evaluate(armdyn.load("planar2r"), np.zeros((3, 2))))


def test_bad_requests(tmp_path: Path) -> None:
    robot = armdyn.load("planar2r")
    for options, error, match in (
        ({}, ArmdynError, "one of a state and a motion"),
        ({"q": [0, 0], "motion": tmp_path / "x.csv"}, ArmdynError, "one of a state and a motion"),
        ({"q": [0, 0], "qdd": [0, 0], "tau": [0, 0]}, ArmdynError, "both tau and qdd"),
        ({"q": [0, 0, 0]}, ShapeError, "shape"),
        ({"q": [0, 0], "qd": [1, 2, 3]}, ShapeError, "a vector of 3"),
        ({"q": [0, float("nan")]}, ArmdynError, "NaN|finite"),
    ):
        with pytest.raises(error, match=match):
            evaluate(robot, **options)
    (tmp_path / "free.csv").write_text("t,q1,q2,q3,q4,q5,q6,q7\n0,0,0,0,1,0,0,0\n1,0,0,0,1,0,0,0\n")
    with pytest.raises(FileError, match="no velocities"):
        evaluate(random_robot(7, 1, free_root=True), motion=tmp_path / "free.csv")
