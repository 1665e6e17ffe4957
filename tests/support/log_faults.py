"""Faults of logs and models: 22 ways to be wrong, each with the rules of findings that name its cause."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

import armdyn
from armdyn.algebra import Vec3
from armdyn.findings import Finding
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


# The 21 faults of benchmarks/identification_faults.py ---------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """A log with a fault. rules: of findings that name it; empty: nothing may be found. where: joints named with it."""

    robot: Robot
    log: Log
    rules: tuple[str, ...]
    where: tuple[str, ...] = ()

    def named_first(self, found: Sequence[Finding]) -> bool:
        """Whether the first finding names the fault and its place; none, if there is no fault."""
        if not self.rules or not found:
            return not self.rules and not found
        return found[0].rule in self.rules and all(name in found[0].where for name in self.where)


def league_faults(robot: Robot, log: Log) -> dict[str, Fault]:
    """Name -> fault: the log as it is and twenty ways to be wrong."""
    n, whole = robot.n, replace(log, qd=None)
    names = [joint.name for joint in robot.joints]
    weight = armdyn.compile(robot).gravity(log.q)
    second, before_last, last = 1, n - 2, n - 1
    signs = ("sign of torque", "sign of position")

    def swapped(x: Array, i: int, j: int) -> Array:
        order = list(range(n))
        order[i], order[j] = order[j], order[i]
        return x[:, order]

    def scaled(x: Array, j: int, factor: float) -> Array:
        return np.where(np.arange(n) == j, factor * x, x)

    def late(seconds: float) -> Log:
        k = max(1, round(seconds / log.period))
        return replace(whole, t=log.t[k:], q=log.q[k:], tau=log.tau[:-k])

    def torques(x: Array, rules: tuple[str, ...], *joints: int) -> Fault:
        return Fault(robot, replace(whole, tau=x), rules, tuple(names[j] for j in joints))

    def positions(x: Array, rules: tuple[str, ...], *joints: int) -> Fault:
        return Fault(robot, replace(whole, q=x), rules, tuple(names[j] for j in joints))

    def placed(R: Array) -> Fault:
        return Fault(_turned(robot, R), whole, ("direction of gravity",))

    return {
        "as it is": Fault(robot, whole, ()),
        "torques 1 and 2 swapped": torques(swapped(log.tau, 0, 1), ("order of torques",), 0, 1),
        "torques of the last two swapped": torques(
            swapped(log.tau, before_last, last), ("order of torques",), before_last, last
        ),
        "positions 2 and 3 swapped": positions(swapped(log.q, 1, 2), ("order of positions",), 1, 2),
        "torque 1 reversed": torques(scaled(log.tau, 0, -1), signs if n == 1 else ("sign of torque",), 0),
        "torque 2 reversed": torques(scaled(log.tau, second, -1), ("sign of torque",), second),
        "torque of the last reversed": torques(scaled(log.tau, last, -1), signs, last),
        "all torques reversed": torques(-log.tau, ("sign of torque",)),
        "torque 2 x 1.5": torques(scaled(log.tau, second, 1.5), ("gain of one joint",), second),
        "torque 3 x 0.6": torques(scaled(log.tau, 2, 0.6), ("gain of one joint",), 2),
        "all torques x 1.5": torques(1.5 * log.tau, ("weight share", "unit of effort")),
        "torques 15 ms early": Fault(robot, late(0.015), ("delay",)),
        "torques 40 ms early": Fault(robot, late(0.04), ("delay",)),
        "position 2 off by 0.1": positions(log.q + 0.1 * (np.arange(n) == 1), ("zero of position",), 1),
        "position 3 off by 0.3": positions(log.q + 0.3 * (np.arange(n) == 2), ("zero of position",), 2),
        "degrees": positions(np.degrees(log.q), ("unit of position",)),
        "position 2 reversed": positions(scaled(log.q, 1, -1), ("sign of position",), 1),
        "upside down": placed(_about_x(math.pi)),
        "on a wall": placed(_about_x(math.pi / 2)),
        "tilted by 10 degrees": placed(_about_x(math.radians(10))),
        "gravity compensated": torques(log.tau - weight, ("gravity missing",)),
    }


def spiked(log: Log, seed: int, size: float) -> Log:
    """The log with one position of one joint off by a size."""
    rng = np.random.default_rng(seed)
    q = log.q.copy()
    q[rng.integers(10, len(q) - 10), rng.integers(q.shape[1])] += size * rng.choice([-1, 1])
    return replace(log, q=q, qd=None)


def imperfect_clock(log: Log, seed: int) -> Log:
    """The log with 2 % of its samples written twice and 1 % lost, stamped evenly."""
    rng, N = np.random.default_rng(seed), len(log)
    index = np.setdiff1d(np.arange(N), rng.choice(N, N // 100, replace=False))
    index = np.sort(np.concatenate([index, rng.choice(N - 2, N // 50, replace=False) + 1]))
    return replace(log, t=np.linspace(log.t[0], log.t[-1], len(index)), q=log.q[index], tau=log.tau[index], qd=None)
