"""Every function of Dynamics against Pinocchio: the catalog, random robots, arms from URDF files.

Graphs are what Dynamics compiles; evaluating them checks the same mathematics without the compiler. Machine code is
checked on the catalog and on some random robots, on a hundred of them with ARMDYN_FULL=1.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.dynamics.quantities import QUANTITIES, RARE
from armdyn.graph import Graph
from armdyn.mechanics import articulated_body, composite_body
from armdyn.robot import Robot
from support import pinocchio_model
from support.limits import FULL
from support.wheel import MISSING, wheel_files

pin = pinocchio_model.pin
TOLERANCE, OF_DERIVATIVES, OF_DIFFERENCES = 1e-10, 1e-8, 1e-7  # relative to the largest entry
OTHERS = {"regressor", "link_end_regressor", "momentum_regressor", "energy_regressor", "jacobian_dot"}
"""Compared with Pinocchio, some times the parameters or the velocities, in `parameters/test_other_regressors.py`."""
COMPARED = sorted(set(QUANTITIES) - {"friction", "coriolis_matrix", "closed"} - OTHERS)  # no counterpart there

LARGE = ("forward_dynamics_derivatives", *RARE)
"""The largest graphs: on short arms only."""


class Oracle:
    """The quantities of Dynamics by Pinocchio, in our joint order."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.model = robot, pinocchio_model.build(robot)
        self.data, self.at = self.model.createData(), pinocchio_model.order(self.model, robot)
        self.zero = np.zeros(robot.n)
        self.tool = self.model.getFrameId("tool") if self.model.existFrame("tool") else None

    def to(self, *vectors: Any) -> list[np.ndarray]:
        result = []
        for values in vectors:
            x = np.zeros(self.robot.n)
            x[self.at] = values
            result.append(x)
        return result

    def square(self, A: Any) -> np.ndarray:
        return np.array(A).reshape(self.robot.n, self.robot.n)[np.ix_(self.at, self.at)]

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any) -> Any:
        return np.atleast_1d(pin.rnea(self.model, self.data, *self.to(q, qd, qdd)))[self.at]

    def forward_dynamics(self, q: Any, qd: Any, tau: Any) -> Any:
        return np.atleast_1d(pin.aba(self.model, self.data, *self.to(q, qd, tau)))[self.at]

    def mass_matrix(self, q: Any) -> Any:
        return pinocchio_model.mass_matrix(self.robot, q)

    def gravity(self, q: Any) -> Any:
        return self.inverse_dynamics(q, self.zero, self.zero)

    def springs(self, q: Any) -> Any:
        return self.zero

    def coriolis(self, q: Any, qd: Any) -> Any:
        return self.inverse_dynamics(q, qd, self.zero) - self.gravity(q)

    def pose(self, q: Any) -> Any:
        return pinocchio_model.tool_pose(self.robot, q)

    def jacobian(self, q: Any) -> Any:
        return pinocchio_model.jacobian(self.robot, q)

    def jacobian_dot_qd(self, q: Any, qd: Any) -> Any:
        pin.forwardKinematics(self.model, self.data, *self.to(q, qd, self.zero))
        pin.updateFramePlacements(self.model, self.data)
        frame = self.tool, pin.LOCAL_WORLD_ALIGNED
        return pin.getFrameClassicalAcceleration(self.model, self.data, *frame).vector

    def inverse_dynamics_derivatives(self, q: Any, qd: Any, qdd: Any) -> Any:
        dq, dqd, _ = pin.computeRNEADerivatives(self.model, self.data, *self.to(q, qd, qdd))
        return self.square(dq), self.square(dqd)

    def forward_dynamics_derivatives(self, q: Any, qd: Any, tau: Any) -> Any:
        dq, dqd, inverse = pin.computeABADerivatives(self.model, self.data, *self.to(q, qd, tau))
        inverse = np.array(inverse).reshape(self.robot.n, self.robot.n)
        return self.square(dq), self.square(dqd), self.square(np.triu(inverse) + np.triu(inverse, 1).T)

    def inverse_dynamics_hessian(self, q: Any, qd: Any, qdd: Any, weights: Any) -> Any:
        M = self.weighted(lambda x: self.mass_matrix(x), q, weights)
        slopes = self.inverse_dynamics_derivatives
        q_q, q_qd = (self.weighted(partial(_part, slopes, k, qd, qdd), q, weights) for k in range(2))
        return q_q, q_qd, self.weighted(lambda x: slopes(q, x, qdd)[1], qd, weights), M

    def forward_dynamics_hessian(self, q: Any, qd: Any, tau: Any, weights: Any) -> Any:
        slopes = self.forward_dynamics_derivatives
        q_q, q_qd, q_tau = (self.weighted(partial(_part, slopes, k, qd, tau), q, weights) for k in range(3))
        return q_q, q_qd, self.weighted(lambda x: slopes(q, x, tau)[1], qd, weights), q_tau

    @staticmethod
    def weighted(slopes: Callable[[Any], Any], at: Any, weights: Any) -> Any:
        """Rows: derivatives of weights.slopes by each coordinate, by differences of fourth order."""
        h, rows = 5e-4, []  # light links turn fast: at 2e-3 the fifth derivative leaves 1e-6
        for unit in np.eye(len(at)):
            near, far = ((weights @ slopes(at + k * h * unit) - weights @ slopes(at - k * h * unit)) for k in (1, 2))
            rows.append((8 * near - far) / (12 * h))
        return np.array(rows)

    def joint_reactions(self, q: Any, qd: Any, qdd: Any) -> Any:
        pin.rnea(self.model, self.data, *self.to(q, qd, qdd))
        return np.array([self.data.f[self.model.getJointId(link.name)].vector for link in self.robot.links])

    def kinetic_energy(self, q: Any, qd: Any) -> Any:
        return pin.computeKineticEnergy(self.model, self.data, *self.to(q, qd))

    def potential_energy(self, q: Any) -> Any:
        return pin.computePotentialEnergy(self.model, self.data, *self.to(q))

    def center_of_mass(self, q: Any) -> Any:
        return pin.centerOfMass(self.model, self.data, *self.to(q))

    def centroidal_momentum(self, q: Any, qd: Any) -> Any:
        return pin.computeCentroidalMomentum(self.model, self.data, *self.to(q, qd)).vector


