"""Sets of velocities, forces and accelerations that the tool can reach in one configuration.

Ellipsoids hold for joint vectors in a ball (Siciliano sec. 7.9), polytopes for each joint within its own limits.
Rows of one kind (positions, or rotations) give sets with a meaning; axes and volumes of mixed rows depend on units.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from math import gamma, pi
from typing import Any, Literal

import numpy as np

from armdyn.analysis.stacked import singular_values, times, transposed
from armdyn.control.base import SingularTask
from armdyn.dynamics import Dynamics
from armdyn.dynamics.holding import holding_torques
from armdyn.errors import ArmdynError, NotApplicable, PhysicsError, unknown_name
from armdyn.kinematics.manipulability import product_of_axes
from armdyn.kinematics.task_rows import SINGULAR_RATIO, Task, drift, jacobian, joint_array, linear_rows, make_task
from armdyn.motion.sampling import dynamics_of
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, FRICTIONLESS, TREE, takes
from armdyn.robot.limits import limit_vector, required_torque_limits, velocity_limits
from armdyn.tables import without_rounding
from armdyn.typing import Array

METHODS = ("exact", "text")
MOST_FREE = 14
"""Largest number of generators within one face: every choice of their signs is tried."""
SAME = 1e-9
"""Share of the longest generator within which directions and points count as the same."""


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """{centre + axes diag(lengths) u, |u| <= 1} over rows of the tool's motion; leading axes are those of q.

    kind: velocity, force or acceleration
    rows: (m,) names
    centre: (..., m)
    axes: (..., m, m), unit vectors in columns, the longest first
    lengths: (..., m) half axes, in the units of `kind`; 0 where the tool cannot move, infinite without limit
    """

    kind: str
    rows: tuple[str, ...]
    centre: Array
    axes: Array
    lengths: Array

    @property
    def volume(self) -> Array:
        """(...) volume, in the product of the units of the rows."""
        m = len(self.rows)
        return np.asarray(self.lengths.prod(axis=-1) * pi ** (m / 2) / gamma(m / 2 + 1))

    @property
    def isotropy(self) -> Array:
        """(...) shortest over longest half axis: 1 for a ball, 0 where the tool has lost a direction."""
        longest, shortest = self.lengths[..., 0], abs(self.lengths[..., -1])  # singular values may be -0.0
        share = shortest / np.where(np.isfinite(longest) & (longest > 0), longest, 1.0)
        return np.where(np.isinf(longest), 0.0, share)

    @property
    def printed_lengths(self) -> list[float]:
        """(m,) half axes of one configuration; 0 in directions that are lost up to the digits of a robot's file."""
        return without_rounding(map(float, self.lengths), part=SINGULAR_RATIO)

    @property
    def half_axes(self) -> str:
        """Half axes of one configuration as a text, the longest first."""
        words = (f"{x:.0f}" if x >= 100 else f"{x:.3g}" for x in self.printed_lengths)
        return ", ".join("unlimited" if word == "inf" else word for word in words)

    @property
    def condition_number(self) -> Array:
        """(...) longest over shortest half axis; infinite where the tool has lost a direction."""
        with np.errstate(divide="ignore"):
            return np.asarray(1 / self.isotropy)

    def support(self, direction: Any) -> Array:
        """(...) maximum of direction . x over the set, direction: (..., m) of any length."""
        d = np.asarray(direction, dtype=float)
        parts = times(transposed(self.axes), np.broadcast_to(d, self.centre.shape))
        with np.errstate(invalid="ignore"):
            scaled = np.where(parts == 0, 0.0, parts * self.lengths)
        return np.asarray((d * self.centre).sum(axis=-1) + np.sqrt((scaled**2).sum(axis=-1)))

    def level(self, x: Any) -> Array:
        """Norm (...) of the u that is mapped to x (..., m): 1 on the surface, less inside, infinite off a flat set."""
        parts = times(transposed(self.axes), np.asarray(x, dtype=float) - self.centre)
        with np.errstate(divide="ignore", invalid="ignore"):
            u = np.where(parts == 0, 0.0, parts / self.lengths)
        return np.asarray(np.sqrt((u**2).sum(axis=-1)))


