"""`solve`: the joint positions that put the tool at a pose, all of them where the arm has a closed form."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armdyn import text_table
from armdyn.algebra import rot_rpy, rpy_of
from armdyn.dynamics import Dynamics
from armdyn.errors import ShapeError
from armdyn.kinematics.closed_form import closed_form
from armdyn.kinematics.compiled_frame import placer
from armdyn.kinematics.inverse import all_solutions, inverse_kinematics
from armdyn.kinematics.numeric_inverse import search_bounds
from armdyn.kinematics.reach import reach
from armdyn.kinematics.rotations import EXACTLY_ORTHOGONAL, checked_pose, unorthogonality
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot.features import CLOSED, FRICTIONLESS, takes
from armdyn.robot.limits import joint_units
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section
from armdyn.typing import Array


@dataclass(frozen=True, eq=False)
class Solutions(Result):
    """Joint positions that put the tool at a pose, the one nearest to the start first.

    robot:     the robot.
    pose:      (4, 4) in the world; a position alone has the rotation nan.
    q:         (k, n) rad or m, turned by whole turns to within the limits where that is possible.
    error:     (k,) largest component of the error of the pose, m or rad, by forward kinematics.
    condition: (k,) condition number of the Jacobian, linear rows divided by the reach; infinite at singular positions.
    room:      (k, n) distance of each joint to its nearer limit, rad or m, negative beyond it; infinite without limits.
    method:    the family of the closed form, or "iteration".
    notes:     what to know about them.
    """

    robot: Robot
    pose: Array
    q: Array
    error: Array
    condition: Array
    room: Array
    method: str
    notes: tuple[str, ...]

    def save(self, path: str | Path) -> Path:
        """Write one row per solution as CSV, SI units."""
        table = {f"q{j + 1}": column for j, column in enumerate(self.q.T)}
        return text_table.write(path, table | {"condition": self.condition, "room": self.room.min(axis=1)})

    def plot(self, path: str | Path | None = None, size: str | None = None) -> Any:
        """Matplotlib figure of the arm at each solution.

        path: .png, .svg or .pdf file to write (default: none). size: "column" or "page" of a journal.
        """
        from armdyn.report.figures.robot_figures import solutions_figure
        from armdyn.report.figures.style import save_figure

        figure = solutions_figure(self.robot, self.q)
        return figure if path is None else save_figure(figure, path, size)

    def record(self) -> dict[str, Any]:
        """Everything as plain values, SI units."""
        names = ("pose", "q", "error", "condition", "room")
        arrays = {name: getattr(self, name).tolist() for name in names}
        return {"robot": self.robot.name, **arrays, "method": self.method, "notes": list(self.notes)}

    def _view(self) -> View:
        heads = [Column(""), *(Column(f"q{j}", each.position) for j, each in enumerate(joint_units(self.robot), 1))]
        rows = [
            (str(k + 1), *(f"{x:z.5f}" for x in q), f"{condition:.3g}", _nearest_limit(room))
            for k, (q, condition, room) in enumerate(zip(self.q, self.condition, self.room, strict=True))
        ]
        inside = int((self.room >= 0).all(axis=1).sum())
        count = len(self.q)
        verdict = "none" if not count else f"{count} found, {inside} of them within the limits"
        facts = [("position", ", ".join(f"{x:z.6g}" for x in self.pose[:3, 3]) + " m")]
        if np.isfinite(self.pose).all():
            facts.append(("roll, pitch, yaw", ", ".join(f"{x:z.6g}" for x in rpy_of(self.pose[:3, :3])) + " rad"))
        facts.append(("method", self.method))
        if count:
            facts.append(("error", f"at most {self.error.max():.1e} m and rad, by forward kinematics"))
        table = Section(
            "Solutions",
            (*heads, Column("condition"), Column("nearest limit", folds=True)),
            tuple(rows),
            "Condition number of the Jacobian, linear rows divided by the reach.",
        )
        return View(
            f"Inverse kinematics of {self.robot.name}", (verdict, inside > 0), facts, (), (table,), notes=self.notes
        )


def _nearest_limit(room: Array) -> str:
    k = int(room.argmin())
    if not np.isfinite(room[k]):
        return "none"
    return f"{room[k]:.3g} to that of q{k + 1}" if room[k] >= 0 else f"{-room[k]:.3g} beyond that of q{k + 1}"


@takes("elastic", *CLOSED, *FRICTIONLESS)
def solve(robot: Robot | Dynamics, pose: Any, near: Any = None) -> Solutions:
    """Return the joint positions that put the tool at a pose: all branches of the closed form, or one by iteration.

    pose: (4, 4) or its 16 numbers row by row, in the world; 6 numbers: position, m, and roll, pitch, yaw, rad; 3
          numbers: a position, m, with any rotation. Rotations printed with four or more decimals are made orthogonal.
    near: (n,) positions from which solutions are counted, and that free joints keep (default: middle of the ranges).
    Solutions beyond the joint limits are listed too, with the distance by which they are.
    """
    robot = robot.robot if isinstance(robot, Dynamics) else robot
    target, rounding = _target(pose)
    rotation = target.shape == (4, 4)
    notes = []
    if rounding > EXACTLY_ORTHOGONAL:
        notes.append(f"The rotation was off by {rounding:.1g} and was replaced by the nearest one.")
    form = closed_form(robot, rotation=rotation)
    bounds = search_bounds(robot, True)
    start = bounds.middle if near is None else near
    if form is not None:
        q = all_solutions(robot, target, q0=start, limits=False)
        beyond = [x for x in q if not bounds.contains(x)]
        q = np.array([*all_solutions(robot, target, q0=start), *beyond]).reshape(-1, robot.n)
        q = _distinct(q)
        method = f"closed form: {form.family}"
        if form.known is not None:
            notes.append(f"Joint {form.known + 1} is held where it starts; every value of it has branches of its own.")
    else:
        found = inverse_kinematics(robot, target, start, throw=False)
        q, method = found.q[None][: int(found.reached)], "iteration"
        notes.append("Iteration finds one solution; there may be others.")
    return _judged(robot, target, q, method, tuple(notes))


def _target(pose: Any) -> tuple[Array, float]:
    """A pose (4, 4) or a position (3,), and how far its rotation was from one."""
    given = np.asarray(pose, dtype=float)
    if given.shape == (3,) and np.isfinite(given).all():
        return given, 0.0
    if given.shape == (6,):
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = np.array(rot_rpy(*given[3:]).rows, dtype=float), given[:3]
        given = T
    elif given.shape == (16,):
        given = given.reshape(4, 4)
    if given.shape != (4, 4):
        raise ShapeError(
            f"pose of shape {given.shape}", expected="(4, 4), 16, 6 (x, y, z, roll, pitch, yaw) or 3 numbers"
        )
    return checked_pose("pose", given), unorthogonality(given[:3, :3])


def _distinct(q: Array) -> Array:
    """Configurations that differ by more than whole turns; the first of those that do not."""
    kept: list[Array] = []
    for x in q:
        if all(np.abs((x - other + np.pi) % (2 * np.pi) - np.pi).max() > 1e-6 for other in kept):
            kept.append(x)
    return np.array(kept).reshape(q.shape[0] and len(kept), q.shape[1])


def _judged(robot: Robot, target: Array, q: Array, method: str, notes: tuple[str, ...]) -> Solutions:
    """Solutions with what forward kinematics, Jacobian and limits say about them."""
    rotation = target.shape == (4, 4)
    T = target if rotation else np.full((4, 4), np.nan)
    if not rotation:
        T[:3, 3] = target
    if robot.constrained:
        from armdyn.dynamics import compile as compiled

        dyn = compiled(robot)
        here, J = dyn.pose(q), dyn.jacobian(q)
        R, p = here[:, :3, :3], here[:, :3, 3]
    else:
        R, p, J = placer(robot)(q)
    off = np.abs(p - T[:3, 3]).max(axis=-1, initial=0.0)
    if rotation:
        off = np.maximum(off, np.abs(R - T[:3, :3]).max(axis=(-2, -1), initial=0.0))
    scale = np.concatenate([np.full(3, 1 / max(reach(robot), 1e-300)), np.ones(3)])
    rows = (J * scale[:, None])[:, : 6 if rotation else 3]
    sizes = np.linalg.svd(rows, compute_uv=False)
    rank = int(np.linalg.matrix_rank(rows, tol=1e-9).max(initial=1)) or 1
    with np.errstate(divide="ignore"):
        condition = sizes[:, 0] / np.where(sizes[:, rank - 1] > 1e-12, sizes[:, rank - 1], 0.0)
    bounds = search_bounds(robot, True)
    room = np.minimum(q - bounds.lower, bounds.upper - q)
    return Solutions(robot, T, q, off, condition, room, method, notes)
