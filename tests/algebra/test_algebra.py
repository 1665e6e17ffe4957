"""Group axioms, parallel axes, and that one text works on every scalar."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armdyn.algebra import (
    CentralInertia,
    Dual,
    Inertia,
    Mat3,
    Pose,
    Vec3,
    align_z,
    cross,
    dot,
    ops,
    outer,
    rot_rpy,
    rot_x,
    rot_y,
    rot_z,
    rpy_of,
    skew,
)

number = st.floats(-10, 10, allow_nan=False)
angle = st.floats(-7, 7, allow_nan=False)
fraction = st.fractions(-10, 10, max_denominator=50)
vectors = st.builds(Vec3, number, number, number)
exact_vectors = st.builds(Vec3, fraction, fraction, fraction)
rotations = st.builds(rot_rpy, angle, angle, angle)
poses = st.builds(Pose, rotations, vectors)

CLOSE = 1e-12  # a few dozen roundings of numbers up to 1e2


def close(a: Any, b: Any, scale: float = 1.0) -> bool:
    return bool(np.abs(a.array() - b.array()).max() <= CLOSE * max(scale, 1.0))


@given(rotations)
def test_rotations_are_orthogonal_and_keep_hand(R: Mat3) -> None:
    assert close(R @ R.T, Mat3.identity())
    assert np.linalg.det(R.array()) == pytest.approx(1, abs=CLOSE)


@given(poses, poses, poses)
def test_poses_are_a_group(A: Pose, B: Pose, C: Pose) -> None:
    assert close((A @ B) @ C, A @ (B @ C), 100)
    assert close(A @ A.inverse(), Pose.identity(), 100)
    assert close(A @ Pose.identity(), A)


@given(poses, poses, vectors)
def test_applying_poses_one_after_the_other(A: Pose, B: Pose, v: Vec3) -> None:
    assert close((A @ B).apply(v), A.apply(B.apply(v)), 100)


@given(exact_vectors, exact_vectors, exact_vectors)
def test_vector_identities_hold_exactly(a: Vec3, b: Vec3, c: Vec3) -> None:
    assert cross(a, b) == -cross(b, a)
    assert dot(a, cross(a, b)) == 0
    assert cross(a, cross(b, c)) == b * dot(a, c) - c * dot(a, b)
    assert skew(a) @ b == cross(a, b)
    assert outer(a, b) @ c == a * dot(b, c)
    assert -skew(a) == skew(a).T
    assert (outer(a, b) + skew(c)).trace == dot(a, b)


@given(angle, angle)
def test_rotations_about_one_axis_add(a: float, b: float) -> None:
    for rot in (rot_x, rot_y, rot_z):
        assert close(rot(a) @ rot(b), rot(a + b))


@pytest.mark.parametrize("k", range(-8, 9))
def test_quarter_turns_are_exact(k: int) -> None:
    entries = [entry for row in rot_x(k * math.pi / 2).rows for entry in row]
    assert all(type(entry) is int for entry in entries)
    assert np.allclose(rot_x(k * math.pi / 2).array(), rot_x(k * math.pi / 2 + 1e-9).array(), atol=2e-9)


@given(angle, st.floats(-1.5, 1.5), angle)
def test_rpy_round_trip(roll: float, pitch: float, yaw: float) -> None:
    R = rot_rpy(roll, pitch, yaw)
    assert close(rot_rpy(*rpy_of(R.array())), R)


@pytest.mark.parametrize("pitch", [math.pi / 2, -math.pi / 2])
def test_rpy_round_trip_in_gimbal_lock(pitch: float) -> None:
    R = rot_rpy(0.3, pitch, -1.1)
    assert close(rot_rpy(*rpy_of(R.array())), R)


@given(st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda v: math.hypot(*v) > 0.1))
def test_align_z_turns_z_into_the_axis(v: tuple[float, float, float]) -> None:
    axis = Vec3(*(x / math.hypot(*v) for x in v))
    R = align_z(axis)
    assert close(R @ R.T, Mat3.identity()) and np.linalg.det(R.array()) > 0
    assert close(R.column(2), axis)


def test_align_z_is_exactly_orthogonal_over_rationals() -> None:
    R = align_z(Vec3(Fraction(1, 3), Fraction(-2, 7), Fraction(5, 11)))  # not even a unit vector
    assert Mat3.identity() == R @ R.T


# Inertia --------------------------------------------------------------------------------------------------------

masses = st.fractions(Fraction(1, 10), 10, max_denominator=20)
tensors = st.builds(Mat3.symmetric, *[fraction] * 6)
inertias = st.builds(Inertia, masses, exact_vectors, tensors)


def rational_rotation(i: Fraction, j: Fraction, k: Fraction) -> Mat3:
    """The rotation of the quaternion (1, i, j, k): exactly orthogonal."""
    v = Vec3(i, j, k)
    scale = Fraction(2, 1) / (1 + v.dot(v))
    return Mat3.identity() + scale * (skew(v) + skew(v) @ skew(v))


exact_poses = st.builds(Pose, st.builds(rational_rotation, fraction, fraction, fraction), exact_vectors)


@given(inertias)
def test_centre_of_mass_round_trip(body: Inertia) -> None:
    assert body.about_com().at_origin() == body


@given(inertias, exact_poses, exact_poses)
def test_inertia_moves_as_its_frame(body: Inertia, A: Pose, B: Pose) -> None:
    assert body.seen_from(B).seen_from(A) == body.seen_from(A @ B)
    assert body.seen_from(A).seen_from(A.inverse()) == body


@given(inertias, exact_poses)
def test_central_tensor_only_turns(body: Inertia, A: Pose) -> None:
    moved = body.seen_from(A).about_com()
    assert moved.com == A.apply(body.about_com().com)
    assert moved.tensor == A.R @ body.about_com().tensor @ A.R.T


@given(st.lists(st.tuples(masses, exact_vectors), min_size=1, max_size=4), exact_poses)
def test_inertia_of_points_is_their_sum(points: list[tuple[Fraction, Vec3]], A: Pose) -> None:
    """The formulas against the definition: integral of (r.r 1 - r r^T) dm."""
    body = Inertia.zero()
    for mass, r in points:
        body = body + CentralInertia(mass, r, Mat3.zero()).at_origin()
    seen = body.seen_from(A)
    expected = Mat3.zero()
    for mass, r in points:
        s = A.apply(r)
        expected = expected + mass * (dot(s, s) * Mat3.identity() - outer(s, s))
    assert seen.tensor == expected
    assert seen.mass == sum(mass for mass, _ in points)


@given(st.lists(st.tuples(masses, exact_vectors), min_size=1, max_size=3), exact_vectors, exact_vectors, exact_vectors)
def test_wrench_of_points_is_newton(points: list[tuple[Fraction, Vec3]], w: Vec3, wd: Vec3, a: Vec3) -> None:
    body, force, moment = Inertia.zero(), Vec3(0, 0, 0), Vec3(0, 0, 0)
    for mass, r in points:
        body = body + CentralInertia(mass, r, Mat3.zero()).at_origin()
        push = mass * (a + cross(wd, r) + cross(w, cross(w, r)))
        force, moment = force + push, moment + cross(r, push)
    assert body.wrench(w, wd, a) == (force, moment)


def test_parameters_round_trip() -> None:
    body = Inertia.from_parameters(*range(1, 11))
    assert body.parameters() == tuple(range(1, 11))


def test_a_massless_body_has_no_centre_of_mass() -> None:
    tensor = Mat3.diagonal(1.0, 1.0, 1.0)
    assert Inertia(0, Vec3(0, 0, 0), tensor).about_com() == CentralInertia(0, Vec3(0, 0, 0), tensor)


# Scalars --------------------------------------------------------------------------------------------------------


@given(angle)
def test_functions_agree_over_scalars(x: float) -> None:
    for function in (ops.sin, ops.cos):
        assert function(np.array([x]))[0] == pytest.approx(function(x), abs=1e-15)
        assert function(complex(x)).real == pytest.approx(function(x), abs=1e-15)
        slope = function(complex(x, 1e-20)).imag / 1e-20
        assert function(Dual(x, 1)).dot == pytest.approx(slope, abs=1e-14)


def test_literals_fold() -> None:
    x = object()
    assert ops.mul(0, x) == 0 and ops.mul(x, 1) is x and ops.add(0, x) is x and ops.sub(x, 0) is x
    assert ops.sin(0) == 0 and ops.cos(0) == 1 and ops.sqrt(1) == 1
    assert type(ops.tidy(1.0)) is int and ops.tidy(0.5) == 0.5
    assert ops.mul(0.0, 2.0) == 0.0 and type(ops.mul(0.0, 2)) is float


def test_second_derivatives_by_nesting() -> None:
    x = Dual(Dual(0.7, 1, level=0), 1, level=1)
    y = x * x * x + 2 / x
    assert y.dot.dot == pytest.approx(6 * 0.7 + 4 / 0.7**3)
    assert (x.sin().dot.dot, x.cos().dot.dot) == pytest.approx((-math.sin(0.7), -math.cos(0.7)))
    assert (Dual(4.0, 1).sqrt().dot, (1 - Dual(4.0, 1)).dot) == (0.25, -1)


def test_sign_and_select_branch_without_branching() -> None:
    values = np.array([-2.0, 0.0, 3.0])
    assert ops.sign(values).tolist() == [-1, 0, 1] and [ops.sign(x) for x in values] == [-1, 0, 1]
    assert ops.select(values, 1, 2).tolist() == [2, 1, 1] and ops.select(-0.5, 1, 2) == 2
    assert ops.sign(Dual(-1.0, 5)) == -1 and ops.select(Dual(-1.0, 5), 1, 2) == 2
    assert ops.sign(complex(-1, 3)) == -1


def test_numpy_scalars_leave_vectors_alone() -> None:
    assert isinstance(np.float64(2) * Vec3(1.0, 2.0, 3.0), Vec3)
    assert isinstance(np.float64(2) * Mat3.identity(), Mat3)
    assert isinstance(np.float64(2) * Dual(1.0, 1), Dual)
    assert isinstance(Dual(2.0, 1) * Vec3(1, 0, 0), Vec3) and isinstance(Dual(2.0, 1) * Mat3.identity(), Mat3)


def test_batches_broadcast() -> None:
    angles = np.linspace(0, 1, 5)
    batch = Pose(rot_z(angles), Vec3(1, 0, 0)).array()
    assert batch.shape == (5, 4, 4)
    assert np.allclose(batch[3], Pose(rot_z(float(angles[3])), Vec3(1, 0, 0)).array())


def test_levels_meet_from_either_side() -> None:
    """A number of a lower level is a constant for one of a higher level, on the left as on the right."""
    inner, outer_ = Dual(2.0, 1, level=0), Dual(3.0, 1, level=5)
    for product in (inner * outer_, outer_ * inner):
        assert product.level == 5 and product.value.dot == 3.0 and product.dot.dot == 1
    assert (inner - outer_).dot == -1 and (inner / outer_).dot.value == pytest.approx(-2 / 9)
    assert (inner + outer_).dot == 1
