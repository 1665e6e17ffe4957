"""The public names of `armdyn` and the modules they live in.

Names are imported on first use, so that `import armdyn` and the command line start at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

PACKAGES = (
    "analysis",
    "casadi",
    "catalog",
    "control",
    "doctor",
    "export",
    "identification",
    "jax",
    "mechanics",
    "motion",
    "parameters",
    "simulation",
    "sweeps",
    "torch",
    "trajectory",
)
"""Packages that are attributes of `armdyn`."""
HOME = {
    "armdyn.analysis": ("prune",),
    "armdyn.control": (
        "Admittance",
        "ComputedTorque",
        "Feedforward",
        "Impedance",
        "MomentumObserver",
        "OperationalSpace",
        "PDGravity",
        "PID",
        "ResolvedAcceleration",
        "RobustPassivity",
        "SlidingMode",
        "SlotineLi",
        "TaskPID",
        "VelocityObserver",
        "analyse_gains",
    ),
    "armdyn.doctor": ("check", "explain", "fix"),
    "armdyn.dynamics": ("Dynamics", "compile"),
    "armdyn.equations": ("certify", "compare", "derive"),
    "armdyn.errors": ("ArmdynError",),
    "armdyn.formats": ("ModelWarning", "load", "save"),
    "armdyn.identification": ("excite", "identify", "read_log"),
    "armdyn.mechanics.registry": ("formulations",),
    "armdyn.motion": (
        "feasibility",
        "largest_payload",
        "scale_to_torque",
        "shortest_cycle",
        "sizing",
        "time_optimal",
        "torque_breakdown",
    ),
    "armdyn.parameters": ("base_parameters", "convert_parameters"),
    "armdyn.progress": ("ProgressBar",),
    "armdyn.robot": ("Robot",),
    "armdyn.robot.random": ("random_robot",),
    "armdyn.share": ("view",),
    "armdyn.simulation": ("Actuation", "Plant", "Run", "Sensors", "Solver", "simulate"),
    "armdyn.simulation.studies": ("imperfect_models", "monte_carlo"),
    "armdyn.sweeps": ("sweep",),
    "armdyn.trajectory": ("inverse_kinematics", "point_to_point", "read_trajectory", "via_points"),
}
"""Module -> the public names that it defines."""
NAMES = tuple(sorted([*PACKAGES, *(name for names in HOME.values() for name in names)]))
_MODULES = {name: module for module, names in HOME.items() for name in names}


def find(name: str) -> Any:
    """The public object of that name; AttributeError if there is none."""
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    if name in PACKAGES:
        return import_module(f"armdyn.{name}")
    raise AttributeError(f"module 'armdyn' has no attribute {name!r}")
