"""A function of Dynamics together with its derivatives, for frameworks that differentiate: JAX, PyTorch, CasADi."""

from __future__ import annotations

import hashlib
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from armdyn.dynamics.facade import Dynamics
from armdyn.dynamics.fingerprint import fingerprint
from armdyn.dynamics.graphs import Derived, Variant
from armdyn.dynamics.quantities import QUANTITIES, Definition
from armdyn.errors import ArmdynError, NotApplicable, ShapeError
from armdyn.kernels import Kernel, Program

Pair = tuple[int, int]

_unknown = itertools.count()


class Part(NamedTuple):
    """A compiled function that gives some of the derivatives.

    program: the function.
    takes: places of its inputs among those of the differentiated function; the weights, if any, come last.
    gives: which derivatives its results are: by which input, or by which pair of inputs.
    shapes: of its results.
    label: names it, in this process and in others; the same label means the same numbers.
    """

    program: Program
    takes: tuple[int, ...]
    gives: tuple[Any, ...]
    shapes: tuple[tuple[int, ...], ...]
    label: str


SLOPES: dict[str, tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]] = {
    "inverse_dynamics": (("inverse_dynamics_derivatives", (0, 1, 2), (0, 1)), ("mass_matrix", (0,), (2,))),
    "forward_dynamics": (("forward_dynamics_derivatives", (0, 1, 2), (0, 1, 2)),),
}
"""First derivatives that are quantities of their own: (name, its inputs, by which inputs its results are)."""
CURVATURE: dict[str, tuple[str, tuple[Pair, ...]]] = {
    "inverse_dynamics": ("inverse_dynamics_hessian", ((0, 0), (0, 1), (1, 1), (0, 2))),
    "forward_dynamics": ("forward_dynamics_hessian", ((0, 0), (0, 1), (1, 1), (0, 2))),
}
"""Second derivatives, contracted with weights, that are quantities of their own: (name, by which pairs of inputs)."""


