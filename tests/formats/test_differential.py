"""Random MJCF and URDF files with all supported elements, read by armdyn and by MuJoCo or Pinocchio.

ARMDYN_FUZZ sets the number of files of each format (default 150); file i stays the same.

    ARMDYN_FUZZ=5000 pytest tests/formats/test_differential.py
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from armdyn.errors import PhysicsError
from armdyn.formats import mjcf, urdf
from armdyn.mechanics import articulated_body, centroid, closed_chain, composite_body, newton_euler
from armdyn.robot import Robot

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is the independent engine of this test")

from support.mjcf_writer import Writer  # noqa: E402  (after the check that MuJoCo is there)
from support.mujoco_model import assert_same_dynamics  # noqa: E402

COUNT = int(os.environ.get("ARMDYN_FUZZ", "150"))
SINGULAR = 1e12
"""Condition number of M beyond which there is no forward dynamics."""


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


Laws = dict[str, tuple[str, float, float]]
"""Mimic joint -> the joint that it follows, multiplier, offset."""


def urdf_text(seed: int) -> tuple[str, Laws]:
    """A random URDF file: all joint types, joints that follow others, missing and given parts."""
    draw = Writer(seed)
    count = draw.random.randint(2, 12)
    parts, laws = [], {}
    single: list[str] = []
    for i in range(count):
        tensor = ["ixx", "iyy", "izz"]
        moments = " ".join(f'{key}="{draw.numbers(1, 1, 1.9)}"' for key in tensor)
        products = " ".join(f'{key}="{draw.numbers(1, -0.02, 0.02)}"' for key in ("ixy", "ixz", "iyz"))
        origin = draw.maybe(f'<origin xyz="{draw.numbers(3)}" rpy="{draw.numbers(3, -3, 3)}"/>', 0.8)
        mass = f'<inertial>{origin}<mass value="{draw.numbers(1, 0.5, 3)}"/><inertia {moments} {products}/></inertial>'
        parts.append(f'<link name="l{i}">{draw.maybe(mass, 0.9) if 0 < i < count - 1 else mass}</link>')
    for i in range(1, count):
        kind = draw.random.choice(("revolute", "continuous", "prismatic", "fixed") * 3 + ("floating", "planar"))
        axis = draw.maybe(f'<axis xyz="{draw.numbers(2)} 0.7"/>', 0.8)
        axis = '<axis xyz="0 0 1"/>' if kind == "planar" else axis  # Pinocchio knows no other normal
        origin = draw.maybe(f'<origin xyz="{draw.numbers(3)}" rpy="{draw.numbers(3, -3, 3)}"/>', 0.9)
        limit = '<limit lower="-1" upper="1" effort="10" velocity="3"/>'
        ends = f'<parent link="l{draw.random.randint(0, i - 1)}"/><child link="l{i}"/>'
        mimic = ""
        if kind in ("revolute", "continuous", "prismatic"):
            if single and draw.random.random() < 0.2:
                law = draw.random.choice(single), float(draw.numbers(1)), float(draw.numbers(1))
                mimic = f'<mimic joint="{law[0]}" multiplier="{law[1]}" offset="{law[2]}"/>'
                laws[f"j{i}"] = law
            else:
                single.append(f"j{i}")
        parts.append(f'<joint name="j{i}" type="{kind}">{ends}{origin}{axis}{limit}{mimic}</joint>')
    draw.random.shuffle(parts)
    return f'<robot name="r">{"".join(parts)}</robot>', laws


class Tree:
    """Pinocchio's model of a text, whose joints do not follow others: our motions in its conventions."""

    def __init__(self, text: str, robot: Robot, laws: Laws) -> None:
        self.pin = pytest.importorskip("pinocchio", reason="Pinocchio is the independent engine of this test")
        self.model = self.pin.buildModelFromXML(text)
        self.data, self.robot = self.model.createData(), robot
        names, every = [joint.name for joint in robot.joints], [joint.name for joint in robot.opened.joints]
        self.G, self.constant = np.zeros((len(every), robot.n)), np.zeros(len(every))
        for k, name in enumerate(every):
            leader, factor, self.constant[k] = laws.get(name, (name, 1.0, 0.0))
            self.G[k, names.index(leader)] = factor

    def at(self, q: Any, qd: Any, qdd: Any) -> tuple[Any, Any, Any, Any]:
        """Its q, v, a, and T with v = T qd."""
        tree, model = self.robot.opened, self.model
        x, T, drift = self.pin.neutral(model), np.zeros((model.nv, tree.n)), np.zeros(model.nv)
        lines = self.robot.difference(self.robot.neutral, q)  # of free joints not the coordinates, but not used either
        position, rate = self.G @ lines + self.constant, self.G @ qd
        free = {span.joint: given for span, given in zip(tree.compounds, self.robot.compounds, strict=True)}
        for k, joint in enumerate(tree.joints):
            name, _, part = joint.name.partition(" ")
            theirs = model.joints[model.getJointId(name)]
            i, v = theirs.idx_q, theirs.idx_v
            if k in free:
                p = q[free[k].positions]
                x[i : i + 7] = [*p[:3], *p[4:], p[3]]
                T[v : v + 6, k : k + 6] = np.eye(6)
            elif part == "x" and joint.compound is None:  # of a plane: velocities in axes that turn with it
                c, s, w = np.cos(position[k + 2]), np.sin(position[k + 2]), rate[k + 2]
                x[i : i + 4] = [*position[k : k + 2], c, s]
                R = np.array([[c, s], [-s, c]])
                T[v : v + 2, k : k + 2], T[v + 2, k + 2] = R, 1
                drift[v : v + 2] = w * np.array([[-s, c], [-c, -s]]) @ rate[k : k + 2]
            elif not part:
                x[i : i + theirs.nq] = [position[k]] if theirs.nq == 1 else [np.cos(position[k]), np.sin(position[k])]
                T[v, k] = 1
        T = T @ self.G
        return x, T @ qd, T @ qdd + drift, T


