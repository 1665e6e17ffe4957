"""What is known of a kernel besides its code: enough to load it again without its graph."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from armdyn.graph import Operations
from armdyn.kernels.ports import Port, Ports

Shapes = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Sheet:
    """image: name of the code on disk. inputs, outputs: names and shapes. lanes: samples computed at a time."""

    image: str
    lanes: int
    operations: Operations
    inputs: Shapes
    outputs: Shapes

    @property
    def ports(self) -> Ports:
        """The arguments and results, without the nodes behind them."""
        return Ports(*(tuple(Port(*entry) for entry in side) for side in (self.inputs, self.outputs)))

    def record(self) -> dict[str, Any]:
        """Plain data, for a file."""
        return asdict(self)

    @staticmethod
    def of(record: dict[str, Any]) -> Sheet:
        """From `record`, through a file or not. KeyError, TypeError, ValueError for anything else."""
        sides = (_shapes(record[side]) for side in ("inputs", "outputs"))
        return Sheet(str(record["image"]), int(record["lanes"]), counted(record["operations"]), *sides)


def counted(record: dict[str, Any]) -> Operations:
    """Operations from plain data."""
    offline = record["offline"]
    return Operations(**{**record, "offline": None if offline is None else counted(offline)})


def shapes(side: tuple[Port, ...]) -> Shapes:
    return tuple((port.name, port.shape) for port in side)


def _shapes(rows: Any) -> Shapes:
    return tuple((str(name), tuple(map(int, shape))) for name, shape in rows)
