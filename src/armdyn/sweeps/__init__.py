"""Sweeps: compare design variants of one robot; in this process or on a cluster, and resumed after an interruption.

>>> import armdyn
>>> found = armdyn.sweep(armdyn.load("planar2r"), {"l2": [0.3, 0.5]}, measures=["holding_torque"])
>>> found.results.shape
(2, 2)
"""

from armdyn.sweeps.design_space import PAYLOAD, varied
from armdyn.sweeps.measures import MEASURES, Bench, SweepMeasure
from armdyn.sweeps.sweep_run import Sweep, sweep

__all__ = ["MEASURES", "PAYLOAD", "Bench", "Sweep", "SweepMeasure", "sweep", "varied"]
