"""Files <-> Robot. One module per format, each with `read(path)` and `write(robot, path)`."""

from armdyn.errors import ModelWarning
from armdyn.formats.load_save import FORMATS, changes, load, read, save

__all__ = ["FORMATS", "ModelWarning", "changes", "load", "read", "save"]
