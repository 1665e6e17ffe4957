"""An arm that is simulated while it is shown: a law holds it, the mouse pulls at its tool."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from armdyn import control
from armdyn.browser.robot_queries import HEAVIEST, RobotQueries, within
from armdyn.control.base import Desired, Law
from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled
from armdyn.errors import unknown_name
from armdyn.simulation.integrators import rk4
from armdyn.simulation.stops import Stops
from armdyn.simulation.studies import scaled_masses
from armdyn.typing import Array

RELEASED = "none"
LAWS = ("computed_torque", "pd_gravity", RELEASED)
"""Laws without internal state, by the names of `armdyn.control.law`."""
FASTEST_LAW, LARGEST_DAMPING = 1000.0, 50.0
"""Largest frequency, rad/s, and damping ratio that a user may ask for."""
STEP = 2e-3
"""Time step of the live simulation, s."""
KEPT = 600
"""Number of samples that the curves keep."""
FASTEST = 200.0
"""Joint velocity, rad/s or m/s, at which a run ends: no arm moves like that."""


@dataclass(frozen=True)
class Setting:
    """A control law, and how the true arm differs from the model that it knows.

    name:    one of LAWS.
    frequency, damping_ratio: of the errors, rad/s; the law is designed for them, as in `armdyn.control.law`.
    payload: at the true tool, unknown to the law, kg.
    heavier: the true masses are larger by this share, from -0.5 to 1.
    """

    name: str = LAWS[0]
    frequency: float = 10.0
    damping_ratio: float = 1.0
    payload: float = 0.0
    heavier: float = 0.0

    def plant(self, answers: RobotQueries) -> Dynamics:
        """The dynamics of the true arm."""
        share, mass = within(self.heavier, "heavier", 1.0, -0.5), within(self.payload, "payload", HEAVIEST, 0.0)
        if not share and not mass:
            return answers.dyn
        robot = scaled_masses(answers.robot, 1.0 + share) if share else answers.robot
        return compiled(robot.with_payload(mass) if mass else robot)

    def law(self, answers: RobotQueries) -> Law:
        """The control law, with the model of the robot as it is described."""
        if self.name not in LAWS:
            raise unknown_name("control law", self.name, LAWS)
        if self.name == RELEASED:
            return control.law(self.name, answers.dyn)
        frequency = within(self.frequency, "frequency", FASTEST_LAW, 0.0)
        ratio = within(self.damping_ratio, "damping_ratio", LARGEST_DAMPING, 0.0)
        return control.law(self.name, answers.dyn, frequency=frequency, damping_ratio=ratio)


@dataclass
class LiveSimulation:
    """The state of a running simulation; `advance` moves it on.

    q, qd: (n,) now. goal: (n,) what the law holds. pull: (3,) where the tool is pulled to, or None.
    """

    answers: RobotQueries
    setting: Setting
    q: Array
    qd: Array
    goal: Array
    pull: Array | None = None
    t: float = 0.0
    tau: Array = field(init=False)
    history: deque[tuple[float, ...]] = field(init=False)

    def __post_init__(self) -> None:
        self.tau = np.zeros(self.answers.robot.n)
        self.history = deque(maxlen=KEPT)
        self.change(self.setting)

    def change(self, setting: Setting) -> None:
        """Go on with another law or another arm."""
        self.setting = setting
        self.plant, self.law = setting.plant(self.answers), setting.law(self.answers)
        self.stops = Stops().on(self.plant)
        T, M = self.plant.jacobian(self.goal)[:3], self.plant.mass_matrix(self.goal)
        mobility = float(np.linalg.eigvalsh(T @ np.linalg.solve(M, T.T)).max())
        self.spring = 60.0 / max(mobility, 1e-9)  # N/m: the tool follows the hand at about 8 rad/s
        self.damper = 6.0 / max(mobility, 1e-9)

    def force(self, q: Array, qd: Array) -> Array:
        """(3,) what the hand exerts on the tool, N: a spring to where it pulls, with damping."""
        if self.pull is None:
            return np.zeros(3)
        velocity = self.plant.jacobian(q)[:3] @ qd
        return np.asarray(self.spring * (self.pull - self.plant.pose(q)[:3, 3]) - self.damper * velocity)

    def advance(self, seconds: float) -> bool:
        """Integrate for a time; False if the motion grew without bound, and the arm stands still again."""
        desired = Desired(self.goal, np.zeros_like(self.goal), np.zeros_like(self.goal))
        nothing = self.law.start(self.q, self.qd)

        def rates(c: float, q: Array, qd: Array, z: Array) -> tuple[Array, Array, Array]:
            tau = self.law(self.t, q, qd, desired, z)
            wrench = np.concatenate([-self.force(q, qd), np.zeros(3)])  # what the robot exerts on the hand
            qdd = self.plant.forward_dynamics(q, qd, tau + self.stops(q, qd), wrench)
            return qdd, z, tau

        for _ in range(max(1, round(seconds / STEP))):
            dq, dqd, _, self.tau = rk4(rates, STEP, self.q, self.qd, nothing)
            q, qd = self.q + dq, self.qd + dqd
            if not np.isfinite(q).all() or np.abs(qd).max() > FASTEST:
                self.qd = np.zeros_like(self.qd)
                return False
            self.q, self.qd, self.t = q, qd, self.t + STEP
        kinetic = float(self.plant.kinetic_energy(self.q, self.qd))
        potential = float(self.plant.potential_energy(self.q))
        self.history.append((self.t, kinetic, potential, *self.q, *self.qd))
        return True

    def curves(self) -> dict[str, Any]:
        """Time, energies, positions and velocities of the last samples."""
        n, rows = self.answers.robot.n, np.array(self.history, dtype=float).reshape(-1, 3 + 2 * self.answers.robot.n)
        return {
            "t": rows[:, 0],
            "kinetic": rows[:, 1],
            "potential": rows[:, 2] - (rows[0, 2] if len(rows) else 0.0),
            "q": rows[:, 3 : 3 + n],
            "qd": rows[:, 3 + n :],
        }
