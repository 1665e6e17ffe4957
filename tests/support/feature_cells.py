"""What every function must get right, whatever features a robot has: one check for each row of the matrix.

A check calls the public function on the robot of a case and compares with `EnergyModel`, or with a formula written here
on its numbers. It is not told which feature the robot has.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.linalg import eigh, null_space

import armdyn
from armdyn import analysis, control, identification, mechanics, motion, parameters, sweeps, trajectory
from armdyn.analysis.motion_box import motion_box
from armdyn.control.law import Desired
from armdyn.dynamics.quantities import QUANTITIES
from armdyn.equations import coriolis_matrices
from armdyn.errors import FeatureError, MissingExtra, NotApplicable
from armdyn.export.export_files import texts
from armdyn.graph import to_float
from armdyn.identification.excitation import Search
from armdyn.identification.harmonics import Harmonics
from armdyn.identification.samples import Samples
from armdyn.kinematics import inverse
from armdyn.kinematics.reach import reach
from armdyn.mechanics.friction import friction_torques
from armdyn.mechanics.quantity import quantity
from armdyn.mechanics.registry import FORMULATIONS
from armdyn.mechanics.springs import spring_torques
from armdyn.motion.sampling import sample_times
from armdyn.robot import Robot
from armdyn.robot.parts import Limits, StandardDH
from armdyn.robot.random import random_robot
from armdyn.simulation import simulate
from armdyn.simulation.studies import imperfect_models, monte_carlo
from armdyn.studio import serve
from armdyn.studio.answers import Answers
from support.energy_model import EnergyModel

KP, KD = 40.0, 9.0
TAU_MAX = 300.0
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
        law, still = control.PID(KP, KD), {"q0": self.q, "qd0": self.qd, "integrator": "rk4"}
        run = simulate(self.dyn, law, self.q + 0.2, STEP * STEPS, STEP, **still)
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


Check = Callable[[Case], None]
CELLS: dict[str, Check] = {}


def cell(*names: str) -> Callable[[Check], Check]:
    def entered(check: Check) -> Check:
        for name in names:
            assert name not in CELLS, name
            CELLS[name] = check
        return check

    return entered


# Compiled quantities --------------------------------------------------------------------------------------------------

EXPECTED: dict[str, Callable[[Case], Any]] = {
    "inverse_dynamics": lambda c: c.tau,
    "forward_dynamics": lambda c: c.model.forward_dynamics(c.x, c.xd, c.xdd),
    "mass_matrix": lambda c: c.M,
    "coriolis": lambda c: c.coriolis,
    "gravity": lambda c: c.model.gravity(c.x),
    "springs": lambda c: c.model.springs(c.x),
    "friction": lambda c: c.model.friction(c.xd),
    "pose": lambda c: c.model.pose(c.x),
    "jacobian": lambda c: c.J,
    "jacobian_dot_qd": lambda c: c.drift(c.x, c.xd),
    "kinetic_energy": lambda c: c.xd @ c.M @ c.xd / 2,
    "potential_energy": lambda c: c.model.weights_energy(c.x) + c.model.springs_energy(c.x),
    "closed": lambda c: c.model.links @ c.x + c.model.constant,
}
"""Quantities that formulations and Dynamics share, from the second model."""
INPUTS = {"q": "x", "qd": "xd", "qdd": "xdd", "tau": "xdd"}


def _right(c: Case, name: str, function: Callable[..., Any]) -> None:
    """A function of the state gives this quantity."""
    found = function(*(getattr(c, INPUTS[each]) for each in QUANTITIES[name].inputs))
    if name == "coriolis_matrix":
        c.check_coriolis_matrix(found)
    else:
        close(found, EXPECTED[name](c))


def _quantity(name: str) -> Check:
    return lambda c: _right(c, name, getattr(c.dyn, name))


for _name in (*EXPECTED, "coriolis_matrix"):
    CELLS[f"dynamics.{_name}"] = _quantity(_name)


@cell("dynamics.compile")
def _compile(c: Case) -> None:
    close(armdyn.compile(c.robot).inverse_dynamics(c.x, c.xd, c.xdd), c.tau)


@cell("dynamics.regressor")
def _regressor(c: Case) -> None:
    close(c.dyn.regressor(c.x, c.xd, c.xdd) @ c.dyn.parameters, c.tau)


@cell("dynamics.inverse_dynamics_derivatives")
def _slopes(c: Case) -> None:
    by_q, by_qd = c.dyn.inverse_dynamics_derivatives(c.x, c.xd, c.xdd)
    d = np.random.default_rng(5).normal(size=c.model.size)
    close(by_q @ d, c.difference(lambda x: c.model.inverse_dynamics(x, c.xd, c.xdd), c.x, d), DIFFERENCES)
    close(by_qd @ d, c.difference(lambda x: c.model.inverse_dynamics(c.x, x, c.xdd), c.xd, d), DIFFERENCES)


@cell("dynamics.forward_dynamics_derivatives")
def _forward_slopes(c: Case) -> None:
    by_q, by_qd, by_tau = c.dyn.forward_dynamics_derivatives(c.x, c.xd, c.xdd)
    d = np.random.default_rng(5).normal(size=c.model.size)
    close(by_q @ d, c.difference(lambda x: c.model.forward_dynamics(x, c.xd, c.xdd), c.x, d), DIFFERENCES)
    close(by_qd @ d, c.difference(lambda x: c.model.forward_dynamics(c.x, x, c.xdd), c.xd, d), DIFFERENCES)
    close(by_tau, np.linalg.inv(c.M))


@cell("dynamics.inverse_dynamics_hessian")
def _curvature(c: Case) -> None:
    _curved(c, c.dyn.inverse_dynamics_hessian, "inverse_dynamics")


@cell("mechanics.second_derivatives")
def _second_derivatives(c: Case) -> None:
    found = mechanics.second_derivatives.inverse_dynamics_hessian
    _curved(c, lambda *state: found(c.robot, *state), "inverse_dynamics")


@cell("dynamics.forward_dynamics_hessian")
def _forward_curvature(c: Case) -> None:
    _curved(c, c.dyn.forward_dynamics_hessian, "forward_dynamics")


def _curved(c: Case, hessian: Callable[..., Any], name: str) -> None:
    """Second derivatives along a direction in q and qd, by second differences of the second model."""
    a, b, weights = np.random.default_rng(5).normal(size=(3, len(c.x)))
    q_q, q_qd, qd_qd, q_last = hessian(c.x, c.xd, c.xdd, weights)

    def along(x: Any) -> Any:
        function = getattr(c.model, name)
        q, qd, last = c.x + x[0] * a, c.xd + x[0] * b, c.xdd
        return c.difference(lambda s: function(*np.split(s, 3)), np.concatenate([q, qd, last]),
                            np.concatenate([a, b, a])) @ weights  # fmt: skip

    second = c.difference(along, np.zeros(1), np.ones(1))
    close(a @ q_q @ a + 2 * a @ q_qd @ b + b @ qd_qd @ b + a @ q_last @ a, second, SECOND_DIFFERENCES)


def _masses(c: Case) -> tuple[float, Any]:
    """(mass, centre of mass) of what moves."""
    poses = c.model._frames(c.x)[0]
    parts = [(m, np.real(poses[body] @ np.append(com, 1))[:3]) for body, m, com, _ in c.model._masses]
    mass = sum(m for m, _ in parts)
    return mass, sum(m * p for m, p in parts) / mass


@cell("dynamics.center_of_mass")
def _center(c: Case) -> None:
    close(c.dyn.center_of_mass(c.x), _masses(c)[1])


@cell("dynamics.centroidal_momentum")
def _momentum(c: Case) -> None:
    close(c.dyn.centroidal_momentum(c.x, c.xd)[:3], c.model.momentum_row(c.x).real @ c.xd)


@cell("mechanics.centroid")
def _centroid(c: Case) -> None:
    close(mechanics.centroid.center_of_mass(c.robot, c.x), _masses(c)[1])
    close(mechanics.centroid.centroidal_momentum(c.robot, c.x, c.xd)[:3], c.model.momentum_row(c.x).real @ c.xd)


def _base_force(c: Case) -> Any:
    """The force on the base is what moves all masses and carries what the counterbalances do not."""
    moved = c.model.momentum_row(c.x).real @ c.xdd
    moved = moved + c.momentum_drift
    for joint in c.robot.tree:
        moved = moved - float(joint.body.inertia.mass) * (1 - joint.body.gravity_compensation) * c.model.gravity_vector
        if joint.rotor is not None and joint.rotor.model == "full":
            moved = moved - float(joint.rotor.mass) * c.model.gravity_vector
    return moved


@cell("dynamics.joint_reactions")
def _joint_reactions(c: Case) -> None:
    close(c.on_base(c.dyn.joint_reactions(c.x, c.xd, c.xdd)), _base_force(c))


@cell("mechanics.reactions")
def _reactions(c: Case) -> None:
    close(c.on_base(mechanics.reactions.joint_reactions(c.robot, c.x, c.xd, c.xdd)), _base_force(c))


@cell("motion.bearing_loads")
def _bearing_loads(c: Case) -> None:
    times = sample_times(c.move, c.move.duration / 2)
    found = motion.bearing_loads(c.dyn, c.move, dt=c.move.duration / 2)
    loads = c.dyn.joint_reactions(c.move(times), c.move(times, 1), c.move(times, 2))
    close(found.radial_force, np.hypot(loads[..., 0], loads[..., 1]).max(axis=0))
    close(found.axial_force, np.abs(loads[..., 2]).max(axis=0))
    close(found.tilting_moment, np.hypot(loads[..., 3], loads[..., 4]).max(axis=0))
    close(c.on_base(c.dyn.joint_reactions(c.x, c.xd, c.xdd)), _base_force(c))


# Formulations -----------------------------------------------------------------------------------------------------


def _formulation(module: Any, names: tuple[str, ...]) -> Check:
    def check(c: Case) -> None:
        for name in names:
            _right(c, name, partial(getattr(module, name), c.robot))

    return check


for _entry in FORMULATIONS:
    CELLS[f"mechanics.{_entry.name}"] = _formulation(_entry.module, _entry.gives)
for _around, _names in {
    "derivatives": ("coriolis_matrix",),
    "doubled": ("inverse_dynamics", "mass_matrix", "coriolis_matrix", "coriolis", "gravity", "springs",
                "kinetic_energy", "potential_energy", "pose", "jacobian"),
    "doubled_lagrange": ("inverse_dynamics", "mass_matrix", "coriolis"),
    "energies": ("kinetic_energy", "potential_energy"),
}.items():  # fmt: skip
    CELLS[f"mechanics.{_around}"] = _formulation(import_module(f"armdyn.mechanics.{_around}"), _names)


@cell("mechanics.kinematics")
def _kinematics(c: Case) -> None:
    close(mechanics.kinematics.pose(c.robot, c.q), c.model.pose(c.x))
    close(mechanics.kinematics.jacobian(c.robot, c.q), c.J[:, : c.n])


@cell("mechanics.friction")
def _friction(c: Case) -> None:
    close(quantity(friction_torques)(c.robot, c.qd), c.model.friction(c.xd))


@cell("mechanics.springs")
def _springs(c: Case) -> None:
    close(quantity(spring_torques)(c.robot, c.q), c.rigid.springs(c.q))


@cell("mechanics.closed_chain")
def _closed_chain(c: Case) -> None:
    if not c.robot.constrained:
        assert "loop" in str(refusal(lambda: mechanics.closed_chain.gravity(c.robot, c.q)))
        return
    q_all = c.model.links @ c.x + c.model.constant
    close(mechanics.closed_chain.inverse_dynamics(c.robot, q_all, c.xd, c.xdd), c.tau)
    close(mechanics.closed_chain.mass_matrix(c.robot, q_all), c.M)


@cell("mechanics.coupling")
def _coupling(c: Case) -> None:
    """Power at the motors is power at the joints."""
    velocities, torques = (
        mechanics.coupling.motor_velocities(c.robot, c.qd),
        mechanics.coupling.motor_torques(c.robot, c.tau),
    )
    close(velocities @ torques, c.qd @ c.tau)
    J = np.array(c.robot.coupling) if c.robot.coupling else np.diag([1 / _ratio(joint) for joint in c.robot.joints])
    close(mechanics.coupling.coupling_matrix(c.robot), J)


def _ratio(joint: Any) -> float:
    return 1.0 if joint.rotor is None else float(joint.rotor.ratio)


@cell("mechanics.elastic")
def _elastic(c: Case) -> None:
    if not c.dyn.coordinates.doubled:
        assert "elastic" in str(refusal(lambda: mechanics.elastic.energy(c.robot, c.q, c.qd, c.q, c.qd)))
        return
    pairs = [(x[: c.n], np.array(x)[list(c.dyn.coordinates.motors)]) for x in (c.x, c.xd, c.xdd)]
    links, motors = mechanics.elastic.inverse_dynamics(c.robot, *(p[0] for p in pairs), *(p[1] for p in pairs))
    close(c.dyn.coordinates.joined(np.where([j.elastic is None for j in c.robot.joints], motors, links), motors), c.tau)


@cell("mechanics.moving_base")
def _moving_base(c: Case) -> None:
    """A base that moves as its virtual joints do."""
    v, a = np.random.default_rng(3).normal(size=(2, 3))
    v6, a6 = np.append(v, np.zeros(3)), np.append(a, np.zeros(3))
    found = mechanics.moving_base.inverse_dynamics(c.robot, c.q, c.qd, c.qdd, v6, a6)
    wrench = mechanics.moving_base.base_wrench(c.robot, c.q, c.qd, c.qdd, v6, a6)
    virtual = mechanics.moving_base.with_virtual_joints(c.robot, ("x", "y", "z"))
    whole = EnergyModel(virtual)
    state = (np.append(np.zeros(3), c.q), np.append(v, c.qd), np.append(a, c.qdd))
    expected = whole.inverse_dynamics(*state)
    close(found, expected[3:])
    close(wrench[:3], expected[:3])


# Parameters and equations -----------------------------------------------------------------------------------------


@cell("parameters.regressor")
def _plain_regressor(c: Case) -> None:
    Y = parameters.regressor(c.robot, c.q, c.qd, c.qdd)
    close(Y @ parameters.standard_parameters(c.robot).array(), c.tau)


@cell("parameters.base_parameters")
def _base(c: Case) -> None:
    base = parameters.base_parameters(c.robot, tuple(parameters.standard.FAMILIES))
    close(base.regressor(c.q, c.qd, c.qdd) @ base.values, c.tau)


@cell("parameters.grouped")
def _grouped(c: Case) -> None:
    close(mechanics.newton_euler.inverse_dynamics(parameters.grouped(c.robot), c.q, c.qd, c.qdd), c.tau)


@cell("equations.derive")
def _derive(c: Case) -> None:
    eq = armdyn.derive(c.robot)
    values = _values(c) | dict(eq.robot.bound().parameters)
    M, C, g, k, tau = (_number(eq.raw[name], values) for name in ("M", "C", "g", "k", "tau"))
    close(tau, c.tau - c.model.friction(c.xd))
    close(M @ c.xdd + C @ c.xd + g + k, tau)


def _values(c: Case) -> dict[str, Any]:
    """The state by the names of its symbols: joints, then motors of elastic joints."""
    state = {"q": ("theta", c.x), "qd": ("thetad", c.xd), "qdd": ("thetadd", c.xdd)}
    soft = [f"{j + 1}" for j, joint in enumerate(c.robot.joints) if joint.elastic is not None]
    names = {
        name: [f"{name}{j + 1}" for j in range(c.n)] + [motor + j for j in soft] for name, (motor, _) in state.items()
    }
    return {key: float(y) for name, (_, x) in state.items() for key, y in zip(names[name], x, strict=True)}


def _number(part: Any, values: dict[str, float]) -> Any:
    return np.array([_number(x, values) for x in part]) if isinstance(part, tuple | list) else to_float(part, values)


@cell("mechanics.coriolis_matrices")
def _coriolis_matrices(c: Case) -> None:
    expected = c.model.coriolis_matrix(c.x, c.xd) @ c.xd
    for name in ("newton_euler_matrix", "skew_newton_euler_matrix", "unsymmetric_kronecker_matrix",
                 "triangular_matrix"):  # fmt: skip
        C = getattr(mechanics.coriolis_matrices, name)(c.robot, c.x, c.xd)
        close(C @ c.xd, expected)


@cell("equations.coriolis_matrices")
def _compared_coriolis_matrices(c: Case) -> None:
    found = coriolis_matrices(c.robot)
    assert len(found) > 6 and all(matrix.torque_defect < EXACT for matrix in found)
    close(mechanics.newton_euler.coriolis(c.robot, c.x, c.xd), c.model.coriolis_matrix(c.x, c.xd) @ c.xd)


@cell("equations.compare")
def _compare(c: Case) -> None:
    assert armdyn.compare(c.robot, formulations=FORMULATIONS[:3]).agrees
    close(
        mechanics.newton_euler.inverse_dynamics(c.robot.opened, *_all(c)),
        EnergyModel(_tree(c.robot)).inverse_dynamics(*_all(c)),
    )


def _tree(robot: Robot) -> Robot:
    return replace(robot.opened, name="tree")


def _all(c: Case) -> Any:
    return (c.model.links @ c.x + c.model.constant, c.model.links @ c.xd, c.model.links @ c.xdd)


@cell("equations.certify")
def _certify(c: Case) -> None:
    """Exact on the tree; that the certified formulation is right too is the cell of newton_euler."""
    assert armdyn.certify(c.robot, points=1, formulations=FORMULATIONS[:3]).holds


# Control laws -------------------------------------------------------------------------------------------------------


def _torque(law: Any, c: Case, desired: Desired, q: Any = None, qd: Any = None) -> Any:
    q, qd = c.q if q is None else q, c.qd if qd is None else qd
    memory = law.start(q, qd)
    return law(0.0, q, qd, desired, memory)


def _wanted(c: Case) -> Desired:
    return Desired(c.q + 0.1, c.qd - 0.2, c.qdd)


@cell("control.ComputedTorque")
def _computed_torque(c: Case) -> None:
    want = _wanted(c)
    w = want.qdd + KD * (want.qd - c.qd) + KP * (want.q - c.q)
    for through in ("newton_euler", "matrices"):
        close(_torque(control.ComputedTorque(c.dyn, KP, KD, through=through), c, want), c.M @ w + c.bias)


@cell("control.Feedforward")
def _feedforward(c: Case) -> None:
    close(_torque(control.Feedforward(c.dyn), c, Desired(c.q, c.qd, c.qdd)), c.tau)


@cell("control.Formulated")
def _formulated(c: Case) -> None:
    model = control.Formulated(c.robot)
    parts = model.mass_matrix(c.q) @ c.qdd + model.gravity(c.q) + model.springs(c.q) + model.friction(c.qd)
    close(model.inverse_dynamics(c.q, c.qd, c.qdd), c.tau)
    close(parts, c.tau - c.model.coriolis_matrix(c.x, c.xd) @ c.xd)


@cell("control.SlidingMode")
def _sliding(c: Case) -> None:
    want = Desired(c.q, c.qd, c.qdd)
    close(_torque(control.SlidingMode(c.dyn, 5, 3), c, want), c.tau)


@cell("control.SlotineLi")
def _slotine_li(c: Case) -> None:
    law, want = control.SlotineLi(c.dyn, 5, KD), _wanted(c)
    v, vd = want.qd + 5 * (want.q - c.q), want.qdd + 5 * (want.qd - c.qd)
    expected = c.M @ vd + c.model.coriolis_matrix(c.x, c.xd) @ v + c.held + c.model.friction(c.xd) + KD * (v - c.qd)
    close(_torque(law, c, want), expected)


@cell("control.PDGravity")
def _pd_gravity(c: Case) -> None:
    close(_torque(control.PDGravity(c.dyn, KP, KD), c, _wanted(c)), KP * 0.1 - KD * c.qd + c.held)


@cell("control.MomentumObserver")
def _observer(c: Case) -> None:
    """The observed momentum changes as that of the arm does under the law's torques."""
    law = control.MomentumObserver(control.Feedforward(c.dyn), c.dyn, 50)
    want = Desired(c.q, c.qd, c.qdd)
    memory = law.start(c.q, c.qd)
    M_dot = np.imag(c.model.mass_matrix(c.x + 1e-30j * c.xd)) / 1e-30
    close(law.change(0.0, c.q, c.qd, want, memory)[-c.n :], M_dot @ c.xd + c.M @ c.xdd)


