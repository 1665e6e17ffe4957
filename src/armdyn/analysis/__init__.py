"""Analysis: the arm as seen from its tool, what it can do there, and over its workspace (004 sec. 7.8, 7.9)."""

from __future__ import annotations
