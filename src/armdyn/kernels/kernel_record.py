"""What is known about a kernel besides its code: enough to load it again without its graph."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from armdyn.graph import Operations
from armdyn.graph.structure import Port
from armdyn.kernels.ports import Ports


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