@dataclass(frozen=True, eq=False)
class Polytope:
    """{centre + generators u, every |u_j| <= 1}: tool accelerations with each joint within its torque limits.

    Such a set is called a zonotope.

    rows: (m,) names
    centre: (..., m)
    generators: (..., m, n), acceleration of the tool by half the torque range of each joint
    """

    rows: tuple[str, ...]
    centre: Array
    generators: Array

    def support(self, direction: Any) -> Array:
        """(...) the maximum of direction . x over the set, direction: (..., m)."""
        d = np.broadcast_to(np.asarray(direction, dtype=float), self.centre.shape)
        return np.asarray((d * self.centre).sum(axis=-1) + np.abs(times(transposed(self.generators), d)).sum(axis=-1))

    def normals(self) -> Array:
        """(..., k, m) unit vectors among which are those of all faces, up to sign.

        A face is spanned by m - 1 generators; a flat set is bounded across itself too.
        """
        m, n = self.generators.shape[-2:]
        if m == 1:
            return np.ones((*self.centre.shape[:-1], 1, 1))
        across = np.linalg.svd(self.generators)[0][..., None, :, -1]
        if n < m - 1:
            return np.asarray(across)
        spans = np.array(list(combinations(range(n), m - 1)))
        edges = np.moveaxis(self.generators[..., spans], -3, -1)  # (..., faces, m - 1, m)
        return np.concatenate([np.linalg.svd(edges)[2][..., -1, :], across], axis=-2)

    def faces(self) -> tuple[Array, Array]:
        """(d, h): (..., k, m) and (..., k), the set is where d . x <= h for all; some may touch in less than a face."""
        d = self.normals()
        spread = np.abs(d @ self.generators).sum(axis=-1)
        middle = times(d, self.centre)
        return np.concatenate([d, -d], axis=-2), np.concatenate([spread + middle, spread - middle], axis=-1)

    def radius(self) -> Array:
        """(...) the largest acceleration available in every direction: the largest ball about zero.

        Exact. Negative where the tool cannot be held at rest: how far zero lies beyond the farthest face (at most its
        distance from the set, which may be to an edge or corner).
        """
        return np.asarray(self.faces()[1].min(axis=-1))

    def along(self, direction: Any) -> Array:
        """(...) the largest acceleration straight along a direction (m,), the other rows at rest; NaN if not even 0."""
        d, h = self.faces()
        unit = np.asarray(direction, dtype=float) / np.linalg.norm(direction)
        rise = d @ unit
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(rise > 1e-12, h / rise, np.inf)
        least = h.min(axis=-1) < -1e-9 * np.abs(h).max(axis=-1)
        return np.where(least, np.nan, np.maximum(steps.min(axis=-1), 0.0))

    def vertices(self) -> Array:
        """(v, m) corners of one set (not a batch), in no order; of a flat set also points between corners."""
        from scipy.spatial import ConvexHull, QhullError

        if self.centre.ndim != 1:
            raise ArmdynError(f"a batch of shape {self.centre.shape[:-1]}", where="vertices", expected="one position")
        edges = _merged(self.generators)
        size = np.abs(edges).max(initial=0.0)
        found = []
        for d in self.faces()[0]:
            push = d @ edges
            free = np.abs(push) <= SAME * size
            if free.sum() > MOST_FREE:
                raise NotApplicable(
                    f"{int(free.sum())} joints push along one face: its corners are too many",
                    where="vertices",
                    expected=f"at most {MOST_FREE}",
                    advice="Use `support` or `faces`.",
                )
            signs = np.array(list(product((-1.0, 1.0), repeat=int(free.sum()))))
            fixed = self.centre + edges[:, ~free] @ np.sign(push[~free])
            found.append(fixed + signs @ edges[:, free].T)
        points = np.concatenate(found)
        _, first = np.unique(np.round(points / max(size, 1e-300), 9), axis=0, return_index=True)
        points = points[first]  # each once, not rounded: rounding would make corners of points within a face
        try:
            return np.asarray(points[ConvexHull(points).vertices]) if self.centre.size > 1 else points
        except QhullError:
            return np.asarray(points)


# Sets ---------------------------------------------------------------------------------------------------------------


@takes(*CLOSED, *FRICTIONLESS)
def velocity_ellipsoid(
    model: Robot | Dynamics, q: Any, *, rows: str | None = None, frame: str = "tool", qd_max: Any = 1.0
) -> Ellipsoid:
    """Tool velocities J qd of joint velocities in a ball: half axes are the singular values of J. Siciliano sec. 3.9

    Args:    model: a robot, or its Dynamics
             q: (..., n)
             rows: some of x y z rx ry rz (default: the position rows that the arm can move independently)
             frame: of the robot
             qd_max: (n,) or one for all, rad/s or m/s, half axes of the ball of joint velocities, or "limits"
    """
    dyn, task, q = _start(model, q, rows, frame)
    fastest = _weights(dyn, "qd_max", qd_max)
    U, s, _ = singular_values(jacobian(dyn, task, q) * fastest)
    return Ellipsoid("velocity", task.names, np.zeros(s.shape), U, s)


