"""Why two models disagree, and what is wrong with a file."""

from armdyn.diagnosis.explanation import Explanation, explain
from armdyn.diagnosis.hypotheses import Cause
from armdyn.diagnosis.proposals import Repair
from armdyn.diagnosis.repairs import Fixed, fix

__all__ = ["Cause", "Explanation", "Fixed", "Repair", "explain", "fix"]
