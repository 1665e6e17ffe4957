"""Elastic joints: exact against Lagrange, engines, energy, the stiff limit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from scipy.integrate import solve_ivp

import armdyn
from armdyn.formats import toml
from armdyn.graph import RationalAngle, trace
from armdyn.mechanics import elastic, lagrange, newton_euler
from armdyn.robot import Robot
from armdyn.robot.exact import exact
from armdyn.robot.parts import Elastic
from armdyn.robot.random import random_robot
from physics import engine
from support.elastic_mujoco import ElasticArm
from support.pinocchio_model import pin


def springy(seed: int, n: int = 3, *, model: str = "full", every: bool = False, **values: float) -> Robot:
    """Joint 2 stiff unless `every`; rotors heavy enough to be felt."""
    robot = random_robot(seed, n, rotors=True, any_gravity=True, branching=0.3 * (seed % 2))
    tree = []
    for i, joint in enumerate(robot.tree):
        spring = Elastic(**({"stiffness": 300.0 + 100 * i} | values)) if every or i != 1 else None
        rotor = replace(joint.rotor, model=model, transverse=2e-4)
        tree.append(replace(joint, elastic=spring, rotor=rotor))
    return replace(robot, tree=tuple(tree))


def state(robot: Robot, seed: int = 0) -> np.ndarray:
    """q, qd, qdd, theta, thetad, thetadd, stiff joints alike."""
    x = np.random.default_rng(seed).uniform(-1, 1, (6, robot.n))
    x[3] = x[0] + 0.05 * x[3]
    stiff = [j.elastic is None for j in robot.joints]
    x[3:, stiff] = x[:3, stiff]
    return x


# Exactly, against Lagrange ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_lagrange_gives_the_same_exactly(seed: int) -> None:
    """Khalil (7.35) from the energies: no tolerance; rotors of the full model on moving links included."""
    robot = exact(springy(seed, 3))
    n = robot.n
    rng = np.random.default_rng(seed)
    places = [j for j, joint in enumerate(robot.joints) if joint.elastic is not None]

    def draw() -> list[Any]:
        return [fmpq(int(a), int(b)) for a, b in zip(rng.integers(-9, 9, n), rng.integers(1, 9, n), strict=True)]

    # a spring needs the angle itself: joints stand at 0 plus a rational offset kept in their geometry
    turned = [RationalAngle(x) if link.revolute else x for link, x in zip(robot.links, draw(), strict=True)]
    robot = offset(robot, turned)
    q, qd, qdd, theta, thetad, thetadd = [0] * n, *(draw() for _ in range(5))

    def L(x: Any, v: Any) -> Any:
        motors, rates = spread(x), spread(v)
        whole = elastic.energy.formula(robot, x[:n], v[:n], motors, rates)
        at_rest = elastic.energy.formula(robot, x[:n], [0] * n, motors, [0] * n)
        return whole - at_rest - at_rest  # T - U

    def spread(x: Any) -> list[Any]:
        found = list(x[:n])
        for place, value in zip(places, x[n:], strict=True):
            found[place] = value
        return found

    x, v, a = ((*link, *(motor[j] for j in places))
               for link, motor in ((q, theta), (qd, thetad), (qdd, thetadd)))  # fmt: skip
    expected = lagrange.equations(L, x, v, a)
    links, motors = elastic.inverse_dynamics.formula(robot, q, qd, qdd, theta, thetad, thetadd)
    for j in range(n):
        if j in places:
            assert links[j] == expected[j] and motors[j] == expected[n + places.index(j)]
        else:
            assert links[j] == 0 and motors[j] == expected[j]


def offset(robot: Robot, q: Any) -> Robot:
    """The same robot with its joints' zeros moved to q."""
    links = tuple(replace(link, placement=link.pose(x), offset=0) for link, x in zip(robot.links, q, strict=True))
    moved = replace(robot)
    moved.__dict__["_assembly"] = robot._assembly._replace(links=links)
    return moved


