"""Checks of kinematics, trajectories and motions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from armdyn import motion, trajectory
from armdyn.errors import FeatureError, NotApplicable
from armdyn.kinematics import inverse, solutions
from armdyn.kinematics.reach import reach
from armdyn.robot.parts import StandardDH
from support.cells.case import TAU_MAX, Case, cell, close
from support.energy_model import EnergyModel


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
    every = inverse.all_solutions(planar, target)
    assert len(every) >= 1
    for found in every:
        close(np.real(model.pose(_joined(c, found))), target, 1e-6)


@cell("kinematics.solve")
def _solve(c: Case) -> None:
    target = np.real(c.model.pose(c.x))
    for q in solutions.solve(c.robot, target[:3, 3], c.q + 0.05).q:
        close(np.real(c.model.pose(_joined(c, q)))[:3, 3], target[:3, 3], 1e-6)


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
    found = motion.feasibility(c.dyn, c.move, limits={"tau_max": TAU_MAX}, dt=0.05)
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
    found = motion.scale_to_torque(c.move, c.dyn, limits={"tau_max": limit, "v_max": 100.0, "a_max": 1e4})
    used = np.abs(c.torques(np.linspace(0, found.duration, 41), found)).max()
    assert 0.97 * limit < used < limit * (1 + 1e-3)


@cell("motion.time_optimal")
def _time_optimal(c: Case) -> None:
    limit = 1.5 * np.abs(c.torques(np.linspace(0, c.move.duration, 7), c.move)).max()
    found = motion.time_optimal(c.move, c.dyn, limits={"tau_max": limit, "v_max": 100.0, "a_max": 1e5}, points=60)
    t = np.linspace(0.02, 0.98, 25) * found.duration
    used = np.abs(c.torques(t, found)).max()
    assert 0.9 * limit < used < 1.03 * limit  # of a grid of 60 points


@cell("motion.largest_payload")
def _largest_payload(c: Case) -> None:
    """The second model of the loaded robot reaches the limit."""
    t = np.linspace(0, c.move.duration, 21)
    limit = 1.5 * np.abs(c.torques(t, c.move)).max()
    found = motion.largest_payload(c.dyn, c.move, limits={"tau_max": limit}, com=(0.1, 0.2, 0.05))
    at = np.append(t, found.time)
    assert 0.999 * limit < np.abs(Case(found.loaded).torques(at, c.move)).max() < limit * (1 + 1e-3)


@cell("motion.shortest_cycle")
def _shortest_cycle(c: Case) -> None:
    limit = 2.0 * np.abs(c.torques(np.linspace(0, c.move.duration, 7), c.move)).max()
    found = motion.shortest_cycle(c.dyn, c.move, 0.2, limits={"tau_max": limit, "v_max": 100.0, "a_max": 1e5})
    t = np.linspace(0.02, 0.98, 25) * found.duration
    used = np.abs(Case(c.robot.with_payload(0.2)).torques(t, found.motion)).max()
    assert 0.9 * limit < used < 1.01 * limit  # at 25 times


@cell("motion.plan")
def _plan(c: Case) -> None:
    """Torques of the second model along the planned motion; of elastic joints there are none."""
    found = motion.plan(c.robot, [c.q, c.q + 0.1], duration=1.0, profile="quintic", dt=0.25)
    t = np.linspace(0, 1, 5)
    close(found.motion(t), c.q + 0.1 * (t**3 * (10 - 15 * t + 6 * t**2))[:, None])
    if "elastic" not in c.robot.features:
        close(found.torques(t), c.torques(t, found.motion))


@cell("motion.evaluate")
def _evaluate(c: Case) -> None:
    found = motion.evaluate(c.robot, c.x, c.xd, c.xdd)
    close(found.tau, c.tau)
    close(found.M, c.M)
    close(sum(found.causes.values()), found.tau)
