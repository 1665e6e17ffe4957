"""Speed of simulation and control: python benchmarks/simulation.py

Prints the cycle time of the symbolic and the numeric controller beside those of El Baji sec. 5.3, the time of 10 s of
scara5 under computed torque at 1 ms, and how much faster than real time arms of five to seven joints are simulated.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import armdyn
from armdyn.control import ComputedTorque, Desired, Formulated, Law
from armdyn.simulation import Run, Solver, simulate
from armdyn.simulation.studies import monte_carlo
from armdyn.texts.elbaji.scara_tracking import SCARA_KD, SCARA_KP, SCARA_RATE, SCARA_START, ScaraCurve

CYCLE_MS = {"numeric": 16.0, "symbolic": 17.5}
"""Control cycles of El Baji sec. 5.3."""


class Wave:
    """Every joint on a slow sine."""

    def __init__(self, n: int, duration: float = 10.0) -> None:
        self.w, self.duration = 1.0 + 0.1 * np.arange(n), duration

    def __call__(self, t: Any, order: int = 0) -> np.ndarray:
        return 0.4 * self.w**order * np.sin(np.asarray(t)[..., None] * self.w + order * np.pi / 2)


def best(function: Callable[[], Any], times: int = 5) -> float:
    """The shortest of several runs, s."""
    shortest = np.inf
    for _ in range(times):
        start = time.perf_counter()
        function()
        shortest = min(shortest, time.perf_counter() - start)
    return float(shortest)


def cycle(law: Law, repeat: int) -> float:
    """Time of one control cycle, s."""
    q, qd = SCARA_START.copy(), SCARA_RATE.copy()
    curve = ScaraCurve()
    desired = Desired(*(curve(0.0, order) for order in range(3)))
    law(0.0, q, qd, desired)

    def cycles() -> None:
        for _ in range(repeat):
            law(0.0, q, qd, desired)

    return best(cycles) / repeat


def main() -> None:
    robot = armdyn.load("scara5")
    dyn = armdyn.compile(robot)
    law = ComputedTorque(dyn, SCARA_KP, SCARA_KD)
    print("Control cycle of scara5, computed torque (El Baji sec. 5.3: Intel Core i3-6006U, Python)")
    numeric = ComputedTorque(Formulated(robot, "bertrand_bruneau"), SCARA_KP, SCARA_KD, through="matrices")  # type: ignore[arg-type]
    for name, each, repeat in (("symbolic", law, 2000), ("numeric", numeric, 20)):
        took = 1e3 * cycle(each, repeat)
        print(
            f"  {name:<10}{took:>10.4f} ms   the paper's {CYCLE_MS[name]:>5.1f} ms: {CYCLE_MS[name] / took:>8.0f} times"
        )

    def scara(compiled: bool) -> Run:
        return simulate(dyn, law, ScaraCurve(), 10.0, q0=SCARA_START, qd0=SCARA_RATE, solver=Solver(compiled=compiled))

    print("10 s of scara5 under computed torque at 1 ms (the paper's cycle time makes 160 s)")
    start = time.perf_counter()
    scara(True)
    print(f"  first call, code made or read  {time.perf_counter() - start:>8.3f} s")
    for name, compiled in (("machine code", True), ("Python loop", False)):
        print(f"  {name:<31}{best(lambda c=compiled: scara(c), 3):>8.3f} s")  # type: ignore[misc]
    print("1 kHz, computed torque, 100 s of motion: times faster than real time, one core")
    for name in ("scara5", "puma560", "ur5", "panda"):
        arm = armdyn.compile(armdyn.load(name))
        track, wave = ComputedTorque(arm, 100, 20), Wave(arm.n, 100.0)
        row = []
        for integrator in ("euler_taylor", "rk4"):

            def whole(arm: Any = arm, track: Any = track, wave: Any = wave, integrator: str = integrator) -> Run:
                return simulate(arm, track, wave, solver=Solver(integrator=integrator, compiled=True))

            whole()
            row.append(100.0 / best(whole, 3))
        print(f"  {name:<10}{arm.n} joints{row[0]:>10.0f} (euler_taylor){row[1]:>10.0f} (rk4)")
    arm = armdyn.compile(armdyn.load("panda"))
    start = time.perf_counter()
    monte_carlo(arm.robot, ComputedTorque(arm, 100, 20), Wave(7, 1.0), samples=500)
    took = time.perf_counter() - start
    print(f"Monte Carlo, panda, 500 arms for 1 s at 1 kHz: {took:.2f} s, code made or read included")


if __name__ == "__main__":
    main()
