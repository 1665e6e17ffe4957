"""Closed chains: a tree with loops, its dynamics at the active joints by projection.

Source: Siciliano sec. 7.3.3, in general form. The robot's tree is the arm with every loop cut at one joint; a `Loop`
says how the two ends meet. With f(q) = 0 the conditions that they do, J = df/dq, and G = dq/dq_a from J G = 0:

    qd = G qd_a,   qdd = G qdd_a + Gd qd_a                                                                      [L-1]
    tau_a = G^T tau(q, qd, qdd)                   by virtual work: loops do none                                [L-2]
    B_a = G^T B G,   C_a = G^T (B Gd + C G),   g_a = G^T g                                                      [L-3]

A joint marked `passive` has no motor; the others are active (or the argument `active` names them). These functions take
q_all, the closed configuration of all movable joints (`close` finds it), so they serve every assembly and every scalar;
`armdyn.compile` solves for it inside. Friction, rotors and wrenches of the tree count, those of passive joints too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from armdyn.algebra import Scalar, elimination, gradient
from armdyn.algebra.ops import add, sub
from armdyn.errors import NotApplicable, PhysicsError, RobotError, unknown_name
from armdyn.mechanics import composite_body, derivatives, forward, linear, newton_euler
from armdyn.mechanics.dependent_joints import DependentJoints, LoopRates, dependent_joints
from armdyn.mechanics.kinematics import Wrench
from armdyn.mechanics.linear import is_rounded
from armdyn.mechanics.matrices import Rows, identity, product, times, transpose
from armdyn.mechanics.moving_axes import coordinates_of, positions_of, steady
from armdyn.mechanics.quantity import quantity
from armdyn.robot.robot import Robot
from armdyn.typing import Matrix, Scalars

Active = Sequence[str] | None

LARGEST_CONDITION = 1e9
"""Beyond this condition number passive joints do not follow from the active ones."""
LARGEST_GAP = 1e-6
"""How far from closed a configuration may be, m and rad."""
MOST_STEPS = 100
LARGEST_STEP = 0.5
"""Of Newton's method, rad or m."""
ROUNDING = 1e-14


# Which joints -----------------------------------------------------------------------------------------------------


def rates_of(robot: Robot, active: Active = None) -> LoopRates:
    """How the other joints of a robot follow from the active ones (default: its independent joints)."""
    if not robot.constrained:
        raise RobotError("the robot has no loop", where=f"robot {robot.name!r}", expected="[[loop]] in its file")
    if active is None:
        return LoopRates(robot)
    if robot.compounds:
        raise NotApplicable(
            "other active joints together with free or ball joints",
            where=f"robot {robot.name!r}",
            expected="its independent joints",
            advice="Mark the other joints as passive.",
        )
    names = [joint.name for joint in robot.movable]
    for name in active:
        if name not in names:
            raise unknown_name("movable joint", name, names, where=f"robot {robot.name!r}")
    if len(active) == len(names):
        raise RobotError(
            "every joint is active",
            where=f"robot {robot.name!r}",
            expected="passive joints in the loops",
            advice="Mark them with passive = true, or name the active ones.",
        )
    return LoopRates(robot, frozenset(names) - frozenset(active))


# The conditions ---------------------------------------------------------------------------------------------------


def conditions(chain: LoopRates, q: Scalars) -> list[Scalar]:
    """f(q), all loops one below the other."""
    return [x for loop in chain.loops for x in loop.conditions(loop.placed(q))]


def rows_of_loops(chain: LoopRates) -> list[str]:
    """Name of the loop of every row of f."""
    count = {"spherical": 3, "universal": 4, "fixed": 6}
    return [each.loop.name for each in chain.loops for _ in range(count.get(each.loop.kind, 5))]


@quantity
def constraints(robot: Robot, q_all: Scalars) -> list[Scalar]:
    """f(q): (..., m), zero where all loops are closed; per loop lengths, then angles, m and rad."""
    return conditions(rates_of(robot), q_all)


@quantity
def constraint_jacobian(robot: Robot, q_all: Scalars) -> Rows:
    """df/dq: (..., m, all joints). Rows that cannot be violated (a planar loop has some) are zero."""
    chain = rates_of(robot)
    return transpose(gradient(lambda x: conditions(chain, x), q_all))


# Following the active joints --------------------------------------------------------------------------------------


