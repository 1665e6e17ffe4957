"""Simulation: an arm under a control law.

The steps of a simulation: `simulator` (arguments checked) -> `problem` -> `fixed_step` (Python, takes every option),
`compiled_loop` (the whole loop as machine code) or `adaptive_step` (SciPy, events) -> `run` (the result). `settings`
holds the arguments, `integrators` the methods, `stiffness` what decides between them, `stiction`,
`plant_coordinates` and `sensing` what makes an arm real, `studies` many runs.
"""

from armdyn.public import attach

attach(__name__)
