"""Why two models disagree, and what is wrong with a file."""

from armdyn.diagnosis.explanation import Explanation, explain
from armdyn.diagnosis.hypotheses import Cause

__all__ = ["Cause", "Explanation", "explain"]
