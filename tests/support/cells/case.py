"""A robot with a second model of it, and what the checks of all functions share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

import armdyn
from armdyn import control, mechanics
from armdyn.errors import FeatureError
from armdyn.identification.log.samples import Samples
from armdyn.robot import Robot
from armdyn.simulation import Solver, simulate
from support.energy_model import EnergyModel

KP, KD = 40.0, 9.0
TAU_MAX = 300.0
STEP, STEPS = 0.004, 5
EXACT = 1e-9
"""Relative to the largest number: roundings of some thousand operations."""
DIFFERENCES = 2e-6
"""Where the comparison is by central differences of the model: half their step's digits."""
SECOND_DIFFERENCES = 1e-4
"""And by differences of differences."""


def close(found: Any, expected: Any, tolerance: float = EXACT) -> None:
    found, expected = np.asarray(found, dtype=float), np.real(np.asarray(expected))
    assert found.shape == expected.shape, (found.shape, expected.shape)
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    assert np.abs(found - expected).max(initial=0.0) < tolerance * scale, np.abs(found - expected).max() / scale


@dataclass
class Case:
    """A robot, a second model of it, and a random state."""

    robot: Robot
    seed: int = 0
    model: EnergyModel = field(init=False)

    def __post_init__(self) -> None:
        self.model = EnergyModel(self.robot)
        self.x, self.xd, self.xdd = np.random.default_rng(self.seed).uniform(0.3, 1.2, (3, self.model.size))
        if self.robot.loops:
            self.x[1] += 1.0  # away from where the bars lie on one line

    @cached_property
    def dyn(self) -> Any:
        return armdyn.compile(self.robot)

    @property
    def n(self) -> int:
        return self.robot.n

    @property
    def q(self) -> Any:
        return self.x[: self.n]

    @property
    def qd(self) -> Any:
        return self.xd[: self.n]

    @property
    def qdd(self) -> Any:
        return self.xdd[: self.n]

    @property
    def closed(self) -> Any:
        """Positions of all joints."""
        return self.model.links @ self.x + self.model.constant

    @cached_property
    def held(self) -> Any:
        return self.model.gravity(self.x) + self.model.springs(self.x)

    @cached_property
    def M(self) -> Any:
        return self.model.mass_matrix(self.x).real

    @cached_property
    def J(self) -> Any:
        return self.model.jacobian(self.x).real

    @cached_property
    def tau(self) -> Any:
        return self.model.inverse_dynamics(self.x, self.xd, self.xdd)

    @cached_property
    def bias(self) -> Any:
        return self.model.inverse_dynamics(self.x, self.xd, 0 * self.xd)

    def drift(self, x: Any, xd: Any) -> Any:
        """dJ/dt qd."""
        return np.imag(self.model.jacobian(x + 1e-30j * xd)) / 1e-30 @ xd

    def check_coriolis_matrix(self, C: Any) -> None:
        close(C, self.model.coriolis_matrix(self.x, self.xd))

    @property
    def coriolis(self) -> Any:
        return self.model.coriolis_matrix(self.x, self.xd) @ self.xd

    @property
    def momentum_drift(self) -> Any:
        """What velocities alone do to the momentum."""
        return np.imag(self.model.momentum_row(self.x + 1e-30j * self.xd)) / 1e-30 @ self.xd

    def on_base(self, reactions: Any) -> Any:
        """The forces of the joints on the base, in world axes."""
        opened, q = self.robot.opened, self.model.links @ self.x + self.model.constant
        poses = mechanics.kinematics.link_poses(opened, list(q))
        first = [link.index for link in opened.links if link.parent < 0]
        return sum(poses[j].R.array() @ reactions[j, :3] for j in first)

    def simulated(self) -> tuple[Any, Any]:
        """Links after some steps under PD control, by `simulate` and by the second model."""
        law, solver = control.PID(KP, KD), Solver(dt=STEP, integrator="rk4")
        run = simulate(self.dyn, law, self.q + 0.2, STEP * STEPS, q0=self.q, qd0=self.qd, solver=solver)
        return run.q[-1][: self.n], _marched(self)

    def difference(self, function: Callable[[Any], Any], at: Any, along: Any) -> Any:
        """Derivative of a function of the second model in one direction, by central differences."""
        h = 1e-5
        return (function(at + h * along) - function(at - h * along)) / (2 * h)

    @cached_property
    def move(self) -> Any:
        return armdyn.point_to_point(self.q, self.q + 0.4, "quintic", duration=0.6)

    def torques(self, t: Any, course: Any) -> Any:
        return self.along(course(t), course(t, 1), course(t, 2))

    def along(self, q: Any, qd: Any, qdd: Any) -> Any:
        """Torques of rigid joints along a motion."""
        return np.array([self.rigid.inverse_dynamics(*state) for state in zip(q, qd, qdd, strict=True)])

    def second(self, robot: Robot) -> Any:
        """The second model of a robot of the same kind."""
        return EnergyModel(robot)

    @cached_property
    def rigid(self) -> Any:
        return self.second(self.robot.without("elastic"))

    @cached_property
    def samples(self) -> Samples:
        """A motion with several frequencies, and the torques of the model."""
        t = np.arange(0, 4, 0.06)
        random = np.random.default_rng(1)
        w, a = random.uniform(1.5, 6, (2, self.n, 3)), random.uniform(0.1, 0.35, (self.n, 3))
        w, phase = w[0], w[1]
        angle = t[:, None, None] * w + phase
        q, qd, qdd = (np.sum(x, axis=2) for x in (a * np.sin(angle), a * w * np.cos(angle), -a * w**2 * np.sin(angle)))
        return Samples(t, q, qd, qdd, self.along(q, qd, qdd), np.ones(q.shape, dtype=bool))