@cell("control.TaskPID")
def _task_pid(c: Case) -> None:
    law = control.TaskPID(c.dyn, KP, KD, rows="x y", gravity=True)
    close(_torque(law, c, law_target(c)), c.J[:2].T @ (-KD * (c.J @ c.qd)[:2]) + c.held)


def law_target(c: Case) -> Any:
    """The tool where it is, at rest."""
    T = np.real(c.model.pose(c.x))
    return Desired(T, np.zeros(6), np.zeros(6))


@cell("control.ResolvedAcceleration")
def _resolved(c: Case) -> None:
    """The tool accelerates as asked."""
    law = control.ResolvedAcceleration(c.dyn, KP, KD, rows="x y")
    qdd = c.model.forward_dynamics(c.x, c.xd, _torque(law, c, law_target(c)))
    close((c.J @ qdd + c.drift(c.x, c.xd))[:2], -KD * (c.J @ c.qd)[:2])


@cell("control.OperationalSpace")
def _operational_space(c: Case) -> None:
    """The tool accelerates as asked."""
    law = control.OperationalSpace(c.dyn, KP, KD, rows="x y")
    qdd = c.model.forward_dynamics(c.x, c.xd, _torque(law, c, law_target(c)))
    close((c.J @ qdd + c.drift(c.x, c.xd))[:2], -KD * (c.J @ c.qd)[:2])


