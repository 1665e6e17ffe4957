"""Inverse kinematics: closed forms give all solutions, iteration reaches what can be reached."""

from __future__ import annotations

import os
import sys
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armdyn
from armdyn.errors import ArmdynError, NotApplicable
from armdyn.kinematics import SolutionStatus, Unreachable, all_solutions, closed_form, inverse_kinematics
from armdyn.kinematics.numeric_inverse import search_bounds
from armdyn.kinematics.rotations import rotation_vector
from armdyn.mechanics import kinematics
from armdyn.texts.elbaji import printed

load = cache(armdyn.load)  # one robot per name: its kernels are then made once
COUNT = 1000 if os.environ.get("ARMDYN_FULL") else 200


def random_q(robot, count, seed=1):  # type: ignore[no-untyped-def]
    bounds = search_bounds(robot, True)
    return np.random.default_rng(seed).uniform(bounds.start_lower, bounds.start_upper, (count, robot.n))


def pose_error(robot, q, T):  # type: ignore[no-untyped-def]
    reached = kinematics.pose(robot, q)
    turn = rotation_vector(reached[..., :3, :3] @ np.swapaxes(T[..., :3, :3], -1, -2))
    return max(np.abs(reached[..., :3, 3] - T[..., :3, 3]).max(initial=0), np.abs(turn).max(initial=0))


def turned(q):  # type: ignore[no-untyped-def]
    """Angles within one turn about 0."""
    return (np.asarray(q) + np.pi) % (2 * np.pi) - np.pi


# Success rates --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ur5", "panda", "puma560", "rx90", "scara5"])
@pytest.mark.parametrize("method", ["numeric", "closed"])
def test_round_trips_on_random_poses(name, method, capsys) -> None:  # type: ignore[no-untyped-def]
    robot = load(name)
    if method == "closed" and closed_form(robot) is None:
        pytest.skip(f"{name} has no closed form")
    T = kinematics.pose(robot, random_q(robot, COUNT))
    result = inverse_kinematics(robot, T, method=method, throw=False)
    rate = result.reached.mean()
    with capsys.disabled():
        sys.stdout.write(f" {name} {method}: {100 * rate:.1f} % of {COUNT} ")
    assert rate > 0.99
    found = result.reached
    assert pose_error(robot, result.q[found], T[found]) < 1e-9
    bounds = search_bounds(robot, True)
    assert (result.q[found] >= bounds.lower).all()
    assert (result.q[found] <= bounds.upper).all()
    assert result.residual[found].max() <= 1e-10
    assert (result.iterations == 0).all() if method == "closed" else result.iterations.max() > 0


@given(st.integers(0, 2**31), st.integers(2, 7))
@settings(max_examples=8, deadline=None)
def test_random_robots_by_iteration(seed, n) -> None:  # type: ignore[no-untyped-def]
    robot = armdyn.random_robot(seed, n)
    q = np.random.default_rng(seed).uniform(-1, 1, n)
    T = kinematics.pose(robot, q)
    near = inverse_kinematics(robot, T, q + 0.05, method="numeric", throw=False)
    assert near.reached
    assert pose_error(robot, near.q, T) < 1e-9


# Arms with parallel axes ----------------------------------------------------------------------------------------------


@given(st.floats(-0.2, 0.3), st.floats(-3, 3), st.floats(0.1, 3.0), st.floats(-3, 3), st.floats(-0.2, 0.2))
@settings(max_examples=60, deadline=None)
def test_scara5_is_el_baji_38_with_the_corrected_sign(d1, t2, t3, t4, d5) -> None:  # type: ignore[no-untyped-def]
    robot = load("scara5")
    q = np.array([d1, t2, t3, t4, d5])
    T = kinematics.pose(robot, q)
    found = all_solutions(robot, T, q0=[d1, 0, 0, 0, 0])
    assert pose_error(robot, found, T) < 1e-11
    assert len(found) == 2
    x, y, z = T[:3, 3]
    phi = np.arctan2(T[1, 0], T[0, 0])
    for elbow in (1, -1):
        right = printed.inverse_kinematics(robot, (x, y, z, phi, d1), elbow)
        assert min(np.abs(turned(right - other)).max() for other in found) < 1e-6
        assert pose_error(robot, right, T) < 1e-6


