"""Size actuators for a cycle, and find the largest payload of an arm."""

import sys
from pathlib import Path

import numpy as np

import armdyn

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
OUT.mkdir(parents=True, exist_ok=True)

# A pick-and-place cycle: there, a rest, and back.
robot = armdyn.load("ur5")
pick, place = np.array([0, -1.2, 1.4, -1.8, -1.57, 0]), np.array([1.5, -0.9, 1.1, -1.7, -1.57, 0.8])
there = armdyn.point_to_point(pick, place, "smooth_trapezoid", v_max=2.5, a_max=8.0)
back = armdyn.point_to_point(place, pick, "smooth_trapezoid", v_max=2.5, a_max=8.0)
cycle = armdyn.trajectory.concatenate(there, armdyn.trajectory.hold(place, 0.3), back)

# The load of every joint: peaks determine the gear, rms values the motor.
loads = armdyn.sizing(robot.with_payload(3.0), cycle, continuous=[100, 100, 100, 20, 20, 20], rest=0.5)
print(loads)
print(f"mean power drawn: {loads.mean_power:.0f} W; heat used: {loads.heat.round(2)}")

# The largest payload for which the cycle respects all torque limits. Torques are linear in the mass of a point
# load, so two evaluations of inverse dynamics over the cycle are sufficient.
place_of_load = (0, 0, 0.08)
t = np.linspace(0, cycle.duration, 2000)
states = [cycle(t, order) for order in range(3)]
limit = np.array([joint.limits.torque for joint in robot.joints])
empty, one_kilogram = (
    armdyn.compile(robot.with_payload(mass, place_of_load)).inverse_dynamics(*states) for mass in (0.0, 1.0)
)
per_kilogram = one_kilogram - empty
with np.errstate(divide="ignore"):
    most = (np.where(per_kilogram > 0, limit - empty, limit + empty) / abs(per_kilogram)).min()
print(f"largest payload of this cycle: {most:.2f} kg")
assert armdyn.feasibility(robot.with_payload(0.999 * most, place_of_load), cycle).holds

armdyn.torque_breakdown(robot.with_payload(3.0), cycle).plot(OUT / "cycle.png", "motion")
print("picture:", OUT / "cycle.png")
