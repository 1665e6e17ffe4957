"""002 (Khalil): the modules s002_ch7_3 to s002_rx90 fill this chapter, in the order of the text."""

from __future__ import annotations

from armdyn.reproduce.item import Chapter

chapter = Chapter("002")
