"""Centre of mass of a robot, and its momentum about it.

The moving links count, and bodies fixed to them; what is fixed to the world does not. Without forces from outside the
momentum of a floating robot is constant, whatever its joints do.
"""

from __future__ import annotations

from armdyn.algebra import ZERO, Scalar, Vec3, cross, ops
from armdyn.algebra.ops import is_zero, mul
from armdyn.errors import PhysicsError
from armdyn.mechanics.kinematics import link_poses, velocities
from armdyn.mechanics.quantity import quantity
from armdyn.robot.links import WORLD
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars


def first_moment(robot: Robot, q: Scalars) -> tuple[Scalar, Vec3]:
    """(mass, mass times centre of mass) of all moving links, about the world's origin in its axes."""
    moments = ZERO
    for link, (R, P) in zip(robot.links, link_poses(robot, q), strict=True):
        moments = moments + (link.inertia.mass * P + R @ link.inertia.moment)
    return ops.total(link.inertia.mass for link in robot.links), moments


@quantity
def center_of_mass(robot: Robot, q: Scalars) -> Vec3:
    """Centre of mass of the moving links: (..., 3), m, world axes."""
    mass, moment = first_moment(robot, q)
    if is_zero(mass) or (isinstance(mass, float) and mass == 0.0):
        raise PhysicsError(
            "the moving links have no mass, so they have no centre of mass",
            where=f"robot {robot.name!r}",
            expected="a positive total mass",
            advice="Give the links a mass.",
        )
    return Vec3(*(ops.div(x, mass) for x in moment))


@quantity
def centroidal_momentum(robot: Robot, q: Scalars, qd: Scalars) -> tuple[Scalar, ...]:
    """(linear, angular) momentum of the moving links about their centre of mass: (..., 6), world axes.

    Rotors that spin on links have their part in it.
    """
    linear, angular = ZERO, ZERO
    poses, (v, w) = link_poses(robot, q), velocities(robot, q, qd)
    for link, (R, P) in zip(robot.links, poses, strict=True):
        body, j = link.inertia, link.index
        p = R @ (body.mass * v[j] + cross(w[j], body.moment))
        about_origin = R @ (cross(body.moment, v[j]) + body.tensor @ w[j])  # Khalil (7.21)
        linear, angular = linear + p, angular + about_origin + cross(P, p)
    for spin in robot.spins:
        if spin.axis is not None and spin.carrier != WORLD:
            rate = ops.total(mul(k, qd[j]) for j, k in spin.rates)
            angular = angular + poses[spin.carrier].R @ (mul(rate, spin.inertia) * spin.axis)
    return (*linear, *(angular - cross(Vec3(*center_of_mass.formula(robot, q)), linear)))


__all__ = ["center_of_mass", "centroidal_momentum"]