@cell("control.Impedance")
def _impedance(c: Case) -> None:
    """At rest on the reference the arm is held."""
    law = control.Impedance(c.dyn, KP, KD, rows="x y")
    close(_torque(law, c, law_target(c), qd=0 * c.qd), c.held + c.model.friction(0 * c.xd))


@cell("control.Admittance")
def _admittance(c: Case) -> None:
    law = control.Admittance(c.dyn, 2.0, KD, KP, force=lambda t, q, qd: np.zeros(6), rows="x y")
    qdd = c.model.forward_dynamics(c.x, 0 * c.xd, _torque(law, c, law_target(c), qd=0 * c.qd))
    close((c.J @ qdd)[:2], np.zeros(2), 1e-7)  # the inner loop inverts J J^T


@cell("control.ElasticPD")
def _elastic_pd(c: Case) -> None:
    """At the equilibrium of links and motors the torques hold the arm."""
    stiff = EnergyModel(c.robot.without("elastic"))
    held = stiff.gravity(c.q) + stiff.springs(c.q)
    k = np.array([np.inf if joint.elastic is None else joint.elastic.stiffness for joint in c.robot.joints])
    law = control.ElasticPD(c.dyn, KP, KD, check=False)
    close(_torque(law, c, Desired(c.q, 0 * c.qd, 0 * c.qd), c.q + held / k, 0 * c.qd), held)


