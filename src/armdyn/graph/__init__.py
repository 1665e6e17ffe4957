"""The expression graph: symbols, traces, derivatives, operation counts, exact values, readable forms."""

from armdyn.public import attach

attach(__name__)
