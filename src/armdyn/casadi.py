"""A robot's dynamics inside CasADi: external functions with Jacobians and exact Hessians from compiled kernels.

The machine code is called by CasADi itself, without Python, wherever a `casadi.Function` may stand: in `nlpsol`,
integrators, `Opti`. The same functions are there as expressions of CasADi's own (`graph`).

>>> functions = armdyn.casadi.wrap(armdyn.compile(robot))           # doctest: +SKIP
>>> tau = functions.inverse_dynamics(q, qd, qdd)                    # doctest: +SKIP
"""

from __future__ import annotations

import atexit
import itertools
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from armdyn.bridges import casadi_calls
from armdyn.bridges.shared_object import can_be_written, shared_object
from armdyn.codegen import casadi_graph
from armdyn.codegen.evaluation import installed
from armdyn.dynamics import Dynamics, differentials
from armdyn.dynamics.differentials import Differential, Part, definition_of
from armdyn.errors import FeatureError, NotApplicable
from armdyn.files import write_bytes
from armdyn.kernels import Kernel
from armdyn.robot.features import CLOSED, TREE, takes

_numbers = itertools.count(1)
_immortal: list[object] = []
"""Code that CasADi may call as long as the process lives."""


@takes(*CLOSED, "elastic", *TREE)
def wrap(dynamics: Dynamics) -> CasadiFunctions:
    """The functions of a robot's dynamics for CasADi.

    dynamics: made by `armdyn.compile`.

    Returns an object with the same functions as `dynamics`, each a `casadi.Function` of column vectors, with the names
    of arguments and results of `dynamics`. They have Jacobians, reverse derivatives and Hessians from compiled kernels.
    Those of robots with closed loops or mimic joints have first derivatives, of inverse and forward dynamics alone.

    Functions live in this process: they cannot be saved or sent to another. Where there are no external functions
    (other systems than Linux, forward dynamics beyond ten joints), they are CasADi's own expressions.

    Raises MissingExtra without CasADi, FeatureError for free and ball joints.
    """
    installed("casadi", "CasADi")
    return CasadiFunctions(dynamics)


class CasadiFunctions(differentials.Functions):
    """Functions of CasADi, named as those of `Dynamics`; each is compiled at its first use."""

    framework = "CasADi"

    def __init__(self, dynamics: Dynamics) -> None:
        super().__init__(dynamics)
        self._known: dict[tuple[str, str | None], Any] = {}

    def _made(self, name: str) -> Any:
        return self.function(name)

    def function(self, name: str, frame: str | None = None) -> Any:
        """One function by name; frame: of `pose` and others, by its name (default: the tool)."""
        key = name, None if frame == "tool" else frame
        if key not in self._known:
            definition_of(self.dynamics, name)
            self._known[key] = _external(Differential(self.dynamics, *key)) or self._expression(*key)
        return self._known[key]

    def _expression(self, name: str, frame: str | None) -> Any:
        """What stands in for machine code: long chains and other systems have none."""
        if frame is not None:
            raise NotApplicable(
                f"{name} of the frame {frame!r}",
                where=f"CasADi, robot {self.dynamics.robot.name!r}",
                expected="the tool, where there is no machine code for CasADi",
                advice="robot.chain(tip=...) puts the tool there.",
            )
        return self.graph(name)

    def graph(self, name: str) -> Any:
        """The same function as an expression (SX), which CasADi differentiates itself."""
        return casadi_graph.function(self.dynamics, name)


def _external(differential: Differential) -> Any:
    """A function of machine code; None where there is none."""
    parts = _parts(differential)
    if parts is None or not can_be_written():
        return None
    casadi = installed("casadi", "CasADi")
    value, slopes, curvature = parts
    called = [_called(part) for part in (value, *slopes)]
    name = f"armdyn_{differential.name}_{next(_numbers)}"
    whole = casadi_calls.Whole(
        name,
        differential.sizes,
        differential.size,
        called[0],
        tuple(called[1:]),
        None if curvature is None else _called(curvature),
    )
    if casadi_calls.stack(whole) > casadi_calls.MOST_STACK:
        return None
    code, addresses = casadi_calls.compiled(whole)
    _immortal.append(code)
    path = _folder() / f"{name}.so"
    write_bytes(path, shared_object(addresses), own=True)
    external = casadi.external(name, str(path))
    symbols = [casadi.MX.sym(each, size) for each, size in zip(differential.inputs, differential.sizes, strict=True)]
    flat, results, start = external(*symbols), [], 0
    for shape in differential.shapes:
        rows, columns = (*shape, 1, 1)[:2]
        part = flat[start : start + rows * columns]
        results.append(casadi.reshape(part, columns, rows).T if columns > 1 else part)
        start += rows * columns
    return casadi.Function(
        differential.name, symbols, results, list(differential.inputs), list(differential.definition.results)
    )


def _parts(differential: Differential) -> tuple[Part, tuple[Part, ...], Part | None] | None:
    """Value, first and second derivatives; None if one of them is not machine code."""
    try:
        slopes = differential.slopes
    except NotApplicable:
        slopes = ()
    try:
        curvature = differential.curvature if slopes else None
    except (NotApplicable, FeatureError):
        curvature = None
    parts = [differential.value, *slopes, *([curvature] if curvature else [])]
    if not all(isinstance(part.program, Kernel) and part.program.code is not None for part in parts):
        return None
    return differential.value, slopes, curvature


def _called(part: Part) -> casadi_calls.Called:
    assert isinstance(part.program, Kernel)
    return casadi_calls.Called(part.program, part.takes, part.gives)


@cache
def _folder() -> Path:
    """Where the files are that CasADi loads; deleted at the end of the process."""
    folder = Path(mkdtemp(prefix="armdyn"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


__all__ = ["CasadiFunctions", "wrap"]
