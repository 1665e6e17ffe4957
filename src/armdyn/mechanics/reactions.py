"""Forces and moments that the joints transmit: bearing loads.

The recursion of Newton and Euler has them as f_j and m_j (Khalil (7.58)-(7.60), Siciliano (7.112), (7.113)); here with
wrenches on any frames and with the moments that turn the spins of rotors carried by links.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from armdyn.algebra import ZERO, Scalar, Vec3, cross
from armdyn.mechanics.kinematics import Motion, Wrench, link_poses
from armdyn.mechanics.newton_euler import Start, Tip, tip_wrench, transmitted
from armdyn.mechanics.quantity import quantity
from armdyn.mechanics.springs import counterbalances
from armdyn.robot.features import FREE, TREE, declare
from armdyn.robot.links import WORLD
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars

declare("mechanics.reactions", (*TREE, *FREE))


@quantity
def joint_reactions(
    robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Wrench = None
) -> list[tuple[Scalar, ...]]:
    """Force and moment that each joint transmits to its link: (..., n, 6). Khalil (7.58)-(7.60)

    In the joint's frame, as the standard parameters: z on the joint's axis, moments about its origin, the frame moving
    with the link. The part along the axis (moment of a revolute, force of a prismatic joint) is the torque of
    inverse_dynamics without friction, springs and what accelerates the joint's own rotor; the rest is borne by the
    bearings.

    q, qd, qdd: (..., n) rad or m and derivatives.
    wrench: (..., 6) exerted by the robot at the tool, or {frame: (..., 6)} (default: none).
    """
    f, m = [ZERO] * robot.n, [ZERO] * robot.n
    for load in (*_wrenches(robot, q, wrench), *_counterbalances(robot, q), *_spins(robot, q, qd, qdd)):
        f[load.link], m[load.link] = f[load.link] + load.f, m[load.link] + load.m
    for link in robot.inward():
        j, i = link.index, link.parent
        if i != WORLD:
            R, P = link.pose(q[j])
            f_j = R @ f[j]  # Khalil (7.59)
            f[i], m[i] = f[i] + f_j, m[i] + R @ m[j] + cross(P, f_j)  # Khalil (7.58), (7.60)
    bodies = transmitted(robot, q, qd, qdd, Tip(WORLD, ZERO, ZERO), Start(ZERO, ZERO, -robot.gravity))
    return [(*(f[j] + bodies.f[j]), *(m[j] + bodies.m[j])) for j in range(robot.n)]


def _wrenches(robot: Robot, q: Scalars, wrench: Wrench) -> Iterator[Tip]:
    """What links exert on the environment, at their origins and in their axes."""
    if wrench is None:
        return
    for name, each in (wrench if isinstance(wrench, Mapping) else {"tool": wrench}).items():
        load = tip_wrench(robot, q, each, name)
        if load.link != WORLD:
            yield load


def _counterbalances(robot: Robot, q: Scalars) -> Iterator[Tip]:
    """The weights that counterbalances take from the links. Springs act along the axes of joints only."""
    carried = counterbalances(robot)
    poses = link_poses(robot, q) if carried else []
    for link, (com, mass) in carried.items():
        weight = poses[link].R.T @ (mass * robot.gravity)
        yield Tip(link, weight, cross(com, weight))


def _spins(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars) -> Iterator[Tip]:
    """Moments that turn the spins of rotors carried by links. Siciliano (7.105), (7.113)"""
    carried = [spin for spin in robot.spins if spin.axis is not None and spin.carrier != WORLD]
    motion = Motion(robot, q, qd, qdd) if carried else None
    for spin in carried:
        assert motion is not None and spin.axis is not None
        w, _ = motion.turning(spin.carrier)
        for j, k in spin.rates:
            axis: Vec3 = (k * spin.inertia) * spin.axis
            yield Tip(spin.carrier, ZERO, qdd[j] * axis + qd[j] * cross(w, axis))