class Differential:
    """A function of Dynamics, first derivatives of its results, and second ones of weights.results.

    Results are taken as one vector, row by row: derivatives are (..., size, size of the input). Compiled at first use.
    """

    def __init__(self, dynamics: Dynamics, name: str, variant: Variant | None = None) -> None:
        self.dynamics, self.definition = dynamics, definition_of(dynamics, name)
        self.name, self.inputs, self.variant = name, self.definition.inputs, variant
        n, positions = dynamics.n, dynamics.robot.nq - dynamics.robot.n
        self.sizes = tuple(n + positions if each == "q" else n for each in self.inputs)

    @cached_property
    def value(self) -> Part:
        """The function itself."""
        return self._part(self.name, self.variant, tuple(range(len(self.inputs))), self.definition.results)

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Of its results."""
        return self.value.shapes

    @cached_property
    def size(self) -> int:
        """Numbers in all results."""
        return sum(prod(shape) for shape in self.shapes)

    @cached_property
    def slopes(self) -> tuple[Part, ...]:
        """The parts that give all first derivatives; each of them `gives` places of inputs."""
        own = SLOPES.get(self.name)
        if own is not None and self.variant is None:
            return tuple(self._part(name, None, takes, gives) for name, takes, gives in own)
        self._require_explicit("derivatives")
        places = tuple(range(len(self.inputs)))
        return (self._part(self.name, Derived(1, self.variant), places, places),)

    @cached_property
    def curvature(self) -> Part:
        """The part that gives second derivatives of weights.results, by pairs of inputs; other pairs: zero."""
        places = tuple(range(len(self.inputs) + 1))
        if self.name in CURVATURE and self.variant is None:
            name, gives = CURVATURE[self.name]
            definition_of(self.dynamics, name)  # refuses what it does not take into account
            return self._part(name, None, places, gives)
        self._require_explicit("second derivatives")
        pairs = tuple(itertools.combinations_with_replacement(places[:-1], 2))
        return self._part(self.name, Derived(2, self.variant), places, pairs)

    def _require_explicit(self, what: str) -> None:
        """Raise NotApplicable where a graph cannot be differentiated: it solves for dependent joints on its way."""
        if self.dynamics.robot.constrained:
            raise NotApplicable(
                f"{what} of {self.name} of a robot with closed loops or mimic joints",
                where=f"robot {self.dynamics.robot.name!r}",
                expected="inverse_dynamics or forward_dynamics",
            )
        if self.name.endswith(("_derivatives", "_hessian")):
            raise NotApplicable(
                f"derivatives of {self.name}",
                where=f"robot {self.dynamics.robot.name!r}",
                advice="Differentiate the function itself twice.",
            )

    def _part(
        self, name: str, variant: Variant | Derived | None, takes: tuple[int, ...], gives: tuple[Any, ...]
    ) -> Part:
        made = self.dynamics.program(name, variant)
        if isinstance(made, Kernel):
            shapes = tuple(port.shape for port in made.ports.outputs)
        else:
            sizes = (*self.sizes, self.size if name != self.name or variant != self.variant else 0)
            results = made(*(np.ones(sizes[i]) for i in takes))
            shapes = tuple(map(np.shape, results if isinstance(results, tuple) else (results,)))
        return Part(made, takes, gives, shapes, self._label(name, variant, made))

    def _label(self, name: str, variant: object, made: Program) -> str:
        dynamics, image = self.dynamics, made.record.image if isinstance(made, Kernel) else ""
        mark = fingerprint(dynamics.robot) or f"unknown {next(_unknown)}"
        text = "\n".join(map(str, (mark, name, repr(variant), image)))
        return f"armdyn_{name}_{hashlib.sha256(text.encode()).hexdigest()[:24]}"


class Functions(ABC):
    """The functions of Dynamics in another framework, as attributes; each is made at its first use."""

    framework: ClassVar[str]

    def __init__(self, dynamics: Dynamics) -> None:
        if not isinstance(dynamics, Dynamics):
            raise ArmdynError(
                f"cannot wrap {type(dynamics).__name__}",
                where=self.framework,
                expected="a Dynamics",
                advice="Make one with armdyn.compile(robot).",
            )
        self.dynamics = dynamics

    @abstractmethod
    def _made(self, name: str) -> Any:
        """The function of that name, something that the framework can call."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        made = self._made(name)
        self.__dict__[name] = made
        return made

    def __dir__(self) -> list[str]:
        features = set(self.dynamics.robot.features)
        return sorted({*object.__dir__(self), *(name for name, row in QUANTITIES.items() if features <= row.takes)})

    def __repr__(self) -> str:
        return f"<{self.framework} functions of {self.dynamics.robot.name!r}>"


class ArrayFunctions(Functions):
    """Functions that are called with arrays of the framework, and with `frame` where Dynamics takes it."""

    @abstractmethod
    def _evaluation(self, differential: Differential, where: str) -> Callable[..., Any]:
        """The function of the arrays alone."""

    def _made(self, name: str) -> Callable[..., Any]:
        definition = definition_of(self.dynamics, name)
        where = f"{name} of robot {self.dynamics.robot.name!r}"
        known: dict[str | None, Callable[..., Any]] = {}
        known[None] = self._evaluation(Differential(self.dynamics, name), where)

        def call(*arguments: Any, **named: Any) -> Any:
            values, frame = arguments_of(definition, arguments, named, where)
            if frame not in known:
                known[frame] = self._evaluation(Differential(self.dynamics, name, frame), where)
            return known[frame](*values)

        call.__name__ = call.__qualname__ = name
        call.__doc__ = definition.doc
        return call


def definition_of(dynamics: Dynamics, name: str) -> Definition:
    """The row of a function that this robot has; UnknownName or FeatureError else."""
    return dynamics._definition(name)


def arguments_of(
    definition: Definition, arguments: Sequence[Any], named: Mapping[str, Any], where: str
) -> tuple[list[Any], str | None]:
    """The inputs in order, and the frame."""
    optional = "frame" if definition.optional == "frame" else None
    values, frame = definition.in_order(arguments, named, where, optional)
    return values, None if frame == "tool" else frame


def check_shapes(inputs: Sequence[str], sizes: Sequence[int], arrays: Sequence[Any], where: str) -> None:
    """Raise ShapeError for an array whose last axis is not that of its input."""
    for name, size, array in zip(inputs, sizes, arrays, strict=True):
        if array.ndim == 0 or array.shape[-1] != size:
            raise ShapeError(f"{name} has shape {tuple(array.shape)}", where=where, expected=f"(..., {size})")
