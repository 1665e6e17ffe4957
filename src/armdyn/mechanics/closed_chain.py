"""Closed chains: a tree with loops, its dynamics at the active joints by projection.

Source: Siciliano sec. 7.3.3, in general form. The robot's tree is the arm with every loop cut at one joint; a `Loop`
says how the two ends meet. With f(q) = 0 the conditions that they do, J = df/dq, and G = dq/dq_a from J G = 0:

    qd = G qd_a,   qdd = G qdd_a + Gd qd_a                                                                      [L-1]
    tau_a = G^T tau(q, qd, qdd)                   by virtual work: loops do none                                [L-2]
    B_a = G^T B G,   C_a = G^T (B Gd + C G),   g_a = G^T g                                                      [L-3]

A joint marked `passive` has no motor; the others are active (or the argument `active` names them). Positions come from
`close`; all other functions take the whole q of a closed position. Friction, rotors and wrenches of the tree count,
those of passive joints too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from armdyn.algebra import Mat3, Scalar, derivative, elimination, gradient, ops
from armdyn.algebra.ops import add, sub
from armdyn.errors import PhysicsError, RobotError, unknown_name
from armdyn.mechanics import composite_body, derivatives, forward, linear, newton_euler
from armdyn.mechanics.kinematics import Wrench, frame_pose, link_poses
from armdyn.mechanics.matrices import Rows, product, times, transpose
from armdyn.mechanics.quantity import quantity
from armdyn.robot.parts import Loop
from armdyn.robot.robot import Robot
from armdyn.typing import Matrix, Scalars

Active = Sequence[str] | None

LARGEST_CONDITION = 1e9
"""Beyond this condition number passive joints do not follow from the active ones."""
LARGEST_GAP = 1e-6
"""How far from closed a position may be, m and rad."""
MOST_STEPS = 100
LARGEST_STEP = 0.5
"""Of Newton's method, rad or m."""
ROUNDING = 1e-14


# Which joints -----------------------------------------------------------------------------------------------------


def active_joints(robot: Robot, active: Active = None) -> tuple[list[int], list[int]]:
    """(active, passive): indices of the joints."""
    _must_have_loops(robot)
    names = [joint.name for joint in robot.joints]
    for name in active or ():
        if name not in names:
            raise unknown_name("moving joint", name, names, where=f"robot {robot.name!r}")
    chosen = [joint.name for joint in robot.joints if not joint.passive] if active is None else list(active)
    if len(chosen) == robot.n:
        raise RobotError("every joint is active", where=f"robot {robot.name!r}", expected="passive joints in the loops",
                         advice="Mark them with passive = true, or name the active ones.")  # fmt: skip
    return [names.index(name) for name in chosen], [j for j, name in enumerate(names) if name not in chosen]


def _must_have_loops(robot: Robot) -> None:
    if not robot.loops:
        raise RobotError("the robot has no loop", where=f"robot {robot.name!r}", expected="[[loop]] in its file")


# The conditions ---------------------------------------------------------------------------------------------------


def closure(loop: Loop, R: Mat3, d: Scalars) -> list[Scalar]:
    """Zero where the ends meet. R, d: pose of the second end seen from the first."""
    (_, r01, r02), (r10, _, r12), (r20, r21, _) = R.rows
    turned = [sub(r21, r12), sub(r02, r20), sub(r10, r01)]
    x, y, z = d
    if loop.kind == "revolute":
        return [x, y, z, r02, r12]  # the origins meet, the axes are parallel
    return [x, y, *turned] if loop.kind == "prismatic" else [x, y, z, *turned]


def ends(robot: Robot, q: Scalars) -> list[tuple[Mat3, Scalars]]:
    """Pose of the second end of each loop seen from the first."""
    poses = link_poses(robot, q)
    found: list[tuple[Mat3, Scalars]] = []
    for loop in robot.loops:
        first = frame_pose(poses, robot.frame(loop.first)) @ loop.first_placement.pose()
        second = frame_pose(poses, robot.frame(loop.second)) @ loop.second_placement.pose()
        R, d = first.inverse() @ second
        found.append((R, list(d)))
    return found


def conditions(robot: Robot, q: Scalars) -> list[Scalar]:
    """f(q), all loops one below the other."""
    rows = (closure(loop, R, d) for loop, (R, d) in zip(robot.loops, ends(robot, q), strict=True))
    return [x for part in rows for x in part]


def rows_of_loops(robot: Robot) -> list[str]:
    """Name of the loop of every row of f."""
    return [loop.name for loop in robot.loops for _ in range(6 if loop.kind == "fixed" else 5)]


