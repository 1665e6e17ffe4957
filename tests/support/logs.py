"""Logs of robots with friction, by inverse dynamics of a periodic motion, with noise on positions and torques."""

from __future__ import annotations

import dataclasses
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import armdyn
from armdyn.dynamics.presliding import torques_along
from armdyn.identification import process
from armdyn.identification.clock.stamps import rebuilt
from armdyn.identification.log.log import Log
from armdyn.robot import Robot
from armdyn.robot.parts import Friction
from armdyn.trajectory.fourier import Fourier, fourier
from armdyn.typing import Array


@cache
def rubbing(name: str) -> Robot:
    """A catalog robot, or a random one with a sliding joint, whose friction is about as strong as its inertia."""
    robot = armdyn.random_robot(5, 4, prismatic=0.5, rotors=True) if name == "random" else armdyn.load(name)
    inertia = iter(np.diag(armdyn.compile(robot).mass_matrix(np.full(robot.n, 0.3))))
    rng = np.random.default_rng(0)
    tree = []
    for joint in robot.tree:
        if joint.kind != "fixed":
            m = float(next(inertia))
            friction = Friction(viscous=m * rng.uniform(0.5, 2), coulomb=m * rng.uniform(0.5, 2))
            joint = dataclasses.replace(joint, friction=friction)
        tree.append(joint)
    return dataclasses.replace(robot, tree=tuple(tree), expressions=None)


def excitation(robot: Robot, seed: int, duration: float = 10.0) -> Fourier:
    """Five harmonics about the middle of the joints' ranges."""
    rng = np.random.default_rng(seed)
    size = np.array([0.5 if joint.kind == "revolute" else 0.15 for joint in robot.joints])
    a, b = rng.uniform(-1, 1, (2, robot.n, 5)) * size[:, None]
    return fourier([_middle(joint.limits) for joint in robot.joints], a, b, duration)


def point_to_point(n: int, t: Array, seed: int) -> tuple[Array, Array, Array]:
    """(N, n) positions, velocities and accelerations: one or two joints at a time move, the others rest."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = (np.zeros((len(t), n)) for _ in range(3))
    place, begin = np.zeros(n), float(t[0])
    while begin < t[-1]:
        duration, goal = rng.uniform(0.8, 1.6), place.copy()
        joints = rng.choice(n, 1 + int(rng.random() < 0.4), replace=False)
        goal[joints] = rng.uniform(-1.2, 1.2, len(joints))
        inside = (t >= begin) & (t < begin + duration)
        s, step = ((t[inside] - begin) / duration)[:, None], goal - place
        q[inside] = place + step * (10 * s**3 - 15 * s**4 + 6 * s**5)
        qd[inside] = step * (30 * s**2 - 60 * s**3 + 30 * s**4) / duration
        qdd[inside] = step * (60 * s - 180 * s**2 + 120 * s**3) / duration**2
        begin, place = begin + duration, goal
    q[t >= begin] = place
    return q, qd, qdd


def _middle(limits: Any) -> float:
    known = limits is not None and limits.lower is not None and limits.upper is not None
    return (float(limits.lower) + float(limits.upper)) / 2 if known else 0.0


def simulated(
    robot: Robot, seed: int = 0, *, rate: float = 250.0, position_noise: float = 2e-5, torque_noise: float = 0.02
) -> Log:
    """A log with velocities. torque_noise: as a share of each torque's standard deviation."""
    rng = np.random.default_rng(seed)
    course = excitation(robot, seed + 100)
    t = np.arange(0, course.duration, 1 / rate)
    q, qd, qdd = (course(t, order) for order in range(3))
    tau = armdyn.compile(robot).inverse_dynamics(q, qd, qdd)
    tau = tau + torque_noise * tau.std(axis=0) * rng.standard_normal(tau.shape)
    names = tuple(joint.name for joint in robot.joints)
    return Log(t, q + position_noise * rng.standard_normal(q.shape), tau, joints=names, source="simulation")


def recomputed_errors(path: Path, log: Log) -> Array:
    """(n,) rms error over rms torque where the joint moves, from the file and the log, by filters of our own here."""
    robot = armdyn.load(path)
    samples = process(rebuilt(log), robot)
    tau = torques_along(robot, samples.q, samples.qd, samples.qdd)
    step = round(1 / 25 / float(samples.t[1] - samples.t[0]))
    half = 10 * step  # a low-pass at 10 Hz: a sinc under a Kaiser window
    k = np.arange(-half, half + 1)
    window = np.sinc(k * 0.8 / step) * np.kaiser(2 * half + 1, 5.0)
    window /= window.sum()
    found = []
    for j in range(robot.n):
        both = samples.tau[:, j] - tau[:, j], samples.tau[:, j]
        padded = (np.pad(x, half, mode="reflect", reflect_type="odd") for x in both)
        left, right = (np.convolve(x, window, "valid")[::step] for x in padded)
        moving = (np.abs(samples.qd[::step, j]) > 0.02) & samples.keep[::step].any(axis=1)
        found.append(np.sqrt((left[moving] ** 2).mean() / (right[moving] ** 2).mean()))
    return np.array(found)
