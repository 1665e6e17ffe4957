"""El Baji: the items in the order of the text."""

from __future__ import annotations

from armdyn.reproduce.elbaji import section_5, sections_2_to_4
from armdyn.reproduce.item import joined

chapter = joined(sections_2_to_4.chapter, section_5.chapter)
