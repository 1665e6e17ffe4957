"""Chains of revolute joints in frames along common normals: other numbers, the same robot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from armdyn.algebra import Pose, Vec3, rot_z
from armdyn.dynamics.looped.chains import along_normals, is_chain
from armdyn.dynamics.looped.programs import ALIGNED, looped, recipe_and_tables
from armdyn.dynamics.quantities import QUANTITIES
from armdyn.kernels.looped.kernel import build_looped
from armdyn.mechanics.angle_pair import AnglePair
from armdyn.robot import Robot
from armdyn.robot.parts import FreeTransform, Friction, Placement, Rotor, Spring
from armdyn.robot.random import random_robot
from support import pinocchio_model


def chain(seed: int, n: int, *alphas: float, size: float = 1.0) -> Robot:
    """A random chain whose axes have these angles between them, one after the other; origins are anywhere on them."""
    robot = random_robot(seed, n, prismatic=0.0, any_gravity=True)
    rng = np.random.default_rng(seed)
    tree = []
    for k, joint in enumerate(robot.tree):
        xyz, yaw = Vec3(*rng.uniform(-size, size, 3).tolist()), float(rng.uniform(-3, 3))
        geometry = FreeTransform(Placement(xyz, Vec3(alphas[k % len(alphas)], 0.0, yaw))) if alphas else joint.geometry
        tree.append(replace(joint, geometry=geometry))
    return replace(robot, tree=tuple(tree), expressions=None)


def with_terms(robot: Robot) -> Robot:
    tree = [replace(joint, friction=Friction(viscous=0.3 + k, coulomb=0.2, offset=0.1 * k),
                    rotor=Rotor(inertia=0.01, ratio=5 + k), spring=Spring(2.0 + k, 0.3))
            for k, joint in enumerate(robot.tree)]  # fmt: skip
    return replace(robot, tree=tuple(tree), expressions=None)


CHAINS = {
    "skew": chain(1, 13),
    "parallel": chain(2, 7, 0.0),
    "antiparallel": chain(3, 6, np.pi, 0.0),
    "at right angles": chain(4, 9, np.pi / 2, -np.pi / 2, 0.0),
    "nearly parallel": chain(5, 8, 1e-9, 1e-5, 1e-16, np.pi - 1e-8),
    "parallel within degrees": chain(7, 8, 0.07, 0.1, -0.08, np.pi - 0.09),
    "about one point": chain(8, 6, np.pi / 2, 1.0, size=0.0),
    "with joint terms": with_terms(chain(6, 8)),
}


def inputs(robot: Robot, name: str, count: int) -> list[Any]:
    rng = np.random.default_rng(count)
    return [rng.uniform(-3, 3, (count, robot.n)) for _ in QUANTITIES[name].inputs]


@pytest.mark.parametrize("which", [name for name in CHAINS if name != "nearly parallel"])
def test_joint_axes_stay_where_they_are(which: str) -> None:
    """Points on them and directions, seen from the first axis: torques do not tell where the world's origin is."""
    robot = CHAINS[which]
    made = along_normals(robot.links)
    assert made is not None
    none = Vec3(0.0, 0.0, 0.0)
    ours, theirs = Pose(made.base, none), Pose.identity()
    axes = []
    for link, moved, (along, _), ahead, q in zip(
        robot.links, made.links, made.steps, made.ahead, np.random.default_rng(0).uniform(-3, 3, robot.n), strict=True
    ):
        R, p = moved.placement
        assert R.column(0).x == 1 and p == Vec3(p.x, 0.0, 0.0) + along * R.column(2), "along x, then along its own axis"
        turn = rot_z(float(q)) @ rot_z(AnglePair(*ahead))
        ours = ours @ moved.placement @ Pose(turn, none)
        theirs = theirs @ link.pose(float(q))
        axes.append([np.array([*v], float) for v in (ours.p, ours.R.column(2), theirs.p, theirs.R.column(2))])
    between = axes[0][0] - axes[0][2]  # how far the world has been moved
    for point, direction, point_there, direction_there in axes:
        np.testing.assert_allclose(direction, direction_there, rtol=0, atol=1e-13)
        apart = point - point_there - between
        first = axes[0][3]
        # the origin of the first frame may have moved along its axis, all others along theirs besides
        basis = np.stack([first, direction_there], axis=1)
        left = apart - basis @ np.linalg.lstsq(basis, apart, rcond=None)[0]
        np.testing.assert_allclose(left, 0, rtol=0, atol=1e-12)


