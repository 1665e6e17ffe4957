"""Inverse kinematics against EAIK and Robotics Toolbox (C++), in one run and in turns.

    python benchmarks/inverse_kinematics.py [--quick]

Needs eaik and roboticstoolbox-python where they are compared; what is not installed is left out and named.
Every solution of every engine is judged by the forward kinematics of armdyn. Times are the best of several rounds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

import armdyn
from armdyn.kinematics.closed_form import closed_form
from armdyn.kinematics.inverse_kernels import all_kernel
from armdyn.kinematics.numeric_inverse import search_bounds
from armdyn.mechanics import kinematics

QUICK = "--quick" in sys.argv
ROUNDS = 3 if QUICK else 15
POSES = 200 if QUICK else 1000


def best(*functions: Callable[[], Any], repeat: int = 1) -> list[float]:
    """The least time of each function, s, called in turns."""
    least = [np.inf] * len(functions)
    for _ in range(ROUNDS):
        for k, function in enumerate(functions):
            start = time.perf_counter()
            for _ in range(repeat):
                function()
            least[k] = min(least[k], (time.perf_counter() - start) / repeat)
    return least


def installed(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        print(f"{name} is not installed and is left out")
        return None


def engine(robot: armdyn.Robot, module: Any) -> Any:
    """EAIK's model of the arm: axes and offsets at q = 0; its tool has the axes of the world."""
    poses = [np.asarray(T.array(), dtype=float) for T in kinematics.link_poses(robot, [0.0] * robot.n)]
    points = [T[:3, 3] for T in poses]
    tool = kinematics.pose(robot, np.zeros(robot.n))
    ends = [*points, tool[:3, 3]]
    offsets = np.array([ends[0], *np.diff(ends, axis=0)])
    return module.HPRobot(np.array([T[:3, 2] for T in poses]), offsets), tool[:3, :3]


def pose_errors(robot: armdyn.Robot, q: Any, T: Any) -> Any:
    return np.abs(kinematics.pose(robot, q) - T).max(axis=(-2, -1))


def closed_forms() -> None:
    print("\nAll closed-form branches, us a pose")
    print("robot     armdyn call  batch   EAIK call  ratio  ratio of batch  worst pose error: armdyn, EAIK  same sets")
    module = installed("eaik.IK_HP")
    for name in ("ur5", "puma560", "rx90"):
        robot = armdyn.load(name)
        kernel = all_kernel(robot)
        rng = np.random.default_rng(0)
        T, held = kinematics.pose(robot, rng.uniform(-np.pi, np.pi, (10_000, 6))), np.zeros(6)
        out = kernel(T, held)
        other, turn = engine(robot, module) if module else (None, np.eye(3))
        given = T.copy()
        given[:, :3, :3] = T[:, :3, :3] @ turn.T
        singles = [(T[k].copy(), given[k].copy()) for k in range(200)]

        def ours(kernel: Any = kernel, singles: Any = singles, held: Any = held) -> None:
            call = kernel.call
            for pose, _ in singles:
                call(pose, held)

        def theirs(other: Any = other, singles: Any = singles) -> None:
            for _, pose in singles:
                other.IK(pose)

        calls = [ours, lambda kernel=kernel, T=T, held=held, out=out: kernel(T, held, out=out)]
        times = best(*calls, *([theirs] if other else []))
        call, batch, eaik = times[0] / 200, times[1] / 10_000, times[2] / 200 if other else np.nan
        q, exists = out
        worst = pose_errors(robot, q, T[:, None])[exists > 0].max()
        theirs_worst, same = np.nan, 0
        if other:
            theirs_worst = 0.0
            for k in range(POSES):
                found = other.IK(given[k])
                right = np.array([s for s in found.Q if pose_errors(robot, np.asarray(s), T[k]) < 1e-6]).reshape(-1, 6)
                mine = q[k][exists[k] > 0]
                theirs_worst = max(theirs_worst, pose_errors(robot, right, T[k]).max(initial=0))
                same += equal_sets(mine, right)
        print(
            f"{name:9} {1e6 * call:8.2f} {1e6 * batch:9.4f} {1e6 * eaik:10.2f} {eaik / call:7.1f} {eaik / batch:10.0f}"
            f" {worst:18.1e} {theirs_worst:8.1e}     {same} of {POSES}"
        )


