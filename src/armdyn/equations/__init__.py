"""Equations of motion as things to read, compare and prove."""

from armdyn.public import attach

attach(__name__)