def _part(slopes: Callable[..., Any], k: int, second: Any, third: Any, x: Any) -> Any:
    """One of the derivatives of a function at x."""
    return slopes(x, second, third)[k]


def compare(robot: Robot, function: Callable[[str], Callable[..., Any]], names: list[str], seed: int = 0) -> None:
    oracle = Oracle(robot)
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-2, 2, (3, robot.n))
    state = {"q": q, "qd": qd, "qdd": qdd, "tau": oracle.inverse_dynamics(q, qd, qdd)}
    state["weights"] = rng.uniform(-1, 1, robot.n)
    # Errors of accelerations are errors of torques times the inverse of M, so its condition enters.
    condition = np.linalg.cond(oracle.mass_matrix(q))
    for name in names:
        if oracle.tool is None and QUANTITIES[name].optional == "frame":
            continue
        values = [state[each] for each in QUANTITIES[name].inputs]
        found, expected = function(name)(*values), getattr(oracle, name)(*values)
        tolerance = OF_DERIVATIVES if name.endswith("derivatives") else TOLERANCE
        tolerance = OF_DIFFERENCES if name.endswith("hessian") else tolerance
        tolerance *= max(1.0, condition / 1e4) if name.startswith("forward") else 1.0
        for a, b in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, expected)), strict=True):
            scale = np.abs(b).max() + 1e-3 * np.abs(state["tau"]).max() * (not name.startswith(("pose", "jac")))
            assert np.shape(a) == np.shape(b), name
            assert np.abs(a - b).max() <= tolerance * max(scale, 1e-12), (name, np.abs(a - b).max() / scale)


