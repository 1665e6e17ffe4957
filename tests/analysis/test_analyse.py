"""The analysis of an arm at a configuration."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from analysis.arms import compiled, foreign, states
from armdyn.analysis import analyse, isotropic_acceleration, payload_capability
from armdyn.tables import render


def text_of(name: str, q: object, **options: object) -> str:
    found = analyse(compiled(name), q, **options)  # type: ignore[arg-type]
    return "\n".join(map(render, found.sections()))


def test_numbers_of_a_summary_by_pinocchio() -> None:
    q = states("panda")[0][0]
    found = analyse(compiled("panda"), q)
    M, _, g, J, _ = foreign("panda", q, 0 * q)
    np.testing.assert_allclose(found.singular_values["linear"], np.linalg.svd(J[:3], compute_uv=False), rtol=1e-9)
    np.testing.assert_allclose(found.singular_values["angular"], np.linalg.svd(J[3:], compute_uv=False), rtol=1e-9)
    # A unit push along one axis, other axes free: acceleration J M^-1 J^T, mass its reciprocal.
    np.testing.assert_allclose(found.effective_mass, 1 / np.diag(J @ np.linalg.inv(M) @ J.T), rtol=1e-9)
    np.testing.assert_allclose(found.gravity, g, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.inertia, np.diag(M), rtol=1e-9)
    assert found.payload == pytest.approx(float(payload_capability(compiled("panda"), q)))
    assert found.acceleration == pytest.approx(float(isotropic_acceleration(compiled("panda"), q)))
    assert found.moving == ("x", "y", "z", "rx", "ry", "rz")


def test_singular_and_weak_positions_are_told() -> None:
    found = analyse(compiled("planar2r"), [0.0, 0.0], tau_max=100.0)
    assert [warning.split(":")[0] for warning in found.warnings] == [
        "Singular configuration",
        "There is no model of operational space for x y",
        "The arm cannot hold its own weight",
    ]
    assert found.moving == ("x", "y", "rz") and np.isinf(found.effective_mass[0])
    assert found.payload is not None and np.isnan(found.payload)
    near = analyse(compiled("planar2r"), [0.0, 0.02])
    assert near.warnings[0].startswith("Close to a singular configuration")
    assert near.warnings[-1].startswith("No torque limits are known")
    assert not analyse(compiled("panda"), states("panda")[0][0] * [1, 1, 1, -1, 1, 1, 1]).warnings
    assert "Joints out of their range: panda_joint4." in analyse(compiled("panda"), np.full(7, 0.5)).warnings


def test_tables_read_well() -> None:
    singular = text_of("planar2r", [0.0, 0.0])
    assert "x y 2.236, 0 0 inf" in " ".join(singular.split())  # rows, singular values, measure, condition number
    regular = text_of("planar2r", [0.3, 1.0])
    assert "inf" in singular and "inf" not in regular
    assert "nan" not in singular
    with pytest.raises(armdyn.ArmdynError, match="one position"):
        analyse(compiled("planar2r"), [[0.0, 1.0]])


def test_every_robot_of_the_catalog_has_a_summary() -> None:
    for name in ("pendulum", "cartesian2", "three_link", "rx90", "scara5"):
        assert analyse(compiled(name)).sections()
