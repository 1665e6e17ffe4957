"""Polynomials with end conditions, moving targets, via points, Fourier series, samples, limited jerk."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armdyn.errors import ArmdynError, MissingExtra
from armdyn.trajectory import follow_target, fourier, from_samples, hold, jerk_limited, point_to_point, via_points

value = st.floats(-3, 3)


def vectors(n):  # type: ignore[no-untyped-def]
    return st.lists(value, min_size=n, max_size=n).map(np.array)


@given(vectors(2), vectors(2), vectors(2), vectors(2), vectors(2), vectors(2), st.floats(0.2, 10))
@settings(max_examples=40, deadline=None)
def test_polynomials_meet_their_end_conditions(q0, q1, qd0, qd1, qdd0, qdd1, T) -> None:  # type: ignore[no-untyped-def]
    cubic = point_to_point(q0, q1, "cubic", duration=T, qd0=qd0, qd1=qd1)
    quintic = point_to_point(q0, q1, "quintic", duration=T, qd0=qd0, qd1=qd1, qdd0=qdd0, qdd1=qdd1)
    for motion in (cubic, quintic):
        np.testing.assert_allclose(motion([0, T]), [q0, q1], atol=1e-10)
        np.testing.assert_allclose(motion([0, T], 1), [qd0, qd1], atol=1e-9 / min(T, 1))
    np.testing.assert_allclose(quintic([0, T], 2), [qdd0, qdd1], atol=1e-8 / min(T, 1) ** 2)
    assert cubic.coefficients.shape[1] == 4  # the least degree
    assert quintic.coefficients.shape[1] == 6


def test_end_velocities_within_limits_or_refused() -> None:
    point_to_point([0], [1], "cubic", duration=2.0, qd0=0.5, v_max=2.0, a_max=3.0)
    with pytest.raises(ArmdynError, match="joint 1 exceeds a_max"):
        point_to_point([0], [1], "cubic", duration=2.0, qd0=-2.0, v_max=5.0, a_max=3.0)


@pytest.mark.parametrize("profile", ["cubic", "quintic", "smooth"])
def test_a_moving_target_is_met_and_followed(profile) -> None:  # type: ignore[no-untyped-def]
    target = fourier([0.5, -0.2], [[0.4, 0.1], [0.3, -0.2]], [[0.1, 0.0], [0.0, 0.2]], period=5.0)
    q0 = np.array([0.0, 0.3])
    motion = follow_target(q0, target, profile, meet=2.0)
    assert motion.duration == 5.0
    np.testing.assert_allclose(motion(0.0), q0, atol=1e-15)
    r = point_to_point([0.0], [1.0], profile, duration=2.0)
    t = np.linspace(0, 1.999, 37)
    D = target(0.0) - q0
    np.testing.assert_allclose(motion(t), target(t) - (1 - r(t)) * D, atol=1e-14)  # (8.3)
    later = np.linspace(2.001, 5, 11)
    for order in range(3):
        np.testing.assert_allclose(motion(later, order), target(later, order), atol=1e-13)
    h = 1e-30
    np.testing.assert_allclose(motion(t, 1), motion(t + 1j * h).imag / h, atol=1e-12)
    with pytest.raises(ArmdynError, match="reached after"):
        follow_target(q0, target, profile, meet=2.0, duration=1.0)


def test_a_target_at_rest_is_an_ordinary_move() -> None:
    still = hold([1.0, -1.0], 3.0)
    motion = follow_target([0.0, 0.0], still, "quintic", v_max=1.0, a_max=2.0)
    move = point_to_point([0.0, 0.0], [1.0, -1.0], "quintic", v_max=1.0, a_max=2.0)
    t = np.linspace(0, move.duration, 20)
    np.testing.assert_allclose(motion(t), move(t), atol=1e-14)


POINTS = st.lists(vectors(3), min_size=2, max_size=7, unique_by=lambda q: tuple(np.round(q, 1)))


@pytest.mark.parametrize(("kind", "smooth"), [("cubic", 2), ("quintic", 4)])
@given(points=POINTS, seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_splines_pass_all_points_smoothly(kind, smooth, points, seed) -> None:  # type: ignore[no-untyped-def]
    times = np.concatenate([[0.0], np.cumsum(np.random.default_rng(seed).uniform(0.3, 2, len(points) - 1))])
    motion = via_points(points, kind, times=times)
    np.testing.assert_allclose(motion(times), points, atol=1e-9)
    np.testing.assert_allclose(motion(times[[0, -1]], 1), 0, atol=1e-8)
    if kind == "quintic":
        np.testing.assert_allclose(motion(times[[0, -1]], 2), 0, atol=1e-6)
    step = 1e-7
    for order in range(smooth + 1):
        inner = times[1:-1]
        jump = np.abs(motion(inner + step, order) - motion(inner - step, order))
        allowed = 2 * step * motion.peak(order + 1) + 1e-8 * (1 + motion.peak(order))
        assert (jump <= allowed).all()


@pytest.mark.parametrize("kind", ["cubic", "quintic", "blends"])
@given(points=POINTS, v=st.floats(0.2, 3), a=st.floats(0.3, 8))
@settings(max_examples=25, deadline=None)
def test_limits_set_the_time_and_are_kept(kind, points, v, a) -> None:  # type: ignore[no-untyped-def]
    motion = via_points(points, kind, v_max=[v, 2 * v, v], a_max=a)
    ratio = max((motion.peak(1) / [v, 2 * v, v]).max(), (motion.peak(2) / a).max() ** (1 if kind == "blends" else 0.5))
    assert ratio <= 1 + 1e-6
    if kind != "blends":
        assert ratio == pytest.approx(1, rel=1e-9)
    np.testing.assert_allclose(motion([0, motion.duration]), [points[0], points[-1]], atol=1e-8)
    np.testing.assert_allclose(motion([0, motion.duration], 1), 0, atol=1e-7)


@given(points=POINTS, v=st.floats(0.2, 3), a=st.floats(0.3, 8))
@settings(max_examples=30, deadline=None)
def test_blends_are_lines_rounded_at_the_corners(points, v, a) -> None:  # type: ignore[no-untyped-def]
    motion = via_points(points, "blends", v_max=v, a_max=a)
    step = 1e-9 * motion.duration
    for order in (0, 1):  # position and velocity are continuous
        jump = np.abs(motion(motion.breaks + step, order) - motion(motion.breaks - step, order))
        assert (jump <= 2 * step * motion.peak(order + 1) + 1e-8 * (1 + motion.peak(order))).all()
    # The distance at which a corner is passed, as documented: b |change of velocity| / 8 at the middle of the blend.
    corners = [k for k, c in enumerate(motion.coefficients) if np.abs(c[2]).max() > 1e-9][1:-1]
    for q, k in zip(points[1:-1], corners, strict=False):
        b = motion.knots[k + 1] - motion.knots[k]
        middle = motion(motion.knots[k] + b / 2)
        assert np.abs(np.abs(middle - q) - b * np.abs(2 * motion.coefficients[k, 2] * b) / 8).max() < 1e-7


@given(vectors(3), vectors(3), st.floats(0.2, 3), st.floats(0.3, 8))
@settings(max_examples=30, deadline=None)
def test_blends_between_two_points_are_the_trapezoid(q0, q1, v, a) -> None:  # type: ignore[no-untyped-def]
    distance = np.abs(q1 - q0)
    if distance.max() < 1e-3 or ((distance > 0) & (distance < 1e-300)).any():  # 1 over such a distance overflows
        return
    trapezoid = point_to_point(q0, q1, v_max=v, a_max=a)
    blends = via_points([q0, q1], "blends", v_max=v, a_max=a)
    assert blends.duration == pytest.approx(trapezoid.duration, rel=1e-9)
    t = np.linspace(0, trapezoid.duration, 50)
    np.testing.assert_allclose(blends(t), trapezoid(t), atol=1e-9)


def test_via_points_say_what_is_wrong() -> None:
    with pytest.raises(ArmdynError, match="points 2 and 3 are the same"):
        via_points([[0, 0], [1, 1], [1, 1], [2, 0]], v_max=1)
    with pytest.raises(ArmdynError, match="neither times nor limits"):
        via_points([[0, 0], [1, 1]])
    with pytest.raises(ArmdynError, match="increasing times"):
        via_points([[0, 0], [1, 1]], times=[0, 0])
    with pytest.raises(ArmdynError, match="joint 2 exceeds v_max"):
        via_points([[0, 0], [1, 3]], times=[0, 1], v_max=2)
    with pytest.raises(ArmdynError, match="Did you mean 'blends'"):
        via_points([[0, 0], [1, 3]], "blend", times=[0, 1])  # type: ignore[arg-type]


def test_fourier_is_its_definition() -> None:
    rng = np.random.default_rng(3)
    q0, a, b = rng.normal(size=3), rng.normal(size=(3, 5)), rng.normal(size=(3, 5))
    motion = fourier(q0, a, b, period=4.0, periods=2.5)
    assert motion.duration == 10.0
    w = 2 * np.pi / 4.0
    t = rng.uniform(0, 10, 20)
    expected = q0 + sum(
        a[:, k - 1] / (k * w) * np.sin(k * w * t)[:, None] - b[:, k - 1] / (k * w) * np.cos(k * w * t)[:, None]
        for k in range(1, 6)
    )
    np.testing.assert_allclose(motion(t), expected, atol=1e-13)
    for order in range(3):
        np.testing.assert_allclose(motion(t, order + 1), motion(t + 1e-30j, order).imag / 1e-30, atol=1e-10)
    np.testing.assert_allclose(motion(t[t < 6] + 4.0), motion(t[t < 6]), atol=1e-12)  # periodic
    fine = np.abs(motion(np.linspace(0, 4, 200_001), 2)).max(axis=0)
    np.testing.assert_allclose(motion.peak(2), fine, rtol=1e-6)


def test_samples_are_met_and_more_of_them_are_nearer() -> None:
    source = fourier([0.0], [[1.0, -0.5, 0.2]], [[0.3, 0.0, 0.1]], period=3.0)
    t = np.linspace(0, 3, 700)
    for given_orders, order_of_error in ((1, 4), (2, 4), (3, 6)):
        errors = []
        for count in (20, 40):
            knots = np.linspace(0, 3, count + 1)
            motion = from_samples(knots + 5.0, *(source(knots, k) for k in range(given_orders)))
            for k in range(given_orders):
                np.testing.assert_allclose(motion(knots, k), source(knots, k), atol=1e-9)
            errors.append(np.abs(motion(t) - source(t)).max())
        slope = np.log2(errors[0] / errors[1])
        assert slope > order_of_error - 0.7, f"order {slope:.2f} with {given_orders} given"


def test_bad_samples_are_refused() -> None:
    with pytest.raises(ArmdynError, match="does not increase at sample 3"):
        from_samples([0, 1, 1], [[0], [1], [2]])
    with pytest.raises(ArmdynError, match="NaN"):
        from_samples([0, 1], [[0], [np.nan]])
    with pytest.raises(ArmdynError, match="2 times and 3 samples"):
        from_samples([0, 1], [[0], [1], [2]])


@given(vectors(3), vectors(3), st.floats(0.5, 3), st.floats(1, 8), st.floats(5, 50))
@settings(max_examples=30, deadline=None)
def test_limited_jerk_by_ruckig(q0, q1, v, a, j) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("ruckig")
    motion = jerk_limited(q0, q1, v_max=v, a_max=a, j_max=j, qd0=[0.4, 0.0, -0.1], qd1=[0.0, 0.3, 0.0])
    np.testing.assert_allclose(motion([0, motion.duration]), [q0, q1], atol=1e-8)
    np.testing.assert_allclose(motion([0, motion.duration], 1), [[0.4, 0.0, -0.1], [0.0, 0.3, 0.0]], atol=1e-8)
    for order, limit in ((1, v), (2, a), (3, j)):
        assert (motion.peak(order) <= limit * (1 + 1e-6)).all()
    jump = motion(motion.breaks[1:-1] + 1e-9, 2) - motion(motion.breaks[1:-1] - 1e-9, 2)
    assert np.abs(jump).max(initial=0) < 1e-6


def test_limited_jerk_without_the_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name, *rest, **more):  # type: ignore[no-untyped-def]
        if name == "ruckig":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"pip install 'armdyn\[jerk\]'"):
        jerk_limited([0], [1], v_max=1, a_max=1, j_max=1)


def test_positions_that_numbers_do_not_resolve() -> None:
    for ends in (([1e308, 0.0], [1.0, 1.0]), ([0.0], [-1e10])):
        with pytest.raises(ArmdynError, match="at most 1e\\+09"):
            point_to_point(*ends, v_max=1.0)
    with pytest.raises(ArmdynError, match="at most 1e\\+07 samples"):
        point_to_point([0.0], [1.0], duration=1.0).sample(1e-12)


def test_times_in_the_place_of_the_kind_are_an_error_that_says_so() -> None:
    with pytest.raises(ArmdynError, match="times="):
        via_points([[0.0], [1.0], [0.5]], np.array([0.0, 1.0, 2.0]))  # type: ignore[arg-type]
