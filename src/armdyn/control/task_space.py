"""Control in the task space: the reference moves the tool, not the joints. Khalil sec. 9.3.3, 9.4.3

References give poses (..., 4, 4) with velocities and accelerations (..., 6), linear first, world axes, as those of
`armdyn.trajectory`; or positions (..., 3) with their derivatives. The error of rotation is the rotation vector from the
actual to the desired orientation, rad, world axes. Gains are one number for all rows or one per row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from armdyn.control.base import NOTHING, Desired, Law, SingularTask, settle
from armdyn.control.extremes import largest_inertias
from armdyn.control.pointwise import incipient
from armdyn.dynamics import Dynamics
from armdyn.dynamics.holding import holding_torques
from armdyn.errors import ArmdynError
from armdyn.kinematics.closable import pulled_in
from armdyn.kinematics.rotations import rotation_vector
from armdyn.kinematics.task_rows import ROWS, SINGULAR_RATIO, chosen
from armdyn.mechanics import linear
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.limits import working_range
from armdyn.typing import Array

ALL = " ".join(ROWS)
NEARLY_SINGULAR = 100 * SINGULAR_RATIO
"""Ratio of singular values from which on compiled code, which has no look at the rank, is not trusted."""
Force = Callable[[float, Array, Array], Any]


def task_error(pose: Array, desired: Array) -> Array:
    """(..., 6) error from a pose to the desired pose (..., 4, 4), or (..., 3) to a desired position, m and rad."""
    if desired.shape[-2:] != (4, 4):
        return np.asarray(desired - pose[..., :3, 3])
    turn = rotation_vector(desired[..., :3, :3] @ np.swapaxes(pose[..., :3, :3], -1, -2))
    return np.concatenate([desired[..., :3, 3] - pose[..., :3, 3], turn], axis=-1)


def inverse(J: Array, damping: float) -> Array:
    """(n, rows) inverse of J, or pseudo-inverse for redundant arms, damped if damping > 0; raises SingularTask."""
    if damping > 0 or J.dtype == object:  # over symbols, the loss of rank is looked for afterwards: see `undefined`
        return np.asarray(J.T @ solved(J @ J.T + damping**2 * np.eye(len(J)), np.eye(len(J))))
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    if len(J) > J.shape[1] or s[-1] <= SINGULAR_RATIO * s[0] or s[0] == 0:
        smallest = 0.0 if len(J) > J.shape[1] else s[-1]
        raise SingularTask(
            f"the Jacobian of the task has lost rank (smallest singular value {smallest:.2g})",
            expected="a configuration in which the arm can do the task",
            advice="Control fewer rows of the task, or give the law damping.",
        )
    return np.asarray((Vt.T / s) @ U.T)


def solved(A: Array, B: Array) -> Array:
    """A^-1 B of a symmetric, positive definite A, over numbers or symbols."""
    if A.dtype != object:
        return np.linalg.solve(A, B)
    factors = linear.factor(A.tolist())
    return np.array([linear.solve(factors, column.tolist()) for column in B.T], dtype=object).T


STATES = 400
"""Random configurations from which the inertias of a task are taken."""


def task_inertias(dyn: Dynamics, rows: str) -> Array:
    """(rows,) inertias of the tool along one row of the task, the other rows held, kg or kg m^2.

    The diagonal of (J M^-1 J^T)^-1, the median over the workspace; 0 for rows in which the tool cannot move.
    """
    low, high = working_range(dyn.robot)
    q = low + (high - low) * np.random.default_rng(0).random((STATES, dyn.n))
    q = pulled_in(dyn, q) if dyn.robot.loops else q
    J = dyn.jacobian(q)[:, chosen(rows)]
    mobility = J @ np.linalg.solve(dyn.mass_matrix(q), np.swapaxes(J, 1, 2))
    inertia = np.linalg.pinv(mobility, rcond=SINGULAR_RATIO**2, hermitian=True)
    return np.asarray(np.median(np.diagonal(inertia, axis1=1, axis2=2), axis=0))


def null_space_damping(dyn: Dynamics, rows: str, frequency: float) -> Array | float:
    """Joint damping for the null space of a redundant arm, N m s/rad: it decays at a tenth of the frequency."""
    return 0.0 if len(chosen(rows)) >= dyn.n else frequency / 10 * largest_inertias(dyn)


class TaskLaw(Law):
    """What laws in the task space share. Subclasses have the fields dyn and rows (of x y z rx ry rz)."""

    dyn: Dynamics
    rows: str

    @property
    def in_task_space(self) -> bool:
        return True

    @cached_property
    def picked(self) -> Array:
        """Indices of the controlled rows."""
        return chosen(self.rows)

    def jacobian(self, q: Array) -> Array:
        """The controlled rows of the Jacobian."""
        return self.dyn.jacobian(q)[self.picked]

    def error(self, q: Array, desired: Desired) -> Array:
        """Desired minus actual pose, the controlled rows."""
        return task_error(self.dyn.pose(q), desired.q)[..., self.picked]

    def velocity_error(self, J: Array, qd: Array, desired: Desired) -> Array:
        """Desired minus actual velocity, the controlled rows."""
        return np.asarray(desired.qd[self.picked] - J @ qd)


@takes(*CLOSED, *TREE)
@dataclass(frozen=True, eq=False)
class TaskPID(TaskLaw):
    """PID control in the task space.

        tau = J^T [kp (X_d - X) + kd (Xd_d - Xd) + ki integral of (X_d - X)]        Khalil (9.17)

    dyn:           the controller's model, for pose, Jacobian and gravity.
    kp:            proportional gain, N/m and N m/rad.
    kd:            derivative gain, N s/m and N m s/rad.
    ki:            integral gain, N/(m s) and N m/(rad s) (default: 0).
    rows:          controlled rows (default: all of x y z rx ry rz).
    gravity:       add gravity compensation g(q) (default: False).
    joint_damping: subtract joint_damping qd, for the null space of redundant arms (default: 0).
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

    @staticmethod
    def designed(dyn: Dynamics, frequency: float = 10.0, damping_ratio: float = 1.0, *, rows: str = ALL) -> TaskPID:
        """Gains for the inertias of the task, with gravity compensation: kp = m w^2, kd = 2 xi m w, ki = kp w / 10.

        dyn:       the controller's model.
        frequency: natural frequency w of the tool, rad/s (default: 10).
        damping_ratio: xi (default: 1).
        rows:      controlled rows (default: all).
        """
        m, w = task_inertias(dyn, rows), frequency
        rest = null_space_damping(dyn, rows, w)
        return TaskPID(dyn, m * w**2, 2 * damping_ratio * m * w, m * w**3 / 10, rows, gravity=True, joint_damping=rest)

    def start(self, q: Array, qd: Array) -> Array:
        return np.zeros(len(self.picked)) if (self.ki > 0).any() else NOTHING

    def change(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array) -> Array:
        return self.error(q, desired) if len(memory) else NOTHING

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        J = self.jacobian(q)
        force = self.kp * self.error(q, desired) + self.kd * self.velocity_error(J, qd, desired)
        if len(memory):
            force = force + self.ki * memory
        tau: Array = J.T @ force - self.joint_damping * qd
        return tau + holding_torques(self.dyn, q) if self.gravity else tau


