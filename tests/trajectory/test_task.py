"""Lines, circles and rotations in space, and the joints that follow them. Khalil (8.48)-(8.57), (9.18)-(9.21)"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import armdyn
from armdyn.errors import ArmdynError
from armdyn.kinematics import Unreachable
from armdyn.kinematics.rotations import axis_angle, euler_zxz, rot, rotation_vector
from armdyn.mechanics import kinematics
from armdyn.trajectory import arc, circle, follow, line, task_curve


def rotation(seed):  # type: ignore[no-untyped-def]
    return Rotation.random(rng=np.random.default_rng(seed)).as_matrix()


def pose(R, p):  # type: ignore[no-untyped-def]
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


load = cache(armdyn.load)  # one robot per name: its kernels are then made once
seeds = st.integers(0, 2**31)


# Rotations ----------------------------------------------------------------------------------------------------------


@given(seeds)
@settings(max_examples=50, deadline=None)
def test_axis_and_angle_where_the_printed_formula_is_good(seed) -> None:  # type: ignore[no-untyped-def]
    R = rotation(seed)
    s = 0.5 * np.sqrt((R[2, 1] - R[1, 2]) ** 2 + (R[0, 2] - R[2, 0]) ** 2 + (R[1, 0] - R[0, 1]) ** 2)
    alpha = np.arctan2(s, 0.5 * (np.trace(R) - 1))  # (8.51)
    u, angle = axis_angle(R)
    assert angle == pytest.approx(alpha, abs=1e-7)
    if s > 1e-3:
        np.testing.assert_allclose(u, np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (2 * s),
                                   atol=1e-10)  # fmt: skip
    np.testing.assert_allclose(rot(u, angle), R, atol=1e-14)
    np.testing.assert_allclose(rotation_vector(R), Rotation.from_matrix(R).as_rotvec(), atol=1e-13)


SMALL = [0.0, 1e-300, 1e-16, 1e-12, 1e-8, 1e-4]


@pytest.mark.parametrize("alpha", [*SMALL, *(np.pi - a for a in SMALL[2:]), np.pi])
def test_axis_and_angle_near_zero_and_pi(alpha) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(5)
    for u in [*rng.normal(size=(20, 3)), *np.eye(3), *-np.eye(3), [1, 1, 0], [0, -1, 1e-9]]:
        u = np.asarray(u) / np.linalg.norm(u)
        vector = rotation_vector(rot(u, alpha))
        sign = np.sign(vector @ u) if alpha > 3.14159265 else 1.0  # at pi both axes are right
        np.testing.assert_allclose(vector, sign * alpha * u, atol=2e-15)
        if alpha < 3.1:
            np.testing.assert_allclose(vector, alpha * u, rtol=1e-12, atol=1e-15 * alpha)


@given(seeds)
@settings(max_examples=50, deadline=None)
def test_euler_angles(seed) -> None:  # type: ignore[no-untyped-def]
    R = rotation(seed)
    z, x = np.array([0, 0, 1.0]), np.array([1.0, 0, 0])
    for case in (R, rot(z, 0.7), rot(x, np.pi) @ rot(z, 0.4), np.eye(3)):
        phi, theta, psi = euler_zxz(case)
        np.testing.assert_allclose(rot(z, phi) @ rot(x, theta) @ rot(z, psi), case, atol=1e-13)


# Paths --------------------------------------------------------------------------------------------------------------

OPTIONS = st.sampled_from([("axis", "tool"), ("axis", "base"), ("euler", "tool"), ("fixed", "tool")])


def check_rates(task) -> None:  # type: ignore[no-untyped-def]
    """Velocity and acceleration of a task are the derivatives of its pose."""
    t = np.linspace(0.05, 0.93, 9) * task.duration
    h = 1e-4 * task.duration
    before, after = task.pose(t - h), task.pose(t + h)
    v = (after[:, :3, 3] - before[:, :3, 3]) / (2 * h)
    w = rotation_vector(after[:, :3, :3] @ np.swapaxes(before[:, :3, :3], 1, 2)) / (2 * h)
    rates = task.velocity(t)
    size = 1e-6 * (1 + np.abs(rates).max() + np.abs(task.acceleration(t)).max())
    np.testing.assert_allclose(rates, np.concatenate([v, w], axis=1), atol=10 * size)
    a = (task.velocity(t + h) - task.velocity(t - h)) / (2 * h)
    np.testing.assert_allclose(task.acceleration(t), a, atol=100 * size)


@given(seeds, OPTIONS)
@settings(max_examples=40, deadline=None)
def test_lines_go_straight_from_pose_to_pose(seed, option) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    start, end = pose(rotation(seed), rng.normal(size=3)), pose(rotation(seed + 1), rng.normal(size=3))
    turning, frame = option
    task = line(start, end, "quintic", duration=2.0, rotation=turning, frame=frame)
    np.testing.assert_allclose(task.pose(0.0), start, atol=1e-14)
    last = task.pose(2.0)
    np.testing.assert_allclose(last[:3, 3], end[:3, 3], atol=1e-14)
    np.testing.assert_allclose(last[:3, :3], (start if turning == "fixed" else end)[:3, :3], atol=1e-13)
    p = task.pose(np.linspace(0, 2, 30))[:, :3, 3] - start[:3, 3]
    D = end[:3, 3] - start[:3, 3]
    assert np.abs(np.cross(p, D)).max() < 1e-13 * (D @ D)
    assert not task.velocity(-1.0).any()
    assert not task.acceleration(2.5).any()
    check_rates(task)


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_tool_axis_and_base_axis_are_two_names_of_one_motion(seed) -> None:  # type: ignore[no-untyped-def]
    start, end = pose(rotation(seed), [0, 0, 0]), pose(rotation(seed + 1), [1, 0, 0])
    one, other = (line(start, end, "cubic", duration=1.0, frame=frame) for frame in ("tool", "base"))
    t = np.linspace(0, 1, 9)
    np.testing.assert_allclose(one.pose(t), other.pose(t), atol=1e-12)
    u, alpha = axis_angle(end[:3, :3] @ start[:3, :3].T)  # (8.56)
    np.testing.assert_allclose(one.velocity(0.5)[3:], 1.5 * alpha * u, atol=1e-12)  # (8.57): rd = 3/2 at the middle


def test_an_axis_of_ones_own_may_turn_more_than_half() -> None:
    R, turn = rotation(4), rot(np.array([0, 0, 1.0]), 5.0)
    start, end = pose(R, [0, 0, 0]), pose(np.eye(3), [0, 1, 0])
    frames: dict[Any, Any] = {"tool": R @ turn, "base": turn @ R}
    for frame, expected in frames.items():
        task = line(start, end, duration=1.0, axis=[0, 0, 2], angle=5.0, frame=frame)
        np.testing.assert_allclose(task.pose(1.0)[:3, :3], expected, atol=1e-14)
        check_rates(task)


def test_the_printed_euler_interpolation_starts_at_the_wrong_rotation() -> None:
    """Khalil-5: (8.55) has R^i in front, and so starts at R^i R^i."""
    start, end = rotation(1), rotation(2)
    z, x = np.array([0, 0, 1.0]), np.array([1.0, 0, 0])
    phi, theta, psi = euler_zxz(start)
    printed = start @ rot(z, phi) @ rot(x, theta) @ rot(z, psi)
    assert np.abs(printed - start).max() > 0.1
    task = line(pose(start, [0, 0, 0]), pose(end, [1, 0, 0]), duration=1.0, rotation="euler")
    np.testing.assert_allclose(task.pose(0.0)[:3, :3], start, atol=1e-14)


@pytest.mark.parametrize("singular", [0.0, np.pi])
def test_euler_interpolation_from_and_to_a_singular_rotation(singular) -> None:  # type: ignore[no-untyped-def]
    z, x = np.array([0, 0, 1.0]), np.array([1.0, 0, 0])
    special = rot(z, 0.8) @ rot(x, singular)
    for a, b in ((special, rotation(9)), (rotation(9), special), (special, rot(z, -0.3) @ rot(x, singular))):
        task = line(pose(a, [0, 0, 0]), pose(b, [1, 0, 0]), duration=1.0, rotation="euler")
        np.testing.assert_allclose(task.pose(0.0)[:3, :3], a, atol=1e-12)
        np.testing.assert_allclose(task.pose(1.0)[:3, :3], b, atol=1e-12)
        check_rates(task)


@given(seeds, st.floats(0.05, 3), st.floats(0.1, 5), st.floats(0.05, 3), st.floats(0.1, 5))
@settings(max_examples=40, deadline=None)
def test_translation_and_rotation_are_synchronised_within_their_limits(seed, v, a, w, wd) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    start, end = pose(rotation(seed), rng.normal(size=3)), pose(rotation(seed + 1), rng.normal(size=3))
    task = line(start, end, "trapezoid", v_max=v, a_max=a, w_max=w, wd_max=wd)
    t = np.linspace(0, task.duration, 400)
    rates, accelerations = task.velocity(t), task.acceleration(t)
    used = [np.linalg.norm(x, axis=1).max() / limit for x, limit in (
        (rates[:, :3], v), (rates[:, 3:], w), (accelerations[:, :3], a), (accelerations[:, 3:], wd))]  # fmt: skip
    assert max(used) <= 1 + 1e-9
    assert max(used[2:]) == pytest.approx(1, rel=1e-9)


@given(seeds, st.floats(-7, 7).filter(lambda x: abs(x) > 0.1))
@settings(max_examples=15, deadline=None)
def test_circles_keep_their_distance(seed, angle) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    start, centre, normal = pose(rotation(seed), rng.normal(size=3)), rng.normal(size=3), rng.normal(size=3)
    n = normal / np.linalg.norm(normal)
    for turning in ("carried", "fixed", rotation(seed + 5)):
        task = circle(start, centre, normal, angle, "quintic", duration=2.0, rotation=turning)
        p = task.pose(np.linspace(0, 2, 40))[:, :3, 3] - centre
        np.testing.assert_allclose(p @ n, p[0] @ n, atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(p, axis=1), np.linalg.norm(p[0]), rtol=1e-12)
        np.testing.assert_allclose(p[-1], rot(n, angle) @ p[0], atol=1e-12)
        check_rates(task)
        last = task.pose(2.0)[:3, :3]
        expected: Any = {"carried": rot(n, angle) @ start[:3, :3], "fixed": start[:3, :3]}.get(turning) if isinstance(
            turning, str) else turning  # fmt: skip
        np.testing.assert_allclose(last, expected, atol=1e-12)


@given(seeds)
@settings(max_examples=15, deadline=None)
def test_arcs_pass_their_three_points(seed) -> None:  # type: ignore[no-untyped-def]
    a, b, c = np.random.default_rng(seed).normal(size=(3, 3))
    task = arc(a, b, c, "linear", duration=1.0)
    p = task.pose(np.linspace(0, 1, 20_001))[:, :3, 3]
    np.testing.assert_allclose(p[[0, -1]], [a, c], atol=1e-9)
    length = np.linalg.norm(np.diff(p, axis=0), axis=1).sum()
    assert np.linalg.norm(p - b, axis=1).min() <= length / 20_000 + 1e-12
    with pytest.raises(ArmdynError, match="on a line"):
        arc(a, (a + c) / 2, c, duration=1.0)


# Joints that follow -------------------------------------------------------------------------------------------------

ARMS = {
    "puma560": [0.3, 0.8, -2.6, 0.4, 0.7, 0.2],
    "ur5": [0.3, -1.2, 1.4, -0.9, -1.2, 0.3],
    "panda": [0.1, -0.5, 0.2, -2.0, 0.1, 1.7, 0.5],
    "scara5": [0.05, 0.4, 1.4, -0.9, 0.02],
}
SHIFTS = {"scara5": ([-0.05, 0.08, 0.03], [0, 0, 1.0])}


@pytest.mark.parametrize("name", list(ARMS))
@pytest.mark.parametrize("profile", ["quintic", "trapezoid"])
def test_the_tool_goes_straight_and_joint_rates_are_derivatives(name, profile) -> None:  # type: ignore[no-untyped-def]
    robot, q0 = load(name), np.array(ARMS[name])
    shift, axis = SHIFTS.get(name, ([0.1, -0.12, 0.06], [0.6, 0, 0.8]))
    start = kinematics.pose(robot, q0)
    end = pose(rot(np.array(axis), 0.5) @ start[:3, :3], start[:3, 3] + shift)
    task = line(start, end, profile, v_max=0.2, a_max=0.5, w_max=1.0, wd_max=2.0)
    motion = follow(robot, task, q0)
    T = motion.duration
    t = np.random.default_rng(0).uniform(0, T, 200)
    reached = kinematics.pose(robot, motion(t))
    off = np.cross(reached[:, :3, 3] - start[:3, 3], shift) / np.linalg.norm(shift)
    assert np.abs(off).max() < 1e-9
    np.testing.assert_allclose(reached, task.pose(t), atol=1e-9)
    np.testing.assert_allclose(motion(0.0), q0, atol=1e-9)
    # Rates: they produce the tool's velocity and acceleration, and are derivatives of the joint motion.
    q, qd, qdd = motion(t), motion(t, 1), motion(t, 2)
    np.testing.assert_allclose(kinematics.velocity(robot, q, qd), task.velocity(t), atol=1e-9)
    np.testing.assert_allclose(kinematics.acceleration(robot, q, qd, qdd), task.acceleration(t), atol=1e-8)
    h = 1e-5
    calm = t[np.abs(t[:, None] - motion.breaks).min(axis=1) > 0.02 * T]
    # Differences: truncation h^2/6 of the third derivative, and what rounding leaves of 1e-13/h.
    np.testing.assert_allclose((motion(calm + h) - motion(calm - h)) / (2 * h), motion(calm, 1), atol=2e-7)
    np.testing.assert_allclose((motion(calm + h, 1) - motion(calm - h, 1)) / (2 * h), motion(calm, 2), atol=2e-5)
    with pytest.raises(ArmdynError, match="order 3"):
        motion(0.1, 3)


def test_position_alone_for_an_arm_that_cannot_choose_its_rotation() -> None:
    robot = load("planar2r")
    task = line([1.2, 0.3, 0.0], [0.5, 1.1, 0.0], "cubic", duration=1.0)
    motion = follow(robot, task)
    t = np.linspace(0, 1, 50)
    np.testing.assert_allclose(kinematics.pose(robot, motion(t))[:, :3, 3], task.pose(t)[:, :3, 3], atol=1e-11)
    closed = motion.sample(0.01)
    np.testing.assert_allclose(np.gradient(closed.q, closed.t, axis=0)[5:-5], closed.qd[5:-5], atol=5e-3)


def test_the_curve_of_el_baji_40() -> None:
    """x, y = 0.1 cos(t/2) cos(t) + 0.2, 0.1 sin(t/2) cos(t) + 0.2 (ElBaji-13), z = 0.2, phi = pi/3."""
    robot = load("scara5")

    def position(t):  # type: ignore[no-untyped-def]
        # cos(t/2) cos(t) = (cos(3t/2) + cos(t/2))/2, sin(t/2) cos(t) = (sin(3t/2) - sin(t/2))/2
        u, v = 1.5 * t, 0.5 * t
        x = [0.05 * (np.cos(u) + np.cos(v)) + 0.2, -0.05 * (1.5 * np.sin(u) + 0.5 * np.sin(v)),
             -0.05 * (2.25 * np.cos(u) + 0.25 * np.cos(v))]  # fmt: skip
        y = [0.05 * (np.sin(u) - np.sin(v)) + 0.2, 0.05 * (1.5 * np.cos(u) - 0.5 * np.cos(v)),
             -0.05 * (2.25 * np.sin(u) - 0.25 * np.sin(v))]  # fmt: skip
        z = [0.2 + 0 * t, 0 * t, 0 * t]
        return [np.stack(parts, axis=-1) for parts in zip(x, y, z, strict=True)]

    c, s = np.cos(np.pi / 3), np.sin(np.pi / 3)
    R = np.array([[c, s, 0], [s, -c, 0], [0, 0, -1]])  # (36)
    task = task_curve(10.0, position, R)
    motion = follow(robot, task)
    t = np.linspace(0, 10, 101)
    q = motion(t)
    x, y = (0.1 * f(t / 2) * np.cos(t) + 0.2 for f in (np.cos, np.sin))
    np.testing.assert_allclose(kinematics.pose(robot, q)[:, :3, 3], np.stack([x, y, 0.2 + 0 * t], axis=1), atol=1e-11)
    np.testing.assert_allclose(q[:, 1:4].sum(axis=1), np.pi / 3, atol=1e-10)
    h = 1e-5
    inner = t[1:-1]
    np.testing.assert_allclose((motion(inner + h) - motion(inner - h)) / (2 * h), motion(inner, 1), atol=1e-6)


def test_a_path_without_length_stands_still() -> None:
    robot = load("ur5")
    q0 = np.array(ARMS["ur5"])
    start = kinematics.pose(robot, q0)
    motion = follow(robot, line(start, start, v_max=1.0, a_max=1.0, w_max=1.0, wd_max=1.0), q0)
    assert motion.duration == 0
    np.testing.assert_allclose(motion([0.0, 1.0]), [q0, q0], atol=1e-9)


def test_a_short_line_without_a_constant_velocity() -> None:
    robot = load("panda")
    q0 = np.array(ARMS["panda"])
    start = kinematics.pose(robot, q0)
    end = pose(start[:3, :3], start[:3, 3] + [0.0, 0.01, 0.0])
    motion = follow(robot, line(start, end, v_max=3.0, a_max=1.0, w_max=1.0, wd_max=1.0), q0)
    t = np.linspace(0, motion.duration, 21)
    np.testing.assert_allclose(kinematics.pose(robot, motion(t))[:, :3, 3], motion.task.pose(t)[:, :3, 3], atol=1e-11)


def test_a_path_out_of_reach_says_when() -> None:
    robot = load("planar2r")
    with pytest.raises(Unreachable, match=r"t = 0\.[4-6]\d* s"):
        follow(robot, line([1.0, 0.0, 0.0], [3.0, 0.0, 0.0], "linear", duration=1.0))
    panda = load("panda")
    q0 = np.array(ARMS["panda"])
    start = kinematics.pose(panda, q0)
    turned = line(start, start, duration=2.0, axis=[0, 0, 1], angle=6.0)
    with pytest.raises(Unreachable, match="'panda_joint7' would exceed its limit"):
        follow(panda, turned, q0)
    with pytest.raises(ArmdynError, match="does not start where q0"):
        follow(panda, turned, q0 + 1.0)