# Forward and inverse ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_forward_inverts_inverse(seed: int) -> None:
    robot = springy(seed, 4, damping=2.0, viscous=0.5, coulomb=0.3)
    q, qd, qdd, theta, thetad, thetadd = state(robot)
    links, motors = elastic.inverse_dynamics(robot, q, qd, qdd, theta, thetad, thetadd, {"joint3": [1, 2, 3, 4, 5, 6]})
    # what the links lack is given as wrenches would: put it into the springs by hand
    found = elastic.forward_dynamics(robot, q, qd, theta, thetad, motors, {"joint3": [1, 2, 3, 4, 5, 6]})
    again = elastic.inverse_dynamics(robot, q, qd, found[0], theta, thetad, found[1], {"joint3": [1, 2, 3, 4, 5, 6]})
    assert np.abs(again[0]).max() < 1e-9 * np.abs(motors).max()
    assert again[1] == pytest.approx(motors, rel=1e-9)
    stiff = [j.elastic is None for j in robot.joints]
    assert np.array_equal(found[0][stiff], found[1][stiff])
    assert np.abs(links).max() > 1


@pytest.mark.parametrize("seed", range(3))
def test_full_rotors_against_an_engine(seed: int) -> None:
    """Rotors as bodies on joints of their own, k theta; springs and their damping added by hand."""
    robot = springy(seed, 4, every=True, damping=3.0)
    q, qd, qdd, theta, thetad, thetadd = state(robot)
    model, A, B = engine.with_rotor_bodies(robot)
    tau = pin.rnea(model, model.createData(), A @ q + B @ theta, A @ qd + B @ thetad, A @ qdd + B @ thetadd)
    k = np.array([j.elastic.stiffness for j in robot.joints])
    spring = k * (theta - q) + 3.0 * (thetad - qd)
    links, motors = elastic.inverse_dynamics(robot, q, qd, qdd, theta, thetad, thetadd)
    assert np.abs(links - (A.T @ tau - spring)).max() < 1e-10 * np.abs(tau).max()
    assert np.abs(motors - (B.T @ tau + spring)).max() < 1e-10 * np.abs(spring).max()


def test_against_mujoco() -> None:
    robot = springy(2, 3, model="reflected", every=True, damping=1.5)
    robot = replace(robot, tree=tuple(replace(j, kind="revolute") for j in robot.tree))
    q, qd, _, theta, thetad, tau = state(robot)
    found = elastic.forward_dynamics(robot, q, qd, theta, thetad, tau)
    expected = ElasticArm(robot).accelerations(np.concatenate([q, theta]), np.concatenate([qd, thetad]), tau)
    assert found.ravel() == pytest.approx(expected, rel=1e-9)


# Simulated ----------------------------------------------------------------------------------------------------------


def simulated(robot: Robot, start: np.ndarray, duration: float, torque: Any = None, **options: Any) -> np.ndarray:
    n = robot.n
    program = trace(lambda *s: elastic.forward_dynamics(robot, *s),
                    dict.fromkeys(("q", "qd", "theta", "thetad", "tau"), n))  # fmt: skip

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        q, theta, qd, thetad = x.reshape(4, n)
        tau = np.zeros(n) if torque is None else torque(t)
        acceleration = program(q=q, qd=qd, theta=theta, thetad=thetad, tau=tau)
        return np.concatenate([qd, thetad, *np.asarray(acceleration, float)])

    run = solve_ivp(rate, (0, duration), start.ravel(), method="DOP853", rtol=1e-11, atol=1e-12, **options)
    assert run.success
    return run.y.T.reshape(-1, 4, n)


def test_energy_is_conserved() -> None:
    robot = springy(1, 2, every=True)
    start = np.array([[0.3, -0.2], [0.35, -0.25], [0.5, 1.0], [0.4, 1.2]])
    states = simulated(robot, start, 0.5)
    energies = [elastic.energy(robot, q, qd, theta, thetad) for q, theta, qd, thetad in states]
    swing = np.ptp([elastic.energy(robot, q, 0 * qd, theta, 0 * qd) for q, theta, qd, _ in states])
    assert np.ptp(energies) < 1e-9 * swing
    damped = simulated(springy(1, 2, every=True, damping=1.0), start, 0.2)
    assert elastic.energy(robot, *damped[-1][[0, 2, 1, 3]]) < elastic.energy(robot, *start[[0, 2, 1, 3]]) - 1e-6