@takes(*CLOSED, *FRICTIONLESS)
def force_ellipsoid(
    model: Robot | Dynamics, q: Any, *, rows: str | None = None, frame: str = "tool", tau_max: Any = 1.0
) -> Ellipsoid:
    """Tool forces gamma that joint torques J^T gamma in a ball can hold: long where velocities are short. Siciliano
    sec. 3.9

    Gravity is left out. Half axes are infinite where the structure bears any force.

    Args:    model, q, rows, frame: as for `velocity_ellipsoid`
             tau_max: (n,) or one for all, N m or N, half axes of the ball of torques, or "limits"
    """
    dyn, task, q = _start(model, q, rows, frame)
    U, s, _ = singular_values(jacobian(dyn, task, q) / _weights(dyn, "tau_max", tau_max))
    with np.errstate(divide="ignore"):
        lengths = 1 / np.where(s > SINGULAR_RATIO * s[..., :1], s, 0.0)
    return Ellipsoid("force", task.names, np.zeros(s.shape), U[..., ::-1], lengths[..., ::-1])


@takes(*CLOSED, *TREE)
def acceleration_ellipsoid(
    model: Robot | Dynamics,
    q: Any,
    qd: Any = None,
    *,
    rows: str | None = None,
    frame: str = "tool",
    tau_max: Any = 1.0,
    gravity: bool = True,
    method: Literal["exact", "text"] = "exact",
) -> Ellipsoid:
    """Dynamic manipulability: tool accelerations of joint torques in a ball. Siciliano sec. 7.9

    exact: all accelerations J M^-1 (tau - g) of torques tau in the ball.
    text: (7.148), |M J^+ (x - centre)| <= 1, with the pseudo-inverse J^+ of joint accelerations of least norm. For arms
    that are not redundant the two are one (7.149). For redundant ones the text's lies within the exact set; and since
    it drops what gravity does in the null space of J, its surface is not where torques reach their norm.

    Args:    model, q, rows, frame: as for `velocity_ellipsoid`
             qd: (..., n), whose Coriolis and friction torques count (default: at rest)
             tau_max: (n,) or one for all, N m or N, half axes of the ball of torques, or "limits"
             gravity: False leaves gravity out
             method: exact or text
    Returns: Ellipsoid about -J M^-1 g (+ Jdot qd - J M^-1 (C qd + friction)), m/s^2 and rad/s^2.
    """
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    dyn, task, q = _start(model, q, rows, frame)
    J, JMi, centre = _effect(dyn, task, q, qd, gravity)
    strongest = _weights(dyn, "tau_max", tau_max)
    if method == "exact":
        U, s, _ = singular_values(JMi * strongest)
        return Ellipsoid("acceleration", task.names, centre, U, s)
    singular = np.linalg.svd(J, compute_uv=False)
    if J.shape[-2] > dyn.n or (singular[..., -1] <= SINGULAR_RATIO * singular[..., 0]).any():
        raise SingularTask(
            "the Jacobian has lost rank",
            where="acceleration_ellipsoid",
            expected="full rank (Siciliano (7.145))",
            advice="The exact set exists everywhere: method='exact'.",
        )
    needed = dyn.mass_matrix(q) @ np.linalg.pinv(J) / strongest[:, None]  # M J^+, Siciliano (7.148)
    _, s, Vt = np.linalg.svd(needed, full_matrices=False)
    return Ellipsoid("acceleration", task.names, centre, transposed(Vt)[..., ::-1], 1 / s[..., ::-1])


@takes(*CLOSED, *TREE)
def acceleration_polytope(
    model: Robot | Dynamics,
    q: Any,
    qd: Any = None,
    *,
    rows: str | None = None,
    frame: str = "tool",
    tau_max: Any = None,
    tau_min: Any = None,
    gravity: bool = True,
) -> Polytope:
    """Exact set of tool accelerations with every joint within its own torque limits.

    Args:    model, q, qd, rows, frame, gravity: as for `acceleration_ellipsoid`
             tau_max: (n,) or one for all, N m or N (default: the robot's)
             tau_min: (n,) or one for all, N m or N (default: -tau_max)
    Raises:  NotApplicable if a joint has no limit.
    """
    dyn, task, q = _start(model, q, rows, frame)
    low, high = required_torque_limits(dyn.robot, tau_max, tau_min)
    _, JMi, centre = _effect(dyn, task, q, qd, gravity)
    return Polytope(task.names, centre + JMi @ ((low + high) / 2), JMi * ((high - low) / 2))


