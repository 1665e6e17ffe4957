"""Batch inverse dynamics of closed chains, beside that of their opened trees.

    python benchmarks/closed_chains.py

The tree's time is that of the same bodies without their loops, at the same configurations: what the loops cost is the
solution for the dependent joints, their rates, and the projection. Shortest processor time of 25 runs over 20,000
samples on one core, with results into arrays that exist.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices: threads only get into each other's way

import numpy as np

import armdyn
from armdyn.mechanics.dependent_joints import dependent_joints

ROBOTS = {
    "parallelogram": 0.5,
    "palletiser": 0.4,
    "four-bar": 0.3,
    "five_bar": 0.3,
    "bricard": 0.5,
    "delta": 0.3,
    "stewart": 0.06,
}
"""How far from the assembly the joints go, rad or m. The planar four-bar is the five-bar with one crank held."""
SAMPLES, RUNS = 20_000, 25


def best(call: Callable[[], object]) -> float:
    """Shortest time of some runs, s."""
    times = []
    for _ in range(RUNS):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return min(times)


def main() -> None:
    print("| robot | joints | of the tree | dependent joints by | us a sample | tree, us | ratio |")
    print("|---|---|---|---|---|---|---|")
    for name, spread in ROBOTS.items():
        robot = armdyn.load("five_bar").locked({"right": 1.0}) if name == "four-bar" else armdyn.load(name)
        chain, closed, tree = dependent_joints(robot), armdyn.compile(robot), armdyn.compile(robot.opened)
        home = np.array([chain.assembly[k] for k in chain.independent])
        rng = np.random.default_rng(0)
        q = home + rng.uniform(-spread, spread, (SAMPLES, robot.n))
        qd, qdd = rng.uniform(-1, 1, (2, SAMPLES, robot.n))
        q_all = closed.closed(q)
        rates = rng.uniform(-1, 1, (2, *q_all.shape))
        one, all_joints = np.empty_like(q), np.empty_like(q_all)
        ours = best(lambda: closed.inverse_dynamics(q, qd, qdd, out=one)) / SAMPLES * 1e6  # noqa: B023 (called at once)
        theirs = best(lambda: tree.inverse_dynamics(q_all, *rates, out=all_joints)) / SAMPLES * 1e6  # noqa: B023
        kinds = ["linear"] * bool(chain.linear) + [type(stage).__name__.lower() for stage in chain.stages]
        print(f"| {name} | {robot.n} | {robot.opened.n} | {', '.join(kinds)} | {ours:.3f} | {theirs:.3f} "
              f"| {ours / theirs:.2f} |")  # fmt: skip


if __name__ == "__main__":
    main()
