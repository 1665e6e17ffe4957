"""Random MJCF scenes of several files against MuJoCo: free and ball joints, springs, counterbalances, included and
attached files, joints that follow others, tendons. Compared are inverse and forward dynamics, mass matrix, derivatives,
centre of mass and centroidal momentum.

ARMDYN_FUZZ sets the number of scenes (default 60); scene i stays the same.

    ARMDYN_FUZZ=5000 pytest tests/formats/test_scenes.py
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from armdyn.formats import mjcf
from armdyn.mechanics import articulated_body, centroid, closed_chain, composite_body, derivatives, newton_euler
from armdyn.robot import Robot
from armdyn.robot.engines import forces_from_mujoco, forces_to_mujoco, from_mujoco, to_mujoco

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is the independent engine of this test")

from support.mjcf_writer import Writer  # noqa: E402  (after the check that MuJoCo is there)

COUNT = int(os.environ.get("ARMDYN_FUZZ", "60"))
ACTING = {"armature": "armature", "damping": "damping", "stiffness": "stiffness"}
"""Attributes by which a tendon acts, as the reader's note names them."""
STEP = 0.004
"""Of differences, rad or m: STEP^6 / 140 of the seventh derivative is lost, and rounding divided by STEP."""
TOLERANCE, SINGULAR = 1e-10, 1e12
"""Of all comparisons; and the condition number of M beyond which both engines refuse forward dynamics."""
MOST_SLOPES = 12
"""Velocities up to which derivatives are compared: they take a dozen calls each."""


class Scene(Writer):
    """Writes the files of one random scene into a folder."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.hinges: list[str] = []
        self.followers: dict[str, tuple[str, float, float]] = {}
        """Joint -> the joint that it follows, and a0, a1 of q1 - r1 = a0 + a1 (q2 - r2)."""
        self.named: list[str] = []
        """What the reader must name as not read."""

    def write(self, folder: Path) -> Path:
        world = "".join(self.body(0) for _ in range(self.random.randint(1, 2)))
        if self.random.random() < 0.5:
            world += self.floating()
        asset = ""
        if self.random.random() < 0.3:
            (folder / "part.xml").write_text(self.part(), encoding="utf-8")
            asset = '<asset><model name="part" file="part.xml"/></asset>'
            part = self.maybe(' body="first"')
            world += self.framed(f'<attach model="part"{part} prefix="p_"/>', 0.5)
        if self.random.random() < 0.3:
            (folder / "more.xml").write_text(f"<mujocoinclude>{self.body(2)}</mujocoinclude>", encoding="utf-8")
            world += '<include file="more.xml"/>'
        option = f'<option gravity="{self.numbers(3, -10, 10)}"/>'
        head = f'<compiler angle="{self.random.choice(("radian", "degree"))}"/>{option}{self.defaults()}{asset}'
        after = f"{self.actuators()}{self.equality()}{self.tendon()}"
        path = folder / "scene.xml"
        path.write_text(f"<mujoco>{head}<worldbody>{world}</worldbody>{after}</mujoco>", encoding="utf-8")
        return path

    def body(self, depth: int) -> str:
        text = super().body(depth)
        lifted = self.maybe(f' gravcomp="{self.numbers(1, 0, 1)}"', 0.3)
        return text.replace("<body ", f"<body{lifted} ", 1) if text.startswith("<body ") else text

    def joint(self) -> str:
        text = super().joint()
        name = self.joints[-1]
        if self.random.random() < 0.15:
            place = self.maybe(f' pos="{self.numbers(3)}"')
            drive = f'armature="0" frictionloss="0" damping="{self.numbers(1, 0, 1)}"'
            return f'<joint name="{name}" type="ball"{place} {drive}/>'
        self.hinges.append(name)
        spring = f'stiffness="{self.numbers(1, 0, 3)}" springref="{self.numbers(1)}"'
        return text.replace("/>", f" {self.maybe(spring, 0.3)}/>")

    def actuators(self) -> str:
        every, self.joints = self.joints, self.hinges
        text = super().actuators()
        self.joints = every
        return text

    def floating(self) -> str:
        bare = '<joint name="f" type="free" damping="0" armature="0" frictionloss="0"/>'
        joint = self.random.choice(('<freejoint name="f"/>', bare))
        inside = self.framed(self.body(2), 0.5)
        return f'<body name="float" pos="{self.numbers(3)}"{self.orientation()}>{joint}{self.inertial()}{inside}</body>'

    def part(self) -> str:
        """A model of its own: other units, other defaults."""
        inner = f'<body name="second"{self.pose()}><joint name="m" axis="0 1 1"/>{self.geom_alone()}</body>'
        joint = f'<joint name="l" type="hinge" axis="{self.numbers(2)} 0.6" ref="{self.numbers(1)}"/>'
        motor = '<actuator><motor joint="m" armature="0.3" gear="2"/></actuator>'
        head = f'<compiler angle="{self.random.choice(("radian", "degree"))}" eulerseq="zyx"/>'
        head += f"<default><joint {self.drive()}/><geom{self.orientation()} density='250'/></default>"
        world = f'<body name="first"{self.pose()}>{joint}{self.geom_alone()}{inner}</body>'
        return f'<mujoco model="part">{head}<worldbody>{world}</worldbody>{motor}</mujoco>'

    def geom_alone(self) -> str:
        return f'<geom type="box" size="{self.numbers(3, 0.1, 0.4)}"{self.pose()}/>'

    def equality(self) -> str:
        if len(self.hinges) < 2 or self.copied or self.random.random() < 0.6:
            return ""
        first, second = self.random.sample(self.hinges, 2)
        a0, a1 = (float(self.numbers(1)) for _ in range(2))
        self.followers[first] = second, a0, a1
        return f'<equality><joint joint1="{first}" joint2="{second}" polycoef="{a0} {a1} 0 0 0"/></equality>'

    def tendon(self) -> str:
        if not self.hinges or self.copied or self.random.random() < 0.7:
            return ""
        key = self.random.choice(("", *ACTING))
        if key:
            self.named.append(ACTING[key])
        acting = f' {key}="{self.numbers(1, 0.1, 1)}"' if key else ""
        wraps = "".join(f'<joint joint="{name}" coef="{self.numbers(1)}"/>' for name in self.hinges[:2])
        return f'<tendon><fixed name="t"{acting}>{wraps}</fixed></tendon>'


def full_motion(model: Any, robot: Robot, followers: dict[str, Any], q: Any, qd: Any, qdd: Any) -> Any:
    """qpos, qvel, qacc of MuJoCo's tree, and G of qvel = G qd, from the laws that the scene states."""
    motion = to_mujoco(robot, q, qd, qdd)
    full = [np.array(model.qpos0), np.zeros(model.nv), np.zeros(model.nv)]
    G = np.zeros((model.nv, robot.n))
    at = 0
    for k, joint in enumerate(robot.joints):
        theirs = model.joint(joint.compound.name if joint.compound else joint.name)
        part = [other.name for other in robot.joints if other.compound == joint.compound].index(joint.name) * bool(
            joint.compound
        )
        if part == 0:
            size = len(theirs.qpos0)
            full[0][theirs.qposadr[0] : theirs.qposadr[0] + size] = motion[0][at : at + size]
            at += size
        G[theirs.dofadr[0] + part, k] = 1
    for follower, (leader, a0, a1) in followers.items():
        own, other = model.joint(follower), model.joint(leader)
        if follower not in [joint.name for joint in robot.joints]:
            full[0][own.qposadr[0]] = own.qpos0[0] + a0 + a1 * (full[0][other.qposadr[0]] - other.qpos0[0])
            G[own.dofadr[0]] = a1 * G[other.dofadr[0]]
        else:  # the reader lets the second follow the first
            full[0][other.qposadr[0]] = other.qpos0[0] + (full[0][own.qposadr[0]] - own.qpos0[0] - a0) / a1
            G[other.dofadr[0]] = G[own.dofadr[0]] / a1
    full[1], full[2] = G @ motion[1], G @ motion[2]
    return full, G