def test_el_baji_38_as_printed_misses() -> None:
    """ElBaji-1: with the printed sign of c_2 the tool misses, by up to 0.3 m."""
    robot = load("scara5")
    misses = []
    for t2, t3, t4 in np.random.default_rng(2).uniform([-3, 0.2, -3], [3, 2.9, 3], (100, 3)):
        T = kinematics.pose(robot, [0, t2, t3, t4, 0])
        x, y, z = T[:3, 3]
        goal = (x, y, z, np.arctan2(T[1, 0], T[0, 0]), 0.0)
        q = printed.inverse_kinematics(robot, goal, 1, {"ElBaji-1"})
        misses.append(np.linalg.norm(kinematics.pose(robot, q)[:3, 3] - T[:3, 3]))
    assert np.median(misses) > 0.02
    assert max(misses) > 0.2


def test_scara5_cannot_tilt_its_tool() -> None:
    robot = load("scara5")
    T = kinematics.pose(robot, [0, 0.3, 0.5, 0.2, 0])
    T[:3, :3] = np.eye(3)
    result = inverse_kinematics(robot, T, throw=False)
    assert result.status is SolutionStatus.NOT_REACHED
    with pytest.raises(Unreachable, match="fewer than six joints"):
        inverse_kinematics(robot, T)


@given(st.floats(-3, 3), st.floats(0.05, 3.0))
@settings(max_examples=40, deadline=None)
def test_planar2r_has_two_elbows(first, second) -> None:  # type: ignore[no-untyped-def]
    robot = load("planar2r")
    q = np.array([first, second])
    T = kinematics.pose(robot, q)
    found = all_solutions(robot, T[:3, 3])
    assert len(found) == 2
    np.testing.assert_allclose(kinematics.pose(robot, found)[:, :3, 3], [T[:3, 3]] * 2, atol=1e-10)
    assert min(np.abs(turned(x - q)).max() for x in found) < 1e-7
    # By the law of cosines the elbows are mirror images.
    np.testing.assert_allclose(turned(found[0, 1] + found[1, 1]), 0, atol=1e-7)
    whole = all_solutions(robot, T)  # with the rotation given, one of them is left
    assert len(whole) == 1
    np.testing.assert_allclose(turned(whole[0] - q), 0, atol=1e-7)
    assert len(all_solutions(robot, [2.1, 0, 0])) == 0
    assert len(all_solutions(robot, [1.0, 0, 0.1])) == 0
    np.testing.assert_allclose(all_solutions(robot, [2.0, 0, 0]), [[0, 0]], atol=1e-6)  # stretched: one


def test_planar3r_on_a_tilted_base_with_an_axis_turned_over() -> None:
    base = np.eye(4)
    base[:3, :3] = kinematics.pose(load("puma560"), [0.4, 0.3, 0.9, 0.2, 0.8, 0.1])[:3, :3]
    base[:3, 3] = [0.3, -0.2, 0.5]
    rows = [
        {"type": "revolute", "a": 0.5, "d": 0.1, "alpha": np.pi, "theta": 0.2, "mass": 1},
        {"type": "prismatic", "a": 0.1, "mass": 1},
        {"type": "revolute", "a": 0.4, "d": -0.2, "mass": 1},
        {"type": "revolute", "a": 0.2, "alpha": np.pi, "mass": 1},
    ]
    robot = armdyn.Robot.from_dh(rows, base=base)
    assert closed_form(robot).family == "3 parallel revolute axes and 1 prismatic"
    for q in np.random.default_rng(0).uniform(-1.5, 1.5, (20, 4)):
        T = kinematics.pose(robot, q)
        found = all_solutions(robot, T)
        assert pose_error(robot, found, T) < 1e-10
        assert min(np.abs(turned(x - q)).max() for x in found) < 1e-6


# Spherical wrists -----------------------------------------------------------------------------------------------------


def test_puma560_has_eight() -> None:
    robot = load("puma560")
    assert closed_form(robot).family == "spherical wrist, axes 2 and 3 parallel"
    q = np.array([0.4, 0.6, -2.2, 0.5, 0.8, 0.3])
    T = kinematics.pose(robot, q)
    found = all_solutions(robot, T, limits=False)
    assert found.shape == (8, 6)
    assert pose_error(robot, found, T) < 1e-11
    differences = np.abs(turned(found[:, None] - found[None])).max(axis=-1) + np.eye(8)
    assert differences.min() > 1e-3, "eight different ones"
    inside = all_solutions(robot, T)
    bounds = search_bounds(robot, True)
    assert 0 < len(inside) < 8
    assert bounds.contains(inside).all()
    assert np.abs(turned(all_solutions(robot, T, q0=q)[0] - q)).max() < 1e-9, "the nearest comes first"


