"""The robot and its parts: frozen data, and what follows from it directly."""

from armdyn.public import attach

attach(__name__)
