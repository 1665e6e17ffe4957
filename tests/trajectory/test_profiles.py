"""Every formula Khalil (8.4)-(8.47) against its definition, over random moves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armdyn.errors import ArmdynError, NotApplicable
from armdyn.texts.khalil.chapter_8 import (
    FIXED,
    compact_smooth,
    compact_trapezoid,
    printed_interpolation,
    printed_minimum_times,
    printed_smooth,
    printed_trapezoid,
    synchronised,
)
from armdyn.trajectory import PROFILES, point_to_point

ALL = tuple(PROFILES)
RAMPED = {"trapezoid": 1.0, "smooth": 3 / 2, "smooth_trapezoid": 4 / 3}
CLASS = {"linear": 0, "cubic": 1, "bang_bang": 1, "trapezoid": 1, "quintic": 2, "smooth": 2, "smooth_trapezoid": 2}

size = st.floats(1e-3, 10.0)
limit = st.floats(0.05, 20.0)


@st.composite
def moves(draw: st.DrawFn, still: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(q0, q1, k_v, k_a) of one to five joints, some of which may stand still; one always moves."""
    n = draw(st.integers(1, 5))
    signed = st.builds(lambda x, s: x * s, size, st.sampled_from([-1.0, 1.0]))
    D = [draw(signed)] + [draw(st.one_of(signed, st.just(0.0)) if still else signed) for _ in range(n - 1)]
    q0 = np.array([draw(st.floats(-3, 3)) for _ in range(n)])
    k_v, k_a = ([draw(limit) for _ in range(n)] for _ in range(2))
    order = draw(st.permutations(range(n)))
    q1 = q0 + np.array(D)[order]
    return q0, q1, np.array(k_v), np.array(k_a)


def fractions(motion, count=7):  # type: ignore[no-untyped-def]
    return motion.duration * np.linspace(0, 1, count + 2)[1:-1] + 0.003 * motion.duration


def scale(q0, q1):  # type: ignore[no-untyped-def]
    return np.abs([q0, q1]).max() + 1


@pytest.mark.parametrize("name", ALL)
@given(move=moves())
@settings(max_examples=25, deadline=None)
def test_a_move_starts_and_ends_where_it_should_and_in_the_class_it_claims(name, move) -> None:  # type: ignore[no-untyped-def]
    q0, q1, k_v, k_a = move
    motion = point_to_point(q0, q1, name, v_max=k_v, a_max=k_a)
    T = motion.duration
    np.testing.assert_allclose(motion(0.0), q0, atol=1e-14 * scale(q0, q1))
    np.testing.assert_allclose(motion(T), q1, atol=1e-13 * scale(q0, q1))
    for order in range(1, CLASS[name] + 1):  # (8.10), (8.36): rest at both ends
        tiny = 1e-10 * motion.peak(order).max() + 1e-300
        np.testing.assert_allclose(motion([0.0, T], order), 0, atol=tiny)
    assert PROFILES[name].continuous == CLASS[name]
    for order in range(CLASS[name] + 1):
        jump, slope = _jumps(motion, order)
        allowed = 1.01 * slope + 1e-8 * np.maximum(motion.peak(order), np.abs(q1 - q0) * (order == 0)) + 1e-15
        assert (jump <= allowed).all(), f"derivative {order} should be continuous and jumps"
    jump, _ = _jumps(motion, CLASS[name] + 1)
    assert (jump >= 0.9 * motion.peak(CLASS[name] + 1)).all(), "claimed exactly: the next derivative does jump"


def _jumps(motion, order):  # type: ignore[no-untyped-def]
    """(largest change over a small step at a break, ends and the rest beyond included; what the slope explains)."""
    step = 1e-9 * motion.duration
    jump = np.abs(motion(motion.breaks + step, order) - motion(motion.breaks - step, order)).max(axis=0)
    return jump, 2 * step * motion.peak(order + 1)


@pytest.mark.parametrize("name", ALL)
@given(move=moves())
@settings(max_examples=25, deadline=None)
def test_derivatives_are_the_derivatives(name, move) -> None:  # type: ignore[no-untyped-def]
    q0, q1, k_v, k_a = move
    motion = point_to_point(q0, q1, name, v_max=k_v, a_max=k_a)
    t = fractions(motion)
    h = 1e-30
    for order in range(3):
        by_step = motion(t + 1j * h, order).imag / h
        np.testing.assert_allclose(motion(t, order + 1), by_step, atol=1e-12 * motion.peak(order + 1).max() + 1e-300)


