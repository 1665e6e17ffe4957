"""Simulation: an arm under a control law.

The way of a simulation: `door` (options checked) -> `problem` (what is to be simulated) -> `loop` (Python, takes every
option), `compiled` (the whole loop as machine code) or `adaptive` (SciPy, events) -> `run` (the result). `integrators`
holds the methods, `stiction` and `sensing` what makes an arm real, `studies` many runs, `experiments` those of
the texts.
"""

from armdyn.simulation.course import Hold
from armdyn.simulation.problem import Sensors
from armdyn.simulation.run import Run, SimulationError, Status
from armdyn.simulation.simulator import simulate

__all__ = ["Hold", "Run", "Sensors", "SimulationError", "Status", "simulate"]