def equal_sets(a: Any, b: Any) -> bool:
    """Whether two sets of configurations are the same, but for whole turns and double entries, to 1e-5 rad."""
    if not len(a) or not len(b):
        return len(a) == len(b)
    distance = np.abs((a[:, None] - b[None] + np.pi) % (2 * np.pi) - np.pi).max(axis=-1)
    return bool((distance.min(axis=0) < 1e-5).all() and (distance.min(axis=1) < 1e-5).all())


def nearest() -> None:
    print("\narmdyn.inverse_kinematics: the nearest branch within limits, us")
    for name in ("ur5", "puma560", "rx90"):
        robot = armdyn.load(name)
        bounds = search_bounds(robot, True)
        q = np.random.default_rng(1).uniform(bounds.start_lower, bounds.start_upper, (10_000, 6))
        T = kinematics.pose(robot, q)
        pose, start = T[0].copy(), q[0] + 0.1
        one = lambda: armdyn.inverse_kinematics(robot, pose, start)  # noqa: B023, E731
        many = lambda: armdyn.inverse_kinematics(robot, T, q)  # noqa: B023, E731
        (call,), (batch,) = best(one, repeat=500), best(many)
        print(f"{name:9} one call {1e6 * call:.2f}, batch of 10,000 {1e6 * batch / 10_000:.3f}")


def panda() -> None:
    robot = armdyn.load("panda")
    bounds = search_bounds(robot, True)
    q = np.random.default_rng(2).uniform(bounds.lower, bounds.upper, (POSES, 7))
    T = kinematics.pose(robot, q)
    poses = [each.copy() for each in T]
    print(f"\nPanda, {POSES} reachable poses, tolerance 1e-10, within limits")
    for method in ("closed", "numeric", "auto"):
        batch = armdyn.inverse_kinematics(robot, T, method=method, throw=False)
        single = [armdyn.inverse_kinematics(robot, each, method=method, throw=False) for each in poses]
        one = lambda: [armdyn.inverse_kinematics(robot, each, method=method, throw=False) for each in poses]  # noqa: B023, E731
        many = lambda: armdyn.inverse_kinematics(robot, T, method=method, throw=False)  # noqa: B023, E731
        a, b = best(one, many)
        rate = np.mean([each.reached for each in single])
        print(
            f"armdyn {method:8} one call {1e6 * a / POSES:7.1f} us ({100 * rate:.1f} %), "
            f"batch {1e6 * b / POSES:6.2f} us ({100 * batch.reached.mean():.1f} %)"
        )
    toolbox = installed("roboticstoolbox")
    if toolbox:
        arm = toolbox.models.Panda().ets()
        tool = kinematics.pose(robot, np.zeros(7))
        shift = np.linalg.inv(arm.eval(np.zeros(7))) @ tool  # another tool frame, the same axes
        goals = [each @ np.linalg.inv(shift) for each in T]
        for tolerance in (1e-10, 1e-6):
            solve = lambda goal: arm.ik_LM(goal, tol=tolerance**2 / 2, joint_limits=True)  # noqa: B023, E731
            found = [solve(goal) for goal in goals]
            (seconds,) = best(lambda: [solve(goal) for goal in goals])  # noqa: B023
            rate = np.mean([bool(each.success) for each in found])
            print(f"Robotics Toolbox ik_LM at {tolerance:.0e}: {1e6 * seconds / POSES:.0f} us ({100 * rate:.1f} %)")


def families() -> None:
    print("\nCoverage of the catalog")
    for name in ("planar2r", "planar3r", "three_link", "cartesian2", "scara5", "puma560", "rx90", "ur5", "panda"):
        robot = armdyn.load(name)
        form = closed_form(robot)
        place = closed_form(robot, rotation=False)
        print(f"{name:11} pose: {form.family if form else 'numeric'}; position: {place.family if place else 'numeric'}")


if __name__ == "__main__":
    closed_forms()
    nearest()
    panda()
    families()
