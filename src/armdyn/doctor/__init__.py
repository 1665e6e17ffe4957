"""What is wrong with a robot's description, why two models disagree, and what is wrong with a log."""

from armdyn.doctor.checkup import check
from armdyn.doctor.explanation import Explanation, explain
from armdyn.doctor.proposals import Repair
from armdyn.doctor.reading import Reading
from armdyn.doctor.repairs import Fixed, fix

__all__ = ["Explanation", "Fixed", "Reading", "Repair", "check", "explain", "fix"]