def _marched(c: Case) -> Any:
    """Links after some steps of Runge and Kutta on the second model, under PD control of the motors."""
    motors = np.array(c.dyn.coordinates.motors)
    k = np.array([np.inf if joint.elastic is None else joint.elastic.stiffness for joint in c.robot.joints])
    theta = c.q + (c.rigid.gravity(c.q) + c.rigid.springs(c.q)) / k  # motors that hold the links at the start
    joined = c.dyn.coordinates.joined

    laws = [joint.friction for joint in c.robot.joints]
    slid = np.array([[law.values.get(f"{key}_1", 0) if law else 0 for key in ("presliding", "distance")]
                     for law in laws])  # fmt: skip
    parts = slid[:, 0] != 0

    def rate(y: Any) -> Any:
        x, xd, z = np.split(y, [c.model.size, 2 * c.model.size])
        tau = np.zeros(c.model.size)
        tau[motors] = KP * (c.q + 0.2 - x[motors]) - KD * xd[motors]
        v = xd[: c.n][parts]
        widths = np.array([law.width for law, has in zip(laws, parts, strict=True) if law and has])
        tau[: c.n][parts] -= slid[parts, 0] * (z - v / np.hypot(v, widths))
        zd = (v - z * np.abs(v)) / slid[parts, 1]  # Dahl's equation, in time
        return np.concatenate([xd, c.model.forward_dynamics(x, xd, tau), zd])

    y = np.array([*joined(c.q, theta), *joined(c.qd, c.qd), *np.zeros(parts.sum())])
    for _ in range(STEPS):
        a = rate(y)
        b = rate(y + STEP / 2 * a)
        d = rate(y + STEP / 2 * b)
        y = y + STEP / 6 * (a + 2 * b + 2 * d + rate(y + STEP * d))
    return y[: c.n]


Check = Callable[[Case], None]
CELLS: dict[str, Check] = {}


def cell(*names: str) -> Callable[[Check], Check]:
    def entered(check: Check) -> Check:
        for name in names:
            assert name not in CELLS, name
            CELLS[name] = check
        return check

    return entered


def refusal(call: Callable[[], Any]) -> Exception:
    """The error of a call that must fail."""
    try:
        call()
    except FeatureError:
        raise
    except armdyn.ArmdynError as error:
        return error
    raise AssertionError("not refused")
