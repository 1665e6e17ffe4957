"""Free and ball joints in formulas for joints of one degree of freedom.

A formula of mechanics knows links that turn or slide along one axis, and coordinates. A free or ball joint is a chain
of such links (`armdyn.robot.compounds`), placed at its present position T(q) and standing at zero there:

    free: T(q) Tx(s1) Ty(s2) Tz(s3) Rx(s4) Ry(s5) Rz(s6),   ball: T(q) Rx(s1) Ry(s2) Rz(s3),   s = 0              [Q-1]

Around this position s is a true coordinate, so that every formulation holds, Lagrange's too. Where s = 0, the rates of
s are the velocities v in the moving axes, forces on s are forces on v, and with v = E(s) sd

    vd = sdd + Ed(v) v,   Ed(v) = dE/dt at s = 0                                                                  [Q-2]
    C_v = C_s - M Ed                             the Coriolis matrix that goes with v; Mdot - 2 C_v is skew       [Q-3]

`charted` is applied at the door of every formula: inside, q and qdd are those of the chart. A formula that takes
velocities without accelerations uses `steady`, the sdd of constant v, where it would write zeros.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from armdyn.algebra import ZERO, Scalar, Vec3, cross
from armdyn.algebra.ops import add, is_zero, mul, sub
from armdyn.mechanics.matrices import Rows, plus, product, times, transpose, zeros
from armdyn.robot.links import Assembly
from armdyn.robot.reframing import with_assembly
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars

AXES = (Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1))


def charted(robot: Robot, arguments: Mapping[str, Any]) -> tuple[Robot, dict[str, Any]]:
    """The robot with its free and ball joints at rest in their present position, and the arguments to go with it."""
    placed = robot
    for name, whose in (("q", robot), ("q_all", robot.opened)):
        if robot.compounds and arguments.get(name) is not None:
            placed = at(robot, arguments[name], whose)
    return placed, in_chart(robot, arguments)


def in_chart(robot: Robot, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Positions and accelerations among the arguments as those of the chart. [Q-1], [Q-2]"""
    changed = dict(arguments)
    if not robot.compounds:
        return changed
    for rate, acceleration in (("qd", "qdd"), ("qd_active", "qdd_active")):
        if changed.get(rate) is not None and changed.get(acceleration) is not None:
            changed[acceleration] = plus(changed[acceleration], steady(robot, changed[rate]))
    for name, whose in (("q", robot), ("q_all", robot.opened)):
        if changed.get(name) is not None:
            changed[name] = coordinates_of(whose, changed[name])
    return changed


def at(robot: Robot, q: Scalars, whose: Robot | None = None) -> Robot:
    """The robot whose free and ball joints are placed where q says; of a closed chain, those of its tree. [Q-1]

    whose: the robot that q belongs to (default: this one); it has the same free and ball joints.
    """
    tree, links = robot.opened, list(robot.opened.links)
    for own, given in zip(tree.compounds, (whose or robot).compounds, strict=True):
        links[own.joint] = links[own.joint].displaced(given.pose(q))
    placed = with_assembly(tree, Assembly(tuple(links), dict(tree.frames), tree.spins))
    return robot.with_opened(placed) if robot.constrained else placed


def coordinates_of(robot: Robot, q: Scalars) -> list[Scalar]:
    """(n,) the positions of one-degree joints, and literal zeros for the chains of free and ball joints."""
    values: list[Scalar] = []
    for span in robot.compounds:
        values += list(q[span.start - (span.joint - len(values)) : span.start])
        values += [0] * (span.velocities.stop - span.joint)
    return values + list(q[len(q) - (robot.n - len(values)) :])


def positions_of(robot: Robot, values: Scalars, whose: Robot, q: Scalars) -> list[Scalar]:
    """(nq,) the inverse of `coordinates_of`; entries of free and ball joints are those of q, a position of `whose`."""
    found: list[Scalar] = []
    begin = 0
    for own, given in zip(robot.compounds, whose.compounds, strict=True):
        found += [*values[begin : own.joint], *q[given.positions]]
        begin = own.velocities.stop
    return [*found, *values[begin:]]


def steady(robot: Robot, v: Scalars) -> list[Scalar]:
    """The accelerations sdd of constant velocities v: -Ed(v) v; literal zeros for joints of one degree. [Q-2]"""
    values: list[Scalar] = [0] * robot.n
    for span in robot.compounds:
        w = Vec3.of(v[span.turns])
        values[span.turns] = minus([mul(w.y, w.z), mul(w.x, -w.z), mul(w.x, w.y)])
        if span.compound.kind == "free":
            linear = slice(span.joint, span.joint + 3)
            values[linear] = cross(w, Vec3.of(v[linear]))
    return values


