"""MJCF: the model files of MuJoCo.

Read: bodies with hinge, slide, ball and free joints (several on one body too), frames, sites, default classes,
included and attached models, copies, all ways to give an orientation, inertias given or taken from shapes and meshes,
armature, damping, friction loss, springs, gravity compensation, ranges, the force ranges of actuators, equalities as
mimic joints and loops. What a Robot cannot represent (tendons that act, plugins) is named in notes, which `load` turns
into warnings; fluids and flexible bodies are refused. A file whose root is <robot> is read as URDF.

Written: any Robot, into the text that it was read from where there is one. What MJCF cannot express is a
`FeatureError` if it changes the torques, and named in a `ModelWarning` if not.
"""

from __future__ import annotations

from armdyn.formats.mjcf_patch import write
from armdyn.formats.mjcf_read import loads, read
from armdyn.formats.mjcf_write import dumps

__all__ = ["dumps", "loads", "read", "write"]
