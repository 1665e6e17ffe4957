"""Lagrange-Euler with 4x4 matrices: Milićević sec. 2."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.mechanics import gim_christoffel, lagrange_euler
from armdyn.mechanics.lagrange_euler import Derivatives, pseudo_inertia
from support import pinocchio_model
from support.laws import SHAPES, assert_close, check_christoffel, check_engine, check_exact, check_scalars, sample


@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_pinocchio(shape: str) -> None:
    check_engine(lagrange_euler, shape)


@pytest.mark.parametrize("shape", ["standard", "sliding", "right angles", "tree"])
def test_equals_newton_euler_exactly(shape: str) -> None:
    check_exact(lagrange_euler, shape)


def test_rotors_exactly() -> None:
    check_exact(lagrange_euler, "free axes", rotors=True)


def test_every_scalar() -> None:
    check_scalars(lagrange_euler)


@pytest.mark.parametrize("shape", ["modified", "sliding", "tree"])
def test_coriolis_matrix_is_the_christoffel_matrix(shape: str) -> None:
    check_christoffel(lagrange_euler, shape)


@pytest.mark.parametrize("shape", ["turning", "tree"])
def test_h_are_the_christoffel_symbols(shape: str) -> None:
    """Milićević: h_ikm = h_imk, h_iii = 0 in a chain."""
    robot, q, *_ = sample(shape)
    h = lagrange_euler.h(robot, q)
    assert_close(h, gim_christoffel.christoffel_symbols(robot, q))
    assert (h == h.transpose(0, 2, 1)).all()
    assert np.abs(np.einsum("iii->i", h)).max() < 1e-12 * np.abs(h).max()


def test_derivatives_by_complex_step() -> None:
    """U_ij and U_ijk are the derivatives of the poses."""
    robot, q, *_ = sample("tree")
    step = 1e-30
    at = Derivatives(robot, q.tolist())
    for j, unit in enumerate(np.eye(robot.n)):
        for link in robot.links:
            slope = armdyn.mechanics.kinematics.pose(robot, q + 1j * step * unit, link.name).imag / step
            frame = np.asarray(robot.frame(link.name).pose.array(), float)
            U = np.array(at.U[link.index].get(j, np.zeros((4, 4))), float)
            assert_close(U @ frame, slope, 1e-12)
        moved = Derivatives(robot, (q + 1j * step * unit).tolist())
        for i in range(robot.n):
            for (a, b), U_iab in at.UU[i].items():
                if j in (a, b):
                    other = b if j == a else a
                    assert_close(np.array(U_iab, float), np.array(moved.U[i][other], complex).imag / step, 1e-12)


def test_pseudo_inertia_of_a_cloud_of_points() -> None:
    """J is the sum of m r r^T: two point masses by hand."""
    rows = [{"mass": 2, "com": [0.1, 0.2, -0.3]}, {"type": "fixed", "mass": 3, "com": [-0.4, 0.0, 0.5]}]
    robot = armdyn.Robot.from_dh(rows, convention="modified")
    points = np.array([[0.1, 0.2, -0.3, 1], [-0.4, 0.0, 0.5, 1]])
    assert_close(np.array(pseudo_inertia(robot.links[0].inertia), float), points.T @ np.diag([2, 3]) @ points, 1e-14)


def test_sign_of_gravity() -> None:
    """Milićević (2.15) holds; the plus sign printed in (2.4) would give its opposite."""
    robot, q, *_ = sample("standard")
    rest = np.zeros(robot.n)
    weight = pinocchio_model.inverse_dynamics(robot, q, rest, rest)
    assert_close(lagrange_euler.gravity(robot, q), weight)
    assert np.abs(-lagrange_euler.gravity(robot, q) - weight).max() > np.abs(weight).max()
