"""Frames turned about joint axes, in which looped code needs one angle fewer: other numbers, the same robot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from armdyn.algebra import Mat3, Pose, Vec3, rot_x, rot_z
from armdyn.dynamics.looped.links import ALPHA, GAMMA, THETA
from armdyn.dynamics.looped.robots import TORQUES
from armdyn.dynamics.looped.tables import _plain_view, _turned_view, looped, recipe_and_tables
from armdyn.dynamics.quantities import QUANTITIES
from armdyn.kernels.looped.kernel import build_looped
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

ROBOTS = {
    **CHAINS,
    "tree": random_robot(3, 9, prismatic=0.0, branching=0.6),
    "mixed chain": random_robot(5, 9, prismatic=0.5, any_gravity=True),
    "mixed tree": with_terms(random_robot(4, 11, prismatic=0.4, branching=0.5)),
}
CHAINS["mixed chain"] = ROBOTS["mixed chain"]


def listed(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def inputs(robot: Robot, name: str, count: int) -> list[Any]:
    rng = np.random.default_rng(count)
    return [rng.uniform(-3, 3, (count, robot.n)) for _ in QUANTITIES[name].inputs]


@pytest.mark.parametrize("which", ROBOTS)
def test_joint_axes_stay_where_they_are(which: str) -> None:
    """Frames are turned about joint axes alone, and one angle is zero for all links."""
    view = _plain_view(ROBOTS[which])
    turned = _turned_view(view)
    assert turned.angles == ((ALPHA, THETA) if which in CHAINS else (GAMMA, ALPHA))
    world = rot_z(view.orientations[0][0]) if which in CHAINS else Mat3.identity()  # how the world has been turned
    np.testing.assert_allclose((world @ turned.gravity).array(), view.gravity.array(), rtol=0, atol=1e-14)
    q = np.random.default_rng(0).uniform(-3, 3, len(view.links)).tolist()
    ours, theirs = {-1: Pose.rotation(world)}, {-1: Pose.identity()}
    for link, other, (gamma, alpha, theta) in zip(view.links, turned.links, turned.orientations, strict=True):
        assert (gamma if which in CHAINS else theta).sin() == 0
        product = rot_z(gamma) @ rot_x(alpha) @ rot_z(theta)
        np.testing.assert_allclose(product.array(), other.placement.R.array(), rtol=0, atol=1e-15)
        (R, p), (R_there, p_there) = (
            poses[link.parent] @ each.pose(q[link.index]) for poses, each in ((ours, other), (theirs, link))
        )
        ours[link.index], theirs[link.index] = Pose(R, p), Pose(R_there, p_there)
        np.testing.assert_allclose(p.array(), p_there.array(), rtol=0, atol=1e-12)
        np.testing.assert_allclose(R.column(2).array(), R_there.column(2).array(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", TORQUES)
@pytest.mark.parametrize("which", ROBOTS)
def test_agrees_with_code_in_the_robots_own_frames(which: str, name: str) -> None:
    robot = ROBOTS[which]
    given = inputs(robot, name, 11)
    kernel, plain = looped(robot, name), recipe_and_tables(robot, name, plain=True)
    assert kernel is not None and plain is not None and {*GAMMA, *THETA} <= {*plain[0].numbers}
    expected = listed(build_looped(*plain, name, None)(*given))
    one = zip(*(listed(kernel.call(*sample)) for sample in zip(*given, strict=True)), strict=True)
    for batch, calls, other in zip(listed(kernel(*given)), one, expected, strict=True):
        scale = np.abs(other).max()
        np.testing.assert_allclose(batch, other, rtol=0, atol=1e-11 * scale)  # of a few bad configurations
        np.testing.assert_allclose(calls, other, rtol=0, atol=1e-11 * scale)


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


@pytest.mark.parametrize("lanes", [4, 8])
@pytest.mark.parametrize("name", TORQUES)
def test_any_number_of_samples_on_registers_of_any_size(name: str, lanes: int) -> None:
    """However many samples are left for the last vector; in any order in memory; by several threads."""
    robot = CHAINS["skew"]
    given, found = inputs(robot, name, 25), recipe_and_tables(robot, name)
    assert found is not None
    kernel = build_looped(*found, name, None, samples=lanes)
    whole = listed(kernel(*given))
    for count in (1, 3, 4, 5, 8, 9, 12, 13, 24, 25):
        for some, all_ in zip(listed(kernel(*(x[:count] for x in given))), whole, strict=True):
            np.testing.assert_array_equal(some, all_[:count])
    spread = [np.repeat(x, 2, axis=-1)[..., ::2][::-1] for x in given]
    for back, threads, all_ in zip(listed(kernel(*spread)), listed(kernel(*given, threads=2)), whole, strict=True):
        np.testing.assert_array_equal(back, all_[::-1])
        np.testing.assert_array_equal(threads, all_)


def test_large_angles() -> None:
    """What is added to an angle is added to the exact one."""
    robot = CHAINS["skew"]
    kernel = looped(robot, "inverse_dynamics")
    assert kernel is not None
    q, *rest = inputs(robot, "inverse_dynamics", 9)
    q[::2] += 2e10 * np.pi
    near = np.arctan2(np.sin(q), np.cos(q))
    expected = kernel(near, *rest)
    np.testing.assert_allclose(kernel(q, *rest), expected, rtol=0, atol=1e-13 * np.abs(expected).max())
