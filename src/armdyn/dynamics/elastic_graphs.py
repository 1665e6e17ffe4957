"""Graphs of robots with elastic joints: the quantities of the doubled model, x = (q, theta). Khalil (7.35)

Each function of Dynamics has the same name, inputs and results as for a rigid robot; its vectors have one entry per
coordinate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armdyn.dynamics.graphs import (
    GraphMaker,
    Inputs,
    Source,
    Variant,
    on_frame,
    on_places,
    on_robot,
    on_torques,
    with_wrench,
)
from armdyn.graph import Graph
from armdyn.mechanics import doubled, doubled_lagrange
from armdyn.robot import Robot


class Elastic(NamedTuple):
    """How a quantity of a robot with elastic joints becomes a graph, and another formulation to compare with."""

    graph: GraphMaker
    reference: Any


def _named(formula: Any, *results: str) -> GraphMaker:
    """A formula of torques with several results."""

    def maker(source: Source, inputs: Inputs, _: Variant | None) -> Graph:
        def named(robot: Robot, *values: Any) -> dict[str, Any]:
            return dict(zip(results, formula.formula(robot, *values), strict=True))

        return source.traced(source.views.torques, named, inputs)

    return maker


def _forward(robot: Robot, x: Any, xd: Any, tau: Any) -> Any:
    bias = doubled_lagrange.inverse_dynamics(robot, x, xd, np.zeros_like(xd))
    return np.linalg.solve(doubled_lagrange.mass_matrix(robot, x), (tau - bias)[..., None])[..., 0]


def _forward_derivatives(robot: Robot, x: Any, xd: Any, tau: Any) -> Any:
    inverse = np.linalg.inv(doubled_lagrange.mass_matrix(robot, x))
    slopes = doubled.inverse_dynamics_derivatives(robot, x, xd, _forward(robot, x, xd, tau))
    by_x, by_xd = np.moveaxis(np.asarray(slopes), -3, 0)
    return np.stack([-inverse @ by_x, -inverse @ by_xd, inverse], axis=-3)


QUANTITIES = {
    "inverse_dynamics": Elastic(with_wrench(doubled.inverse_dynamics), doubled_lagrange.inverse_dynamics),
    "forward_dynamics": Elastic(with_wrench(doubled.forward_dynamics), _forward),
    "mass_matrix": Elastic(on_torques(doubled.mass_matrix), doubled_lagrange.mass_matrix),
    "coriolis_matrix": Elastic(on_torques(doubled.coriolis_matrix), doubled.coriolis_matrix),
    "coriolis": Elastic(on_torques(doubled.coriolis), doubled_lagrange.coriolis),
    "gravity": Elastic(on_torques(doubled.gravity), doubled.gravity),
    "springs": Elastic(on_robot(doubled.springs), doubled.springs),
    "friction": Elastic(on_robot(doubled.friction_torques), doubled.friction_torques),
    "pose": Elastic(on_frame(doubled.pose), doubled.pose),
    "jacobian": Elastic(on_frame(doubled.jacobian), doubled.jacobian),
    "jacobian_dot_qd": Elastic(on_frame(doubled.jacobian_dot_qd), doubled.jacobian_dot_qd),
    "inverse_dynamics_derivatives": Elastic(
        _named(doubled.inverse_dynamics_derivatives, "dtau_dq", "dtau_dqd"), doubled.inverse_dynamics_derivatives
    ),
    "forward_dynamics_derivatives": Elastic(
        _named(doubled.forward_dynamics_derivatives, "dqdd_dq", "dqdd_dqd", "dqdd_dtau"), _forward_derivatives
    ),
    "kinetic_energy": Elastic(on_torques(doubled.kinetic_energy), doubled.kinetic_energy),
    "closed": Elastic(on_robot(doubled.joint_positions), doubled.joint_positions),
    "potential_energy": Elastic(on_places(doubled.potential_energy), doubled.potential_energy),
}
"""The quantities of robots with elastic joints, by name."""
