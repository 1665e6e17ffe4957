"""Random MJCF and URDF files with all supported elements, read by armdyn and by MuJoCo or Pinocchio.

ARMDYN_FUZZ sets the number of files of each format (default 150); file i stays the same.

    ARMDYN_FUZZ=5000 pytest tests/formats/test_differential.py
"""

from __future__ import annotations

import os

import numpy as np
import pytest

from armdyn.formats import mjcf, urdf
from armdyn.mechanics import composite_body, newton_euler

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is the independent engine of this test")

from support.mjcf_writer import Writer  # noqa: E402  (after the check that MuJoCo is there)
from support.mujoco_model import assert_same_dynamics, states  # noqa: E402

COUNT = int(os.environ.get("ARMDYN_FUZZ", "150"))


@pytest.mark.parametrize("seed", range(COUNT))
def test_mjcf_against_mujoco(seed: int) -> None:
    text = Writer(seed).text()
    try:
        model = mujoco.MjModel.from_xml_string(text)
    except ValueError:
        pytest.skip("MuJoCo refuses this text")
    robot = mjcf.loads(text)
    if model.nv:
        assert not robot.notes
        assert_same_dynamics(text, robot, 1e-9, 2)  # twenty bodies deep, with sizes up to 1e3: ten digits are not left


def urdf_text(seed: int) -> str:
    """A random URDF file: all joint types, missing and given parts."""
    draw = Writer(seed)
    count = draw.random.randint(2, 12)
    parts = []
    for i in range(count):
        tensor = ["ixx", "iyy", "izz"]
        moments = " ".join(f'{key}="{draw.numbers(1, 1, 1.9)}"' for key in tensor)
        products = " ".join(f'{key}="{draw.numbers(1, -0.02, 0.02)}"' for key in ("ixy", "ixz", "iyz"))
        origin = draw.maybe(f'<origin xyz="{draw.numbers(3)}" rpy="{draw.numbers(3, -3, 3)}"/>', 0.8)
        mass = f'<inertial>{origin}<mass value="{draw.numbers(1, 0.5, 3)}"/><inertia {moments} {products}/></inertial>'
        parts.append(f'<link name="l{i}">{draw.maybe(mass, 0.9) if 0 < i < count - 1 else mass}</link>')
    for i in range(1, count):
        kind = draw.random.choice(("revolute", "continuous", "prismatic", "fixed"))
        axis = draw.maybe(f'<axis xyz="{draw.numbers(2)} 0.7"/>', 0.8)
        origin = draw.maybe(f'<origin xyz="{draw.numbers(3)}" rpy="{draw.numbers(3, -3, 3)}"/>', 0.9)
        limit = '<limit lower="-1" upper="1" effort="10" velocity="3"/>'
        ends = f'<parent link="l{draw.random.randint(0, i - 1)}"/><child link="l{i}"/>'
        parts.append(f'<joint name="j{i}" type="{kind}">{ends}{origin}{axis}{limit}</joint>')
    draw.random.shuffle(parts)
    return f'<robot name="r">{"".join(parts)}</robot>'


@pytest.mark.parametrize("seed", range(COUNT))
def test_urdf_against_pinocchio(seed: int, helpers: type) -> None:
    text = urdf_text(seed)
    robot = urdf.loads(text)
    if not robot.n:
        pytest.skip("no joint moves")
    engine = helpers.PinModel(text)  # type: ignore[attr-defined]
    pin, data = engine.pin, engine.model.createData()
    names = [joint.name for joint in robot.joints]
    order = [engine.model.joints[engine.model.getJointId(name)].idx_v for name in names]
    for q, qd, qdd in states(robot.n, 2):
        at = engine.positions(dict(zip(names, q, strict=True)))
        rates = (engine.velocities(dict(zip(names, x, strict=True))) for x in (qd, qdd))
        expected = pin.rnea(engine.model, data, at, *rates)[order]
        scale = 1 + np.abs(expected).max()
        np.testing.assert_allclose(newton_euler.inverse_dynamics(robot, q, qd, qdd), expected, atol=1e-10 * scale)
        M = pin.crba(engine.model, data, at)
        M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(order, order)]
        np.testing.assert_allclose(composite_body.mass_matrix(robot, q), M, atol=1e-10 * (1 + np.abs(M).max()))
