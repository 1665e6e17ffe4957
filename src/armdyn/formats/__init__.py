"""Files <-> Robot. One module per format, each with `read(path)` and `write(robot, path)`."""

from armdyn.public import attach

attach(__name__)