def test_ur5_has_eight() -> None:
    robot = load("ur5")
    assert closed_form(robot).family == "axes 2, 3, 4 parallel, 5 and 6 meet"
    q = np.array([0.4, -1.2, 1.5, -0.7, -1.1, 0.3])
    T = kinematics.pose(robot, q)
    found = all_solutions(robot, T, q0=q)
    assert found.shape == (8, 6)
    assert pose_error(robot, found, T) < 1e-11
    assert (np.abs(turned(found[:, None] - found[None])).max(axis=-1) + np.eye(8)).min() > 1e-3
    np.testing.assert_allclose(found[0], q, atol=1e-9)
    folded = q.copy()
    folded[4] = 0.0  # axis 6 along axes 2, 3, 4: joint 6 is free and stays where it was
    result = inverse_kinematics(robot, kinematics.pose(robot, folded), folded)
    assert pose_error(robot, result.q, kinematics.pose(robot, folded)) < 1e-9
    assert result.q[5] == pytest.approx(folded[5], abs=1e-9)


def parallel_arm(seed):  # type: ignore[no-untyped-def]
    """A random arm with axes 2, 3, 4 parallel or antiparallel and axes 5, 6 crossing, at any angles and offsets."""
    rng = np.random.default_rng(seed)
    a, d, alpha, theta = rng.uniform(-1, 1, (4, 6))
    alpha *= np.pi
    alpha[1] = np.sign(alpha[1]) * rng.uniform(0.4, 2.7)
    alpha[2:4] = np.pi * rng.integers(0, 2, 2)
    alpha[4:] = np.sign(alpha[4:]) * rng.uniform(0.6, 2.5, 2)
    a[2:4] = np.sign(a[2:4]) * rng.uniform(0.3, 1, 2)
    a[5] = 0
    rows = [
        {"type": "revolute", "a": a[k], "d": d[k], "alpha": alpha[k], "theta": theta[k], "mass": 1} for k in range(6)
    ]
    tool, base = np.eye(4), np.eye(4)
    tool[:3, 3], base[:3, 3] = rng.normal(size=3) / 5, rng.normal(size=3)
    return armdyn.Robot.from_dh(rows, "modified", base=base, tool=tool)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=6, deadline=None)
def test_any_arm_with_three_parallel_axes(seed) -> None:  # type: ignore[no-untyped-def]
    robot = parallel_arm(seed)
    assert "axes 2, 3, 4 parallel" in closed_form(robot).family
    q = np.random.default_rng(seed).uniform(-3, 3, 6)
    T = kinematics.pose(robot, q)
    found = all_solutions(robot, T)
    assert pose_error(robot, found, T) < 1e-9
    assert min(np.abs(turned(x - q)).max() for x in found) < 1e-4


def wrist_arm(seed, kind):  # type: ignore[no-untyped-def]
    """A random arm with a spherical wrist; kind: how axes 1 and 2 lie."""
    rng = np.random.default_rng(seed)
    a, d, alpha, theta = rng.uniform(-1, 1, (4, 6))
    alpha *= np.pi
    a[0] = d[0] = 0.3  # base to axis 1
    if kind == "intersecting":
        a[1] = 0
    elif kind == "parallel":
        alpha[1] = np.pi if rng.random() < 0.5 else 0.0
    elif kind == "orthogonal":
        a[1], alpha[1] = 0, np.pi / 2
    a[4] = a[5] = d[4] = 0  # axes 4, 5, 6 through one point
    alpha[4:] = np.sign(alpha[4:]) * rng.uniform(0.6, 2.5, 2)  # not in line, not always at right angles
    rows = [
        {"type": "revolute", "a": a[k], "d": d[k], "alpha": alpha[k], "theta": theta[k], "mass": 1} for k in range(6)
    ]
    tool, base = np.eye(4), np.eye(4)
    tool[:3, 3], base[:3, 3] = rng.normal(size=3) / 5, rng.normal(size=3)
    return armdyn.Robot.from_dh(rows, "modified", base=base, tool=tool)


@pytest.mark.parametrize("kind", ["any", "intersecting", "parallel", "orthogonal"])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=6, deadline=None)
def test_any_arm_with_a_spherical_wrist(kind, seed) -> None:  # type: ignore[no-untyped-def]
    robot = wrist_arm(seed, kind)
    assert "spherical wrist" in closed_form(robot).family
    q = np.random.default_rng(seed).uniform(-3, 3, 6)
    T = kinematics.pose(robot, q)
    found = all_solutions(robot, T)
    assert pose_error(robot, found, T) < 1e-9
    assert 1 <= len(found) <= 8
    assert min(np.abs(turned(x - q)).max() for x in found) < 1e-4