@takes(*CLOSED, *TREE)
@dataclass(frozen=True, eq=False)
class ResolvedAcceleration(TaskLaw):
    """Resolved acceleration control: computed torque in the task space.

        tau = M J^-1 (w - Jd qd) + C qd + g + friction                          Khalil (9.33)
        w = Xdd_d + kd (Xd_d - Xd) + kp (X_d - X)                               Khalil (9.35)

    so that e_x'' + kd e_x' + kp e_x = 0 (Khalil (9.36)), through one inverse dynamics. A redundant arm uses the
    pseudo-inverse J^+, and its null space is damped and drawn to a posture:

        qdd += (1 - J^+ J)(posture_kp (posture - q) - posture_kd qd)

    dyn:        the controller's model.
    kp:         proportional gain, 1/s^2 (default: 400).
    kd:         derivative gain, 1/s (default: 40, critical damping).
    rows:       controlled rows (default: all of x y z rx ry rz).
    damping:    of the inverse near singular configurations, at the cost of accuracy; 0 (default): they end the motion.
    posture:    (n,) preferred configuration of a redundant arm (default: none).
    posture_kp: null-space stiffness, 1/s^2 (default: 0).
    posture_kd: null-space damping, 1/s (default: 10).
    """

    dyn: Dynamics
    kp: Any = 400.0
    kd: Any = 40.0
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

    @property
    def compilable(self) -> bool:
        return self.damping > 0  # without damping the loss of rank ends the motion

    def undefined(self, q: Array) -> Array | None:
        if self.damping > 0:
            return None
        s = np.linalg.svd(self.dyn.jacobian(q)[..., self.picked, :], compute_uv=False)
        return np.asarray((len(self.picked) > self.dyn.n) | (s[..., -1] <= NEARLY_SINGULAR * s[..., 0]))

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        J = self.jacobian(q)
        e, ed = self.error(q, desired), self.velocity_error(J, qd, desired)
        return self.torques(q, qd, J, e, ed, desired.qdd[self.picked])

    def torques(self, q: Array, qd: Array, J: Array, e: Array, ed: Array, acceleration: Array) -> Array:
        """(n,) torques for errors of position and velocity and a desired acceleration, the controlled rows."""
        w = acceleration + self.kd * ed + self.kp * e
        qdd = self.joint_acceleration(q, qd, J, w)
        return self.dyn.inverse_dynamics(q, incipient(qd, qdd), qdd)

    def joint_acceleration(self, q: Array, qd: Array, J: Array, w: Array) -> Array:
        """J^+ (w - Jd qd) plus the null-space motion of a redundant arm, (n,) rad/s^2 or m/s^2."""
        back = inverse(J, self.damping)
        qdd: Array = back @ (w - self.dyn.jacobian_dot_qd(q, qd)[self.picked])
        if len(J) < self.dyn.n:
            wish = -self.posture_kd * qd
            if self.posture is not None:
                wish = wish + self.posture_kp * (np.asarray(self.posture, dtype=float) - q)
            qdd = qdd + wish - back @ (J @ wish)
        return qdd