@pytest.mark.parametrize("name", ALL)
@given(move=moves())
@settings(max_examples=25, deadline=None)
def test_minimum_time_keeps_all_limits_and_reaches_one_exactly(name, move) -> None:  # type: ignore[no-untyped-def]
    q0, q1, k_v, k_a = move
    motion = point_to_point(q0, q1, name, v_max=k_v, a_max=k_a)
    v, a = motion.peak(1) / k_v, motion.peak(2) / k_a
    assert v.max() <= 1 + 1e-9
    if name == "linear":
        assert v.max() == pytest.approx(1, rel=1e-9)
    else:
        assert a.max() <= 1 + 1e-9
        assert max(v.max(), a.max()) == pytest.approx(1, rel=1e-9)
    if name in RAMPED:
        assert a.max() == pytest.approx(1, rel=1e-9), "these profiles always saturate the acceleration"
    t = np.linspace(0, motion.duration, 4001)
    assert (np.abs(motion(t, 1)) <= k_v * (1 + 1e-9)).all()
    assert motion.peak(1).max() == pytest.approx(np.abs(motion(t, 1)).max(), rel=1e-5)
    with pytest.raises(ArmdynError, match="at least"):
        point_to_point(q0, q1, name, v_max=k_v, a_max=k_a, duration=0.99 * motion.duration)


@given(move=moves(), t_f=st.floats(0.1, 20))
@settings(max_examples=50, deadline=None)
def test_fixed_shapes_are_those_printed(move, t_f) -> None:  # type: ignore[no-untyped-def]
    q0, q1, *_ = move
    D = q1 - q0
    s = np.linspace(0, 1, 23)[:, None]
    for name, r in printed_interpolation(s).items():
        motion = point_to_point(q0, q1, name, duration=t_f)
        np.testing.assert_allclose(motion(s[:, 0] * t_f), q0 + r * D, atol=1e-12 * scale(q0, q1))
        if name in FIXED:
            v, a = FIXED[name]
            np.testing.assert_allclose(motion.peak(1), v * np.abs(D) / t_f, rtol=1e-9)
            np.testing.assert_allclose(motion.peak(2), a * np.abs(D) / t_f**2, rtol=1e-9)
    a2, a3 = 3 / t_f**2 * D, -2 / t_f**3 * D  # (8.6)
    t = 0.37 * t_f
    cubic = point_to_point(q0, q1, "cubic", duration=t_f)
    np.testing.assert_allclose(cubic(t), q0 + a2 * t**2 + a3 * t**3, atol=1e-12 * scale(q0, q1))
    np.testing.assert_allclose(cubic(0.5 * t_f, 1), 1.5 * D / t_f, rtol=1e-12)  # (8.8) holds at t_f/2
    np.testing.assert_allclose(np.abs(cubic([0, t_f], 2)), np.abs([6 * D / t_f**2] * 2), rtol=1e-9)  # (8.9)


@pytest.mark.parametrize("name", ["linear", *FIXED])
@given(move=moves())
@settings(max_examples=40, deadline=None)
def test_minimum_times_of_table_8_1(name, move) -> None:  # type: ignore[no-untyped-def]
    q0, q1, k_v, k_a = move
    alone = printed_minimum_times(q1 - q0, k_v, k_a)[name]
    motion = point_to_point(q0, q1, name, v_max=k_v, a_max=k_a)
    assert motion.duration == pytest.approx(alone.max(), rel=1e-12)  # (8.14)


@pytest.mark.parametrize("name", list(RAMPED))
@given(move=moves(still=False))
@settings(max_examples=60, deadline=None)
def test_synchronised_profiles_agree_with_the_text(name, move) -> None:  # type: ignore[no-untyped-def]
    q0, q1, k_v, k_a = move
    D, c = q1 - q0, RAMPED[name]
    V, A, tau, t_f = synchronised(D, k_v, k_a, c)
    motion = point_to_point(q0, q1, name, v_max=k_v, a_max=k_a)
    assert motion.duration == pytest.approx(t_f, rel=1e-9)
    np.testing.assert_allclose(motion.peak(1), V, rtol=1e-9)
    np.testing.assert_allclose(motion.peak(2), A, rtol=1e-8)
    alone = [synchronised(D[j : j + 1], k_v[j : j + 1], k_a[j : j + 1], c)[3] for j in range(D.size)]
    assert t_f >= max(alone) * (1 - 1e-12)  # (8.25)
    t = fractions(motion)
    ratio = motion(t, 1) / motion(t, 1)[:, :1]  # (8.23)
    np.testing.assert_allclose(ratio, np.broadcast_to(D / D[0], ratio.shape), rtol=1e-9)
    assert tau <= t_f / 2 * (1 + 1e-9)


