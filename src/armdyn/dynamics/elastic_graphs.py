"""Graphs of robots with elastic joints: the quantities of the doubled model, x = (q, theta). Khalil (7.35)

Each function of Dynamics has the same name, inputs and results as for a rigid robot; its vectors have one entry per
coordinate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from armdyn.dynamics.graphs import Accelerations, GraphMaker, on_frame, on_places, on_robot, on_torques, with_wrench
from armdyn.mechanics import doubled, doubled_lagrange


class Elastic(NamedTuple):
    """How a quantity of a robot with elastic joints becomes a graph, and another formulation to compare with."""

    graph: GraphMaker
    reference: Any


BY_ENERGIES = Accelerations(
    doubled_lagrange.mass_matrix, doubled_lagrange.inverse_dynamics, doubled.inverse_dynamics_derivatives
)
QUANTITIES = {
    "inverse_dynamics": Elastic(with_wrench(doubled.inverse_dynamics), doubled_lagrange.inverse_dynamics),
    "forward_dynamics": Elastic(with_wrench(doubled.forward_dynamics), BY_ENERGIES.forward_dynamics),
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
        on_torques(doubled.inverse_dynamics_derivatives, "dtau_dq", "dtau_dqd"), doubled.inverse_dynamics_derivatives
    ),
    "forward_dynamics_derivatives": Elastic(
        on_torques(doubled.forward_dynamics_derivatives, "dqdd_dq", "dqdd_dqd", "dqdd_dtau"), BY_ENERGIES.derivatives
    ),
    "kinetic_energy": Elastic(on_torques(doubled.kinetic_energy), doubled.kinetic_energy),
    "closed": Elastic(on_robot(doubled.joint_positions), doubled.joint_positions),
    "potential_energy": Elastic(on_places(doubled.potential_energy), doubled.potential_energy),
}
"""The quantities of robots with elastic joints, by name."""
