"""Presliding friction: parts of Coulomb friction that build up over a distance, and the torques that they make.

Each part has a state z of Dahl's law, which follows the sign of the rate over a distance delta:

    dz/dx = (1 - z sign(xd)) / delta,      z+ = s + (z - s) exp(-|dx| / delta),   s = sign(dx)                   [PS-1]

with x the position of a joint, or of a motor that several joints turn. [PS-1] is exact while x does not reverse. The
friction of the joint (law "rounded") is that of the sliding joint and presliding (z - S) more, S the sign of the rate,
rounded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.dynamics.facade import Dynamics, compile
from armdyn.errors import NotApplicable
from armdyn.mechanics.friction import numbered, of_motor
from armdyn.robot import Robot
from armdyn.robot.features import ROUNDED, listed
from armdyn.robot.parts import Friction, Motor
from armdyn.robot.transmission import inverse_rows
from armdyn.typing import Array


@dataclass(frozen=True, eq=False)
class Presliding:
    """The presliding parts of a robot's friction.

    rows: (s, n) rate of what each part rubs on, from the rates of the joints
    torque: (s,) N m or N
    distance: (s,) rad or m
    """

    rows: Array
    torque: Array
    distance: Array

    @staticmethod
    def of(robot: Robot) -> Presliding:
        """The parts of a robot; none if it has no presliding friction."""
        parts: list[tuple[Array, float, float]] = []
        if found := robot.features.get("presliding"):
            dependent = [name for name in found if name not in [joint.name for joint in robot.joints]]
            if robot.compounds or robot.features.get("elastic") or dependent:
                raise NotApplicable(
                    f"presliding friction ({listed(found)}) together with free, elastic or dependent joints",
                    where=f"robot {robot.name!r}",
                    expected="rigid joints that are driven",
                    advice='robot.without("presliding") leaves it out.',
                )
            motors = np.array(inverse_rows(robot), dtype=float)
            for j, joint in enumerate(robot.joints):
                own, motor = joint.friction or Friction(), of_motor(joint.motor or Motor())
                for row, friction in ((np.eye(robot.n)[j], own), (motors[j], motor)):
                    pairs = numbered(friction, "presliding", "distance") if friction.law == ROUNDED else []
                    parts += [(row, float(size), float(distance)) for size, distance in pairs]
        rows = np.array([row for row, _, _ in parts]).reshape(-1, robot.n)
        return Presliding(rows, np.array([size for _, size, _ in parts]), np.array([x for *_, x in parts]))

    def __len__(self) -> int:
        return len(self.torque)

    def torques(self, z: Array) -> Array:
        """(..., n) torques of states (..., s)."""
        return (self.torque * z) @ self.rows

    def moved(self, z: Array, dq: Array) -> Array:
        """(s,) states after joints moved by dq, (n,), without reversing. [PS-1]"""
        path = self.rows @ dq
        s = np.sign(path)
        return np.where(s == 0, z, s + (z - s) * np.exp(-np.abs(path) / self.distance))

    def along(self, q: Array) -> Array:
        """(N, s) states along positions, (N, n), from zero."""
        columns = [presliding(q @ row, x) for row, x in zip(self.rows, self.distance.tolist(), strict=True)]
        return np.column_stack(columns) if columns else np.zeros((len(q), 0))

    @property
    def stiffness(self) -> Array:
        """(n, n) slope of the torques in the positions where z = 0."""
        return self.rows.T @ ((self.torque / self.distance)[:, None] * self.rows)


def presliding(x: Array, distance: float) -> Array:
    """(N,) state z of [PS-1] along positions (N,); 0 at the first sample.

    >>> presliding(np.array([0.0, 1.0, 2.0, 1.0]), 1.0).round(3).tolist()
    [0.0, 0.632, 0.865, -0.314]
    """
    z = np.zeros(len(x))
    direction = np.sign(np.diff(x))
    turns = np.flatnonzero(direction[1:] != direction[:-1]) + 1
    state = 0.0
    for start, end in zip([0, *turns.tolist()], [*turns.tolist(), len(direction)], strict=True):
        s = direction[start] if len(direction) else 0.0
        path = np.abs(x[start + 1 : end + 1] - x[start])
        z[start + 1 : end + 1] = s + (state - s) * np.exp(-path / distance) if s else state
        state = float(z[end])
    return z


def sliding_part(robot: Robot) -> Robot:
    """The robot whose friction has no state: what is left when the torques of presliding are separate terms."""
    if "presliding" not in robot.features:
        return robot
    tree = tuple(replace(joint, friction=_sliding(joint.friction), motor=_sliding(joint.motor)) for joint in robot.tree)
    return replace(robot, tree=tree, expressions=None).without("presliding")


def _sliding(part: Any) -> Any:
    """Friction, or a motor, whose Coulomb friction is less by its presliding parts."""
    if part is None or (isinstance(part, Friction) and part.law != ROUNDED):
        return part
    presliding = [value for key, value in part.values.items() if key.startswith("presliding_")]
    return replace(part, coulomb=part.coulomb - sum(presliding))


def torques_along(model: Robot | Dynamics, q: Array, qd: Array, qdd: Array) -> Array:
    """(N, n) torques along consecutive samples of a motion, (N, n) each, friction with a state included."""
    robot = model if isinstance(model, Robot) else model.robot
    parts = Presliding.of(robot)
    dyn = compile(sliding_part(robot)) if len(parts) or isinstance(model, Robot) else model
    tau: Array = dyn.inverse_dynamics(q, qd, qdd)
    return tau + parts.torques(parts.along(q)) if len(parts) else tau


__all__ = ["Presliding", "presliding", "sliding_part", "torques_along"]
