"""The studio: a robot in the browser, with its torques, mass matrix, ellipsoids, motions and equations.

Everything runs on this machine: a small server on the loopback address, and a page that loads nothing else.
"""

from __future__ import annotations

from armdyn.studio.server import Studio, serve

__all__ = ["Studio", "serve"]
