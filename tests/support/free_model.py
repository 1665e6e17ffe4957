"""The second model for robots with free and ball joints: Lagrange's equations in angles, read in moving axes.

A free joint is three slides and the turns Rx Ry Rz: true coordinates y, for which `EnergyModel` holds as it is. With
v = T(y) yd the velocities of the joint in its own axes,

    M = T^-T M_y T^-1,   tau = T^-T tau_y,   ydd = T^-1 (vd - Td yd)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import armdyn
from armdyn import control
from armdyn.robot import Robot
from support.cells import Case, close
from support.energy_model import STEP, EnergyModel, _turn

X, Y, Z = np.eye(3)


class FreeModel:
    """As `EnergyModel`, with positions q (quaternions) and velocities v of the robot's own."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot.bound()
        tree = tuple(replace(joint, compound=None) for joint in robot.tree)
        self.plain = EnergyModel(replace(robot, tree=tree, expressions=None))
        self.size, self.gravity_vector, self._masses = robot.n, self.plain.gravity_vector, self.plain._masses

    # Coordinates ------------------------------------------------------------------------------------------------------

    def coordinates(self, q: Any) -> Any:
        """y of q."""
        y, place = np.zeros(self.size), 0
        for first, count in self._turns():
            turns = first + count - 3
            if count == 1:
                y[first], place = q[place], place + 1
            else:
                y[first:turns], place = q[place : place + count - 3], place + count - 3
                y[turns : turns + 3], place = _angles(q[place : place + 4]), place + 4
        return y

    def positions(self, y: Any) -> Any:
        """q of y."""
        q: list[Any] = []
        for first, count in self._turns():
            if count == 1:
                q.append(y[first])
            else:
                q += [*y[first : first + count - 3], *_quaternion(_attitude(*y[first + count - 3 : first + count]))]
        return np.array(q)

    def _turns(self) -> Iterator[tuple[int, int]]:
        """(first velocity, how many) of every joint."""
        k = 0
        while k < self.size:
            compound = self.robot.joints[k].compound
            count = 1 if compound is None else {"free": 6, "ball": 3}[compound.kind]
            yield k, count
            k += count

    def velocity_map(self, y: Any) -> Any:
        """T."""
        T = np.zeros((self.size, self.size), dtype=complex)
        for first, count in self._turns():
            if count == 1:
                T[first, first] = 1
                continue
            last = slice(first + count - 3, first + count)
            a, b, c = y[last]
            T[last, last] = np.stack([(_turn(Y, b) @ _turn(Z, c)).T @ X, _turn(Z, c).T @ Y, Z], axis=1)
            if count == 6:
                T[first : first + 3, first : first + 3] = _attitude(a, b, c).T
        return T

    def rates(self, y: Any, v: Any, vd: Any) -> tuple[Any, Any, Any]:
        """(T^-1, yd, ydd)."""
        S = np.linalg.inv(self.velocity_map(y).real)
        yd = S @ v
        Td = np.imag(self.velocity_map(y + 1j * STEP * yd)) / STEP
        return S, yd, S @ (vd - Td @ yd)

    def _at(self, q: Any) -> tuple[Any, Any]:
        y = self.coordinates(q)
        return y, np.linalg.inv(self.velocity_map(y).real)

    # As EnergyModel ---------------------------------------------------------------------------------------------------

    def _frames(self, q: Any) -> Any:
        return self.plain._frames(self.coordinates(q))

    def pose(self, q: Any) -> Any:
        return self.plain.pose(self.coordinates(q))

    def jacobian(self, q: Any) -> Any:
        y, S = self._at(q)
        return self.plain.jacobian(y).real @ S

    def momentum_row(self, q: Any) -> Any:
        y, S = self._at(q)
        return self.plain.momentum_row(y).real @ S

    def mass_matrix(self, q: Any) -> Any:
        y, S = self._at(q)
        return S.T @ self.plain.mass_matrix(y).real @ S

    def weights_energy(self, q: Any) -> Any:
        return self.plain.weights_energy(self.coordinates(q))

    def springs_energy(self, q: Any) -> Any:
        return self.plain.springs_energy(self.coordinates(q))

    def gravity(self, q: Any) -> Any:
        y, S = self._at(q)
        return S.T @ self.plain.gravity(y)

    def springs(self, q: Any) -> Any:
        y, S = self._at(q)
        return S.T @ self.plain.springs(y)

    def friction(self, v: Any) -> Any:
        return self.plain.friction(v)

    def inverse_dynamics(self, q: Any, v: Any, vd: Any) -> Any:
        S, yd, ydd = self.rates(self.coordinates(q), v, vd)
        return S.T @ (self.plain.inverse_dynamics(self.coordinates(q), yd, ydd) - self.plain.friction(yd)) + (
            self.friction(v)
        )

    def forward_dynamics(self, q: Any, v: Any, tau: Any) -> Any:
        return np.linalg.solve(self.mass_matrix(q), tau - self.inverse_dynamics(q, v, 0 * v))


