"""Truc sec. 5: the three-link manipulator, (56)-(70), as identities in all symbols.

The expected side is the printed text (`armdyn.texts.truc.printed`); (70) is printed with I3zz where (67) has
I3xx.
"""

from __future__ import annotations

from typing import Any

import pytest

import armdyn
from armdyn.graph import derivative, identical
from armdyn.mechanics import gim_christoffel, kinematics, kronecker, lagrange, lagrange_euler
from armdyn.mechanics.kinematics import link_poses, point_jacobian
from armdyn.mechanics.matrices import product, transpose
from armdyn.texts.truc import printed as text
from armdyn.texts.truc.printed import ANGULAR, CENTRES, LINKS, ROTATIONS, p, q, qd

ROBOT = armdyn.load("three_link").symbolic

four = pytest.mark.parametrize(
    "module", [kronecker, gim_christoffel, lagrange_euler, lagrange], ids=lambda module: module.__name__.split(".")[-1]
)


# Kinematics: (56)-(62) --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("i", range(3))
def test_transformations_56_57(i: int) -> None:
    assert identical(kinematics.pose(ROBOT, q, LINKS[i]), text.transformation(i))


@pytest.mark.parametrize("i", range(3))
def test_angular_velocities_58(i: int) -> None:
    """In the axes of the body frame."""
    w = [[x] for x in kinematics.velocity(ROBOT, q, qd, LINKS[i])[3:]]
    assert identical(product(transpose(ROTATIONS[i]), w), [[x] for x in ANGULAR[i]])


@pytest.mark.parametrize("i", range(3))
def test_rotational_jacobians_59(i: int) -> None:
    J = kinematics.jacobian(ROBOT, q, LINKS[i])[3:]
    assert identical(product(transpose(ROTATIONS[i]), J), text.ROTATIONAL[i])
    assert identical(derivative(ANGULAR[i], qd), text.ROTATIONAL[i])


@pytest.mark.parametrize("i", range(3))
def test_centres_of_mass_60_61(i: int) -> None:
    frame = ROBOT.frame(LINKS[i])
    pose = link_poses(ROBOT, q)[frame.link] @ frame.pose
    com = ROBOT.joints[i].body.inertia.about_com().com
    assert identical(tuple(com), text.LOCAL_CENTRES[i])
    assert identical(tuple(pose.apply(com)), CENTRES[i])


def test_translational_jacobians_62() -> None:
    poses = link_poses(ROBOT, q)
    for i in range(3):
        assert identical(derivative(CENTRES[i], q), text.TRANSLATIONAL[i])  # (24) as printed in (62)
        linear, _ = point_jacobian(ROBOT, poses, i, armdyn.algebra.Vec3(*CENTRES[i]))
        assert identical(transpose([tuple(v) for v in linear]), text.TRANSLATIONAL[i])


# Dynamics: (63)-(69) ----------------------------------------------------------------------------------------------


@four
def test_inertia_matrix_64_65(module: Any) -> None:
    assert identical(module.mass_matrix(ROBOT, q), text.inertia_matrix())


@pytest.mark.parametrize("module", [kronecker, gim_christoffel, lagrange_euler])
def test_coriolis_matrix_67(module: Any) -> None:
    assert identical(module.coriolis_matrix(ROBOT, q, qd), text.coriolis_matrix())


@four
def test_coriolis_torques(module: Any) -> None:
    """C qd with C of (67)."""
    assert identical(
        module.coriolis(ROBOT, q, qd), [row[0] for row in product(text.coriolis_matrix(), [[v] for v in qd])]
    )


def test_potential_energy_68() -> None:
    assert identical(kronecker.potential_energy(ROBOT, q), text.potential_energy())


@four
def test_gravity_69(module: Any) -> None:
    assert identical(module.gravity(ROBOT, q), text.gravity())


# Skew symmetry: (70) ----------------------------------------------------------------------------------------------


def test_skew_matrix_70_and_its_printed_form() -> None:
    Mdot = kronecker.time_derivative(kronecker.inertia_derivative(ROBOT, q), qd)  # (40)
    C = kronecker.coriolis_matrix(ROBOT, q, qd)
    N = [[a - 2 * b for a, b in zip(*rows, strict=True)] for rows in zip(Mdot, C, strict=True)]
    assert identical(N, text.skew_matrix(p.I3xx))
    assert not identical(N, text.skew_matrix(p.I3zz))