def test_axes_that_are_nearly_parallel() -> None:
    """Their common normal is far away, and inertias about its feet would lose digits."""
    assert along_normals(CHAINS["nearly parallel"].links) is None
    for which in ("parallel", "parallel within degrees"):
        assert along_normals(CHAINS[which].links) is not None
    found = recipe_and_tables(CHAINS["nearly parallel"], "inverse_dynamics")
    assert found is not None and "R00" in found[0].numbers


def test_what_is_a_chain() -> None:
    assert is_chain(CHAINS["skew"].links)
    assert not is_chain(random_robot(3, 9, prismatic=0.0, branching=0.9).links)
    assert not is_chain(random_robot(3, 9, prismatic=1.0).links)
    assert not is_chain(random_robot(8, 8, free_root=True).links)


@pytest.mark.parametrize("name", ALIGNED)
@pytest.mark.parametrize("which", CHAINS)
def test_agrees_with_code_for_any_placement(which: str, name: str) -> None:
    """Which is the one for trees."""
    robot = CHAINS[which]
    given = inputs(robot, name, 11)
    kernel, plain = looped(robot, name), recipe_and_tables(robot, name, aligned=False)
    assert kernel is not None and plain is not None and "R00" in plain[0].numbers
    expected = build_looped(*plain, name, None)(*given)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(kernel(*given), expected, rtol=0, atol=1e-11 * scale)  # of a few bad configurations
    one = np.array([kernel.call(*sample) for sample in zip(*given, strict=True)])
    np.testing.assert_allclose(one, expected, rtol=0, atol=1e-11 * scale)


@pytest.mark.parametrize("which", [name for name in CHAINS if name != "with joint terms"])
def test_agrees_with_pinocchio(which: str) -> None:
    pytest.importorskip("pinocchio")
    robot = CHAINS[which]
    q, qd, qdd = inputs(robot, "inverse_dynamics", 5)
    there, back = looped(robot, "inverse_dynamics"), looped(robot, "forward_dynamics")
    assert there is not None and back is not None
    tau = np.array([pinocchio_model.inverse_dynamics(robot, *state) for state in zip(q, qd, qdd, strict=True)])
    np.testing.assert_allclose(there(q, qd, qdd), tau, rtol=0, atol=1e-13 * np.abs(tau).max())
    matrices, found = [pinocchio_model.mass_matrix(robot, each) for each in q], looped(robot, "mass_matrix")
    assert found is not None
    np.testing.assert_allclose(found(q), matrices, rtol=0, atol=1e-13 * np.abs(matrices).max())
    condition = max(np.linalg.cond(pinocchio_model.mass_matrix(robot, each)) for each in q)
    np.testing.assert_allclose(back(q, qd, tau), qdd, rtol=0, atol=1e-14 * condition)


@pytest.mark.parametrize("name", [name for name in ALIGNED if name != "mass_matrix"])
def test_vectors_of_samples_in_turns(name: str) -> None:
    """However many samples are left for the last of them."""
    robot = CHAINS["skew"]
    kernel, plain, found = looped(robot, name), inputs(robot, name, 25), recipe_and_tables(robot, name)
    assert kernel is not None and found is not None
    whole = kernel(*plain)
    for abreast in (1, 2, 3):
        other = build_looped(replace(found[0], abreast=abreast), found[1], name, None)
        for count in (1, 3, 4, 5, 8, 9, 12, 13, 24, 25):
            np.testing.assert_array_equal(other(*(x[:count] for x in plain)), whole[:count])
    spread = [np.repeat(x, 2, axis=-1)[..., ::2][::-1] for x in plain]
    np.testing.assert_array_equal(kernel(*spread), whole[::-1])
    np.testing.assert_array_equal(kernel(*plain, threads=2), whole)
    wider = build_looped(*found, name, None, samples={4: 8, 8: 4}[kernel.record.lanes])
    np.testing.assert_allclose(wider(*plain), whole, rtol=0, atol=1e-14 * np.abs(whole).max())


def test_large_angles() -> None:
    """What is added to an angle is added to the exact one, too."""
    robot = CHAINS["skew"]
    kernel = looped(robot, "inverse_dynamics")
    assert kernel is not None
    q, *rest = inputs(robot, "inverse_dynamics", 9)
    q[::2] += 2e10 * np.pi
    near = np.arctan2(np.sin(q), np.cos(q))
    expected = kernel(near, *rest)
    np.testing.assert_allclose(kernel(q, *rest), expected, rtol=0, atol=1e-13 * np.abs(expected).max())
