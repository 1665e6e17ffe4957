"""A user's script: public functions called, their results annotated. The tests type-check it strictly and run it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_type

import numpy as np

import armdyn
from armdyn.equations import Certificate, Comparison, Equations
from armdyn.identification import Fit
from armdyn.kinematics.inverse import InverseKinematics
from armdyn.mechanics import kane, kinematics, lagrange, newton_euler
from armdyn.mechanics.quantity import Quantity
from armdyn.mechanics.registry import Formulation
from armdyn.motion import Feasibility, ScaledMotion, Sizing, TimeOptimal, TorqueBreakdown
from armdyn.parameters import BaseParameters, StandardParameters, standard_parameters
from armdyn.simulation import Run
from armdyn.sweeps import Sweep
from armdyn.trajectory import PiecewisePolynomial
from armdyn.typing import Array, Floats


def main() -> None:
    robot: armdyn.Robot = armdyn.load("planar2r")
    assert_type(armdyn.load("planar2r"), armdyn.Robot)
    assert_type(robot.with_payload(0.5), armdyn.Robot)
    assert_type(robot.without("friction"), armdyn.Robot)
    q, qd, qdd = np.array([0.3, -0.8]), np.array([1.0, 0.5]), np.array([0.2, 2.0])

    # Formulations: an array of numbers for numbers, and the formula behind it.
    tau: Floats = kane.inverse_dynamics(robot, q, qd, qdd)
    assert_type(kane.inverse_dynamics(robot, q, qd, qdd), Floats)
    assert_type(newton_euler.inverse_dynamics(robot, [0.3, -0.8], (1.0, 0.5), qdd), Floats)
    assert_type(lagrange.mass_matrix(robot, q), Floats)
    assert_type(kinematics.pose(robot, q), Floats)
    assert_type(kinematics.jacobian(robot, q, "link1"), Floats)
    assert len(lagrange.mass_matrix.formula(robot, q)) == robot.n
    entries: tuple[Formulation, ...] = tuple(armdyn.formulations())
    function: Quantity[..., object] = entries[0].function("inverse_dynamics")
    assert np.allclose(function(robot, q, qd, qdd), tau)

    # The compiled dynamics.
    dyn: armdyn.Dynamics = armdyn.compile(robot)
    assert_type(dyn.inverse_dynamics(q, qd, qdd), Floats)
    assert_type(dyn.forward_dynamics(q, qd, tau), Floats)
    assert_type(dyn.mass_matrix(q), Floats)
    assert_type(dyn.coriolis(q, qd), Floats)
    assert_type(dyn.gravity(q), Floats)
    assert_type(dyn.pose(q), Floats)
    assert_type(dyn.jacobian(q), Floats)
    assert_type(dyn.regressor(q, qd, qdd), Floats)
    assert_type(dyn.parameters, Floats)
    names: Sequence[str] = dyn.parameter_names
    assert len(names) == len(dyn.parameters)
    assert np.allclose(dyn.inverse_dynamics(q, qd, qdd), tau)

    # Equations and parameters.
    equations: Equations = armdyn.derive(robot, symbols="inertial", progress=lambda step, done: None)
    certificate: Certificate = armdyn.certify(robot, points=1)
    comparison: Comparison = armdyn.compare(robot, samples=1)
    base: BaseParameters = armdyn.base_parameters(robot)
    standard: StandardParameters = standard_parameters(robot)
    assert certificate.holds and comparison.rows and base.count <= len(standard) and equations.size["M"] > 0

    # Motion.
    move: PiecewisePolynomial = armdyn.point_to_point([0.0, 0.0], q, "quintic", duration=1.0)
    limits = dyn.inverse_dynamics(move(0.5), move(0.5, 1), move(0.5, 2)) ** 2 + 200.0
    scaled: ScaledMotion = armdyn.scale_to_torque(move, dyn, limits={"tau_max": limits})
    best: TimeOptimal = armdyn.time_optimal(move, dyn, limits={"tau_max": limits})
    verdict: Feasibility = armdyn.feasibility(dyn, scaled, limits={"tau_max": limits})
    parts: TorqueBreakdown = armdyn.torque_breakdown(dyn, move)
    loads: Sizing = armdyn.sizing(dyn, move)
    solution: InverseKinematics = armdyn.inverse_kinematics(robot, dyn.pose(q), q0=q)
    assert verdict.holds and best.duration <= scaled.duration + 1e-6 and parts is not None and loads is not None
    assert np.allclose(dyn.pose(solution.q), dyn.pose(q), atol=1e-8)

    # Simulation, identification, sweeps.
    run: Run = armdyn.simulate(dyn, armdyn.ComputedTorque(dyn, kp=100.0, kd=20.0), move)
    assert_type(run.q, Array)
    t = np.arange(0, 4, 1e-3)
    wave = np.column_stack([np.sin(2 * t), np.cos(3 * t) + 0.5 * np.sin(7 * t)])
    rate = np.column_stack([2 * np.cos(2 * t), -3 * np.sin(3 * t) + 3.5 * np.cos(7 * t)])
    change = np.column_stack([-4 * np.sin(2 * t), -9 * np.cos(3 * t) - 24.5 * np.sin(7 * t)])
    log = {"t": t, "q": wave, "tau": dyn.inverse_dynamics(wave, rate, change)}
    fit: Fit = armdyn.identify(robot, log, include=("inertial",))
    assert fit.base.count == base.count
    sweep: Sweep = armdyn.sweep(robot, {"payload": [0.0, 1.0]}, measures=["reach"])
    assert sweep.robot == robot.name


if __name__ == "__main__":
    main()