@pytest.mark.parametrize("kind", ["any", "intersecting", "parallel", "three parallel"])
def test_no_solution_is_missed(kind) -> None:  # type: ignore[no-untyped-def]
    """What iteration finds from many random starts is among the solutions of the closed form."""
    rng = np.random.default_rng(8)
    counts = set()
    for seed in range(3):
        robot = parallel_arm(seed) if kind == "three parallel" else wrist_arm(seed, kind)
        T = kinematics.pose(robot, rng.uniform(-3, 3, 6))
        found = all_solutions(robot, T)
        starts = rng.uniform(-np.pi, np.pi, (60, 6))
        copies = np.broadcast_to(T, (60, 4, 4))
        many = inverse_kinematics(robot, copies, starts, method="numeric", starts=1, throw=False)
        assert many.reached.mean() > 0.3
        distances = np.abs(turned(many.q[many.reached][:, None] - found[None])).max(axis=-1)
        assert distances.min(axis=1).max() < 1e-5
        counts.add(len(found))
    assert max(counts) >= 4


def test_wrist_in_line_and_stretched_arm() -> None:
    robot = load("puma560")
    for q in ([0.4, 0.6, -2.2, 0.5, 0.0, 0.3], [0.4, 0.6, np.arctan2(0.0203, 0.4318) - np.pi / 2, 0.5, 0.8, 0.3],
              [0.2, np.pi / 2, -np.pi / 2, 0.0, 0.0, 0.0]):  # fmt: skip
        T = kinematics.pose(robot, q)
        result = inverse_kinematics(robot, T, q)
        assert pose_error(robot, result.q, T) < 1e-9
        if q[4] == 0:  # joint 4 is free and stays where it was
            assert result.q[3] == pytest.approx(q[3], abs=1e-9)


def test_other_arms_have_no_closed_form_and_say_so() -> None:
    robot = armdyn.random_robot(3, 6)
    assert closed_form(robot) is None
    with pytest.raises(NotApplicable, match="three neighbouring axes at an end of the arm through one point"):
        all_solutions(robot, np.eye(4))
    with pytest.raises(NotApplicable, match="method='numeric'"):
        inverse_kinematics(robot, np.eye(4), method="closed")


# The door ------------------------------------------------------------------------------------------------------------


def test_batches_and_single_poses_agree() -> None:
    robot = load("ur5")
    q = random_q(robot, 6).reshape(2, 3, 6)
    T = kinematics.pose(robot, q)
    batch = armdyn.inverse_kinematics(robot, T, q + 0.1)
    assert batch.q.shape == (2, 3, 6)
    assert batch.status.shape == batch.residual.shape == batch.iterations.shape == batch.reached.shape == (2, 3)
    single = inverse_kinematics(robot, T[1, 2], q[1, 2] + 0.1)
    assert single.status is SolutionStatus.REACHED
    assert single.reached is True
    np.testing.assert_allclose(single.q, batch.q[1, 2], atol=1e-9)
    assert pose_error(robot, single.q, T[1, 2]) < 1e-9


@pytest.mark.parametrize("name", ["ur5", "panda"])
def test_a_compiled_model_gives_the_answer_of_its_robot(name: str) -> None:
    """By closed form and by iteration; the pose that is reached is checked by the compiled model."""
    robot = load(name)
    dyn = armdyn.compile(robot)
    pose = dyn.pose(random_q(robot, 1, seed=5)[0])
    found = inverse_kinematics(dyn, pose)
    np.testing.assert_array_equal(found.q, inverse_kinematics(robot, pose).q)
    np.testing.assert_allclose(dyn.pose(found.q), pose, atol=1e-8)


