"""An arm as a user's file and, written out a second time, in Pinocchio: the judge of what commands hand over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from armdyn.typing import Array
from support.pinocchio_model import pin

TOML = """
name = "walker"
[[joint]]
name = "turn"
d = 0.3
alpha = "pi/2"
mass = 6.0
com = [0.01, -0.1, 0.02]
inertia = [0.05, 0.001, 0, 0.03, 0.002, 0.05]
limits = {lower = -2.5, upper = 2.5, velocity = 2.0, acceleration = 6.0, torque = 60}
friction = {viscous = 1.5, coulomb = 2.0}
rotor = {ratio = 60, inertia = 2e-5}
[[joint]]
name = "shoulder"
a = 0.4
mass = 4.0
com = [-0.2, 0.01, 0.02]
inertia = [0.01, 0, 0.001, 0.06, 0, 0.06]
limits = {lower = -1.5, upper = 1.5, velocity = 2.0, acceleration = 6.0, torque = 80}
friction = {viscous = 1.0, coulomb = 3.0}
rotor = {ratio = 80, inertia = 2e-5}
[[joint]]
name = "elbow"
a = 0.3
mass = 2.0
com = [-0.15, 0, 0.01]
inertia = [0.003, 0, 0, 0.02, 0, 0.02]
limits = {lower = -2, upper = 2, velocity = 3.0, acceleration = 8.0, torque = 25}
friction = {viscous = 0.4, coulomb = 1.0}
rotor = {ratio = 60, inertia = 1e-5}
"""
LOWER, UPPER = np.array([[-2.5, -1.5, -2.0], [2.5, 1.5, 2.0]])
SPEED, ACCELERATION, TORQUE = np.array([[2.0, 2.0, 3.0], [6.0, 6.0, 8.0], [60.0, 80.0, 25.0]])
VISCOUS, COULOMB = np.array([[1.5, 1.0, 0.4], [2.0, 3.0, 1.0]])
ROTORS = np.array([60**2 * 2e-5, 80**2 * 2e-5, 60**2 * 1e-5])
_LINKS = (
    (0.3, 0.0, np.pi / 2, 6.0, (0.01, -0.1, 0.02), (0.05, 0.001, 0, 0.03, 0.002, 0.05)),
    (0.0, 0.4, 0.0, 4.0, (-0.2, 0.01, 0.02), (0.01, 0, 0.001, 0.06, 0, 0.06)),
    (0.0, 0.3, 0.0, 2.0, (-0.15, 0.0, 0.01), (0.003, 0, 0, 0.02, 0, 0.02)),
)
"""d, a, alpha, mass, centre of mass and tensor about it, in the frame at the far end of the link."""


class Engine:
    """The arm in Pinocchio. payload: (mass, centre of mass in the tool frame) of a point mass at the tool."""

    def __init__(self, payload: tuple[float, Any] = (0.0, (0.0, 0.0, 0.0))) -> None:
        self.model, place, parent = pin.Model(), pin.SE3.Identity(), 0
        for k, (d, a, alpha, mass, com, (xx, xy, xz, yy, yz, zz)) in enumerate(_LINKS):
            parent = self.model.addJoint(parent, pin.JointModelRZ(), place, f"joint{k}")
            place = pin.SE3(pin.rpy.rpyToMatrix(alpha, 0.0, 0.0), np.array([a, 0.0, d]))
            tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=float)
            self.model.appendBodyToJoint(parent, pin.Inertia(mass, np.array(com), tensor), place)
        load, at = payload
        self.model.appendBodyToJoint(parent, pin.Inertia(load, np.array(at, dtype=float), np.zeros((3, 3))), place)
        self.tool = self.model.addFrame(pin.Frame("tool", parent, 0, place, pin.FrameType.OP_FRAME))
        self.data = self.model.createData()

    def rigid(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Torques of links and rotors, one row per state."""
        rows = [pin.rnea(self.model, self.data, *state).copy() for state in zip(q, qd, qdd, strict=True)]
        return np.array(rows) + ROTORS * np.asarray(qdd)

    def torques(self, q: Array, qd: Array, qdd: Array) -> Array:
        """The same with friction."""
        return self.rigid(q, qd, qdd) + VISCOUS * qd + COULOMB * np.sign(qd)

    def gravity(self, q: Array) -> Array:
        """Torques at rest."""
        return self.rigid(q, 0 * q, 0 * q)

    def mass_matrix(self, q: Array) -> Array:
        """At one position."""
        unit, rest = np.eye(3), np.zeros((3, 3))
        still = np.tile(q, (3, 1))
        return (self.rigid(still, rest, unit) - self.gravity(still)).T

    def energy(self, q: Array, qd: Array) -> Array:
        """Kinetic and potential energy, one number per state."""
        rotors = (ROTORS * np.asarray(qd) ** 2).sum(axis=-1) / 2
        pairs = zip(q, qd, strict=True)
        return rotors + np.array([pin.computeMechanicalEnergy(self.model, self.data, *pair) for pair in pairs])

    def tool_position(self, q: Array) -> Array:
        """(3,) at one position, m."""
        pin.framesForwardKinematics(self.model, self.data, q)
        return np.array(self.data.oMf[self.tool].translation)


def states(count: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Random q, qd, qdd within the limits, (count, 3) each."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(LOWER, UPPER, (count, 3))
    return q, rng.uniform(-SPEED, SPEED, (count, 3)), rng.uniform(-ACCELERATION, ACCELERATION, (count, 3))


def write_log(path: Path, engine: Engine, seed: int) -> None:
    """10 s of a motion of five harmonics at 100 Hz, with noise of sensors."""
    rng = np.random.default_rng(seed)
    t, orders = np.arange(0, 10, 0.01)[:, None], np.arange(1, 6) * 2 * np.pi / 10
    sines, cosines = rng.normal(size=(2, 5, 3)) * 0.25 / np.arange(1, 6)[:, None]
    q, qd, qdd = np.zeros((3, len(t), 3))
    for w, a, b in zip(orders, sines, cosines, strict=True):
        q += a * np.sin(w * t) + b * np.cos(w * t)
        qd += w * (a * np.cos(w * t) - b * np.sin(w * t))
        qdd += -(w**2) * (a * np.sin(w * t) + b * np.cos(w * t))
    tau = engine.torques(q, qd, qdd) + rng.normal(size=q.shape) * [0.3, 0.3, 0.1]
    table = np.column_stack([t, q + 1e-5 * rng.normal(size=q.shape), tau])
    head = ",".join(["t", *(f"{name}{j}" for name in ("q", "tau") for j in (1, 2, 3))])
    np.savetxt(path, table, delimiter=",", header=head, comments="", fmt="%.9g")
