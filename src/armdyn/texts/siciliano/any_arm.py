"""Siciliano, sec. 7.1: the pendulum, and the inertia matrix and gravity of any arm."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from armdyn.algebra import ops
from armdyn.formats import load
from armdyn.graph import identical, symbol, symbols, text
from armdyn.mechanics import kinematics, lagrange, newton_euler, rotors
from armdyn.robot import Robot
from armdyn.robot.parts import Joint
from armdyn.robot.random import random_robot
from armdyn.texts.item import Chapter, Check, Outcome, below, distance, identity
from armdyn.texts.siciliano.lagrange_arms import BY, FOUR

chapter = Chapter("siciliano")

# Example 7.1 --------------------------------------------------------------------------------------------------------

PENDULUM = load("pendulum").symbolic
angle, rate, acceleration = symbols("q v w")


def pendulum_letters() -> SimpleNamespace:
    return SimpleNamespace(**{name: symbol(name, "parameter") for name in ("I", "Im", "kr", "m", "g", "l", "F", "Fm")})


def pendulum_lagrangian(angles: Any, rates: Any) -> Any:
    """L of Example 7.1, with g where the potential energy is printed with q."""
    k, (x,), (xd,) = pendulum_letters(), angles, rates
    return (k.I + k.Im * k.kr**2) * (xd * xd) / 2 - k.m * k.g * k.l * (1 - ops.cos(x))


def pendulum_torque() -> Any:
    """The complete model of Example 7.1."""
    k = pendulum_letters()
    return (k.I + k.Im * k.kr**2) * acceleration + (k.F + k.Fm * k.kr**2) * rate + k.m * k.g * k.l * angle.sin()


def friction_by_text(of: Any) -> Any:
    """-F qd - F_m k_r^2 (...): the friction torque, with the velocity or, as printed, the angle in the second term."""
    k = pendulum_letters()
    return -k.F * rate - k.Fm * k.kr**2 * of


@chapter.evidence("Siciliano-7")
def pendulum_slip() -> Check:
    (force,) = lagrange.equations(pendulum_lagrangian, [angle], [rate], [acceleration])
    holds = {
        name: identical(force - friction_by_text(of), pendulum_torque())
        for name, of in (("angle", angle), ("rate", rate))
    }
    told = ", ".join(
        f"the complete model {'follows' if each else 'does not follow'} from the {name}" for name, each in holds.items()
    )
    return Check("friction of the motor in xi of Example 7.1", holds["rate"] and not holds["angle"], told)


@chapter.item("Example 7.1", "Pendulum", vouches=(lagrange.inverse_dynamics,))
def example_7_1() -> Outcome:
    (force,) = lagrange.equations(pendulum_lagrangian, [angle], [rate], [acceleration])
    ours = [module.inverse_dynamics(PENDULUM, [angle], [rate], [acceleration])[0] for module in FOUR]
    checks = (
        identity(
            "Lagrange's equation with the printed L", identical(force - friction_by_text(rate), pendulum_torque())
        ),
        identity(f"the complete model {BY}", all(identical(tau, pendulum_torque()) for tau in ours)),
    )
    says = (
        "The complete model is compared with Lagrange's equation of the printed Lagrangian and with the pendulum "
        "of the catalog."
    )
    return Outcome(says, checks, (chapter.slip("Siciliano-7"),), texts=(f"tau = {text(pendulum_torque())}",))


# (7.13) to (7.39), any arm ------------------------------------------------------------------------------------------


def by_jacobians(robot: Robot, at: Any) -> tuple[Any, Any]:
    """B by (7.32) and g by (7.39): links and rotors by the Jacobians (7.16)-(7.19) and (7.25)-(7.29).

    Every motor is on the link that precedes its joint; the tensor of a rotor is (7.66).
    """
    links, poses = robot.without("rotors").links, kinematics.link_poses(robot, at)
    B, g, g0 = np.zeros((robot.n, robot.n)), np.zeros(robot.n), np.array(robot.gravity.array(), dtype=float)

    def added(J: Any, mass: float, tensor: Any) -> None:
        nonlocal B, g
        B = B + mass * J[:3].T @ J[:3] + J[3:].T @ tensor @ J[3:]
        g = g - mass * g0 @ J[:3]

    for joint, link, T in zip(robot.joints, links, poses, strict=True):
        body = link.inertia.about_com()
        turned = np.array((T.R @ body.tensor @ T.R.T).array(), dtype=float)
        added(kinematics.body_jacobian(robot, at, joint.body.name), float(body.mass), turned)
        rotor = joint.rotor
        assert rotor is not None
        R = kinematics.frame_pose(poses, robot.frame(joint.parent)).R
        axis = np.array((R @ rotor.axis).array(), dtype=float)
        along = np.outer(axis, axis)
        tensor = float(rotor.transverse) * (np.eye(3) - along) + float(rotor.inertia) * along
        added(rotors.rotor_jacobian(robot, at, joint.name), float(rotor.mass), tensor)
    return B, g


def arms_with_rotors() -> list[Robot]:
    """Random arms of revolute and prismatic joints, each with a rotor that is a body on the preceding link."""
    found = []
    for seed in (11, 12, 13):
        robot = random_robot(seed, 5, rotors=True)
        tree = []
        for joint in robot.tree:
            rotor = joint.rotor and replace(joint.rotor, model="full", mass=0.4, transverse=3e-4, on=None)
            tree.append(replace(joint, rotor=rotor))
        found.append(replace(robot, tree=tuple(tree)))
    return found


def spinning(robot: Robot, at: Any, rate: Any, joint: Joint) -> float:
    """What the spin of a rotor adds to its kinetic energy at rest against its carrier. (7.23) with (7.27)-(7.29)"""
    rotor = joint.rotor
    assert rotor is not None
    R = kinematics.frame_pose(kinematics.link_poses(robot, at), robot.frame(joint.parent)).R
    axis = np.array((R @ rotor.axis).array(), dtype=float)
    along = axis @ (rotors.rotor_jacobian(robot, at, joint.name)[3:] @ rate)  # w_m along the axis
    carried = along - float(rotor.ratio) * rate[robot.joints.index(joint)]
    return float(rotor.inertia * (along**2 - carried**2) / 2)


@chapter.item(
    "(7.13)-(7.39)",
    "Inertia matrix and gravity of any arm with rotors",
    vouches=(
        lagrange.mass_matrix,
        kinematics.point_jacobian,
        kinematics.body_jacobian,
        rotors.rotor_jacobian,
        rotors.rotor_energy,
        rotors.rotor_mass_matrix,
    ),
)
def any_arm() -> Outcome:
    errors = []
    for robot in arms_with_rotors():
        at: Any = np.random.default_rng(7).uniform(-2, 2, robot.n)
        (B, g), near = by_jacobians(robot, at), lagrange.mass_matrix(robot, at)
        rate: Any = np.random.default_rng(8).uniform(-2, 2, robot.n)
        spun = [spinning(robot, at, rate, joint) for joint in robot.joints]
        energy = abs(rotors.rotor_energy(robot, at, rate) - sum(spun)) / sum(map(abs, spun))
        errors.append((distance(near, B), distance(newton_euler.gravity(robot, at), g), energy))
    worst = np.max(errors, axis=0)
    checks = (
        below("B by (7.32) against the kinetic energy differentiated twice, random arms", float(worst[0]), 1e-12),
        below("g by (7.39) against Newton-Euler", float(worst[1]), 1e-12),
        below("(7.23): the energy of the rotors' spin, relative", float(worst[2]), 1e-12),
    )
    says = "The sums over links and motors are formed with their Jacobians, for arms of revolute and prismatic joints."
    return Outcome(says, checks, chosen="Random arms.")