def _attitude(a: Any, b: Any, c: Any) -> Any:
    return _turn(X, a) @ _turn(Y, b) @ _turn(Z, c)


def _angles(quaternion: Any) -> Any:
    """Of Rx Ry Rz."""
    w, x, y, z = np.asarray(quaternion) / np.linalg.norm(quaternion)
    R = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
    return np.array([np.arctan2(-R[1, 2], R[2, 2]), np.arcsin(R[0, 2]), np.arctan2(-R[0, 1], R[0, 0])])


def _quaternion(R: Any) -> Any:
    """With qw > 0; for turns of less than half a turn."""
    w = np.sqrt(1 + np.trace(R)) / 2
    return np.array([w, *(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w))])


class FreeCase(Case):
    """A case whose positions are not coordinates."""

    def __post_init__(self) -> None:
        self.model: Any = FreeModel(self.robot)
        y, self.xd, self.xdd = np.random.default_rng(self.seed).uniform(0.3, 0.8, (3, self.model.size))
        self.x = self.model.positions(y)

    def second(self, robot: Robot) -> Any:
        return FreeModel(robot)

    @property
    def q(self) -> Any:
        return self.x

    closed = q

    def check_coriolis_matrix(self, C: Any) -> None:
        """The forces, and the skew symmetry; in moving axes more than one matrix has both."""
        close(C @ self.xd, self.coriolis)
        rate = self.difference(self.model.mass_matrix, self.x, self.xd)
        close(rate - C - C.T, 0 * C, 2e-6)  # of central differences

    @property
    def coriolis(self) -> Any:
        return self.bias - self.held - self.model.friction(self.xd)

    def drift(self, x: Any, xd: Any) -> Any:
        return self._drift(self.model.plain.jacobian, x, xd)

    @property
    def momentum_drift(self) -> Any:
        return self._drift(self.model.plain.momentum_row, self.x, self.xd)

    def _drift(self, rows: Any, x: Any, xd: Any) -> Any:
        """What velocities alone do to rows(y) yd."""
        y = self.model.coordinates(x)
        _, yd, ydd = self.model.rates(y, xd, 0 * xd)
        return rows(y).real @ ydd + np.imag(rows(y + 1j * STEP * yd)) / STEP @ yd

    def difference(self, function: Any, at: Any, along: Any) -> Any:
        if len(at) == len(along):
            return super().difference(function, at, along)
        h = 1e-5
        forth, back = (self.robot.integrate(at, s * along) for s in (h, -h))
        return (function(forth) - function(back)) / (2 * h)

    def on_base(self, reactions: Any) -> Any:
        """What the free joint transmits is the reaction of its last link, in the moving axes."""
        return np.real(self.model._frames(self.x)[0]["root"])[:3, :3] @ reactions[5, :3]

    def simulated(self) -> tuple[Any, Any]:
        """Free motion for 0.02 s, and the same in coordinates."""
        n = self.robot.n
        run = armdyn.simulate(
            self.dyn,
            control.NoControl(n),
            self.x,
            0.02,
            q0=self.x,
            qd0=self.xd,
            solver=armdyn.Solver(dt=0.002, integrator="rk4"),
        )

        def rate(_: float, state: Any) -> Any:
            y, yd = np.split(state, 2)
            return np.concatenate([yd, self.model.plain.forward_dynamics(y, yd, np.zeros(n))])

        y = self.model.coordinates(self.x)
        start = np.concatenate([y, self.model.rates(y, self.xd, 0 * self.xd)[1]])
        end = solve_ivp(rate, (0.0, 0.02), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:n, -1]
        return run.q[-1], self.model.positions(end)
