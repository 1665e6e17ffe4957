"""Checks of compiled quantities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import armdyn
from armdyn import mechanics, motion
from armdyn.dynamics.quantities import QUANTITIES
from armdyn.motion.sampling import sample_times
from support.cells.case import CELLS, DIFFERENCES, SECOND_DIFFERENCES, Case, Check, cell, close

EXPECTED: dict[str, Callable[[Case], Any]] = {
    "inverse_dynamics": lambda c: c.tau,
    "forward_dynamics": lambda c: c.model.forward_dynamics(c.x, c.xd, c.xdd),
    "mass_matrix": lambda c: c.M,
    "coriolis": lambda c: c.coriolis,
    "gravity": lambda c: c.model.gravity(c.x),
    "springs": lambda c: c.model.springs(c.x),
    "friction": lambda c: c.model.friction(c.xd),
    "pose": lambda c: c.model.pose(c.x),
    "jacobian": lambda c: c.J,
    "jacobian_dot_qd": lambda c: c.drift(c.x, c.xd),
    "kinetic_energy": lambda c: c.xd @ c.M @ c.xd / 2,
    "potential_energy": lambda c: c.model.weights_energy(c.x) + c.model.springs_energy(c.x),
    "closed": lambda c: c.closed,
}
"""Quantities that formulations and Dynamics share, from the second model."""
INPUTS = {"q": "x", "qd": "xd", "qdd": "xdd", "tau": "xdd"}


def right(c: Case, name: str, function: Callable[..., Any]) -> None:
    """A function of the state gives this quantity."""
    found = function(*(getattr(c, INPUTS[each]) for each in QUANTITIES[name].inputs))
    if name == "coriolis_matrix":
        c.check_coriolis_matrix(found)
    else:
        close(found, EXPECTED[name](c))


def _quantity(name: str) -> Check:
    return lambda c: right(c, name, getattr(c.dyn, name))


for _name in (*EXPECTED, "coriolis_matrix"):
    CELLS[f"dynamics.{_name}"] = _quantity(_name)


@cell("dynamics.compile")
def _compile(c: Case) -> None:
    dyn = armdyn.compile(c.robot)
    close(dyn.mass_matrix(c.x), c.M)
    if "presliding" not in c.robot.features:  # its torques need the motion before
        close(dyn.inverse_dynamics(c.x, c.xd, c.xdd), c.tau)


@cell("dynamics.regressor")
def _regressor(c: Case) -> None:
    close(c.dyn.regressor(c.x, c.xd, c.xdd) @ c.dyn.parameters, c.tau)


@cell("dynamics.momentum_regressor")
def _momenta(c: Case) -> None:
    close(c.dyn.momentum_regressor(c.x, c.xd) @ c.dyn.parameters, c.M @ c.xd)


@cell("dynamics.energy_regressor")
def _energies(c: Case) -> None:
    close(c.dyn.energy_regressor(c.x, c.xd) @ c.dyn.parameters, energies(c))


def energies(c: Case) -> Any:
    """Kinetic and potential energy of the second model."""
    return [c.xd @ c.M @ c.xd / 2, c.model.weights_energy(c.x) + c.model.springs_energy(c.x)]


@cell("dynamics.link_end_regressor")
def _link_ends(c: Case) -> None:
    Y = c.dyn.link_end_regressor(c.x, c.xd, c.xdd)
    close(Y @ armdyn.parameters.link_end_parameters(c.robot), c.tau - c.model.friction(c.xd))


@cell("dynamics.jacobian_dot")
def _jacobian_dot(c: Case) -> None:
    close(c.dyn.jacobian_dot(c.x, c.xd) @ c.xd, c.drift(c.x, c.xd))


@cell("dynamics.inverse_dynamics_derivatives")
def _slopes(c: Case) -> None:
    by_q, by_qd = c.dyn.inverse_dynamics_derivatives(c.x, c.xd, c.xdd)
    d = np.random.default_rng(5).normal(size=c.model.size)
    close(by_q @ d, c.difference(lambda x: c.model.inverse_dynamics(x, c.xd, c.xdd), c.x, d), DIFFERENCES)
    close(by_qd @ d, c.difference(lambda x: c.model.inverse_dynamics(c.x, x, c.xdd), c.xd, d), DIFFERENCES)


@cell("dynamics.forward_dynamics_derivatives")
def _forward_slopes(c: Case) -> None:
    by_q, by_qd, by_tau = c.dyn.forward_dynamics_derivatives(c.x, c.xd, c.xdd)
    d = np.random.default_rng(5).normal(size=c.model.size)
    close(by_q @ d, c.difference(lambda x: c.model.forward_dynamics(x, c.xd, c.xdd), c.x, d), DIFFERENCES)
    close(by_qd @ d, c.difference(lambda x: c.model.forward_dynamics(c.x, x, c.xdd), c.xd, d), DIFFERENCES)
    close(by_tau, np.linalg.inv(c.M))


@cell("dynamics.inverse_dynamics_hessian")
def _curvature(c: Case) -> None:
    _curved(c, c.dyn.inverse_dynamics_hessian, "inverse_dynamics")


@cell("mechanics.second_derivatives")
def _second_derivatives(c: Case) -> None:
    found = mechanics.second_derivatives.inverse_dynamics_hessian
    _curved(c, lambda *state: found(c.robot, *state), "inverse_dynamics")


@cell("dynamics.forward_dynamics_hessian")
def _forward_curvature(c: Case) -> None:
    _curved(c, c.dyn.forward_dynamics_hessian, "forward_dynamics")


def _curved(c: Case, hessian: Callable[..., Any], name: str) -> None:
    """Second derivatives along a direction in q and qd, by second differences of the second model."""
    a, b, weights = np.random.default_rng(5).normal(size=(3, len(c.x)))
    q_q, q_qd, qd_qd, q_last = hessian(c.x, c.xd, c.xdd, weights)

    def along(x: Any) -> Any:
        function = getattr(c.model, name)
        q, qd, last = c.x + x[0] * a, c.xd + x[0] * b, c.xdd
        return c.difference(lambda s: function(*np.split(s, 3)), np.concatenate([q, qd, last]),
                            np.concatenate([a, b, a])) @ weights  # fmt: skip

    second = c.difference(along, np.zeros(1), np.ones(1))
    close(a @ q_q @ a + 2 * a @ q_qd @ b + b @ qd_qd @ b + a @ q_last @ a, second, SECOND_DIFFERENCES)


def _masses(c: Case) -> tuple[float, Any]:
    """(mass, centre of mass) of what moves."""
    poses = c.model._frames(c.x)[0]
    parts = [(m, np.real(poses[body] @ np.append(com, 1))[:3]) for body, m, com, _ in c.model._masses]
    mass = sum(m for m, _ in parts)
    return mass, sum(m * p for m, p in parts) / mass


@cell("dynamics.center_of_mass")
def _center(c: Case) -> None:
    close(c.dyn.center_of_mass(c.x), _masses(c)[1])


@cell("dynamics.centroidal_momentum")
def _momentum(c: Case) -> None:
    close(c.dyn.centroidal_momentum(c.x, c.xd)[:3], c.model.momentum_row(c.x).real @ c.xd)


@cell("mechanics.centroid")
def _centroid(c: Case) -> None:
    close(mechanics.centroid.center_of_mass(c.robot, c.x), _masses(c)[1])
    close(mechanics.centroid.centroidal_momentum(c.robot, c.x, c.xd)[:3], c.model.momentum_row(c.x).real @ c.xd)


def base_force(c: Case) -> Any:
    """The force on the base is what moves all masses and carries what the counterbalances do not."""
    moved = c.model.momentum_row(c.x).real @ c.xdd
    moved = moved + c.momentum_drift
    for joint in c.robot.tree:
        moved = moved - float(joint.body.inertia.mass) * (1 - joint.body.gravity_compensation) * c.model.gravity_vector
        if joint.rotor is not None and joint.rotor.model == "full":
            moved = moved - float(joint.rotor.mass) * c.model.gravity_vector
    return moved


@cell("dynamics.joint_reactions")
def _joint_reactions(c: Case) -> None:
    close(c.on_base(c.dyn.joint_reactions(c.x, c.xd, c.xdd)), base_force(c))


@cell("mechanics.reactions")
def _reactions(c: Case) -> None:
    close(c.on_base(mechanics.reactions.joint_reactions(c.robot, c.x, c.xd, c.xdd)), base_force(c))


@cell("motion.bearing_loads")
def _bearing_loads(c: Case) -> None:
    times = sample_times(c.move, c.move.duration / 2)
    found = motion.bearing_loads(c.dyn, c.move, dt=c.move.duration / 2)
    loads = c.dyn.joint_reactions(c.move(times), c.move(times, 1), c.move(times, 2))
    close(found.radial_force, np.hypot(loads[..., 0], loads[..., 1]).max(axis=0))
    close(found.axial_force, np.abs(loads[..., 2]).max(axis=0))
    close(found.tilting_moment, np.hypot(loads[..., 3], loads[..., 4]).max(axis=0))
    close(c.on_base(c.dyn.joint_reactions(c.x, c.xd, c.xdd)), base_force(c))