def jacobian_rows(robot: Robot, q: Scalars) -> Rows:
    """df/dq."""
    return transpose(gradient(lambda x: conditions(robot, x), q))


@quantity
def constraints(robot: Robot, q: Scalars) -> list[Scalar]:
    """f(q): (..., m), zero where all loops are closed; per loop position, then direction, m and rad."""
    _must_have_loops(robot)
    return conditions(robot, q)


@quantity
def constraint_jacobian(robot: Robot, q: Scalars) -> Rows:
    """df/dq: (..., m, n). Rows that cannot be violated (a planar loop has some) are zero."""
    _must_have_loops(robot)
    return jacobian_rows(robot, q)


# Following the active joints --------------------------------------------------------------------------------------


def followers(robot: Robot, q: Scalars, right: Matrix, active: Active, J: Matrix | None = None) -> Rows:
    """The X of J_p X = right: what passive joints do. Errors where they do not follow from the active ones."""
    _, passive = active_joints(robot, active)
    J_p = [[row[j] for j in passive] for row in J or jacobian_rows(robot, q)]
    found = elimination.eliminate(J_p, right)
    lost = [column for column in range(len(passive)) if column not in found.solution]
    condition = float("inf") if lost else condition_number([J_p[row] for row, _ in found.pivots])
    if condition > LARGEST_CONDITION:
        raise _singular(robot, passive, lost, J_p, condition)
    for row, rest in found.rest.items():
        if max(map(amount, rest), default=0.0) > LARGEST_GAP * max(amount(x) for line in right for x in line):
            raise _blocked(robot, rows_of_loops(robot)[row])
    return [found.solution[column] for column in range(len(passive))]


def condition_number(A: Matrix) -> float:
    """|A| |A^-1| in Frobenius' norm; 1 for what is not numeric."""
    if any(not _is_number(x) for row in A for x in row):
        return 1.0
    inverse = elimination.inverse(A)
    return _norm(A) * _norm(inverse)


def _norm(A: Matrix) -> float:
    return math.hypot(*(amount(x) for row in A for x in row))


def _is_number(x: Scalar) -> bool:
    return isinstance(x, int | float | complex) or hasattr(x, "dtype")


def amount(x: Scalar) -> float:
    """Size of a number (the largest of a batch), 0 or infinite for exact ones, 0 for symbols: nothing is known."""
    if _is_number(x):
        return elimination.largest(x)
    return 0.0 if elimination.known_size(x) <= 1 else float("inf")


def _singular(robot: Robot, passive: list[int], lost: list[int], J_p: Matrix, condition: float) -> PhysicsError:
    names = rows_of_loops(robot)
    columns = lost or list(range(len(passive)))
    loops = [name for name, row in zip(names, J_p, strict=True) if any(amount(row[c]) > 0 for c in columns)]
    where = ", ".join(repr(name) for name in dict.fromkeys(loops or names))
    joints = ", ".join(robot.joints[passive[c]].name for c in columns)
    return PhysicsError(
        f"singular position of the closed chain: {joints} not determined by the active joints "
        f"(condition number {condition:.1e})",
        where=f"robot {robot.name!r}, loop {where}",
        expected=f"a condition number below {LARGEST_CONDITION:.0e}",
        advice="Move away from this position, or choose other active joints.",
    )


def _blocked(robot: Robot, loop: str) -> PhysicsError:
    return PhysicsError(
        "the active joints cannot move independently: this loop does not let them",
        where=f"robot {robot.name!r}, loop {loop!r}",
        expected="as many active joints as the mechanism has freedoms, in a closed position",
        advice="Close the position with closed_chain.close, or mark more joints as passive.",
    )


def _must_be_closed(robot: Robot, q: Scalars) -> None:
    for name, gap in zip(rows_of_loops(robot), conditions(robot, q), strict=True):
        if amount(gap) > LARGEST_GAP:
            raise PhysicsError(f"the loop is open by {amount(gap):.1e} m or rad",
                               where=f"robot {robot.name!r}, loop {name!r}", expected="a closed position",
                               advice="Use closed_chain.close.")  # fmt: skip


def whole(robot: Robot, active: Active, moved: Matrix, followed: Matrix) -> Rows:
    """Rows of active and passive joints in the order of the joints."""
    chosen, passive = active_joints(robot, active)
    rows: Rows = [[] for _ in range(robot.n)]
    for j, row in (*zip(chosen, moved, strict=True), *zip(passive, followed, strict=True)):
        rows[j] = list(row)
    return rows


