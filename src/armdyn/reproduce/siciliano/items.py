"""004 (Siciliano et al.), chapter 7: the modules s004_a_any_arm to s004_g_problems_tool fill it, in order."""

from __future__ import annotations

from armdyn.reproduce.item import Chapter

chapter = Chapter("004")
