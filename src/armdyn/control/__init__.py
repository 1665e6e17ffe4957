"""Control laws: frozen objects, one call each."""

from armdyn.control.computed_torque import ComputedTorque, Feedforward, NoControl
from armdyn.control.law import Desired, Law, SingularTask

__all__ = ["ComputedTorque", "Desired", "Feedforward", "Law", "NoControl", "SingularTask"]
