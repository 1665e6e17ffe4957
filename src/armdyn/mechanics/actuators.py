"""What joints and motors add to the bodies' equations: friction and rotors, each a term of its own module.

Every formulation gets these terms from here, through `actuated`; none writes them again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar, cast

from armdyn.algebra import Scalar
from armdyn.algebra.ops import add
from armdyn.mechanics import external
from armdyn.mechanics.friction import friction_torques
from armdyn.mechanics.matrices import plus, times
from armdyn.mechanics.moving_axes import less_frame_rates, steady
from armdyn.mechanics.quantity import Quantity, quantity
from armdyn.mechanics.rotors import rotor_coriolis_matrix, rotor_energy, rotor_mass_matrix, rotor_torques
from armdyn.mechanics.springs import spring_energy, spring_torques
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars

P = ParamSpec("P")
R = TypeVar("R")


# The terms, joined to a formulation -------------------------------------------------------------------------------


def _sum_of_lists(a: Any, b: Any) -> Any:
    if isinstance(a, list | tuple):
        return [_sum_of_lists(x, y) for x, y in zip(a, b, strict=True)]
    return add(a, b)


def _motion_terms(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Any = None) -> list[Scalar]:
    elsewhere = external.split(robot, q, wrench)[1]
    return plus(rotor_torques(robot, q, qd, qdd), friction_torques(robot, qd), spring_torques(robot, q), elsewhere)


def _lossless_terms(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Any = None) -> list[Scalar]:
    """All of `_motion_terms` but friction."""
    elsewhere = external.split(robot, q, wrench)[1]
    return plus(rotor_torques(robot, q, qd, qdd), spring_torques(robot, q), elsewhere)


def _velocity_terms(robot: Robot, q: Scalars, qd: Scalars) -> list[Scalar]:
    rotors = rotor_torques(robot, q, qd, steady(robot, qd))
    return plus(rotors, times(_bodies(robot, q), steady(robot, qd))) if robot.compounds else rotors


def _rate_terms(robot: Robot, q: Scalars, qd: Scalars) -> list[list[Scalar]]:
    rotors = rotor_coriolis_matrix(robot, q, qd)
    if not robot.compounds:
        return rotors
    M = _sum_of_lists(_bodies(robot, q), rotor_mass_matrix(robot, q))
    return less_frame_rates(robot, rotors, M, qd)


def _bodies(robot: Robot, q: Scalars) -> list[list[Scalar]]:
    from armdyn.mechanics.composite_body import bodies_matrix  # which is completed by `actuated` itself

    return bodies_matrix(robot, q)


TERMS: dict[str, Callable[..., Any]] = {
    "inverse_dynamics": _motion_terms,
    "mass_matrix": rotor_mass_matrix,
    "coriolis_matrix": _rate_terms,
    "coriolis": _velocity_terms,
    "kinetic_energy": rotor_energy,
    "potential_energy": spring_energy,
}
"""What the joints add to a quantity, by its name. Gravity needs nothing: rotor masses are part of the links."""


def actuated(formula: Callable[P, R]) -> Quantity[P, R]:
    """A formula for the bodies alone, completed by what the actuators add, and open to numbers, arrays and symbols."""
    terms = TERMS[formula.__name__]
    names = list(signature(formula).parameters)
    scalar: Callable[..., Any] = formula
    lossy = formula.__name__ == "inverse_dynamics"

    @wraps(formula)
    def complete(robot: Robot, *values: Any, **options: Any) -> Any:
        arguments = dict(zip(names[1:], values, strict=False)) | options
        bodies = arguments
        if isinstance(arguments.get("wrench"), Mapping):
            bodies = arguments | {"wrench": None}  # wrenches on named frames are a term of their own
        if lossy and "load_friction" in robot.features:  # friction of what the joints carry
            carried = _sum_of_lists(scalar(robot, **bodies), _lossless_terms(robot, **arguments))
            return plus(carried, friction_torques(robot, arguments["qd"], carried))
        return _sum_of_lists(scalar(robot, **bodies), terms(robot, **arguments))

    return cast(Quantity[P, R], quantity(complete))


__all__ = [
    "actuated",
    "friction_torques",
    "rotor_coriolis_matrix",
    "rotor_energy",
    "rotor_mass_matrix",
    "rotor_torques",
]