@takes(*CLOSED, *FRICTIONLESS)
def manipulability(model: Robot | Dynamics, q: Any, *, rows: str | None = None, frame: str = "tool") -> Array:
    """(...) sqrt(det(J J^T)), the product of the half axes of the velocity ellipsoid. Siciliano (3.56)

    q: (..., n)
    rows: some of x y z rx ry rz (default: x y z, in the directions in which the arm can move its tool)
    frame: of the robot
    """
    dyn, task, q = _start(model, q, rows, frame)
    if rows is not None:
        return product_of_axes(jacobian(dyn, task, q), len(task.names))
    half = slice(0, 3) if task.linear.all() else slice(3, 6)
    return product_of_axes(dyn.jacobian(q, frame=frame)[..., half, :], len(task.names))


@takes(*CLOSED, *TREE)
def dynamic_manipulability(
    model: Robot | Dynamics, q: Any, *, rows: str | None = None, frame: str = "tool", tau_max: Any = 1.0
) -> Array:
    """(...) sqrt(det(J M^-2 J^T)), the product of the half axes of the acceleration ellipsoid.

    For an arm that is not redundant, with torques of unit norm, it is manipulability / det M (Siciliano problem 7.11).
    """
    found = acceleration_ellipsoid(model, q, rows=rows, frame=frame, tau_max=tau_max)
    return np.asarray(found.lengths.prod(axis=-1))


# Helpers ------------------------------------------------------------------------------------------------------------


def _start(model: Robot | Dynamics, q: Any, rows: str | None, frame: str) -> tuple[Dynamics, Task, Array]:
    dyn = dynamics_of(model)
    task = make_task(dyn, linear_rows(dyn, frame) if rows is None else rows, None, frame)
    return dyn, task, joint_array(dyn, "q", q)


def _merged(generators: Array) -> Array:
    """(m, k) generators without those that are zero, parallel ones as one: their sum is the same set."""
    lengths = np.linalg.norm(generators, axis=0)
    kept: list[Array] = []
    for g in generators[:, lengths > SAME * lengths.max(initial=0.0)].T:
        for i, other in enumerate(kept):
            cosine = g @ other / (np.linalg.norm(g) * np.linalg.norm(other))
            if np.linalg.norm(g / np.linalg.norm(g) - np.sign(cosine) * other / np.linalg.norm(other)) < SAME:
                kept[i] = other + np.sign(cosine) * g
                break
        else:
            kept.append(g)
    return np.array(kept).reshape(-1, len(generators)).T


def _weights(dyn: Dynamics, name: str, given: Any) -> Array:
    """(n,) positive half axes of a ball of joint vectors."""
    if isinstance(given, str):
        if given != "limits":
            raise unknown_name(name, given, ("limits",))
        if name == "tau_max":
            return required_torque_limits(dyn.robot)[1]
        given = velocity_limits(dyn.robot)
    weights: Array = limit_vector(name, given, dyn.n)
    if not np.isfinite(weights).all():
        raise NotApplicable(
            f"{name} is not limited for every joint",
            where=f"robot {dyn.robot.name!r}",
            expected="a finite limit of every joint",
            advice=f"Give {name}.",
        )
    return weights


def _effect(dyn: Dynamics, task: Task, q: Array, qd: Any, gravity: bool) -> tuple[Array, Array, Array]:
    """J, J M^-1, and the acceleration of the tool without torques."""
    if qd is not None:
        q, qd = np.broadcast_arrays(q, joint_array(dyn, "qd", qd))
    J = jacobian(dyn, task, q)
    try:
        JMi = transposed(np.linalg.solve(dyn.mass_matrix(q), transposed(J)))
    except np.linalg.LinAlgError:
        raise PhysicsError(
            "the mass matrix is singular",
            where=f"robot {dyn.robot.name!r}",
            expected="inertia against every motion",
            advice="Give the links masses, or the joints rotors.",
        ) from None
    centre = -times(JMi, holding_torques(dyn, q)) if gravity else np.zeros(JMi.shape[:-1])  # Siciliano (7.148)
    if qd is not None:
        centre = centre + drift(dyn, task, q, qd) - times(JMi, dyn.coriolis(q, qd) + dyn.friction(qd))
    return J, JMi, centre
