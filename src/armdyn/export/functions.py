"""What is exported: quantities of Dynamics as graphs, with the words that document them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from armdyn.dynamics import Dynamics, compile
from armdyn.dynamics.quantities import QUANTITIES, Definition
from armdyn.errors import ArmdynError, unknown_name
from armdyn.export.labels import labels_of
from armdyn.export.naming import checked_prefix, file_stem, identifier
from armdyn.graph import Graph, Node
from armdyn.graph.angle import natural_order
from armdyn.graph.program import StraightLine, straight_line
from armdyn.graph.structure import Port, ports
from armdyn.robot import Robot
from armdyn.robot.coordinates import coordinates
from armdyn.robot.features import CLOSED, FREE, TREE, takes
from armdyn.robot.parts import Kind

PARAMETERS = "parameters"
"""The argument that holds the named parameters, where they are kept."""


DEFAULT = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis", "gravity", "pose", "jacobian")
"""What is exported by default."""


@dataclass(frozen=True)
class Function:
    """One quantity to be written: its row of the table, its graph, and names for intermediates."""

    definition: Definition
    graph: Graph
    labels: Mapping[Node, str]

    @property
    def name(self) -> str:
        return self.definition.name

    @cached_property
    def inputs(self) -> tuple[Port, ...]:
        """The arguments."""
        return ports(self.graph.inputs, "input")

    @cached_property
    def outputs(self) -> tuple[Port, ...]:
        """The results."""
        return ports(self.graph.outputs, "output")

    def program(self, reserved: frozenset[str] = frozenset()) -> StraightLine:
        """The straight-line program; reserved: names that no variable may have."""
        taken = {*reserved, *(port.name for port in (*self.inputs, *self.outputs))}
        return straight_line(self.graph, self.labels, lambda name: identifier(name, reserved), taken)

    def words(self, name: str) -> str:
        """What an argument or a result is, with its unit."""
        return "named parameters of the robot" if name == PARAMETERS else self.definition.words(name)


@dataclass(frozen=True)
class Model:
    """What is written: a robot in numbers, its functions, and the named parameters that stay arguments."""

    robot: Robot
    prefix: str
    functions: tuple[Function, ...]
    parameters: tuple[Node, ...] = ()

    @cached_property
    def axes(self) -> tuple[tuple[str, Kind], ...]:
        """(name, kind) of what every array has an entry for: joints, then motors of elastic joints."""
        where, joints = coordinates(self.robot), self.robot.joints
        kinds = where.joined([joint.kind for joint in joints], [joint.kind for joint in joints])
        return tuple(zip(where.names, kinds, strict=True))

    def positions(self, clean: Callable[[str], str]) -> str:
        """The order of q, where it has more entries than the other arrays: free and ball joints. Else empty."""
        if not self.robot.compounds:
            return ""
        names = "; ".join(f"{i} {clean(name)}" for i, name in enumerate(self.robot.position_names, 1))
        return f"Positions q, with quaternions of any length but zero: {names}."

    @cached_property
    def defaults(self) -> tuple[float, ...]:
        """Values of the parameters in the robot's file."""
        return tuple(float(self.robot.parameters[node.value]) for node in self.parameters)


def applicable(robot: Robot) -> tuple[str, ...]:
    """All functions that take every feature of the robot into account."""
    return tuple(name for name, row in QUANTITIES.items() if set(robot.features) <= row.takes)


@takes(*CLOSED, "elastic", *TREE, *FREE)
def model(
    robot: Robot | Dynamics, functions: Iterable[str] = DEFAULT, prefix: str | None = None, *, parameters: bool = False
) -> Model:
    """The graphs of the functions to export.

    robot: with at least one movable joint; or its Dynamics, which keep the graphs that they have traced.
    functions: names from QUANTITIES.
    prefix: begins the names of files and C functions (default: from the robot's name).
    parameters: keep the named parameters of the robot's file as arguments (default: their values are built in).

    Raises UnknownName for an unknown function, ArmdynError for a prefix that cannot be a name.
    """
    names = tuple(dict.fromkeys(functions))
    for name in names:
        if name not in QUANTITIES:
            raise unknown_name("function", name, QUANTITIES, where="export")
    if not names:
        raise ArmdynError("no function to export", where="export", expected=f"some of: {', '.join(QUANTITIES)}")
    dynamics = compile(robot) if isinstance(robot, Robot) else robot
    stem = file_stem(dynamics.robot.name) if prefix is None else checked_prefix(prefix)
    graphs = {name: dynamics.graph(name, parameters=parameters) for name in names}
    free = tuple(sorted({node for graph in graphs.values() for node in graph.parameters}, key=natural_order))
    if free:
        graphs = {name: replace(graph, inputs={**graph.inputs, PARAMETERS: free}) for name, graph in graphs.items()}
    values = {node: float(dynamics.robot.parameters[node.value]) for node in free}
    entries = []
    for name, graph in graphs.items():
        other = dynamics.robot.constrained or dynamics.robot.compounds or dynamics.coordinates.doubled
        named = not other  # names of a tree's recursion
        labels = labels_of(graph, dynamics.view(name, parameters=parameters), values) if named else {}
        entries.append(Function(QUANTITIES[name], graph, labels))
    return Model(dynamics.robot, stem, tuple(entries), free)
