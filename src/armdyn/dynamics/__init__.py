"""Dynamics: a robot bound to its machine code. The door most users come through: `armdyn.compile(robot)`.

`lean` chooses the frames and parameters that cost least, `recipes` writes each quantity as a graph, `programs` turns
graphs into functions, `facade` is what users hold.
"""

from armdyn.dynamics.facade import Dynamics, compile

__all__ = ["Dynamics", "compile"]
