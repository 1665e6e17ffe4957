"""Time-optimal timing against the package toppra: durations, and times to compute a trajectory, as ratios.

    python benchmarks/time_optimal.py [waypoints,... [cells,...]]

Both get the same splines through random joint positions, the same limits and the same number of cells; toppra's
inverse dynamics is our compiled function, the fastest that it can call one by one, or Pinocchio's (pin). puma560 has
friction here, and none for toppra. Limits are checked at 40,001 times; stops are places inside at which the speed is 0.
Times are of the processor, the best of several runs taken in turn, so that other load falls on both.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import toppra as ta

import armdyn

REPEATS = 5


def waypoints(robot: armdyn.Robot, count: int, seed: int) -> np.ndarray:
    limits = armdyn.motion.motion_limits(robot)
    low, high = np.maximum(limits.lower, -2.5), np.minimum(limits.upper, 2.5)
    return low + (high - low) * (0.2 + 0.6 * np.random.default_rng(seed).random((count, robot.n)))


def theirs(robot: armdyn.Robot, inverse_dynamics: Callable[..., Any], points: np.ndarray, cells: int) -> Any:
    limits = armdyn.motion.motion_limits(robot)
    both = ta.constraint.DiscretizationType.Interpolation
    torque = np.column_stack([limits.tau_min, limits.tau_max])
    constraints = [
        ta.constraint.JointTorqueConstraint(inverse_dynamics, torque, np.zeros(robot.n), both),
        ta.constraint.JointVelocityConstraint(np.outer(limits.velocity, [-1, 1])),
    ]
    if np.isfinite(limits.acceleration).all():
        acceleration = np.outer(limits.acceleration, [-1, 1])
        constraints.append(ta.constraint.JointAccelerationConstraint(acceleration, both))
    path = ta.SplineInterpolator(np.linspace(0, 1, len(points)), points)
    grid = np.linspace(0, 1, cells + 1)
    return ta.algorithm.TOPPRA(constraints, path, gridpoints=grid, solver_wrapper="seidel").compute_trajectory(0, 0)


def with_pinocchio(robot: armdyn.Robot) -> Callable[..., Any] | None:
    try:
        import pinocchio as pin

        sys.path.insert(0, str(__import__("pathlib").Path(__file__).parents[1] / "tests"))
        from support.pinocchio_model import build
    except ImportError:
        return None
    model = build(robot)
    data = model.createData()
    return lambda q, qd, qdd: pin.rnea(model, data, q, qd, qdd).copy()


def best(runs: dict[str, Callable[[], Any]]) -> tuple[dict[str, float], dict[str, Any]]:
    seconds = dict.fromkeys(runs, np.inf)
    results = {}
    for _ in range(REPEATS):
        for name, run in runs.items():
            start = time.process_time()
            results[name] = run()
            seconds[name] = min(seconds[name], time.process_time() - start)
    return seconds, results


def main(waypoint_counts: Sequence[int] = (5, 25, 100, 400), cell_counts: Sequence[int] = (400, 1000, 3000)) -> None:
    ta.setup_logging("ERROR")
    print("robot    waypoints cells  toppra, ms  ours, ms  ratio (pin)   T/T toppra   use: toppra, ours   stops")
    for name in ("panda", "ur5", "puma560"):
        robot = armdyn.load(name)
        dyn = armdyn.compile(robot)
        bare = dyn if name != "puma560" else armdyn.compile(robot.without("friction"))
        pinocchio = with_pinocchio(robot)
        for count, cells in product(waypoint_counts, cell_counts):
            points = waypoints(robot, count, count)
            curve = armdyn.trajectory.from_samples(np.linspace(0, 1, count), points)
            runs: dict[str, Callable[[], Any]] = {
                "ours": partial(armdyn.time_optimal, curve, dyn, points=cells),
                "own": partial(theirs, robot, bare.inverse_dynamics, points, cells),
            }
            if pinocchio is not None:
                runs["pin"] = partial(theirs, robot, pinocchio, points, cells)
            seconds, results = best(runs)
            ours, other = results["ours"], results["own"]
            ratio = [seconds[key] / seconds["ours"] for key in ("own", "pin") if key in seconds]
            uses = [largest_use(bare, _as_motion(other)), largest_use(dyn, ours)]
            print(
                f"{name:8} {count:8} {cells:6} {1e3 * seconds['own']:11.1f} {1e3 * seconds['ours']:9.2f}"
                f" {ratio[0]:6.1f} {f'({ratio[-1]:.1f})':>7} {ours.duration / other.duration:12.4f}"
                f" {uses[0]:14.4f} {uses[1]:11.5f} {int((ours.speed[1:-1] == 0).sum()):7}",
                flush=True,
            )


def _as_motion(other: Any) -> Callable[..., Any]:
    def motion(t: Any, order: int = 0) -> Any:
        return other(np.asarray(t, dtype=float), order)

    motion.duration = float(other.duration)  # type: ignore[attr-defined]
    return motion


def largest_use(dyn: armdyn.Dynamics, motion: Any) -> float:
    use = armdyn.feasibility(dyn, motion, dt=motion.duration / 40_000).use
    return max(float(use[name].max()) for name in ("velocity", "acceleration", "torque"))


if __name__ == "__main__":
    main(*([int(word) for word in each.split(",")] for each in sys.argv[1:]))
