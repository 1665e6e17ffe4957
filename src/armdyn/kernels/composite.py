"""Composite: several programs and a function that makes one result of theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from armdyn.graph import Operations
from armdyn.graph.count import together
from armdyn.kernels.call.general import delivered


class Program(Protocol):
    """What can be called with arrays (..., n), `out=` and `threads=`: a Kernel or a Composite."""

    @property
    def operations(self) -> Operations: ...

    @property
    def compile_seconds(self) -> float: ...

    @property
    def from_cache(self) -> bool: ...

    def __call__(self, *arguments: Any, **options: Any) -> Any: ...


@dataclass(frozen=True, eq=False)
class Composite:
    """Programs that give one result together.

    parts: the programs.
    combine: called as combine(parts, *arguments, **options), with all options but `out`; returns the list of results.
    counted: operations of one sample, if they are not those of all parts together.

    >>> from armdyn.graph import trace
    >>> from armdyn.kernels import build
    >>> parts = tuple(build(trace(lambda q, k=k: [q[0] * k], {"q": 1})) for k in (2, 3))
    >>> both = Composite(parts, lambda parts, q: [sum(part(q) for part in parts)])
    >>> both([4.0]).tolist(), both.operations.multiplications
    ([20.0], 2)
    """

    parts: tuple[Program, ...]
    combine: Callable[..., Sequence[Any]]
    counted: Operations | None = None

    @property
    def operations(self) -> Operations:
        """Operations of one sample; what `combine` computes is not counted."""
        if self.counted is not None:
            return self.counted
        return together([(part.operations, 1) for part in self.parts])

    @property
    def compile_seconds(self) -> float:
        return sum(part.compile_seconds for part in self.parts)

    @property
    def from_cache(self) -> bool:
        return all(part.from_cache for part in self.parts)

    def __call__(self, *arguments: Any, out: Any = None, **options: Any) -> Any:
        return delivered(self.combine(self.parts, *arguments, **options), out)
