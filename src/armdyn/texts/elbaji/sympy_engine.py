"""El Baji table 3 with SymPy as the engine: each formulation on SymPy expressions, as written and simplified."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from armdyn.graph.node import Node
from armdyn.graph.sympy_view import SympyScalar, forget, lambdified, scalar_of
from armdyn.mechanics.matrices import times
from armdyn.mechanics.registry import formulation
from armdyn.robot.robot import Robot
from armdyn.typing import Array

SIMPLIFIED = {"kane": 19.1, "lagrange": 11.7, "gim_christoffel": 12.9, "bertrand_bruneau": 16.4}
"""Processor seconds of the derivation with sympy.simplify of each entry of M, the velocity terms and gravity."""
MEASURED = "recorded in November 2026 with Python 3.11 and SymPy 1.14, medians of three interleaved rounds"
"""When and how these were measured."""


class SympyEquations(NamedTuple):
    """tau = M qdd + h + g of n joints, in SymPy expressions."""

    M: list[list[SympyScalar]]
    h: list[SympyScalar]
    g: list[SympyScalar]

    def simplified(self) -> SympyEquations:
        """The same, each entry by sympy.simplify."""
        rows = [[x.simplified() for x in row] for row in (*self.M, self.h, self.g)]
        return SympyEquations(rows[:-2], rows[-2], rows[-1])


def symbols_of(n: int) -> tuple[tuple[SympyScalar, ...], ...]:
    """q, qd, qdd."""
    return tuple(tuple(scalar_of(f"{name}{j + 1}") for j in range(n)) for name in ("q", "qd", "qdd"))


def derivation(robot: Robot, name: str, *, simplify: bool) -> Callable[[], SympyEquations]:
    """A function that derives the equations of a robot with named parameters, SymPy's cache emptied before.

    Velocity terms are the formulation's own: its Coriolis matrix if it has one, else its Coriolis torques.
    """
    tree = robot.symbolic.mapped(lambda x: scalar_of(x) if isinstance(x, Node) else x)
    method, (q, qd, _) = formulation(name), symbols_of(robot.n)

    def derived() -> SympyEquations:
        forget()
        M = method.function("mass_matrix")(tree, q)
        h: Any
        if "coriolis_matrix" in method.gives:
            h = times(method.function("coriolis_matrix")(tree, q, qd), qd)
        else:
            h = method.function("coriolis")(tree, q, qd)
        found = SympyEquations(
            [list(map(scalar_of, row)) for row in M],
            list(map(scalar_of, h)),
            list(map(scalar_of, method.function("gravity")(tree, q))),
        )
        return found.simplified() if simplify else found

    return derived


def torques(equations: SympyEquations, parameters: Mapping[str, float], states: tuple[Array, Array, Array]) -> Array:
    """(k, n) tau of k states (k, n) in numbers."""
    q, qd, qdd = symbols_of(len(equations.g))
    inertial = times(equations.M, qdd)
    tau = [(a + b + c).view for a, b, c in zip(inertial, equations.h, equations.g, strict=True)]
    names: list[Any] = [[x.view for x in each] for each in (q, qd, qdd)]
    function = lambdified([*names, list(parameters)], tau)
    rows = [function(*state, list(parameters.values())) for state in zip(*states, strict=True)]
    return np.array(rows, dtype=float)
