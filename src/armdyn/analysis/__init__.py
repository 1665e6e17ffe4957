"""Analysis: operational space, ellipsoids and polytopes, maps over the workspace (Siciliano sec. 7.8, 7.9)."""

from armdyn.public import attach

attach(__name__)
