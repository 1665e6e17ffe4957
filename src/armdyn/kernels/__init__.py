"""Kernels: expression graph -> machine code -> NumPy function. No compiler is needed on the user's machine.

From a graph to a function: `ports` (arguments and shapes) -> `schedule` (order, fused operations) -> `single`, `block`,
`loop`, `fastcall` (assembly of the four functions, by `body` and `sincos`) -> `ir` (the module) -> `jit` (object code,
loaded) or `cache` (object code of an earlier run) -> `ufunc`, `fastcall`, `calling` (Python functions) -> `kernel`.
A kernel's `record` leads to its code without a graph; `sources` tells which version of the package made it.
"""

from armdyn.kernels.kernel import Kernel, build, reloaded

__all__ = ["Kernel", "build", "reloaded"]
