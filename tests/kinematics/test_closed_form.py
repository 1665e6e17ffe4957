"""Closed forms on random skew arms of every family, judged by forward kinematics that is written out here."""

from __future__ import annotations

import os

import numpy as np
import pytest

import armdyn
from armdyn.algebra import Mat3, Pose, Vec3
from armdyn.kinematics import all_solutions, closed_form, inverse_kinematics, subproblems
from armdyn.kinematics.decompositions import FAMILIES
from armdyn.kinematics.recognise import Lines, branches, completed, lines_of, recognised
from armdyn.kinematics.subproblems import Angle
from armdyn.mechanics import kinematics

POSES = 10_000 if os.environ.get("ARMDYN_FULL") else 500
ARMS = 10 if os.environ.get("ARMDYN_FULL") else 3


def random_lines(family, seed, mirrored=False):  # type: ignore[no-untyped-def]
    """Axes in random directions through random points, but for what the family asks for."""
    rng = np.random.default_rng(seed)
    h, p = rng.normal(size=(6, 3)), rng.uniform(-1, 1, (6, 3))
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    for group in family.parallel:
        index = [k - 1 for k in group]
        h[index] = h[index[0]] * rng.choice([-1, 1], (len(index), 1))
    for group in family.meeting:
        index = [k - 1 for k in group]
        p[index] = p[index[0]] + h[index] * rng.uniform(-1, 1, (len(index), 1))
    lines = lines_of(h, p)
    return lines.mirrored() if mirrored else lines


def moved(lines, q):  # type: ignore[no-untyped-def]
    """R (k, 3, 3) and p (k, 3) of the product of the rotations by q (k, n) about the axes."""
    R, p = np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.zeros((len(q), 3))
    for axis, point, angle in zip(lines.h, lines.p, q.T, strict=True):
        x, y, z = axis
        K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        turn = np.eye(3) + np.sin(angle)[:, None, None] * K + (1 - np.cos(angle))[:, None, None] * (K @ K)
        p, R = p + np.einsum("kij,kj->ki", R, point - turn @ point), R @ turn
    return R, p


def solutions(match, R, p, held=None):  # type: ignore[no-untyped-def]
    """(branches, k, 6) angles and (branches, k) whether they exist."""
    X = Pose(Mat3([[R[:, i, j] for j in range(3)] for i in range(3)]), Vec3(*p.T))
    q, exists = [], []
    with np.errstate(all="ignore"):
        for branch in branches(match, X, held or [Angle(1.0, 0.0)] * 6):
            q.append(np.stack([np.broadcast_to(np.arctan2(a.sin, a.cos), len(p)) for a in branch.angles], axis=-1))
            exists.append(np.broadcast_to(branch.exists, len(p)) >= 0)
    return np.array(q), np.array(exists)


def errors(lines, q, R, p):  # type: ignore[no-untyped-def]
    R_found, p_found = moved(lines, q)
    return np.maximum(np.abs(R_found - R).max(axis=(1, 2)), np.abs(p_found - p).max(axis=1))


def turned(q):  # type: ignore[no-untyped-def]
    return np.abs((q + np.pi) % (2 * np.pi) - np.pi).max(axis=-1)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_family_on_random_skew_arms(family, mirrored) -> None:  # type: ignore[no-untyped-def]
    worst = []
    for seed in range(ARMS):
        lines = random_lines(family, seed, mirrored)
        match = recognised(lines)
        assert match is not None
        assert (match.family, match.mirrored) == (family, mirrored)
        generating = np.random.default_rng(seed).uniform(-np.pi, np.pi, (POSES, 6))
        R, p = moved(lines, generating)
        q, exists = solutions(match, R, p)
        assert len(q) == 8
        assert (exists & (turned(q - generating) < 1e-5)).any(axis=0).all(), "the generating configuration is found"
        worst.append(
            max(errors(lines, each, R, p)[there].max(initial=0) for each, there in zip(q, exists, strict=True))
        )
    # A lever that is short by chance costs a digit; conics lose three where two solutions are near one another.
    assert np.median(worst) < (1e-11 if family.conic else 1e-13)
    assert max(worst) < (1e-11 if family.conic else 1e-12)


