"""The rotors of the motors: reflected on their joints, Khalil (7.29), or spinning on their carriers, Siciliano 7.1.1.

In the full model the mass of a rotor and its inertia at rest are part of the link that carries it, the augmented link
of Siciliano (7.52)-(7.77) (see robot.links). What is left is its spin: with I = inertia about the axis z, s = its rate
against the carrier and w = angular velocity of the carrier, the kinetic energy I s (z.w) + 1/2 I s^2. The rate s is
the sum of k_j qd_j over the joints that drive it: one joint with its gear ratio, several if motors are coupled. In the
reflected model only the last term is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from armdyn.algebra import Inertia, Scalar, Vec3, cross, ops
from armdyn.algebra.ops import add, half, mul
from armdyn.errors import NotApplicable
from armdyn.mechanics import christoffel
from armdyn.mechanics.kinematics import Motion, frame_pose, link_poses, point_jacobian, rows_of
from armdyn.mechanics.quantity import quantity
from armdyn.robot.links import WORLD
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars

Matrix = list[list[Scalar]]


def rotor_energy(robot: Robot, q: Scalars, qd: Scalars) -> Scalar:
    """Kinetic energy of the spins. Siciliano (7.21), (7.23)"""
    M = rotor_mass_matrix(robot, q)
    return half(ops.total(mul(mul(M[i][j], qd[i]), qd[j]) for i in range(robot.n) for j in range(robot.n)))


def rotor_mass_matrix(robot: Robot, q: Scalars) -> Matrix:
    """k^2 I on the diagonal (Khalil (7.29)); k I z.z_j off it for the joints j that turn the carrier.

    Siciliano (7.30)
    """
    return spin_mass_matrix(robot, q, range(robot.n), robot.n)


def spin_mass_matrix(robot: Robot, q: Scalars, motors: Sequence[int], size: int) -> Matrix:
    """The rotors' mass matrix in coordinates of which entry j moves joint j and entry motors[j] drives motor j."""
    M: Matrix = [[0] * size for _ in range(size)]
    for spin in robot.spins:
        rates = [(motors[j], k, mul(k, spin.inertia)) for j, k in spin.rates]
        for a, k_a, _ in rates:
            for b, _, momentum in rates:
                M[a][b] = add(M[a][b], mul(k_a, momentum))
        if spin.axis is None:
            continue
        for a, _, momentum in rates:
            for j, share in _shares(robot, q, spin.carrier, momentum * spin.axis):
                M[a][j] = add(M[a][j], share)
                M[j][a] = add(M[j][a], share)
    return M


def rotor_torques(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars) -> list[Scalar]:
    """Torques that accelerate the rotors and turn their spins. Siciliano (7.105), (7.111)-(7.114)"""
    motion = Motion(robot, q, qd, qdd) if any(spin.axis for spin in robot.spins) else None
    return list(map(add, *spin_torques(robot, q, motion, qd, qdd)))


def spin_torques(
    robot: Robot, q: Scalars, motion: Motion | None, rates: Scalars, accelerations: Scalars
) -> tuple[list[Scalar], list[Scalar]]:
    """(on joints, on motors): what the spins ask of the joints that carry them and of the motors that drive them.

    rates, accelerations: of the motors, seen at their joints (for a stiff transmission qd and qdd).
    """
    on_joints, on_motors = [0] * robot.n, [0] * robot.n
    for spin in robot.spins:
        for i, k in spin.rates:
            momentum = mul(k, spin.inertia)
            for j, k_j in spin.rates:
                on_motors[i] = add(on_motors[i], mul(mul(k_j, momentum), accelerations[j]))  # Siciliano (7.114)
            if spin.axis is None or motion is None:
                continue
            w, wd = motion.turning(spin.carrier)
            axis = momentum * spin.axis
            on_motors[i] = add(on_motors[i], axis.dot(wd))  # Siciliano (7.111), (7.114)
            moment = mul(1, accelerations[i]) * axis + rates[i] * cross(w, axis)  # Siciliano (7.105)
            for j, share in _shares(robot, q, spin.carrier, moment):
                on_joints[j] = add(on_joints[j], share)
    return on_joints, on_motors


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
    """Christoffel matrix of the rotors' mass matrix; zero in the reflected model."""
    if all(spin.axis is None for spin in robot.spins):
        return [[0] * robot.n for _ in range(robot.n)]
    return christoffel.coriolis_matrix(lambda x: rotor_mass_matrix(robot, x), q, qd)