def without_dry_friction(robot: Robot) -> Robot:
    """MuJoCo's dry friction is one of the constraints that are switched off here."""
    viscous = [
        replace(joint, friction=replace(joint.friction, coulomb=0)) if joint.friction else joint for joint in robot.tree
    ]
    return replace(robot, tree=tuple(viscous))


class Engine:
    """MuJoCo's model of a scene at motions of our robot: what moves alone, in our velocities and forces."""

    def __init__(self, model: Any, robot: Robot, followers: dict[str, Any]) -> None:
        off = mujoco.mjtDisableBit
        model.opt.disableflags |= off.mjDSBL_CONSTRAINT | off.mjDSBL_ACTUATION
        self.model, self.data, self.robot, self.followers = model, mujoco.MjData(model), robot, followers

    def at(self, q: Any, qd: Any, qdd: Any) -> Any:
        motion, G = full_motion(self.model, self.robot, self.followers, q, qd, qdd)
        self.data.qpos[:], self.data.qvel[:], self.data.qacc[:] = motion
        return G

    def torques(self, q: Any, qd: Any, qdd: Any) -> Any:
        G = self.at(q, qd, qdd)
        mujoco.mj_inverse(self.model, self.data)
        return forces_from_mujoco(self.robot, q, G.T @ self.data.qfrc_inverse)

    def mass_matrix(self, q: Any) -> Any:
        """By the torques of unit accelerations, at rest, where the axes of free joints do not turn."""
        zero = np.zeros(self.robot.n)
        rest = self.torques(q, zero, zero)
        return np.stack([self.torques(q, zero, unit) - rest for unit in np.eye(self.robot.n)], axis=1)

    def accelerations(self, q: Any, qd: Any, tau: Any) -> Any:
        """Of a scene in which no joint follows another."""
        self.at(q, qd, 0 * qd)
        self.data.qfrc_applied[:] = forces_to_mujoco(self.robot, q, tau)
        mujoco.mj_forward(self.model, self.data)
        return from_mujoco(self.robot, self.data.qpos, self.data.qvel, self.data.qacc)[2]

    def slopes(self, q: Any, qd: Any, qdd: Any) -> Any:
        """Derivatives of the torques: differences of the sixth order by q; torques are quadratic in qd."""
        by_q, by_qd = np.zeros((2, self.robot.n, self.robot.n))
        for k, unit in enumerate(np.eye(self.robot.n)):
            for reach, weight in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60)):
                ahead, behind = (self.robot.integrate(q, sign * reach * STEP * unit) for sign in (1, -1))
                by_q[:, k] += weight / STEP * (self.torques(ahead, qd, qdd) - self.torques(behind, qd, qdd))
            by_qd[:, k] = (self.torques(q, qd + unit, qdd) - self.torques(q, qd - unit, qdd)) / 2
        return by_q, by_qd

    def centroid(self, q: Any, qd: Any) -> Any:
        """Centre of mass, and momentum about it, of the bodies that move."""
        self.at(q, qd, 0 * qd)
        mujoco.mj_forward(self.model, self.data)
        mujoco.mj_subtreeVel(self.model, self.data)
        model, data = self.model, self.data
        welded = model.body_weldid == 0
        roots = [k for k in range(1, model.nbody) if not welded[k] and welded[model.body_parentid[k]]]
        mass, com, v = model.body_subtreemass[roots][:, None], data.subtree_com[roots], data.subtree_linvel[roots]
        center = (mass * com).sum(axis=0) / mass.sum()
        turning = (data.subtree_angmom[roots] + np.cross(com - center, mass * v)).sum(axis=0)
        return center, np.concatenate([(mass * v).sum(axis=0), turning])


