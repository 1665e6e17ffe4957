"""The studio: a robot in the browser, to be looked at, moved, planned, simulated, and its equations read.

Everything runs on this machine: a server on the loopback address and a page that loads nothing else. RobotQueries are
computed apart from the page that shows them.
"""

from __future__ import annotations

from armdyn.browser.serving import Studio, studio

__all__ = ["Studio", "studio"]
