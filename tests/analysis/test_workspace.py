"""Maps over the workspace: each quantity by another way, grids that are where they say, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from analysis.arms import Array, compiled, states
from armdyn.analysis import (
    isotropic_acceleration,
    joint_inertia,
    payload_capability,
    workspace_map,
    workspace_samples,
)
from armdyn.errors import NotApplicable
from support import pinocchio_model as engine

STILL = {"panda": None, "puma560": None, "planar3r": [120.0, 60.0, 15.0], "random 6": 400.0}


@pytest.mark.parametrize("name", STILL)
@pytest.mark.parametrize("com", [(0.0, 0.0, 0.0), (0.05, -0.1, 0.2)])
def test_largest_payload_brings_one_joint_to_its_limit(name: str, com: tuple[float, float, float]) -> None:
    """The arm with that very load, as another robot, by Pinocchio: one torque at its limit, none beyond."""
    robot = compiled(name).robot.without("rotors", "friction")
    dyn, high = armdyn.compile(robot), STILL[name]
    limits = np.array([j.limits.torque for j in robot.joints]) if high is None else np.broadcast_to(high, (robot.n,))
    checked = 0
    for q in states(name)[0]:
        mass = float(payload_capability(dyn, q, tau_max=high, com=com))
        own = np.abs(engine.inverse_dynamics(robot, q, 0 * q, 0 * q)) / limits
        if np.isnan(mass):
            assert own.max() > 1
            continue
        loaded = engine.inverse_dynamics(robot.with_payload(mass, com), q, 0 * q, 0 * q)
        assert (np.abs(loaded) / limits).max() == pytest.approx(1, rel=1e-9)
        checked += 1
    assert checked


def test_payload_between_two_limits() -> None:
    """Limits that are not symmetric, by trying masses."""
    dyn = compiled("planar3r")
    low, high = np.array([-20.0, -60.0, -3.0]), np.array([150.0, 25.0, 40.0])
    q = np.random.default_rng(4).uniform(-np.pi, np.pi, (60, 3))
    most = payload_capability(dyn, q, tau_max=high, tau_min=low)
    weight = {m: armdyn.compile(dyn.robot.with_payload(m)).gravity(q) for m in (0.5, 2.0, 5.0)}
    for mass, tau in weight.items():
        held: Any = ((tau >= low) & (tau <= high)).all(axis=-1)
        alone = ((dyn.gravity(q) >= low) & (dyn.gravity(q) <= high)).all(axis=-1)
        np.testing.assert_array_equal(alone, ~np.isnan(most))
        np.testing.assert_array_equal(held[alone], (most >= mass)[alone])
        assert held[alone].any() and not held[alone].all()


def test_payload_of_special_positions() -> None:
    dyn = compiled("planar3r")
    up = payload_capability(dyn, [np.pi / 2, 0.0, 0.0], tau_max=50.0)
    assert np.isinf(up)  # straight up no joint feels it
    assert np.isnan(payload_capability(dyn, [0.0, 0.0, 0.0], tau_max=5.0))
    # Stretched out: m g a over all joints, by hand.
    bars = [(6.0, 0.25), (4.5, 0.7), (2.0, 1.05)]
    own = 9.81 * sum(m * x for m, x in bars)
    assert payload_capability(dyn, [0.0, 0.0, 0.0], tau_max=[100.0, 1e4, 1e4]) == pytest.approx(
        (100.0 - own) / (9.81 * 1.2)
    )


@pytest.mark.parametrize("name", ["panda", "puma560"])
def test_gravity_and_inertia_against_pinocchio(name: str) -> None:
    robot = compiled(name).robot.without("rotors", "friction")
    dyn = armdyn.compile(robot)
    gravity, inertia = (workspace_map(dyn, quantity, counts=(3, 2)) for quantity in ("gravity", "inertia"))
    assert gravity.values.shape == (3, 2, robot.n) and set(inertia.label_units) == {"kg m²"}
    for i in np.ndindex(3, 2):
        q = gravity.q[i]
        np.testing.assert_allclose(
            gravity.values[i], engine.inverse_dynamics(robot, q, 0 * q, 0 * q), rtol=1e-9, atol=1e-9
        )
        np.testing.assert_allclose(inertia.values[i], np.diag(engine.mass_matrix(robot, q)), rtol=1e-9)
    np.testing.assert_allclose(joint_inertia(dyn, gravity.q), inertia.values)


def test_isotropic_acceleration_holds_in_every_direction() -> None:
    """Torques for that acceleration in any direction exist within the limits, by a linear program; and no more."""
    from scipy.optimize import linprog

    dyn = compiled("panda")
    strongest = np.array([j.limits.torque for j in dyn.robot.joints])
    q = states("panda")[0][0]
    r = float(isotropic_acceleration(dyn, q))
    JMi = dyn.jacobian(q)[:3] @ np.linalg.inv(dyn.mass_matrix(q))
    bounds = list(zip(-strongest, strongest, strict=True))

    def possible(x: Array) -> bool:
        return bool(linprog(np.zeros(7), A_eq=JMi, b_eq=x + JMi @ dyn.gravity(q), bounds=bounds).status == 0)

    turns = np.random.default_rng(0).normal(size=(40, 3))
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
    assert r > 1 and all(possible(0.999 * r * d) for d in turns)
    from armdyn.analysis import acceleration_polytope

    d, h = acceleration_polytope(dyn, q).faces()
    assert not possible(1.001 * r * d[h.argmin()])


@pytest.mark.parametrize(("name", "over"), [("planar2r", "xy"), ("planar3r", "xy"), ("puma560", "xz"), ("panda", "yz")])
def test_cartesian_grids_are_where_they_say(name: str, over: str) -> None:
    dyn = compiled(name)
    found = workspace_map(dyn, "manipulability", tuple(over), counts=(7, 6))
    assert 5 < found.reached.sum() <= 42
    assert np.isnan(found.values[~found.reached]).all() and np.isfinite(found.values[found.reached]).all()
    grid = np.stack(np.meshgrid(*found.axes, indexing="ij"), axis=-1)
    at = dyn.pose(np.where(found.reached[..., None], found.q, 0.0))[..., :3, 3]
    index = ["xyz".index(name) for name in over]
    np.testing.assert_allclose(at[found.reached][:, index], grid[found.reached], atol=1e-8)
    assert any("m" in note for note in found.notes)


def test_joint_grids_and_samples() -> None:
    dyn = compiled("planar2r")
    found = workspace_map(dyn, "manipulability", ("shoulder", "elbow"), spans=((0, 1), (-2, 2)), counts=(3, 41))
    # sqrt(det J J^T) = a1 a2 |sin q2| of the two-link arm, by hand
    np.testing.assert_allclose(
        found.values[..., 0], np.broadcast_to(np.abs(np.sin(found.axes[1])), (3, 41)), atol=1e-12
    )
    value, q, position = found.extreme()
    assert value == pytest.approx(np.abs(np.sin(found.axes[1])).max())
    np.testing.assert_allclose(position, dyn.pose(q)[:3, 3])
    samples = workspace_samples(compiled("puma560"), "payload", 300, seed=1)
    low, high = (
        np.array([getattr(j.limits, side) for j in compiled("puma560").robot.joints]) for side in ("lower", "upper")
    )
    assert samples.q.shape == (300, 6) and samples.axes == ()
    assert ((samples.q >= low) & (samples.q <= high)).all()
    np.testing.assert_array_equal(samples.values[:, 0], payload_capability(compiled("puma560"), samples.q))


def test_files(tmp_path: Path) -> None:
    found = workspace_map(compiled("planar2r"), "gravity", counts=(4, 3))
    csv = found.save(tmp_path / "map.csv")
    head, *rows = csv.read_text().splitlines()
    assert head == "q_shoulder,q_elbow,x,y,z,gravity_shoulder,gravity_elbow,reached"
    np.testing.assert_allclose([float(x) for x in rows[5].split(",")[5:7]], found.values.reshape(-1, 2)[5])
    with np.load(found.save(tmp_path / "map.npz")) as stored:
        np.testing.assert_array_equal(stored["values"], found.values)
        np.testing.assert_array_equal(stored["axis_elbow"], found.axes[1])
        assert stored["units"].tolist() == ["N m", "N m"]
    with pytest.raises(armdyn.ArmdynError, match="unknown ending"):
        found.save(tmp_path / "map.xls")


def test_wrong_input() -> None:
    dyn = compiled("planar2r")
    with pytest.raises(armdyn.ArmdynError, match="unknown quantity 'payloud'.*Did you mean 'payload'"):
        workspace_map(dyn, "payloud")
    with pytest.raises(armdyn.ArmdynError, match="two joints, or two of x y z"):
        workspace_map(dyn, "gravity", ("x", "elbow"))
    with pytest.raises(armdyn.ArmdynError, match="unknown joint 'wrist'"):
        workspace_map(dyn, "gravity", ("wrist", "elbow"))
    with pytest.raises(armdyn.ArmdynError, match="unknown option"):
        workspace_map(dyn, "gravity", tau_max=3.0)
    with pytest.raises(NotApplicable, match="no torque limit"):
        workspace_map(dyn, "payload")
    with pytest.raises(armdyn.ArmdynError, match="has one joint"):
        workspace_map(armdyn.load("pendulum"), "gravity")