def test_same_seed_same_answer() -> None:
    robot = load("panda")
    T = kinematics.pose(robot, random_q(robot, 20))
    first, second = (inverse_kinematics(robot, T, seed=3).q for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_status_tells_limits_from_reach() -> None:
    robot = load("panda")
    inside = kinematics.pose(robot, random_q(robot, 1)[0])
    far = inside.copy()
    far[:3, 3] = [3.0, 0, 0]
    result = inverse_kinematics(robot, np.stack([inside, far]), throw=False)
    assert result.status.tolist() == [SolutionStatus.REACHED, SolutionStatus.NOT_REACHED]
    puma = load("puma560")
    over = kinematics.pose(puma, [0.1, -1.2, 1.2, 2.9, 1.9, 0.3])
    for method in ("closed", "numeric"):
        limited = inverse_kinematics(puma, over, method=method, throw=False)
        assert limited.status is SolutionStatus.OUT_OF_LIMITS
        assert inverse_kinematics(puma, over, method=method, limits=False).reached
    with pytest.raises(Unreachable, match="1 of 2 poses are not reached, the first at index 1"):
        inverse_kinematics(robot, np.stack([inside, far]))


def test_a_part_of_the_pose() -> None:
    robot = load("panda")
    T = kinematics.pose(robot, random_q(robot, 5))
    by_position = inverse_kinematics(robot, T[:, :3, 3])
    np.testing.assert_allclose(kinematics.pose(robot, by_position.q)[:, :3, 3], T[:, :3, 3], atol=1e-9)
    height = inverse_kinematics(robot, T, rows="z")
    np.testing.assert_allclose(kinematics.pose(robot, height.q)[:, 2, 3], T[:, 2, 3], atol=1e-9)
    middle = kinematics.pose(robot, [0.3, 0.2, 0.1, -1.0, 0.5, 0.5, 0.5], "panda_link4")
    part = inverse_kinematics(robot, middle, frame="panda_link4")
    np.testing.assert_allclose(kinematics.pose(robot, part.q, "panda_link4"), middle, atol=1e-9)
    with pytest.raises(ArmdynError, match="unknown row 'roll'"):
        inverse_kinematics(robot, T, rows="x roll")
    with pytest.raises(ArmdynError, match="without a rotation"):
        inverse_kinematics(robot, T[:, :3, 3], rows="rx")


@pytest.mark.parametrize("secondary", ["middle", "near", "manipulability", "own"])
def test_a_redundant_arm_does_a_second_task(secondary) -> None:  # type: ignore[no-untyped-def]
    robot = load("panda")
    q0 = np.array([0.2, -0.3, 0.4, -1.8, 0.3, 1.6, 0.2])
    T = kinematics.pose(robot, random_q(robot, 8, seed=5))
    bounds = search_bounds(robot, True)
    costs = {
        "middle": lambda q: (((q - bounds.middle) / (bounds.upper - bounds.lower)) ** 2).sum(axis=-1),
        "near": lambda q: ((q - q0) ** 2).sum(axis=-1),
        "manipulability": lambda q: -np.sqrt(np.linalg.det(_gram(robot, q))),
        "own": lambda q: (q[..., 2] - 0.5) ** 2,
    }
    cost = costs[secondary]
    plain = inverse_kinematics(robot, T, q0)
    task = inverse_kinematics(robot, T, q0, secondary=cost if secondary == "own" else secondary)
    assert pose_error(robot, task.q, T) < 1e-9
    assert bounds.contains(task.q).all()
    assert (cost(task.q) <= cost(plain.q) + 1e-12).all()
    assert (cost(task.q) < cost(plain.q) - 1e-6).mean() > 0.5
    # At the optimum the cost has no slope left along the motions that keep the pose (unless a limit holds a joint).
    free = ((task.q > bounds.lower + 1e-6) & (task.q < bounds.upper - 1e-6)).all(axis=1)
    for q in task.q[free]:
        J = kinematics.jacobian(robot, q)
        null = np.linalg.svd(J)[2][-1]
        slope = (cost(q + 1e-5 * null) - cost(q - 1e-5 * null)) / 2e-5
        assert abs(slope) < 2e-3
    assert free.any()


def _gram(robot, q):  # type: ignore[no-untyped-def]
    J = kinematics.jacobian(robot, q)
    return J @ np.swapaxes(J, -1, -2)


@pytest.mark.parametrize(
    ("pose", "options", "message"),
    [
        (np.zeros(4), {}, "(..., 4, 4)"),
        (np.full((4, 4), np.nan), {}, "finite"),
        (2 * np.eye(4), {}, "not a pose"),
        (np.diag([1.0, 1, -1, 1]), {}, "not a pose"),
        (np.eye(4), {"method": "magic"}, "unknown method"),
        (np.eye(4), {"q0": [0, 0]}, "6 finite numbers"),
        (np.eye(4), {"secondary": "speed", "throw": False}, "unknown secondary task"),
        (np.eye(4), {"frame": "toll"}, "Did you mean 'tool'"),
    ],
)
def test_bad_input_is_named(pose, options, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ArmdynError) as caught:
        inverse_kinematics(load("ur5"), pose, **options)
    assert message in str(caught.value)