def projection_rows(robot: Robot, q: Scalars, active: Active = None) -> Rows:
    """G = dq/dq_a."""
    _must_be_closed(robot, q)
    chosen, _ = active_joints(robot, active)
    J, a = jacobian_rows(robot, q), range(len(chosen))
    followed = followers(robot, q, [[sub(0, row[j]) for j in chosen] for row in J], active, J)
    return whole(robot, active, [[int(i == j) for j in a] for i in a], followed)


def drift(robot: Robot, q: Scalars, qd: Scalars, active: Active = None) -> list[Scalar]:
    """Gd qd_a: accelerations of all joints that velocities alone cause."""
    rate = derivative(lambda x: derivative(lambda y: conditions(robot, y), x, qd), q, qd)  # Jd qd
    followed = followers(robot, q, [[sub(0, x)] for x in rate], active)
    chosen, _ = active_joints(robot, active)
    return [row[0] for row in whole(robot, active, [[0]] * len(chosen), followed)]


def projection_rate(robot: Robot, q: Scalars, qd: Scalars, G: Matrix, active: Active = None) -> Rows:
    """Gd: J Gd = -Jd G."""
    Jd = derivative(lambda x: jacobian_rows(robot, x), q, qd)
    right = [[sub(0, x) for x in row] for row in product(Jd, G)]
    chosen, _ = active_joints(robot, active)
    return whole(robot, active, [[0] * len(chosen)] * len(chosen), followers(robot, q, right, active))


def reduced(G: Matrix, A: Matrix) -> Rows:
    """G^T A G. [L-3]"""
    return product(transpose(G), product(A, G))


def reduced_torques(G: Matrix, torques: Scalars) -> list[Scalar]:
    """G^T tau. [L-2]"""
    return times(transpose(G), torques)


# For users: motion ------------------------------------------------------------------------------------------------


@quantity
def projection(robot: Robot, q: Scalars, active: Active = None) -> Rows:
    """G = dq/dq_a at a closed position: (..., n, a).

    Raises: PhysicsError where the position is open or singular, with the loop and the condition number.
    """
    return projection_rows(robot, q, active)


@quantity
def velocities(robot: Robot, q: Scalars, qd_active: Scalars, active: Active = None) -> list[Scalar]:
    """Rates of all joints: (..., n). [L-1]"""
    return times(projection_rows(robot, q, active), qd_active)


@quantity
def accelerations(
    robot: Robot, q: Scalars, qd_active: Scalars, qdd_active: Scalars, active: Active = None
) -> list[Scalar]:
    """Accelerations of all joints: (..., n). [L-1]"""
    return _motion(robot, q, qd_active, qdd_active, active)[2]


def _motion(
    robot: Robot, q: Scalars, qd_active: Scalars, qdd_active: Scalars, active: Active
) -> tuple[Rows, list[Scalar], list[Scalar]]:
    """(G, qd, qdd)."""
    G = projection_rows(robot, q, active)
    qd = times(G, qd_active)
    return G, qd, [add(x, y) for x, y in zip(times(G, qdd_active), drift(robot, q, qd, active), strict=True)]


@quantity
def close(robot: Robot, q_active: Scalars, q: Scalars, active: Active = None) -> list[Scalar]:
    """The closed position with these active joints, found from a start by Gauss' and Newton's method: (..., n).

    Args:    q_active: (..., a), kept as they are. q: (..., n) start; its passive entries decide between the ways a
             loop can be closed.
    Raises:  PhysicsError if the loops cannot be closed from there.
    """
    chosen, passive = active_joints(robot, active)
    x = list(q)
    for j, value in zip(chosen, q_active, strict=True):
        x[j] = value
    for _ in range(MOST_STEPS):
        f = conditions(robot, x)
        if max(map(amount, f)) <= ROUNDING:
            break
        J_p = [[row[j] for j in passive] for row in jacobian_rows(robot, x)]
        normal = elimination.eliminate(reduced(J_p, _identity(len(J_p))), [[y] for y in reduced_torques(J_p, f)], 1e-20)
        step = [found[0] if (found := normal.solution.get(k)) else 0 for k in range(len(passive))]
        longest = max(map(amount, step))
        factor = min(1.0, LARGEST_STEP / longest) if longest else 1.0
        for j, delta in zip(passive, step, strict=True):
            x[j] = x[j] - factor * delta
        if longest <= ROUNDING:
            break
    _must_have_closed(robot, x)
    return x


def _identity(size: int) -> Rows:
    return [[int(i == j) for j in range(size)] for i in range(size)]


