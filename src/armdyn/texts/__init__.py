"""Tables, figures and worked examples of the five source texts, regenerated and compared with the print.

from armdyn import texts
made = texts.run("khalil")
made.ok, made.results[0].outcome.verdict
"""

from __future__ import annotations

from armdyn.texts.errata import ERRATA, Erratum, errata_markdown
from armdyn.texts.item import SOURCES, Chapter, Check, Claim, Item, Outcome, Slip
from armdyn.texts.running import Reproduction, Result, chapters, names, run

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
