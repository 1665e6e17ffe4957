"""What is wrong with a robot's description, why two models disagree, and what is wrong with a log."""

from armdyn.doctor.checkup import check
from armdyn.doctor.explanation import Explanation, explain
from armdyn.doctor.hypotheses import Cause
from armdyn.doctor.proposals import Repair
from armdyn.doctor.repairs import Fixed, fix

__all__ = ["Cause", "Explanation", "Fixed", "Repair", "check", "explain", "fix"]
