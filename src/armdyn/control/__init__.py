"""Control laws: frozen objects; `law(t, q, qd, desired)` returns the torques.

By name, with gains that have defaults or follow from a design: `law(name, dyn, ...)`.

Joint space: PID, PDGravity (PD with gravity compensation), ComputedTorque, Feedforward, SlidingMode, RobustPassivity,
SlotineLi (adaptive). Elastic joints: ElasticPD, and their frequencies, `resonances` and `resonance_range`. Task space:
TaskPID, ResolvedAcceleration (computed torque), OperationalSpace, Impedance, Admittance. Around another law:
MomentumObserver (contact detection), VelocityObserver. Without a reference: FunctionLaw, TorqueTable, NoControl.
Poles and bandwidth of gains: `analyse_gains`. Errors of a model's parameters: `parameter_errors`, `identified_errors`.
"""

from armdyn.control.adaptive import SlotineLi
from armdyn.control.base import Desired, Law, SingularTask
from armdyn.control.computed_torque import ComputedTorque, Feedforward, NoControl
from armdyn.control.elastic_pd import ElasticPD, StabilityCondition
from armdyn.control.extremes import acceleration_constants, largest_gravity_slope, largest_inertias
from armdyn.control.gains import GainAnalysis, JointLoop, analyse_gains
from armdyn.control.models import Formulated
from armdyn.control.named_laws import LAWS, law
from armdyn.control.observer import MomentumObserver, VelocityObserver, first_contact
from armdyn.control.open_loop import FunctionLaw, TorqueTable, read_torques
from armdyn.control.pid import PID, PDGravity
from armdyn.control.resonance import ResonanceRange, resonance_range, resonances
from armdyn.control.robust import RobustPassivity, SlidingMode
from armdyn.control.task_space import (
    Admittance,
    Impedance,
    OperationalSpace,
    ResolvedAcceleration,
    TaskPID,
)
from armdyn.control.uncertainty import identified_errors, parameter_errors

__all__ = [
    "LAWS",
    "PID",
    "Admittance",
    "ComputedTorque",
    "Desired",
    "ElasticPD",
    "Feedforward",
    "Formulated",
    "FunctionLaw",
    "GainAnalysis",
    "Impedance",
    "JointLoop",
    "Law",
    "MomentumObserver",
    "NoControl",
    "OperationalSpace",
    "PDGravity",
    "ResolvedAcceleration",
    "ResonanceRange",
    "RobustPassivity",
    "SingularTask",
    "SlidingMode",
    "SlotineLi",
    "StabilityCondition",
    "TaskPID",
    "TorqueTable",
    "VelocityObserver",
    "acceleration_constants",
    "analyse_gains",
    "first_contact",
    "identified_errors",
    "largest_gravity_slope",
    "largest_inertias",
    "law",
    "parameter_errors",
    "read_torques",
    "resonance_range",
    "resonances",
]