@cell("control.largest_inertias")
def _largest_inertias(c: Case) -> None:
    found = control.largest_inertias(c.dyn)
    assert (found >= np.diag(c.M) * (1 - 1e-9)).all()
    assert (found <= 100 * np.diag(c.M)).all()


@cell("control.acceleration_constants")
def _acceleration_constants(c: Case) -> None:
    limits = Limits(torque=TAU_MAX)
    tree = tuple(joint if joint.compound else replace(joint, limits=limits) for joint in c.robot.tree)
    limited = replace(c.robot, tree=tree, expressions=None)
    found = control.acceleration_constants(armdyn.compile(limited))
    close(found, TAU_MAX / control.largest_inertias(c.dyn))


@cell("control.largest_gravity_slope")
def _largest_slope(c: Case) -> None:
    torques = lambda x: c.model.gravity(x) + c.model.springs(x)  # noqa: E731
    slope = np.stack([c.difference(torques, c.x, unit) for unit in np.eye(len(c.x))], axis=-1)
    found = control.largest_gravity_slope(c.dyn)
    assert np.linalg.norm(slope, 2) * (1 - 1e-6) <= found < 100 * np.linalg.norm(slope, 2)


@cell("control.analyse_gains")
def _gains(c: Case) -> None:
    loops = control.analyse_gains(control.PID(KP, KD), dyn=c.dyn).loops
    a = control.largest_inertias(c.dyn)
    Fv = np.array([0.0 if joint.friction is None else joint.friction.viscous for joint in c.robot.joints])
    close([max(abs(np.roots([x, KD + v, KP]))) for x, v in zip(a, Fv, strict=True)], [loop.frequency for loop in loops])


def _modes(c: Case) -> Any:
    """Natural frequencies of the links with locked motors: stiffness of elastic and other springs on their side."""
    soft = [j for j, joint in enumerate(c.robot.joints) if joint.elastic is not None]
    bare = replace(c.robot, gravity=0 * c.robot.gravity)
    springs = EnergyModel(bare.without("gravity_compensation")).springs
    K = np.stack([c.difference(springs, c.x, unit) for unit in np.eye(len(c.x))], axis=-1)[np.ix_(soft, soft)]
    return np.sqrt(eigh(K, c.M[np.ix_(soft, soft)], eigvals_only=True))


