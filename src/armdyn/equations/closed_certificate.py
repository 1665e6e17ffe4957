"""Exact statements about closed chains: their equations of motion at random points, without rounding.

With given lengths rational points of a closed chain are rare. So all joints are drawn, and the second end of every cut
is placed where the first one is: the loops close exactly, on the robot's topology and axes, with cuts at random places.
The forward dynamics of the projection is compared with another formulation, the equations with multipliers:

    M qdd + h = tau + J^T lambda,   J qdd + dJ/dt qd = 0                                                           [L-4]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from armdyn.algebra import Dual, Pose, derivative, dot_of, elimination
from armdyn.errors import NotApplicable
from armdyn.mechanics import closed_chain, composite_body, energies, newton_euler
from armdyn.mechanics.kinematics import frame_pose, link_poses
from armdyn.mechanics.matrices import product, times, transpose
from armdyn.mechanics.moving_axes import coordinates_of
from armdyn.mechanics.registry import Formulation
from armdyn.robot.compounds import position_rates
from armdyn.robot.parts import Placement
from armdyn.robot.robot import Robot

NAME = "closed_chain"


@dataclass(frozen=True)
class _At(Placement):
    """A placement by its pose."""

    T: Pose = Pose.identity()

    def pose(self) -> Pose:
        return self.T


@dataclass(frozen=True)
class ClosedPoint:
    """A random state of a closed chain: q_all of all joints, velocities and accelerations of the independent ones."""

    robot: Robot
    q_all: Sequence[Any]
    qd: Sequence[Any]
    qdd: Sequence[Any]
    wrench: Sequence[Any]

    def motion(self) -> tuple[Any, Any]:
        """Velocities and accelerations of all joints."""
        return (
            closed_chain.velocities(self.robot, self.q_all, self.qd),
            closed_chain.accelerations(self.robot, self.q_all, self.qd, self.qdd),
        )

    @property
    def coordinates(self) -> list[Any]:
        """Of all joints, for the conditions of loops; zeros for free and ball joints, on which these do not depend."""
        return coordinates_of(self.robot.opened, self.q_all)

    def moving(self) -> list[Dual]:
        """Positions of all joints with their rates."""
        rates = position_rates(self.robot.opened.compounds, self.q_all, self.motion()[0])
        return [Dual(x, rate) for x, rate in zip(self.q_all, rates, strict=True)]

    def torques(self, formulation: Any = newton_euler) -> Any:
        """Of the independent joints."""
        return closed_chain.inverse_dynamics(
            self.robot, self.q_all, self.qd, self.qdd, wrench=self.wrench, by=formulation
        )


def with_closed_loops(robot: Robot, q_all: Sequence[Any]) -> Robot:
    """The robot whose loops are closed where it is: the second end of each cut is put where the first one is."""
    tree = robot.opened
    poses = link_poses(tree, coordinates_of(tree, q_all))
    loops = []
    for loop in robot.loops:
        first, second = (frame_pose(poses, tree.frame(body)) for body in (loop.first, loop.second))
        place = second.inverse() @ first @ loop.first_placement.pose()
        loops.append(replace(loop, second_placement=_At(T=place)))
    return replace(robot, loops=tuple(loops))


Test = Callable[[ClosedPoint], bool]


def statements(formulations: Sequence[Formulation]) -> Iterator[tuple[str, str, Test]]:
    """(statement, formulation, test) for closed chains."""
    yield "loops closed, J G = 0", NAME, _mobile(_stays_closed)
    for formulation in formulations:
        if "inverse_dynamics" in formulation.gives:
            yield "closed chain: same torques", formulation.name, _same_torques(formulation)
    yield "closed chain: tau = M qdd + C qd + g", NAME, _adds_up
    yield "closed chain: Mdot - 2C skew-symmetric", NAME, _mobile(_is_skew)
    yield "closed chain: power: qd . tau = dE/dt", NAME, _balances_power
    yield "closed chain: forward dynamics by multipliers", NAME, _mobile(_multipliers)


def _mobile(test: Test) -> Test:
    """The test, left out for an overconstrained loop: with its cut at a random place it does not move at all."""

    def checked(at: ClosedPoint) -> bool:
        chain, J = closed_chain.rates_of(at.robot), _jacobian(at.robot, at.coordinates)
        passive, active = ([[row[k] for k in joints] for row in J] for joints in (chain.dependent, chain.independent))
        if any(x != 0 for row in elimination.eliminate(passive, active).rest.values() for x in row):
            raise NotApplicable(
                "an overconstrained loop moves only with its own dimensions, where points are not rational",
                where=f"robot {at.robot.name!r}",
            )
        return test(at)

    return checked


def _stays_closed(at: ClosedPoint) -> bool:
    """f = 0, J G = 0 and J qdd + dJ/dt qd = 0."""
    chain, (qd, qdd), q = closed_chain.rates_of(at.robot), at.motion(), at.coordinates
    bias = derivative(lambda x: times(_jacobian(at.robot, x), qd), q, qd)
    carried = times(_jacobian(at.robot, q), qdd)
    closed = all(x == 0 for x in closed_chain.conditions(chain, q))
    moving = product(_jacobian(at.robot, q), chain.projection(q))
    return (
        closed
        and all(x == 0 for row in moving for x in row)
        and all(x + y == 0 for x, y in zip(carried, bias, strict=True))
    )


def _jacobian(robot: Robot, q: Sequence[Any]) -> list[list[Any]]:
    return [list(row) for row in closed_chain.constraint_jacobian.formula(robot, q)]


def _same_torques(formulation: Formulation) -> Test:
    return lambda at: bool(at.torques(formulation.module) == at.torques())


def _adds_up(at: ClosedPoint) -> bool:
    robot, q = at.robot, at.q_all
    parts = (
        times(closed_chain.mass_matrix(robot, q), at.qdd),
        times(closed_chain.coriolis_matrix(robot, q, at.qd), at.qd),
        closed_chain.gravity(robot, q),
    )
    again = (*parts[::2], closed_chain.coriolis(robot, q, at.qd))
    torques = closed_chain.inverse_dynamics(robot, q, at.qd, at.qdd)
    return all(tuple(map(sum, zip(*each, strict=True))) == torques for each in (parts, again))


def _is_skew(at: ClosedPoint) -> bool:
    Mdot = [[dot_of(x) for x in row] for row in closed_chain.mass_matrix(at.robot, at.moving())]
    C = closed_chain.coriolis_matrix(at.robot, at.q_all, at.qd)
    n = range(at.robot.n)
    return all(Mdot[i][j] - 2 * C[i][j] + Mdot[j][i] - 2 * C[j][i] == 0 for i in n for j in n)


def _balances_power(at: ClosedPoint) -> bool:
    tree, (qd, qdd) = at.robot.opened, at.motion()
    q = at.moving()
    rates = [Dual(x, rate) for x, rate in zip(qd, qdd, strict=True)]
    energy = energies.kinetic_energy(tree, q, rates) + energies.potential_energy(tree, q)
    torques = closed_chain.inverse_dynamics(at.robot, at.q_all, at.qd, at.qdd)
    return bool(sum(tau * rate for tau, rate in zip(torques, at.qd, strict=True)) == dot_of(energy))


def _multipliers(at: ClosedPoint) -> bool:
    """[L-4], solved with all rows of J, against the accelerations that were given, and the projected forward dynamics.

    Mimic joints are conditions like those of loops: rows q_d - k q_a.
    """
    robot, tree, tau = at.robot, at.robot.opened, at.torques()
    chain, (qd, qdd) = closed_chain.rates_of(robot), at.motion()
    laws = [
        [
            int(k == joint) - (line.rates[chain.independent.index(k)] if k in chain.independent else 0)
            for k in range(tree.n)
        ]
        for joint, line in chain.linear.items()
    ]
    J = [*_jacobian(robot, at.coordinates), *laws] if robot.loops else laws
    bias = derivative(lambda x: times(_jacobian(robot, x), qd), at.coordinates, qd) if robot.loops else []
    M = [list(row) for row in composite_body.mass_matrix(tree, at.q_all)]
    h = newton_euler.inverse_dynamics(tree, at.q_all, qd, [0 * x for x in qd], at.wrench)
    forces = [0] * tree.n
    for k, x in zip(chain.independent, tau, strict=True):
        forces[k] = x
    rows = [[*row, *(-x for x in column)] for row, column in zip(M, transpose(J), strict=True)]
    rows += [[*row, *[0] * len(J)] for row in J]
    right = [[x - y] for x, y in zip(forces, h, strict=True)] + [[-x] for x in bias] + [[0]] * len(laws)
    found = elimination.eliminate(rows, right)
    if any(x[0] != 0 for x in found.rest.values()):
        return False
    accelerations = tuple(found.solution[k][0] for k in range(tree.n))
    projected = closed_chain.forward_dynamics(robot, at.q_all, at.qd, tau, at.wrench)
    return accelerations == tuple(qdd) and tuple(projected) == tuple(at.qdd)


__all__ = ["ClosedPoint", "statements", "with_closed_loops"]
