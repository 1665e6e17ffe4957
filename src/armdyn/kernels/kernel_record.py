"""What is known about a kernel besides its code: enough to load it again without its graph."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from armdyn.graph import Operations
from armdyn.graph.structure import Port
from armdyn.kernels.ports import Ports

Shapes = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class KernelRecord:
    """What leads to a kernel's code.

    image: name of the code on disk.
    lanes: samples computed at a time.
    operations: of one sample.
    inputs, outputs: names and shapes.
    """

    image: str
    lanes: int
    operations: Operations
    inputs: Shapes
    outputs: Shapes

    @property
    def ports(self) -> Ports:
        """The arguments and results, without the nodes behind them."""
        return Ports(*(tuple(Port(*entry) for entry in side) for side in (self.inputs, self.outputs)))

    def data(self) -> dict[str, Any]:
        """Plain data, for a file."""
        return asdict(self)

    @staticmethod
    def of(data: dict[str, Any]) -> KernelRecord:
        """From `data`, through a file or not. KeyError, TypeError, ValueError for anything else."""
        sides = (_shapes(data[side]) for side in ("inputs", "outputs"))
        return KernelRecord(str(data["image"]), int(data["lanes"]), counted(data["operations"]), *sides)


def counted(data: dict[str, Any]) -> Operations:
    """Operations from plain data."""
    offline = data["offline"]
    return Operations(**{**data, "offline": None if offline is None else counted(offline)})


def shapes(side: tuple[Port, ...]) -> Shapes:
    return tuple((port.name, port.shape) for port in side)


def _shapes(rows: Any) -> Shapes:
    return tuple((str(name), tuple(map(int, shape))) for name, shape in rows)
