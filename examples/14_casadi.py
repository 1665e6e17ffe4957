"""A reach of the panda within its torque limits, as an optimisation in CasADi. Needs casadi."""

import time
from typing import Any

import casadi
import numpy as np

import armdyn
import armdyn.casadi

STEPS, DT, N = 40, 0.02, 7
SHARE = 0.2
"""Of the torque limits: what the motion may use."""


def reach(inverse_dynamics: Any, limits: np.ndarray, start: np.ndarray, goal: np.ndarray) -> dict[str, Any]:
    """Accelerations, constant over each step, that bring the arm to rest at the goal with the least effort."""
    x = casadi.MX.sym("x", 3 * N, STEPS + 1)  # q, qd and qdd at the beginning of each step
    q, qd, qdd = casadi.vertsplit(x, N)
    torques = casadi.horzcat(*(inverse_dynamics(q[:, k], qd[:, k], qdd[:, k]) / limits for k in range(STEPS + 1)))
    steps = casadi.vertcat(
        q[:, 1:] - q[:, :-1] - DT * qd[:, :-1] - 0.5 * DT**2 * qdd[:, :-1], qd[:, 1:] - qd[:, :-1] - DT * qdd[:, :-1]
    )
    ends = casadi.vertcat(q[:, 0] - start, qd[:, 0], q[:, -1] - goal, qd[:, -1])
    zero = casadi.vertcat(ends, casadi.vec(steps))
    problem = {"x": casadi.vec(x), "f": DT * casadi.sumsqr(torques), "g": casadi.vertcat(zero, casadi.vec(torques))}
    quiet = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-9}}
    solver = casadi.nlpsol("reach", "ipopt", problem, quiet)
    bound = np.concatenate([np.zeros(zero.numel()), np.full(torques.numel(), SHARE)])
    begin = time.perf_counter()
    found = solver(x0=np.tile([*start, *np.zeros(2 * N)], STEPS + 1), lbg=-bound, ubg=bound)
    seconds, stats = time.perf_counter() - begin, solver.stats()
    load = np.abs(np.array(found["g"])[zero.numel() :]).max()
    return {"f": float(found["f"]), "x": np.array(found["x"]).ravel(), "load": load, "seconds": seconds,
            "iterations": stats["iter_count"], "solved": stats["success"]}  # fmt: skip


def main() -> None:
    robot = armdyn.load("panda")
    functions = armdyn.casadi.wrap(armdyn.compile(robot))
    limits = np.array([joint.limits.torque for joint in robot.joints], dtype=float)
    start = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.0])
    goal = start + np.array([0.8, 0.6, -0.3, 0.5, 0.2, -0.3, 0.4])
    ways = {"machine code": functions.inverse_dynamics, "expressions": functions.graph("inverse_dynamics")}
    runs = {name: reach(way, limits, start, goal) for name, way in ways.items()}
    for name, run in runs.items():
        print(f"{name:13s} effort {run['f']:.9f}, {run['iterations']} iterations, {run['seconds']:.2f} s")
    one, other = runs.values()
    print(f"torques reach {one['load']:.3f} of the limits; {other['seconds'] / one['seconds']:.1f} times faster")
    assert one["solved"] and abs(one["f"] - other["f"]) < 1e-6 * other["f"]
    assert np.abs(one["x"] - other["x"]).max() < 1e-4


if __name__ == "__main__":
    main()
