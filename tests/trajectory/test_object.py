"""The trajectory as an object: shapes, rest outside, files, composition, pictures."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, FileError, NotApplicable
from armdyn.trajectory import (
    PiecewisePolynomial,
    Trajectory,
    concatenate,
    fourier,
    hold,
    point_to_point,
    read_trajectory,
)
from support.pictures import colors_in


@pytest.fixture
def move() -> PiecewisePolynomial:
    return point_to_point([0.0, 1.0], [1.0, -1.0], "trapezoid", v_max=1.0, a_max=2.0)


def test_public_door(move: PiecewisePolynomial) -> None:
    assert armdyn.point_to_point([0.0, 1.0], [1.0, -1.0], v_max=1.0, a_max=2.0).duration == move.duration
    assert armdyn.trajectory.Trajectory is Trajectory
    assert armdyn.read_trajectory is read_trajectory
    assert repr(move) == "<PiecewisePolynomial: 2 joints, 2.5 s>"


def test_it_is_frozen(move: PiecewisePolynomial) -> None:
    with pytest.raises(ValueError, match="read-only"):
        move.coefficients[0, 0, 0] = 5.0
    with pytest.raises(AttributeError):
        move.knots = np.zeros(2)  # type: ignore[misc]


def test_any_shape_of_time(move: PiecewisePolynomial) -> None:
    for t in (0.3, [0.3], np.full((2, 3, 4), 0.3), 1):
        for order in range(4):
            assert move(t, order).shape == (*np.shape(t), 2)
    np.testing.assert_array_equal(move(np.array([[0.1, 0.2], [0.3, 0.4]]))[1, 0], move(0.3))
    with pytest.raises(ArmdynError, match="NaN"):
        move(np.nan)
    with pytest.raises(NotApplicable):
        move(0.1, -1)


@pytest.mark.parametrize("kind", ["linear", "trapezoid", "quintic"])
def test_it_holds_still_outside(kind) -> None:  # type: ignore[no-untyped-def]
    motion = point_to_point([0.0, 1.0], [1.0, -1.0], kind, duration=2.0)
    for outside, end in ((-0.5, 0.0), (2.5, 2.0), (np.inf, 2.0)):
        np.testing.assert_array_equal(motion(outside), motion(end))
        for order in (1, 2, 3):
            assert not motion(outside, order).any()
    assert motion(0.0, 1).any() == (kind == "linear")


def test_samples_end_at_the_end(move: PiecewisePolynomial) -> None:
    samples = move.sample(0.3)
    np.testing.assert_allclose(samples.t, [0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.1, 2.4, 2.5])
    np.testing.assert_array_equal(samples.qd, move(samples.t, 1))
    assert len(move.sample(0.5).t) == 6
    with pytest.raises(ArmdynError, match="positive time step"):
        move.sample(0.0)


def test_slower_scales_derivatives(move: PiecewisePolynomial) -> None:
    for factor in (3.0, 0.5):
        slow = move.slower(factor)
        assert slow.duration == pytest.approx(factor * move.duration)
        t = np.linspace(-0.1, 1.1, 30) * slow.duration
        for order in range(4):
            np.testing.assert_allclose(slow(t, order), move(t / factor, order) / factor**order, atol=1e-12)
        np.testing.assert_allclose(slow.peak(2), move.peak(2) / factor**2)
    assert move.retimed(7.0).duration == pytest.approx(7.0)
    with pytest.raises(ArmdynError, match="positive number"):
        move.slower(0.0)


def test_a_clock_obeys_the_chain_rule() -> None:
    path = fourier([0.0, 1.0], [[1.0, 0.3], [0.2, -0.5]], [[0.0, 0.1], [0.4, 0.0]], period=2.0)
    clock = point_to_point([0.0], [2.0], "quintic", duration=3.0)
    motion = path.retimed(clock)
    assert (motion.duration, motion.n) == (3.0, 2)
    t = np.linspace(0.01, 2.99, 17)
    for order in range(3):
        np.testing.assert_allclose(motion(t, order + 1), motion(t + 1e-30j, order).imag / 1e-30, atol=1e-10)
    with pytest.raises(NotApplicable, match="order 4"):
        motion(0.5, 4)


def test_a_clock_passes_the_breaks_of_the_path(move: PiecewisePolynomial) -> None:
    motion = move.retimed(point_to_point([0.0], [move.duration], "cubic", duration=4.0))
    clock = point_to_point([0.0], [move.duration], "cubic", duration=4.0)
    inner = motion.breaks[1:-1]
    np.testing.assert_allclose(clock(inner)[:, 0], move.breaks[1:-1], atol=1e-9)


def test_backwards(move: PiecewisePolynomial) -> None:
    back = move.reversed()
    t = np.linspace(0.001, 0.999, 30) * move.duration
    for order in range(3):
        np.testing.assert_allclose(back(t, order), (-1) ** order * move(move.duration - t, order), atol=1e-12)
    np.testing.assert_allclose(back.breaks, move.duration - move.breaks[::-1])


def test_one_after_the_other(move: PiecewisePolynomial) -> None:
    motion = move.then(hold([1.0, -1.0], 0.5), move.reversed())
    assert motion.duration == pytest.approx(2 * move.duration + 0.5)
    t = np.linspace(0, move.duration, 11)
    np.testing.assert_allclose(motion(t), move(t), atol=1e-14)
    np.testing.assert_allclose(motion(move.duration + 0.25), [1.0, -1.0])
    assert not motion(move.duration + 0.25, 1).any()
    np.testing.assert_allclose(motion(motion.duration - t, 0), move(t), atol=1e-14)
    np.testing.assert_allclose(motion(motion.duration), [0.0, 1.0], atol=1e-14)
    np.testing.assert_array_equal(motion.peak(1), move.peak(1))
    with pytest.raises(ArmdynError, match="joint 2 jumps by 2 between parts 1 and 2"):
        concatenate(move, move)
    with pytest.raises(ArmdynError, match="the next 1"):
        concatenate(move, hold([1.0], 1.0))


def test_file_round_trip(tmp_path) -> None:  # type: ignore[no-untyped-def]
    smooth = point_to_point([0.0, 1.0], [1.0, -1.0], "quintic", v_max=1.0, a_max=2.0)
    path = smooth.save(tmp_path / "x.csv", dt=0.05)
    assert path.read_text().splitlines()[0] == "t,q1,q2,qd1,qd2,qdd1,qdd2"
    back = read_trajectory(path)
    assert back.duration == smooth.duration
    t = np.linspace(0, smooth.duration, 333)
    for order in range(3):  # quintic pieces through samples of a quintic are that quintic
        np.testing.assert_allclose(back(t, order), smooth(t, order), atol=1e-9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no line of numbers"),
        ("t,q1\n0,0\n", "k >= 2"),
        ("time,q1\n0,0\n1,1\n", "columns of a trajectory are missing"),
        ("t,q1,q2,qd1\n0,0,0,0\n1,1,1,0\n", "'qd2' is missing"),
        ("t,q1\n0,0\n1,x\n", "line 3"),
        ("t,q1\n0,0\n1\n", "line 3"),
        ("t,q1\n0,0\n1,\n", "NaN"),
        ("t,q1\n0,0\n0,1\n", "does not increase"),
    ],
)
def test_broken_files_say_what_is_wrong(tmp_path, text, message) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "broken.csv"
    path.write_text(text)
    with pytest.raises(FileError, match=message) as caught:
        read_trajectory(path)
    assert "broken.csv" in str(caught.value)


def test_missing_file() -> None:
    with pytest.raises(FileError, match="cannot be read"):
        read_trajectory("no/such/file.csv")
    with pytest.raises(FileError, match="cannot be written"):
        hold([0.0], 1.0).save("/dev/null/file.csv")


def test_picture(tmp_path, move: PiecewisePolynomial) -> None:  # type: ignore[no-untyped-def]
    figure = move.plot(tmp_path / "x.png", names=["hip", "knee"])
    assert {"#3b6fd4", "#e58a3c"} <= colors_in(tmp_path / "x.png"), "a curve for each joint"
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["position, rad", "velocity, rad/s", "acceleration, rad/s²"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["hip", "knee"]
    acceleration = figure.axes[2].lines[0].get_ydata()
    assert acceleration.max() == pytest.approx(1.0)
    scara = armdyn.load("scara5")
    motion = point_to_point([0.0] * 5, [0.1, 1.0, 0.5, -0.5, 0.05], v_max=1.0, a_max=2.0)
    labels = [axes.get_ylabel() for axes in motion.plot(robot=scara).axes]
    assert labels[::2] == ["position, rad", "velocity, rad/s", "acceleration, rad/s²"]
    assert labels[1::2] == ["position, m", "velocity, m/s", "acceleration, m/s²"]
    with pytest.raises(ArmdynError, match="5 joints"):
        move.plot(robot=scara)
