"""Identification: from a log of a robot's motion to a model one can trust (002 sec. 7.3.3 f, 004 sec. 7.4).

log --read_log--> Log --process--> Samples --observe--> Observation --estimation--> Estimate; `identify` does it all.
"""

from __future__ import annotations

from armdyn.identification.estimation import Estimate
from armdyn.identification.fit import Fit, identify
from armdyn.identification.log import Log
from armdyn.identification.observation import Observation, observe
from armdyn.identification.processing import Settings, process
from armdyn.identification.readers import read_log
from armdyn.identification.samples import Samples
from armdyn.identification.validation import Validation, validate

__all__ = [
    "Estimate",
    "Fit",
    "Log",
    "Observation",
    "Samples",
    "Settings",
    "Validation",
    "identify",
    "observe",
    "process",
    "read_log",
    "validate",
]
