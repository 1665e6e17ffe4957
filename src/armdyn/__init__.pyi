"""The public names of `armdyn`, listed once: type checkers and editors read this file, and so does `armdyn.public`.

One name per line, always `from module import name as name`; a name is imported when it is first used.
"""

from armdyn import analysis as analysis
from armdyn import casadi as casadi
from armdyn import catalog as catalog
from armdyn import control as control
from armdyn import conventions as conventions
from armdyn import diagnosis as diagnosis
from armdyn import export as export
from armdyn import identification as identification
from armdyn import jax as jax
from armdyn import mechanics as mechanics
from armdyn import motion as motion
from armdyn import parameters as parameters
from armdyn import simulation as simulation
from armdyn import sweeps as sweeps
from armdyn import torch as torch
from armdyn import trajectory as trajectory
from armdyn.analysis import prune as prune
from armdyn.control import Admittance as Admittance
from armdyn.control import analyse_gains as analyse_gains
from armdyn.control import ComputedTorque as ComputedTorque
from armdyn.control import Feedforward as Feedforward
from armdyn.control import Impedance as Impedance
from armdyn.control import MomentumObserver as MomentumObserver
from armdyn.control import OperationalSpace as OperationalSpace
from armdyn.control import PDGravity as PDGravity
from armdyn.control import PID as PID
from armdyn.control import ResolvedAcceleration as ResolvedAcceleration
from armdyn.control import RobustPassivity as RobustPassivity
from armdyn.control import SlidingMode as SlidingMode
from armdyn.control import SlotineLi as SlotineLi
from armdyn.control import TaskPID as TaskPID
from armdyn.control import VelocityObserver as VelocityObserver
from armdyn.diagnosis import explain as explain
from armdyn.diagnosis import fix as fix
from armdyn.dynamics import compile as compile
from armdyn.dynamics import Dynamics as Dynamics
from armdyn.equations import certify as certify
from armdyn.equations import compare as compare
from armdyn.equations import derive as derive
from armdyn.errors import ArmdynError as ArmdynError
from armdyn.formats import load as load
from armdyn.formats import ModelWarning as ModelWarning
from armdyn.formats import save as save
from armdyn.identification import excite as excite
from armdyn.identification import identify as identify
from armdyn.identification import read_log as read_log
from armdyn.mechanics.registry import formulations as formulations
from armdyn.motion import feasibility as feasibility
from armdyn.motion import largest_payload as largest_payload
from armdyn.motion import scale_to_torque as scale_to_torque
from armdyn.motion import shortest_cycle as shortest_cycle
from armdyn.motion import sizing as sizing
from armdyn.motion import time_optimal as time_optimal
from armdyn.motion import torque_breakdown as torque_breakdown
from armdyn.parameters import base_parameters as base_parameters
from armdyn.parameters import convert_parameters as convert_parameters
from armdyn.progress import ProgressBar as ProgressBar
from armdyn.robot import Robot as Robot
from armdyn.robot.random import random_robot as random_robot
from armdyn.share import view as view
from armdyn.simulation import Actuation as Actuation
from armdyn.simulation import Plant as Plant
from armdyn.simulation import Run as Run
from armdyn.simulation import Sensors as Sensors
from armdyn.simulation import simulate as simulate
from armdyn.simulation import Solver as Solver
from armdyn.simulation.studies import imperfect_models as imperfect_models
from armdyn.simulation.studies import monte_carlo as monte_carlo
from armdyn.sweeps import sweep as sweep
from armdyn.trajectory import inverse_kinematics as inverse_kinematics
from armdyn.trajectory import point_to_point as point_to_point
from armdyn.trajectory import read_trajectory as read_trajectory
from armdyn.trajectory import via_points as via_points

__version__: str
IMPORTED: float
