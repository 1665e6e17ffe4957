"""Tables, figures and worked examples of the five source texts, regenerated and compared with the print.

made = armdyn.reproduce("khalil")
made.ok, made.results[0].outcome.verdict
"""

from __future__ import annotations

from armdyn.texts.errata import ERRATA, Erratum, errata_markdown
from armdyn.texts.item import SOURCES, Chapter, Check, Claim, Count, Item, Outcome, Slip
from armdyn.texts.running import Reproduced, Reproduction, chapters, names, reproduce

__all__ = [
    "ERRATA",
    "SOURCES",
    "Chapter",
    "Check",
    "Claim",
    "Count",
    "Erratum",
    "Item",
    "Outcome",
    "Reproduced",
    "Reproduction",
    "Slip",
    "chapters",
    "errata_markdown",
    "names",
    "reproduce",
]