@pytest.mark.parametrize("name", ["ur5", "puma560", "rx90"])
def test_singular_poses_keep_their_free_joints(name) -> None:  # type: ignore[no-untyped-def]
    """All joints at quarter turns, with noise from nothing to a tenth of a degree: folded, stretched, in line."""
    robot = armdyn.load(name)
    rng = np.random.default_rng(0)
    quarters = rng.integers(-1, 3, (400, 6)) * np.pi / 2
    for noise in (0.0, 1e-12, 1e-9, 1e-6, 1e-3):
        q = quarters + noise * rng.normal(size=quarters.shape)
        T = kinematics.pose(robot, q)
        found = inverse_kinematics(robot, T, q, limits=False, method="closed", throw=False)
        lost = 1 - found.reached.mean()
        assert lost < (0.02 if name == "ur5" and noise == 1e-12 else 0.003)
        error = np.abs(kinematics.pose(robot, found.q[found.reached]) - T[found.reached]).max()
        assert error < 1e-10


def test_breaking_a_subproblem_is_noticed(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """The judge of these tests bites: a formula that is off by 1e-6 is far from the poses."""
    family = FAMILIES[0]
    lines = random_lines(family, 0)
    match = recognised(lines)
    R, p = moved(lines, np.random.default_rng(0).uniform(-3, 3, (50, 6)))
    from armdyn.kinematics import decompositions

    monkeypatch.setattr(decompositions, "turn", lambda *given: subproblems.turn(*given).plus(Angle(1.0, 1e-6)))
    q, exists = solutions(match, R, p)
    assert errors(lines, q[0], R, p)[exists[0]].max() > 1e-8


def test_nearly_structured_arms_are_recognised_and_improved() -> None:
    """Angles as files print them, 1.5708 and 3.14159: snapped to the family, solved, improved to the arm as it is."""
    exact = armdyn.load("puma560")
    rows = [
        {"type": "revolute", "a": a, "d": d, "alpha": alpha, "mass": 1.0}
        for a, d, alpha in (
            (0.0, 0.0, 1.5708),
            (0.4318, 0.0, 3.14159),
            (0.0203, 0.15, -1.5708),
            (0.0, 0.4318, 1.5708),
            (0.0, 0.0, -1.5708),
            (0.0, 0.05, 0.0),
        )
    ]
    robot = armdyn.Robot.from_dh(rows)
    form = closed_form(robot)
    assert form is not None
    assert 1e-8 < form.off < 1e-5
    assert closed_form(exact).off < 1e-12
    q = np.random.default_rng(0).uniform(-1.5, 1.5, (200, 6))
    T = kinematics.pose(robot, q)
    found = inverse_kinematics(robot, T, q, method="closed", throw=False)
    assert found.reached.mean() > 0.98
    assert found.residual[found.reached].max() < 1e-10
    everything = [all_solutions(robot, each) for each in T[:20]]
    assert max(np.abs(kinematics.pose(robot, each) - T[k]).max() for k, each in enumerate(everything)) < 1e-9


@pytest.mark.parametrize("kept", [(0, 1, 2, 3, 4), (0, 1, 2, 3), (1, 2, 3, 4, 5)])
def test_fewer_joints_by_virtual_ones(kept) -> None:  # type: ignore[no-untyped-def]
    """Arms whose joints are some of a UR's: what their own joints reach is found, other poses are refused."""
    whole = armdyn.load("ur5")
    poses = [np.asarray(T.array(), dtype=float) for T in kinematics.link_poses(whole, [0.0] * 6)]
    lines = lines_of([poses[k][:3, 2] for k in kept], [poses[k][:3, 3] for k in kept])
    found = completed(lines)
    assert found is not None
    match, real = found
    six = Lines(match.lines.h, match.lines.p, lines.size)
    q = np.zeros((200, 6))
    q[:, list(real)] = np.random.default_rng(1).uniform(-3, 3, (200, len(kept)))
    R, p = moved(six, q)
    np.testing.assert_allclose(moved(lines, q[:, list(real)])[1], p, atol=1e-12)
    solved, exists = solutions(match, R, p)
    assert (exists & (turned(solved - q) < 1e-6)).any(axis=0).all()


def test_seven_joints_with_one_of_them_known() -> None:
    robot = armdyn.load("panda")
    form = closed_form(robot)
    assert form is not None
    assert form.known == 6
    rng = np.random.default_rng(3)
    lower, upper = (np.array([getattr(j.limits, side) for j in robot.joints]) for side in ("lower", "upper"))
    q = rng.uniform(lower, upper, (50, 7))
    for each in q:
        found = all_solutions(robot, kinematics.pose(robot, each), q0=each)
        assert np.abs(found[0] - each).max() < 1e-6
        assert np.abs(kinematics.pose(robot, found) - kinematics.pose(robot, each)).max() < 1e-11
    swept = inverse_kinematics(robot, kinematics.pose(robot, q), method="closed", throw=False)
    assert swept.reached.mean() > 0.95
    assert (
        np.abs(kinematics.pose(robot, swept.q[swept.reached]) - kinematics.pose(robot, q[swept.reached])).max() < 1e-11
    )


def test_rounded_poses_are_made_rotations() -> None:
    robot = armdyn.load("ur5")
    q = np.array([0.4, -1.2, 1.5, -0.7, -1.1, 0.3])
    T = kinematics.pose(robot, q)
    for decimals in (4, 5, 6):
        given = np.round(T, decimals)
        found = inverse_kinematics(robot, given, q)
        assert 10.0 ** -(decimals + 1) < found.rounding < 4 * 10.0**-decimals
        assert np.abs(found.q - q).max() < 100 * 10.0**-decimals
        R = kinematics.pose(robot, found.q)[:3, :3]
        assert np.abs(R - given[:3, :3]).max() < 10.0**-decimals


def test_a_path_of_poses_stays_on_its_branch() -> None:
    robot = armdyn.load("ur5")
    s = np.linspace(0, 1, 200)[:, None]
    q = np.array([0.4, -1.2, 1.5, -0.7, -1.1, 0.3]) + s * np.array([0.8, 0.4, -0.9, 1.5, 0.6, 4.0])
    found = inverse_kinematics(robot, kinematics.pose(robot, q), q[0], continuous=True)
    np.testing.assert_allclose(found.q, q, atol=1e-8)


def test_closed_chains_by_their_independent_joints() -> None:
    robot = armdyn.load("five_bar")
    dyn = armdyn.compile(robot)
    q = np.asarray(robot.neutral)
    pose = dyn.pose(q)
    found = inverse_kinematics(robot, pose[:3, 3], q + 0.05, rows="x y")
    np.testing.assert_allclose(dyn.pose(found.q)[:2, 3], pose[:2, 3], atol=1e-9)
    assert inverse_kinematics(robot, pose[:3, 3], q + 0.05).residual < 1e-9  # all rows
    assert inverse_kinematics(robot, pose, q + 0.01, limits=False).reached
    assert armdyn.solve(robot, pose[:3, 3], q + 0.05).error.max() < 1e-9


def test_position_alone_by_three_axes() -> None:
    robot = armdyn.load("three_link")
    assert closed_form(robot) is None
    q = np.random.default_rng(0).uniform(-1.5, 1.5, (40, 3))
    T = kinematics.pose(robot, q)
    for each, pose in zip(q, T, strict=True):
        found = all_solutions(robot, pose[:3, 3], q0=each, limits=False)
        assert np.abs(kinematics.pose(robot, found)[:, :3, 3] - pose[:3, 3]).max() < 1e-12
        assert turned(found - each).min() < 1e-7
    assert closed_form(armdyn.load("planar3r"), rotation=False) is None  # any rotation: infinitely many
