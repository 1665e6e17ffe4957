"""Plan a motion: profiles, via points, a straight line of the tool, torque limits, time-optimal timing."""

import sys
from pathlib import Path

import numpy as np

import armdyn
from armdyn.trajectory import follow, line

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
OUT.mkdir(parents=True, exist_ok=True)

robot = armdyn.load("panda")
dyn = armdyn.compile(robot)
home, goal = np.array([0, -0.8, 0, -2.3, 0, 1.5, 0.8]), np.array([1.2, 0.3, 0.2, -1.6, 0.3, 2.0, 0.0])
limits = {"v_max": [j.limits.velocity for j in robot.joints], "a_max": [j.limits.acceleration for j in robot.joints]}

# A straight line in joint space, all joints together, within velocity and acceleration limits.
for profile in ("trapezoid", "quintic", "bang_bang", "smooth_trapezoid"):
    move = armdyn.point_to_point(home, goal, profile, **limits)
    print(f"{profile:>16}: {move.duration:.3f} s")

# Are the torques sufficient with a payload of 3 kg?
loaded = armdyn.compile(robot.with_payload(3.0))
move = armdyn.point_to_point(home, goal, "quintic", **limits)
print(armdyn.feasibility(loaded, move))

# The same path with two thirds of the torque limits: uniformly scaled, and with the fastest timing.
weak = {"tau_max": [0.66 * j.limits.torque for j in robot.joints], **limits}
scaled = armdyn.scale_to_torque(move, loaded, limits=weak)
print("scaled:", scaled)
best = armdyn.time_optimal(move, loaded, limits=weak)
print("time-optimal:", best)
assert best.duration <= scaled.duration + 1e-6
assert armdyn.feasibility(loaded, best, limits=weak).holds

# Via points, and a straight line of the tool.
course = armdyn.via_points([home, (home + goal) / 2 + 0.2, goal], **limits)
print(f"through a point: {course.duration:.3f} s")
straight = follow(robot, line(dyn.pose(home), dyn.pose(goal), "quintic", duration=3.0), home)
middle = dyn.pose(straight(1.5))[:3, 3]
assert np.allclose(middle, (dyn.pose(home) + dyn.pose(goal))[:3, 3] / 2, atol=1e-6)
best.save(OUT / "time_optimal.csv", 0.01)
best.plot(OUT / "time_optimal.png", robot)
print("picture:", OUT / "time_optimal.png")
