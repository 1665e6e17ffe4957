"""Regressors and ranks in many digits: what is zero and what is only small cannot be mistaken for each other.

In double precision the rank of a regressor can be a matter of taste: the smallest singular value that counts may be
1e-9 of the largest. In 60 digits what vanishes is 1e-60, so that elimination needs no judgement. Numbers of a robot
stand for the decimals they are written with.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from flint import arb, ctx

from armdyn.algebra.ops import QUARTER_TURNS, tidy
from armdyn.graph import PI, Node, evaluate, to_float
from armdyn.mechanics.closed_chain import ClosedMotion
from armdyn.mechanics.dependent_joints import DependentJoints, dependent_joints
from armdyn.parameters.regressor import projected, regressor
from armdyn.robot import Robot
from armdyn.robot.exact import rational
from armdyn.typing import Array

BITS = 256
"""Of a number: 77 digits, of which elimination loses some."""
STEPS = 3
"""Newton steps that take a closed configuration from 16 digits to all."""
SPREAD = 0.25
"""Largest distance, rad, of random closed configurations from the assembly; for prismatic joints in tenths of
the longest link instead of rad."""
ZERO = 1e-30
"""A pivot this small against its column is zero."""
SMALLEST_SHARE = 1e-13


def in_digits(robot: Robot) -> Robot:
    """The robot with numbers of many digits; literals 0, 1, -1 and quarter turns stay structure.

    Expressions of a robot's file are evaluated in as many digits.
    """
    values: dict[Any, Any] = {PI: arb.pi()}
    for name, value in robot.symbolic.parameters.items():
        values[name] = evaluate(value, values) if isinstance(value, Node) else arb(rational(value))

    def number(x: Any) -> Any:
        plain = tidy(to_float(x, robot.parameters)) if isinstance(x, Node) else x
        if type(plain) is int and plain in (0, 1, -1):
            return plain
        return evaluate(x, values) if isinstance(x, Node) else arb(rational(x))

    def angle(x: Any) -> Any:
        plain = float(to_float(x, robot.parameters)) if isinstance(x, Node) else float(x)
        return plain if plain and plain in QUARTER_TURNS else number(x)

    return robot.symbolic.mapped(number, angle)


def stacked(robot: Robot, include: Iterable[str], columns: Sequence[int], count: int, seed: int = 0) -> list[list[Any]]:
    """Rows of some columns of the regressor over `count` random states, one state below the other."""
    families, draws = tuple(include), random.Random(seed)
    before, ctx.prec = ctx.prec, BITS
    try:
        view = in_digits(robot)
        rows = []
        for q, chain in _configurations(robot, view, count, draws):
            qd, qdd = ([arb(draws.uniform(-1, 1)) for _ in robot.joints] for _ in range(2))
            if chain is None:
                Y = regressor.formula(view, q, qd, qdd, families)
            else:
                Y = projected(view.opened, ClosedMotion(chain, {"qd": qd, "qdd": qdd}, q), families)
            rows += [[row[k] for k in columns] for row in Y]
        return rows
    finally:
        ctx.prec = before


def _configurations(
    robot: Robot, view: Robot, count: int, draws: random.Random
) -> Iterator[tuple[list[Any], DependentJoints | None]]:
    """Random configurations of all joints, closed to all digits, with the chain that closes them."""
    if not robot.constrained:
        yield from (([arb(draws.uniform(-3, 3)) for _ in robot.joints], None) for _ in range(count))
        return
    plain = dependent_joints(robot)
    chain = DependentJoints(view, plain)
    chain.linear = {k: replace(law, constant=_in_digits(law.constant)) for k, law in chain.linear.items()}
    for place in plain.drawn(draws, count, SPREAD):
        yield chain.refined([arb(place[k]) for k in chain.independent], list(map(arb, place)), STEPS), chain


def _in_digits(angle: Any) -> Any:
    """A constant of a loop in all digits: as a double, a quarter turn has only sixteen of pi."""
    return arb.pi() * QUARTER_TURNS[angle] / 2 if isinstance(angle, float) and angle in QUARTER_TURNS else angle


Gap = tuple[float, float]
"""The smallest pivot that counts and the largest that is taken for zero, each against its column."""


def dependencies(rows: Sequence[Sequence[Any]], tolerance: float = ZERO) -> tuple[list[int], list[int], Array, Gap]:
    """(chosen, rest, share, gap): columns that depend on no column before them, the others, rest = chosen @ share.

    rows: of numbers in many digits, or of floats. gap: what the choice rests on.
    """
    before, ctx.prec = ctx.prec, BITS
    try:
        A = [[arb(x).mid() for x in row] for row in rows]
        scale = np.array([max(abs(float(row[j])) for row in A) for j in range(len(A[0]))])
        empty = scale <= tolerance * scale.max()
        chosen: list[int] = []
        smallest, largest = 1.0, 0.0
        for j in range(len(A[0])):
            done = len(chosen)
            best = max(range(done, len(A)), key=lambda i: abs(float(A[i][j])), default=None)
            if best is None or empty[j]:
                continue
            pivot = abs(float(A[best][j])) / float(scale[j])
            if pivot <= tolerance:
                largest = max(largest, pivot)
                continue
            smallest = min(smallest, pivot)
            A[done], A[best] = A[best], A[done]
            _clear_below(A, done, j)
            chosen.append(j)
        rest = [j for j in range(len(A[0])) if j not in chosen]
        scale = np.where(empty, scale.max(), scale)  # what is left of an empty column is rounding
        share = np.array([_solved(A, chosen, j) for j in rest], dtype=float).reshape(len(rest), len(chosen)).T
        small = np.abs(share) * scale[chosen][:, None] <= SMALLEST_SHARE * scale[rest]
        return chosen, rest, np.where(small, 0.0, share), (smallest, largest)
    finally:
        ctx.prec = before


def _clear_below(A: list[list[Any]], row: int, column: int) -> None:
    pivot, tail = A[row][column], A[row][column:]
    for i in range(row + 1, len(A)):
        if A[i][column] != 0:
            factor = A[i][column] / pivot
            A[i][column:] = [0, *((x - factor * y).mid() for x, y in zip(A[i][column + 1 :], tail[1:], strict=True))]


def _solved(A: list[list[Any]], chosen: Sequence[int], column: int) -> list[float]:
    """A column as a combination of the chosen ones, from the echelon form."""
    right = [A[k][column] for k in range(len(chosen))]
    found = [arb(0)] * len(chosen)
    for k in reversed(range(len(chosen))):
        rest = right[k] - sum((A[k][chosen[m]] * found[m] for m in range(k + 1, len(chosen))), arb(0))
        found[k] = rest / A[k][chosen[k]]
    return [float(x) for x in found]


__all__ = ["dependencies", "in_digits", "stacked"]
