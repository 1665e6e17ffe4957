"""What is exported: quantities of Dynamics as graphs, with the words that document them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Literal, Protocol

from armdyn.codegen.labels import labels_of
from armdyn.codegen.naming import checked_prefix, file_stem, identifier
from armdyn.dynamics import Dynamics, compile
from armdyn.dynamics.looped.tables import recipe_and_tables
from armdyn.dynamics.quantities import QUANTITIES
from armdyn.errors import ArmdynError, unknown_name
from armdyn.graph import Graph, Node, Operations
from armdyn.graph.angle import natural_order
from armdyn.graph.program import StraightLine, straight_line
from armdyn.graph.structure import Port, ports
from armdyn.kernels.looped.kernel import Tables, operations_of, ports_of
from armdyn.kernels.looped.recursion import Recipe
from armdyn.kernels.ports import Ports
from armdyn.robot import Robot
from armdyn.robot.coordinates import coordinates
from armdyn.robot.features import CLOSED, FREE, LOSSY, takes
from armdyn.robot.parts import Kind
from armdyn.typing import Array

Real = Literal["double", "float"]
"""The type of numbers in C."""
PARAMETERS = "parameters"
"""The argument that holds the named parameters, where they are kept."""


DEFAULT = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis", "gravity", "pose", "jacobian")
"""Functions that are exported if the user names none."""
INVERSE = ("inverse_kinematics", "all_inverse_kinematics")
"""Functions beside QUANTITIES: the nearest and all solutions of arms with a closed form."""


@dataclass(frozen=True)
class Loops:
    """A function as loops over the links, for languages that have them: the steps, and the robot's numbers."""

    recipe: Recipe
    tables: Tables


class Described(Protocol):
    """What the text of a function says about it: a quantity's row of the table, or a part of a controller.

    name: of the function. what: the sentence that says what it computes. included: what its model includes.
    results: names of the results.
    """

    @property
    def name(self) -> str: ...
    @property
    def what(self) -> str: ...
    @property
    def included(self) -> str: ...
    @property
    def results(self) -> tuple[str, ...]: ...
    def words(self, name: str) -> str:
        """What an argument or a result is, with its unit."""


@dataclass(frozen=True)
class Vectors:
    """States (m of them), expected results, and the size of the terms each result is the sum of.

    inputs: (m, size) by name.
    outputs: (m, size) by name, row-major.
    scale: (m,).
    """

    inputs: dict[str, Array]
    outputs: dict[str, Array]
    scale: Array


