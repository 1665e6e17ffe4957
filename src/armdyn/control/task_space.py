"""Control in the task space: the reference moves the tool, not the joints. Khalil sec. 9.3.3, 9.4.3

References give poses (..., 4, 4) with velocities and accelerations (..., 6), linear first, world axes, as
`armdyn.trajectory` makes them; or positions (..., 3) with their derivatives. Errors of rotation are the vector along
the axis about which the tool has to turn, as long as the angle, world axes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from armdyn.control.law import NOTHING, Desired, Law, SingularTask, gain_vector, settle
from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError
from armdyn.kinematics.task_rows import ROWS, chosen
from armdyn.typing import Array

ALL = " ".join(ROWS)
FLAT = 1e-6
"""A Jacobian whose smallest singular value is below this share of the largest has lost rank."""

Force = Callable[[float, Array, Array], Any]


def rotation_vector(R: Array) -> Array:
    """The vector along the axis of a rotation, as long as its angle: (3,)."""
    sine = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    s, c = float(np.linalg.norm(sine)), float((np.trace(R) - 1) / 2)
    if s < 1e-7 and c < 0:  # half a turn: the axis is the column that R + 1 has most of
        columns = R + np.eye(3)
        axis = columns[:, int(np.argmax(np.diag(columns)))]
        return np.asarray(np.pi * axis / np.linalg.norm(axis))
    return sine if s < 1e-12 else np.asarray(sine * (np.arctan2(s, c) / s))


def task_error(pose: Array, desired: Array) -> Array:
    """(6,) from a pose to the desired one (4, 4), or (3,) to a desired position."""
    if desired.shape == (3,):
        return np.asarray(desired - pose[:3, 3])
    turn = rotation_vector(desired[:3, :3] @ pose[:3, :3].T)
    return np.concatenate([desired[:3, 3] - pose[:3, 3], turn])


def inverse(J: Array, damping: float) -> Array:
    """J^-1, or the generalised inverse for redundant arms, damped if asked for. SingularTask where there is none."""
    if damping > 0:
        return np.asarray(J.T @ np.linalg.inv(J @ J.T + damping**2 * np.eye(len(J))))
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    if len(J) > J.shape[1] or s[-1] <= FLAT * s[0] or s[0] == 0:
        smallest = 0.0 if len(J) > J.shape[1] else s[-1]
        raise SingularTask(
            f"the Jacobian of the task has lost rank (smallest singular value {smallest:.2g})",
            expected="a position in which the arm can do the task",
            advice="Control fewer rows of the task, or give the law damping.",
        )
    return np.asarray((Vt.T / s) @ U.T)


class TaskLaw(Law):
    """What laws in the task space share. Subclasses have the fields dyn and rows."""

    arithmetic: ClassVar[bool] = False
    in_task_space: ClassVar[bool] = True
    dyn: Dynamics
    rows: str

    @cached_property
    def picked(self) -> Array:
        return chosen(self.rows)

    def error(self, q: Array, desired: Desired) -> Array:
        """Desired minus actual, the chosen rows."""
        return task_error(self.dyn.pose(q), desired.q)[self.picked]

    def rates(self, desired: Desired) -> tuple[Array, Array]:
        """Desired velocity and acceleration, the chosen rows."""
        return desired.qd[self.picked], desired.qdd[self.picked]


@dataclass(frozen=True, eq=False)
class TaskPID(TaskLaw):
    """PID control in the task space.

        tau = J^T [kp (X_d - X) + kd (Xd_d - Xd) + ki integral of (X_d - X)]        Khalil (9.17)

    gravity: adds g(q), without which the arm sags. joint_damping: - joint_damping qd, for redundant arms, whose null
    space the law does not see.
    """

    dyn: Dynamics
    kp: Any
    kd: Any
    ki: Any = 0.0
    rows: str = ALL
    gravity: bool = False
    joint_damping: Any = 0.0

    def __post_init__(self) -> None:
        settle(self, len(chosen(self.rows)), others=("kp", "kd", "ki"))
        settle(self, self.dyn.n, others=("joint_damping",))

    def start(self, q: Array, qd: Array) -> Array:
        return np.zeros(len(self.picked)) if (self.ki > 0).any() else NOTHING

    def change(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array) -> Array:
        return self.error(q, desired) if len(memory) else NOTHING

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        J = self.dyn.jacobian(q)[self.picked]
        velocity, _ = self.rates(desired)
        force = self.kp * self.error(q, desired) + self.kd * (velocity - J @ qd)
        if len(memory):
            force = force + self.ki * memory
        tau: Array = J.T @ force - self.joint_damping * qd
        return tau + self.dyn.gravity(q) if self.gravity else tau


@dataclass(frozen=True, eq=False)
class ResolvedAcceleration(TaskLaw):
    """Computed torque in the task space.

        tau = A J^-1 (w - Jd qd) + H                                            Khalil (9.33)
        w = Xdd_d + kd (Xd_d - Xd) + kp (X_d - X)                               Khalil (9.35)

    so that e_x'' + kd e_x' + kp e_x = 0 (Khalil (9.36)), through one inverse dynamics. A redundant arm uses the
    generalised inverse J^#; what is left of its freedom is damped and drawn to `posture`,

        qdd += (1 - J^# J)(posture_kp (posture - q) - posture_kd qd)

    so that it does not move within itself. damping: of the inverse near singular positions, at the cost of the error
    equation; 0: singular positions end the motion.
    """

    dyn: Dynamics
    kp: Any
    kd: Any
    rows: str = ALL
    damping: float = 0.0
    posture: Any = None
    posture_kp: Any = 0.0
    posture_kd: Any = 10.0

    def __post_init__(self) -> None:
        settle(self, len(chosen(self.rows)), others=("kp", "kd"))
        settle(self, self.dyn.n, others=("posture_kp", "posture_kd"))
        if self.damping < 0:
            raise ArmdynError(f"damping = {self.damping}", where="ResolvedAcceleration", expected="0 or more")

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        velocity, acceleration = self.rates(desired)
        J = self.dyn.jacobian(q)[self.picked]
        w = acceleration + self.kd * (velocity - J @ qd) + self.kp * self.error(q, desired)
        return self.dyn.inverse_dynamics(q, qd, self.joint_acceleration(q, qd, J, w))

    def joint_acceleration(self, q: Array, qd: Array, J: Array, w: Array) -> Array:
        """J^# (w - Jd qd), and in the null space what keeps the arm from moving within itself."""
        back = inverse(J, self.damping)
        qdd: Array = back @ (w - self.dyn.jacobian_dot_qd(q, qd)[self.picked])
        if len(J) < self.dyn.n:
            wish = -self.posture_kd * qd
            if self.posture is not None:
                wish = wish + self.posture_kp * (np.asarray(self.posture, dtype=float) - q)
            qdd = qdd + wish - back @ (J @ wish)
        return qdd


@dataclass(frozen=True, eq=False)
class Impedance(TaskLaw):
    """The tool as a spring and damper about the reference, without a force sensor.

        tau = J^T [stiffness (X_d - X) + damping (Xd_d - Xd)] + C qd + g + friction - joint_damping qd

    N. Hogan, J. Dynamic Systems 107, 1985. At rest the tool yields by force / stiffness. stiffness: N/m and N m/rad,
    damping: N s/m and N m s/rad, per row. friction_compensation: off where friction is not well known.
    """

    dyn: Dynamics
    stiffness: Any
    damping: Any
    rows: str = ALL
    joint_damping: Any = 0.0
    friction_compensation: bool = True

    def __post_init__(self) -> None:
        settle(self, len(chosen(self.rows)), others=("stiffness", "damping"))
        settle(self, self.dyn.n, others=("joint_damping",))

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        dyn = self.dyn
        J = dyn.jacobian(q)[self.picked]
        velocity, _ = self.rates(desired)
        force = self.stiffness * self.error(q, desired) + self.damping * (velocity - J @ qd)
        tau: Array = J.T @ force + dyn.coriolis(q, qd) + dyn.gravity(q) - self.joint_damping * qd
        return tau + dyn.friction(qd) if self.friction_compensation else tau


@dataclass(frozen=True, eq=False)
class Admittance(TaskLaw):
    """The tool as a mass on a spring and damper about the reference, by a force sensor and a stiff inner loop.

        mass x'' + damping x' + stiffness x = -w       x: how far the tool yields, w: measured wrench

    and resolved acceleration control makes the tool follow X_d + x. force: (t, q, qd) -> (6,), the sensor: what the
    robot exerts on the environment. mass: kg and kg m^2, per row. Only rows of position may be chosen, since small
    rotations alone add like vectors.
    """

    dyn: Dynamics
    mass: Any
    damping: Any
    stiffness: Any
    force: Force
    kp: Any = 400.0
    kd: Any = 40.0
    rows: str = "x y z"

    def __post_init__(self) -> None:
        if "r" in self.rows:
            raise ArmdynError(f"rows = {self.rows!r}", where="Admittance", expected="some of x y z")
        count = len(chosen(self.rows))
        settle(self, count, positive=("mass",), others=("damping", "stiffness", "kp", "kd"))

    @cached_property
    def inner(self) -> ResolvedAcceleration:
        return ResolvedAcceleration(self.dyn, self.kp, self.kd, rows=self.rows)

    def start(self, q: Array, qd: Array) -> Array:
        return np.zeros(2 * len(self.picked))

    def yielding(self, t: Any, q: Array, qd: Array, memory: Array) -> tuple[Array, Array, Array]:
        """x, x', x''."""
        x, xd = np.split(memory, 2)
        w = np.asarray(self.force(t, q, qd), dtype=float)[self.picked]
        return x, xd, (-w - self.damping * xd - self.stiffness * x) / self.mass

    def change(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array) -> Array:
        _, xd, xdd = self.yielding(t, q, qd, memory)
        return np.concatenate([xd, xdd])

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        x, xd, xdd = self.yielding(t, q, qd, memory if len(memory) else self.start(q, qd))
        velocity, acceleration = self.rates(desired)
        J = self.dyn.jacobian(q)[self.picked]
        e = self.error(q, desired) + x
        w = acceleration + xdd + self.kd * (velocity + xd - J @ qd) + self.kp * e
        return self.dyn.inverse_dynamics(q, qd, self.inner.joint_acceleration(q, qd, J, w))


__all__ = ["Admittance", "Impedance", "ResolvedAcceleration", "TaskPID", "gain_vector", "rotation_vector", "task_error"]