@given(move=moves(still=False))
@settings(max_examples=60, deadline=None)
def test_trapezoid_is_the_printed_one(move) -> None:  # type: ignore[no-untyped-def]
    q0, q1, k_v, k_a = move
    D = q1 - q0
    V, A, tau, t_f = synchronised(D, k_v, k_a, 1.0)
    motion = point_to_point(q0, q1, "trapezoid", v_max=k_v, a_max=k_a)
    t = np.linspace(0, t_f, 41)[:, None]
    tolerance = 1e-9 * scale(q0, q1)
    np.testing.assert_allclose(motion(t[:, 0]), printed_trapezoid(t, q0, q1, V, A, tau, t_f), atol=tolerance)
    np.testing.assert_allclose(motion(t[:, 0]), q0 + compact_trapezoid(t, tau, t_f) * D, atol=tolerance)
    np.testing.assert_allclose(V * t_f - V**2 / A, np.abs(D), rtol=1e-9)  # (8.21)


@given(move=moves(still=False))
@settings(max_examples=60, deadline=None)
def test_smooth_is_the_printed_one(move) -> None:  # type: ignore[no-untyped-def]
    q0, q1, k_v, k_a = move
    D = q1 - q0
    V, A, tau, t_f = synchronised(D, k_v, k_a, 1.5)
    motion = point_to_point(q0, q1, "smooth", v_max=k_v, a_max=k_a)
    t = np.linspace(0, t_f, 43)[1:-1, None]  # off the seams, where rounding decides which piece is meant
    for order, printed in enumerate(printed_smooth(t, q0, q1, V, tau, t_f)):
        size = scale(q0, q1) if order == 0 else motion.peak(order).max()
        np.testing.assert_allclose(motion(t[:, 0], order), printed, atol=1e-8 * size)
    np.testing.assert_allclose(np.abs(motion(tau / 2, 2)), 1.5 * V / tau, rtol=1e-8)  # (8.40)
    np.testing.assert_allclose(np.abs(motion(tau) - q0), 0.75 * V**2 / A, atol=1e-9 * scale(q0, q1))  # (8.44)
    np.testing.assert_allclose(motion(t[:, 0]), q0 + compact_smooth(t, tau, t_f) * D, atol=1e-9 * scale(q0, q1))


@pytest.mark.parametrize(("name", "c"), list(RAMPED.items()))
@given(k_v=limit, k_a=limit, share=st.floats(0.01, 0.99), q0=st.floats(-2, 2))
@settings(max_examples=40, deadline=None)
def test_a_short_move_does_not_reach_its_velocity(name, c, k_v, k_a, share, q0) -> None:  # type: ignore[no-untyped-def]
    least = c * k_v**2 / k_a  # (8.18), (8.46)
    for D, reaches in ((share * least, False), (least / share, True)):
        motion = point_to_point([0.0], [D], name, v_max=k_v, a_max=k_a)
        expected = k_v if reaches else math.sqrt(D * k_a / c)  # (8.35), (8.47)
        assert motion.peak(1)[0] == pytest.approx(expected, rel=1e-9)
        assert motion.peak(2)[0] == pytest.approx(k_a, rel=1e-8)
        assert motion.duration == pytest.approx(c * expected / k_a + D / expected, rel=1e-9)  # (8.22), (8.45)


def test_smooth_speeds_up_one_and_a_half_times_as_long() -> None:
    plain, smooth = (point_to_point([0], [5], p, v_max=1, a_max=2) for p in ("trapezoid", "smooth"))
    assert smooth.knots[1] == pytest.approx(1.5 * plain.knots[1])  # after (8.41)