def reference(t: float) -> list[np.ndarray]:
    """A motion and its four derivatives."""
    phase = 2 * t + np.array([0.0, 1.0, 2.0])
    return [0.5 * 2**k * np.sin(phase + k * np.pi / 2) for k in range(5)]


def test_the_stiff_limit() -> None:
    """Torques behind one motion tend to those of the rigid robot, in the first order of 1/k."""
    robot = springy(2, 3, model="reflected", every=True)
    motion = reference(0.4)
    rigid = newton_euler.inverse_dynamics(robot.without("elastic"), *motion[:3])
    errors = []
    for k in (1e4, 1e5, 1e6):
        stiff = replace(robot, tree=tuple(replace(j, elastic=Elastic(k)) for j in robot.tree))
        theta, _, thetadd, tau = elastic.motor_motion(stiff, *motion)
        errors.append((np.abs(tau - rigid).max(), np.abs(theta - motion[0]).max(), np.abs(thetadd - motion[2]).max()))
    slopes = np.diff(np.log10(errors), axis=0)
    assert slopes == pytest.approx(-np.ones((2, 3)), abs=0.02)
    assert errors[-1][0] < 1e-2 * np.abs(rigid).max()


def test_motor_motion_drives_the_links() -> None:
    """Simulated under those torques, the links follow the motion; stiff joints and friction included."""
    robot = springy(2, 3, model="reflected", viscous=0.2)
    initial = reference(0.0)
    theta, thetad, _, _ = elastic.motor_motion(robot, *initial)
    start = np.array([initial[0], theta, initial[1], thetad])
    end = simulated(robot, start, 0.3, lambda t: elastic.motor_motion(robot, *reference(t))[3])[-1]
    assert end[0] == pytest.approx(reference(0.3)[0], abs=1e-8)
    assert end[2] == pytest.approx(reference(0.3)[1], abs=1e-6)


# Files and errors ---------------------------------------------------------------------------------------------------

TEXT = """
name = "a"
[parameters]
k = 100.5
[[joint]]
a = 1
mass = 1
rotor = {inertia = 1e-4, ratio = 50}
elastic = {stiffness = "k", damping = 0.5}
"""


def test_a_robot_file() -> None:
    robot = toml.loads(TEXT)
    assert robot.joints[0].elastic == Elastic(100.5, 0.5)
    assert toml.loads(toml.dumps(robot)).joints[0].elastic == Elastic(100.5, 0.5)
    batch = elastic.forward_dynamics(robot, np.zeros((3, 1)), [0], [0.1], [0], [0])
    assert batch.shape == (3, 2, 1)
    assert batch[0, 0, 0] == pytest.approx(100.5 * 0.1)  # m a^2 = 1, gravity along the axis
    assert batch[0, 1, 0] == pytest.approx(-100.5 * 0.1 / 0.25)


def test_errors() -> None:
    with pytest.raises(armdyn.ArmdynError, match="'stiffness' is missing"):
        toml.loads(TEXT.replace('stiffness = "k", ', ""))
    robot = toml.loads(TEXT)
    with pytest.raises(armdyn.ArmdynError, match="no joint is elastic"):
        elastic.forward_dynamics(robot.without("elastic"), [0], [0], [0], [0], [0])
    with pytest.raises(armdyn.ArmdynError, match="joint 'joint1 motor': the inertia seen by this joint is zero"):
        elastic.forward_dynamics(robot.without("rotors"), [0], [0], [0], [0], [0])
    with pytest.raises(armdyn.ArmdynError, match="damping = 0"):
        elastic.motor_motion(robot, [0], [0], [0], [0], [0])


def test_printed_and_checked() -> None:
    robot = toml.loads(TEXT.replace("[[joint]]", "[[joint]]\nmotor = {torque_constant = 0.1, speed = 300}"))
    text = str(robot)
    assert "Motors and elastic joints" in text and "stiffness" in text and "motor speed" in text
    wrong = toml.loads(TEXT.replace('stiffness = "k", damping = 0.5', "stiffness = 0, damping = -1"))
    assert {f.rule for f in armdyn.check(wrong).findings} >= {"soft-spring", "negative-damping"}
