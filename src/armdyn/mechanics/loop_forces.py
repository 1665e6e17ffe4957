"""Forces in closed chains: what closing joints exert, and with them what every joint transmits.

The tree with the loops cut moves like the closed chain if the forces of the closing joints act on both ends of each
cut. Joints without a motor then need no torque, which determines these forces:

    tau = S tau_a + J^T lambda,   tau of the tree, S: columns of the independent joints                            [L-4]

Where a loop holds itself in more ways than one (out of the plane of a planar loop, or overconstrained), the forces of
rigid bodies are not determined; the smallest multipliers are taken, zero out of the plane.
"""

from __future__ import annotations

from collections.abc import Mapping

from armdyn.algebra import Pose, Scalar, Vec3, cross
from armdyn.algebra.ops import add
from armdyn.mechanics import newton_euler
from armdyn.mechanics.closed_chain import all_motion, rates_of
from armdyn.mechanics.dependent_joints import LoopRates
from armdyn.mechanics.kinematics import Wrench, frame_pose, link_poses
from armdyn.mechanics.quantity import quantity
from armdyn.mechanics.reactions import joint_reactions as reactions_of_tree
from armdyn.robot.features import CLOSED, FREE, TREE, declare
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars

declare("mechanics.loop_forces", (*CLOSED, *TREE, *FREE))


@quantity
def joint_reactions(
    robot: Robot, q_all: Scalars, qd_active: Scalars, qdd_active: Scalars, wrench: Wrench = None
) -> list[tuple[Scalar, ...]]:
    """Force and moment that each joint transmits, closing joints last: (..., all joints + loops, 6).

    Joints of the tree as in `reactions`. A closing joint: on its second body, in its second placed frame.

    q_all: (..., all joints) closed configuration. qd_active, qdd_active: (..., n). wrench: (..., 6) exerted by the
    robot at the tool, or {frame: (..., 6)} (default: none).
    """
    _, qd, qdd = all_motion(robot, q_all, qd_active, qdd_active)
    return transmitted(rates_of(robot), robot.opened, q_all, qd, qdd, wrench)


def transmitted(
    chain: LoopRates, tree: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Wrench = None
) -> list[tuple[Scalar, ...]]:
    """Reactions of all joints of the tree and of the closing joints, for a motion of all joints."""
    loads = dict(wrench) if isinstance(wrench, Mapping) else {} if wrench is None else {"tool": wrench}
    closing: list[tuple[Scalar, ...]] = []
    if chain.loops:
        torques = newton_euler.inverse_dynamics.formula(tree, q, qd, qdd, wrench)
        multipliers = iter(chain.multipliers(q, torques))
        poses = link_poses(tree, q)
        for geometry in chain.loops:
            placed = geometry.placed(q)
            count = len(geometry.conditions(placed))
            force, moment = (
                placed.second.R.T @ part for part in geometry.wrench(placed, [next(multipliers) for _ in range(count)])
            )
            closing.append((*force, *moment))
            loop = geometry.loop
            end = frame_pose(poses, tree.frame(loop.second)) @ loop.second_placement.pose()
            for sign, body in ((1, loop.first), (-1, loop.second)):
                origin = frame_pose(poses, tree.frame(body))
                _put_on(loads, body, _at_origin(origin, end, sign * force, sign * moment))
    return [*reactions_of_tree.formula(tree, q, qd, qdd, loads or None), *closing]


def _at_origin(origin: Pose, end: Pose, force: Vec3, moment: Vec3) -> list[Scalar]:
    """A wrench given in the frame of an end, in world axes about the origin of a body."""
    f = end.R @ force
    return [*f, *(end.R @ moment + cross(end.p - origin.p, f))]


def _put_on(loads: dict[str, Scalars], body: str, wrench: Scalars) -> None:
    """Add a wrench that the robot's body exerts."""
    before = loads.get(body)
    loads[body] = wrench if before is None else [add(x, y) for x, y in zip(before, wrench, strict=True)]


__all__ = ["joint_reactions"]
