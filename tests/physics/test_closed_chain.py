"""Closed chains: the parallelogram of Siciliano in symbols, spatial loops against an engine, exact agreement,
errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq

import armdyn
from armdyn.algebra import Mat3, Pose, Vec3
from armdyn.formats import toml
from armdyn.graph import RationalAngle
from armdyn.mechanics import closed_chain, kane, kinematics, lagrange, newton_euler
from armdyn.robot import Robot
from armdyn.robot.edit import numeric_placement, shifted
from armdyn.robot.exact import exact
from armdyn.robot.parts import Body, Joint, Loop, Placement
from armdyn.robot.random import random_robot
from armdyn.texts.siciliano.parallelogram import G
from support import pinocchio_model
from support.pinocchio_model import pin, se3

# The parallelogram of Siciliano sec. 7.3.3; its equations in symbols are an item of armdyn.texts
# ---------------------

TEXT = Path(armdyn.catalog.__file__ or "").with_name("parallelogram.toml").read_text()


def test_the_loop_closes_and_G_is_its_projection() -> None:
    robot = armdyn.load("parallelogram")
    q = closed_chain.close(robot, [0.3, 1.5], [0.3, 1.0, 2.0, 1.5])
    assert q == pytest.approx([0.3, 1.2, np.pi - 1.2, 1.5], abs=1e-12)
    assert closed_chain.projection(robot, q) == pytest.approx(np.array(G), abs=1e-12)


# Loops in space -----------------------------------------------------------------------------------------------------


def closed_at(robot: Robot, q: np.ndarray, kind: str, passive: int) -> Robot:
    """The robot with its tool joined to the world where it is at q: the last joints are passive."""
    robot = replace(robot, tool=Placement())
    T = kinematics.pose(robot.without("loops"), q)
    at = numeric_placement(se3_pose(np.linalg.inv(kinematics.pose(robot, q, "base")) @ T))
    loop = Loop("ring", robot.tool_body, "base", Placement(), at, kind)  # type: ignore[arg-type]
    first = {joint.name for joint in robot.joints[: robot.n - passive]}
    tree = [replace(j, passive=j.kind != "fixed" and j.name not in first) for j in robot.tree]
    return replace(robot, tree=tuple(tree), loops=(loop,))


def se3_pose(T: np.ndarray) -> Pose:
    return Pose(Mat3(T[:3, :3].tolist()), Vec3(*T[:3, 3].tolist()))


def bennett() -> tuple[Robot, np.ndarray]:
    """Four skew revolute joints, opposite links alike, sin(alpha)/a = sin(beta)/b: they move, against all counting."""
    a, alpha, b = 0.5, 0.6, 0.8
    beta = np.arcsin(b * np.sin(alpha) / a)
    rows = [
        {"a": length, "alpha": twist, "mass": 1 + 0.5 * i, "com": [-0.2, 0.05 * i, 0.1],
         "inertia": [0.02, 0.001, 0, 0.03, 0.002, 0.025], "passive": i > 0}
        for i, (length, twist) in enumerate([(a, alpha), (b, beta), (a, alpha)])
    ]  # fmt: skip
    robot = Robot.from_dh(rows, name="bennett")
    end = Placement(Vec3(-b, 0, 0), Vec3(-float(beta), 0, 0))
    robot = replace(robot, loops=(Loop("ring", "joint3", "base", Placement(), end, "revolute"),))
    x = 0.9
    ratio = np.sin((alpha + beta) / 2) / np.sin((beta - alpha) / 2)
    y = 2 * np.arctan(ratio / np.tan(x / 2))
    for sign in (1, -1):  # the textbook relation, up to the sense of the angles
        start = np.array([x, sign * y, -x])
        try:
            return robot, closed_chain.close(robot, [x], start)
        except armdyn.ArmdynError:
            continue
    raise AssertionError("no closed position found")


def mechanisms() -> dict[str, Callable[[], tuple[Robot, np.ndarray]]]:
    def from_chain(seed: int, n: int, kind: str, passive: int, **options: Any) -> tuple[Robot, np.ndarray]:
        robot = random_robot(seed, n, convention="standard", rotors=True, any_gravity=True, **options)
        q = np.random.default_rng(seed).uniform(-1, 1, robot.n)
        return closed_at(robot, q, kind, passive), q

    def planar() -> tuple[Robot, np.ndarray]:
        robot = armdyn.load("parallelogram")
        return robot, closed_chain.close(robot, [0.3, 1.5], [0.3, 1.0, 2.0, 1.5])

    return {
        "parallelogram": planar,
        "bennett": bennett,
        "7 joints, fixed": lambda: from_chain(1, 7, "fixed", 6, prismatic=0.2),
        "8 joints, fixed": lambda: from_chain(5, 8, "fixed", 6, fixed=0.2),
        "6 joints, revolute": lambda: from_chain(2, 6, "revolute", 5, prismatic=0),
        "7 joints, prismatic": lambda: from_chain(6, 7, "prismatic", 5, prismatic=0.2),
    }


every = pytest.mark.parametrize("name", list(mechanisms()))


def motion(robot: Robot, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, (3, robot.n))


def constrained_accelerations(robot: Robot, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """M qdd + h = tau + J^T lambda, J qdd = -Jd qd, all from Pinocchio; rotors left out."""
    loop, robot = robot.loops[0], robot.opened
    model = pinocchio_model.build(robot)
    numbers = []
    for end, place in ((loop.first, loop.first_placement), (loop.second, loop.second_placement)):
        frame = robot.frame(end)
        joint = 0 if frame.link < 0 else model.getJointId(robot.links[frame.link].name)
        pose = se3(frame.pose @ place.pose())
        numbers.append(model.addFrame(pin.Frame(f"end of {end}", joint, 0, pose, pin.FrameType.OP_FRAME)))
    data, at = model.createData(), pinocchio_model.order(model, robot)
    x, v = np.zeros(robot.n), np.zeros(robot.n)
    x[at], v[at] = q, qd
    M = np.array(pinocchio_model.mass_matrix(robot, q))
    h = pinocchio_model.inverse_dynamics(robot, q, qd, np.zeros(robot.n))
    pin.forwardKinematics(model, data, x, v, np.zeros(robot.n))
    pin.computeJointJacobians(model, data, x)
    pin.updateFramePlacements(model, data)
    axes = pin.LOCAL_WORLD_ALIGNED
    (J1, J2) = (pin.getFrameJacobian(model, data, k, axes)[:, at] for k in numbers)
    (V1, V2) = (pin.getFrameVelocity(model, data, k, axes) for k in numbers)
    (A1, A2) = (pin.getFrameClassicalAcceleration(model, data, k, axes) for k in numbers)
    R, rel = data.oMf[numbers[0]].rotation, data.oMf[numbers[1]].translation - data.oMf[numbers[0]].translation
    rows, drift = [], []
    w1 = V1.angular
    for u in R.T[: 2 if loop.kind == "prismatic" else 3]:
        turning = np.cross(w1, u)
        rows.append(u @ (J2[:3] - J1[:3]) + np.cross(u, rel) @ J1[3:])
        drift.append(u @ (A2.linear - A1.linear) + 2 * turning @ (V2.linear - V1.linear)
                     + (np.cross(A1.angular, u) + np.cross(w1, turning)) @ rel)  # fmt: skip
    for u in R.T[: 2 if loop.kind == "revolute" else 3]:
        rows.append(u @ (J2[3:] - J1[3:]))
        drift.append(u @ (A2.angular - A1.angular) + np.cross(w1, u) @ (V2.angular - w1))
    J, n, m = np.array(rows), robot.n, len(rows)
    assert np.abs(J @ qd).max() < 1e-9
    system = np.block([[M, -J.T], [J, np.zeros((m, m))]])
    return np.linalg.lstsq(system, np.concatenate([tau - h, -np.array(drift)]), rcond=1e-12)[0][:n]


@every
def test_against_an_engine(name: str) -> None:
    """Accelerations of the constrained tree in Pinocchio, and the same by projection."""
    robot, q = mechanisms()[name]()
    robot = robot.without("rotors")
    qd_a, qdd_a, _ = motion(robot)
    tau_a = closed_chain.inverse_dynamics(robot, q, qd_a, qdd_a)
    tau = np.zeros(robot.opened.n)
    tau[[not j.passive for j in robot.movable]] = tau_a
    qd = closed_chain.velocities(robot, q, qd_a)
    expected = constrained_accelerations(robot, q, qd, tau)
    found = closed_chain.accelerations(robot, q, qd_a, qdd_a)
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()
    assert closed_chain.forward_dynamics(robot, q, qd_a, tau_a) == pytest.approx(qdd_a, rel=1e-8, abs=1e-8)


@every
def test_parts_and_laws(name: str) -> None:
    robot, q = mechanisms()[name]()
    qd_a, qdd_a, _ = motion(robot)
    tau = closed_chain.inverse_dynamics(robot, q, qd_a, qdd_a)
    B, g = closed_chain.mass_matrix(robot, q), closed_chain.gravity(robot, q)
    C, h = closed_chain.coriolis_matrix(robot, q, qd_a), closed_chain.coriolis(robot, q, qd_a)
    scale = np.abs(tau).max()
    assert np.abs(B @ qdd_a + h + g - tau).max() < 1e-10 * scale
    assert np.abs(C @ qd_a - h).max() < 1e-10 * scale
    assert np.linalg.eigvalsh(B).min() > 0
    step = 1e-5
    qd = closed_chain.velocities(robot, q, qd_a)
    active = [not j.passive for j in robot.movable]
    ahead, behind = (closed_chain.close(robot, q[active] + s * qd_a, q + s * qd) for s in (step, -step))
    assert (ahead - behind) / (2 * step) == pytest.approx(qd, rel=1e-6, abs=1e-6)  # central differences
    Bd = (closed_chain.mass_matrix(robot, ahead) - closed_chain.mass_matrix(robot, behind)) / (2 * step)
    N = Bd - 2 * C
    assert np.abs(N + N.T).max() < 1e-6 * max(np.abs(Bd).max(), np.abs(C).max(), 1)  # central differences
    wrench = {"tool": [1.0, 2, 3, 4, 5, 6]}
    more = closed_chain.inverse_dynamics(robot, q, qd_a, qdd_a, wrench)
    J = kinematics.jacobian(robot.without("loops"), q)
    J_a = J @ closed_chain.projection(robot, q)
    assert more - tau == pytest.approx(J_a.T @ wrench["tool"], rel=1e-9, abs=1e-9 * scale)


# Exactly ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_exact_agreement_on_a_spatial_loop(seed: int) -> None:
    """Seven joints closed over rationals: a copy of the chain, locked at q, holds the end. No tolerance."""
    robot = exact(random_robot(seed, 7, convention="standard", rotors=True, friction=False, any_gravity=True))
    rng = np.random.default_rng(seed)

    def draw(size: int) -> list[Any]:
        return [fmpq(int(a), int(b)) for a, b in zip(rng.integers(1, 9, size), rng.integers(1, 9, size), strict=True)]

    q = [RationalAngle(x) if link.revolute else x for link, x in zip(robot.links, draw(7), strict=True)]
    held = [
        Joint(f"held {j.name}", "fixed", locked(j, x), f"held {j.parent}" if j.parent != "base" else "base",
              Body(f"held {j.body.name}"))
        for j, x in zip(robot.joints, q, strict=True)
    ]  # fmt: skip
    loop = Loop("ring", robot.joints[-1].body.name, held[-1].body.name, kind="fixed")
    tree = [replace(j, passive=i > 0) for i, j in enumerate(robot.tree)]
    robot = replace(robot, tree=(*tree, *held), loops=(loop,), tool_on=robot.joints[-1].body.name)
    assert all(x == 0 for x in closed_chain.constraints(robot, q))
    rate, acceleration = draw(1), draw(1)
    wrench = {"joint4": draw(6)}
    found = [closed_chain.inverse_dynamics(robot, q, rate, acceleration, wrench, by=m)
             for m in (newton_euler, lagrange, kane)]  # fmt: skip
    assert found[0] == found[1] == found[2]
    B = closed_chain.mass_matrix(robot, q)
    C, h, g = (f(robot, q, *x) for f, x in ((closed_chain.coriolis_matrix, (rate,)), (closed_chain.coriolis, (rate,)),
                                            (closed_chain.gravity, ())))  # fmt: skip
    bare = closed_chain.inverse_dynamics(robot, q, rate, acceleration)
    assert B[0][0] * acceleration[0] + h[0] + g[0] == bare[0]
    assert C[0][0] * rate[0] == h[0]


def locked(joint: Any, value: Any) -> Any:
    return shifted(joint.geometry, joint.kind, value)


# Files and errors ---------------------------------------------------------------------------------------------------


def test_passive_joints_in_a_file() -> None:
    robot = armdyn.load("parallelogram")
    assert [j.passive for j in robot.movable] == [False, True, True, False]
    assert [j.passive for j in toml.loads(toml.dumps(robot)).movable] == [False, True, True, False]
    with pytest.raises(armdyn.ArmdynError, match="true or false"):
        toml.loads(TEXT.replace("passive = true", "passive = 1"))


@pytest.mark.parametrize(
    ("q", "active", "message"),
    [
        (
            [0.3, 0, np.pi, 0.3],
            None,
            "loop 'joint4': singular configuration of the closed chain: joint3p not determined",
        ),
        ([0.3, 1e-10, np.pi - 1e-10, 0.3 + 1e-10], None, "condition number"),
        ([0.3, 0.5, 2.0, 0.3], None, "loop 'joint4': the loop is open by"),
        ([0.3, 1.2, np.pi - 1.2, 1.5], ["joint1p"], "not determined by the active joints"),
        ([0.3, 1.2, np.pi - 1.2, 1.5], ["joint1p", "joint1s", "joint2p"], "cannot move independently"),
        ([0.3, 1.2, np.pi - 1.2, 1.5], ["joint1p", "elbow"], "unknown movable joint 'elbow'"),
        ([0.3, 1.2, np.pi - 1.2, 1.5], ["joint1p", "joint2p", "joint3p", "joint1s"], "every joint is active"),
    ],
)
def test_errors(q: list[float], active: list[str] | None, message: str) -> None:
    with pytest.raises(armdyn.ArmdynError) as error:
        closed_chain.projection(armdyn.load("parallelogram"), q, active)
    assert message in str(error.value)


def test_errors_of_closing() -> None:
    robot = armdyn.load("parallelogram")
    longer = robot.with_parameters(a1p=0.9, a1s=0.3, a3p=0.1, a2p=0.3)
    with pytest.raises(armdyn.ArmdynError, match="loop 'joint4': the loop cannot be closed from this start"):
        closed_chain.close(longer, [0.3, 2.5], [0, 1.0, 2.0, 0])
    with pytest.raises(armdyn.ArmdynError, match=r"q_active has shape \(3,\).*joint1p, joint1s"):
        closed_chain.close(robot, [0.3, 1.5, 2], [0, 1.0, 2.0, 0])
    with pytest.raises(armdyn.ArmdynError, match="no loop"):
        closed_chain.gravity(robot.without("loops"), [0] * 4)


def test_batches() -> None:
    robot = armdyn.load("parallelogram")
    q_a = np.array([[0.3, 1.5], [0.2, 1.1], [-0.4, 0.9]])
    q = closed_chain.close(robot, q_a, [0.3, 1.0, 2.0, 1.5])
    batch = closed_chain.inverse_dynamics(robot, q, q_a, q_a)
    for i in range(3):
        assert batch[i] == pytest.approx(closed_chain.inverse_dynamics(robot, q[i], q_a[i], q_a[i]), rel=1e-10)
