"""What can be exported: the quantities of Dynamics as graphs, with the words that document them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

from armdyn.algebra import ZERO
from armdyn.dynamics.graphs import RECIPES, Kitchen, parameterless
from armdyn.errors import ArmdynError, RobotError, unknown_name
from armdyn.export.labels import labels_of
from armdyn.export.naming import checked_prefix, file_stem
from armdyn.graph import Graph, Node
from armdyn.graph.angle import natural_order
from armdyn.parameters import grouped
from armdyn.robot import Robot

PARAMETERS = "parameters"
"""Name of the argument that holds the named parameters, where they are kept."""


@dataclass(frozen=True)
class Sheet:
    """The words about one quantity: names of its results, what it is, units."""

    outputs: tuple[str, ...]
    what: str
    unit: str


SHEETS = {
    "inverse_dynamics": Sheet(
        ("tau",),
        "Joint torques that produce a motion: tau = M(q) qdd + C(q, qd) qd + g(q) + friction(qd) + rotor terms.",
        "N m (revolute) or N (prismatic), exerted by the actuators on +q",
    ),
    "forward_dynamics": Sheet(
        ("qdd",),
        "Joint accelerations that torques produce: qdd = M(q)^-1 (tau - C(q, qd) qd - g(q) - friction(qd)).",
        "rad/s^2 or m/s^2",
    ),
    "mass_matrix": Sheet(
        ("M",), "Inertia matrix M(q), rotors included; both triangles are written.", "kg m^2, kg m or kg"
    ),
    "coriolis_matrix": Sheet(
        ("C",), "Coriolis matrix of Christoffel symbols: dM/dt - 2 C is skew-symmetric.", "torque per unit of qd"
    ),
    "coriolis": Sheet(("c",), "Centrifugal and Coriolis torques C(q, qd) qd.", "N m or N"),
    "gravity": Sheet(("g",), "Gravity torques g(q): what the actuators bear at rest.", "N m or N"),
    "friction": Sheet(("tau",), "Friction torques of the joints, on the actuators' side.", "N m or N"),
    "pose": Sheet(
        ("T",), "Pose of the tool frame in the world: homogeneous matrix [R p; 0 0 0 1].", "R without unit, p in m"
    ),
    "jacobian": Sheet(
        ("J",),
        "Geometric Jacobian of the tool frame: (v, w) = J qd, linear rows first, world axes, at the tool's origin.",
        "m or 1 (linear rows), 1 or 0 (angular rows)",
    ),
    "jacobian_dot_qd": Sheet(("a",), "Acceleration of the tool frame that velocities alone cause: Jdot qd.",
                             "m/s^2 (three entries), rad/s^2 (three entries)"),
    "kinetic_energy": Sheet(("T",), "Kinetic energy of links and rotors.", "J"),
    "potential_energy": Sheet(("U",), "Potential energy of gravity, zero at the world's origin.", "J"),
    "inverse_dynamics_derivatives": Sheet(
        ("dtau_dq", "dtau_dqd"), "First derivatives of the inverse dynamics: entry (i, j) is dtau_i / dx_j.",
        "torque per unit of q and of qd",
    ),
}  # fmt: skip
"""What can be exported, by name."""

WEIGHTLESS = ("mass_matrix", "coriolis", "coriolis_matrix", "kinetic_energy", "friction")
"""Quantities that gravity has no part in."""

DEFAULT = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis", "gravity", "pose", "jacobian")
"""What is exported if nothing is said."""

INPUTS = {
    "q": "joint positions, rad (revolute) or m (prismatic)",
    "qd": "joint velocities, rad/s or m/s",
    "qdd": "joint accelerations, rad/s^2 or m/s^2",
    "tau": "joint torques, N m or N, exerted by the actuators on +q",
    PARAMETERS: "named parameters of the robot",
}


@dataclass(frozen=True)
class Function:
    """One quantity to be written: its graph, and names for intermediates."""

    name: str
    sheet: Sheet
    graph: Graph
    labels: Mapping[Node, str]


@dataclass(frozen=True)
class Model:
    """What is written: a robot in numbers, its functions, and the named parameters that stay arguments."""

    robot: Robot
    prefix: str
    functions: tuple[Function, ...]
    parameters: tuple[Node, ...] = ()

    @cached_property
    def defaults(self) -> tuple[float, ...]:
        """Values of the parameters in the robot's file."""
        return tuple(float(self.robot.parameters[node.value]) for node in self.parameters)


def model(
    robot: Robot, functions: Iterable[str] = DEFAULT, prefix: str | None = None, *, parameters: bool = False
) -> Model:
    """The graphs of the wanted functions.

    parameters: keep the named parameters of the robot's file as arguments; otherwise their values are built in.
    Raises:  UnknownName for a function that is not there, ArmdynError for a prefix that cannot be a name.
    """
    numeric = parameterless(robot)
    if not numeric.n:
        raise RobotError("no joint moves", where=f"robot {robot.name!r}", expected="at least one moving joint")
    names = tuple(dict.fromkeys(functions))
    for name in names:
        if name not in SHEETS:
            raise unknown_name("function", name, SHEETS, where="export")
    if not names:
        raise ArmdynError("no function to export", where="export", expected=f"some of: {', '.join(SHEETS)}")
    stem = file_stem(robot.name) if prefix is None else checked_prefix(prefix)
    kitchen: Kitchen = _Symbolic(numeric) if parameters else Kitchen(numeric, "auto", group=True)
    made = {name: _graph(kitchen, name) for name in names}
    free = tuple(sorted({node for graph in made.values() for node in graph.parameters}, key=natural_order))
    if free:
        made = {name: replace(graph, inputs={**graph.inputs, PARAMETERS: free}) for name, graph in made.items()}
    values = {node: float(numeric.parameters[node.value]) for node in free}
    torques, places = (view.bound() for view in (kitchen.torques, kitchen.places))
    entries = []
    for name, graph in made.items():
        view = places if RECIPES[name].choice == "frame" else torques
        view = replace(view, gravity=ZERO) if name in WEIGHTLESS else view
        entries.append(Function(name, SHEETS[name], graph, labels_of(graph, view, values)))
    return Model(numeric, stem, tuple(entries), free)


def _graph(kitchen: Kitchen, name: str) -> Graph:
    """The graph of a quantity, its results named as the sheet says."""
    graph = kitchen.graph(name)
    outputs = dict(zip(SHEETS[name].outputs, graph.outputs.values(), strict=True))
    return replace(graph, inputs=dict(graph.inputs), outputs=MappingProxyType(outputs))


class _Symbolic(Kitchen):
    """The graphs of a robot in its named parameters: the user's frames, parameters grouped by their names."""

    def __init__(self, robot: Robot) -> None:
        symbolic = robot.symbolic
        super().__init__(robot, "auto", group=False)
        self.robot = self.places = symbolic
        self.torques = grouped(symbolic)
