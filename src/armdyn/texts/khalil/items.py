"""Khalil: the items in the order of the text."""

from __future__ import annotations

from armdyn.texts.item import joined
from armdyn.texts.khalil import (
    chapter_7_3,
    chapter_7_4,
    chapter_7_5,
    chapter_7_6,
    chapter_8,
    chapter_8_4,
    chapter_9,
    complexity,
    rx90,
)

chapter = joined(
    chapter_7_3.chapter,
    chapter_7_4.chapter,
    complexity.chapter,
    chapter_7_5.chapter,
    chapter_7_6.chapter,
    chapter_8.chapter,
    chapter_8_4.chapter,
    chapter_9.chapter,
    rx90.chapter,
)
