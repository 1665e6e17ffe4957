"""Faults of logs and models: 22 ways to be wrong, each with the rules of findings that name its cause."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import armdyn
from armdyn.algebra import Vec3
from armdyn.identification.log.log import Log
from armdyn.robot import Robot
from armdyn.typing import Array

Case = tuple[Robot, Log, str]


def faults(robot: Robot, log: Log, j: int = 1) -> dict[str, Case]:
    """{kind: (robot, log, rule that names the cause)}, the faults of one joint being at joint j."""
    n, N, rng = robot.n, len(log), np.random.default_rng(1)
    order = list(range(n))
    order[j], order[j + 1] = order[j + 1], order[j]
    own = np.arange(n) == j
    whole = replace(log, qd=None)

    def torques(change: Callable[[Array], Array]) -> Log:
        tau = whole.tau.copy()
        tau[:, j] = change(tau[:, j])
        return replace(whole, tau=tau)

    def late(k: int) -> Log:
        return replace(whole, t=log.t[k:], q=log.q[k:], tau=log.tau[:-k])

    there = np.ones(N, dtype=bool)
    for share in (0.2, 0.4, 0.6, 0.8):
        there[int(share * N) : int(share * N) + max(5, int(0.3 / log.period))] = False
    twice = np.arange(N)
    twice[rng.choice(N - 2, N // 20, replace=False) + 1] -= 1
    peaks = np.zeros(N)
    peaks[rng.choice(N - 10, 25, replace=False) + 5] = 8 * log.tau[:, j].std() * rng.choice([-1, 1], 25)
    most, step = 0.6 * np.abs(log.tau[:, j]).max(), np.ptp(log.tau[:, j]) / 25
    held = np.where(own, log.q[0], log.q)
    weight = armdyn.compile(robot).gravity(log.q)
    return {
        "swapped torques": (robot, replace(whole, tau=log.tau[:, order]), "order of torques"),
        "swapped positions": (robot, replace(whole, q=log.q[:, order]), "order of positions"),
        "sign of torque": (robot, torques(lambda x: -x), "sign of torque"),
        "sign of position": (robot, replace(whole, q=np.where(own, -log.q, log.q)), "sign of position"),
        "one gain": (robot, torques(lambda x: 1.5 * x), "gain of one joint"),
        "all gains": (robot, replace(whole, tau=1.3 * log.tau), "weight share"),
        "degrees": (robot, replace(whole, q=np.degrees(log.q)), "unit of position"),
        "milliseconds": (robot, replace(whole, t=1e3 * log.t), "unit of time"),
        "delay of 1": (robot, late(1), "delay"),
        "delay of 3": (robot, late(3), "delay"),
        "delay of 10": (robot, late(10), "delay"),
        "zero offset": (robot, replace(whole, q=log.q + 0.2 * own), "zero of position"),
        "gravity compensated": (robot, replace(whole, tau=log.tau - weight), "gravity missing"),
        "gravity missing": (_turned(robot, np.zeros((3, 3))), whole, "gravity of the model"),
        "tilted": (_turned(robot, _about_x(math.radians(10))), whole, "direction of gravity"),
        "upside down": (_turned(robot, _about_x(math.pi)), whole, "direction of gravity"),
        "dropped samples": (robot, replace(whole, t=log.t[there], q=log.q[there], tau=log.tau[there]), "gaps"),
        "doubled samples": (robot, replace(whole, q=log.q[twice], tau=log.tau[twice]), "clock rebuilt"),
        "clipped": (robot, torques(lambda x: np.clip(x, -most, most)), "saturated torque"),
        "quantised": (robot, torques(lambda x: np.round(x / step) * step), "resolution"),
        "spikes": (robot, torques(lambda x: x + peaks), "spikes"),
        "frozen joint": (robot, replace(whole, q=held), "joint at rest"),
    }


def _about_x(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def _turned(robot: Robot, R: Array) -> Robot:
    g = R @ np.array([float(x) for x in robot.gravity])
    return replace(robot, gravity=Vec3(*(float(x) for x in g)), expressions=None)
