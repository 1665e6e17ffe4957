"""The six velocity terms of generalized d'Alembert, row by row, against Milićević (4.3), (4.4) written out again.

The transcription knows only the Denavit-Hartenberg table and the bodies: it makes its own frames.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

import armdyn
from armdyn.mechanics import dalembert
from armdyn.typing import Array


def turn(axis: int, angle: float) -> Array:
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    T = np.eye(4)
    T[i, i] = T[j, j] = np.cos(angle)
    T[i, j], T[j, i] = -np.sin(angle), np.sin(angle)
    return T


def shift(axis: int, distance: float) -> Array:
    T = np.eye(4)
    T[axis, 3] = distance
    return T


def frames(robot: armdyn.Robot, q: Array, convention: str) -> tuple[list[Array], list[Array], list[Array]]:
    """Bodies' frames; axis and point of each joint, the point in the frame that the convention puts on the axis."""
    T = np.array([[float(x) for x in row] for row in robot.base.pose().array()])
    bodies, z, p = [], [], []
    for joint, angle in zip(robot.joints, q, strict=True):
        row: Any = joint.geometry
        turned = turn(2, float(row.theta) + angle) @ shift(2, float(row.d))
        common = shift(0, float(row.a)) @ turn(0, float(row.alpha))
        before, T = T, T @ (turned @ common if convention == "standard" else common @ turned)
        on_axis = before if convention == "standard" else T  # joint i about z_{i-1}, or about z_i
        z.append(on_axis[:3, 2])
        p.append(on_axis[:3, 3])
        bodies.append(T)
    return bodies, z, p


def transcribed(robot: armdyn.Robot, q: Array, qd: Array, convention: str) -> Array:
    """(6, n): the four terms of (4.3), as restored in Milicevic-5, and the two of (4.4), Milicevic-6."""
    n, x = robot.n, np.cross
    T, z, p = frames(robot, q, convention)
    inertias = [joint.body.inertia.about_com() for joint in robot.joints]
    r = [A[:3, :3] @ np.array(b.com.array(), float) + A[:3, 3] for A, b in zip(T, inertias, strict=True)]
    I = [A[:3, :3] @ np.array(b.tensor.array(), float) @ A[:3, :3].T for A, b in zip(T, inertias, strict=True)]
    w = [sum(qd[k] * z[k] for k in range(s + 1)) for s in range(n)]
    cor = [sum((x(qd[b] * z[b], qd[a] * z[a]) for a in range(s + 1) for b in range(a)), np.zeros(3)) for s in range(n)]
    h = np.zeros((6, n))
    for i in range(n):
        for s in range(i, n):
            m, lever = float(inertias[s].mass), x(z[i], r[s] - p[i])
            for k in range(s):
                h[0, i] += m * x(w[k], x(w[k], p[k + 1] - p[k])) @ lever
                h[1, i] += m * x(cor[k], p[k + 1] - p[k]) @ lever
            h[2, i] += m * x(w[s], x(w[s], r[s] - p[s])) @ lever
            h[3, i] += m * x(cor[s], r[s] - p[s]) @ lever
            h[4, i] += z[i] @ I[s] @ cor[s]
            h[5, i] += x(z[i], w[s]) @ I[s] @ w[s]
    return h


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_rows_are_those_of_the_text(convention: Literal["standard", "modified"]) -> None:
    rng = np.random.default_rng(43)
    for seed in range(50):
        n = 2 + seed % 5
        robot = armdyn.random_robot(seed, n, convention=convention, prismatic=0.0).without("friction", "rotors")
        q, qd = rng.uniform(-2, 2, (2, n))
        printed = transcribed(robot, q, qd, convention)
        np.testing.assert_allclose(dalembert.velocity_terms(robot, q, qd), printed, atol=1e-12 * np.abs(printed).max())


def test_terms_with_w_hold_products_of_rates_too() -> None:
    """planar2r, both joints turning: (4.3) gives -48.3 N m in one term; squares and products are -16.1 and -32.2."""
    from armdyn.mechanics import bertrand_bruneau

    robot = armdyn.load("planar2r").without("friction", "rotors")
    q, one, none = np.array([0.3, 0.7]), np.ones(2), np.zeros(2)
    terms = dalembert.velocity_terms(robot, q, one)[:, 0]
    parts = bertrand_bruneau.contributions(robot, q, one, none).sum(axis=2)[:, 0]
    squares, products = parts[1], parts[2]
    assert abs(squares) > 1 and abs(products) > 1
    np.testing.assert_allclose(terms[[0, 2]].sum(), squares + products, rtol=1e-12)
    np.testing.assert_allclose(terms[[1, 3, 4, 5]], 0, atol=1e-12)
