"""003 (Le Ngoc Truc et al.) sec. 5: the three-link manipulator, (56)-(70), as identities in all symbols.

The expected side is the printed text; (70) is printed with I3zz where (67) has, rightly, I3xx.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import armdyn
from armdyn.graph import derivative, identical, symbol, symbols
from armdyn.mechanics import gim_christoffel, kinematics, kronecker, lagrange, lagrange_euler
from armdyn.mechanics.kinematics import link_poses, point_jacobian
from armdyn.mechanics.matrices import product, transpose

ROBOT = armdyn.load("three_link").symbolic
NAMES = "l0 l1 l2 r0 r1 r2 m1 m2 m3 g I1yy I2xx I2yy I2zz I3xx I3yy I3zz"
p = SimpleNamespace(**{name: symbol(name, "parameter") for name in NAMES.split()})
q = q1, q2, q3 = symbols("q1 q2 q3")
qd = v1, v2, v3 = symbols("v1 v2 v3")
LINKS = ("link1", "link2", "link3")

c1, s1, c2, s2, c3, s3 = q1.cos(), q1.sin(), q2.cos(), q2.sin(), q3.cos(), q3.sin()
c23, s23 = (q2 + q3).cos(), (q2 + q3).sin()

four = pytest.mark.parametrize(
    "module", [kronecker, gim_christoffel, lagrange_euler, lagrange], ids=lambda module: module.__name__.split(".")[-1]
)


# Kinematics: (56)-(62) --------------------------------------------------------------------------------------------

ROTATIONS = (
    ((c1, 0, -s1), (s1, 0, c1), (0, -1, 0)),
    ((c1 * c2, -c1 * s2, -s1), (s1 * c2, -s1 * s2, c1), (-s2, -c2, 0)),
    ((c1 * c23, -c1 * s23, -s1), (s1 * c23, -s1 * s23, c1), (-s23, -c23, 0)),
)
ORIGINS = (
    (0, 0, p.l0),
    (p.l1 * c1 * c2, p.l1 * s1 * c2, p.l0 - p.l1 * s2),
    (c1 * (p.l1 * c2 + c23 * p.l2), s1 * (p.l1 * c2 + c23 * p.l2), p.l0 - p.l1 * s2 - p.l2 * s23),
)
CENTRES = (
    (0, 0, p.r0),
    (p.r1 * c1 * c2, p.r1 * s1 * c2, p.l0 - p.r1 * s2),
    ((c2 * p.l1 + c23 * p.r2) * c1, (c2 * p.l1 + c23 * p.r2) * s1, p.l0 - p.l1 * s2 - p.r2 * s23),
)
ANGULAR = ((0, -v1, 0), (-s2 * v1, -c2 * v1, v2), (-s23 * v1, -c23 * v1, v2 + v3))


@pytest.mark.parametrize("i", range(3))
def test_transformations_56_57(i: int) -> None:
    expected = [[*row, x] for row, x in zip(ROTATIONS[i], ORIGINS[i], strict=True)] + [[0, 0, 0, 1]]
    assert identical(kinematics.pose(ROBOT, q, LINKS[i]), expected)


@pytest.mark.parametrize("i", range(3))
def test_angular_velocities_58(i: int) -> None:
    """In the axes of the body frame."""
    w = [[x] for x in kinematics.velocity(ROBOT, q, qd, LINKS[i])[3:]]
    assert identical(product(transpose(ROTATIONS[i]), w), [[x] for x in ANGULAR[i]])


@pytest.mark.parametrize("i", range(3))
def test_rotational_jacobians_59(i: int) -> None:
    J = kinematics.jacobian(ROBOT, q, LINKS[i])[3:]
    assert identical(product(transpose(ROTATIONS[i]), J), derivative(ANGULAR[i], qd))


@pytest.mark.parametrize("i", range(3))
def test_centres_of_mass_60_61(i: int) -> None:
    frame = ROBOT.frame(LINKS[i])
    pose = link_poses(ROBOT, q)[frame.link] @ frame.pose
    com = ROBOT.joints[i].body.inertia.about_com().com
    expected = ((0, p.l0 - p.r0, 0), (p.r1 - p.l1, 0, 0), (p.r2 - p.l2, 0, 0))  # (60)
    assert identical(tuple(com), expected[i])
    assert identical(tuple(pose.apply(com)), CENTRES[i])


def test_translational_jacobians_62() -> None:
    poses = link_poses(ROBOT, q)
    expected = (
        [[0, 0, 0]] * 3,
        [[-s1 * c2 * p.r1, -c1 * s2 * p.r1, 0], [c1 * c2 * p.r1, -s1 * s2 * p.r1, 0], [0, -c2 * p.r1, 0]],
        [
            [-s1 * (c2 * p.l1 + c23 * p.r2), -c1 * (p.l1 * s2 + p.r2 * s23), -c1 * s23 * p.r2],
            [c1 * (c2 * p.l1 + c23 * p.r2), -s1 * (p.l1 * s2 + p.r2 * s23), -s1 * s23 * p.r2],
            [0, -c2 * p.l1 - c23 * p.r2, -c23 * p.r2],
        ],
    )
    for i in range(3):
        assert identical(derivative(CENTRES[i], q), expected[i])  # (24) as printed in (62)
        linear, _ = point_jacobian(ROBOT, poses, i, armdyn.algebra.Vec3(*CENTRES[i]))
        assert identical(transpose([tuple(v) for v in linear]), expected[i])


# Dynamics: (63)-(69) ----------------------------------------------------------------------------------------------


def inertia_matrix() -> list[list[Any]]:
    """(64)-(65)"""
    M11 = (
        p.I3yy * c23**2 + p.I3xx * s23**2 + p.I2xx * s2**2 + p.I1yy + (p.m2 * p.r1**2 + p.I2yy) * c2**2
        + p.m3 * (p.r2 * c23 + p.l1 * c2) ** 2
    )  # fmt: skip
    M22 = 2 * p.l1 * p.m3 * p.r2 * c3 + (p.l1**2 + p.r2**2) * p.m3 + p.m2 * p.r1**2 + p.I3zz + p.I2zz
    M33 = p.m3 * p.r2**2 + p.I3zz
    M23 = p.l1 * p.m3 * p.r2 * c3 + p.m3 * p.r2**2 + p.I3zz
    return [[M11, 0, 0], [0, M22, M23], [0, M23, M33]]


LEVER = p.l1 * p.m3 * p.r2
ROLL3 = p.m3 * p.r2**2 + p.I3yy - p.I3xx
ROLL2 = p.l1**2 * p.m3 + p.m2 * p.r1**2 - p.I2xx + p.I2yy


def coriolis_matrix() -> list[list[Any]]:
    """(67)"""
    C11 = -(ROLL3 * (v2 + v3) * s23 + LEVER * (2 * v2 + v3) * s2) * c23 - ROLL2 * c2 * s2 * v2 - LEVER * s3 * (v2 + v3)
    C21 = ((ROLL3 * s23 + 2 * LEVER * s2) * c23 + ROLL2 * c2 * s2 + LEVER * s3) * v1
    C31 = ((ROLL3 * s23 + LEVER * s2) * c23 + LEVER * s3) * v1
    return [[C11, -C21, -C31], [C21, -LEVER * s3 * v3, -LEVER * s3 * (v2 + v3)], [C31, LEVER * s3 * v2, 0]]


@four
def test_inertia_matrix_64_65(module: Any) -> None:
    assert identical(module.mass_matrix(ROBOT, q), inertia_matrix())


@pytest.mark.parametrize("module", [kronecker, gim_christoffel, lagrange_euler])
def test_coriolis_matrix_67(module: Any) -> None:
    assert identical(module.coriolis_matrix(ROBOT, q, qd), coriolis_matrix())


@four
def test_coriolis_torques(module: Any) -> None:
    """C qd with C of (67)."""
    assert identical(module.coriolis(ROBOT, q, qd), [row[0] for row in product(coriolis_matrix(), [[v] for v in qd])])


def test_potential_energy_68() -> None:
    P = p.g * (
        p.l0 * p.m2 + p.l0 * p.m3 + p.m1 * p.r0 - (p.l1 * p.m3 + p.m2 * p.r1) * s2 - p.m3 * p.r2 * s23
    )  # fmt: skip
    assert identical(kronecker.potential_energy(ROBOT, q), P)


@four
def test_gravity_69(module: Any) -> None:
    g2 = -(p.l1 * p.m3 + p.m2 * p.r1) * p.g * c2 - p.m3 * p.r2 * p.g * c23
    assert identical(module.gravity(ROBOT, q), [0, g2, -p.m3 * p.r2 * p.g * c23])


# Skew symmetry: (70) ----------------------------------------------------------------------------------------------


def skew_matrix(third: Any) -> list[list[Any]]:
    """(70) with `third` in the place of I3zz (printed) or I3xx (right)."""
    roll = p.m3 * p.r2**2 + p.I3yy - third
    N12 = 2 * ((roll * s23 + 2 * LEVER * s2) * c23 + ROLL2 * c2 * s2 + LEVER * s3) * v1
    N13 = 2 * ((roll * s23 + LEVER * s2) * c23 + LEVER * s3) * v1
    N23 = LEVER * s3 * (2 * v2 + v3)
    return [[0, N12, N13], [-N12, 0, N23], [-N13, -N23, 0]]


def test_skew_matrix_70_and_its_printed_form() -> None:
    Mdot = kronecker.time_derivative(kronecker.inertia_derivative(ROBOT, q), qd)  # (40)
    C = kronecker.coriolis_matrix(ROBOT, q, qd)
    N = [[a - 2 * b for a, b in zip(*rows, strict=True)] for rows in zip(Mdot, C, strict=True)]
    assert identical(N, skew_matrix(p.I3xx))
    assert not identical(N, skew_matrix(p.I3zz))
