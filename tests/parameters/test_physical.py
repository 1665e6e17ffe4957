"""Physical consistency: bodies that exist pass, bodies that cannot exist are named, with the amount."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.algebra import Inertia
from armdyn.errors import ShapeError
from armdyn.parameters import grouped, physical_consistency, standard_parameters
from armdyn.parameters.consistency import pseudo_inertia


@pytest.mark.parametrize("seed", range(5))
def test_random_bodies_are_possible(seed: int) -> None:
    robot = armdyn.random_robot(seed, 5, rotors=True, branching=0.3)
    assert physical_consistency(robot).consistent
    report = physical_consistency(standard_parameters(robot))
    assert report.solid and len(report.links) == 5


def cloud(masses: np.ndarray, points: np.ndarray) -> dict[str, float]:
    """Parameters of point masses."""
    second = np.einsum("k,ki,kj->ij", masses, points, points)
    I = np.trace(second) * np.eye(3) - second
    moment = masses @ points
    values = [I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2], *moment, masses.sum()]
    names = ("XX1", "XY1", "XZ1", "YY1", "YZ1", "ZZ1", "MX1", "MY1", "MZ1", "M1")
    return dict(zip(names, map(float, values), strict=True))


def test_pseudo_inertia_is_the_moments_of_the_mass() -> None:
    rng = np.random.default_rng(0)
    masses, points = rng.uniform(0.1, 1, 6), rng.normal(size=(6, 3))
    extended = np.column_stack([points, np.ones(6)])
    body = Inertia.from_parameters(*cloud(masses, points).values())
    assert np.allclose(pseudo_inertia(body), np.einsum("k,ki,kj->ij", masses, extended, extended), rtol=1e-13)


def test_amount_of_violation() -> None:
    rng = np.random.default_rng(1)
    masses, points = rng.uniform(0.1, 1, 6), rng.normal(size=(6, 3))
    (link,) = physical_consistency(cloud(masses, points)).links
    assert link.solid and link.missing_moment == 0
    centre = masses @ points / masses.sum()
    second = np.einsum("k,ki,kj->ij", masses, points - centre, points - centre)
    assert link.moments == pytest.approx(np.linalg.eigvalsh(second), rel=1e-12)

    hole = np.append(masses, -2.0), np.vstack([points, centre + np.array([3.0, 0, 0])])  # a negative mass far out
    (link,) = physical_consistency(cloud(*hole)).links
    assert not link.consistent and link.missing_moment > 1
    assert "second moment" in str(link)

    (link,) = physical_consistency(cloud(-masses, points)).links
    assert not link.consistent and link.missing_mass == pytest.approx(masses.sum())
    assert "mass is -" in str(link)


def test_bodies_without_extent_are_possible_but_not_solid() -> None:
    for points in ([[0.3, 0.1, -0.2]], [[0, 0, 1.0], [0, 0, 2.0]], [[1.0, 0, 0], [0, 1, 0], [0, 0, 0]]):
        report = physical_consistency(cloud(np.ones(len(points)), np.array(points, float)))
        assert report.consistent and not report.solid
        assert "without extent" in str(report)
    assert physical_consistency({"M1": 0.0}).consistent
    assert not physical_consistency({"M1": 0.0, "MX1": 1.0}).consistent


def test_grouped_parameters_are_not_bodies() -> None:
    assert not physical_consistency(grouped(armdyn.load("panda"))).consistent


def test_nothing_to_test() -> None:
    with pytest.raises(ShapeError, match="M1"):
        physical_consistency({"Fv1": 1.0})