def _must_have_closed(robot: Robot, q: Scalars) -> None:
    names = rows_of_loops(robot)
    gaps = [amount(gap) for gap in conditions(robot, q)]
    worst = max(range(len(gaps)), key=gaps.__getitem__)
    facing = [R.rows[2][2] if loop.kind == "revolute" else R.trace for loop, (R, _) in
              zip(robot.loops, ends(robot, q), strict=True)]  # fmt: skip
    if gaps[worst] > 1e-9:
        what, where = f"cannot be closed from this start: {gaps[worst]:.1e} m or rad stay open", names[worst]
    elif any(amount(ops.select(x, 0, 1)) > 0 for x in facing):
        what, where = "closes the wrong way round from this start", robot.loops[0].name
    else:
        return
    raise PhysicsError(f"the loop {what}", where=f"robot {robot.name!r}, loop {where!r}",
                       expected="active joints within reach and a start near the closed position",
                       advice="Give other active joints or another start for the passive ones.")  # fmt: skip


# For users: dynamics ----------------------------------------------------------------------------------------------


@quantity
def inverse_dynamics(
    robot: Robot, q: Scalars, qd_active: Scalars, qdd_active: Scalars, wrench: Wrench = None, active: Active = None,
    by: forward.Method = newton_euler,
) -> list[Scalar]:  # fmt: skip
    """Torques of the active joints that produce a motion: (..., a). [L-2]

    Args:    q: (..., n) closed position. qd_active, qdd_active: (..., a). wrench: (..., 6) at the tool, or
             {frame: (..., 6)}. active: names of the active joints. by: formulation of the tree's inverse dynamics.
    """
    G, qd, qdd = _motion(robot, q, qd_active, qdd_active, active)
    return reduced_torques(G, by.inverse_dynamics.formula(robot, q, qd, qdd, wrench))


@quantity
def forward_dynamics(
    robot: Robot, q: Scalars, qd_active: Scalars, tau_active: Scalars, wrench: Wrench = None, active: Active = None
) -> list[Scalar]:
    """Accelerations of the active joints under their torques: (..., a); `accelerations` gives those of all joints."""
    chosen, _ = active_joints(robot, active)
    H = inverse_dynamics.formula(robot, q, qd_active, [0] * len(chosen), wrench, active)
    M = mass_matrix.formula(robot, q, active)
    return linear.solve(
        linear.factor(M, lambda k: forward.joint_name(robot, chosen[k])),
        [sub(torque, h) for torque, h in zip(tau_active, H, strict=True)],
    )


@quantity
def mass_matrix(robot: Robot, q: Scalars, active: Active = None) -> Rows:
    """B_a: (..., a, a). [L-3]"""
    return reduced(projection_rows(robot, q, active), composite_body.mass_matrix.formula(robot, q))


@quantity
def coriolis_matrix(robot: Robot, q: Scalars, qd_active: Scalars, active: Active = None) -> Rows:
    """C_a = G^T (B Gd + C G): (..., a, a), for which Bd_a - 2 C_a is skew-symmetric. [L-3]"""
    G = projection_rows(robot, q, active)
    qd = times(G, qd_active)
    Gd = projection_rate(robot, q, qd, G, active)
    B = composite_body.mass_matrix.formula(robot, q)
    C = derivatives.coriolis_matrix.formula(robot, q, qd)
    inner = [
        [add(x, y) for x, y in zip(*rows, strict=True)] for rows in zip(product(B, Gd), product(C, G), strict=True)
    ]
    return product(transpose(G), inner)


@quantity
def coriolis(robot: Robot, q: Scalars, qd_active: Scalars, active: Active = None) -> list[Scalar]:
    """Centrifugal and Coriolis torques of the active joints: (..., a), G^T (B Gd qd_a + C qd). [L-3]"""
    G = projection_rows(robot, q, active)
    qd = times(G, qd_active)
    B = composite_body.mass_matrix.formula(robot, q)
    turned = times(B, drift(robot, q, qd, active))
    torques = newton_euler.coriolis.formula(robot, q, qd)
    return reduced_torques(G, [add(x, y) for x, y in zip(turned, torques, strict=True)])


@quantity
def gravity(robot: Robot, q: Scalars, active: Active = None) -> list[Scalar]:
    """Torques of the active joints that hold the robot still: (..., a), g_a = G^T g. [L-3]"""
    return reduced_torques(projection_rows(robot, q, active), newton_euler.gravity.formula(robot, q))


__all__ = [
    "accelerations",
    "close",
    "constraint_jacobian",
    "constraints",
    "coriolis",
    "coriolis_matrix",
    "forward_dynamics",
    "gravity",
    "inverse_dynamics",
    "mass_matrix",
    "projection",
    "velocities",
]
