"""What the equations of a robot take from its tree, and what else there is in them.

rigid tree       the tree's own quantities
closed chain     those at the closed motion, projected: G^T tau, G^T M G                          [L-2], [L-3]
elastic joints   those of the links at x = (q, theta), q = G x, and what rotors and springs add     Khalil (7.35)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from armdyn.algebra import ops
from armdyn.algebra.ops import add, mul
from armdyn.errors import FeatureError, NotApplicable
from armdyn.graph import Node, symbols
from armdyn.mechanics import doubled, kinematics
from armdyn.mechanics.closed_chain import ClosedMotion, reduced, reduced_torques
from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.mechanics.friction import friction_torques
from armdyn.mechanics.matrices import Rows, product
from armdyn.mechanics.registry import Formulation
from armdyn.mechanics.springs import spring_torques
from armdyn.robot.coordinates import coordinates
from armdyn.robot.features import listed
from armdyn.robot.robot import Robot
from armdyn.typing import Matrix

Projection = Callable[[Matrix, Any], Any]
MOTORS = {"q": "theta", "qd": "thetad", "qdd": "thetadd"}
"""What the motors' coordinates are called beside those of the links."""


def wrench_symbols() -> Sequence[Node]:
    """The wrench h at the tool: force, then moment."""
    return symbols("fx fy fz mx my mz")


def symbols_of(robot: Robot, name: str) -> Sequence[Node]:
    """q1 ... qn, and of elastic joints theta with the number of the joint; name: q, qd or qdd."""
    soft = [place for place, joint in enumerate(robot.joints) if joint.elastic is not None]
    names = [f"{name}{i + 1}" for i in range(robot.n)] + [f"{MOTORS[name]}{i + 1}" for i in soft]
    return symbols(" ".join(names))


# The tree's quantities, seen from the coordinates ---------------------------------------------------------------------


def projected(robot: Robot, tree: Robot, function: Callable[..., Any], project: Projection, *motion: Any) -> Any:
    """A quantity of a robot: of its tree; for a closed chain or elastic joints that of the tree's motion, projected.

    project: makes of G and the tree's quantity what the coordinates see.
    """
    if robot.constrained:
        closed = ClosedMotion(dependent_joints(robot), dict(zip(("q", "qd", "qdd"), motion, strict=False)))
        return project(closed.G, function(tree, *closed.values(("q", "qd", "qdd")[: len(motion)])))
    where = coordinates(robot)
    if not where.doubled:
        return function(tree, *motion)
    G: Rows = [[int(i == j) for j in range(where.size)] for i in range(where.n)]
    return project(G, function(doubled.links_of(tree), *(doubled.link_side(tree, x) for x in motion)))


def torques_of(G: Matrix, tau: Any) -> Any:
    """G^T tau."""
    return reduced_torques(G, tau)


def matrix_of(G: Matrix, A: Any) -> Any:
    """G^T A G."""
    return reduced(G, A)


def columns_of(G: Matrix, J: Any) -> Any:
    """J G."""
    return product(J, G)


# Terms of the equations -----------------------------------------------------------------------------------------------


def mass_matrix(robot: Robot, tree: Robot, method: Formulation, q: Any) -> Any:
    """M by a formulation; rotors of elastic joints count where their motors are."""
    M = projected(robot, tree, method.function("mass_matrix"), matrix_of, q)
    if not coordinates(robot).doubled:
        return M
    rotors = doubled.rotor_matrix(tree, doubled.link_side(tree, q))
    return [[add(x, y) for x, y in zip(*rows, strict=True)] for rows in zip(M, rotors, strict=True)]


def gravity(robot: Robot, tree: Robot, method: Formulation, q: Any) -> Any:
    """Gravity torques by a formulation."""
    return projected(robot, tree, method.function("gravity"), torques_of, q)


def springs(robot: Robot, tree: Robot, q: Any) -> Any:
    """Torques of springs across joints, of counterbalances, and of the springs of elastic joints."""
    across = projected(robot, tree, spring_torques, torques_of, q)
    return list(map(add, across, doubled.stretch(tree, q))) if coordinates(robot).doubled else across


def friction(robot: Robot, tree: Robot, q: Any, qd: Any) -> Any:
    """Torques of friction and torque offsets; tree: one that has them."""
    if coordinates(robot).doubled:
        return doubled.friction_torques.formula(tree, qd)
    return projected(robot, tree, lambda tree, _, rates: friction_torques(tree, rates), torques_of, q, qd)


def external(robot: Robot, tree: Robot, q: Any, wrench: Sequence[Node]) -> Any:
    """J^T h: what a wrench (force, moment) exerted by the robot at the tool, world axes, asks of the joints."""
    J = projected(robot, tree, kinematics.jacobian, columns_of, q)
    return [ops.total(map(mul, column, wrench)) for column in zip(*J, strict=True)]


def inverse_dynamics(robot: Robot, tree: Robot, method: Formulation, *motion: Any) -> Any:
    """Torques of a motion (q, qd, qdd) by a formulation."""
    torques = projected(robot, tree, method.function("inverse_dynamics"), torques_of, *motion)
    if not coordinates(robot).doubled:
        return torques
    added = map(add, doubled.rotor_torques(tree, *motion), doubled.stretch(tree, motion[0]))
    return list(map(add, torques, added))


def must_not_be_soft_and_closed(robot: Robot) -> None:
    """Raise NotApplicable for elastic joints in a closed chain."""
    if robot.constrained and coordinates(robot).doubled:
        raise NotApplicable(
            "elastic joints together with closed loops or mimic joints",
            where=f"robot {robot.name!r}",
            expected="one of them",
            advice='robot.without("elastic") has rigid joints.',
        )


def must_be_derivable(robot: Robot) -> None:
    """Raise NotApplicable for loops without a solution in closed form, and for what cannot be combined."""
    must_not_be_soft_and_closed(robot)
    if robot.constrained and dependent_joints(robot).stages:
        chain = dependent_joints(robot)
        joints = tuple(chain.tree.joints[k].name for stage in chain.stages for k in stage.joints)
        raise FeatureError(
            f"equations.derive takes only loops into account whose joints follow at constant rates; {listed(joints)} "
            "follow by square roots or by iteration, which has no polynomial equations",
            where=f"robot {robot.name!r}",
            expected="mimic joints and parallelograms",
            advice="armdyn.compile and armdyn export solve any loop: M = G^T M_tree G, with G by "
            'mechanics.closed_chain.projection. robot.without("loops"), on the command line ROBOT,without=loops, has '
            "the equations of the tree.",
            feature="loops",
            joints=joints,
        )
