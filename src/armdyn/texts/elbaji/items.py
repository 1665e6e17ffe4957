"""El Baji: the items in the order of the text."""

from __future__ import annotations

from armdyn.texts.elbaji import section_5_3, sections_2_to_4, sections_5_1_and_5_2
from armdyn.texts.item import joined

chapter = joined(sections_2_to_4.chapter, sections_5_1_and_5_2.chapter, section_5_3.chapter)
