"""MJCF: the model files of MuJoCo.

Read: bodies with hinges and slides (several on one body too), frames, sites, default classes, all ways to give an
orientation, inertias given or taken from primitive shapes, armature, damping, friction loss, ranges and the force
ranges of actuators; equalities between joints as mimic joints, <connect> and <weld> as closed loops. What a Robot
cannot represent (tendons, equalities of a higher degree) and shapes whose mass needs a mesh are named in notes, which
`load` turns into warnings. A file whose root is <robot> is read as URDF.

Written: any Robot; what MJCF cannot express is named in a `ModelWarning`.
"""

from __future__ import annotations

from armdyn.formats.mjcf_read import loads, read
from armdyn.formats.mjcf_write import dumps, write

__all__ = ["dumps", "loads", "read", "write"]