@pytest.mark.parametrize("name", list(RAMPED))
def test_acceleration_phase_is_a_ramp_of_the_kind_it_is_named_after(name) -> None:  # type: ignore[no-untyped-def]
    motion = point_to_point([0], [1], name, duration=3.0, acceleration_time=1.0)
    s = np.linspace(0.001, 0.999, 1000)
    shape = motion(s, 2)[:, 0] * 2  # times (t_f - tau) tau = 2
    expected = {"trapezoid": np.ones_like(s), "smooth": 6 * s * (1 - s),
                "smooth_trapezoid": 4 / 3 * np.minimum(1, 4 * np.minimum(s, 1 - s))}[name]  # fmt: skip
    np.testing.assert_allclose(shape, expected, atol=1e-12)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.25, 0.4, 0.5])
def test_ramps_of_any_share(share: float) -> None:
    """The acceleration rises and falls in that share of its time, and the minimum time follows from its peak."""
    name = f"smooth_trapezoid:{share}"
    motion = point_to_point([0], [1], name, duration=3.0, acceleration_time=1.0)
    s = np.linspace(0.001, 0.999, 1000)
    trapezoid = np.minimum(1, np.minimum(s, 1 - s) / share) / (1 - share)
    np.testing.assert_allclose(2 * motion(s, 2)[:, 0], trapezoid, atol=1e-12)
    fastest = point_to_point([0], [5], name, v_max=1.0, a_max=2.0)
    assert fastest.duration == pytest.approx(1 / (2 * (1 - share)) + 5.0)  # tau = c V/a, t_f = tau + D/V
    assert fastest.peak(2)[0] == pytest.approx(2.0)


@pytest.mark.parametrize("name", ["smooth_trapezoid:0", "smooth_trapezoid:0.6", "smooth_trapezoid:", "cubic:0.1"])
def test_shares_that_are_none(name: str) -> None:
    with pytest.raises(ArmdynError, match="share of a ramp|unknown profile"):
        point_to_point([0], [1], name, duration=1.0)


@pytest.mark.parametrize("name", ALL)
def test_nothing_to_do_takes_no_time_and_a_given_duration_is_kept(name) -> None:  # type: ignore[no-untyped-def]
    motion = point_to_point([1.0, 2.0], [1.0, 2.0], name, v_max=1.0, a_max=1.0)
    assert motion.duration == 0
    assert motion([-1.0, 0.0, 1.0]).tolist() == [[1.0, 2.0]] * 3
    waiting = point_to_point([1.0, 2.0], [1.0, 2.0], name, duration=2.0)
    assert waiting.duration == 2.0
    assert not waiting(np.linspace(0, 2, 5), 1).any()
    for slow in (1.0, 4.0, 10.0):
        stretched = point_to_point([0.0], [1.0], name, v_max=1.0, a_max=1.0, duration=4 * slow)
        assert stretched.duration == pytest.approx(4 * slow)
        assert stretched(4 * slow)[0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"profile": "trapezium", "v_max": 1, "a_max": 1}, "Did you mean 'trapezoid'"),
        ({}, "needs a limit. Expected: a_max"),
        ({"profile": "linear", "a_max": 1}, "v_max"),
        ({"profile": "quintic"}, "v_max or a_max"),
        ({"v_max": 1, "a_max": -1}, "positive limits"),
        ({"v_max": [1, 2, 3], "a_max": 1}, "2 positive limits"),
        ({"duration": -1.0}, "positive time"),
        ({"profile": "cubic", "duration": 2.0, "acceleration_time": 1.0}, "trapezoid, smooth, smooth_trapezoid"),
        ({"duration": 2.0, "acceleration_time": 1.5}, "at most half"),
        ({"profile": "trapezoid", "duration": 2.0, "qd1": 1.0}, "cubic or quintic"),
        ({"profile": "cubic", "duration": 2.0, "qdd1": 1.0}, "quintic"),
        ({"profile": "cubic", "qd1": 1.0}, "duration"),
    ],
)
def test_bad_arguments_are_named(arguments, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ArmdynError, match=message):
        point_to_point([0.0, 1.0], [1.0, 2.0], **arguments)


def test_sizes_must_agree() -> None:
    with pytest.raises(ArmdynError, match="2 finite numbers"):
        point_to_point([0, 0], [1, 2, 3], duration=1.0)
    with pytest.raises(ArmdynError, match="finite"):
        point_to_point([0, math.nan], [1, 2], duration=1.0)
    with pytest.raises(NotApplicable):
        point_to_point([0], [1], "linear", duration=2.0, acceleration_time=0.5)
