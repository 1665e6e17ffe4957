"""The benchmark: our functions compared with those of other engines, in one run on one core, as ratios.

`sample_robots` chooses the robots, `engines` holds one file per engine, `agreement` compares their results before
anything is timed, `stopwatch` times them in turns, `peak` measures the peak of the core, `compiling` measures compile
times in fresh interpreters. `measuring` does all of it and returns a `Report`; `result_tables` shows it.
"""

from armdyn.speed.measuring import Settings, bench
from armdyn.speed.result import Report

__all__ = ["Report", "Settings", "bench"]
