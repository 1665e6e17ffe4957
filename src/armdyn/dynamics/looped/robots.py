"""Which quantities of which robots have looped code.

Apart from the recipes, so that robots for which straight-line code is the choice do not load them.
"""

from __future__ import annotations

import numpy as np

from armdyn.algebra.ops import is_zero, mul
from armdyn.kernels import jit
from armdyn.kernels.loop_writer import LANES
from armdyn.kernels.looped.recursion import FREE
from armdyn.mechanics.friction import GENERAL, is_own_law
from armdyn.parameters import parameter_names
from armdyn.robot import Robot
from armdyn.robot.coordinates import coordinates
from armdyn.robot.links import WORLD
from armdyn.robot.parts import Friction, Joint
from armdyn.typing import Array

JOINT = ("Ia", "Fv", "Fc", "stiffness", "off")
"""What a joint adds to the torque: Ia qdd + Fv qd + Fc sign(qd) + stiffness q + off, its spring's rest in `off`."""
LINEAR_LAWS = ("viscous", "coulomb", GENERAL)
TORQUES = (
    "inverse_dynamics",
    "coriolis",
    "forward_dynamics",
    "mass_matrix",
    "coriolis_matrix",
    "inverse_dynamics_derivatives",
)
"""Quantities that are the same for grouped parameters, and in frames turned about joint axes."""
LOOPED = (*TORQUES, "regressor")


def can_be_looped(robot: Robot, name: str) -> bool:
    """Whether there is looped code of a quantity for this robot."""
    if name not in LOOPED or robot.n < LANES or not jit.available():
        return False
    if robot.constrained or coordinates(robot).doubled:
        return False
    if robot.compounds and not floats(robot):
        return False
    return joint_numbers(robot) is not None and (name != "regressor" or _usual_columns(robot))


def floats(robot: Robot) -> bool:
    """Whether the robot stands on a free joint without friction that carries all of it, and has no other such joint."""
    kinds = [(span.compound.kind, span.joint) for span in robot.compounds]
    if kinds != [("free", 0)] or robot.n < FREE + LANES:
        return False
    if any(link.parent == WORLD for link in robot.links[1:]) or any(
        link.parent < FREE - 1 for link in robot.links[FREE:]
    ):
        return False
    terms = joint_numbers(robot)
    return terms is not None and not terms[:FREE].any()


def _usual_columns(robot: Robot) -> bool:
    """Whether the regressor has fourteen columns per joint, friction's being rate and sign."""
    linear = all(joint.friction is None or joint.friction.law in (None, "coulomb") for joint in robot.joints)
    return linear and len(parameter_names(robot)) == 14 * robot.n


def joint_numbers(robot: Robot) -> Array | None:
    """(n, 5) the numbers of JOINT; None if they do not say all that joints and motors add."""
    numbers = np.zeros((robot.n, len(JOINT)))
    for spin in robot.spins:
        if spin.others or (spin.axis is not None and spin.carrier != WORLD):
            return None
        numbers[spin.joint, 0] += float(mul(spin.ratio, mul(spin.ratio, spin.inertia)))
    if any(not is_zero(joint.body.gravity_compensation) for joint in robot.tree):
        return None
    for j, joint in enumerate(robot.joints):
        law = _linear_friction(joint)
        if law is None:
            return None
        numbers[j, 1:3] = float(law.viscous), float(law.coulomb)
        numbers[j, 4] = float(law.offset)
        if joint.spring is not None:
            numbers[j, 3] = float(joint.spring.stiffness)
            numbers[j, 4] -= float(joint.spring.stiffness) * float(joint.spring.rest)
    return numbers


def _linear_friction(joint: Joint) -> Friction | None:
    """The friction of a joint if it is linear in the rate and its sign, else None. Nor may the motor have its own."""
    motor = joint.motor
    if motor is not None and not (is_zero(motor.viscous) and is_zero(motor.coulomb)):
        return None
    law = joint.friction or Friction()
    name = law.law or GENERAL
    if name not in LINEAR_LAWS or not is_own_law(law) or (name == GENERAL and not is_zero(law.static)):
        return None
    return Friction(law.viscous, 0 if name == "viscous" else law.coulomb, offset=law.offset)
