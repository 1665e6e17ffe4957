"""Truc: the items in the order of the text."""

from __future__ import annotations

from armdyn.texts.item import joined
from armdyn.texts.truc import equations_1_to_71, experiment

chapter = joined(equations_1_to_71.chapter, experiment.chapter)
