"""Simulation: an arm under a control law.

The steps of a simulation: `simulator` (arguments checked) -> `problem` -> `fixed_step` (Python, takes every option),
`compiled_loop` (the whole loop as machine code) or `adaptive_step` (SciPy, events) -> `run` (the result). `settings`
holds the arguments, `integrators` the methods, `stiffness` what decides between them, `stiction`,
`plant_coordinates` and `sensing` what makes an arm real, `studies` many runs.
"""

from armdyn.simulation.course import Hold
from armdyn.simulation.experiment import Experiment, LawChoice, Observers, Reference, Study
from armdyn.simulation.run import Run, SimulationError, Status
from armdyn.simulation.runs import Runs
from armdyn.simulation.settings import Actuation, Plant, Push, Sensors, Solver
from armdyn.simulation.simulator import simulate
from armdyn.simulation.stops import Stops

__all__ = [
    "Actuation",
    "Experiment",
    "Hold",
    "LawChoice",
    "Observers",
    "Plant",
    "Push",
    "Reference",
    "Run",
    "Runs",
    "Sensors",
    "SimulationError",
    "Solver",
    "Status",
    "Stops",
    "Study",
    "simulate",
]