@cell("control.resonances")
def _resonances(c: Case) -> None:
    if c.dyn.coordinates.doubled:
        close(control.resonances(c.dyn, c.q), _modes(c), 1e-7)  # central differences of linear springs
    else:
        assert "no elastic joint" in str(refusal(lambda: control.resonances(c.dyn, c.q)))


@cell("control.resonance_range")
def _resonance_range(c: Case) -> None:
    if c.dyn.coordinates.doubled:
        found = control.resonance_range(c.dyn)
        assert (found.lowest <= _modes(c) * (1 + 1e-6)).all()
        assert (found.highest >= _modes(c) * (1 - 1e-6)).all()
    else:
        assert "no elastic joint" in str(refusal(lambda: control.resonance_range(c.dyn)))


# Analysis -----------------------------------------------------------------------------------------------------------


def _rows(c: Case) -> Any:
    return c.J[:2]


@cell("analysis.velocity_ellipsoid")
def _velocity(c: Case) -> None:
    close(analysis.velocity_ellipsoid(c.dyn, c.q, rows="x y").lengths, np.linalg.svd(_rows(c), compute_uv=False))


@cell("analysis.force_ellipsoid")
def _force(c: Case) -> None:
    close(analysis.force_ellipsoid(c.dyn, c.q, rows="x y").lengths, 1 / np.linalg.svd(_rows(c), compute_uv=False)[::-1])


@cell("analysis.acceleration_ellipsoid")
def _acceleration(c: Case) -> None:
    found = analysis.acceleration_ellipsoid(c.dyn, c.q, c.qd, rows="x y")
    close(found.lengths, np.linalg.svd(_rows(c) @ np.linalg.inv(c.M), compute_uv=False))
    close(found.centre, (c.J @ np.linalg.solve(c.M, -c.bias) + c.drift(c.x, c.xd))[:2])


@cell("analysis.acceleration_polytope")
def _polytope(c: Case) -> None:
    found = analysis.acceleration_polytope(c.dyn, c.q, rows="x y", tau_max=TAU_MAX)
    close(found.centre, -_rows(c) @ np.linalg.solve(c.M, c.held))
    close(found.generators, TAU_MAX * _rows(c) @ np.linalg.inv(c.M))


@cell("analysis.manipulability")
def _manipulability(c: Case) -> None:
    close(analysis.manipulability(c.dyn, c.q, rows="x y"), np.sqrt(np.linalg.det(_rows(c) @ _rows(c).T)))


@cell("analysis.dynamic_manipulability")
def _dynamic(c: Case) -> None:
    B = _rows(c) @ np.linalg.inv(c.M)
    close(analysis.dynamic_manipulability(c.dyn, c.q, rows="x y"), np.sqrt(np.linalg.det(B @ B.T)))


@cell("analysis.joint_inertia")
def _joint_inertia(c: Case) -> None:
    close(analysis.joint_inertia(c.dyn, c.q), np.diag(c.M))


@cell("analysis.isotropic_acceleration")
def _isotropic(c: Case) -> None:
    """The distance of the faces of the set of accelerations from the origin."""
    B, centre = _rows(c) @ np.linalg.inv(c.M), -_rows(c) @ np.linalg.solve(c.M, c.held)
    faces = [null_space(B[:, [j]].T)[:, 0] for j in range(c.n)]
    room = [TAU_MAX * np.abs(B.T @ f).sum() + s * f @ centre for f in faces for s in (1, -1)]
    found = analysis.isotropic_acceleration(c.dyn, c.q, tau_max=TAU_MAX, rows="x y")
    close(found, max(min(room), 0.0))


@cell("analysis.payload_capability")
def _payload(c: Case) -> None:
    mass = analysis.payload_capability(c.dyn, c.q, tau_max=TAU_MAX)
    held = c.held + mass * c.J[:3].T @ -c.model.gravity_vector
    close(np.abs(held).max(), TAU_MAX)


@cell("analysis.operational_space")
def _operational(c: Case) -> None:
    found = analysis.operational_space(c.dyn, c.q, c.qd, rows="x y")
    J = _rows(c)
    mass = np.linalg.inv(J @ np.linalg.solve(c.M, J.T))
    close(found.mass, mass)
    close(found.bias, c.bias)
    close(found.gravity, mass @ J @ np.linalg.solve(c.M, c.held))


@cell("analysis.coriolis_matrix")
def _operational_coriolis(c: Case) -> None:
    """Bdot - 2 C is skew-symmetric, and C v are the Coriolis forces of (7.131)."""
    C = analysis.coriolis_matrix(c.dyn, c.q, c.qd, rows="x y")

    def mass(x: Any) -> Any:
        J = c.model.jacobian(x)[:2]
        return np.linalg.inv(J @ np.linalg.solve(c.model.mass_matrix(x), J.T))

    rate = np.imag(mass(c.x + 1e-30j * c.xd)) / 1e-30
    close(rate - C - C.T, 0 * C)


@cell("analysis.workspace_map", "analysis.workspace_samples")
def _map(c: Case) -> None:
    first, second = (joint.name for joint in c.robot.joints[:2])
    spans = [(x, x + 0.1) for x in c.q[:2]]
    found = analysis.workspace_map(
        c.dyn, "payload", (first, second), at=c.q, spans=spans, counts=(2, 2), tau_max=TAU_MAX
    )
    close(np.ravel(found.values)[0], analysis.payload_capability(c.dyn, c.q, tau_max=TAU_MAX))
    _payload(c)
    drawn = analysis.workspace_samples(c.dyn, "payload", 4, tau_max=TAU_MAX)
    close(drawn.values[:, 0], analysis.payload_capability(c.dyn, drawn.q, tau_max=TAU_MAX))


@cell("analysis.summary")
def _summary(c: Case) -> None:
    found = analysis.summary(c.dyn, c.q)
    close(found.gravity, c.held)
    close(found.inertia, np.diag(c.M))


@cell("analysis.model_bounds")
def _bounds(c: Case) -> None:
    M, C, g = analysis.model_bounds(c.robot).at(float(np.linalg.norm(c.q)))
    assert np.linalg.norm(c.M, 2) <= M
    assert np.linalg.norm(c.model.coriolis_matrix(c.x, c.xd), 2) <= C * np.linalg.norm(c.xd)
    assert np.linalg.norm(c.model.gravity(c.x)) <= g


# Kinematics and trajectories ----------------------------------------------------------------------------------------


@cell("kinematics.inverse_kinematics")
def _inverse(c: Case) -> None:
    target = np.real(c.model.pose(c.x))
    found = inverse.inverse_kinematics(c.robot, target, q0=c.q + 0.05, rows="x y z")
    close(np.real(c.model.pose(_joined(c, found.q)))[:3, 3], target[:3, 3], 1e-6)


