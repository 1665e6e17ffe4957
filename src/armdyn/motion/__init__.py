"""Dynamics of motion: torques along a trajectory, feasibility, scaling, the fastest timing, sizing of actuators."""

from armdyn.motion.bearings import BearingLoads, bearing_loads
from armdyn.motion.evaluation import Evaluation, evaluate
from armdyn.motion.loads import Sizing, sizing
from armdyn.motion.payload_cycle import Cycle, LargestPayload, largest_payload, shortest_cycle
from armdyn.motion.planning import Plan, plan
from armdyn.motion.sampling import Infeasible
from armdyn.motion.scaling import ScaledMotion, scale_to_torque
from armdyn.motion.timed_path import TimeOptimal
from armdyn.motion.timing import time_optimal
from armdyn.motion.torques import TorqueBreakdown, torque_breakdown
from armdyn.motion.verdict import Feasibility, feasibility
from armdyn.robot.limits import MotionLimits, motion_limits

__all__ = [
    "BearingLoads",
    "Cycle",
    "Evaluation",
    "Feasibility",
    "Infeasible",
    "LargestPayload",
    "MotionLimits",
    "Plan",
    "ScaledMotion",
    "Sizing",
    "TimeOptimal",
    "TorqueBreakdown",
    "bearing_loads",
    "evaluate",
    "feasibility",
    "largest_payload",
    "motion_limits",
    "plan",
    "scale_to_torque",
    "shortest_cycle",
    "sizing",
    "time_optimal",
    "torque_breakdown",
]
