"""Tables, figures and worked examples of the five source texts, regenerated and compared with the print.

from armdyn import reproduce
made = reproduce.run("khalil")
made.ok, made.results[0].outcome.verdict
"""

from __future__ import annotations

from armdyn.reproduce.errata import ERRATA, Erratum, errata_markdown
from armdyn.reproduce.item import SOURCES, Chapter, Check, Claim, Item, Outcome, Slip
from armdyn.reproduce.running import Reproduction, Result, chapters, names, run

__all__ = [
    "ERRATA",
    "SOURCES",
    "Chapter",
    "Check",
    "Claim",
    "Erratum",
    "Item",
    "Outcome",
    "Reproduction",
    "Result",
    "Slip",
    "chapters",
    "errata_markdown",
    "names",
    "run",
]
