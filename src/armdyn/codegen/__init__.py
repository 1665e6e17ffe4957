"""Code for other languages and runtimes: the functions of Dynamics as C, C++, MATLAB, WebAssembly, ...

`export(robot, "c").save(folder)` writes files. A language is one module `<language>_source` with `files(model)`, and
one line in TARGETS.
"""

from armdyn.codegen.export_files import TARGETS, Exported, export
from armdyn.codegen.functions import DEFAULT, Model, model

__all__ = ["DEFAULT", "TARGETS", "Exported", "Model", "export", "model"]
