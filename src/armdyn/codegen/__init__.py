"""Code for other languages and runtimes: the functions of Dynamics as C, C++, MATLAB, WebAssembly, ...

`write` makes files; `casadi_source.function` and `jax_source.function` make functions of those libraries. A language is
one module `<language>_source` with `files(model)`, and one line in TARGETS.
"""

from armdyn.codegen.export_files import TARGETS, write
from armdyn.codegen.functions import DEFAULT, Model, model

__all__ = ["DEFAULT", "TARGETS", "Model", "model", "write"]