@pytest.mark.parametrize("seed", range(COUNT))
def test_urdf_against_pinocchio(seed: int) -> None:
    text, laws = urdf_text(seed)
    robot = urdf.loads(text)
    if not robot.n:
        pytest.skip("no joint moves")
    engine = Tree(text, robot, laws)
    pin, model, data = engine.pin, engine.model, engine.data
    rng = np.random.default_rng(seed)
    for _ in range(2):
        q, (qd, qdd, tau) = (
            robot.integrate(robot.neutral, rng.uniform(-1, 1, robot.n)),
            rng.uniform(-1, 1, (3, robot.n)),
        )
        x, v, a, T = engine.at(q, qd, qdd)
        torques = T.T @ pin.rnea(model, data, x, v, a)
        M = pin.crba(model, data, x)
        M = T.T @ (np.triu(M) + np.triu(M, 1).T) @ T
        q_all = closed_chain.all_positions(robot, q)
        if robot.constrained:
            agree(closed_chain.inverse_dynamics(robot, q_all, qd, qdd), torques)
            agree(closed_chain.mass_matrix(robot, q_all), M)
        else:
            agree(newton_euler.inverse_dynamics(robot, q, qd, qdd), torques)
            agree(composite_body.mass_matrix(robot, q), M)
    if not any(link.inertia.mass for link in robot.opened.links):
        with pytest.raises(PhysicsError, match="no centre of mass"):
            centroid.center_of_mass(robot.opened, q_all)
        return
    agree(centroid.center_of_mass(robot.opened, q_all), pin.centerOfMass(model, data, x))
    rates = closed_chain.velocities(robot, q_all, qd) if robot.constrained else qd
    momentum = pin.computeCentroidalMomentum(model, data, x, v).vector
    agree(centroid.centroidal_momentum(robot.opened, q_all, rates), momentum)
    condition = np.linalg.cond(M)
    if condition < SINGULAR:
        rest = T.T @ pin.rnea(model, data, x, v, engine.at(q, qd, 0 * qd)[2])
        expected, lost = np.linalg.solve(M, tau - rest), max(1e-10, 1e-16 * condition)
        if robot.constrained:
            agree(closed_chain.forward_dynamics(robot, q_all, qd, tau), expected, lost)
        else:
            agree(articulated_body.forward_dynamics(robot, q, qd, tau), expected, lost)


def agree(found: Any, expected: Any, tolerance: float = 1e-10) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * (1 + np.abs(expected).max()))
