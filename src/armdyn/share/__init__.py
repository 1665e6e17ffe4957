"""A robot on one page that works without server and network: `share(robot, "arm.html")`."""

from armdyn.share.shared_page import share

__all__ = ["share"]
