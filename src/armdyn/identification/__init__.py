"""Identification: from a log of a robot's motion to its parameters (Khalil sec. 7.3.3 f, Siciliano sec. 7.4).

log --read_log--> Log --process--> Samples --observe--> Observation --Estimator--> Estimate; `identify` does it all.
Before it: `excite`, the motion to log. After it: `identify_payload`, `robust_timing`.
"""

from __future__ import annotations

from armdyn.identification.calibration import Calibrated, Calibration
from armdyn.identification.checks import check_log
from armdyn.identification.clearance import Surroundings
from armdyn.identification.delivery import Delivery
from armdyn.identification.elastic_fit import ElasticFit, ElasticJoint, identify_stiffness
from armdyn.identification.estimation import Damped, Estimate, Estimator, Ordinary, Weighted
from armdyn.identification.excitation import Excitation, Search, excite, predicted_std
from armdyn.identification.fit import Fit, identify
from armdyn.identification.harmonics import Harmonics
from armdyn.identification.identifiability import Identifiable, identifiable
from armdyn.identification.instrumental import Instrumental
from armdyn.identification.log import Log
from armdyn.identification.log_format import LogFormat
from armdyn.identification.observation import Observation, observe
from armdyn.identification.payload import Payload, identify_payload, payload_from_sensor
from armdyn.identification.polynomials import Polynomials
from armdyn.identification.processing import Processing, process
from armdyn.identification.readers import read_log
from armdyn.identification.robust_timing import RobustTiming, robust_timing
from armdyn.identification.samples import Samples
from armdyn.identification.torque_model import TorqueModel
from armdyn.identification.validation import Validation, validate

__all__ = [
    "Calibrated",
    "Calibration",
    "Damped",
    "Delivery",
    "ElasticFit",
    "ElasticJoint",
    "Estimate",
    "Estimator",
    "Excitation",
    "Fit",
    "Harmonics",
    "Identifiable",
    "Instrumental",
    "Log",
    "LogFormat",
    "Observation",
    "Ordinary",
    "Payload",
    "Polynomials",
    "Processing",
    "RobustTiming",
    "Samples",
    "Search",
    "Surroundings",
    "TorqueModel",
    "Validation",
    "Weighted",
    "check_log",
    "excite",
    "identifiable",
    "identify",
    "identify_payload",
    "identify_stiffness",
    "observe",
    "payload_from_sensor",
    "predicted_std",
    "process",
    "read_log",
    "robust_timing",
    "validate",
]
