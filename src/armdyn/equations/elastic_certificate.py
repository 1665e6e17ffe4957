"""Exact statements about robots with elastic joints: the doubled model at random points, without rounding.

The links' part is certified as that of the rigid robot. What the springs and the rotors behind them add is compared
with Lagrange's equations of the energies in x = (q, theta), Khalil (7.34), (7.35), and with the laws that every model
obeys.

The position of an elastic revolute joint stands inside sines and cosines, and outside of them in k (q - theta). The two
are drawn independently: formulas that agree as polynomials in q, cos q and sin q agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from armdyn.algebra import Dual, dot_of
from armdyn.graph import RationalAngle
from armdyn.mechanics import doubled, doubled_lagrange
from armdyn.robot.robot import Robot

NAME = "doubled"


class SpringAngle(RationalAngle):
    """A rational angle that has a value of its own where it stands outside of sines and cosines.

    >>> from fractions import Fraction
    >>> angle = SpringAngle(Fraction(1, 2), Fraction(3))
    >>> angle.cos(), angle - Fraction(1, 3), Fraction(1, 3) - angle
    (Fraction(3, 5), Fraction(8, 3), Fraction(-8, 3))
    """

    __slots__ = ("value",)

    def __init__(self, half_tangent: Any, value: Any) -> None:
        super().__init__(half_tangent)
        self.value = value

    def __sub__(self, other: object) -> Any:
        return super().__sub__(other) if isinstance(other, RationalAngle) else self.value - other

    def __rsub__(self, other: object) -> Any:
        return other - self.value


@dataclass(frozen=True)
class SoftPoint:
    """A random state of a robot with elastic joints, x = (q, theta)."""

    robot: Robot
    x: Sequence[Any]
    xd: Sequence[Any]
    xdd: Sequence[Any]

    def moving(self) -> tuple[list[Dual], list[Dual]]:
        """x and xd with their rates."""
        return (
            [Dual(x, rate) for x, rate in zip(self.x, self.xd, strict=True)],
            [Dual(x, rate) for x, rate in zip(self.xd, self.xdd, strict=True)],
        )


Test = Callable[[SoftPoint], bool]


def statements() -> Iterator[tuple[str, str, Test]]:
    """(statement, formulation, test) for elastic joints."""
    yield "elastic joints: same torques as Lagrange", NAME, _same_torques
    yield "elastic joints: same mass matrix as Lagrange", NAME, _same_mass_matrix
    yield "elastic joints: tau = M xdd + C xd + g + springs", NAME, _adds_up
    yield "elastic joints: Mdot - 2C skew-symmetric", NAME, _is_skew
    yield "elastic joints: power: xd . tau = dE/dt", NAME, _balances_power
    yield "elastic joints: forward dynamics inverts inverse dynamics", NAME, _inverts


def _torques(at: SoftPoint) -> list[Any]:
    return list(doubled.inverse_dynamics.formula(at.robot, at.x, at.xd, at.xdd))


def _same_torques(at: SoftPoint) -> bool:
    theirs = doubled_lagrange.inverse_dynamics.formula(at.robot, at.x, at.xd, at.xdd)
    return all(a == b for a, b in zip(_torques(at), theirs, strict=True))


def _same_mass_matrix(at: SoftPoint) -> bool:
    pairs = doubled.mass_matrix.formula(at.robot, at.x), doubled_lagrange.mass_matrix.formula(at.robot, at.x)
    return all(a == b for rows in zip(*pairs, strict=True) for a, b in zip(*rows, strict=True))


def _adds_up(at: SoftPoint) -> bool:
    robot, x, xd = at.robot, at.x, at.xd
    M, C = doubled.mass_matrix.formula(robot, x), doubled.coriolis_matrix.formula(robot, x, xd)
    rest = zip(doubled.gravity.formula(robot, x), doubled.springs.formula(robot, x), strict=True)
    found = [
        sum((a * b for a, b in zip(M[i], at.xdd, strict=True)), g + k)
        + sum((a * b for a, b in zip(C[i], xd, strict=True)), 0)
        for i, (g, k) in enumerate(rest)
    ]
    return found == _torques(at)


def _is_skew(at: SoftPoint) -> bool:
    x, _ = at.moving()
    Mdot = [[dot_of(entry) for entry in row] for row in doubled.mass_matrix.formula(at.robot, x)]
    C, n = doubled.coriolis_matrix.formula(at.robot, at.x, at.xd), range(len(x))
    return all(Mdot[i][j] - 2 * C[i][j] + Mdot[j][i] - 2 * C[j][i] == 0 for i in n for j in n)


def _balances_power(at: SoftPoint) -> bool:
    x, xd = at.moving()
    energy = doubled.kinetic_energy.formula(at.robot, x, xd) + doubled.potential_energy.formula(at.robot, x)
    return bool(sum(tau * rate for tau, rate in zip(_torques(at), at.xd, strict=True)) == dot_of(energy))


def _inverts(at: SoftPoint) -> bool:
    found = doubled.forward_dynamics.formula(at.robot, at.x, at.xd, _torques(at))
    return all(a == b for a, b in zip(found, at.xdd, strict=True))


__all__ = ["SoftPoint", "SpringAngle", "statements"]