@dataclass(frozen=True)
class ExportedFunction:
    """One function to be written: its description, its graph, names for intermediates; or loops over links.

    vectors: makes its reference vectors; None: they are those of the quantity of its name.
    """

    definition: Described
    traced: Callable[[], Graph]
    labelled: Callable[[Graph], Mapping[Node, str]]
    loops: Loops | None = None
    vectors: Callable[[int], Vectors] | None = None

    @property
    def name(self) -> str:
        return self.definition.name

    @cached_property
    def graph(self) -> Graph:
        """What straight-line code is written from."""
        return self.traced()

    @cached_property
    def labels(self) -> Mapping[Node, str]:
        """Names for intermediates of the graph."""
        return self.labelled(self.graph)

    @cached_property
    def _looped_ports(self) -> Ports | None:
        return None if self.loops is None else ports_of(self.loops.recipe, len(self.loops.tables.parents))

    @cached_property
    def inputs(self) -> tuple[Port, ...]:
        """The arguments."""
        if not self._looped_ports:
            return ports(self.graph.inputs, "input")
        return self._looped_ports.inputs

    @cached_property
    def outputs(self) -> tuple[Port, ...]:
        """The results."""
        if not self._looped_ports:
            return ports(self.graph.outputs, "output")
        found = zip(self._looped_ports.outputs, self.definition.results, strict=True)
        return tuple(replace(port, name=name) for port, name in found)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the arguments."""
        return tuple(port.name for port in self.inputs)

    @property
    def entries(self) -> tuple[str, ...]:
        """Names of arguments and results."""
        return (*self.arguments, *(port.name for port in self.outputs))

    @cached_property
    def operations(self) -> Operations:
        """Operations of one call."""
        return operations_of(self.loops.recipe, self.loops.tables) if self.loops else self.graph.operations

    def program(self, reserved: frozenset[str] = frozenset()) -> StraightLine:
        """The straight-line program; reserved: names that no variable may have."""
        taken = {*reserved, *(port.name for port in (*self.inputs, *self.outputs))}
        return straight_line(self.graph, self.labels, lambda name: identifier(name, reserved), taken)

    def words(self, name: str) -> str:
        """What an argument or a result is, with its unit."""
        return "named parameters of the robot" if name == PARAMETERS else self.definition.words(name)


@dataclass(frozen=True)
class Sampling:
    """How the functions `start`, `control` and `motion` of a model work together.

    period: time between two calls of `control`, s.
    record: the torques of the law over numbers in successive periods: (m, size) arguments and results by name.
    """

    period: float
    record: Callable[[int], Vectors]


@dataclass(frozen=True)
class Model:
    """What is written: a robot in numbers, its functions, and the named parameters that stay arguments.

    values: of parameters that are not those of the robot's file, by name.
    notes:  further sentences for the head of the files.
    sampling: of a controller.
    deterministic: in C, one sequence of operations for all inputs, with the same bits on every processor.
    """

    robot: Robot
    prefix: str
    functions: tuple[ExportedFunction, ...]
    parameters: tuple[Node, ...] = ()
    real: Real = "double"
    values: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    sampling: Sampling | None = None
    deterministic: bool = False

    @cached_property
    def axes(self) -> tuple[tuple[str, Kind], ...]:
        """(name, kind) of what every array has an entry for: joints, then motors of elastic joints.

        A law has one entry for a joint: of an elastic one it sees and drives the motor.
        """
        where, joints = coordinates(self.robot), self.robot.joints
        if self.sampling is not None:
            return tuple((joint.name, joint.kind) for joint in joints)
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
        """Values of the parameters in the robot's file, and of others."""
        known = {**self.robot.parameters, **self.values}
        return tuple(float(known[node.value]) for node in self.parameters)


def applicable(robot: Robot) -> tuple[str, ...]:
    """All functions that take every feature of the robot into account."""
    return tuple(name for name, row in QUANTITIES.items() if set(robot.features) <= row.takes)


@takes(*CLOSED, "elastic", *LOSSY, *FREE)
def model(
    robot: Robot | Dynamics,
    functions: Iterable[str] = DEFAULT,
    prefix: str | None = None,
    *,
    parameters: bool = False,
    loops: bool = False,
) -> Model:
    """The functions to export.

    robot: with at least one movable joint; or its Dynamics, which keep the graphs that they have traced.
    functions: names from QUANTITIES.
    prefix: begins the names of files and C functions (default: from the robot's name).
    parameters: keep the named parameters of the robot's file as arguments (default: their values are built in).
    loops: write loops over the links, where there is such code for a function; there is none with parameters.

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
    looped = {name: _loops(dynamics.robot, name) if loops and not parameters else None for name in names}
    graphs = {name: dynamics.graph(name, parameters=parameters) for name in names if not looped[name]}
    kept = {node for graph in graphs.values() for node in graph.parameters}
    free = tuple(sorted(kept, key=natural_order))
    if free:
        graphs = {name: replace(graph, inputs={**graph.inputs, PARAMETERS: free}) for name, graph in graphs.items()}
    values = {node: float(dynamics.robot.parameters[node.value]) for node in free}
    other = dynamics.robot.constrained or dynamics.robot.compounds or dynamics.coordinates.doubled

    def labels(name: str, graph: Graph) -> Mapping[Node, str]:
        """Names of a tree's recursion."""
        return {} if other else labels_of(graph, dynamics.view(name, parameters=parameters), values)

    entries = []
    for name in names:
        steps = looped[name]
        traced = partial(dynamics.graph, name) if steps else partial(graphs.__getitem__, name)
        entries.append(ExportedFunction(QUANTITIES[name], traced, partial(labels, name), steps))
    return Model(dynamics.robot, stem, tuple(entries), free)


def _loops(robot: Robot, name: str) -> Loops | None:
    """The loops of a quantity; None if there are none."""
    found = recipe_and_tables(robot, name, plain=True)
    return Loops(*found) if found else None
