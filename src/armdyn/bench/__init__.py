"""The benchmark: our functions beside those of other engines, in one run on one core, as ratios.

`robots` picks what is measured, `engines` holds one file per engine, `agreement` compares their results before anything
is timed, `timing` takes turns among them, `peak` measures what the core could do, `compiling` starts fresh
interpreters. `measuring` leads through all of it to a `Report`; `targets` judges it, `tables` and `markdown` print it.
"""

from armdyn.bench.measuring import Settings, run
from armdyn.bench.result import Report

__all__ = ["Report", "Settings", "run"]
