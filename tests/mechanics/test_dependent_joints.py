"""Dependent joints of closed chains: triangles of every arrangement, and accelerations that velocities cause."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

import armdyn
from armdyn.algebra import Pose, Vec3, rot_rpy
from armdyn.equations.closed_certificate import with_closed_loops
from armdyn.errors import PhysicsError
from armdyn.mechanics import closed_chain
from armdyn.mechanics.angle_pair import AnglePair
from armdyn.mechanics.dependent_joints import (
    DependentJoints,
    Distances,
    Iteration,
    LoopRates,
    Strut,
    Triangle,
    dependent_joints,
)
from armdyn.robot import Robot
from armdyn.robot.parts import Loop, LoopKind, Placement
from armdyn.robot.random import random_robot

FREE = {"spherical": 3, "universal": 2, "revolute": 1, "prismatic": 1, "fixed": 0}
BODY: dict[str, Any] = {"mass": 1.5, "com": [0.1, 0.02, 0.01], "inertia": [0.01, 0, 0, 0.03, 0, 0.03]}


@pytest.mark.parametrize("between_moving_bodies", [False, True])
@pytest.mark.parametrize("kind", get_args(LoopKind))
def test_drift_is_the_rate_of_the_projection(kind: LoopKind, between_moving_bodies: bool) -> None:
    """By recursion along both branches, and by derivatives of the conditions' rates."""
    for seed in range(3):
        robot, q = random_robot(seed, 8, prismatic=0.0), np.random.default_rng(seed).uniform(-1, 1, 8)
        tree = tuple(
            replace(joint, passive=k >= 2 + FREE[kind], kind="prismatic" if k in (1, 6) else "revolute")
            for k, joint in enumerate(robot.tree)
        )
        first = robot.root.name
        if between_moving_bodies:  # joints 0 to 2 carry one of the bodies, the others the other one
            first = tree[2].body.name
            tree = (*tree[:3], replace(tree[3], parent=robot.root.name), *tree[4:])
        loop = Loop("cut", first, robot.tree[-1].body.name, kind=kind)
        closed = with_closed_loops(replace(robot, tree=tree, loops=(loop,), expressions=None), list(q))
        chain = LoopRates(closed)
        G = chain.projection(list(q))
        qd_a = np.random.default_rng(seed + 9).uniform(-1, 1, closed.n)
        qd = list(np.asarray(G, dtype=float) @ qd_a)
        expected = np.asarray(chain.rate(list(q), qd, G), dtype=float) @ qd_a
        assert np.asarray(chain.drift(list(q), qd)) == pytest.approx(expected, abs=1e-8 * (1 + np.abs(expected).max()))


def four_bar(flips: tuple[int, int, int], *, chained: bool, offset: float, tilt: float) -> Robot:
    """Three joints about parallel axes and the one that closes them; the first has the motor."""
    parents = ("base", "crank", "rod" if chained else "base")
    places = ([0, 0, 0.1], [0.3, 0, 0], [0.5, 0.1, 0] if chained else [0.7, 0.2, 0.1])
    rows = [
        BODY | {"name": f"j{k}", "type": "revolute", "passive": k > 0, "parent": parent, "link": link, "xyz": xyz,
                "axis": [0, 0, flip], "rpy": [0.0, 0.0, offset if k else tilt]}
        for k, (parent, link, xyz, flip) in enumerate(zip(parents, ("crank", "rod", "rocker"), places, flips,
                                                          strict=True))
    ]  # fmt: skip
    base = Pose(rot_rpy(tilt, 0.3, 0), Vec3(0.1, 0, 0)).array()
    robot = Robot.from_dh(rows, convention="free", base=base, name="four_bar")
    first, end = ("base", "rocker") if chained else ("rod", "rocker")
    place = Placement(Vec3(1.0, 0.2, 0) if chained else Vec3(0.5, 0.1, 0))
    loop = Loop("cut", first, end, place, kind="revolute")
    q = [0.9 * flips[0], -0.7 * flips[1], 1.4 * flips[2]]
    tree = tuple(replace(joint, home=x) for joint, x in zip(robot.tree, q, strict=True))
    return with_closed_loops(replace(robot, tree=tree, loops=(loop,), expressions=None), q)


