"""A robot that obeys Pinocchio's forward dynamics, integrated by SciPy: a plant that shares no code with our laws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from armdyn.control import Desired, Law
from armdyn.parameters import standard_parameters, with_standard_parameters
from armdyn.robot import Robot
from support.pinocchio_model import build, order, pin

INERTIAL = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
Wrench = Callable[[float], np.ndarray]


def with_errors(robot: Robot, size: float, seed: int) -> Robot:
    """The robot with an error in each of its inertial, rotor and friction parameters; its bodies stay possible."""
    random, known = np.random.default_rng(seed), {k: float(x) for k, x in standard_parameters(robot).as_dict().items()}
    values: dict[str, float] = {}
    for j in range(1, robot.n + 1):
        XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = (known[f"{name}{j}"] for name in INERTIAL)
        c = np.array([MX, MY, MZ]) / M
        central = np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]]) - M * (c @ c * np.eye(3) - np.outer(c, c))
        change = np.eye(3) + size * random.uniform(-0.5, 0.5, (3, 3))
        half = np.trace(central) / 2 * np.eye(3) - central  # second moments: any change A S A^T of them is possible
        half = change @ half @ change.T
        mass, c = M * (1 + size * random.uniform(-1, 1)), c + size * random.uniform(-0.1, 0.1, 3)
        I = np.trace(half) * np.eye(3) - half + mass * (c @ c * np.eye(3) - np.outer(c, c))
        found = (*I[0], *I[1, 1:], I[2, 2], *(mass * c), mass)
        values |= {f"{name}{j}": x for name, x in zip(INERTIAL, found, strict=True)}
    for name in (name for name in known if name.startswith(("Ia", "Fv"))):
        values[name] = known[name] * (1 + size * random.uniform(-1, 1))
    return with_standard_parameters(robot, values)


@dataclass(frozen=True)
class Motion:
    """t: (k,). q, qd, qdd, tau: (k, n). memory: (k, m). e: desired minus actual positions; ed: velocities."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    memory: np.ndarray
    desired: Desired

    @property
    def e(self) -> np.ndarray:
        return self.desired.q - self.q

    @property
    def ed(self) -> np.ndarray:
        return self.desired.qd - self.qd


class PinocchioPlant:
    """Rigid bodies, rotors on their joints and viscous friction."""

    def __init__(self, robot: Robot) -> None:
        self.model = build(robot)
        self.data, self.at = self.model.createData(), order(self.model, robot)
        numbers = {name: float(x) for name, x in standard_parameters(robot).as_dict().items()}
        rotors, self.viscous = (np.array([numbers.get(f"{kind}{j + 1}", 0.0) for j in range(robot.n)])
                                for kind in ("Ia", "Fv"))  # fmt: skip
        armature = np.zeros(robot.n)
        armature[self.at] = rotors
        self.model.armature = armature
        self.n = robot.n

    def _in(self, x: np.ndarray) -> np.ndarray:
        vector = np.zeros(self.n)
        vector[self.at] = x
        return vector

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        frame = self.model.getFrameId("tool")
        J = pin.computeFrameJacobian(self.model, self.data, self._in(q), frame, pin.LOCAL_WORLD_ALIGNED)
        return J.reshape(6, -1)[:, self.at]

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        M = np.reshape(pin.crba(self.model, self.data, self._in(q)), (self.n, self.n))
        return (np.triu(M) + np.triu(M, 1).T)[np.ix_(self.at, self.at)]

    def gravity(self, q: np.ndarray) -> np.ndarray:
        return np.atleast_1d(pin.computeGeneralizedGravity(self.model, self.data, self._in(q)))[self.at]

    def acceleration(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        vectors = (self._in(x) for x in (q, qd, tau - self.viscous * qd))
        return np.atleast_1d(pin.aba(self.model, self.data, *vectors))[self.at]

    def run(
        self, law: Law, reference: Any, duration: float, q0: Any, qd0: Any = None, *, wrench: Wrench | None = None,
        rtol: float = 1e-8, samples: int = 401,
    ) -> Motion:  # fmt: skip
        """The closed loop of plant and law from t = 0; wrench: what the robot exerts at its tool."""
        n, start = self.n, np.asarray(q0, dtype=float)
        v0 = np.zeros(n) if qd0 is None else np.asarray(qd0, dtype=float)

        def desired(t: float) -> Desired:
            if callable(reference):
                return Desired(*(reference(t, order) for order in range(3)))
            fixed = np.asarray(reference, dtype=float)
            still = np.zeros(6 if law.in_task_space else n)
            return Desired(fixed, still, still)

        def parts(t: float, x: np.ndarray) -> tuple[np.ndarray, ...]:
            q, qd, z = x[:n].copy(), x[n : 2 * n].copy(), x[2 * n :].copy()
            target = desired(t)
            tau = law(t, q, qd, target, z)
            pushed = tau if wrench is None else tau - self.jacobian(q).T @ wrench(t)
            return tau, self.acceleration(q, qd, pushed), law.change(t, q, qd, target, z)

        def rates(t: float, x: np.ndarray) -> np.ndarray:
            _, qdd, zd = parts(t, x)
            return np.concatenate([x[n : 2 * n], qdd, zd])

        t = np.linspace(0.0, duration, samples)
        state = np.concatenate([start, v0, law.start(start, v0)])
        found = solve_ivp(rates, (0.0, duration), state, method="LSODA", t_eval=t, rtol=rtol, atol=rtol * 1e-2)
        assert found.status == 0, found.message
        x = found.y.T
        tau, qdd = (np.array(list(column)) for column in zip(*(parts(*each)[:2] for each in zip(t, x, strict=True)),
                                                              strict=True))  # fmt: skip
        table = Desired(*(np.array(column) for column in zip(*(desired(each) for each in t), strict=True)))
        return Motion(t, x[:, :n], x[:, n : 2 * n], qdd, tau, x[:, 2 * n :], table)
