"""armdyn: the dynamics of robot manipulators.

robot        load, save, Robot, fix, explain, random_robot, catalog
equations    derive, certify, compare, formulations, mechanics
code         compile, Dynamics, codegen, casadi, jax, torch
motion       evaluate, plan, point_to_point, via_points, scale_to_torque, time_optimal, inverse_kinematics
control      ComputedTorque, PDGravity, PID, Impedance, analyse_gains
simulation   simulate, Experiment, Plant, Sensors, Solver, monte_carlo
parameters   base_parameters, excite, read_log, identify
design       analysis, prune, sizing, largest_payload, shortest_cycle, sweep
view         view, torque_breakdown, ProgressBar
meaning      conventions (units, frames, signs, orders), ArmdynError
"""

from time import time

from armdyn.public import attach

__version__ = "0.1.0"
IMPORTED = time()
"""When this process imported the package: source files that changed later are not what runs."""

attach(__name__)