@takes(*CLOSED, *TREE)
@dataclass(frozen=True, eq=False)
class OperationalSpace(ResolvedAcceleration):
    """Operational-space control: resolved acceleration with a dynamically consistent null space.

        tau = J^T B_A (w - Jd qd) + h + (1 - J^T Jbar^T) M a_0,   Jbar = M^-1 J^T B_A,  B_A = (J M^-1 J^T)^-1
        w = Xdd_d + kd (Xd_d - Xd) + kp (X_d - X),   a_0 = posture_kp (posture - q) - posture_kd qd

    Siciliano (7.133), (7.138), (7.141); h: Coriolis, gravity, spring and friction torques. The torques of the null
    space do not accelerate the tool. Arguments are those of ResolvedAcceleration.
    """

    def joint_acceleration(self, q: Array, qd: Array, J: Array, w: Array) -> Array:
        """Jbar (w - Jd qd) + (1 - Jbar J) a_0, (n,) rad/s^2 or m/s^2."""
        if not self.damping:
            inverse(J, self.damping)  # raises SingularTask
        back = solved(self.dyn.mass_matrix(q), J.T)
        mobility = J @ back
        damping = self.damping**2 * np.trace(mobility) / len(J) * np.eye(len(J))
        consistent = back @ solved(mobility + damping, np.eye(len(J)))  # Siciliano (7.138)
        wish = -self.posture_kd * qd
        if self.posture is not None:
            wish = wish + self.posture_kp * (np.asarray(self.posture, dtype=float) - q)
        qdd: Array = consistent @ (w - self.dyn.jacobian_dot_qd(q, qd)[self.picked] - J @ wish) + wish
        return qdd


