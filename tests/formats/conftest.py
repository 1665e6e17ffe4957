"""Helpers of the format tests: poses of all frames, merged inertias, and Pinocchio as the independent engine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest

from armdyn.algebra import Pose
from armdyn.robot import Robot
from armdyn.robot.links import WORLD
from support.wheel import MISSING, wheel_files


def frame_poses(robot: Robot, q: Mapping[str, float]) -> dict[str, np.ndarray]:
    """4x4 pose in the world of every frame, for joint positions by name."""
    links = {WORLD: Pose.identity()}
    for link in robot.outward():
        links[link.index] = links[link.parent] @ link.pose(q[link.name])
    return {name: (links[frame.link] @ frame.pose).array() for name, frame in robot.frames.items()}


def body_inertias(robot: Robot, frame_of: Mapping[str, str]) -> dict[str, np.ndarray]:
    """The ten parameters of every moving link, in the frame of the body named for it."""
    found = {}
    for link in robot.links:
        pose = robot.frame(frame_of[link.name]).pose
        found[link.name] = np.array(link.inertia.seen_from(pose.inverse()).parameters(), dtype=float)
    return found


def random_positions(robot: Robot, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    return {joint.name: float(rng.uniform(-2.5, 2.5)) for joint in robot.joints}


class PinModel:
    """A model of Pinocchio, with positions by joint name."""

    def __init__(self, text: str) -> None:
        self.pin = pytest.importorskip("pinocchio", reason="Pinocchio is the independent engine of this test")
        self.model = self.pin.buildModelFromXML(text)
        self.names = list(self.model.names)[1:]

    def positions(self, q: Mapping[str, float]) -> np.ndarray:
        """Pinocchio's configuration: a continuous joint is (cos, sin)."""
        out = self.pin.neutral(self.model)
        for name, value in q.items():
            joint = self.model.joints[self.model.getJointId(name)]
            at = joint.idx_q
            out[at : at + joint.nq] = [value] if joint.nq == 1 else [math.cos(value), math.sin(value)]
        return out

    def velocities(self, qd: Mapping[str, float]) -> np.ndarray:
        out = np.zeros(self.model.nv)
        for name, value in qd.items():
            out[self.model.joints[self.model.getJointId(name)].idx_v] = value
        return out

    def frame_poses(self, q: Mapping[str, float]) -> dict[str, np.ndarray]:
        data = self.model.createData()
        self.pin.framesForwardKinematics(self.model, data, self.positions(q))
        bodies = [(i, f.name) for i, f in enumerate(self.model.frames) if f.type == self.pin.FrameType.BODY]
        return {name: data.oMf[i].homogeneous for i, name in bodies}

    def inertias(self) -> dict[str, np.ndarray]:
        """The ten parameters of every joint's bodies in its frame, in our order."""
        found = {}
        for name in self.names:
            inertia = self.model.inertias[self.model.getJointId(name)]
            m, c = inertia.mass, inertia.lever
            tensor = inertia.inertia + m * (c @ c * np.eye(3) - np.outer(c, c))
            found[name] = np.array([*tensor[np.triu_indices(3)], *(m * c), m])
        return found


class Helpers:
    """What the tests of this folder share."""

    PinModel = staticmethod(cache(PinModel))
    body_inertias = staticmethod(body_inertias)
    frame_poses = staticmethod(frame_poses)
    random_positions = staticmethod(random_positions)


@pytest.fixture(scope="session")
def helpers() -> type[Helpers]:
    return Helpers


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with the argument `wheel_file` runs once for each URDF file of the wheel."""
    if "wheel_file" not in metafunc.fixturenames:
        return
    files = wheel_files()
    missing = pytest.param(None, marks=pytest.mark.skip(reason=MISSING))
    metafunc.parametrize("wheel_file", files or [missing], ids=lambda path: path.stem if path else "no wheel")
