"""The regressor: torques are linear in the standard parameters, tau = Y(q, qd, qdd) pi.

Source: Siciliano (7.76)-(7.81), Khalil sec. 7.3.3. A column is the torque of a robot in which one parameter is 1 and
all others are 0: the wrench of a unit inertia (the same `Inertia.wrench` that the recursions use) on the partial
velocities of its link. Columns of joints that do not carry the link are literal zeros.

Rotors enter by Ia = ratio^2 inertia, in either model: reflected, or full with its coupling to the carrier (Siciliano
(7.80) with the rotor's own moment of inertia, scaled by the gear ratio). Friction enters by what the joint's law makes
of its coefficients, qd and sign(qd) as a rule. Friction of a motor enters by Fvm and Fcm on all joints that turn the
motor, a spring by its stiffness Ks, counterbalances by the mass Mc that they carry.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from armdyn.algebra import Inertia, Scalar, Vec3, ops
from armdyn.algebra.ops import add
from armdyn.mechanics import friction, springs
from armdyn.mechanics.actuators import rotor_torques
from armdyn.mechanics.closed_chain import ClosedMotion
from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.mechanics.friction import motor_friction
from armdyn.mechanics.kane import link_partials, seen_by_links
from armdyn.mechanics.kinematics import Motion
from armdyn.mechanics.matrices import product, transpose
from armdyn.mechanics.quantity import quantity
from armdyn.parameters.standard import FAMILIES, INERTIAL, included, motor_ratio, slots, spin_of, with_exact_links
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, FREE, TREE, declare
from armdyn.robot.links import Spin
from armdyn.robot.parts import Motor
from armdyn.typing import Scalars

declare("parameters.regressor", (*CLOSED, *TREE, *FREE))
UNITS = tuple(Inertia.from_parameters(*(int(i == k) for i in range(10))) for k in range(len(INERTIAL)))
"""The ten unit inertias, in the order of the standard parameters."""


@quantity
def regressor(
    robot: Robot,
    q: Scalars,
    qd: Scalars,
    qdd: Scalars,
    include: Iterable[str] = tuple(FAMILIES),
    near: Scalars | None = None,
) -> list[list[Scalar]]:
    """The matrix Y with Y(q, qd, qdd) pi = tau; of a closed chain G^T Y at its closed motion.

    Args:    q, qd, qdd: (..., n) rad or m and derivatives: numbers, arrays, symbols, exact numbers. include: families
             of parameters, as in `standard_parameters`, whose order the columns have. near: (..., all joints) closed
             configuration from which loops are closed (default: the assembly).
    Returns: Y: (..., n, p).
    """
    if not robot.constrained:
        return _of_tree(robot, q, qd, qdd, include)
    given = {"q": q, "qd": qd, "qdd": qdd} | ({} if near is None else {"near": near})
    return projected(robot.opened, ClosedMotion(dependent_joints(robot), given), include)


def projected(tree: Robot, motion: ClosedMotion, include: Iterable[str]) -> list[list[Scalar]]:
    """G^T Y: the regressor of a closed chain, by the parameters of all its links."""
    return product(transpose(motion.G), _of_tree(tree, motion.q, motion.qd, motion.qdd, include))


def _of_tree(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, include: Iterable[str]) -> list[list[Scalar]]:
    kinds = included(include)
    n = range(robot.n)
    columns: dict[tuple[str, int], list[Scalar]] = {("off", j): _only(robot, j, 1) for j in n}
    if "M" in kinds:
        columns |= inertial_columns(robot, q, qd, qdd)
    if "Ia" in kinds:
        columns |= {("Ia", j): rotor_torques(_with_unit_rotor(robot, j), q, qd, qdd) for j in n}
    if "Fc" in kinds:
        for j, (joint, rate) in enumerate(zip(robot.joints, qd, strict=True)):
            friction.require_linear(joint.friction, f"robot {robot.name!r}, joint {joint.name!r}")
            units = friction.unit_torques(joint.friction, rate)
            columns |= {(kind, j): _only(robot, j, torque) for kind, torque in units.items()}
    if "Fvm" in kinds:
        columns |= {("Fvm", j): motor_friction(_with_unit_motor(robot, j, viscous=1), qd) for j in n}
        columns |= {("Fcm", j): motor_friction(_with_unit_motor(robot, j, coulomb=1), qd) for j in n}
    if "Ks" in kinds:
        columns |= springs.unit_torques(robot, q)
    ordered = [columns[slot] for slot in slots(robot, include)]
    return [[column[i] for column in ordered] for i in range(robot.n)]


def inertial_columns(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars) -> dict[tuple[str, int], list[Scalar]]:
    """Torques of unit inertias, by (parameter, link). Siciliano (7.79), by way of Kane's partial velocities."""
    motion, partials = Motion(robot, q, qd, qdd), link_partials(robot, q)
    columns: dict[tuple[str, int], list[Scalar]] = {}
    for j, g in enumerate(seen_by_links(robot, q, robot.gravity)):
        a = motion.a[j] - g
        for kind, unit in zip(INERTIAL, UNITS, strict=True):
            force, moment = unit.wrench(motion.w[j], motion.wd[j], a)
            column: list[Scalar] = [0] * robot.n
            for i, (v, w) in partials[j].items():
                column[i] = add(v.dot(force), w.dot(moment))
            columns[kind, j] = column
    return columns


def _only(robot: Robot, j: int, value: Scalar) -> list[Scalar]:
    return [value if i == j else 0 for i in range(robot.n)]


def _with_unit_motor(robot: Robot, j: int, viscous: Scalar = 0, coulomb: Scalar = 0) -> Robot:
    """The robot in which only motor j has friction, of size 1 at its joint."""
    k = motor_ratio(robot, j)
    bare = Motor()
    rubbing = Motor(viscous=ops.div(viscous, ops.mul(k, k)), coulomb=ops.div(coulomb, ops.mul(k, ops.sign(k))))
    name = robot.joints[j].name
    tree = tuple(replace(joint, motor=rubbing if joint.name == name else bare) for joint in robot.tree)
    return replace(robot, tree=tree, expressions=None)


def _with_unit_rotor(robot: Robot, j: int) -> Robot:
    """The robot with one rotor left, that of joint j, of inertia 1 seen at the joint.

    With Ia = k^2 I its energy is Ia qd^2/2 + Ia qd (a/k).w: a rotor without gear on the axis a/k. Other joints that
    turn it, by a coupling, do so with their ratios over k.
    """
    spin = spin_of(robot, j)
    axis, others = spin.axis, spin.others
    if not (type(spin.ratio) is int and spin.ratio == 1):
        axis = None if axis is None else Vec3(*(x if ops.is_zero(x) else x / spin.ratio for x in axis))
        others = tuple((i, k / spin.ratio) for i, k in others)
    unit = Spin(j, spin.carrier, axis, 1, 1, others)
    return with_exact_links(robot, [link.inertia for link in robot.links], [unit])


__all__ = ["regressor"]