def _joined(c: Case, q: Any) -> Any:
    return np.append(q, c.x[c.n :])


@cell("kinematics.all_solutions")
def _solutions(c: Case) -> None:
    """Of the arm with parallel axes; the skew one has no closed form."""
    try:
        inverse.all_solutions(c.robot, np.eye(4))
    except FeatureError:
        raise
    except NotApplicable:
        pass
    flat = [
        replace(j, geometry=replace(j.geometry, alpha=0)) for j in c.robot.tree if isinstance(j.geometry, StandardDH)
    ]
    planar = replace(c.robot, tree=tuple(flat), payloads=(), expressions=None)
    model = EnergyModel(planar)
    target = np.real(model.pose(c.x))
    solutions = inverse.all_solutions(planar, target)
    assert len(solutions) >= 1
    for found in solutions:
        close(np.real(model.pose(_joined(c, found))), target, 1e-6)


@cell("kinematics.reach")
def _reach(c: Case) -> None:
    """No configuration reaches farther, and one reaches nearly as far."""
    qs = np.random.default_rng(0).uniform(-3, 3, (100, c.n))
    far = max(np.linalg.norm(np.real(c.model.pose(_joined(c, q)))[:3, 3]) for q in qs)
    assert 0.6 * reach(c.robot) < far <= reach(c.robot) * (1 + 1e-9)


@cell("trajectory.follow")
def _follow(c: Case) -> None:
    start = np.real(c.model.pose(c.x))
    line = trajectory.line(start[:3, 3], start[:3, 3] + [0.02, 0, 0], duration=0.5)
    found = trajectory.follow(c.robot, line, c.q, rows="x y", limits=False)
    close(np.real(c.model.pose(_joined(c, found(0.25))))[:2, 3], start[:2, 3] + [0.01, 0], 1e-5)


# Motion -------------------------------------------------------------------------------------------------------------


@cell("motion.torque_breakdown")
def _breakdown(c: Case) -> None:
    found = motion.torque_breakdown(c.dyn, c.move, dt=0.1)
    close(found.tau, c.along(found.q, found.qd, found.qdd))
    close(sum(found.by_effect.values()), found.tau)
    close(found.springs, [c.model.springs(x) for x in found.q])
    across = found.springs + found.friction + found.tip
    close(found.bodies.sum(axis=2) + found.rotors.sum(axis=2) + across, found.tau)


@cell("motion.feasibility")
def _feasibility(c: Case) -> None:
    found = motion.feasibility(c.dyn, c.move, tau_max=TAU_MAX, dt=0.05)
    t = np.linspace(0, c.move.duration, 13)
    close(found.use["torque"], np.abs(c.torques(t, c.move)).max(axis=0) / TAU_MAX, 2e-2)  # other times at the peaks


@cell("motion.sizing")
def _sizing(c: Case) -> None:
    found = motion.sizing(c.dyn, c.move, dt=0.05)
    t = np.linspace(0, c.move.duration, 13)
    close(found.peak_torque, np.abs(c.torques(t, c.move)).max(axis=0), 2e-2)  # other times at the peaks


@cell("motion.scale_to_torque")
def _scale(c: Case) -> None:
    limit = 1.5 * np.abs(c.torques(np.linspace(0, c.move.duration, 7), c.move)).max()
    found = motion.scale_to_torque(c.move, c.dyn, tau_max=limit, v_max=100.0, a_max=1e4)
    used = np.abs(c.torques(np.linspace(0, found.duration, 41), found)).max()
    assert 0.97 * limit < used < limit * (1 + 1e-3)


@cell("motion.time_optimal")
def _time_optimal(c: Case) -> None:
    limit = 1.5 * np.abs(c.torques(np.linspace(0, c.move.duration, 7), c.move)).max()
    found = motion.time_optimal(c.move, c.dyn, tau_max=limit, v_max=100.0, a_max=1e5, points=60)
    t = np.linspace(0.02, 0.98, 25) * found.duration
    used = np.abs(c.torques(t, found)).max()
    assert 0.9 * limit < used < 1.03 * limit  # of a grid of 60 points


# Simulation ---------------------------------------------------------------------------------------------------------


STEP, STEPS = 0.004, 5


def _marched(c: Case) -> Any:
    """Links after some steps of Runge and Kutta on the second model, under PD control of the motors."""
    motors = np.array(c.dyn.coordinates.motors)
    k = np.array([np.inf if joint.elastic is None else joint.elastic.stiffness for joint in c.robot.joints])
    theta = c.q + (c.rigid.gravity(c.q) + c.rigid.springs(c.q)) / k  # motors that hold the links at the start
    joined = c.dyn.coordinates.joined

    def rate(y: Any) -> Any:
        x, xd = np.split(y, 2)
        tau = np.zeros(c.model.size)
        tau[motors] = KP * (c.q + 0.2 - x[motors]) - KD * xd[motors]
        return np.concatenate([xd, c.model.forward_dynamics(x, xd, tau)])

    y = np.array([*joined(c.q, theta), *joined(c.qd, c.qd)])
    for _ in range(STEPS):
        a = rate(y)
        b = rate(y + STEP / 2 * a)
        d = rate(y + STEP / 2 * b)
        y = y + STEP / 6 * (a + 2 * b + 2 * d + rate(y + STEP * d))
    return y[: c.n]


@cell("simulation.simulate")
def _simulate(c: Case) -> None:
    close(*c.simulated())


@cell("simulation.imperfect_models")
def _imperfect(c: Case) -> None:
    """The full model tracks to the integrator's error; a model without a term that the arm has does not."""
    law = control.ComputedTorque(c.dyn, 100, 20)
    runs = imperfect_models(c.dyn, law, c.move, 0.05, 1e-3, integrator="rk4")
    full, *others = runs.values()
    assert np.abs(full.error).max() < 1e-6
    assert max(np.abs(run.error).max() for run in others) > 1e-6


@cell("simulation.monte_carlo")
def _monte_carlo(c: Case) -> None:
    """Arms that do not differ from the model move as the arm does."""
    spread: dict[str, Any] = {"samples": 2, "mass": 0.0, "com": 0.0, "friction": 0.0}
    course = armdyn.point_to_point(c.q, c.q + 0.2, "quintic", duration=0.03)
    found = monte_carlo(c.robot, control.PID(KP, KD), course, 0.03, 1e-3, integrator="rk4", q0=c.q, qd0=c.qd, **spread)
    run = simulate(c.dyn, control.PID(KP, KD), course, 0.03, 1e-3, integrator="rk4", q0=c.q, qd0=c.qd)
    close(found.largest_error[0], np.abs(run.error).max(axis=0), 1e-7)
    _simulate(c)


