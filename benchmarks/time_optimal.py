"""Time-optimal timing against the package toppra: durations, and times to compute a trajectory, as ratios.

    python benchmarks/time_optimal.py [paths] [cells]

Both get the same splines through five random joint positions, the same limits and the same number of cells; toppra's
inverse dynamics is our compiled function, the fastest that it can call one by one ("own"), or Pinocchio's ("pin").
Times are of the processor, the best of several runs taken in turn, so that other load falls on both.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import toppra as ta

import armdyn

REPEATS = 7


def waypoints(robot: armdyn.Robot, seed: int) -> np.ndarray:
    limits = armdyn.motion.motion_limits(robot)
    low, high = np.maximum(limits.lower, -2.5), np.minimum(limits.upper, 2.5)
    return low + (high - low) * (0.2 + 0.6 * np.random.default_rng(seed).random((5, robot.n)))


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


def main(paths: int = 10, cells: int = 400) -> dict[str, float]:
    ta.setup_logging("ERROR")
    headline = {}
    for name in ("panda", "ur5"):
        robot = armdyn.load(name)
        dyn = armdyn.compile(robot)
        pinocchio = with_pinocchio(robot)
        print(f"\n{name}, {cells} cells" + f"{'toppra':>18}{'ours':>11}{'ratio':>10}   largest use of a limit")
        print(f"{'path':<8}{'T, s':>21}{'T, s':>14}{'T':>10}   {'toppra':>8}{'ours':>9}   time: {'own':>6}{'pin':>8}")
        ratios: list[list[float]] = []
        for seed in range(paths):
            points = waypoints(robot, seed)
            curve = armdyn.trajectory.from_samples(np.linspace(0, 1, 5), points)
            runs: dict[str, Callable[[], Any]] = {
                "ours": lambda dyn=dyn, curve=curve: armdyn.time_optimal(curve, dyn, points=cells),
                "own": lambda robot=robot, dyn=dyn, points=points: theirs(robot, dyn.inverse_dynamics, points, cells),
            }
            if pinocchio is not None:
                runs["pin"] = lambda robot=robot, pinocchio=pinocchio, points=points: theirs(
                    robot, pinocchio, points, cells
                )
            seconds, results = best(runs)
            ours, other = results["ours"], results["own"]
            uses = [largest_use(dyn, motion) for motion in (_as_motion(other), ours)]
            row = [other.duration, ours.duration, ours.duration / other.duration, *uses]
            row += [seconds[key] / seconds["ours"] for key in ("own", "pin") if key in seconds]
            ratios.append(row)
            times = "".join(f"{x:8.2f}" for x in row[5:])
            print(f"{seed:<8}{row[0]:21.4f}{row[1]:14.4f}{row[2]:10.4f}   {uses[0]:8.5f}{uses[1]:9.5f}        {times}"
                  f"   ({seconds['ours'] * 1e3:.1f} ms)")  # fmt: skip
        table = np.array(ratios)
        print(f"{name}: duration over toppra's {table[:, 2].min():.4f} to {table[:, 2].max():.4f}; toppra's time over "
              f"ours, median: {', '.join(f'{x:.2f}' for x in np.median(table[:, 5:], axis=0))}")  # fmt: skip
        headline[f"{name} duration"] = float(table[:, 2].max())
        headline[f"{name} time"] = float(np.median(table[:, 5]))
    return headline


def _as_motion(other: Any) -> Callable[..., Any]:
    def motion(t: Any, order: int = 0) -> Any:
        return other(np.asarray(t, dtype=float), order)

    motion.duration = float(other.duration)  # type: ignore[attr-defined]
    return motion


def largest_use(dyn: armdyn.Dynamics, motion: Any) -> float:
    use = armdyn.feasibility(dyn, motion, dt=motion.duration / 10_000).use
    return max(float(use[name].max()) for name in ("velocity", "acceleration", "torque"))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
