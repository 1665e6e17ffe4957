"""The task of an arm: which rows of its tool's motion count, their Jacobian, and Jdot qd."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from armdyn.algebra import Mat3
from armdyn.errors import ArmdynError, ShapeError, unknown_name
from armdyn.kinematics.closable import pulled_in
from armdyn.mechanics import kinematics
from armdyn.typing import Array

if TYPE_CHECKING:
    from armdyn.dynamics import Dynamics  # inverse kinematics needs the rows alone, and starts faster

Angles = Literal["zyz", "rpy"] | None

LINEAR = ("x", "y", "z")
ANGULAR: dict[str | None, tuple[str, str, str]] = {
    None: ("rx", "ry", "rz"),
    "zyz": ("phi", "theta", "psi"),
    "rpy": ("roll", "pitch", "yaw"),
}
"""Names of the angular rows: rotations about x, y, z of the world, or Euler angles."""
ROWS = (*LINEAR, *ANGULAR[None])
"""The six rows of a task: positions along, and rotations about, x, y, z of the world."""
SINGULAR_RATIO = 1e-6
"""Share of the largest singular value of a Jacobian up to which another counts as zero: rank is lost.

A singular configuration is a double root of the inverse kinematics, known to half of the 16 digits at best, or was
typed with as many, so singular values of 1e-8 are zeros. A hundred times that keeps clear of them in arms with long and
short links, and no drive follows a tool at a million times its speed."""
_OUTER_FIRST = {"zyz": (0, 1, 2), "rpy": (2, 1, 0)}
"""Order in which the elementary rotations of the Euler angles follow one another, from the world to the tool."""
_STEP = 1e-30
"""Complex steps have no difference to cancel: as small as one likes."""


def chosen(rows: str, known: Sequence[str] = ROWS) -> Array:
    """Return the indices of the rows of a task among those known."""
    names = rows.replace(",", " ").split()
    if not names or len(set(names)) != len(names):
        raise ArmdynError(f"rows = {rows!r}", where="task", expected=f"some of {' '.join(known)}, each once")
    for name in names:
        if name not in known:
            raise unknown_name("row", name, known, where="task")
    return np.array([list(known).index(name) for name in names])


def row_mask(rows: str | None, rotation: bool) -> Array:
    """Return (6,) True for the rows that count.

    rows:     some of x y z rx ry rz (default: the position, and the rotation if there is one).
    rotation: whether the target has a rotation.
    """
    if rows is None:
        return np.array([True] * 3 + [rotation] * 3)
    index = chosen(rows)
    if not rotation and (index >= 3).any():
        raise ShapeError("rows of rotation without a rotation", expected="a pose (..., 4, 4)")
    return np.isin(np.arange(6), index)


def row_indices(mask: Array) -> tuple[int, ...]:
    """Return the indices of the rows that count."""
    return tuple(np.flatnonzero(mask).tolist())


@dataclass(frozen=True, eq=False)
class Task:
    """Rows of a tool's motion, in the order asked for. index: into the six rows, linear first."""

    names: tuple[str, ...]
    index: Array
    angles: Angles
    frame: str

    @property
    def linear(self) -> Array:
        """(m,) True for rows of position."""
        return np.asarray(self.index < 3)


def make_task(dyn: Dynamics, rows: str | None = None, angles: Angles = None, frame: str = "tool") -> Task:
    """Return the task of an arm.

    rows:   some of x y z rx ry rz, or with `angles` of phi theta psi (zyz), roll pitch yaw (rpy) (default: `own_rows`).
    angles: Euler angles instead of rotations about the world axes (default: none).
    frame:  name of a body or joint, or "tool".
    """
    if angles not in ANGULAR:
        raise unknown_name("Euler angles", str(angles), kinematics.EULER)
    known = (*LINEAR, *ANGULAR[angles])
    index = own_rows(dyn, frame) if rows is None else chosen(rows, known)
    names = tuple(known[i] for i in index)
    return Task(names, index, angles if (index >= 3).any() else None, frame)