def _checked(chain: LoopRates, q: Scalars) -> LoopRates:
    """The chain, in a configuration that is closed and not singular. Exact numbers and symbols are not asked."""
    names = rows_of_loops(chain)
    for name, gap in zip(names, conditions(chain, q), strict=True):
        if amount(gap) > LARGEST_GAP:
            raise PhysicsError(
                f"the loop is open by {amount(gap):.1e} m or rad",
                where=f"robot {chain.robot.name!r}, loop {name!r}",
                expected="a closed configuration",
                advice="Use closed_chain.close.",
            )
    for stage in chain.stages:
        rows, _ = chain.stacked(stage, q)
        A = [[row.get(k, 0) for k in stage.joints] for row in rows]
        if all(is_rounded(x) for row in A for x in row):
            _must_determine(chain, stage.joints, A, names)
            _must_agree(chain, A, rows, q, names)
    return chain


def _must_determine(chain: LoopRates, joints: Sequence[int], A: Matrix, names: list[str]) -> None:
    found = elimination.eliminate(A, [[0]] * len(A))
    lost = [column for column in range(len(joints)) if column not in found.solution]
    condition = float("inf") if lost else condition_number([A[row] for row, _ in found.pivots])
    if condition <= LARGEST_CONDITION:
        return
    columns = lost or list(range(len(joints)))
    loops = [name for name, row in zip(names, A, strict=True) if any(amount(row[c]) > 0 for c in columns)]
    where = ", ".join(repr(name) for name in dict.fromkeys(loops or names))
    moved = ", ".join(chain.tree.joints[joints[c]].name for c in columns)
    raise PhysicsError(
        f"singular configuration of the closed chain: {moved} not determined by the active joints "
        f"(condition number {condition:.1e})",
        where=f"robot {chain.robot.name!r}, loop {where}",
        expected=f"a condition number below {LARGEST_CONDITION:.0e}",
        advice="Move away from this configuration, or choose other active joints.",
    )


def _must_agree(chain: LoopRates, A: Matrix, rows: list[dict[int, Scalar]], q: Scalars, names: list[str]) -> None:
    """J G = 0 in all rows, measured against the entries of J (lengths of the robot, and 1)."""
    G = chain.projection(q)
    scale = max(amount(x) for row in rows for x in row.values())
    for name, row in zip(names, rows, strict=True):
        for column in range(len(chain.independent)):
            if amount(sum(x * G[k][column] for k, x in row.items())) > LARGEST_GAP * scale:
                raise PhysicsError(
                    "the active joints cannot move independently: this loop does not let them",
                    where=f"robot {chain.robot.name!r}, loop {name!r}",
                    expected="as many active joints as the mechanism has degrees of freedom",
                    advice="Close the configuration with closed_chain.close, or mark more joints as passive.",
                )


def condition_number(A: Matrix) -> float:
    """|A| |A^-1| in Frobenius' norm."""
    return _norm(A) * _norm(elimination.inverse(A))


def _norm(A: Matrix) -> float:
    return math.hypot(*(amount(x) for row in A for x in row))


def amount(x: Scalar) -> float:
    """Size of a number (the largest of a batch), 0 or infinite for exact ones, 0 for symbols: nothing is known."""
    if is_rounded(x):
        return elimination.largest(x)
    return 0.0 if elimination.known_size(x) <= 1 else float("inf")


def reduced(G: Matrix, A: Matrix) -> Rows:
    """G^T A G. [L-3]"""
    return product(transpose(G), product(A, G))


def reduced_torques(G: Matrix, torques: Scalars) -> list[Scalar]:
    """G^T tau. [L-2]"""
    return times(transpose(G), torques)


class ClosedMotion:
    """A motion of all joints, from that of the independent ones.

    given: q, qd, qdd of the independent joints, as far as a quantity has them; near: start of the solution. at: closed
    configuration of all joints, if it is known.
    """

    def __init__(self, chain: DependentJoints, given: Mapping[str, Any], at: Sequence[Scalar] | None = None) -> None:
        self.chain, self.given = chain, given
        if at is not None:
            self.q = list(at)

    @cached_property
    def q(self) -> list[Scalar]:
        return self.chain.positions(self.given["q"], self.given.get("near"))

    @cached_property
    def G(self) -> Rows:
        return self.chain.projection(self.q)

    @cached_property
    def qd(self) -> list[Scalar]:
        return times(self.G, self.given["qd"])

    @cached_property
    def drift(self) -> list[Scalar]:
        return self.chain.drift(self.q, self.qd)

    @cached_property
    def qdd(self) -> list[Scalar]:
        return [add(x, y) for x, y in zip(times(self.G, self.given["qdd"]), self.drift, strict=True)]

    def values(self, names: Sequence[str]) -> list[Any]:
        """The motion as the tree's formulas take it."""
        return [getattr(self, name) for name in names]