@pytest.mark.parametrize("chained", [False, True])
@pytest.mark.parametrize("flips", [(1, 1, 1), (1, -1, 1), (-1, 1, -1)])
def test_planar_four_bars(flips: tuple[int, int, int], chained: bool) -> None:
    """Axes up or down, joints on one or two branches, placements turned, base tilted; both assembly modes."""
    robot = four_bar(flips, chained=chained, offset=0.4, tilt=0.6)
    chain = dependent_joints(robot)
    assert [type(stage) for stage in chain.stages] == [Triangle]
    dyn: Any = armdyn.compile(robot)
    for place in chain.drawn(random.Random(2), 5, 0.2):
        q = np.array([place[0]])
        assert np.asarray(dyn.closed(q[None]))[0] == pytest.approx(_wrapped(place), abs=1e-9)
        other = _mirrored(robot, chain, place)
        for near, q_all in ((place, place), (other, other)):
            found = dyn.closed(q[None], near=np.array(near))[0]
            assert found == pytest.approx(_wrapped(q_all), abs=1e-9)
            tau = dyn.inverse_dynamics(q[None], q[None], q[None], near=np.array(near))[0]
            expected = closed_chain.inverse_dynamics(robot, np.array(q_all), q, q)
            assert tau == pytest.approx(expected, abs=1e-9 * (1 + np.abs(expected).max()))


WAYS = {
    "parallelogram": (), "palletiser": (), "five_bar": (Triangle,), "bricard": (Iteration,),
    "delta": (Distances, *[Strut] * 3), "stewart": (Distances, *[Strut] * 6),
}  # fmt: skip


@pytest.mark.parametrize("name", WAYS)
def test_loops_are_closed_by_formulas_where_there_are_any(name: str) -> None:
    """Iterations would hide a wrong formula, which is given up when it disagrees with a closed configuration."""
    assert tuple(type(stage) for stage in dependent_joints(armdyn.load(name)).stages) == WAYS[name]


def _wrapped(q: Any) -> Any:
    """Dependent angles as `closed` gives them: within half a turn."""
    return np.array([q[0], *np.arctan2(np.sin(q[1:]), np.cos(q[1:]))])


def _mirrored(robot: Robot, chain: DependentJoints, place: list[float]) -> list[float]:
    """The same crank with the other two bars on the other side of the line between their ends."""
    rng = np.random.default_rng(0)
    while True:
        try:
            found = closed_chain.close(robot, place[:1], [place[0], *rng.uniform(-3, 3, 2)])
        except PhysicsError:
            continue
        if np.abs(np.cos(found) - np.cos(place)).max() > 1e-3 or np.abs(np.sin(found) - np.sin(place)).max() > 1e-3:
            return [float(x) for x in found]


def test_orientations_are_those_of_the_loop_that_saw_them() -> None:
    pair = AnglePair(1.0, 0.0)
    assert pair.orientation(object()) is None and (pair + 0.3).orientation(object()) is None


def test_overconstrained_loops_with_rounded_geometry_say_so() -> None:
    """The six hinges of Bricard's linkage, one of them turned by 1e-4 rad: nothing closes it."""
    exact = armdyn.load("bricard").bound()
    loop = exact.loops[0]
    turned = replace(
        loop, second_placement=replace(loop.second_placement, rpy=loop.second_placement.rpy + Vec3(1e-4, 0, 0))
    )
    with pytest.raises(PhysicsError, match="overconstrained and its geometry does not fit.*Rounded numbers"):
        armdyn.compile(replace(exact, loops=(turned,), expressions=None)).closed([[0.1]])
