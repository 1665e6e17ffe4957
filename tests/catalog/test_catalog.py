"""Every file of the catalog: it loads, says where it comes from, is possible, and survives a round trip."""

from __future__ import annotations

import tomllib
from typing import Any

import numpy as np
import pytest

from armdyn import catalog
from armdyn.formats import read, toml
from armdyn.robot import Robot
from armdyn.robot.scalars import scalars

NAMES = (
    "bricard", "cartesian2", "delta", "five_bar", "palletiser", "panda", "parallelogram", "pendulum", "planar2r",
    "planar3r", "puma560", "rx90", "scara5", "stewart", "three_link", "ur5",
)  # fmt: skip
POINT_MASSES = {("cartesian2", "link1"), ("cartesian2", "link2"), ("scara5", "carriage"), ("scara5", "spindle")}
"""Bodies whose source gives a mass and nothing else; their files say so."""
MASSLESS = {
    ("puma560", "trunk"),
    *(("delta", f"knee{k}") for k in (1, 2, 3)),
    *(("stewart", f"cross{k}") for k in range(1, 7)),
    *(("delta", f"carriage_{axis}") for axis in "xy"),
    *(("stewart", body) for body in ("carriage_x", "carriage_y", "carriage_z", "gimbal_yaw", "gimbal_pitch")),
}


def test_the_catalog_is_complete() -> None:
    assert tuple(catalog.names()) == NAMES


@pytest.fixture(params=NAMES)
def robot(request: pytest.FixtureRequest) -> Robot:
    return read(request.param)


def test_the_file_names_itself_its_source_and_its_choices(robot: Robot) -> None:
    assert robot.name in NAMES
    assert len(robot.source) > 20
    assert robot.notes


def test_every_parameter_is_used(robot: Robot) -> None:
    text = catalog.path(robot.name).read_text(encoding="utf-8")
    record = tomllib.loads(text)
    rest = str({key: value for key, value in record.items() if key not in ("notes", "source", "name", "parameters")})
    rest += str([value for value in record["parameters"].values() if isinstance(value, str)])
    words = set("".join(c if c.isalnum() or c == "_" else " " for c in rest).split())
    assert set(record["parameters"]) <= words


def numbers(robot: Robot) -> np.ndarray:
    entries = [link.placement.array().ravel() for link in robot.opened.links]
    entries += [np.array([*link.inertia.parameters(), link.offset], float) for link in robot.opened.links]
    entries += [np.array([float(x) for x in robot.gravity]), robot.opened.frame("tool").pose.array().ravel()]
    return np.concatenate(entries).astype(float)


def values(part: Any) -> list[float]:
    """The numbers of a part, in the order of its fields; a missing part has none."""
    return [] if part is None else [float(x) for x in scalars(part) if x is not None]


def test_round_trip_keeps_every_number(robot: Robot) -> None:
    again = toml.loads(toml.dumps(robot))
    assert np.abs(numbers(again) - numbers(robot)).max() <= 1e-15
    for old, new in zip(robot.tree, again.tree, strict=True):
        for part in ("rotor", "friction", "limits"):
            assert values(getattr(new, part)) == pytest.approx(values(getattr(old, part)), rel=1e-15, abs=0)
    assert again.loops == robot.loops
    assert dict(again.parameters) == pytest.approx(dict(robot.parameters), rel=1e-15, abs=0)
    assert (again.source, again.notes) == (robot.source, robot.notes)


def test_new_values_of_parameters_reach_the_links(robot: Robot) -> None:
    doubled = robot.with_parameters(g=2 * robot.parameters["g"])
    assert np.allclose(doubled.gravity.array().astype(float), 2 * robot.gravity.array().astype(float))


def test_every_body_is_possible(robot: Robot) -> None:
    """Mass not negative, covariance of the mass positive semidefinite: tensor and triangle inequality follow."""
    for joint in robot.tree:
        central = joint.body.inertia.about_com()
        tensor = central.tensor.array().astype(float)
        covariance = np.trace(tensor) / 2 * np.eye(3) - tensor
        least = np.linalg.eigvalsh(covariance).min()
        key = (robot.name, joint.body.name)
        assert (float(central.mass) == 0) == (key in MASSLESS)
        if key in POINT_MASSES:
            assert not tensor.any()
        else:
            assert float(central.mass) >= 0
            assert least > 0 or (key in MASSLESS and not tensor.any()), f"{key}: {least}"


def test_limits_are_in_order(robot: Robot) -> None:
    for joint in robot.joints:
        if joint.limits is not None:
            assert joint.limits.lower < joint.limits.upper
            assert joint.limits.torque > 0
