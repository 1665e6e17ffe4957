"""Presliding friction along a motion: the whole motion at once, sample by sample, and by Dahl's law integrated."""

from __future__ import annotations

import numpy as np

from armdyn.dynamics.presliding import Presliding, presliding


def course() -> np.ndarray:
    """Positions that reverse, rest, and go on after a rest in the same and in the other direction."""
    steps = np.random.default_rng(3).uniform(-1, 1, 60)
    steps[[0, 1, 10, 11, 12, 40]] = 0.0
    steps[[9, 13]], steps[[39, 41]] = 0.3, (0.2, -0.4)
    return np.concatenate([[0.5], 0.5 + np.cumsum(steps)])


def test_all_samples_at_once_are_one_after_the_other() -> None:
    x, part = course(), Presliding(np.eye(1), np.array([2.0]), np.array([0.7]))
    z = [np.zeros(1)]
    for step in np.diff(x):
        z.append(part.moved(z[-1], np.array([step])))
    np.testing.assert_allclose(presliding(x, 0.7), np.ravel(z), rtol=0, atol=1e-14)
    np.testing.assert_allclose(part.along(x[:, None]), z, rtol=0, atol=1e-14)


def test_dahls_law() -> None:
    """[PS-1] dz/dx = (1 - z sign(xd)) / delta, by the midpoint rule in small steps."""
    x, fine, z = course(), 2000, [0.0]
    for step in np.diff(x):
        now, h = z[-1], step / fine
        for _ in range(fine):
            middle = now + h / 2 * (1 - now * np.sign(h)) / 0.7
            now += h * (1 - middle * np.sign(h)) / 0.7
        z.append(now)
    np.testing.assert_allclose(presliding(x, 0.7), z, rtol=0, atol=1e-6)  # an error of h^2 a step


def test_torques_of_several_parts() -> None:
    """Each part rubs on its own combination of joints; near z = 0 it is a spring of torque / distance."""
    rows, torque, distance = np.array([[1.0, 0.0], [0.5, -2.0]]), np.array([2.0, 3.0]), np.array([0.7, 0.1])
    parts, z = Presliding(rows, torque, distance), np.array([[0.25, -0.5], [0.0, 1.0]])
    assert len(parts) == 2
    expected = [2.0 * a * rows[0] + 3.0 * b * rows[1] for a, b in z]
    np.testing.assert_allclose(parts.torques(z), expected, rtol=1e-15)
    step = np.array([1e-7, 2e-7])
    small = parts.torques(parts.moved(np.zeros(2), step))
    np.testing.assert_allclose(parts.stiffness @ step, small, rtol=1e-5)
