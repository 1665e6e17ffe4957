"""armdyn: the dynamics of robot manipulators.

From a robot's description to equations one can read, code that is fast, and motion one can trust.
Conventions (units, frames, signs, orders): `armdyn.conventions`.
"""

from __future__ import annotations

from importlib import import_module
from time import time
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
IMPORTED = time()
"""When this process began to read the package: files that changed later are not what runs."""

if TYPE_CHECKING:
    from armdyn import (
        analysis,
        catalog,
        control,
        export,
        identification,
        mechanics,
        motion,
        parameters,
        simulation,
        sweeps,
        trajectory,
    )
    from armdyn.control import (
        PID,
        Admittance,
        ComputedTorque,
        Feedforward,
        Impedance,
        MomentumObserver,
        PDGravity,
        ResolvedAcceleration,
        SlidingMode,
        SlotineLi,
        TaskPID,
        analyse_gains,
    )
    from armdyn.dynamics import Dynamics, compile
    from armdyn.equations import certify, compare, derive
    from armdyn.errors import ArmdynError
    from armdyn.formats import ModelWarning, load, save
    from armdyn.identification import excite, identify, read_log
    from armdyn.mechanics.registry import formulations
    from armdyn.motion import feasibility, scale_to_torque, sizing, time_optimal, torque_breakdown
    from armdyn.parameters import base_parameters
    from armdyn.robot import Robot
    from armdyn.robot.random import random_robot
    from armdyn.simulation import Actuation, Plant, Run, Sensors, Solver, simulate
    from armdyn.simulation.studies import imperfect_models, monte_carlo
    from armdyn.sweeps import sweep
    from armdyn.trajectory import inverse_kinematics, point_to_point, read_trajectory, via_points

_HOME = {
    "Actuation": "armdyn.simulation",
    "Admittance": "armdyn.control",
    "ArmdynError": "armdyn.errors",
    "ComputedTorque": "armdyn.control",
    "Dynamics": "armdyn.dynamics",
    "Feedforward": "armdyn.control",
    "Impedance": "armdyn.control",
    "ModelWarning": "armdyn.formats",
    "MomentumObserver": "armdyn.control",
    "PDGravity": "armdyn.control",
    "PID": "armdyn.control",
    "Plant": "armdyn.simulation",
    "ResolvedAcceleration": "armdyn.control",
    "Robot": "armdyn.robot",
    "Run": "armdyn.simulation",
    "Sensors": "armdyn.simulation",
    "SlidingMode": "armdyn.control",
    "SlotineLi": "armdyn.control",
    "Solver": "armdyn.simulation",
    "TaskPID": "armdyn.control",
    "analyse_gains": "armdyn.control",
    "base_parameters": "armdyn.parameters",
    "certify": "armdyn.equations",
    "compare": "armdyn.equations",
    "compile": "armdyn.dynamics",
    "derive": "armdyn.equations",
    "excite": "armdyn.identification",
    "feasibility": "armdyn.motion",
    "formulations": "armdyn.mechanics.registry",
    "identify": "armdyn.identification",
    "imperfect_models": "armdyn.simulation.studies",
    "inverse_kinematics": "armdyn.trajectory",
    "load": "armdyn.formats",
    "monte_carlo": "armdyn.simulation.studies",
    "point_to_point": "armdyn.trajectory",
    "random_robot": "armdyn.robot.random",
    "read_log": "armdyn.identification",
    "read_trajectory": "armdyn.trajectory",
    "save": "armdyn.formats",
    "scale_to_torque": "armdyn.motion",
    "simulate": "armdyn.simulation",
    "sizing": "armdyn.motion",
    "sweep": "armdyn.sweeps",
    "time_optimal": "armdyn.motion",
    "torque_breakdown": "armdyn.motion",
    "via_points": "armdyn.trajectory",
}
"""Public name -> module. Imported on first use, so that `import armdyn` and the command line start at once."""
_PACKAGES = (
    "analysis",
    "catalog",
    "control",
    "export",
    "identification",
    "mechanics",
    "motion",
    "parameters",
    "simulation",
    "sweeps",
    "trajectory",
)

__all__ = [
    "PID",
    "Actuation",
    "Admittance",
    "ArmdynError",
    "ComputedTorque",
    "Dynamics",
    "Feedforward",
    "Impedance",
    "ModelWarning",
    "MomentumObserver",
    "PDGravity",
    "Plant",
    "ResolvedAcceleration",
    "Robot",
    "Run",
    "Sensors",
    "SlidingMode",
    "SlotineLi",
    "Solver",
    "TaskPID",
    "analyse_gains",
    "analysis",
    "base_parameters",
    "catalog",
    "certify",
    "compare",
    "compile",
    "control",
    "derive",
    "excite",
    "export",
    "feasibility",
    "formulations",
    "identification",
    "identify",
    "imperfect_models",
    "inverse_kinematics",
    "load",
    "mechanics",
    "monte_carlo",
    "motion",
    "parameters",
    "point_to_point",
    "random_robot",
    "read_log",
    "read_trajectory",
    "save",
    "scale_to_torque",
    "simulate",
    "simulation",
    "sizing",
    "sweep",
    "sweeps",
    "time_optimal",
    "torque_breakdown",
    "trajectory",
    "via_points",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _PACKAGES:
        return import_module(f"armdyn.{name}")
    raise AttributeError(f"module 'armdyn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