def evaluated(graph: Graph) -> Callable[..., Any]:
    """A graph as a function of arrays, without machine code."""

    def call(*values: Any) -> Any:
        results = graph(**dict(zip(graph.inputs, values, strict=True)))
        found = tuple(map(np.array, results.values()))
        return found if len(found) > 1 else found[0]

    return call


def random_robot(seed: int) -> Robot:
    return armdyn.random_robot(
        seed,
        1 + seed % (10 if FULL or seed == 9 else 6),
        convention=("standard", "modified", "free", None)[seed % 4],
        prismatic=(0.3, 0.0, 0.6)[seed % 3],
        branching=0.4 * (seed % 2),
        fixed=0.3 * (seed % 5 == 0),
        skew=seed % 7 < 4,
        any_gravity=seed % 3 == 0,
    )


@pytest.mark.parametrize("seed", range(100 if FULL else 12))
def test_graphs_of_random_robots(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By each formulation of forward dynamics, and without grouped parameters, too."""
    robot = random_robot(seed)
    if seed % 3:
        ways = [(composite_body, articulated_body)[seed % 3 - 1]]
        monkeypatch.setattr("armdyn.dynamics.graphs._forward_formulations", lambda source: ways)
    if seed % 5 == 4:
        monkeypatch.setattr("armdyn.dynamics.model_choice.grouped_view", lambda robot: robot)
    dyn = armdyn.compile(robot)
    names = COMPARED if robot.n < 7 or FULL else [name for name in COMPARED if name not in LARGE]
    compare(robot, lambda name: evaluated(dyn.graph(name)), names, seed)


@pytest.mark.parametrize("seed", range(100) if FULL else (1, 2, 12))
def test_machine_code_of_random_robots(seed: int) -> None:
    robot = random_robot(seed)
    dyn = armdyn.compile(robot)
    compare(robot, lambda name: getattr(dyn, name), COMPARED, seed)


@pytest.mark.parametrize("name", armdyn.catalog.names())
def test_the_catalog(name: str) -> None:
    robot = armdyn.load(name).without("friction", "rotors", "loops")
    if np.linalg.matrix_rank(pinocchio_model.mass_matrix(robot, np.full(robot.n, 0.4))) < robot.n:
        pytest.skip(f"without its rotors the mass matrix of {name} is singular")
    dyn = armdyn.compile(robot)
    compare(robot, lambda each: evaluated(dyn.graph(each)), COMPARED)
    compiled = ["inverse_dynamics", "forward_dynamics"] if FULL or robot.n < 6 or name == "panda" else ["gravity"]
    compare(robot, lambda each: getattr(dyn, each), compiled)


# Arms from files ------------------------------------------------------------------------------------------------------

ARMS: dict[str, Any] = {
    "ur5_robot.urdf": {},
    "panda.urdf": {"lock": {"panda_finger_joint1": 0.0, "panda_finger_joint2": 0.0}},
    "kinova.urdf": {},
    "xarm7.urdf": {},
    "z1.urdf": {},
    "so100.urdf": {},
    "talos_left_arm.urdf": {},
    "baxter.urdf": {},
}


def wheel_file(name: str) -> Path:
    found = wheel_files(name)
    if not found:
        pytest.skip(f"{name}: {MISSING}")
    return found[0]


@pytest.mark.parametrize("name", ARMS)
def test_arms_of_example_robot_data(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", armdyn.ModelWarning)
        robot = armdyn.load(wheel_file(name), **ARMS[name]).without("friction", "rotors").opened
    dyn = armdyn.compile(robot)
    names = [each for each in COMPARED if robot.n < 8 or each not in LARGE]
    compare(robot, lambda each: evaluated(dyn.graph(each)), names)
    if FULL or name == "kinova.urdf":
        compare(robot, lambda each: getattr(dyn, each), names if FULL else ["inverse_dynamics", "mass_matrix"])
