"""A second model of a robot for comparison, written from its energies with NumPy alone.

Geometric Jacobians of all bodies and rotors give M(x); Christoffel symbols and the gradients of the potential energies
follow by complex steps, exact to rounding. x: independent joints, then motors of elastic joints. Nothing of
`armdyn.mechanics` is used: the description of the robot is read, and loops are known by hand.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from armdyn.robot import Robot
from armdyn.robot.parts import Friction, ModifiedDH, StandardDH

STEP = 1e-30
PARALLELOGRAM = np.array([[1.0, 0], [-1, 1], [1, -1], [0, 1]]), np.array([0, 0, np.pi, 0])
"""All joints from the two active ones: theta2' = theta1'' - theta1', theta3' = pi - theta2'. Siciliano (7.59)"""


def _turn(axis: Any, angle: Any) -> Any:
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def _pose(R: Any, p: Any) -> Any:
    T = np.eye(4, dtype=complex)
    T[:3, :3], T[:3, 3] = R, p
    return T


def _rz(angle: Any, d: Any) -> Any:
    return _pose(_turn((0, 0, 1), angle), (0, 0, d))


def _rx(angle: Any, a: Any) -> Any:
    return _pose(_turn((1, 0, 0), angle), (a, 0, 0))


def _placed(placement: Any) -> Any:
    roll, pitch, yaw = (float(x) for x in placement.rpy)
    R = _turn((0, 0, 1), yaw) @ _turn((0, 1, 0), pitch) @ _turn((1, 0, 0), roll)
    return _pose(R, [float(x) for x in placement.xyz])


def friction_of(law: Friction | None, v: Any) -> Any:
    """The laws of friction, written out."""
    if law is None:
        return 0 * v
    Fv, Fc, Fs = float(law.viscous), float(law.coulomb), float(law.static)
    if law.law == "smooth":
        root = np.sqrt(v**2 + law.width**2)
        dry = Fc + ((Fs - Fc) * np.exp((law.width - root) / law.stribeck) if Fs else 0)
        return Fv * v + dry * v / root + law.offset
    if law.law == "rounded":
        S, more = v / np.hypot(v, law.width), law.values.get("coulomb_1", 0)
        return Fv * v + (Fc - more) * S + (more * v / np.hypot(v, law.values["width_1"]) if more else 0) + law.offset
    if law.law == "asymmetric":
        values = {"coulomb_negative": Fc, "viscous_negative": Fv, **law.values}
        forth, back = Fv * v + Fc * np.sign(v), values["viscous_negative"] * v + values["coulomb_negative"] * np.sign(v)
        return np.where(v > 0, forth, back) + law.offset
    assert law.law in (None, "stribeck", "coulomb", "viscous")
    dry = Fc + ((Fs - Fc) * np.exp(-np.abs(v) / law.stribeck) if Fs else 0)
    return Fv * v + dry * np.sign(v) + law.offset


class EnergyModel:
    """The equations of motion of a robot, from its energies."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot.bound()
        self.joints = [joint for joint in robot.tree if joint.kind != "fixed"]
        self.gravity_vector = np.array([float(x) for x in robot.gravity])
        self.links, self.constant = self._all_joints()
        self.motors = self.links.copy()
        n = self.links.shape[1]
        soft = [k for k, joint in enumerate(self.joints) if joint.elastic is not None]
        self.links = np.hstack([self.links, np.zeros((len(self.joints), len(soft)))])
        self.motors = np.hstack([self.motors, np.zeros((len(self.joints), len(soft)))])
        for place, k in enumerate(soft):
            self.motors[k] = np.eye(n + len(soft))[n + place]
        self.size = n + len(soft)

    def _all_joints(self) -> tuple[Any, Any]:
        """(A, b): positions of all movable joints A q + b."""
        if self.robot.loops:
            assert self.robot.name == "parallelogram"
            return PARALLELOGRAM
        names = [joint.name for joint in self.joints]
        free = [joint.name for joint in self.joints if joint.mimic is None]
        A, b = np.zeros((len(names), len(free))), np.zeros(len(names))
        for k, joint in enumerate(self.joints):
            leader = joint.mimic.joint if joint.mimic else joint.name
            A[k, free.index(leader)] = float(joint.mimic.ratio) if joint.mimic else 1
            b[k] = float(joint.mimic.offset) if joint.mimic else 0
        return A, b

    # Places -----------------------------------------------------------------------------------------------------------

    def _frames(self, x: Any) -> tuple[dict[str, Any], dict[str, list[int]], list[tuple[Any, Any]]]:
        """Pose of every body, the movable joints that carry it, and (axis, origin) of every movable joint."""
        q = self.links @ x + self.constant
        poses = {self.robot.root.name: _placed(self.robot.base)}
        carried: dict[str, list[int]] = {self.robot.root.name: []}
        axes: list[tuple[Any, Any]] = []
        axis: Any
        for joint in self.robot.tree:
            T, above = poses[joint.parent], list(carried[joint.parent])
            value = 0.0 if joint.kind == "fixed" else q[len(axes)]
            g, spins = joint.geometry, joint.kind == "revolute"
            angle, slide = (value, 0) if spins else (0, value)
            if isinstance(g, StandardDH):
                before, axis = T, (0, 0, 1)
                after = _rz(g.theta + angle, g.d + slide) @ _rx(g.alpha, g.a)
            elif isinstance(g, ModifiedDH):
                before, axis = T @ _rz(g.gamma, g.b) @ _rx(g.alpha, g.a), (0, 0, 1)
                after = _rz(g.theta + angle, g.d + slide)
            else:
                before, axis = T @ _placed(g.placement), tuple(float(a) for a in g.axis)
                shift = float(g.zero) if joint.kind != "fixed" else 0.0
                moved = np.array(axis) * (0 if spins else slide + shift)
                after = _pose(_turn(axis, angle + shift if spins else 0), moved)
            if joint.kind != "fixed":
                above.append(len(axes))
                axes.append((before[:3, :3] @ np.array(axis), before[:3, 3]))
            poses[joint.body.name], carried[joint.body.name] = before @ after, above
        return poses, carried, axes

    def _columns(self, frames: Any, body: str, point: Any) -> tuple[Any, Any]:
        """(linear, angular) Jacobian of a point of a body, by the coordinates."""
        poses, carried, axes = frames
        p = (poses[body] @ np.append(point, 1))[:3]
        Jv, Jw = np.zeros((2, 3, len(self.joints)), dtype=complex)
        for k in carried[body]:
            z, origin = axes[k]
            if self.joints[k].kind == "revolute":
                Jv[:, k], Jw[:, k] = np.cross(z, p - origin), z
            else:
                Jv[:, k] = z
        return Jv @ self.links, Jw @ self.links

    def pose(self, x: Any) -> Any:
        poses = self._frames(x)[0]
        return poses[self.robot.tool_body] @ _placed(self.robot.tool)

    def jacobian(self, x: Any) -> Any:
        point = [float(a) for a in self.robot.tool.xyz]
        return np.vstack(self._columns(self._frames(x), self.robot.tool_body, point))

    # Energies -------------------------------------------------------------------------------------------------------

    @cached_property
    def _masses(self) -> list[tuple[str, Any, Any, Any]]:
        """(body, mass, centre, tensor) of bodies and of rotors at rest on their carriers."""
        found = []
        for joint in self.robot.tree:
            central = joint.body.inertia.about_com() if float(joint.body.inertia.mass) else None
            if central is not None:
                found.append((joint.body.name, float(central.mass), central.com.array(), central.tensor.array()))
            rotor = joint.rotor
            if rotor is not None and rotor.model == "full":
                a = np.array([float(c) for c in rotor.axis])
                across = float(rotor.transverse) * (np.eye(3) - np.outer(a, a))
                found.append((rotor.on or joint.parent, float(rotor.mass), rotor.position.array(), across))
        return found

    def momentum_row(self, x: Any) -> Any:
        """(3, size) linear momentum of everything, by the rates of the coordinates."""
        frames = self._frames(x)
        return sum(m * self._columns(frames, body, com)[0] for body, m, com, _ in self._masses)

    def mass_matrix(self, x: Any) -> Any:
        frames = self._frames(x)
        M = np.zeros((self.size, self.size), dtype=complex)
        for body, m, com, tensor in self._masses:
            Jv, Jw = self._columns(frames, body, com)
            R = frames[0][body][:3, :3]
            M += m * Jv.T @ Jv + Jw.T @ R @ tensor @ R.T @ Jw
        ratios = np.linalg.inv(np.array(self.robot.coupling, dtype=float)) if self.robot.coupling else None
        for k, joint in enumerate(self.joints):
            if joint.rotor is None:
                continue
            row = (joint.rotor.ratio * self.motors[k] if ratios is None else ratios[k] @ self.motors).astype(complex)
            if joint.rotor.model == "full":
                carrier = joint.rotor.on or joint.parent
                axis = frames[0][carrier][:3, :3] @ np.array([float(c) for c in joint.rotor.axis])
                row = row + axis @ self._columns(frames, carrier, np.zeros(3))[1]
            M += float(joint.rotor.inertia) * np.outer(row, row)
        return M

    def weights_energy(self, x: Any) -> Any:
        poses = self._frames(x)[0]
        return -sum(m * self.gravity_vector @ (poses[body] @ np.append(com, 1))[:3] for body, m, com, _ in self._masses)

    def springs_energy(self, x: Any) -> Any:
        q, theta = self.links @ x + self.constant, self.motors @ x + self.constant
        poses, energy = self._frames(x)[0], 0.0
        for k, joint in enumerate(self.joints):
            if joint.spring is not None:
                energy += joint.spring.stiffness * (q[k] - joint.spring.rest) ** 2 / 2
            if joint.elastic is not None:
                energy += joint.elastic.stiffness * (q[k] - theta[k]) ** 2 / 2
        for joint in self.robot.tree:
            if joint.body.gravity_compensation:
                central = joint.body.inertia.about_com()
                com = (poses[joint.body.name] @ np.append(central.com.array(), 1))[:3]
                energy += joint.body.gravity_compensation * central.mass * (self.gravity_vector @ com)
        return energy

    # Equations of motion --------------------------------------------------------------------------------------------

    def _slopes(self, function: Any, x: Any) -> Any:
        """Derivatives by every coordinate, on the last axis."""
        steps = [np.imag(function(x + 1j * STEP * unit)) / STEP for unit in np.eye(self.size)]
        return np.stack(steps, axis=-1)

    def gravity(self, x: Any) -> Any:
        return self._slopes(self.weights_energy, x)

    def springs(self, x: Any) -> Any:
        return self._slopes(self.springs_energy, x)

    def coriolis_matrix(self, x: Any, xd: Any) -> Any:
        """c_ijk = (dM_ij/dk + dM_ik/dj - dM_jk/di) / 2."""
        dM = self._slopes(self.mass_matrix, x)
        return np.einsum("ijk,k->ij", dM + np.swapaxes(dM, 1, 2) - np.moveaxis(dM, 2, 0), xd) / 2

    def friction(self, xd: Any) -> Any:
        rates = self.links @ xd
        rubbing = [friction_of(joint.friction, rate) for joint, rate in zip(self.joints, rates, strict=True)]
        return self.links.T @ np.array(rubbing)

    def inverse_dynamics(self, x: Any, xd: Any, xdd: Any) -> Any:
        carried = self._carried(x, xd, xdd)
        return carried + self.friction(xd) + np.abs(carried) * self._losses(xd)

    def _carried(self, x: Any, xd: Any, xdd: Any) -> Any:
        still = self.mass_matrix(x).real @ xdd + self.coriolis_matrix(x, xd) @ xd
        return still + self.gravity(x) + self.springs(x)

    def _losses(self, xd: Any) -> Any:
        """Friction per torque carried; of robots without loops."""
        laws = [joint.friction for joint in self.joints]
        shares = [law.values["load"] * v / np.hypot(v, law.width) if law is not None and "load" in law.values else 0
                  for law, v in zip(laws, self.links @ xd, strict=True)]  # fmt: skip
        return np.array(shares) if any(shares) else 0

    def forward_dynamics(self, x: Any, xd: Any, tau: Any) -> Any:
        left, losses = tau - self.friction(xd), self._losses(xd)
        if np.any(losses):  # torque carried + losses |torque carried| = what is left, by bisection
            low, high = np.minimum(0, 10 * left), np.maximum(0, 10 * left)
            for _ in range(200):
                middle = (low + high) / 2
                over = middle + losses * np.abs(middle) > left
                low, high = np.where(over, low, middle), np.where(over, middle, high)
            left = (low + high) / 2
        return np.linalg.solve(self.mass_matrix(x).real, left - self._carried(x, xd, np.zeros(self.size)))