@takes(*CLOSED, *TREE)
@dataclass(frozen=True, eq=False)
class Impedance(TaskLaw):
    """Impedance control: the tool acts as a spring and damper about the reference, without a force sensor.

        tau = J^T [stiffness (X_d - X) + damping (Xd_d - Xd)] + C qd + g + friction - joint_damping qd

    N. Hogan, J. Dynamic Systems 107, 1985. At rest the tool is displaced by force / stiffness.

    dyn:                   the controller's model.
    stiffness:             N/m and N m/rad.
    damping:               N s/m and N m s/rad.
    rows:                  controlled rows (default: all of x y z rx ry rz).
    joint_damping:         for the null space of redundant arms, N m s/rad or N s/m (default: 0).
    friction_compensation: add the friction of the model (default: True).
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

    @staticmethod
    def designed(dyn: Dynamics, stiffness: float = 1000.0, damping_ratio: float = 1.0, *, rows: str = ALL) -> Impedance:
        """The same natural frequency w in all rows, from the stiffness of the translations and the inertias m_i.

        w = sqrt(stiffness / largest m of x y z),  k_i = m_i w^2,  d_i = 2 xi m_i w

        dyn:       the controller's model.
        stiffness: of the heaviest of the controlled translations, N/m (of rotations, if there are none, N m/rad;
                   default: 1000).
        damping_ratio: xi (default: 1).
        rows:      controlled rows (default: all).
        """
        m = task_inertias(dyn, rows)
        linear = np.array([not row.startswith("r") for row in rows.split()])
        w = float(np.sqrt(stiffness / (m[linear] if linear.any() else m).max()))
        return Impedance(dyn, m * w**2, 2 * damping_ratio * m * w, rows, null_space_damping(dyn, rows, w))

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        dyn = self.dyn
        J = self.jacobian(q)
        force = self.stiffness * self.error(q, desired) + self.damping * self.velocity_error(J, qd, desired)
        tau: Array = J.T @ force + dyn.coriolis(q, qd) + holding_torques(dyn, q) - self.joint_damping * qd
        return tau + dyn.friction(qd) if self.friction_compensation else tau


@takes(*CLOSED, *TREE)
@dataclass(frozen=True, eq=False)
class Admittance(TaskLaw):
    """Admittance control: the tool acts as a mass on a spring and damper, by a force sensor and a stiff inner loop.

        mass x'' + damping x' + stiffness x = -w       x: displacement of the tool, w: measured wrench

    Resolved acceleration control makes the tool follow X_d + x.

    dyn:       the controller's model.
    mass:      kg.
    damping:   N s/m.
    stiffness: N/m.
    force:     the sensor: function (t, q, qd) -> (6,) wrench that the robot exerts on the environment, world axes.
    kp:        proportional gain of the inner loop, 1/s^2 (default: 400).
    kd:        derivative gain of the inner loop, 1/s (default: 40).
    rows:      of x y z (default: all three); rotations do not add like vectors.
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

    @property
    def compilable(self) -> bool:
        return False  # neither the sensor nor the inner loop is

    @staticmethod
    def designed(
        dyn: Dynamics,
        force: Force,
        stiffness: float = 500.0,
        mass: float = 5.0,
        damping_ratio: float = 1.0,
        *,
        rows: str = "x y z",
    ) -> Admittance:
        """A mass on a spring with the damper of a damping ratio: 2 xi sqrt(mass stiffness).

        dyn:       the controller's model.
        force:     the sensor, as in Admittance.
        stiffness: N/m (default: 500).
        mass:      kg (default: 5).
        damping_ratio: xi (default: 1).
        rows:      of x y z (default: all three).
        """
        return Admittance(dyn, mass, 2 * damping_ratio * np.sqrt(mass * stiffness), stiffness, force, rows=rows)

    @cached_property
    def inner(self) -> ResolvedAcceleration:
        """The inner loop."""
        return ResolvedAcceleration(self.dyn, self.kp, self.kd, rows=self.rows)

    def start(self, q: Array, qd: Array) -> Array:
        return np.zeros(2 * len(self.picked))

    def displacement(self, t: Any, q: Array, qd: Array, memory: Array) -> tuple[Array, Array, Array]:
        """Displacement of the tool and its two derivatives: x, x', x''."""
        x, xd = np.split(memory, 2)
        w = np.asarray(self.force(t, q, qd), dtype=float)[self.picked]
        return x, xd, (-w - self.damping * xd - self.stiffness * x) / self.mass

    def change(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array) -> Array:
        _, xd, xdd = self.displacement(t, q, qd, memory)
        return np.concatenate([xd, xdd])

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        x, xd, xdd = self.displacement(t, q, qd, memory if len(memory) else self.start(q, qd))
        J = self.jacobian(q)
        e, ed = self.error(q, desired) + x, self.velocity_error(J, qd, desired) + xd
        return self.inner.torques(q, qd, J, e, ed, desired.qdd[self.picked] + xdd)