# For users: motion ------------------------------------------------------------------------------------------------


@quantity
def projection(robot: Robot, q_all: Scalars, active: Active = None) -> Rows:
    """G = dq/dq_a at a closed configuration: (..., all joints, a).

    Raises: PhysicsError where the configuration is open or singular, with the loop and the condition number.
    """
    return _checked(rates_of(robot, active), q_all).projection(q_all)


@quantity
def velocities(robot: Robot, q_all: Scalars, qd_active: Scalars, active: Active = None) -> list[Scalar]:
    """Velocities of all joints: (..., all joints). [L-1]"""
    return times(_checked(rates_of(robot, active), q_all).projection(q_all), qd_active)


@quantity
def accelerations(
    robot: Robot, q_all: Scalars, qd_active: Scalars, qdd_active: Scalars, active: Active = None
) -> list[Scalar]:
    """Accelerations of all joints: (..., all joints). [L-1]"""
    _, qd, qdd = all_motion(robot, q_all, qd_active, qdd_active, active)
    return [sub(x, y) for x, y in zip(qdd, steady(robot.opened, qd), strict=True)] if robot.compounds else qdd


def all_motion(
    robot: Robot, q: Scalars, qd_active: Scalars, qdd_active: Scalars, active: Active = None
) -> tuple[Rows, list[Scalar], list[Scalar]]:
    """(G, qd, qdd)."""
    chain = _checked(rates_of(robot, active), q)
    G = chain.projection(q)
    qd = times(G, qd_active)
    return G, qd, [add(x, y) for x, y in zip(times(G, qdd_active), chain.drift(q, qd), strict=True)]


@quantity
def close(robot: Robot, q_active: Scalars, q_all: Scalars, active: Active = None) -> list[Scalar]:
    """The closed configuration with these active joints, found from a start by Newton's method: (..., all joints).

    Args:    q_active: (..., a), kept as they are. q_all: (..., all joints) start; its passive entries decide between
             the ways a loop can be closed.
    Raises:  PhysicsError if the loops cannot be closed from there.
    """
    chain, given = rates_of(robot, active), coordinates_of(robot, q_active)
    x = list(q_all)
    for j, value in zip(chain.independent, given, strict=True):
        x[j] = value
    for k, line in chain.linear.items():
        x[k] = add(times([line.rates], given)[0], line.constant)
    for stage in chain.stages:
        _search(chain, list(stage.joints), x)
    names, gaps = rows_of_loops(chain), [amount(gap) for gap in conditions(chain, x)]
    worst = max(range(len(gaps)), key=gaps.__getitem__, default=0)
    if gaps and not gaps[worst] <= 1e-9:
        raise PhysicsError(
            f"the loop cannot be closed from this start: {gaps[worst]:.1e} m or rad stay open",
            where=f"robot {robot.name!r}, loop {names[worst]!r}",
            expected="active joints within reach and a start near the closed configuration",
            advice="Give other active joints or another start for the passive ones.",
        )
    return positions_of(chain.tree, x, robot, q_active)


def all_positions(robot: Robot, q: Any) -> Any:
    """Positions of all movable joints for those of the independent ones, (nq,) numbers, on the assembly's branch.

    Raises: PhysicsError where the loops cannot be closed on the way from the assembly.
    """
    if not robot.constrained:
        return q
    chain = dependent_joints(robot)
    values = [float(x) for x in coordinates_of(robot, q)]
    found = chain.continued(values) if chain.loops else chain.from_linear(values, chain.assembly)
    return positions_of(robot.opened, found, robot, q)


def _search(chain: LoopRates, passive: list[int], x: list[Scalar]) -> None:
    for _ in range(MOST_STEPS):
        f = conditions(chain, x)
        if max(map(amount, f)) <= ROUNDING:
            return
        J = transpose(gradient(lambda y: conditions(chain, y), x))
        J_p = [[row[j] for j in passive] for row in J]
        normal = elimination.eliminate(reduced(J_p, identity(len(J_p))), [[y] for y in reduced_torques(J_p, f)], 1e-20)
        step = [found[0] if (found := normal.solution.get(k)) else 0 for k in range(len(passive))]
        longest = max(map(amount, step))
        factor = min(1.0, LARGEST_STEP / longest) if longest else 1.0
        for j, delta in zip(passive, step, strict=True):
            x[j] = x[j] - factor * delta
        if longest <= ROUNDING:
            return


