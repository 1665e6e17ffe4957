"""Code for other places: the functions of Dynamics as C, Python, LaTeX, CasADi and JAX.

`write` makes files; `casadi.function` and `jax.function` make functions of those libraries in place. A language is one
module with `files(model)` and one line in TARGETS.
"""

from armdyn.export.export import TARGETS, write
from armdyn.export.functions import DEFAULT, SHEETS, Model, model

__all__ = ["DEFAULT", "SHEETS", "TARGETS", "Model", "model", "write"]