def own_rows(dyn: Dynamics, frame: str = "tool", linear: bool = False) -> Array:
    """Return the indices of the rows that an arm can move independently almost everywhere, positions first.

    Row after row is taken if it adds to the rank at a random position: x y of a planar arm with two joints, x y rz
    with three, all six of a general arm. linear: rows of position alone.
    """
    J = dyn.jacobian(pulled_in(dyn, np.random.default_rng(0).uniform(0.3, 1.2, (1, dyn.n)))[0], frame=frame)
    kept: list[int] = []
    for row in range(3 if linear else 6):
        trial = J[[*kept, row]]
        if np.linalg.matrix_rank(trial, tol=SINGULAR_RATIO * max(np.abs(J).max(), 1.0)) == len(trial):
            kept.append(row)
    if not kept:
        raise ArmdynError(
            f"no joint moves the frame {frame!r}",
            where=f"robot {dyn.robot.name!r}",
            expected="a frame that the joints move",
            advice="Choose another frame.",
        )
    return np.array(kept)


def linear_rows(dyn: Dynamics, frame: str = "tool") -> str:
    """Return the position rows that an arm can move independently, as text; rotation rows if it moves no point."""
    try:
        index = own_rows(dyn, frame, linear=True)
    except ArmdynError:
        index = own_rows(dyn, frame)
    return " ".join(ROWS[i] for i in index)


def joint_array(dyn: Dynamics, name: str, values: Any) -> Array:
    """Return values as an array (..., n), one entry per joint; ShapeError if they are not."""
    array = np.asarray(values, dtype=float)
    if array.shape[-1:] != (dyn.n,):
        raise ShapeError(
            f"{name} has shape {array.shape}",
            where=f"robot {dyn.robot.name!r}",
            expected=f"(..., {dyn.n}), one entry per joint",
        )
    return array


def jacobian(dyn: Dynamics, task: Task, q: Array) -> Array:
    """Return the Jacobian of the task, (..., m, n): geometric, or analytic with Euler angles. Siciliano (3.66)

    Not a number in rows of Euler angles where these are not defined (a representation singularity).
    """
    J = dyn.jacobian(q, frame=task.frame)
    if task.angles is not None:
        J = np.concatenate([J[..., :3, :], _rates(dyn, task, q) @ J[..., 3:, :]], axis=-2)
    return np.asarray(J[..., task.index, :])


def drift(dyn: Dynamics, task: Task, q: Array, qd: Array) -> Array:
    """Return Jdot qd of the task, (..., m)."""
    bias = dyn.jacobian_dot_qd(q, qd, frame=task.frame)
    if task.angles is not None:
        E = _rates(dyn, task, q)
        w = (dyn.jacobian(q, frame=task.frame) @ qd[..., None])[..., 3:, 0]
        turning = bias[..., 3:] - _convection(E, w, task.angles)
        bias = np.concatenate([bias[..., :3], (E @ turning[..., None])[..., 0]], axis=-1)
    return np.asarray(bias[..., task.index])


def jacobian_rate(dyn: Dynamics, task: Task, q: Array, qd: Array) -> Array:
    """Return Jdot of the task, (..., m, n), by a complex step along qd: exact to rounding."""
    along: Any = q + 1j * _STEP * qd
    if task.angles is None:
        J = kinematics.jacobian(dyn.robot, along, frame=task.frame)
    else:
        J = kinematics.analytic_jacobian(dyn.robot, along, frame=task.frame, angles=task.angles)
    return np.asarray(np.asarray(J).imag[..., task.index, :] / _STEP)


def _rates(dyn: Dynamics, task: Task, q: Array) -> Array:
    """(..., 3, 3) E with phid = E w; not a number where the angles are not defined."""
    R = dyn.pose(q, frame=task.frame)[..., :3, :3]
    assert task.angles is not None
    with np.errstate(divide="ignore", invalid="ignore"):
        entries = kinematics.euler_rates(Mat3(_entries(R)), task.angles)
    return np.stack([np.stack([np.broadcast_to(x, R.shape[:-2]) for x in row], -1) for row in entries.rows], -2)


def _entries(R: Array) -> tuple[tuple[Array, ...], ...]:
    return tuple(tuple(R[..., i, j] for j in range(3)) for i in range(3))


def _convection(E: Array, w: Array, angles: str) -> Array:
    """(..., 3) Tdot phid, where w = T phid: each axis of the Euler angles is carried by those before it."""
    known = np.isfinite(E).all(axis=(-2, -1), keepdims=True)
    T = np.linalg.inv(np.where(known, E, np.eye(3)))
    rates = (E @ w[..., None])[..., 0]
    turning, total = np.zeros_like(w), np.zeros_like(w)
    for i in _OUTER_FIRST[angles]:
        part = rates[..., i, None] * T[..., :, i]
        total = total + np.cross(turning, part)
        turning = turning + part
    return np.asarray(total)
