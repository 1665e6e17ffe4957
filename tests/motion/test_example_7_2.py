"""Example 7.2 of 004: the data and what the text says about fig. 7.5-7.11, and two computations that share no code."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.motion.experiments import MOTIONS, different_durations, equal_durations, example_7_2, straight_line

# The data of the text; g is not given there.
A1 = 1.0
L1 = L2 = 0.5
ML1 = ML2 = 50.0
IL1 = IL2 = 10.0
KR1 = KR2 = 100.0
MM2 = 5.0
IM1 = IM2 = 0.01
G = 9.81


def printed(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> dict[str, np.ndarray]:
    """004 (7.82), term by term."""
    s2, c2, c1, c12 = np.sin(q[:, 1]), np.cos(q[:, 1]), np.cos(q[:, 0]), np.cos(q[:, 0] + q[:, 1])
    b11 = IL1 + ML1 * L1**2 + KR1**2 * IM1 + IL2 + ML2 * (A1**2 + L2**2 + 2 * A1 * L2 * c2) + IM2 + MM2 * A1**2
    b12 = IL2 + ML2 * (L2**2 + A1 * L2 * c2) + KR2 * IM2
    b22 = IL2 + ML2 * L2**2 + KR2**2 * IM2
    h = -ML2 * A1 * L2 * s2
    return {
        "11": b11 * qdd[:, 0],
        "12": b12 * qdd[:, 1],
        "21": b12 * qdd[:, 0],
        "22": b22 * qdd[:, 1],
        "centrifugal 12": h * qd[:, 1] ** 2,
        "centrifugal 21": -h * qd[:, 0] ** 2,
        "Coriolis 1": 2 * h * qd[:, 0] * qd[:, 1],
        "gravity 1": (ML1 * L1 + MM2 * A1 + ML2 * A1) * G * c1 + ML2 * L2 * G * c12,
        "gravity 2": ML2 * L2 * G * c12,
    }


def crossings(t: np.ndarray, y: np.ndarray) -> np.ndarray:
    k = np.flatnonzero(y[:-1] * y[1:] < 0)
    return t[k]


@pytest.mark.parametrize("name", MOTIONS)
def test_every_contribution_is_that_of_the_printed_equations(name: str) -> None:
    parts = example_7_2(name)
    terms = printed(parts.q, parts.qd, parts.qdd)
    found = {
        "11": parts.inertia[:, 0, 0],
        "12": parts.inertia[:, 0, 1],
        "21": parts.inertia[:, 1, 0],
        "22": parts.inertia[:, 1, 1],
        "centrifugal 12": parts.centrifugal[:, 0, 1],
        "centrifugal 21": parts.centrifugal[:, 1, 0],
        "Coriolis 1": parts.coriolis[:, 0, 0],
        "gravity 1": parts.gravity[:, 0],
        "gravity 2": parts.gravity[:, 1],
    }
    scale = np.abs(parts.tau).max()
    for term, value in terms.items():
        assert np.abs(found[term] - value).max() < 1e-11 * scale, term
    total = np.stack([sum(terms[k] for k in terms if k in ("11", "12", "centrifugal 12", "Coriolis 1", "gravity 1")),
                      sum(terms[k] for k in ("21", "22", "centrifugal 21", "gravity 2"))], axis=1)  # fmt: skip
    assert np.abs(parts.tau - total).max() < 1e-11 * scale
    # What the printed equations do not have: effects of a joint on itself, a Coriolis effect at joint 2.
    assert np.abs(parts.centrifugal[:, [0, 1], [0, 1]]).max() < 1e-11 * scale
    assert np.abs(parts.coriolis[:, 1]).max() < 1e-11 * scale


@pytest.mark.parametrize("name", MOTIONS)
def test_torques_are_those_of_an_engine_with_rotors_as_bodies(name: str) -> None:
    pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    from physics.engine import torques

    parts = example_7_2(name, dt=0.02)
    robot = armdyn.load("planar2r")
    other = np.array([torques(robot, *sample) for sample in zip(parts.q, parts.qd, parts.qdd, strict=True)])
    assert np.abs(parts.tau - other).max() < 1e-10 * np.abs(other).max()


def test_data_of_the_first_motion() -> None:
    move = equal_durations()
    tip = armdyn.compile(armdyn.load("planar2r")).pose(move(0.0))[:2, 3]
    assert np.allclose(tip, [0.2, 0.0], atol=1e-12)
    assert move(0.0)[0] < 0 < move(0.0)[1]  # the elbow lies below the line from base to tip
    assert np.allclose(move(0.5) - move(0.0), np.pi / 2) and move.duration == 0.5
    assert np.allclose(move.peak(1), 2 * (np.pi / 2) / 0.5)  # a triangle of that area
    assert np.allclose(move(np.array([0.1, 0.2]), 2), 8 * np.pi) and np.allclose(move([0.3, 0.4], 2), -8 * np.pi)


def test_remarks_on_figure_7_6() -> None:
    parts = example_7_2("equal durations")
    first = parts.t < 0.25 - 1e-6
    later = parts.t > 0.25 + 1e-6
    # "follows the time history of the acceleration": same sign; "is piecewise constant"
    assert (np.sign(parts.inertia[:, 0, 0]) == np.sign(parts.qdd[:, 0])).all()
    b22 = IL2 + ML2 * L2**2 + KR2**2 * IM2
    for part, sign in ((first, 1), (later, -1)):
        assert np.allclose(parts.inertia[part, 1, 1], sign * b22 * 8 * np.pi)
    # "confirm the symmetry of the inertia matrix"
    assert np.allclose(parts.inertia[:, 0, 1], parts.inertia[:, 1, 0])
    # "present only at Joint 1"; "reflect the above symmetry"
    assert np.abs(parts.coriolis[:, 0]).max() > 1000 and np.abs(parts.coriolis[:, 1]).max() < 1e-9
    assert np.allclose(parts.centrifugal[:, 0, 1], -parts.centrifugal[:, 1, 0])
    assert np.allclose(parts.coriolis[:, 0, 0], 2 * parts.centrifugal[:, 0, 1])
    # Zero where s2 = 0, when joint 2 passes pi: 4 pi t^2 = pi - q2(0), in the first half.
    passes = np.sqrt((np.pi - 2 * np.arccos(0.1)) / (4 * np.pi))
    assert np.allclose(crossings(parts.t, parts.coriolis[:, 0, 0]), passes, atol=5e-4)


def test_data_of_the_second_motion_and_remarks_on_figure_7_8() -> None:
    move = different_durations()
    dyn = armdyn.compile(armdyn.load("planar2r"))
    assert np.allclose(dyn.pose(move(0.0))[:2, 3], [0.2, 0]) and np.allclose(dyn.pose(move(9.0))[:2, 3], [1.8, 0])
    assert np.allclose(move.peak(1), 5.0) and np.allclose(move.peak(2), 5.0 / 0.15)
    turn = np.arccos(0.1) - np.arccos(0.9)
    ends = turn / 5 + 0.15, 2 * turn / 5 + 0.15
    assert np.allclose(move.duration, ends[1])
    assert np.abs(move(np.linspace(ends[0], move.duration, 9)[1:-1], 1)[:, 0]).max() < 1e-12  # joint 1 has arrived
    parts = example_7_2("different durations")
    opposite = np.isclose(parts.qdd[:, 0], -parts.qdd[:, 1]) & (parts.qdd[:, 0] != 0)
    assert opposite.mean() > 0.2
    assert np.allclose(parts.inertia[opposite, 0, 1], -parts.inertia[opposite, 1, 0])
    # "dies out later": by joint 2 at joint 1 until the end, by joint 1 at joint 2 until joint 1 stands
    size = np.abs(parts.tau).max()
    last = [parts.t[np.abs(c) > 1e-9 * size][-1] for c in (parts.centrifugal[:, 0, 1], parts.centrifugal[:, 1, 0])]
    assert np.isclose(last[0], ends[1], atol=2e-3) and np.isclose(last[1], ends[0], atol=2e-3)
    # "practically constant in the first portion": both joints turn alike until joint 1 brakes
    early = parts.t < ends[0] - 0.15
    assert np.ptp(parts.gravity[early, 1]) < 1e-9 * np.abs(parts.gravity[:, 1]).max()
    assert np.ptp(parts.gravity[:, 1]) > 0.3 * np.abs(parts.gravity[:, 1]).max()
    # "the centre of mass moves away from the origin"
    assert np.all(np.diff(parts.gravity[:, 0]) > -1e-6) and parts.gravity[-1, 0] > 3 * parts.gravity[0, 0]


def test_data_of_the_third_motion() -> None:
    move = straight_line()
    dyn = armdyn.compile(armdyn.load("planar2r"))
    assert np.isclose(move.duration, 1.6 / 5 + 0.15)
    t = np.linspace(0, move.duration, 201)
    q, qd = move(t), move(t, 1)
    tip = dyn.pose(q)[:, :2, 3]
    assert np.abs(tip[:, 1]).max() < 1e-9 and np.allclose(tip[[0, -1], 0], [0.2, 1.8])
    velocity = np.einsum("kij,kj->ki", dyn.jacobian(q), qd)[:, 0]
    expected = np.minimum(np.minimum(t, move.duration - t) * 5 / 0.15, 5.0)
    assert np.abs(velocity - expected).max() < 1e-9
    assert (q[:, 0] < 0).all() and (q[:, 1] > 0).all()  # the same posture throughout
