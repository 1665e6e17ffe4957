"""Standard and base parameters, grouping, the regressor, physical consistency."""

from armdyn.public import attach

attach(__name__)
