"""The studio: a robot in the browser. Move its joints, see torques, inertia, ellipsoids, motions and equations.

Everything runs on this machine: a small server on the loopback address, a page without anything from elsewhere.
"""

from __future__ import annotations

from armdyn.studio.server import Studio, serve

__all__ = ["Studio", "serve"]
