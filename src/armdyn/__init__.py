"""armdyn: the dynamics of robot manipulators.

From a robot's description to readable equations, fast code and trustworthy motion.
Conventions (units, frames, signs, orders): `armdyn.conventions`.
"""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING, Any

from armdyn.public import NAMES, find

__version__ = "0.1.0"
IMPORTED = time()
"""When this process imported the package: source files that changed later are not what runs."""

if TYPE_CHECKING:  # for editors and type checkers; at run time names are imported on first use
    from armdyn import (
        analysis as analysis,
        casadi as casadi,
        catalog as catalog,
        control as control,
        doctor as doctor,
        export as export,
        identification as identification,
        jax as jax,
        mechanics as mechanics,
        motion as motion,
        parameters as parameters,
        simulation as simulation,
        sweeps as sweeps,
        torch as torch,
        trajectory as trajectory,
    )
    from armdyn.analysis import prune as prune
    from armdyn.control import (
        PID as PID,
        Admittance as Admittance,
        ComputedTorque as ComputedTorque,
        Feedforward as Feedforward,
        Impedance as Impedance,
        MomentumObserver as MomentumObserver,
        OperationalSpace as OperationalSpace,
        PDGravity as PDGravity,
        ResolvedAcceleration as ResolvedAcceleration,
        RobustPassivity as RobustPassivity,
        SlidingMode as SlidingMode,
        SlotineLi as SlotineLi,
        TaskPID as TaskPID,
        VelocityObserver as VelocityObserver,
        analyse_gains as analyse_gains,
    )
    from armdyn.doctor import check as check, explain as explain, fix as fix
    from armdyn.dynamics import Dynamics as Dynamics, compile as compile
    from armdyn.equations import certify as certify, compare as compare, derive as derive
    from armdyn.errors import ArmdynError as ArmdynError
    from armdyn.formats import ModelWarning as ModelWarning, load as load, save as save
    from armdyn.identification import excite as excite, identify as identify, read_log as read_log
    from armdyn.mechanics.registry import formulations as formulations
    from armdyn.motion import (
        feasibility as feasibility,
        largest_payload as largest_payload,
        scale_to_torque as scale_to_torque,
        shortest_cycle as shortest_cycle,
        sizing as sizing,
        time_optimal as time_optimal,
        torque_breakdown as torque_breakdown,
    )
    from armdyn.parameters import base_parameters as base_parameters
    from armdyn.parameters import convert_parameters as convert_parameters
    from armdyn.progress import ProgressBar as ProgressBar
    from armdyn.robot import Robot as Robot
    from armdyn.robot.random import random_robot as random_robot
    from armdyn.share import view as view
    from armdyn.simulation import (
        Actuation as Actuation,
        Plant as Plant,
        Run as Run,
        Sensors as Sensors,
        Solver as Solver,
        simulate as simulate,
    )
    from armdyn.simulation.studies import imperfect_models as imperfect_models, monte_carlo as monte_carlo
    from armdyn.sweeps import sweep as sweep
    from armdyn.trajectory import (
        inverse_kinematics as inverse_kinematics,
        point_to_point as point_to_point,
        read_trajectory as read_trajectory,
        via_points as via_points,
    )

__all__ = list(NAMES)


def __getattr__(name: str) -> Any:
    return find(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *NAMES})