@pytest.mark.parametrize("seed", range(COUNT))
def test_a_scene_against_mujoco(seed: int, tmp_path: Path) -> None:
    scene = Scene(seed)
    path = scene.write(tmp_path)
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        pytest.skip("MuJoCo refuses this scene")
    robot = mjcf.read(path)
    notes = " ".join(robot.notes)
    for named in scene.named:
        assert named in notes
    if scene.named or not robot.n:
        return
    assert not robot.notes
    engine, bare = Engine(model, robot, scene.followers), without_dry_friction(robot)
    rng = np.random.default_rng(seed)
    for _ in range(2):
        q = robot.integrate(robot.neutral, rng.uniform(-1, 1, robot.n))
        qd, qdd, tau = rng.uniform(-1, 1, (3, robot.n))
        q_all = closed_chain.all_positions(robot, q)
        expected = engine.torques(q, qd, qdd)
        if robot.constrained:
            agree(closed_chain.inverse_dynamics(bare, q_all, qd, qdd), expected)
        else:
            agree(newton_euler.inverse_dynamics(bare, q, qd, qdd), expected)
    M = engine.mass_matrix(q)
    condition = float(np.linalg.cond(M))
    lost = max(TOLERANCE, 1e-16 * condition)  # digits that no method of forward dynamics has
    center, momentum = engine.centroid(q, qd)
    agree(centroid.center_of_mass(robot.opened, q_all), center)
    if robot.constrained:
        agree(closed_chain.mass_matrix(robot, q_all), M)
        if condition < SINGULAR:
            expected = np.linalg.solve(M, tau - engine.torques(q, qd, 0 * qd))
            agree(closed_chain.forward_dynamics(bare, q_all, qd, tau), expected, lost)
        rates = closed_chain.velocities(robot, q_all, qd)
        agree(centroid.centroidal_momentum(robot.opened, q_all, rates), momentum)
        return
    agree(composite_body.mass_matrix(robot, q), M)
    agree(centroid.centroidal_momentum(robot, q, qd), momentum)
    if condition < SINGULAR:
        agree(articulated_body.forward_dynamics(bare, q, qd, tau), engine.accelerations(q, qd, tau), lost)
    if robot.n <= MOST_SLOPES:
        found = derivatives.inverse_dynamics_derivatives(bare, q, qd, qdd)
        rounding = 4e-16 * np.abs(engine.torques(q, qd, qdd)).max() / STEP  # of the differences
        for slope, expected in zip(found, engine.slopes(q, qd, qdd), strict=True):
            agree(slope, expected, TOLERANCE + rounding)


def agree(found: Any, expected: Any, tolerance: float = TOLERANCE) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * (1 + np.abs(expected).max()))
