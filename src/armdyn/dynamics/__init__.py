"""Dynamics: a robot bound to its machine code. Most users begin here: `armdyn.compile(robot)`.

`quantities` is the table of its functions, `graphs` turns each into an expression graph, `model_choice` finds frames
and parameters with the fewest operations, `programs` compiles graphs, `facade` is what users hold.
"""

from armdyn.dynamics.facade import Dynamics, compile

__all__ = ["Dynamics", "compile"]
