"""Checks of parameters and symbolic equations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import armdyn
from armdyn import mechanics, parameters
from armdyn.equations import coriolis_matrices
from armdyn.graph import to_float
from armdyn.mechanics.registry import FORMULATIONS
from armdyn.robot import Robot
from support.cells.case import EXACT, Case, cell, close
from support.cells.compiled import energies
from support.energy_model import EnergyModel


@cell("parameters.regressor")
def _plain_regressor(c: Case) -> None:
    Y = parameters.regressor(c.robot, c.q, c.qd, c.qdd)
    close(Y @ parameters.standard_parameters(c.robot).array(), c.tau)


@cell("parameters.energy_regressor")
def _energies(c: Case) -> None:
    pi = parameters.standard_parameters(c.robot).array()
    close(parameters.energy_regressor(c.robot, c.q, c.qd) @ pi, energies(c))
    close(parameters.momentum_regressor(c.robot, c.q, c.qd) @ pi, c.M @ c.xd)


@cell("parameters.link_end")
def _link_ends(c: Case) -> None:
    Y = parameters.link_end_regressor(c.robot, c.q, c.qd, c.qdd)
    close(Y @ parameters.link_end_parameters(c.robot), c.tau - c.model.friction(c.xd))


@cell("parameters.base_parameters")
def check_base(c: Case) -> None:
    base = parameters.base_parameters(c.robot, tuple(parameters.standard.FAMILIES))
    close(base.regressor(c.q, c.qd, c.qdd) @ base.values, c.tau)


@cell("parameters.grouped")
def _grouped(c: Case) -> None:
    sliding = parameters.grouped(c.robot).without("presliding")  # whose torques need the motion before
    close(mechanics.newton_euler.inverse_dynamics(sliding, c.q, c.qd, c.qdd), c.tau)


@cell("equations.derive")
def _derive(c: Case) -> None:
    eq = armdyn.derive(c.robot)
    values = values_of(c) | dict(eq.robot.bound().parameters)
    M, C, g, k, friction, tau = (number(eq.raw[name], values) for name in ("M", "C", "g", "k", "friction", "tau"))
    close(tau, c.tau)
    close(M @ c.xdd + C @ c.xd + g + k + friction, tau)


def values_of(c: Case) -> dict[str, Any]:
    """The state by the names of its symbols: joints, then motors of elastic joints."""
    state = {"q": ("theta", c.x), "qd": ("thetad", c.xd), "qdd": ("thetadd", c.xdd)}
    soft = [f"{j + 1}" for j, joint in enumerate(c.robot.joints) if joint.elastic is not None]
    names = {
        name: [f"{name}{j + 1}" for j in range(c.n)] + [motor + j for j in soft] for name, (motor, _) in state.items()
    }
    return {key: float(y) for name, (_, x) in state.items() for key, y in zip(names[name], x, strict=True)}


def number(part: Any, values: dict[str, float]) -> Any:
    return np.array([number(x, values) for x in part]) if isinstance(part, tuple | list) else to_float(part, values)


@cell("mechanics.coriolis_matrices")
def _coriolis_matrices(c: Case) -> None:
    expected = c.model.coriolis_matrix(c.x, c.xd) @ c.xd
    for name in ("newton_euler_matrix", "skew_newton_euler_matrix", "central_newton_euler_matrix",
                 "unsymmetric_kronecker_matrix", "triangular_matrix"):  # fmt: skip
        C = getattr(mechanics.coriolis_matrices, name)(c.robot, c.x, c.xd)
        close(C @ c.xd, expected)


@cell("equations.coriolis_matrices")
def _compared_coriolis_matrices(c: Case) -> None:
    found = coriolis_matrices(c.robot)
    assert len(found) > 6
    assert all(matrix.torque_defect < EXACT for matrix in found if not matrix.name.startswith("symmetric part"))
    close(mechanics.newton_euler.coriolis(c.robot, c.x, c.xd), c.model.coriolis_matrix(c.x, c.xd) @ c.xd)


@cell("equations.compare")
def _compare(c: Case) -> None:
    assert armdyn.compare(c.robot, formulations=FORMULATIONS[:3]).agrees
    close(
        mechanics.newton_euler.inverse_dynamics(c.robot.opened, *_all(c)),
        EnergyModel(_tree(c.robot)).inverse_dynamics(*_all(c)),
    )


def _tree(robot: Robot) -> Robot:
    return replace(robot.opened, name="tree")


def _all(c: Case) -> Any:
    return (c.model.links @ c.x + c.model.constant, c.model.links @ c.xd, c.model.links @ c.xdd)


@cell("equations.certify")
def _certify(c: Case) -> None:
    """Exact on the tree; that the certified formulation is right too is the cell of newton_euler."""
    assert armdyn.certify(c.robot, points=1, formulations=FORMULATIONS[:3]).holds
