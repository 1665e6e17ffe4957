"""What every function must get right, whatever features a robot has: one check for each row of the matrix.

A check calls the public function on the robot of a case and compares with `EnergyModel`, or with a formula written here
on its numbers. It is not told which feature the robot has.
"""

from support.cells import (
    analysis,
    compiled,
    control,
    equations,
    files,
    formulations,
    identification,
    motion,
    simulation,
)
from support.cells.case import CELLS, Case, close

__all__ = [
    "CELLS",
    "Case",
    "analysis",
    "close",
    "compiled",
    "control",
    "equations",
    "files",
    "formulations",
    "identification",
    "motion",
    "simulation",
]
