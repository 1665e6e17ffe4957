"""What joints and motors add to the bodies' equations: friction and rotors, each a term of its own.

Every formulation gets these terms from here, through `actuated`; none writes them again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from armdyn.algebra import ZERO, Scalar, Vec3, cross, ops
from armdyn.algebra.ops import add, half, mul
from armdyn.mechanics import christoffel
from armdyn.mechanics.door import quantity
from armdyn.mechanics.kinematics import Motion, Scalars
from armdyn.robot.links import WORLD
from armdyn.robot.robot import Robot

Formula = TypeVar("Formula", bound=Callable[..., Any])
Matrix = list[list[Scalar]]


def friction_torques(robot: Robot, qd: Scalars) -> list[Scalar]:
    """Fc sign(qd) + Fv qd + (Fst - Fc) sign(qd) exp(-|qd| / v_s). 002 [7.26]"""
    torques: list[Scalar] = []
    for joint, rate in zip(robot.joints, qd, strict=True):
        law, torque = joint.friction, 0
        if law is not None:
            torque = mul(law.viscous, rate)
            dry = law.coulomb
            if not ops.is_zero(law.static):
                dry = add(dry, (law.static - law.coulomb) * ops.exp(-rate * ops.sign(rate) / law.stribeck))
            if not ops.is_zero(dry):
                torque = add(torque, mul(dry, ops.sign(rate)))
        torques.append(torque)
    return torques


# Rotors ---------------------------------------------------------------------------------------------------------
#
# In the full model the mass of a rotor and its inertia at rest are part of the link that carries it (see
# robot.links). What is left is its spin: with k = ratio, I = inertia, z = axis and w = angular velocity of the
# carrier, the kinetic energy k I qd_i (z.w) + 1/2 k^2 I qd_i^2. In the reflected model only the last term is there.


def rotor_energy(robot: Robot, q: Scalars, qd: Scalars) -> Scalar:
    """Kinetic energy of the spins. 004 (7.21), (7.23)"""
    M = rotor_mass_matrix(robot, q)
    return half(ops.total(mul(mul(M[i][j], qd[i]), qd[j]) for i in range(robot.n) for j in range(robot.n)))


def rotor_mass_matrix(robot: Robot, q: Scalars) -> Matrix:
    """k^2 I on the diagonal (002 [7.29]); k I z.z_j off it for the joints j that turn the carrier. 004 (7.30)"""
    n = robot.n
    M: Matrix = [[0] * n for _ in range(n)]
    for spin in robot.spins:
        i, momentum = spin.joint, mul(spin.ratio, spin.inertia)
        M[i][i] = add(M[i][i], mul(spin.ratio, momentum))
        if spin.axis is None:
            continue
        for j, share in _shares(robot, q, spin.carrier, momentum * spin.axis):
            M[i][j] = add(M[i][j], share)
            M[j][i] = add(M[j][i], share)
    return M


def rotor_torques(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars) -> list[Scalar]:
    """Torques that accelerate the rotors and turn their spins. 004 (7.105), (7.111)-(7.114)"""
    torques: list[Scalar] = [0] * robot.n
    motion = Motion(robot, q, qd, qdd) if any(spin.axis for spin in robot.spins) else None
    for spin in robot.spins:
        i, momentum = spin.joint, mul(spin.ratio, spin.inertia)
        torques[i] = add(torques[i], mul(mul(spin.ratio, momentum), qdd[i]))
        if spin.axis is None or motion is None or spin.carrier == WORLD:
            continue
        w, wd, axis = motion.w[spin.carrier], motion.wd[spin.carrier], momentum * spin.axis
        torques[i] = add(torques[i], axis.dot(wd))
        on_carrier = mul(1, qdd[i]) * axis + qd[i] * cross(w, axis)
        for j, share in _shares(robot, q, spin.carrier, on_carrier):
            torques[j] = add(torques[j], share)
    return torques


def _shares(robot: Robot, q: Scalars, link: int, moment: Vec3) -> list[tuple[int, Scalar]]:
    """What each joint on the way to `link` bears of a moment given in that link's frame."""
    shares: list[tuple[int, Scalar]] = []
    while link != WORLD:
        here = robot.links[link]
        if here.revolute:
            shares.append((link, moment.z))
        moment = here.pose(q[link]).R @ moment
        link = here.parent
    return shares


def rotor_coriolis_matrix(robot: Robot, q: Scalars, qd: Scalars) -> Matrix:
    """Christoffel matrix of the rotors' inertia matrix; zero in the reflected model."""
    if all(spin.axis is None for spin in robot.spins):
        return [[0] * robot.n for _ in range(robot.n)]
    return christoffel.coriolis_matrix(lambda x: rotor_mass_matrix(robot, x), q, qd)


# The terms, joined to a formulation -------------------------------------------------------------------------------


def _sum_of_lists(a: Any, b: Any) -> Any:
    if isinstance(a, list | tuple):
        return [_sum_of_lists(x, y) for x, y in zip(a, b, strict=True)]
    return add(a, b)


def _motion_terms(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Scalars | None = None) -> list[Scalar]:
    torques: list[Scalar] = _sum_of_lists(rotor_torques(robot, q, qd, qdd), friction_torques(robot, qd))
    return torques


def _velocity_terms(robot: Robot, q: Scalars, qd: Scalars) -> list[Scalar]:
    return rotor_torques(robot, q, qd, [0] * robot.n)


TERMS: dict[str, Callable[..., Any]] = {
    "inverse_dynamics": _motion_terms,
    "mass_matrix": rotor_mass_matrix,
    "coriolis_matrix": rotor_coriolis_matrix,
    "coriolis": _velocity_terms,
    "kinetic_energy": rotor_energy,
}
"""What the actuators add to a quantity, by its name. Gravity and potential energy need nothing: rotor masses are
part of the links."""


def actuated(formula: Formula) -> Formula:
    """A formula for the bodies alone, completed by what the actuators add, and open to numbers, arrays and symbols."""
    terms = TERMS[formula.__name__]

    @wraps(formula)
    def complete(robot: Robot, *values: Any, **options: Any) -> Any:
        return _sum_of_lists(formula(robot, *values, **options), terms(robot, *values, **options))

    return quantity(complete)  # type: ignore[return-value]


__all__ = ["ZERO", "actuated", "friction_torques", "rotor_mass_matrix", "rotor_torques"]
