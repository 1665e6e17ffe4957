"""The equation inspector: one entry of M, C or g with its value, range, cost and code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from armdyn.browser.robot_queries import RobotQueries
from armdyn.equations import Equations, derive
from armdyn.equations.typesetting import index, left_side, one_entry
from armdyn.graph import trace
from armdyn.graph.expression_writer import Dialect, ExpressionWriter, Python
from armdyn.graph.latex_lines import paper_latex
from armdyn.graph.mathml import mathml
from armdyn.kinematics.closable import closable
from armdyn.robot import Robot
from armdyn.tables import without_rounding
from armdyn.typing import Array

SAMPLES = 2000
"""Configurations from which the range of an entry is estimated."""
RATE = 1.0
"""Largest joint velocity, rad/s or m/s, of the random states at which entries of C are evaluated."""
LONGEST = 6000
"""Characters of a formula that is typeset."""


@dataclass(frozen=True)
class EquationEntry:
    """One entry of the equations.

    mathml, latex, python, c: the formula; mathml is empty if it is too long to be typeset.
    symbol, place: the matrix and the indices from 0.
    lowest, highest: over SAMPLES configurations within the joints' ranges; 0 for what is rounding. unit: of the value.
    scale: the largest entry of the matrix at these configurations.
    operations: what its formula costs, in words.
    """

    name: str
    title: str
    mathml: str
    latex: str
    python: str
    c: str
    symbol: str
    place: tuple[int, ...]
    lowest: float
    highest: float
    scale: float
    unit: str
    operations: str

    @property
    def rounding(self) -> bool:
        """Whether it vanishes at all configurations although its formula has terms."""
        return self.lowest == self.highest == 0.0 and self.python.rpartition("= ")[2] not in ("0", "0.0")


@lru_cache(maxsize=4)
def equations_of(robot: Robot) -> Equations:
    """The equations of motion, derived once."""
    return derive(robot)


def entry_names(robot: Robot) -> dict[str, tuple[str, ...]]:
    """Names of the entries by matrix: M11, M12, ...; C11, ...; g1, ...; of M those above the diagonal."""
    n, between = robot.n, "," if robot.n > 9 else ""
    pairs = [(i, j) for i in range(1, n + 1) for j in range(1, n + 1)]
    return {
        "M": tuple(f"M{i}{between}{j}" for i, j in pairs if j >= i),
        "C": tuple(f"C{i}{between}{j}" for i, j in pairs),
        "g": tuple(f"g{i}" for i in range(1, n + 1)),
    }


def entry(answers: RobotQueries, name: str) -> EquationEntry:
    """One entry of M, C or g, as in "M12"."""
    equations, n = equations_of(answers.robot), answers.robot.n
    block = one_entry(equations, name)
    ((indices, node),) = block.entries
    shape = (n,) if block.symbol == "g" else (n, n)
    place = next(place for place in np.ndindex(*shape) if index(equations, *place) == indices)
    matrices = _some(answers, block.symbol)
    values, scale = matrices[(slice(None), *place)], float(np.abs(matrices).max())
    lowest, highest = without_rounding([float(values.min()), float(values.max())], scale)
    inputs = {"q": n} | ({"qd": n} if block.symbol == "C" else {})
    variable = name.replace(",", "_")
    python, c = ExpressionWriter({}, Python()).write(node), ExpressionWriter({}, _C()).write(node)
    head = f"<msub><mi>{block.symbol}</mi><mn>{indices}</mn></msub><mo>=</mo>"
    return EquationEntry(
        name,
        block.title,
        head + mathml(node) if len(python) <= LONGEST else "",
        f"{left_side(block, indices)} = {paper_latex(node)}",
        f"{variable} = {python}",
        f"double {variable} = {c};",
        block.symbol,
        place,
        lowest,
        highest,
        scale,
        _unit(answers, block.symbol, place),
        str(trace(lambda *_: {name: node}, inputs).operations),
    )


def value_now(answers: RobotQueries, entry: EquationEntry, q: Array, qd: Any) -> float:
    """The value of an entry at (q, qd), (n,) each; only entries of C depend on qd."""
    value = float(_matrix(answers, entry.symbol, q, np.asarray(qd, dtype=float))[entry.place])
    return float(without_rounding([value], entry.scale)[0])


def _some(answers: RobotQueries, symbol: str) -> Array:
    """The whole matrix at random configurations within the ranges, (SAMPLES, ...)."""
    rng, n = np.random.default_rng(0), answers.robot.n
    at = rng.uniform(*answers.bounds, (SAMPLES, n))
    if answers.robot.loops:
        at = at[closable(answers.dyn, at, quick=True)]
    return _matrix(answers, symbol, at, rng.uniform(-RATE, RATE, at.shape))


def _matrix(answers: RobotQueries, symbol: str, q: Array, qd: Array) -> Array:
    dyn = answers.dyn
    found: Array = {
        "M": lambda: dyn.mass_matrix(q),
        "C": lambda: dyn.coriolis_matrix(q, qd),
        "g": lambda: dyn.gravity(q),
    }[symbol]()
    return found


def _unit(answers: RobotQueries, symbol: str, place: tuple[int, ...]) -> str:
    if symbol == "g":
        return answers.joints[place[0]].torque_unit
    slides = sum(not answers.joints[i].revolute for i in place)
    return ("kg m²", "kg m", "kg")[slides] + ("/s" if symbol == "C" else "")


class _C(Dialect):
    """The spelling of C, with numbers of type double."""

    exact = False
