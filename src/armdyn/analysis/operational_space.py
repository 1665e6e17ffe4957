"""Dynamics in operational space, and torques of the null space, which do not move the tool.

    B_A xdd + C_A xd + g_A + f_A = gamma_A - h_A                         Siciliano (7.133), f_A: friction
    tau = J_A^T gamma_A + (1 - J_A^T Jbar^T) tau_0                       Siciliano (7.141)

x are rows of the tool's motion: positions and rotations about world axes (geometric Jacobian) or Euler angles
(analytic Jacobian). The model holds for redundant arms too.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from armdyn.analysis.stacked import singular_values, times, transposed
from armdyn.control.base import SingularTask
from armdyn.dynamics import Dynamics
from armdyn.dynamics.holding import holding_torques
from armdyn.errors import ArmdynError
from armdyn.kinematics.task_rows import (
    SINGULAR_RATIO,
    Angles,
    Task,
    drift,
    jacobian,
    jacobian_rate,
    joint_array,
    make_task,
)
from armdyn.motion.sampling import dynamics_of
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.typing import Array

DEAD = 1e-9
"""Share of the Jacobian below which a row is rounding: no joint moves it."""


class OperationalSpaceStatus(Enum):
    """Whether the model of operational space exists, in a sentence."""

    REGULAR = "The arm can move all rows of the task: the model is exact."
    DAMPED = (
        "Close to a singular configuration the inverse of J M^-1 J^T is damped: B_A, C_A xd, g_A and the dynamically "
        "consistent inverse are bounded approximations there. Torques of the null space are not affected."
    )
    SINGULAR = (
        "The task has lost rank, or its Euler angles are not defined: there is no model of operational space (NaN). "
        "Choose fewer rows, other angles, or give damping."
    )


@dataclass(frozen=True, eq=False)
class OperationalSpaceModel:
    """The model of operational space at joint positions q and velocities qd; leading axes are those of q and qd.

    task: the m rows
    J: (..., m, n) Jacobian
    M: (..., n, n) mass matrix
    bias: (..., n) Coriolis, gravity, spring and friction torques
    mobility: (..., m, m) J M^-1 J^T, the inverse of `mass`
    mass: (..., m, m) B_A, kg and kg m^2 (Siciliano (7.130))
    coriolis: (..., m) C_A xd, N and N m (7.131)
    gravity: (..., m) g_A (7.132), springs and counterbalances included
    friction: (..., m) f_A, which the text leaves out
    inverse: (..., n, m) Jbar, the dynamically consistent inverse (7.138)
    null: (..., n, n) 1 - J^T Jbar^T, the projector of (7.141)
    velocity: (..., m) xd
    drift: (..., m) Jdot qd
    conditioning: (...) smallest over largest singular value of J M^-1/2, linear and angular rows scaled to length one
    singular, damped: (...) bool
    """

    task: Task
    J: Array
    M: Array
    bias: Array
    mobility: Array
    mass: Array
    coriolis: Array
    gravity: Array
    friction: Array
    inverse: Array
    null: Array
    velocity: Array
    drift: Array
    conditioning: Array
    singular: Array
    damped: Array

    @property
    def status(self) -> OperationalSpaceStatus:
        """The worst of all states."""
        undamped = self.singular & ~self.damped
        return (
            OperationalSpaceStatus.SINGULAR
            if undamped.any()
            else OperationalSpaceStatus.DAMPED
            if self.damped.any()
            else OperationalSpaceStatus.REGULAR
        )

    def force(self, xdd: Any, wrench: Any = 0.0) -> Array:
        """gamma_A: (..., m), the tool force by which the joints give the tool an acceleration xdd. Siciliano (7.133)

        wrench: (..., m) h_A, what the robot exerts on its environment, in the rows of the task; any tool wrench w is
        tool_force(J^T w) with the geometric J (Siciliano (7.128)).
        """
        forced = times(self.mass, np.asarray(xdd, dtype=float))
        return np.asarray(forced + self.coriolis + self.gravity + self.friction + wrench)

    def torques(self, force: Any, null_torque: Any = None) -> Array:
        """tau: (..., n) that act on the tool as gamma_A does. Siciliano (7.141)

        null_torque: (..., n) tau_0, of which only what leaves the tool's acceleration alone is added; exact at
        singular configurations too.
        """
        tau = times(transposed(self.J), np.asarray(force, dtype=float))
        return tau if null_torque is None else tau + times(self.null, np.asarray(null_torque, dtype=float))

    def tool_force(self, tau: Any) -> Array:
        """gamma_A: (..., m) Jbar^T tau, the tool force that joint torques amount to. Siciliano (7.140)"""
        return times(transposed(self.inverse), np.asarray(tau, dtype=float))

    def acceleration(self, tau: Any, wrench: Any = None) -> Array:
        """xdd: (..., m) that torques give the tool: J qdd + Jdot qd, exact at singular configurations too.

        Siciliano (7.129)
        """
        net = np.asarray(tau, dtype=float) - self.bias
        if wrench is not None:
            net = net - times(transposed(self.J), np.asarray(wrench, dtype=float))
        return np.asarray(times(self.J, np.linalg.solve(self.M, net[..., None])[..., 0]) + self.drift)


@takes(*CLOSED, *TREE)
def operational_space(
    model: Robot | Dynamics,
    q: Any,
    qd: Any = None,
    *,
    rows: str | None = None,
    angles: Angles = None,
    frame: str = "tool",
    damping: float = 0.0,
    throw: bool = True,
) -> OperationalSpaceModel:
    """The model of operational space of a frame at (q, qd).

    Args:    model: a robot, or its Dynamics
             q, qd: (..., n), rad or m, per s (default: qd = 0)
             rows: some of x y z rx ry rz (default: what the arm can move independently)
             angles: "zyz" (rows phi theta psi) or "rpy" (roll pitch yaw) for the analytic Jacobian
             frame: of the robot
             damping: conditioning, such as 1e-2, below which the inverse is damped (default 0: never). With singular
                      values s of the scaled J M^-1/2, 1/s^2 becomes 1/(s^2 + d^2), where
                      d^2 = damping^2 max(s)^2 - min(s)^2 if that is positive, else 0
             throw: raise at singular configurations that are not damped; else NaN there, see `status`
    Raises:  SingularTask, ShapeError.

    >>> import armdyn
    >>> here = operational_space(armdyn.load("planar2r"), [0.3, 1.2])
    >>> here.task.names, here.status.name
    (('x', 'y'), 'REGULAR')
    """
    dyn = dynamics_of(model)
    if not 0 <= damping < 1:
        raise ArmdynError(f"damping = {damping}", where="operational_space", expected="0 or more, less than 1")
    task = make_task(dyn, rows, angles, frame)
    q = joint_array(dyn, "q", q)
    q, qd = np.broadcast_arrays(q, np.zeros_like(q) if qd is None else joint_array(dyn, "qd", qd))
    J, M, Jdot_qd = jacobian(dyn, task, q), dyn.mass_matrix(q), drift(dyn, task, q, qd)
    c, g, f = dyn.coriolis(q, qd), holding_torques(dyn, q), dyn.friction(qd)
    inverted = _invert(task, J, M, damping)
    if throw and inverted.undefined.any():
        raise _singular(dyn, task, J)
    inverse = np.linalg.solve(M, transposed(J) @ inverted.mass)  # (7.138)
    project = transposed(inverse)
    return OperationalSpaceModel(
        task=task,
        J=J,
        M=M,
        bias=c + g + f,
        mobility=inverted.mobility,
        mass=inverted.mass,
        coriolis=times(project, c) - times(inverted.mass, Jdot_qd),  # (7.131)
        gravity=times(project, g),  # (7.132)
        friction=times(project, f),
        inverse=inverse,
        null=inverted.null,
        velocity=times(J, qd),
        drift=Jdot_qd,
        conditioning=inverted.conditioning,
        singular=inverted.conditioning <= SINGULAR_RATIO,
        damped=inverted.damped,
    )


@takes(*TREE)
def coriolis_matrix(
    model: Robot | Dynamics, q: Any, qd: Any, *, rows: str | None = None, angles: Angles = None, frame: str = "tool"
) -> Array:
    """C_A: (..., m, m) for which Bdot_A - 2 C_A is skew-symmetric (Siciliano problem 7.9), redundant arms included.

        C_A = Jbar^T C Jbar - B_A Jdot Jbar

    C_A xd is (7.131) where the arm does not move within itself (qd = Jbar xd): always, if it is not redundant.
    """
    dyn = dynamics_of(model)
    here = operational_space(dyn, q, qd, rows=rows, angles=angles, frame=frame)
    q, qd = np.broadcast_arrays(np.asarray(q, dtype=float), np.asarray(qd, dtype=float))
    moving = transposed(here.inverse) @ dyn.coriolis_matrix(q, qd) - here.mass @ jacobian_rate(dyn, here.task, q, qd)
    return np.asarray(moving @ here.inverse)


class _Inverted(NamedTuple):
    """J M^-1 J^T, its (damped) inverse, and what of the torques the tool does not see."""

    mobility: Array
    mass: Array
    null: Array
    conditioning: Array
    damped: Array
    undefined: Array


def _invert(task: Task, J: Array, M: Array, damping: float) -> _Inverted:
    known: Array = np.asarray(np.isfinite(J).all(axis=(-2, -1)))
    L = np.linalg.cholesky(M)
    A = transposed(np.linalg.solve(L, transposed(np.where(known[..., None, None], J, 0.0))))  # J M^-1/2, up to a turn
    scale = _scale(task, A)
    U, s, Vt = singular_values(A / scale[..., None])
    largest, smallest = s[..., 0], s[..., -1]
    conditioning = smallest / np.where(largest == 0, 1.0, largest)
    damped = (conditioning < damping) & known & (largest > 0)
    undefined = (conditioning <= SINGULAR_RATIO) & ~damped

    extra = np.where(damped, (damping * largest) ** 2 - smallest**2, 0.0)
    kept = 1 / np.where(undefined[..., None], np.nan, s**2 + extra[..., None])
    mass = (U * kept[..., None, :]) @ transposed(U) / (scale[..., :, None] * scale[..., None, :])  # (7.130)
    seen = np.where((s[..., : Vt.shape[-2]] > SINGULAR_RATIO * largest[..., None])[..., None], Vt, 0.0)
    null = np.eye(M.shape[-1]) - L @ transposed(seen) @ transposed(np.linalg.solve(transposed(L), transposed(seen)))
    defined = np.where(known, 1.0, np.nan)[..., None, None]
    return _Inverted(A @ transposed(A) * defined, mass, null * defined, conditioning, damped, undefined)


def _scale(task: Task, A: Array) -> Array:
    """(..., m) length of the linear, and of the angular rows: what makes singular values comparable."""
    squares: Array = (A**2).sum(axis=-1)
    scale: Array = np.empty_like(squares)
    total = np.sqrt(squares.sum(axis=-1))
    for kind in (task.linear, ~task.linear):
        own = np.sqrt(squares[..., kind].sum(axis=-1))
        scale[..., kind] = np.where(total == 0, 1.0, np.maximum(own, DEAD * total))[..., None]
    return scale


def _singular(dyn: Dynamics, task: Task, J: Array) -> SingularTask:
    what = f"the task {' '.join(task.names)} has lost rank"
    if not np.isfinite(J).all():
        what = f"the {task.angles} angles of the tool are not defined"
    dead = [name for i, name in enumerate(task.names) if np.abs(J[..., i, :]).max(initial=0.0) < DEAD]
    return SingularTask(
        what,
        where=f"robot {dyn.robot.name!r}",
        expected="positions in which the arm can move every row of the task",
        advice=f"No joint moves {', '.join(dead)}: leave it out."
        if dead
        else "Choose fewer rows, give damping, or throw=False.",
    )