def frame_rates(robot: Robot, v: Scalars) -> Rows:
    """Ed(v) of [Q-2]: (n, n)."""
    E = zeros(robot.n, robot.n)
    for span in robot.compounds:
        x, y, z = v[span.turns]
        i = span.turns.start
        E[i + 1][i], E[i + 2][i], E[i][i + 1] = sub(0, z), y, z
        if span.compound.kind == "free":
            for a, b, w in ((1, 2, x), (2, 0, y), (0, 1, z)):
                E[span.joint + a][span.joint + b], E[span.joint + b][span.joint + a] = w, sub(0, w)
    return E


def less_frame_rates(robot: Robot, C: Rows, M: Rows, v: Scalars) -> Rows:
    """C - M Ed of [Q-3]."""
    E, n = frame_rates(robot, v), range(robot.n)
    turning = product(M, E)
    return [[sub(C[i][j], turning[i][j]) for j in n] for i in n]


def in_moving_axes(
    robot: Robot, slopes: tuple[Rows, Rows], M: Rows, torques: Scalars, v: Scalars, sdd: Scalars
) -> tuple[Rows, Rows]:
    """(dtau/dq, dtau/dv), columns along v, from the slopes (dtau/ds, dtau/dsd) of the same torques in the chart.

    With tau = E^-T tau_s, sd = E^-1 v and sdd = E^-1 (vd - dE/dt sd), each differentiated along a velocity d:

        dtau = dtau_s/ds d - Ed(d)^T tau_s + dtau_s/dsd a + M b,   a = -Ed(d) v                                   [Q-4]
        b = -Ed(d) sdd - E2(d, v) v - Ed(a) v - Ed(v) a,           E2 the second derivative of E at s = 0
        dtau/dv d = dtau_s/dsd d - M (Ed(d) v + Ed(v) d)                                                          [Q-5]
    """
    by_q, by_v = ([list(row) for row in slope] for slope in slopes)
    places = range(robot.n)
    for span in robot.compounds:
        for j in range(robot.n)[span.velocities]:
            d = [int(i == j) for i in places]
            E_d, E_v = frame_rates(robot, d), frame_rates(robot, v)
            a = minus(times(E_d, v))
            b = minus(plus(times(E_d, sdd), _curvature(robot, d, v), times(frame_rates(robot, a), v), times(E_v, a)))
            along = minus(plus(times(E_d, v), times(E_v, d)))
            dq = plus(minus(times(transpose(E_d), torques)), times(slopes[1], a), times(M, b))
            dv = times(M, along)
            for i in places:
                by_q[i][j], by_v[i][j] = add(by_q[i][j], dq[i]), add(by_v[i][j], dv[i])
    return by_q, by_v


def _curvature(robot: Robot, d: Scalars, v: Scalars) -> list[Scalar]:
    """E2(d, v) v of [Q-4]: E is made of the turns Rz^T Ry^T Rx^T, of which each axis sees those behind it."""
    values: list[Scalar] = [0] * robot.n
    for span in robot.compounds:
        by, w = d[span.turns], v[span.turns]
        values[span.turns] = _turned_twice([(w[k] * AXES[k], k) for k in range(3)], by, w)
        if span.compound.kind == "free":
            linear = slice(span.joint, span.joint + 3)
            values[linear] = _turned_twice([(Vec3.of(v[linear]), -1)], by, w)
    return values


def _turned_twice(vectors: Sequence[tuple[Vec3, int]], d: Scalars, w: Scalars) -> list[Scalar]:
    """Sum of the second derivatives along d and w of vectors turned by the axes behind theirs."""
    total = ZERO
    for vector, own in vectors:
        for k in range(own + 1, 3):
            for inner in range(own + 1, k + 1):
                twice = cross(cross(vector, AXES[inner]), AXES[k])
                share = add(mul(d[k], w[inner]), mul(d[inner], w[k])) if inner < k else mul(d[k], w[k])
                total = total + share * twice
    return list(total)


def minus(vector: Scalars) -> list[Scalar]:
    """The vector with its sign changed; literal zeros stay."""
    return [sub(0, x) if not is_zero(x) else 0 for x in vector]


__all__ = [
    "at",
    "charted",
    "coordinates_of",
    "frame_rates",
    "in_chart",
    "in_moving_axes",
    "positions_of",
    "steady",
]
