"""Checks of the formulations of mechanics."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from armdyn import mechanics
from armdyn.mechanics.friction import friction_torques
from armdyn.mechanics.quantity import quantity
from armdyn.mechanics.registry import FORMULATIONS
from armdyn.mechanics.springs import spring_torques
from support.cells.case import CELLS, Case, Check, cell, close, refusal
from support.cells.compiled import right
from support.energy_model import EnergyModel


def _formulation(module: Any, names: tuple[str, ...]) -> Check:
    def check(c: Case) -> None:
        for name in names:
            right(c, name, partial(getattr(module, name), c.robot))

    return check


for _entry in FORMULATIONS:
    CELLS[f"mechanics.{_entry.name}"] = _formulation(_entry.module, _entry.gives)
for _around, _names in {
    "derivatives": ("coriolis_matrix",),
    "doubled": ("inverse_dynamics", "mass_matrix", "coriolis_matrix", "coriolis", "gravity", "springs",
                "kinetic_energy", "potential_energy", "pose", "jacobian"),
    "doubled_lagrange": ("inverse_dynamics", "mass_matrix", "coriolis"),
    "energies": ("kinetic_energy", "potential_energy"),
}.items():  # fmt: skip
    CELLS[f"mechanics.{_around}"] = _formulation(import_module(f"armdyn.mechanics.{_around}"), _names)


@cell("mechanics.kinematics")
def _kinematics(c: Case) -> None:
    close(mechanics.kinematics.pose(c.robot, c.q), c.model.pose(c.x))
    close(mechanics.kinematics.jacobian(c.robot, c.q), c.J[:, : c.n])


@cell("mechanics.friction")
def _friction(c: Case) -> None:
    close(quantity(friction_torques)(c.robot, c.qd), c.model.friction(c.xd))


@cell("mechanics.springs")
def _springs(c: Case) -> None:
    close(quantity(spring_torques)(c.robot, c.q), c.rigid.springs(c.q))


@cell("mechanics.closed_chain")
def _closed_chain(c: Case) -> None:
    if not c.robot.constrained:
        assert "loop" in str(refusal(lambda: mechanics.closed_chain.gravity(c.robot, c.q)))
        return
    q_all = c.model.links @ c.x + c.model.constant
    close(mechanics.closed_chain.inverse_dynamics(c.robot, q_all, c.xd, c.xdd), c.tau)
    close(mechanics.closed_chain.mass_matrix(c.robot, q_all), c.M)


@cell("mechanics.coupling")
def _coupling(c: Case) -> None:
    """Power at the motors is power at the joints."""
    velocities, torques = (
        mechanics.coupling.motor_velocities(c.robot, c.qd),
        mechanics.coupling.motor_torques(c.robot, c.tau),
    )
    close(velocities @ torques, c.qd @ c.tau)
    J = np.array(c.robot.coupling) if c.robot.coupling else np.diag([1 / _ratio(joint) for joint in c.robot.joints])
    close(mechanics.coupling.coupling_matrix(c.robot), J)


def _ratio(joint: Any) -> float:
    return 1.0 if joint.rotor is None else float(joint.rotor.ratio)


@cell("mechanics.elastic")
def _elastic(c: Case) -> None:
    if not c.dyn.coordinates.doubled:
        assert "elastic" in str(refusal(lambda: mechanics.elastic.energy(c.robot, c.q, c.qd, c.q, c.qd)))
        return
    pairs = [(x[: c.n], np.array(x)[list(c.dyn.coordinates.motors)]) for x in (c.x, c.xd, c.xdd)]
    links, motors = mechanics.elastic.inverse_dynamics(c.robot, *(p[0] for p in pairs), *(p[1] for p in pairs))
    close(c.dyn.coordinates.joined(np.where([j.elastic is None for j in c.robot.joints], motors, links), motors), c.tau)


@cell("mechanics.moving_base")
def _moving_base(c: Case) -> None:
    """A base that moves as its virtual joints do."""
    v, a = np.random.default_rng(3).normal(size=(2, 3))
    v6, a6 = np.append(v, np.zeros(3)), np.append(a, np.zeros(3))
    found = mechanics.moving_base.inverse_dynamics(c.robot, c.q, c.qd, c.qdd, v6, a6)
    wrench = mechanics.moving_base.base_wrench(c.robot, c.q, c.qd, c.qdd, v6, a6)
    virtual = mechanics.moving_base.with_virtual_joints(c.robot, ("x", "y", "z"))
    whole = EnergyModel(virtual)
    state = (np.append(np.zeros(3), c.q), np.append(v, c.qd), np.append(a, c.qdd))
    expected = whole.inverse_dynamics(*state)
    close(found, expected[3:])
    close(wrench[:3], expected[:3])