@quantity
def rotor_jacobian(robot: Robot, q: Scalars, joint: str) -> tuple[tuple[Scalar, ...], ...]:
    """Jacobian of the rotor that drives a joint: velocity of its centre, and its angular velocity.

    Args:    q: (..., n). joint: name of the joint, which has a rotor of the full model.
    Returns: J: (..., 6, n), linear rows first, world axes. Siciliano (7.24)-(7.29)
    """
    number = [each.name for each in robot.joints].index(joint)
    rotor = robot.joints[number].rotor
    if rotor is None or rotor.model != "full":
        raise NotApplicable(
            "no rotor that is a body",
            where=f"robot {robot.name!r}, joint {joint!r}",
            expected='a rotor with model = "full"',
        )
    poses, frame = link_poses(robot, q), robot.frame(rotor.on or robot.joints[number].parent)
    T = frame_pose(poses, frame)
    linear, angular = point_jacobian(robot, poses, frame.link, T.apply(rotor.position))
    angular[number] = angular[number] + rotor.ratio * (T.R @ rotor.axis)  # Siciliano (7.28), (7.29)
    return rows_of(linear, angular)


# Augmented links --------------------------------------------------------------------------------------------------


class AugmentedLink(NamedTuple):
    """A link with the rotors that it carries, in the frame of its joint's body. Siciliano (7.52)-(7.77)

    inertia: m_i, m_i r_iC (7.72) and the tensor about the frame's origin (7.71), rotors at rest included. rotors: of
    each carried rotor of the full model the name of the joint it drives, its inertia I_m and its axis (7.67).
    """

    name: str
    inertia: Inertia
    rotors: tuple[tuple[str, Scalar, Vec3], ...]

    @property
    def parameters(self) -> tuple[Scalar, ...]:
        """(m, m l_x, m l_y, m l_z, I_xx, I_xy, I_xz, I_yy, I_yz, I_zz, I_m, ...): pi_i of Siciliano (7.77).

        Products of inertia are entries of the tensor; Siciliano prints them with the opposite sign.
        """
        XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = self.inertia.parameters()
        return (M, MX, MY, MZ, XX, XY, XZ, YY, YZ, ZZ, *(inertia for _, inertia, _ in self.rotors))


def augmented_links(robot: Robot) -> tuple[AugmentedLink, ...]:
    """Every moving link together with the rotors it carries. Siciliano (7.52)-(7.77)

    >>> import armdyn
    >>> [[joint for joint, _, _ in link.rotors] for link in augmented_links(armdyn.load("planar2r"))]
    [['elbow'], []]
    """
    result = []
    for joint, link in zip(robot.joints, robot.links, strict=True):
        T = robot.frame(joint.body.name).pose.inverse()
        rotors = tuple(
            (robot.joints[spin.joint].name, spin.inertia, T.R @ spin.axis)
            for spin in robot.spins
            if spin.axis is not None and spin.carrier == link.index
        )
        result.append(AugmentedLink(joint.body.name, link.inertia.seen_from(T), rotors))
    return tuple(result)


__all__ = [
    "AugmentedLink",
    "augmented_links",
    "rotor_coriolis_matrix",
    "rotor_energy",
    "rotor_jacobian",
    "rotor_mass_matrix",
    "rotor_torques",
    "spin_mass_matrix",
    "spin_torques",
]