# Identification -----------------------------------------------------------------------------------------------------


@cell("identification.identify")
def _identify(c: Case) -> None:
    """Torques of the second model, reproduced on another motion; static friction is left out and reported."""
    truth = Case(c.robot.without("static_friction"))
    found = identification.identify(c.robot, truth.samples, friction="plain")
    close(found.predict([0.0], c.q[None], c.qd[None], c.qdd[None])[0], truth.tau, 1e-6)  # of least squares
    assert ("static_friction" in c.robot.features) == ("static_friction" in found.robot.left_out)


@cell("identification.observe")
def _observe(c: Case) -> None:
    base = parameters.base_parameters(c.robot, tuple(parameters.standard.FAMILIES))
    found = identification.observe(c.robot, c.samples, base)
    Y = np.concatenate([rows.Y for rows in found.rows()])
    close(Y @ base.values, c.samples.tau)


@cell("identification.predicted_std", "identification.excite")
def _excite(c: Case) -> None:
    """The regressor along the motion found has the condition that it reports, and tells all parameters."""
    found = identification.excite(
        c.robot, harmonics=Harmonics(count=2, period=3.0), search=Search(starts=1, iterations=2), v_max=3.0, a_max=20.0
    )
    base = parameters.base_parameters(c.robot, ("inertial", "friction"))
    predicted = identification.predicted_std(base, found.motion, 1.0, rate=20.0)
    t = np.arange(round(20.0 * found.motion.duration)) / 20.0
    qd = found.motion(t, 1)
    qd[np.abs(qd) < 1e-9] = 0  # at rest, not in the direction of a rounding
    W = np.vstack(list(base.regressor(found.motion(t), qd, found.motion(t, 2))))
    close(predicted.std, np.sqrt(np.diag(np.linalg.inv(W.T @ W))), 1e-5)  # of an ill-conditioned inverse
    _base(c)


@cell("identification.select_friction")
def _select(c: Case) -> None:
    laws = ("coulomb and viscous", "stribeck")
    found = identification.select_friction(c.robot, c.samples, laws=laws)
    other = c.robot.features.keys() & {"static_friction", "asymmetric_friction", "friction_law"}
    assert max(each.best.sigma for each in found.joints) < (0.3 if other else 1e-6)  # other laws than those tried


@cell("identification.identify_payload")
def _identify_payload(c: Case) -> None:
    bare = c if "static_friction" not in c.robot.features else Case(c.robot.without("static_friction"))
    heavy = Case(bare.robot.with_payload(2.0, (0.03, 0.02, 0.05)))
    found = identification.identify_payload(c.robot, heavy.samples, bare.samples)
    assert abs(found.mass - 2.0) < 1e-3


@cell("identification.identifiable")
def _identifiable(c: Case) -> None:
    """Its base parameters give the torques of the second model, and its null space changes none of them."""
    found = identification.identifiable(c.robot, include=tuple(parameters.standard.FAMILIES))
    base = found.base
    close(base.regressor(c.q, c.qd, c.qdd) @ base.values, c.tau)
    for change in found.null_space.values():
        whole = np.array([change.get(name, 0.0) for name in base.standard])
        close(base.matrix @ whole, np.zeros(base.count), 1e-9)


@cell("identification.identify_stiffness")
def _stiffness(c: Case) -> None:
    """Motor torques of the second model along any motion of links and motors: links do not enter them."""
    if not c.dyn.coordinates.doubled:
        assert "elastic" in str(refusal(lambda: identification.identify_stiffness(c.robot, {})))
        return
    t = np.arange(0, 8, 0.01)
    random = np.random.default_rng(2)
    w, a, phase = random.uniform(2, 9, (c.model.size, 3)), random.uniform(0.1, 0.3), random.uniform(0, 6, (3,))
    angle = t[:, None, None] * w + phase
    x, xd, xdd = (np.sum(y, axis=2) for y in (a * np.sin(angle), a * w * np.cos(angle), -a * w**2 * np.sin(angle)))
    motors = list(c.dyn.coordinates.motors)
    tau = np.array([c.model.inverse_dynamics(*state)[motors] for state in zip(x, xd, xdd, strict=True)])
    log = {"t": t, "q": x[:, : c.n], "theta": x[:, motors], "tau": tau}
    for found in identification.identify_stiffness(c.robot, log).joints:
        joint = next(joint for joint in c.robot.joints if joint.name == found.name)
        close(found.stiffness / joint.elastic.stiffness, 1, 1e-3)  # of the low-pass


@cell("identification.payload_from_sensor")
def _sensor(c: Case) -> None:
    """Weight and inertia of 2 kg at the tool, in its axes."""
    s, com, m = c.samples, np.array([0.03, 0.02, 0.05]), 2.0
    wrenches = []
    for q, qd, qdd in zip(s.q[:60], s.qd[:60], s.qdd[:60], strict=True):
        x, xd, xdd = (_pad(c, v) for v in (q, qd, qdd))
        T, J = np.real(c.model.pose(x)), c.model.jacobian(x).real
        a = J @ xdd + c.drift(x, xd)
        w, R, p = (J @ xd)[3:], T[:3, :3], T[:3, :3] @ com
        force = m * (a[:3] + np.cross(a[3:], p) + np.cross(w, np.cross(w, p)) - c.model.gravity_vector)
        wrenches.append(np.concatenate([R.T @ force, R.T @ np.cross(p, force)]))
    found = identification.payload_from_sensor(c.robot, s.q[:60], s.qd[:60], s.qdd[:60], np.array(wrenches))
    close(np.append(found.mass, found.com), np.append(m, com), 1e-6)


def _pad(c: Case, v: Any) -> Any:
    return np.append(v, np.zeros(c.model.size - c.n))


# Files, reports, sweeps ---------------------------------------------------------------------------------------------


@cell("export.model")
def _export(c: Case) -> None:
    _run(c, next(iter(texts(armdyn.export.model(c.robot, ("inverse_dynamics",)), "python").values())))


@cell("export.write")
def _write(c: Case) -> None:
    with TemporaryDirectory() as folder:
        written = armdyn.export.write(c.robot, "python", folder, ("inverse_dynamics",))
        _run(c, written[0].read_text(encoding="utf-8"))


