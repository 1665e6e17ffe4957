"""Inputs and outputs of a kernel: names, shapes, the nodes behind them, and the signature NumPy sees.

A KernelRecord is what is known about a kernel besides its code: enough to load it again without its graph.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any

from armdyn.errors import ArmdynError
from armdyn.graph import Graph, Node, Operations
from armdyn.graph.structure import Port, ports

_OPERATION, _OPERANDS = attrgetter("op"), attrgetter("args")


@dataclass(frozen=True)
class Ports:
    """All arguments and results of a kernel."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]

    @cached_property
    def all(self) -> tuple[Port, ...]:
        return self.inputs + self.outputs

    @cached_property
    def signature(self) -> str:
        """Sizes are frozen, so that a wrong one is an error: "(7),(7),(7)->(7)"."""
        return "->".join(",".join(map(_core, side)) for side in (self.inputs, self.outputs))

    @property
    def bare(self) -> Ports:
        """The same without nodes, which would keep a graph in memory."""
        return Ports(*(tuple(Port(port.name, port.shape) for port in side) for side in (self.inputs, self.outputs)))


def _core(port: Port) -> str:
    """The shape of a port as it stands in a NumPy signature."""
    return f"({','.join(map(str, port.shape))})"


def ports_of(graph: Graph) -> Ports:
    """The arguments and results of a graph; its outputs must be free of parameters."""
    if graph.parameters:
        names = ", ".join(node.value for node in graph.parameters[:8])
        raise ArmdynError(
            f"the graph has free parameters: {names}",
            expected="a graph whose outputs depend on its inputs only",
            advice="Give the robot numbers, or make the parameters inputs of the trace",
        )
    inputs, outputs = ports(graph.inputs, "input"), ports(graph.outputs, "output")
    if not inputs or not outputs:
        raise ArmdynError("a kernel needs at least one input and one output")
    if len(inputs) + len(outputs) > 32:  # what NumPy 1 allows; NumPy 2 allows 64
        raise ArmdynError(
            f"{len(inputs)} inputs and {len(outputs)} outputs are too many", expected="at most 32 together"
        )
    return Ports(inputs, outputs)


def digest(ports: Ports, nodes: tuple[Node, ...]) -> str:
    """A hash of the program: operations, constants and shapes, whatever the symbols are called."""
    index = dict(zip(nodes, range(len(nodes)), strict=True))
    place = {node: (i, j) for i, port in enumerate(ports.inputs) for j, node in enumerate(port.nodes)}
    operations = " ".join(map(_OPERATION, nodes))  # which tell how many operands each has
    operands = [*map(index.__getitem__, chain.from_iterable(map(_OPERANDS, nodes)))]
    leaves = [place.get(node) or node.value for node in nodes if not node.args]
    results = [[index[node] for node in port.nodes] for port in ports.outputs]
    return hashlib.sha256(repr((ports.signature, operations, operands, leaves, results)).encode()).hexdigest()


@dataclass(frozen=True)
class KernelRecord:
    """What leads to a kernel's code.

    image: name of the code on disk.
    lanes: samples computed at a time.
    operations: of one sample.
    ports: arguments and results, without the nodes behind them.
    """

    image: str
    lanes: int
    operations: Operations
    ports: Ports

    def data(self) -> dict[str, Any]:
        """Plain data, for a file."""
        return asdict(self)

    @staticmethod
    def of(data: dict[str, Any]) -> KernelRecord:
        """From `data`, through a file or not. KeyError, TypeError, ValueError for anything else."""
        sides = (data["ports"][side] for side in ("inputs", "outputs"))
        ports = (tuple(Port(str(port["name"]), tuple(map(int, port["shape"]))) for port in side) for side in sides)
        return KernelRecord(str(data["image"]), int(data["lanes"]), counted(data["operations"]), Ports(*ports))


def counted(data: dict[str, Any]) -> Operations:
    """Operations from plain data."""
    offline = data["offline"]
    return Operations(**{**data, "offline": None if offline is None else counted(offline)})
