"""SYMORO's robot files: what they mean, what they give back, what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, FeatureError, FileError, ModelWarning, NotApplicable
from armdyn.formats import par
from armdyn.mechanics import kinematics, lagrange, newton_euler
from armdyn.robot.parts import Elastic, Friction, ModifiedDH, Rotor

TWO = """(* Robotname = 'two' *)
NL = 2
NJ = 2
NF = 2
Type = 0
Ant = {0,1}
Sigma = {0,1}
B = {0,0}
d = {0,L}
R = {H,r2 + 0.1}
gamma = {0,0}
Alpha = {0,
Pi/2}
Mu = {1,0}
Theta = {th1,pi/6}
ZZ = {2*J,0.4}
M = {3,1.5}
MY = {0,-0.3}
IA = {0.2,0}
FV = {0,0.7}
FS = {0.9,0}
FX = {0,FX2}
QP = {QP1,QP2}
G = {0,0,-9.81}
(* L = 0.5 *)
(* H = 0.25 *)
(* J = 0.6 *)
"""


def state(n: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    return tuple(np.random.default_rng(seed).uniform(-1, 1, (3, n)))


def torques_by_hand(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> list[float]:
    """TWO by Lagrange, worked out by hand.

    Link 2 slides by s = q2 + 0.1 along its z, which is (sin q1, -cos q1, 0) of the world; its mass centre is at
    (0, -0.2, s) of its frame. With x along (cos q1, sin q1, 0): frame 2 = x (L + ...) turned by pi/6 about z2, so its y
    is -sin(pi/6) x + cos(pi/6) z0. The centre lies at x (L + 0.2 sin(pi/6)) and s along z2.
    """
    (_, q2), (v1, v2), (a1, a2) = q, qd, qdd
    L, m, s = 0.5, 1.5, q2 + 0.1
    x = L + 0.2 * np.sin(np.pi / 6)
    # Tensor about the frame's origin: only ZZ = 0.4, in link axes; z2 is horizontal, so that nothing of it turns about
    # the vertical. The moment of inertia about z0 through O2 is that of the axis (sin, cos, 0) of frame 2: zero. With
    # parallel axes: J = m (x^2 + s^2) - m 0.2^2 sin^2 + 0, the centre being 0.2 sin(pi/6) off O2 along x.
    inertia = 2 * 0.6 + 0.2 + m * (L**2 + 2 * L * 0.2 * np.sin(np.pi / 6) + s**2)
    force = m * (a2 - s * v1**2) - m * x * a1
    moment = inertia * a1 + 2 * m * s * v1 * v2 - m * x * a2
    return [moment + 0.9 * np.sign(v1), force + 0.7 * v2]


def test_a_file_by_hand() -> None:
    robot = par.loads(TWO)
    assert (robot.name, robot.n) == ("two", 2)
    assert [joint.passive for joint in robot.joints] == [False, True]
    q, qd, qdd = state(2)
    assert newton_euler.inverse_dynamics(robot, q, qd, qdd) == pytest.approx(torques_by_hand(q, qd, qdd), abs=1e-12)
    c, s = np.cos(q[0]), np.sin(q[0])
    tip = np.array([0.5 * c, 0.5 * s, 0.25]) + (q[1] + 0.1) * np.array([s, -c, 0])
    assert kinematics.pose(robot, q)[:3, 3] == pytest.approx(tip)


def test_letters_without_numbers_are_named(tmp_path: Path) -> None:
    path = tmp_path / "arm.par"
    path.write_text(TWO.replace("(* L = 0.5 *)", ""), encoding="utf-8")
    with pytest.warns(ModelWarning, match="numbers of L"):
        robot = armdyn.load(path)
    assert {"L", "H", "J"} <= set(robot.parameters)


def test_the_rx90_of_khalil(tmp_path: Path) -> None:
    """Letters stay letters: the customised program has the same operations, the torques are equal."""
    robot = armdyn.load("rx90")
    again = armdyn.load(robot.save(tmp_path / "rx90.par"))
    motion = state(6)
    assert np.array_equal(lagrange.inverse_dynamics(again, *motion), lagrange.inverse_dynamics(robot, *motion))
    ours, theirs = (armdyn.derive(each, symbols="base").operations for each in (robot, again))
    assert theirs == ours


@pytest.mark.parametrize("seed", range(6))
def test_trees_come_back(seed: int) -> None:
    """Branches, fixed bodies, prismatic joints, and x axes that are turned and moved along the preceding z."""
    robot = armdyn.random_robot(
        seed, 5, convention="modified", branching=0.4, fixed=0.3, any_gravity=True, tool=False
    ).bound()
    tree = []
    for joint in robot.tree:
        assert isinstance(joint.geometry, ModifiedDH)
        moved = replace(joint, geometry=replace(joint.geometry, gamma=0.3, b=-0.2))
        driven: dict[str, Any] = (
            {"friction": Friction(0.4, 0.2), "rotor": Rotor(inertia=0.01, ratio=3.0)} if joint.kind != "fixed" else {}
        )
        tree.append(replace(moved, **driven))
    robot = replace(robot, tree=tuple(tree), expressions=None, parameters={})
    again, motion = par.loads(par.dumps(robot)), state(5, seed)
    assert newton_euler.inverse_dynamics(again, *motion) == pytest.approx(
        newton_euler.inverse_dynamics(robot, *motion), rel=1e-12, abs=1e-12
    )


def test_elastic_joints_come_back() -> None:
    robot = armdyn.load("rx90").bound()
    soft = replace(robot, tree=tuple(replace(j, elastic=Elastic(2e3)) for j in robot.tree), expressions=None)
    assert [joint.elastic for joint in par.loads(par.dumps(soft)).joints] == [Elastic(2e3)] * 6
    damped = replace(soft, tree=tuple(replace(j, elastic=Elastic(2e3, 5.0)) for j in soft.tree))
    with pytest.raises(NotApplicable, match="damping"):
        par.dumps(damped)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("NJ = 2", "NJ = 3", "closed loop"),
        ("NL = 2", "", "number of links"),
        ("Ant = {0,1}", "Ant = {0,2}", "ant = 2"),
        ("Sigma = {0,1}", "Sigma = {0,3}", "sigma = 3"),
        ("Sigma = {0,1}", "", "sigma is missing"),
        ("M = {3,1.5}", "M = {3}", "M has 1 entries"),
        ("Type = 0", "is_mobile = 1", "base that moves"),
        ("Type = 0", "W0 = {0,0,w}", "base that moves"),
        ("Type = 0", "Z = {1,0,0,x,0,1,0,0,0,0,1,0,0,0,0,1}", "Z with letters"),
        ("Type = 0", "Z = {2,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1}", "no pose"),
        ("d = {0,L}", "d = {0,__import__('os').system('x')}", "has no meaning"),
        ("NL = 2\nNJ = 2", "NL = 100000\nNJ = 100000", "100000 links"),
    ],
)
def test_what_is_wrong_is_named(before: str, after: str, message: str) -> None:
    assert before in TWO
    with pytest.raises(ArmdynError, match=message):
        par.loads(TWO.replace(before, after))


def test_what_the_notation_has_no_place_for_is_refused() -> None:
    with pytest.raises(NotApplicable, match="modified Denavit-Hartenberg"):
        par.dumps(armdyn.load("planar2r").without("rotors_on_links"))
    with pytest.raises(FeatureError, match="rotors that spin"):
        par.dumps(armdyn.load("planar2r"))
    robot = armdyn.load("rx90").bound()
    stuck = replace(
        robot, tree=tuple(replace(j, friction=Friction(1, 2, 3, 0.1)) for j in robot.tree), expressions=None
    )
    with pytest.raises(FeatureError, match="static friction"):
        par.dumps(stuck)
    spinning = replace(
        robot, tree=tuple(replace(j, rotor=Rotor(inertia=1e-3, ratio=50.0)) for j in robot.tree), expressions=None
    )
    assert par.loads(par.dumps(spinning)).joints[0].rotor == Rotor(inertia=2.5)


def test_a_file_that_is_none() -> None:
    with pytest.raises(FileError, match="number of links"):
        par.loads("hello")