def _run(c: Case, module: str) -> None:
    """The exported Python module on the state of the case."""
    space: dict[str, Any] = {"__name__": "exported"}
    exec(module, space)
    close(space["inverse_dynamics"](c.x, c.xd, c.xdd), c.tau)


@cell("jax.wrap")
def _jax(c: Case) -> None:
    try:
        functions = _double(lambda: armdyn.jax.wrap(c.dyn))
    except MissingExtra:
        return  # the gate has let the robot pass; what follows needs JAX
    import jax

    state = (c.x, c.xd, c.xdd)
    close(functions.inverse_dynamics(*state), c.tau)
    along = jax.jvp(functions.inverse_dynamics, state, (c.xd, c.xdd, c.x))[1]
    close(along, _along(c), DIFFERENCES)


@cell("casadi.wrap")
def _casadi(c: Case) -> None:
    try:
        call = armdyn.casadi.wrap(c.dyn).inverse_dynamics
    except MissingExtra:
        return  # the gate has let the robot pass; what follows needs CasADi
    state = (c.x, c.xd, c.xdd)
    close(np.array(call(*state)).ravel(), c.tau)
    slopes = [np.array(each) for each in call.jacobian()(*state, c.tau)]
    along = sum(slope @ each for slope, each in zip(slopes, (c.xd, c.xdd, c.x), strict=True))
    close(along, _along(c), DIFFERENCES)


@cell("torch.wrap")
def _torch(c: Case) -> None:
    try:
        functions = armdyn.torch.wrap(c.dyn)
    except MissingExtra:
        return  # the gate has let the robot pass; what follows needs PyTorch
    import torch

    state = tuple(torch.as_tensor(each) for each in (c.x, c.xd, c.xdd))
    close(functions.inverse_dynamics(*state).numpy(), c.tau)
    along = torch.func.jvp(functions.inverse_dynamics, state, (state[1], state[2], state[0]))[1]
    close(along.numpy(), _along(c), DIFFERENCES)


def _double(make: Callable[[], Any]) -> Any:
    """With JAX in double precision, if it is there."""
    if find_spec("jax"):
        import jax

        jax.config.update("jax_enable_x64", True)
    return make()


def _along(c: Case) -> Any:
    """How the torques of the second model change along (xd, xdd, x)."""
    states = [np.concatenate(each) for each in ((c.x, c.xd, c.xdd), (c.xd, c.xdd, c.x))]
    return c.difference(lambda s: c.model.inverse_dynamics(*np.split(s, 3)), *states)


def _file(ending: str) -> Check:
    def check(c: Case) -> None:
        """What is read back has the torques of the second model."""
        with TemporaryDirectory() as folder, warnings.catch_warnings():
            if ending == "urdf" and any(j.compound and j.compound.kind == "ball" for j in c.robot.tree):
                assert "no ball joint" in str(refusal(lambda: c.robot.save(f"{folder}/robot.{ending}")))
                return check(type(c)(random_robot(3, 4, free_root=True)))
            warnings.simplefilter("ignore", armdyn.ModelWarning)  # limits that a format lacks
            again = armdyn.load(c.robot.save(f"{folder}/robot.{ending}"))
        return close(armdyn.compile(again).inverse_dynamics(c.x, c.xd, c.xdd), c.tau)

    return check


CELLS |= {"formats.toml": _file("toml"), "formats.urdf": _file("urdf"), "formats.mjcf": _file("xml")}


@cell("sweeps.sweep")
def _sweep(c: Case) -> None:
    found = sweeps.sweep(c.robot, {"payload": [0.0, 1.0]}, measures=("holding_torque",), rest=c.q[None], motion=c.move)
    loaded = EnergyModel(c.robot.with_payload(1.0))
    held = np.abs(np.stack([c.held, loaded.gravity(c.x) + loaded.springs(c.x)]))
    close(found.results, held)


@cell("studio.serve")
def _studio(c: Case) -> None:
    try:
        served = serve(c.robot)
    except armdyn.errors.MissingExtra:  # after the features were compared
        answers = Answers(c.robot)
    else:
        answers = served.answers
        served.stop()
    close([load.torque for load in answers.loads(c.q)], c.held)


def refusal(call: Callable[[], Any]) -> Exception:
    """The error of a call that must fail."""
    try:
        call()
    except FeatureError:
        raise
    except armdyn.ArmdynError as error:
        return error
    raise AssertionError("not refused")


# Reduced models -----------------------------------------------------------------------------------------------------


@cell("analysis.significance")
def _significance(c: Case) -> None:
    found = analysis.significance(c.robot, motion=(c.q, c.qd, c.qdd))
    D, _, constant = found.coefficients(c.q)
    close(D, c.M)
    close(constant, c.held)


@cell("analysis.prune")
def _prune(c: Case) -> None:
    """The whole model is the second one, and the reduced one is within its bound."""
    box = motion_box(c.robot, q_range=(c.q - 0.05, c.q + 0.05), v_max=np.abs(c.qd), a_max=np.abs(c.qdd))
    found = analysis.prune(c.robot, 50.0, box=box)
    values = _values(c)
    close(_number(tuple(found.full.outputs["tau"]), values), c.tau - c.model.friction(c.xd))
    error = np.abs(_number(tuple(found.graph.outputs["tau"]), values) - (c.tau - c.model.friction(c.xd)))
    assert (error <= found.bound + 1e-9).all()


@cell("mechanics.loop_forces")
def _loop_forces(c: Case) -> None:
    if not c.robot.constrained:
        assert "loop" in str(refusal(lambda: mechanics.loop_forces.joint_reactions(c.robot, c.x, c.xd, c.xdd)))
        return
    found = mechanics.loop_forces.joint_reactions(c.robot, c.model.links @ c.x + c.model.constant, c.xd, c.xdd)
    close(c.on_base(found), _base_force(c))


# Diagnosis ------------------------------------------------------------------------------------------------------------


@cell("diagnosis.explain")
def _explain(c: Case) -> None:
    """The torques of the second model are those of the robot: there is nothing to explain."""
    found = armdyn.explain(c.robot, (c.q[None], c.qd[None], c.qdd[None], np.real(c.tau)[None, : c.n]))
    assert found.status == "equal" and not found.causes, found


@cell("diagnosis.fix")
def _fix(c: Case) -> None:
    """A robot without findings keeps its torques."""
    found = armdyn.fix(c.robot)
    assert not found.repairs, found
    close(c.second(found.robot).inverse_dynamics(c.x, c.xd, c.xdd), c.tau)
