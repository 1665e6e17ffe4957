"""Names for intermediate results, in the manner of SYMORO: wx3, ay4, Uxy2, M12.

A node is called after a quantity of mechanics if it has the quantity's value at two random states. So names survive
every rewriting of the graph; a name says what a number is, never how it was computed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from armdyn.algebra import Mat3, Vec3
from armdyn.errors import ArmdynError
from armdyn.graph import Graph, Node
from armdyn.graph.evaluate import run
from armdyn.mechanics import composite_body, forward, linear
from armdyn.mechanics.kinematics import Motion, link_poses
from armdyn.mechanics.steps.newton_euler import rate_matrix, turning_moment
from armdyn.robot import Robot
from armdyn.robot.links import WORLD

LEGEND = (
    "C23, S23: cosine, sine of q2 + q3 (with the joints' offsets); w, wd, a: angular velocity and acceleration of a "
    "link, acceleration of its origin against free fall; wxy: product of wx and wy; U: matrix of the rates, skew(wd) + "
    "skew(w) skew(w); f, m: force and moment that the link exerts on its parent; R, p: rotation and position of a link "
    "in the world; X, h, mass: tensor, first moment and mass of a link with all that it carries; M: mass matrix, L, "
    "Dinv: its factors; H: torques at zero acceleration. x, y, z are the axes of the link's joint frame, the number is "
    "the link's; _neg: with the opposite sign."
)
"""Explanation of the names, printed at the top of a program."""

AXES = "xyz"
TOLERANCE = 1e-9
"""Relative difference of values taken for equal: far above rounding, far below chance among a few thousand."""

Values = Iterator[tuple[str, Any]]


def labels_of(graph: Graph, robot: Robot, parameters: Mapping[Node, float] | None = None) -> dict[Node, str]:
    """Names for nodes of a graph of this robot (in numbers); parameters: values of its free symbols."""
    rng = np.random.default_rng(4)
    state = {name: rng.uniform(0.2, 1.4, (2, robot.n)).T for name in ("q", "qd", "qdd", "tau", "weights")}
    for rate in ("qd", "qdd", "tau"):
        state[rate][:, 1] *= -1  # of either sign, so that |x| is not taken for x
        if rate not in graph.inputs and rate != "tau":  # a quantity of rest, or of motion without acceleration
            state[rate] = np.zeros((robot.n, 2))
    bound: dict[Node, Any] = {node: np.full(2, value) for node, value in (parameters or {}).items()}
    for name, symbols in graph.inputs.items():
        if name in state:
            bound.update(zip(symbols, state[name], strict=True))
    values = run(graph.nodes, bound)
    wishes = _Wishes(_quantities(robot, list(state["q"]), list(state["qd"]), list(state["qdd"])))
    found: dict[Node, str] = {}
    given: set[str] = set()
    for node in graph.nodes:
        wish = wishes.name(values[node]) if node.args else None
        if wish is not None and wish not in given:  # of two nodes with one value the first has the name
            found[node] = wish
            given.add(wish)
    return found


class _Wishes:
    """Names by value; the first quantity of a value has it."""

    def __init__(self, quantities: Iterable[tuple[str, Any]]) -> None:
        rows: list[tuple[float, float, int, str]] = []
        for place, (name, value) in enumerate(quantities):
            a, b = _pair(value)
            if min(abs(a), abs(b)) > TOLERANCE and not _close(a, b):  # no zeros, no constants
                rows.append((a, b, place, name))
        self.rows = sorted(rows)

    def name(self, value: Any) -> str | None:
        a, b = _pair(value)
        return self._found(a, b, "") or self._found(-a, -b, "_neg")

    def _found(self, a: float, b: float, suffix: str) -> str | None:
        margin = TOLERANCE * abs(a)
        start, end = (bisect_left(self.rows, (x,)) for x in (a - margin, a + margin))
        equal = [(place, name) for _, other, place, name in self.rows[start:end] if _close(b, other)]
        return min(equal)[1] + suffix if equal else None


def _pair(value: Any) -> tuple[float, float]:
    """The values at the two states."""
    return (float(value[0]), float(value[1])) if isinstance(value, np.ndarray) else (float(value), float(value))


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= TOLERANCE * max(abs(a), abs(b))


def _quantities(robot: Robot, q: list[Any], qd: list[Any], qdd: list[Any]) -> Values:
    """Names and values, the most telling first."""
    yield from _angles(robot, q)
    yield from _motion(robot, q, qd, qdd)
    yield from _places(robot, q)
    yield from _inertia(robot, q, qd)


def _angles(robot: Robot, q: list[Any]) -> Values:
    turns = [link.index for link in robot.links if link.revolute]
    for first in range(len(turns)):
        angle: Any = 0
        for last in range(first, len(turns)):
            j = turns[last]
            angle = angle + q[j] + float(robot.links[j].offset)
            index = _joined(str(k + 1) for k in turns[first : last + 1])
            yield f"C{index}", np.cos(angle)
            yield f"S{index}", np.sin(angle)


def _joined(indices: Iterable[str]) -> str:
    words = list(indices)
    return ("_" if any(len(word) > 1 for word in words) else "").join(words)


def _vector(name: str, v: Vec3, i: int) -> Values:
    for axis, value in zip(AXES, v, strict=True):
        yield f"{name}{axis}{i + 1}", value


def _matrix(name: str, A: Mat3, i: int) -> Values:
    for row, values in zip(AXES, A.rows, strict=True):
        for column, value in zip(AXES, values, strict=True):
            yield f"{name}{row}{column}{i + 1}", value


def _motion(robot: Robot, q: list[Any], qd: list[Any], qdd: list[Any]) -> Values:
    motion, poses = Motion(robot, q, qd, qdd), link_poses(robot, q)
    a = [motion.a[j] - poses[j].R.T @ robot.gravity for j in range(robot.n)]
    U = [rate_matrix(motion.w[j], motion.wd[j]) for j in range(robot.n)]
    for link in robot.links:
        j = link.index
        yield from _vector("w", motion.w[j], j)
        yield from _vector("wd", motion.wd[j], j)
        yield from _vector("a", a[j], j)
        yield from _matrix("U", U[j], j)
        yield from _matrix("w", Mat3.columns(*(x * motion.w[j] for x in motion.w[j])), j)
    f, m = [Vec3(0, 0, 0)] * robot.n, [Vec3(0, 0, 0)] * robot.n
    for link in robot.inward():
        j, body = link.index, link.inertia
        R, P = link.pose(q[j])
        f[j] = f[j] + body.mass * a[j] + U[j] @ body.moment
        turning = turning_moment(body.tensor, motion.w[j], motion.wd[j], U[j])
        m[j] = m[j] + turning + body.moment.cross(a[j])
        yield from _vector("f", f[j], j)
        yield from _vector("m", m[j], j)
        if link.parent != WORLD:
            f_j = R @ f[j]
            f[link.parent] = f[link.parent] + f_j
            m[link.parent] = m[link.parent] + R @ m[j] + P.cross(f_j)


def _places(robot: Robot, q: list[Any]) -> Values:
    for j, pose in enumerate(link_poses(robot, q)):
        yield from _matrix("R", pose.R, j)
        yield from _vector("p", pose.p, j)


def _inertia(robot: Robot, q: list[Any], qd: list[Any]) -> Values:
    M = composite_body.mass_matrix.formula(robot, q)
    H = forward.bias(robot, q, qd)
    for i in range(robot.n):
        for j in range(i, robot.n):
            yield "M" + _joined((str(i + 1), str(j + 1))), M[i][j]
        yield f"H{i + 1}", H[i]
    for j, body in enumerate(composite_body.composites(robot, q)):
        yield from _matrix("X", body.tensor, j)
        yield from _vector("h", body.moment, j)
        yield f"mass{j + 1}", body.mass
    try:
        factors = linear.factor(M)
    except (ArmdynError, ZeroDivisionError):
        return  # no inertia somewhere: there is no forward dynamics either
    for k in range(robot.n):
        for i in range(k):
            yield "L" + _joined((str(k + 1), str(i + 1))), factors.lower[k][i]
        yield f"Dinv{k + 1}", factors.inverse[k]