# For users: dynamics ----------------------------------------------------------------------------------------------


@quantity
def inverse_dynamics(
    robot: Robot,
    q_all: Scalars,
    qd_active: Scalars,
    qdd_active: Scalars,
    wrench: Wrench = None,
    active: Active = None,
    by: forward.Method = newton_euler,
) -> list[Scalar]:
    """Torques of the active joints that produce a motion: (..., a). [L-2]

    Args:    q_all: (..., all joints) closed configuration. qd_active, qdd_active: (..., a). wrench: (..., 6) at the
             tool, or {frame: (..., 6)}. active: names of the active joints. by: formulation of
             the tree's inverse dynamics.
    """
    G, qd, qdd = all_motion(robot, q_all, qd_active, qdd_active, active)
    return reduced_torques(G, by.inverse_dynamics.formula(robot.opened, q_all, qd, qdd, wrench))


@quantity
def forward_dynamics(
    robot: Robot, q_all: Scalars, qd_active: Scalars, tau_active: Scalars, wrench: Wrench = None, active: Active = None
) -> list[Scalar]:
    """Accelerations of the active joints under their torques: (..., a); `accelerations` gives those of all joints."""
    chain = rates_of(robot, active)
    at_rest = steady(robot, qd_active) if robot.compounds else [0] * len(chain.independent)
    H = inverse_dynamics.formula(robot, q_all, qd_active, at_rest, wrench, active)
    M = mass_matrix.formula(robot, q_all, active)
    return linear.solve(
        linear.factor(M, lambda k: forward.joint_name(chain.tree, chain.independent[k])),
        [sub(torque, h) for torque, h in zip(tau_active, H, strict=True)],
    )


@quantity
def mass_matrix(robot: Robot, q_all: Scalars, active: Active = None) -> Rows:
    """B_a: (..., a, a). [L-3]"""
    G = projection.formula(robot, q_all, active)
    return reduced(G, composite_body.mass_matrix.formula(robot.opened, q_all))


@quantity
def coriolis_matrix(robot: Robot, q_all: Scalars, qd_active: Scalars, active: Active = None) -> Rows:
    """C_a = G^T (B Gd + C G): (..., a, a), for which Bd_a - 2 C_a is skew-symmetric. [L-3]"""
    chain = _checked(rates_of(robot, active), q_all)
    G = chain.projection(q_all)
    qd = times(G, qd_active)
    B = composite_body.mass_matrix.formula(robot.opened, q_all)
    C = derivatives.coriolis_matrix.formula(robot.opened, q_all, qd)
    return reduced_coriolis(G, chain.rate(q_all, qd, G), B, C)


def reduced_coriolis(G: Matrix, Gd: Matrix, B: Matrix, C: Matrix) -> Rows:
    """G^T (B Gd + C G). [L-3]"""
    pairs = zip(product(B, Gd), product(C, G), strict=True)
    return product(transpose(G), [[add(x, y) for x, y in zip(*rows, strict=True)] for rows in pairs])


@quantity
def coriolis(robot: Robot, q_all: Scalars, qd_active: Scalars, active: Active = None) -> list[Scalar]:
    """Centrifugal and Coriolis torques of the active joints: (..., a), G^T (B Gd qd_a + C qd). [L-3]"""
    chain = _checked(rates_of(robot, active), q_all)
    G = chain.projection(q_all)
    qd = times(G, qd_active)
    B = composite_body.mass_matrix.formula(robot.opened, q_all)
    turned = times(B, chain.drift(q_all, qd))
    torques = newton_euler.coriolis.formula(robot.opened, q_all, qd)
    return reduced_torques(G, [add(x, y) for x, y in zip(turned, torques, strict=True)])


@quantity
def gravity(robot: Robot, q_all: Scalars, active: Active = None) -> list[Scalar]:
    """Torques of the active joints that hold the robot still: (..., a), g_a = G^T g. [L-3]"""
    return reduced_torques(projection.formula(robot, q_all, active), newton_euler.gravity.formula(robot.opened, q_all))


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
