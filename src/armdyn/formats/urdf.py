"""URDF: the robot files of ROS.

Read: revolute, continuous, prismatic and fixed joints with their limits, damping and friction. Links on fixed joints
stay bodies of their own; `Robot.links` merges them exactly. What a Robot cannot represent (floating and planar joints)
is refused; a mimic joint follows its leader; one whose leader does not move is independent, with a note. Shapes,
transmissions and simulator tags are ignored.

Written: any Robot, so that every body keeps its name and its frame. What URDF cannot express and changes the
torques (inertias of rotors, loops, springs, ...) is a `FeatureError`; the rest of it (gravity, which readers choose,
the order of branches, some limits) is named in a `ModelWarning`. A robot that was read from a URDF file is written into
the text of that file.
"""

from __future__ import annotations

from armdyn.formats.urdf_patch import write
from armdyn.formats.urdf_read import loads, read
from armdyn.formats.urdf_write import dumps

__all__ = ["dumps", "loads", "read", "write"]
