"""The formulations, by name: what each is, where it comes from, which quantities it gives."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from armdyn.errors import unknown_name
from armdyn.mechanics.quantity import Quantity
from armdyn.robot.features import BODIES, CLOSED, FREE, FRICTIONLESS, LOSSY, TREE, declare

QUANTITIES = (
    "inverse_dynamics",
    "mass_matrix",
    "coriolis_matrix",
    "coriolis",
    "gravity",
    "forward_dynamics",
    "kinetic_energy",
    "potential_energy",
)
"""Names and, with them, signatures that are the same in every formulation."""


@dataclass(frozen=True)
class Formulation:
    """One way to the equations of motion: a module of this package."""

    name: str
    title: str
    source: str
    takes: tuple[str, ...] = ()
    """Features that it takes into account; see `armdyn.robot.features`."""

    @property
    def module(self) -> Any:
        return import_module(f"armdyn.mechanics.{self.name}")

    @property
    def gives(self) -> tuple[str, ...]:
        """The quantities it gives, in the order of QUANTITIES."""
        return tuple(name for name in QUANTITIES if hasattr(self.module, name))

    def function(self, quantity: str) -> Quantity[..., Any]:
        """One of its quantities, as a function of robot, q, ..."""
        if quantity not in self.gives:
            raise unknown_name("quantity", quantity, self.gives, where=f"formulation {self.name!r}")
        found: Quantity[..., Any] = getattr(self.module, quantity)
        return found


ALL, STILL = (*TREE, *FREE), (*FRICTIONLESS, *FREE)
TORQUES = (*LOSSY, *FREE)
ONE_MOTOR_PER_JOINT = tuple(name for name in TORQUES if name not in ("coupling", "rotors_on_links"))
FORMULATIONS = (
    Formulation(
        "newton_euler",
        "Newton-Euler, link frames",
        "Khalil (7.51)-(7.61), Milićević table 2, Siciliano (7.107)-(7.114)",
        TORQUES,
    ),
    Formulation("newton_euler_base", "Newton-Euler, base frame", "Milićević table 1", TORQUES),
    Formulation("lagrange", "Lagrange, energies differentiated", "Khalil (7.4), Siciliano (7.1)-(7.3)", TORQUES),
    Formulation(
        "gim_christoffel",
        "Mass matrix with Christoffel symbols",
        "Khalil (7.5)-(7.25), Siciliano (7.13)-(7.45)",
        TORQUES,
    ),
    Formulation("lagrange_euler", "Lagrange-Euler, 4x4 matrices", "Milićević (2.1)-(2.15)", TORQUES),
    Formulation("kronecker", "Euler-Lagrange with Kronecker products", "Truc (23)-(52)", TORQUES),
    Formulation("dalembert", "Generalized d'Alembert", "Milićević (4.1)-(4.5)", TORQUES),
    Formulation("bertrand_bruneau", "New formulation of Bertrand and Bruneau", "El Baji (1)-(39)", TORQUES),
    Formulation("kane", "Kane, partial velocities", "El Baji [13]", TORQUES),
    Formulation("gibbs_appell", "Gibbs-Appell, acceleration energy", "El Baji [14]", TORQUES),
    Formulation("composite_body", "Composite rigid bodies", "Khalil sec. 7.6.1", TORQUES),
    Formulation("articulated_body", "Articulated bodies", "Khalil (7.67)-(7.91)", ONE_MOTOR_PER_JOINT),
    Formulation("forward", "Forward dynamics, column by column", "Khalil sec. 7.6.1", TORQUES),
)
AROUND: dict[str, tuple[str, ...]] = {
    "centroid": STILL,
    "closed_chain": (*CLOSED, *ALL),
    "coriolis_matrices": BODIES,
    "coupling": LOSSY,
    "derivatives": ALL,
    "doubled": ("elastic", *TREE),
    "doubled_lagrange": ("elastic", *TREE),
    "elastic": ("elastic", *TREE),
    "energies": STILL,
    "friction": ALL,
    "kinematics": ("elastic", *STILL),
    "moving_base": TREE,
    "rotors": TREE,
    "second_derivatives": TREE,
    "springs": ("elastic", *STILL),
}
"""The modules around the formulations, and the features that they take into account."""
for _module, _takes in (*((entry.name, entry.takes) for entry in FORMULATIONS), *AROUND.items()):
    declare(f"mechanics.{_module}", _takes)


def formulation(name: str) -> Formulation:
    """The formulation of that name."""
    for entry in FORMULATIONS:
        if entry.name == name:
            return entry
    raise unknown_name("formulation", name, [entry.name for entry in FORMULATIONS])
