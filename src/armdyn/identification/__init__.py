"""Identification: from a log of a robot's motion to a model one can trust (002 sec. 7.3.3 f, 004 sec. 7.4)."""

from __future__ import annotations
