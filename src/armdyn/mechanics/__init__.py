"""One module per formulation, one function per quantity, the same signature everywhere."""

from armdyn.mechanics import kinematics, newton_euler

__all__ = ["kinematics", "newton_euler"]
