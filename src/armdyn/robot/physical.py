"""Values that no body, motor or spring can have. `load` warns of them; the check-up begins with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from armdyn.algebra import Inertia
from armdyn.findings import Finding
from armdyn.robot.links import WORLD
from armdyn.robot.parts import Body, Joint
from armdyn.robot.robot import Robot
from armdyn.typing import Array

ROUNDING = 1e-6
"""Part of the largest moment by which a tensor may fail: files give about six digits (rods and plates lie on the
boundary, so rounding puts every second of them outside)."""
PUBLISHED = 2e-2
"""Part of the largest moment that rounding to two digits, as in printed tables, can explain."""
DUST = 1e-6
"""m. A radius of gyration below a micrometre is what rounding left of a tensor of zeros."""


class GivenBody(NamedTuple):
    """One body in numbers, about its centre of mass.

    moving: some joint moves it. grouped: its parameters were given about the frame's origin, as grouped or identified
    ones are. principal: (3,) principal moments, increasing; NaN where a number of the body is not finite.
    """

    body: Body
    moving: bool
    grouped: bool
    mass: float
    com: Array
    tensor: Array
    principal: Array

    @property
    def where(self) -> str:
        return f"body {self.body.name!r}"


def given_bodies(robot: Robot) -> list[GivenBody]:
    """All bodies of a robot, the root first."""
    frames = robot.frames
    parts = [(robot.root, False), *((joint.body, frames[joint.body.name].link != WORLD) for joint in robot.tree)]
    bodies = [_given(body, moving) for body, moving in parts]
    tensors = np.array([body.tensor for body in bodies])
    finite = np.array([np.isfinite([body.mass, *body.com, *body.tensor.flat]).all() for body in bodies])
    moments = np.linalg.eigvalsh(np.where(finite[:, None, None], tensors, 0.0))
    moments[~finite] = np.nan
    return [body._replace(principal=principal) for body, principal in zip(bodies, moments, strict=True)]


def _given(body: Body, moving: bool) -> GivenBody:
    inertia = body.inertia
    grouped = isinstance(inertia, Inertia)
    mass = float(inertia.mass)
    tensor = np.array([[float(x) for x in row] for row in inertia.tensor.rows])
    vector = np.array([float(x) for x in (inertia.moment if isinstance(inertia, Inertia) else inertia.com)])
    if grouped and mass != 0:
        vector = vector / mass
        tensor = tensor - steiner(mass, vector)
    if mass > 0 and np.abs(tensor).max() < mass * DUST**2:
        tensor = np.zeros((3, 3))
    return GivenBody(body, moving, grouped, mass, vector, tensor, np.zeros(3))


def steiner(mass: float, c: Array) -> Array:
    """The inertia tensor about the origin of a point mass at c: m (c.c 1 - c c^T)."""
    return np.asarray(mass * (c @ c * np.eye(3) - np.outer(c, c)))


def is_consistent(tensor: Array, rounding: float = ROUNDING) -> bool:
    """Whether a tensor is that of a body: principal moments not negative, the largest at most the sum of the others."""
    moments = np.linalg.eigvalsh(tensor)
    scale = float(np.abs(moments).max())
    return bool(moments[0] >= -rounding * scale and moments[2] - moments[0] - moments[1] <= rounding * scale)


def invalid_findings(robot: Robot) -> Iterator[Finding]:
    """What no body, motor or spring of this kind can exist with."""
    robot = robot.bound().opened
    with np.errstate(all="ignore"):  # absurd numbers overflow to infinity, and are reported as such
        for body in given_bodies(robot):
            yield from invalid_body(body)
    for joint in robot.tree:
        yield from invalid_drive(joint)


# Bodies ------------------------------------------------------------------------------------------------------------


def invalid_body(body: GivenBody) -> Iterator[Finding]:
    """Findings on one body; parameters without a mass that were grouped on purpose are not judged."""
    principal = body.principal
    if np.isnan(principal[0]):
        yield Finding(
            "not-finite", "invalid", body.where, "its inertia is not finite", "finite numbers", advice="Give numbers"
        )
        return
    if body.grouped and body.mass == 0:
        return
    if body.mass < 0:
        cause = "a wrong sign, or a payload subtracted from a link"
        cause = "an identified or grouped parameter (the torques may still be right)" if body.grouped else cause
        yield Finding(
            "negative-mass",
            "invalid",
            body.where,
            f"its mass is {body.mass:g} kg",
            "mass >= 0",
            body.mass,
            "kg",
            cause,
            "Give the mass of the body",
        )
    scale = float(np.abs(body.tensor).max())
    asymmetry = float(np.abs(body.tensor - body.tensor.T).max())
    if asymmetry > ROUNDING * scale:
        yield Finding(
            "not-symmetric",
            "invalid",
            body.where,
            "its inertia tensor is not symmetric",
            "I = I^T",
            asymmetry,
            "kg m^2",
            "a mistyped entry",
            "Give xx xy xz yy yz zz",
        )
    elif principal[0] < -ROUNDING * scale:
        yield Finding(
            "not-positive",
            "invalid",
            body.where,
            f"its inertia tensor is not positive semidefinite: smallest principal moment {principal[0]:.4g} kg m^2",
            "all principal moments >= 0",
            float(principal[0]),
            "kg m^2",
            _cause(body, -principal[0] / scale),
            _ADVICE,
        )
    elif (excess := principal[2] - principal[0] - principal[1]) > ROUNDING * principal[2]:
        yield Finding(
            "triangle",
            "invalid",
            body.where,
            "its principal moments violate the triangle inequality: "
            f"{principal[2]:.4g} > {principal[0]:.4g} + {principal[1]:.4g} kg m^2 (by "
            f"{100 * excess / principal[2]:.3g} %)",
            "the largest principal moment is at most the sum of the others",
            float(excess),
            "kg m^2",
            _cause(body, excess / principal[2]),
            _ADVICE,
        )


_ADVICE = "Compare with the source or the CAD data: six entries at the centre of mass, in axes of the body frame"


def _cause(body: GivenBody, part: float) -> str:
    """The first explanation that would make the tensor physically consistent."""
    T = body.tensor
    if part < PUBLISHED:
        return "rounding in the source"
    if body.grouped:
        given = np.array([[float(x) for x in row] for row in body.body.inertia.tensor.rows])
        central = "the tensor is given at the centre of mass instead of the frame's origin, or these are "
        kind = "grouped or identified parameters (then the torques may still be right)"
        return central + kind if is_consistent(given) else kind
    if np.ptp(T) == 0:
        return "a placeholder: all six entries are the same"
    zeros = [axis for axis, moment in zip("xyz", np.diag(T), strict=True) if moment == 0]
    if zeros:
        return f"a moment was left at zero: {' and '.join('I' + 2 * axis for axis in zeros)}"
    if is_consistent(2 * np.diag(np.diag(T)) - T):
        return "the products of inertia have the opposite sign (armdyn and URDF take I_xy = -integral of x y dm)"
    xx, yy, zz, xy, xz, yz = (T[0, 0], T[0, 1], T[0, 2], T[1, 1], T[1, 2], T[2, 2])
    if is_consistent(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])) and min(abs(yy), abs(zz)) > 0:
        return "the six entries are in the order xx yy zz xy xz yz; here they are xx xy xz yy yz zz"
    if body.com.any() and is_consistent(T + steiner(body.mass, body.com)):
        return "the tensor was moved to the centre of mass twice, or the centre of mass is wrong"
    return "a mistyped entry, an entry in another unit, or values identified without physical constraints"


# Drives ------------------------------------------------------------------------------------------------------------


def invalid_drive(joint: Joint) -> Iterator[Finding]:
    """Findings on the rotor and the spring of one joint."""
    if joint.rotor is not None:
        for name, unit in (("inertia", "kg m^2"), ("mass", "kg"), ("transverse", "kg m^2")):
            value = float(getattr(joint.rotor, name))
            if value < 0:
                yield Finding(
                    "negative-rotor",
                    "invalid",
                    f"joint {joint.name!r}, rotor",
                    f"the rotor's {name} is {value:g} {unit}",
                    f"{name} >= 0",
                    value,
                    unit,
                    "a wrong sign, or a value identified from too little motion",
                    f"Give the {name} from the motor's data sheet",
                )
    if joint.elastic is not None and (stiffness := float(joint.elastic.stiffness)) <= 0:
        unit = "N m/rad" if joint.kind == "revolute" else "N/m"
        yield Finding(
            "soft-spring",
            "invalid",
            f"joint {joint.name!r}, elastic",
            f"the stiffness is {stiffness:g} {unit}",
            "stiffness > 0",
            stiffness,
            unit,
            "a wrong sign, or a rigid joint",
            "Give a positive stiffness; omit elastic for a rigid joint",
        )


__all__ = ["GivenBody", "given_bodies", "invalid_body", "invalid_drive", "invalid_findings", "is_consistent", "steiner"]
